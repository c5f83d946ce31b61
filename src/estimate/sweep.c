/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/sweep.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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
  const struct dl_frame *f;
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

/* Settings that do not go together, as those of a GPU that lacks the precision:
 * other combinations have estimates. */
static enum dl_status take_broken(struct sweep *w, size_t i, size_t k) {
  struct part *p = &w->part[i];
  DL_SCOPED(dl_diag_free) struct dl_diag why = {0};
  const struct dl_row *at = dl_cursor_row(p->cursor);
  dl_frame_complain(w->f, at, NULL, 0, &why);
  dl_job_read(&p->job, &w->s->fields, at);
  p->predictions = (struct dl_job_predictions){0};
  for (size_t m = 0; m < w->s->n; m++)
    p->est[m] = (struct dl_estimate){.energy_j = DL_NO_INTERVAL,
                                     .duration_s = DL_NO_INTERVAL};
  const struct dl_sweep_row row = {k, why.error, &p->job, &p->predictions,
                                   p->est};
  return w->taker->row(w->taker->ctx, i, &row, &p->d);
}

static enum dl_status take(struct sweep *w, size_t i, size_t k) {
  struct part *p = &w->part[i];
  DL_TRY(dl_cursor_to(p->cursor, k, &p->d));
  if (dl_row_is_invalid(dl_cursor_row(p->cursor)))
    return take_broken(w, i, k);
  DL_TRY(dl_session_row(w->s, dl_cursor_row(p->cursor), &p->job,
                        &p->predictions, p->est, &p->d));
  const struct dl_sweep_row row = {k, NULL, &p->job, &p->predictions, p->est};
  return w->taker->row(w->taker->ctx, i, &row, &p->d);
}

/* Refuses settings that go together in no combination for the same reason. */
static enum dl_status refuse_all_alike(const struct sweep *w,
                                       struct dl_diag *d) {
  DL_TEXT(first);
  for (size_t k = 0; k < w->n; k++) {
    DL_TRY(dl_cursor_to(w->part[0].cursor, k, d));
    const struct dl_row *row = dl_cursor_row(w->part[0].cursor);
    DL_SCOPED(dl_diag_free) struct dl_diag why = {0};
    if (!dl_row_is_invalid(row))
      return DL_OK;
    dl_frame_complain(w->f, row, NULL, 0, &why);
    if (k == 0)
      dl_text_add(&first, why.error);
    else if (strcmp(dl_text_str(&first), why.error) != 0)
      return DL_OK;
  }
  return dl_fail(d, DL_EINPUT, "%s", dl_text_str(&first));
}

/* The run of a part: combinations from `first`. */
static void run_part(struct sweep *w, size_t i, size_t first, size_t end) {
  struct part *p = &w->part[i];
  for (size_t k = first; k < end && p->status == DL_OK; k++)
    p->status = take(w, i, k);
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
  struct sweep w = {.f = f, .s = s, .taker = taker, .parts = parts};
  enum dl_status status = dl_axes_combinations(axes, &w.n, d);
  if (status == DL_OK)
    status = open_parts(&w, f, d);
  if (status == DL_OK)
    status = refuse_all_alike(&w, d);
  for (size_t k = 0; k < w.n && status == DL_OK; k += parts * DL_SWEEP_RUN) {
    status = run_round(&w, k, d);
    dl_progress_step(d->progress, (double)k / (double)w.n);
  }
  close_parts(&w);
  return status;
}
