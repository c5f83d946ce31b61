/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program that is recorded tells: lines in the FIFO that DLEST_MARKS
 * names, such as "epoch 3" at the end of its fourth epoch. */

#ifndef DL_RECORD_MARKS_H
#define DL_RECORD_MARKS_H

#include <stdio.h>

#include "base/diag.h"

struct dl_marks {
  int fd;
  size_t len; /* of the line that is not over */
  char line[256];
};

/* Opens a FIFO; writers do not wait for dlest. */
enum dl_status dl_marks_open(struct dl_marks *m, const char *path,
                             struct dl_diag *d);

/* Reads what has come. Each mark of an epoch becomes a row epoch,end_time of
 * `epochs` (flushed). Other lines are passed over. Returns the number of
 * epochs. */
size_t dl_marks_take(struct dl_marks *m, const char *stamp, FILE *epochs);

#endif
