/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of pipes in temporary files, for input that is read several times. */

#ifndef DL_CLI_SPOOL_H
#define DL_CLI_SPOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

struct dl_spool {
  int fd;        /* of the pipe; -1: not open */
  FILE *f;       /* the copy so far; owned */
  bool ended;    /* the pipe has no more */
  char path[32]; /* of the copy */
};

/* Whether a path is "-" or leads to a pipe. */
bool dl_is_pipe(const char *path);

/* Opens a pipe and an empty copy. A signal while open waits for a writer leaves
 * the spool ended. */
enum dl_status dl_spool_open(struct dl_spool *s, const char *path,
                             struct dl_diag *d);

/* Copies what n pipes hold within `wait_ms` (-1: waits for the first byte or
 * the end of one). A signal ends the wait. */
enum dl_status dl_spool_take(struct dl_spool *s, size_t n, int wait_ms,
                             struct dl_diag *d);

/* Whether all of n pipes have ended; true for n = 0. */
bool dl_spool_ended(const struct dl_spool *s, size_t n);

void dl_spool_close(struct dl_spool *s);

#endif
