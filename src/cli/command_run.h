/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a command: its context, its messages, its exit status. */

#ifndef DL_CLI_COMMAND_RUN_H
#define DL_CLI_COMMAND_RUN_H

#include "cli/command.h"

/* Runs a command and prints its messages; returns the exit status. argv[0] is
 * the command's name, which is skipped. */
int dl_run_command(const struct dl_command *c, int argc, char **argv);

/* Prints "dlest: KIND TEXT" on stderr, with control characters replaced: in one
 * line, or on a terminal broken between words at its width. KIND "" or
 * "warning: ". */
void dl_print_message(const char *kind, const char *text);

/* For atexit: ends the program with DL_EFAILED if standard output could not be
 * written, also by --help, or if memory ran out. */
void dl_check_end(void);

#endif
