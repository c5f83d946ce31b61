/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/portable.h"

/* Combinations that a thread has in a round, at most. */
enum { COMBINATIONS = 8192 };

/* Rows of a table that are estimated before a sink takes them in turn. */
enum { HELD_ROWS = 256 };

/* The work of one thread in a round. */
struct rows_part {
  struct dl_cursor *cursor; /* of a sweep */
  struct dl_result result;
  struct dl_diag d;
  enum dl_status status;
};

struct rows_loop {
  const struct dl_rows *rows;
  const struct dl_engine *e;
  const struct dl_row_sink *sink;
  struct rows_part *part;
  size_t parts;
  struct dl_result *held; /* HELD_ROWS, for a sink that takes rows in turn */
};

size_t dl_rows_parts(void) {
  int n = dl_threads();
  return n > 1 ? (size_t)n : 1;
}

static void close_loop(struct rows_loop *w) {
  for (size_t i = 0; w->part && i < w->parts; i++) {
    dl_cursor_free(w->part[i].cursor);
    free(w->part[i].result.est);
    dl_diag_free(&w->part[i].d);
  }
  for (size_t i = 0; w->held && i < HELD_ROWS; i++)
    free(w->held[i].est);
  free(w->part);
  free(w->held);
}

static void open_result(const struct rows_loop *w, struct dl_result *r) {
  *r = (struct dl_result){.best = -1};
  if (w->e)
    dl_engine_make_room(w->e, r);
}

static void open_loop(struct rows_loop *w) {
  w->parts = dl_rows_parts();
  w->part = dl_calloc(w->parts, sizeof *w->part);
  for (size_t i = 0; i < w->parts; i++)
    open_result(w, &w->part[i].result);
}

/* Ends a round: reports what the parts found, in their order. */
static enum dl_status end_round(struct rows_loop *w, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < w->parts && status == DL_OK; i++) {
    status = w->part[i].status;
    dl_diag_take(d, &w->part[i].d);
  }
  if (status == DL_OK && w->sink->round)
    status = w->sink->round(w->sink->ctx, d);
  return status;
}

static bool is_parallel(const struct rows_loop *w) {
  return w->sink->parallel && w->sink->parallel(w->sink->ctx);
}

/* --- combinations */

/* Hands over a combination whose settings do not go together, such as a
 * precision that its GPU lacks: others have estimates. */
static enum dl_status take_broken(struct rows_loop *w, struct rows_part *p,
                                  size_t i) {
  DL_SCOPED(dl_diag_free) struct dl_diag why = {0};
  struct dl_result *r = &p->result;
  const struct dl_row *row = dl_cursor_row(p->cursor);
  dl_plan_complain(w->rows->f, row, NULL, 0, &why);
  dl_job_read(&r->job, &w->e->fields, row);
  r->predictions = (struct dl_job_predictions){0};
  for (size_t m = 0; m < r->n; m++)
    r->est[m] = (struct dl_estimate){.energy_j = DL_NO_INTERVAL,
                                     .power_w = DL_NO_INTERVAL,
                                     .duration_s = DL_NO_INTERVAL};
  r->best = -1;
  r->broken = why.error;
  enum dl_status status = w->sink->row(w->sink->ctx, i, r, &p->d);
  r->broken = NULL;
  return status;
}

static enum dl_status take_combination(struct rows_loop *w, size_t i,
                                       size_t k) {
  struct rows_part *p = &w->part[i];
  struct dl_result *r = &p->result;
  DL_TRY(dl_cursor_to(p->cursor, k, &p->d));
  const struct dl_row *row = dl_cursor_row(p->cursor);
  r->combination = k;
  if (dl_row_is_invalid(row))
    return take_broken(w, p, i);
  DL_TRY(dl_engine_row(w->e, row, r, &p->d));
  return w->sink->row(w->sink->ctx, i, r, &p->d);
}

/* Refuses a sweep in which no settings go together for one reason. */
static enum dl_status refuse_all_alike(const struct rows_loop *w, size_t n,
                                       struct dl_diag *d) {
  DL_TEXT(first);
  for (size_t k = 0; k < n; k++) {
    DL_TRY(dl_cursor_to(w->part[0].cursor, k, d));
    const struct dl_row *row = dl_cursor_row(w->part[0].cursor);
    DL_SCOPED(dl_diag_free) struct dl_diag why = {0};
    if (!dl_row_is_invalid(row))
      return DL_OK;
    dl_plan_complain(w->rows->f, row, NULL, 0, &why);
    if (k == 0)
      dl_text_add(&first, why.error);
    else if (strcmp(dl_text_str(&first), why.error) != 0)
      return DL_OK;
  }
  return dl_fail(d, DL_EINPUT, "%s", dl_text_str(&first));
}

/* Estimates combinations from `first` on, each thread its own. Returns how many
 * there were. */
static size_t run_combinations(struct rows_loop *w, size_t first, size_t n) {
  size_t parts = is_parallel(w) ? w->parts : 1;
#pragma omp parallel for schedule(static, 1) num_threads((int)parts)
  for (size_t i = 0; i < parts; i++) {
    size_t from = first + i * COMBINATIONS, end = from + COMBINATIONS;
    for (size_t k = from; k < end && k < n && w->part[i].status == DL_OK; k++)
      w->part[i].status = take_combination(w, i, k);
  }
  return parts * COMBINATIONS;
}

static enum dl_status sweep(struct rows_loop *w, struct dl_diag *d) {
  size_t n;
  DL_TRY(dl_axes_combinations(w->rows->axes, &n, d));
  for (size_t i = 0; i < w->parts; i++)
    DL_TRY(dl_cursor_new(&w->part[i].cursor, w->rows->f, d));
  DL_TRY(refuse_all_alike(w, n, d));
  for (size_t k = 0; k < n;) {
    k += run_combinations(w, k, n);
    DL_TRY(end_round(w, d));
    dl_progress_step(d->progress, k < n ? (double)k / (double)n : 1);
  }
  return DL_OK;
}

/* --- tables */

static enum dl_status estimate_row(const struct rows_loop *w, size_t k,
                                   const struct dl_csv_block *block,
                                   struct dl_result *r, struct dl_diag *d) {
  const struct dl_row *row = dl_plan_row(w->rows->f, k);
  r->line = block->line[k];
  r->cell = block->cell + k * block->n_cols;
  r->job.row = row;
  return w->e && row->fault.kind == DL_FAULT_NONE
             ? dl_engine_row(w->e, row, r, d)
             : DL_OK;
}

/* Whether a row can be used; else d has why. */
static bool is_usable(const struct rows_loop *w, const struct dl_result *r,
                      enum dl_status *status, struct dl_diag *d) {
  const struct dl_rows *rows = w->rows;
  const struct dl_job *job = &r->job;
  const char *path = dl_csv_path(rows->csv);
  bool refused = true;
  if (job->row->fault.kind != DL_FAULT_NONE) {
#pragma omp critical(dl_rows_catalog)
    *status = dl_plan_complain(rows->f, job->row, path, r->line, d);
  } else if (!w->e ||
             (!job->contradictory && job->found.gpu && job->found.arch)) {
    refused = false;
  } else {
#pragma omp critical(dl_rows_catalog)
    refused = dl_engine_refuses(rows->catalog, job, path, r->line, d);
  }
  return !refused;
}

/* Hands a result over, if it is wanted and can be used. */
static enum dl_status pass_on(const struct rows_loop *w, size_t part,
                              const struct dl_result *r, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  if (w->rows->wants && !w->rows->wants(w->rows->ctx, r->line))
    return DL_OK;
  return is_usable(w, r, &status, d) ? w->sink->row(w->sink->ctx, part, r, d)
                                     : status;
}

/* Estimates rows [first, end) of a block, each thread a part of them, and hands
 * them over unless they are to be held. */
static void run_rows(struct rows_loop *w, const struct dl_csv_block *block,
                     size_t first, size_t end, bool hold) {
  size_t n = end - first;
#pragma omp parallel for schedule(static, 1) num_threads((int)w->parts)
  for (size_t i = 0; i < w->parts; i++) {
    struct rows_part *p = &w->part[i];
    size_t from = first + n * i / w->parts, to = first + n * (i + 1) / w->parts;
    for (size_t k = from; k < to && p->status == DL_OK; k++) {
      struct dl_result *r = hold ? &w->held[k - first] : &p->result;
      p->status = estimate_row(w, k, block, r, &p->d);
      if (p->status == DL_OK && !hold)
        p->status = pass_on(w, i, r, &p->d);
    }
  }
}

static void make_held(struct rows_loop *w) {
  if (w->held)
    return;
  w->held = dl_calloc(HELD_ROWS, sizeof *w->held);
  for (size_t i = 0; i < HELD_ROWS; i++)
    open_result(w, &w->held[i]);
}

static enum dl_status run_block(struct rows_loop *w,
                                const struct dl_csv_block *block,
                                struct dl_diag *d) {
  for (size_t k = 0; k < block->n_rows;) {
    size_t end = block->n_rows;
    bool hold = !is_parallel(w);
    if (hold) {
      make_held(w);
      end = k + HELD_ROWS < end ? k + HELD_ROWS : end;
    }
    run_rows(w, block, k, end, hold);
    for (size_t i = 0; hold && i < end - k; i++)
      DL_TRY(pass_on(w, 0, &w->held[i], d));
    DL_TRY(end_round(w, d));
    k = end;
  }
  return DL_OK;
}

static enum dl_status read_table(struct rows_loop *w, struct dl_diag *d) {
  const struct dl_csv_block *block;
  while (true) {
    DL_TRY(dl_plan_next(w->rows->f, w->rows->csv, &block, d));
    if (!block)
      return DL_OK;
    if (w->rows->repeated)
      dl_repeated_rows_add(w->rows->repeated, block);
    DL_TRY(run_block(w, block, d));
    dl_progress_step(d->progress, dl_csv_share(w->rows->csv));
  }
}

enum dl_status dl_rows_single(const struct dl_rows *rows, struct dl_engine *e,
                              struct dl_result *r, struct dl_diag *d) {
  const struct dl_row *row;
  *r = (struct dl_result){.best = -1};
  dl_engine_make_room(e, r);
  DL_TRY(dl_plan_single(rows->f, &row, d));
  if (dl_row_is_invalid(row))
    return dl_plan_complain(rows->f, row, NULL, 0, d);
  DL_TRY(dl_engine_learn_families(e, row, rows->catalog, d));
  DL_TRY(dl_engine_row(e, row, r, d));
  return dl_engine_refuses(rows->catalog, &r->job, NULL, 0, d) ? d->status
                                                               : DL_OK;
}

enum dl_status dl_rows_each(const struct dl_rows *rows, struct dl_engine *e,
                            const struct dl_row_sink *sink, struct dl_diag *d) {
  DL_SCOPED(close_loop)
  struct rows_loop w = {.rows = rows, .e = e, .sink = sink};
  if (e)
    DL_TRY(dl_engine_learn_families(e, NULL, rows->catalog, d));
  open_loop(&w);
  return rows->csv ? read_table(&w, d) : sweep(&w, d);
}
