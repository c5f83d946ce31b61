/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands: one file each, one row in the table of commands.c. */

#ifndef DL_CLI_COMMAND_H
#define DL_CLI_COMMAND_H

#include <argp.h>
#include <stdbool.h>

#include "base/diag.h"
#include "base/file.h"
#include "catalog/catalog.h"
#include "output/render.h"

/* What every command has; filled by dl_cli_parse. */
struct dl_cli {
  struct dl_diag diag;
  struct dl_catalog *catalog;
  const struct dl_format *format;
  const char *output; /* path, or NULL for stdout */
  bool strict;        /* refuse where there would be a warning */
  bool quiet;         /* no warnings on stderr */
};

struct dl_command {
  const char *name;
  const char *summary;     /* one line in the top-level help */
  const struct argp *argp; /* its own options, as it parses them */
  /* argv[0] is "dlest NAME". Returns the exit status; errors are in
   * cli->diag. */
  enum dl_status (*run)(struct dl_cli *cli, int argc, char **argv);
};

size_t dl_command_count(void);
const struct dl_command *dl_command_at(size_t i);
const struct dl_command *dl_command_find(const char *name);

extern const struct dl_command dl_cmd_predict, dl_cmd_fit, dl_cmd_extract,
    dl_cmd_step, dl_cmd_compare, dl_cmd_describe, dl_cmd_list, dl_cmd_show,
    dl_cmd_check, dl_cmd_calibrate, dl_cmd_plot, dl_cmd_recommend,
    dl_cmd_report;

/* The options of every command; accepts a struct dl_cli. */
extern const struct argp dl_common_argp;

/* Parses a command's options, its own and the common ones. `input` reaches
 * the parser as state->input. Exits with status 2 on wrong usage and 0 after
 * --help, as argp does. */
void dl_cli_parse(struct dl_cli *cli, const struct argp *own, int argc,
                  char **argv, void *input);

/* For the default of a parser whose one argument is a table: takes it, and
 * asks for it where it is missing. */
error_t dl_cli_table(const char **input, int key, char *arg,
                     struct argp_state *state);

/* Values of options, the same for every command; anything else is wrong usage.
 * A number above 0 and below `limit`; percent as a share: 1 to below 100, so
 * that 0.9 is not taken for 0.9 %. */
double dl_arg_positive(struct argp_state *state, const char *option,
                       const char *arg, double limit);
double dl_arg_percent(struct argp_state *state, const char *option,
                      const char *arg);

/* With --strict: an error (DL_EINPUT) if anything was warned about or left
 * out. To be called before anything is written. */
enum dl_status dl_cli_strict(struct dl_cli *cli);

/* Ends what has been written to `out` as it came: keeps it where all went well
 * and --strict has nothing against it, else throws it away. */
enum dl_status dl_cli_commit(struct dl_cli *cli, struct dl_output *out,
                             enum dl_status status);

/* Adds the warnings to the report and writes it to the output. Takes over
 * the report. */
enum dl_status dl_cli_print(struct dl_cli *cli, struct dl_report *r);

/* The command line as a text for provenance: what shaped the result, not where
 * files lie and how it is printed. NULL: out of memory. */
char *dl_cli_command_line(int argc, char **argv, const char *input);

/* DL_EINPUT where rows were skipped, else `status`. */
enum dl_status dl_cli_end(const struct dl_cli *cli, enum dl_status status);

#endif
