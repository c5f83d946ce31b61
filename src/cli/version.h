/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --version. */

#ifndef DL_CLI_VERSION_H
#define DL_CLI_VERSION_H

#include <stdio.h>

/* Prints the program, the licence and the versions of its libraries. */
void dl_print_version(FILE *f);

#endif
