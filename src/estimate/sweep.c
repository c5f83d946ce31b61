/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/sweep.h"

#include <omp.h>
#include <stdlib.h>

#include "base/memory.h"

/* What a thread has of its own. */
struct part {
  struct dl_cursor *cursor;
  struct dl_job job;
  struct dl_job_predictions predictions;
  struct dl_estimate *est;
  struct dl_diag d;
  enum dl_status status;
};

struct sweep {
  const struct dl_session *s;
  const struct dl_sweep_taker *taker;
  struct part *part;
  size_t parts, n;
};

size_t dl_sweep_parts(void) {
  int n = omp_get_max_threads();
  return n > 1 ? (size_t)n : 1;
}

static void close_parts(struct sweep *w) {
  for (size_t i = 0; w->part && i < w->parts; i++) {
    dl_cursor_free(w->part[i].cursor);
    free(w->part[i].est);
    dl_diag_free(&w->part[i].d);
  }
  free(w->part);
}

static enum dl_status open_parts(struct sweep *w, struct dl_frame *f,
                                 struct dl_diag *d) {
  w->part = dl_calloc(w->parts, sizeof *w->part);
  for (size_t i = 0; i < w->parts; i++) {
    struct part *p = &w->part[i];
    p->est = dl_calloc(w->s->n, sizeof *p->est);
    DL_TRY(dl_cursor_new(&p->cursor, f, d));
  }
  return DL_OK;
}

/* The run of a part: combinations from `first`. */
static void run_part(struct sweep *w, size_t i, size_t first, size_t end) {
  struct part *p = &w->part[i];
  for (size_t k = first; k < end && p->status == DL_OK; k++) {
    p->status = dl_cursor_to(p->cursor, k, &p->d);
    if (p->status == DL_OK)
      p->status = dl_session_row(w->s, dl_cursor_row(p->cursor), &p->job,
                                 &p->predictions, p->est, &p->d);
    const struct dl_sweep_row row = {k, &p->job, &p->predictions, p->est};
    if (p->status == DL_OK)
      p->status = w->taker->row(w->taker->ctx, i, &row, &p->d);
  }
}

static enum dl_status run_round(struct sweep *w, size_t first,
                                struct dl_diag *d) {
#pragma omp parallel for schedule(static, 1) num_threads((int)w->parts)
  for (size_t i = 0; i < w->parts; i++) {
    size_t from = first + i * DL_SWEEP_RUN, end = from + DL_SWEEP_RUN;
    run_part(w, i, from, end < w->n ? end : w->n);
  }
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < w->parts && status == DL_OK; i++) {
    status = w->part[i].status;
    dl_diag_take(d, &w->part[i].d);
  }
  if (status == DL_OK && w->taker->round)
    status = w->taker->round(w->taker->ctx, d);
  return status;
}

enum dl_status dl_sweep(struct dl_frame *f, const struct dl_axes *axes,
                        const struct dl_session *s, size_t parts,
                        const struct dl_sweep_taker *taker, struct dl_diag *d) {
  struct sweep w = {.s = s, .taker = taker, .parts = parts};
  enum dl_status status = dl_axes_combinations(axes, &w.n, d);
  if (status == DL_OK)
    status = open_parts(&w, f, d);
  for (size_t k = 0; k < w.n && status == DL_OK; k += parts * DL_SWEEP_RUN) {
    status = run_round(&w, k, d);
    dl_progress_step(d->progress, (double)k / (double)w.n);
  }
  close_parts(&w);
  return status;
}
