/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/progress/progress.h"

struct dl_progress_span dl_progress_enter(struct dl_progress *p, size_t i,
                                          size_t n) {
  struct dl_progress_span outer = {0, 1};
  if (!p)
    return outer;
  outer = p->at;
  p->at.width = outer.width / (double)n;
  p->at.from = outer.from + (double)i * p->at.width;
  return outer;
}

void dl_progress_leave(struct dl_progress *p, struct dl_progress_span outer) {
  if (p)
    p->at = outer;
}

void dl_progress_step(struct dl_progress *p, double share) {
  if (!p)
    return;
#pragma omp critical(dl_progress_step)
  p->show(p->ctx, p->at.from + share * p->at.width);
}
