/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a command: its context, its messages, its exit status. */

#ifndef DL_CLI_COMMAND_RUN_H
#define DL_CLI_COMMAND_RUN_H

#include "cli/command.h"

/* Runs a command and prints its messages; returns the exit status. argv[0] is
 * its name on the command line, replaced by "dlest NAME". */
int dl_run_command(const struct dl_command *c, int argc, char **argv);

/* For atexit: ends the program with DL_EFAILED where standard output could
 * not be written, whoever wrote it (argp prints the help). */
void dl_check_stdout(void);

#endif
