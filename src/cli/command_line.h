/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parsing the command line of a command, and its --help. */

#ifndef DL_CLI_COMMAND_LINE_H
#define DL_CLI_COMMAND_LINE_H

#include "cli/command.h"

enum { DL_MOST_OPTIONS = 128 }; /* of a command, with headings */

/* Lists the rows of all options of a command, headings included; the options
 * that every command has come last. Returns their number. `offset` is the
 * offset of the row's member in the command's options, or in struct dl_cli for
 * rows from *common on. `offset` and `common` may be NULL. */
size_t dl_command_options(const struct dl_command *c,
                          const struct dl_option *row[DL_MOST_OPTIONS],
                          size_t offset[DL_MOST_OPTIONS], size_t *common);

/* Stores options and arguments in *cli and in the command's options. With
 * --help, --usage or --version it stops there and sets the flag. Errors
 * (DL_EUSAGE): unknown options, values that an option does not take, options
 * that have no effect for lack of another, too few or too many arguments. */
enum dl_status dl_cli_parse(struct dl_cli *cli, int argc, char **argv,
                            void *options);

/* Prints --help, or --usage with `brief`. */
void dl_command_help(const struct dl_command *c, bool brief);

#endif
