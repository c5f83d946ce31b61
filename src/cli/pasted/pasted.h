/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pasted words: counts within names, words of other tools, plain words in
 * the place of options, and files of settings. All of it is put into options of
 * the command before they are parsed, and printed as them. */

#ifndef DL_CLI_PASTED_PASTED_H
#define DL_CLI_PASTED_PASTED_H

#include "cli/command.h"

/* Puts the words of a command line into *words, which the caller frees, to be
 * parsed in their place:
 * argv[0], the options, and what comes behind "--". Commands that take no
 * options of a job, or take arguments, keep their words. Errors (DL_EUSAGE, or
 * DL_EINPUT of a file) name the word and what to write. cli->read_as says what
 * was read as what. */
enum dl_status dl_pasted_read(struct dl_cli *cli, int argc, char **argv,
                              struct dl_strlist *words);

#endif
