/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that are put together from pasted words. */

#ifndef DL_CLI_PASTED_PASTED_PRIVATE_H
#define DL_CLI_PASTED_PASTED_PRIVATE_H

#include "cli/command_line.h"

/* How certain a setting is, in rising order: of two that give one option the
 * later kind holds; two of a kind must be equal. */
enum dl_pasted_rank {
  DL_PASTED_PASSED, /* has become another one */
  DL_PASTED_FILE_SWITCH,
  DL_PASTED_FILE,
  DL_PASTED_SWITCH, /* a word that others make more precise: --amp */
  DL_PASTED_WORD,
  DL_PASTED_IMPLIED, /* by several words together */
  DL_PASTED_OPTION   /* an option as it is called here: its words are kept */
};

/* Numbers that are combined into options when all words were read. */
enum dl_pasted_part {
  DL_PASTED_NODES,
  DL_PASTED_PER_NODE, /* GPUs */
  DL_PASTED_TOTAL,    /* GPUs of all nodes */
  DL_PASTED_STEPS,    /* of the optimizer, in the whole training */
  DL_PASTED_GPU_HOURS,
  DL_PASTED_LORA_RANK,
  DL_PASTED_BITS, /* of weights under adapters */
  DL_PASTED_ADAPTERS,
  DL_PASTED_PARTS
};

struct dl_pasted_setting {
  const char *option; /* long name */
  char *value;        /* NULL: a switch; owned */
  char *from;         /* as it was written, owned */
  enum dl_pasted_rank rank;
};

struct dl_pasted {
  struct dl_cli *cli;
  const struct dl_option *row[DL_MOST_OPTIONS]; /* of the command */
  size_t n_rows;
  struct dl_pasted_setting *setting;
  size_t n, cap;
  struct dl_pasted_setting part[DL_PASTED_PARTS]; /* from NULL: not given */
  struct dl_strlist kept;              /* words that stay as they are */
  struct dl_strlist shape, shape_from; /* parts of a transformer's shape */
  struct dl_text unused;  /* words that have no part in the estimate */
  struct dl_text unknown; /* of another program's command line */
  struct dl_text no_data; /* a data set that the catalogue lacks */
  const char *launcher;   /* that program, NULL: none */
  const char *file;       /* that is being read, NULL: the command line */
  /* Reads a file that a word names: dl_pasted_file, which reads words. */
  enum dl_status (*read_file)(struct dl_pasted *p, const char *path);
  unsigned depth;     /* of files that name files */
  bool samples_train; /* --samples are a training's: other words say so */
  bool of_nodes;      /* the word that is read stands behind "nodes of" */
};

/* The option of a name, of its second name, plural or singular; NULL: none. */
const struct dl_option *dl_pasted_option(const struct dl_pasted *p,
                                         const char *name);

/* The column that --set takes in the place of an option that the command lacks;
 * NULL: none. */
const char *dl_pasted_column(const struct dl_pasted *p, const char *option);

/* Sets an option; `from` is what the user wrote. */
void dl_pasted_set(struct dl_pasted *p, const char *option, const char *value,
                   const char *from, enum dl_pasted_rank rank);

/* Sets a number that is combined with others. */
void dl_pasted_part(struct dl_pasted *p, enum dl_pasted_part part,
                    const char *value, const char *from);

/* Notes a part of a transformer's shape, "layers=32". */
void dl_pasted_shape(struct dl_pasted *p, const char *text, const char *from);

/* Makes the network of these parts, unless another one is named. */
enum dl_status dl_pasted_settle_shape(struct dl_pasted *p);

/* Takes requests for inference where nothing says of a training (where
 * something does, --samples are training samples), and leaves out the longest
 * sequence that a trainer cuts at where the samples of the data set have a
 * known mean length. */
void dl_pasted_settle_phase(struct dl_pasted *p);
void dl_pasted_settle_length(struct dl_pasted *p);

/* Whether the phase that was given is inference. */
bool dl_pasted_infers(const struct dl_pasted *p);

/* The value of an option that has been set, NULL: none. */
const char *dl_pasted_get(const struct dl_pasted *p, const char *option);

/* Reads the value of an option whose values are written in other ways, too: a
 * name of a GPU with a count. *taken: it was set; else it is as it was. */
enum dl_status dl_pasted_value(struct dl_pasted *p, const char *option,
                               const char *value, const char *from,
                               bool *taken);

/* Reads a word of another tool, without its hyphens, and the word behind it
 * (NULL: none). *taken: it is known; *used: it took the word behind it. */
enum dl_status dl_pasted_word(struct dl_pasted *p, const char *name,
                              const char *next, bool *taken, bool *used);

/* Whether a word of another tool takes the one behind it as its value. */
bool dl_pasted_takes(const struct dl_pasted *p, const char *name,
                     const char *next);

/* Reads the words that stand in the place of options, words[0..n). */
enum dl_status dl_pasted_plain(struct dl_pasted *p, char *const *words,
                               size_t n);

/* Reads one such word; *taken: it has a meaning. */
enum dl_status dl_pasted_plain_word(struct dl_pasted *p, const char *word,
                                    bool *taken);

/* Whether a word is a program that launches trainings or serves models. */
bool dl_pasted_is_launcher(const char *word);

/* Takes inference where a word is a server of models; false: it is none. */
bool dl_pasted_serves(struct dl_pasted *p, const char *word);

/* Appends a word to a list of those that are left out. */
void dl_pasted_leave_out(struct dl_text *to, const char *word);

/* Notes the launcher of the words that follow. */
void dl_pasted_launch(struct dl_pasted *p, const char *word);

/* Reads a word of a launcher's command line that is no option. */
enum dl_status dl_pasted_launched(struct dl_pasted *p, const char *word);

/* Reads "name=value", as Hydra and Ultralytics take it. */
enum dl_status dl_pasted_assigned(struct dl_pasted *p, const char *word,
                                  bool *taken);

/* Reads an option of a launcher that is none here, of *n words. */
enum dl_status dl_pasted_foreign(struct dl_pasted *p, char *const *words,
                                 size_t *n);

/* Reads a word that says something without a value, as a launcher's command. */
enum dl_status dl_pasted_switch(struct dl_pasted *p, const char *word,
                                bool *taken);

/* Reads a file of settings. */
enum dl_status dl_pasted_file(struct dl_pasted *p, const char *path);

/* Whether a name is the name of such a file. */
bool dl_pasted_is_file(const char *name);

/* Reads the text of a batch script. */
enum dl_status dl_pasted_script(struct dl_pasted *p, const char *text);

/* Hands over the settings of a file of nested "key: value", names joined. */
enum dl_status dl_pasted_yaml(struct dl_pasted *p, char *text);

/* A setting of a file: its path of names, "zero_optimization.stage", and the
 * name that it is read by where that is another (NULL: it is not). */
enum dl_status dl_pasted_member(struct dl_pasted *p, const char *path,
                                const char *meaning, const char *value);

/* Whether the catalogue has a data set, by any form of its name. */
bool dl_pasted_dataset(struct dl_cli *cli, const char *name);

/* Makes options of the parts. */
enum dl_status dl_pasted_settle(struct dl_pasted *p);

/* Refuses settings that contradict each other. */
enum dl_status dl_pasted_check(struct dl_pasted *p);

/* Appends letters and digits in lower case. */
void dl_pasted_fold(struct dl_text *to, const char *s, size_t n);

/* Finds an entry of the catalogue, NULL: there is none. */
const struct dl_descriptor *dl_pasted_look(struct dl_cli *cli,
                                           enum dl_kind kind, const char *name);

/* Finds the network that a name means, in the ways of pasted names too; appends
 * what --arch takes. False: none. */
bool dl_pasted_network(struct dl_cli *cli, const char *name,
                       struct dl_text *arch);

/* Reads a checkpoint's name that ends in a format of weights: "-q4_K_M",
 * "-bnb-4bit". */
enum dl_status dl_pasted_quantized(struct dl_pasted *p, const char *name,
                                   const char *from, enum dl_pasted_rank rank,
                                   bool *taken);

/* Appends a name without the words of an address and of a library. */
void dl_pasted_strip_address(const char *name, struct dl_text *to);

/* Reads a region, or several between commas, without their provider. */
enum dl_status dl_pasted_cloud(struct dl_pasted *p, const char *value,
                               const char *from, bool *taken);

/* Appends the regions of the catalogue that a text may mean, as "a or b", and
 * returns their number. */
size_t dl_pasted_regions(struct dl_cli *cli, const char *value,
                         struct dl_text *to);

#endif
