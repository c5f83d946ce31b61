/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far long work has come, on stderr where that is a terminal. */

#ifndef DL_CLI_PROGRESS_H
#define DL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct dl_progress {
  bool shown; /* there is a terminal to show it on */
  bool drawn;
  struct timespec last;
};

void dl_progress_init(struct dl_progress *p, bool quiet);

/* Draws a bar at most ten times a second, and none within the first half
 * second; total 0: unknown. */
void dl_progress_show(struct dl_progress *p, size_t done, size_t total);

/* Wipes the bar: before anything else is written to the terminal. */
void dl_progress_clear(struct dl_progress *p);
void dl_progress_end(struct dl_progress *p);

#endif
