/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands: one file each, one row in the table of commands.c. */

#ifndef DL_CLI_COMMAND_H
#define DL_CLI_COMMAND_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/file.h"
#include "catalog/catalog.h"
#include "cli/options/option.h"
#include "cli/progress_bar.h"
#include "model/model.h"
#include "output/render.h"

/* An option of the command line, in the order in which it was given. */
struct dl_given {
  const struct dl_option *option;
  const char *value; /* NULL for flags */
};

/* The context of a command; dl_cli_parse fills in what the user gave. */
struct dl_cli {
  struct dl_diag diag;
  struct dl_catalog *catalog; /* owned; NULL until dl_cli_catalog */
  const struct dl_command *command;
  const struct dl_format *format;
  const char *output; /* path, or NULL for stdout */
  bool strict;        /* turn warnings into an error */
  bool quiet;         /* print no warnings on stderr */
  bool spreadsheet_safe;
  bool help, usage, version;
  struct dl_given *given; /* owned */
  size_t n_given;
  char **argument; /* of argv: what is no option; NULL-terminated */
  size_t n_arguments;
  struct dl_strlist words; /* of the command line, as they are parsed */
  char **argv;             /* they, or what stands in their place; owned */
  struct dl_text read_as;  /* what was read as what (cli/pasted) */
  struct dl_spool *spool;  /* copies of pipes; owned */
  size_t n_spools;
  struct dl_progress_bar bar;
  struct dl_progress progress; /* shown by the bar */
  int exit_status; /* exit status of a program that the command ran, which dlest
                      returns */
};

struct dl_command {
  const char *name;
  const char *summary; /* one line in the top-level help */
  /* The arguments, separated by blanks: "RUNS.csv", "LOG...", "KIND [FILE]".
   * Their number is checked against it. */
  const char *arguments;
  /* The text of --help before the options and, after a "\v", behind them. */
  const char *doc;
  const struct dl_option_table *tables; /* NULL: common options only */
  bool reads_words;    /* options may be called as in other tools */
  bool rereads;        /* arguments are files that are read several times */
  bool writes_model;   /* --output is the file of a model, */
  const char *prints;  /* but with one of these options, "alpha|gamma"; NULL */
  size_t options_size; /* bytes of its struct of options */
  /* Sets defaults other than 0, or NULL; frees what DL_OPTION_READ stored, or
   * NULL. Lists are freed by main.c. */
  void (*init)(void *options);
  void (*free)(void *options);
  /* Returns the exit status; errors are in cli->diag. Skipped rows make
   * DL_EINPUT of DL_OK. */
  enum dl_status (*run)(struct dl_cli *cli, void *options);
};

enum { DL_MOST_COMMANDS = 32 };
extern const struct dl_command
    *const dl_commands[DL_MOST_COMMANDS + 1]; /* ends with NULL */
const struct dl_command *dl_command_find(const char *name);

extern const struct dl_command dl_cmd_predict, dl_cmd_fit, dl_cmd_extract,
    dl_cmd_step, dl_cmd_compare, dl_cmd_describe, dl_cmd_list, dl_cmd_show,
    dl_cmd_check, dl_cmd_calibrate, dl_cmd_plot, dl_cmd_recommend,
    dl_cmd_report, dl_cmd_record;

/* The catalogue, made when it is first needed. */
struct dl_catalog *dl_cli_catalog(struct dl_cli *cli);

/* The options of every command; members of struct dl_cli. */
extern const struct dl_option dl_common_options[];

/* The first option given that is among the long names ("alpha|gamma"), or
 * NULL. */
const char *dl_cli_given(const struct dl_cli *cli, const char *names);

/* DL_EUSAGE if one of the options, "alpha|gamma", was given: it has no effect
 * `why`, as "without --features". */
enum dl_status dl_cli_refuse(struct dl_cli *cli, const char *names,
                             const char *why);

/* DL_EUSAGE if a file that the command writes, to a path given by an option or
 * to `path` (NULL: none), is also one that it reads. */
enum dl_status dl_cli_check_outputs(struct dl_cli *cli, const char *path,
                                    char *const *inputs, size_t n_inputs);

/* Returns an error (DL_EINPUT) with --strict after a warning or a skipped row.
 * Call it before anything is written. */
enum dl_status dl_cli_strict(struct dl_cli *cli);

/* Ends a file that was written row by row, and its stream (NULL: has ended):
 * keeps it after DL_OK unless --strict forbids it, else discards it. */
enum dl_status dl_cli_commit(struct dl_cli *cli, struct dl_output *out,
                             struct dl_stream *rows, enum dl_status status);

/* Rows will be written as they come: on a terminal they show how far it is, and
 * a bar would stand between them. */
void dl_cli_rows_follow(struct dl_cli *cli);

/* Adds the warnings to the report and writes it to the output. Takes over
 * the report. */
enum dl_status dl_cli_print(struct dl_cli *cli, struct dl_report *r);

/* Fails with DL_EBUDGET where energy_j (NaN: unknown, is not) is over the
 * budget, kWh (INFINITY: without one). `what` begins the message: "a run
 * takes". */
enum dl_status dl_check_budget(const char *what, double energy_j,
                               double budget_kwh, struct dl_diag *d);

/* The command line as a text for provenance: the options that shape the
 * result, without those that say where and how it is written, and without
 * folders. */
char *dl_cli_command_line(const struct dl_cli *cli, const char *input);

/* Kinds of jobs. Each model that ships is for some of them. */
enum {
  DL_TRAINS_LANGUAGE = 1, /* trains a language model */
  DL_TRAINS_OTHER = 2,
  DL_SERVES_LANGUAGE = 4, /* inference */
  DL_SERVES_OTHER = 8,
  DL_ANY_JOB = 15
};

/* The model to use: the user's, or those that ship for one of a set of kinds of
 * jobs, one after the other. Owned by the caller. */
enum dl_status dl_open_model(struct dl_cli *cli, const char *path,
                             unsigned kinds, struct dl_model **m);

/* Writes a model to --output, or beside the table that it was made of, the
 * command's first argument: RUNS.csv -> RUNS and the suffix (standard input:
 * stdin). Adds its path to a report, which goes to standard output now, unless
 * the model has been printed there. */
enum dl_status dl_save_model(struct dl_cli *cli, const struct dl_model *m,
                             const char *suffix, struct dl_report *r,
                             bool *printed);

#endif
