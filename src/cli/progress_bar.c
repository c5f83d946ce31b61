/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress_bar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/screen.h"

enum { WIDTH = 40 };

/* Seconds before anything is drawn, and between two drawings. */
#define PATIENCE 1.0
#define PERIOD 0.1

/* Below this share of the work a remaining time would be a guess. */
#define LEAST_SHARE 0.01

static double seconds(const struct timespec *from, const struct timespec *to) {
  return (double)(to->tv_sec - from->tv_sec) +
         (double)(to->tv_nsec - from->tv_nsec) * 1e-9;
}

void dl_progress_bar_init(struct dl_progress_bar *b, bool quiet) {
  *b = (struct dl_progress_bar){0};
  b->shown = !quiet && isatty(STDERR_FILENO) && dl_terminal_is_able();
  clock_gettime(CLOCK_MONOTONIC, &b->start);
  b->last = b->start;
}

/* Whether it is time to draw; *passed is the time since the start. */
static bool is_due(struct dl_progress_bar *b, double *passed) {
  struct timespec now;
  if (!b->shown)
    return false;
  clock_gettime(CLOCK_MONOTONIC, &now);
  *passed = seconds(&b->start, &now);
  if (*passed < PATIENCE || seconds(&b->last, &now) < PERIOD)
    return false;
  b->last = now;
  b->drawn = true;
  return true;
}

static void print_left(double s) {
  if (s < 100)
    fprintf(stderr, "%.0f s left", s);
  else if (s < 6000)
    fprintf(stderr, "%.0f min left", s / 60);
  else
    fprintf(stderr, "%.1f h left", s / 3600);
}

void dl_progress_bar_show(void *bar, double share) {
  struct dl_progress_bar *b = bar;
  char text[WIDTH + 1];
  double passed;
  b->most = share > b->most ? share : b->most;
  if (!is_due(b, &passed))
    return;
  share = b->most < 1 ? b->most : 1;
  size_t full = (size_t)(share * WIDTH);
  for (size_t i = 0; i < WIDTH; i++)
    text[i] = i < full ? '#' : '.';
  text[WIDTH] = '\0';
  fprintf(stderr, DL_CLEAR_LINE "[%s] %3.0f %%", text, share * 100);
  if (share >= LEAST_SHARE) {
    fputs(", ", stderr);
    print_left(passed * (1 - share) / share);
  }
}

void dl_progress_bar_bytes(struct dl_progress_bar *b, size_t done,
                           size_t total) {
  double passed;
  if (total > 0 && done <= total)
    dl_progress_bar_show(b, (double)done / (double)total);
  else if (is_due(b, &passed))
    fprintf(stderr, DL_CLEAR_LINE "%.1f MB read", (double)done * 1e-6);
}

void dl_progress_bar_clear(struct dl_progress_bar *b) {
  if (b->drawn)
    fputs(DL_CLEAR_LINE, stderr);
  b->drawn = false;
}

void dl_progress_bar_end(struct dl_progress_bar *b) {
  dl_progress_bar_clear(b);
  b->shown = false;
}
