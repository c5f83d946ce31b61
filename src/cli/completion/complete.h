/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion of a command line that is being typed. The shells' functions
 * (completions/) ask for it with 'dlest --complete WORD...'; what is offered
 * comes from the tables of options, the registries and the catalogues. */

#ifndef DL_CLI_COMPLETION_COMPLETE_H
#define DL_CLI_COMPLETION_COMPLETE_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/command_line.h"

/* The command line so far, and the word that is being completed. */
struct dl_completion {
  const struct dl_command *command;
  const struct dl_option *row[DL_MOST_OPTIONS]; /* of the command */
  size_t n_rows;
  const struct dl_option *open; /* option that waits for its value, or NULL */
  size_t n_arguments;
  bool arguments_only;        /* behind "--" */
  const char *argument;       /* its first argument so far, or NULL */
  const char *table;          /* its last argument that is a table, or NULL */
  struct dl_catalog *catalog; /* for names */
  const char *head;           /* what of the word stays as it is, */
  size_t head_len;            /* not NUL-terminated */
  const char *word;           /* the rest, which is completed */
  bool any_case;              /* names in any spelling */
  bool files;                 /* a path may stand here */
  size_t offered;
  enum dl_status status; /* of reading the catalogues */
  struct dl_diag diag;   /* errors are not printed */
};

/* Prints the possible continuations of the last word that follows 'dlest' on
 * the command line, one per line, each with a tab and a description. Words that
 * end in '=' or ':' need more text. The line ":open" says that all words need
 * more; ":files" and a tab means a path behind the text that follows. Prints no
 * error; the exit status is the result of reading the catalogues. */
enum dl_status dl_complete(int argc, char **argv);

/* Offers a text where it goes on from the word; `about` may be NULL. */
void dl_offer(struct dl_completion *c, const char *text, const char *about);

/* Moves what stands before byte n of the word to the head. */
void dl_completion_skip(struct dl_completion *c, size_t n);

/* Offers the values of an option. */
void dl_offer_values(struct dl_completion *c, const struct dl_option *o);

/* Offers the command's argument number i, by its args_doc. */
void dl_offer_argument(struct dl_completion *c, size_t i);

#endif
