/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the marks of a recorded program, which writes these lines to the FIFO
 * or file that DLEST_MARKS names:
 *
 *   epoch 3            its fourth epoch has ended
 *   phase validation   another phase begins
 *   samples 1281167    training samples of an epoch
 *
 * Other lines are ignored, as are lines with control characters. */

#ifndef DL_RECORD_MARKS_H
#define DL_RECORD_MARKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "record/phases.h"

struct dl_marks {
  int fd;
  bool is_file; /* which grows, and cannot be waited for */
  FILE *epochs; /* gets a row epoch,end_time for each epoch, flushed; or NULL */
  size_t n_epochs;
  double samples; /* NaN: not given */
  struct dl_phases phases;
  size_t len; /* of the line that is not over */
  char line[256];
};

/* Opens a FIFO, for which writers do not wait, or a file, at its end. */
enum dl_status dl_marks_open(struct dl_marks *m, const char *path, FILE *epochs,
                             struct dl_diag *d);

/* Takes what has come by a time, ns since 1970. */
void dl_marks_take(struct dl_marks *m, int64_t ns);

#endif
