/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --version. */

#ifndef DL_CLI_VERSION_H
#define DL_CLI_VERSION_H

#include <argp.h>
#include <stdio.h>

/* Prints the program, the licence and the versions of the libraries that it
 * runs with. For argp_program_version_hook; `state` is not looked at. */
void dl_print_version(FILE *f, struct argp_state *state);

#endif
