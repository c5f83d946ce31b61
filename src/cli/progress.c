/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A progress bar on stderr. */

#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 40 };

void dl_progress_init(struct dl_progress *p, bool quiet) {
  const char *term = getenv("TERM");
  *p = (struct dl_progress){0};
  p->shown =
      !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
  clock_gettime(CLOCK_MONOTONIC, &p->last);
}

void dl_progress_show(struct dl_progress *p, size_t done, size_t total) {
  struct timespec now;
  char bar[WIDTH + 1];
  if (!p->shown)
    return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double passed = (double)(now.tv_sec - p->last.tv_sec) +
                  (double)(now.tv_nsec - p->last.tv_nsec) * 1e-9;
  if (passed < (p->drawn ? 0.1 : 0.5))
    return;
  p->last = now;
  p->drawn = true;
  if (total == 0 || done > total) {
    fprintf(stderr, "\r%.1f MB read", (double)done * 1e-6);
    return;
  }
  size_t full = (size_t)((double)done / (double)total * WIDTH);
  for (size_t i = 0; i < WIDTH; i++)
    bar[i] = i < full ? '#' : '.';
  bar[WIDTH] = '\0';
  fprintf(stderr, "\r[%s] %3.0f %% of %.1f MB", bar,
          (double)done / (double)total * 100, (double)total * 1e-6);
}

void dl_progress_clear(struct dl_progress *p) {
  if (p->drawn)
    fprintf(stderr, "\r%*s\r", WIDTH + 30, "");
  p->drawn = false;
}

void dl_progress_end(struct dl_progress *p) {
  dl_progress_clear(p);
  p->shown = false;
}
