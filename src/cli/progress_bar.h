/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far long work has come, and about how long it will still take, on stderr
 * where that is a terminal. */

#ifndef DL_CLI_PROGRESS_BAR_H
#define DL_CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct dl_progress_bar {
  bool shown; /* there is a terminal to show it on */
  bool drawn;
  double most; /* largest share so far: the bar never goes back */
  struct timespec start, last;
};

/* Nothing is shown with --quiet, without a terminal or on a dumb one. */
void dl_progress_bar_init(struct dl_progress_bar *b, bool quiet);

/* Draws that share (0 to 1) of the whole and the remaining time: at most ten
 * times a second, and nothing within the first second. `bar` is a struct
 * dl_progress_bar (for struct dl_progress, base/progress/progress.h). */
void dl_progress_bar_show(void *bar, double share);

/* Draws the share of so many bytes likewise; total 0: unknown. */
void dl_progress_bar_bytes(struct dl_progress_bar *b, size_t done,
                           size_t total);

/* Erases the bar: before anything else is written to the terminal. */
void dl_progress_bar_clear(struct dl_progress_bar *b);
void dl_progress_bar_end(struct dl_progress_bar *b);

#endif
