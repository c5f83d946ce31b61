/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks runs by what they would teach the fits of a model. */

#include "estimate/suggestion/suggestion.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/calibration/run_information.h"
#include "physics/language/language_inputs.h"
#include "physics/training/training_inputs.h"

enum { QUANTITIES = DL_SUGGEST_QUANTITIES };

/* Runs whose outlook is worked out at a time. */
enum { BLOCK = 32 };

/* The error of half of all draws of a standard normal distribution. */
#define MEDIAN_ERROR 0.6744897501960817

/* The time and the energy of a training by the targets of its physics, and the
 * targets that a run measures for them: its time, which often is measured
 * alone, says enough of times. */
static const double quantities[][QUANTITIES][DL_MAX_TARGETS] = {
    [DL_SUGGEST_OTHERS] = {{[DL_TARGET_TIME] = 1}, {[DL_TARGET_ENERGY] = 1}},
    [DL_SUGGEST_LANGUAGE] = {
        {[DL_LANG_TARGET_RATE] = -1},
        {[DL_LANG_TARGET_RATE] = -1, [DL_LANG_TARGET_POWER] = 1}}};
static const unsigned measured[][QUANTITIES] = {
    [DL_SUGGEST_OTHERS] = {1u << DL_TARGET_TIME,
                           1u << DL_TARGET_TIME | 1u << DL_TARGET_POWER},
    [DL_SUGGEST_LANGUAGE] = {1u << DL_LANG_TARGET_RATE,
                             1u << DL_LANG_TARGET_RATE |
                                 1u << DL_LANG_TARGET_POWER}};

/* An outlook is what is known of a quantity of the rows of a kind. */
struct outlook {
  struct dl_information_run *run; /* owned */
  struct dl_information_request request;
  struct dl_run_information *p; /* owned; NULL: no run */
  double *scale; /* of each variance, to the square of an error; owned */
};

/* The rows of a kind: those kept come before the runs. */
struct kind {
  size_t n_kept, n_runs;
  size_t *run;         /* their places in the tables; owned */
  const void **inputs; /* of the runs; owned */
  struct outlook of[QUANTITIES];
};

struct work {
  struct dl_suggestion *s;
  const struct dl_suggestion_rows *rows;
  struct dl_progress *progress;
  struct kind kind[DL_SUGGEST_KINDS];
};

static void free_work(struct work *w) {
  for (size_t k = 0; k < DL_SUGGEST_KINDS; k++) {
    free(w->kind[k].run);
    free((void *)w->kind[k].inputs);
    for (size_t q = 0; q < QUANTITIES; q++) {
      free(w->kind[k].of[q].run);
      free(w->kind[k].of[q].scale);
      dl_run_information_free(w->kind[k].of[q].p);
    }
  }
}

void dl_suggestion_free(struct dl_suggestion *s) {
  free(s->run);
  free(s->best);
  *s = (struct dl_suggestion){0};
}

/* --- the rows of a kind */

static void add_runs(const struct work *w, struct kind *k, size_t kind,
                     const struct dl_suggestion_table *t) {
  bool kept = t == &w->rows->kept;
  for (size_t i = 0; i < t->n; i++) {
    const struct dl_suggestion_row *row = &t->row[i];
    size_t at = k->n_kept + k->n_runs;
    if (row->kind != kind)
      continue;
    k->run[at] = i;
    for (size_t q = 0; q < QUANTITIES; q++)
      k->of[q].run[at] = (struct dl_information_run){
          w->rows->inputs[kind].inputs.s[row->input],
          kept ? row->measured : measured[kind][q]};
    if (kept)
      k->n_kept++;
    else
      k->inputs[k->n_runs++] = w->rows->inputs[kind].inputs.s[row->input];
  }
}

static void list_rows(struct work *w, size_t kind) {
  struct kind *k = &w->kind[kind];
  size_t n = w->rows->kept.n + w->rows->runs.n;
  k->run = dl_calloc(n, sizeof *k->run);
  k->inputs = dl_calloc(w->rows->runs.n, sizeof *k->inputs);
  for (size_t q = 0; q < QUANTITIES; q++)
    k->of[q].run = dl_calloc(n, sizeof *k->of[q].run);
  add_runs(w, k, kind, &w->rows->kept);
  add_runs(w, k, kind, &w->rows->runs);
}

/* The place of run j of a kind in the table of runs. */
static size_t place_of(const struct kind *k, size_t j) {
  return k->run[k->n_kept + j];
}

/* The factor of each configuration that makes the square of its half-width of
 * its variance. One without a width has the factor of the others together;
 * energies without any have the factors of times, and without a width of
 * either, errors are as large as the prior has them. */
static void find_scales(const struct work *w, const struct kind *k, size_t q,
                        double *scale) {
  const double *variance = dl_variance_before(k->of[q].p);
  double squares = 0, variances = 0;
  for (size_t j = 0; j < k->n_runs; j++) {
    double half = w->rows->runs.row[place_of(k, j)].half_width[q];
    scale[j] = half * half / variance[j];
    squares += isnan(scale[j]) ? 0 : half * half;
    variances += isnan(scale[j]) ? 0 : variance[j];
  }
  for (size_t j = 0; j < k->n_runs; j++) {
    if (!isnan(scale[j]))
      continue;
    if (variances > 0)
      scale[j] = squares / variances;
    else if (q > 0)
      scale[j] = k->of[DL_SUGGEST_TIME].scale[j];
    else
      scale[j] = MEDIAN_ERROR * MEDIAN_ERROR;
  }
}

static enum dl_status make_kind(struct work *w, size_t kind,
                                struct dl_diag *d) {
  struct kind *k = &w->kind[kind];
  list_rows(w, kind);
  for (size_t q = 0; q < QUANTITIES && k->n_runs > 0; q++) {
    struct outlook *of = &k->of[q];
    of->request =
        (struct dl_information_request){.from = w->rows->fit[kind]->state,
                                        .run = of->run,
                                        .n_runs = k->n_kept + k->n_runs,
                                        .wanted = k->inputs,
                                        .n_wanted = k->n_runs,
                                        .quantity = quantities[kind][q]};
    DL_TRY(dl_run_information_new(&of->p, &of->request, d));
    of->scale = dl_calloc(k->n_runs, sizeof *of->scale);
    find_scales(w, k, q, of->scale);
    for (size_t i = 0; i < k->n_kept; i++)
      dl_run_information_measure(of->p, i);
  }
  return DL_OK;
}

/* --- errors */

/* Rounding may leave less than nothing. */
static double error_of(double square) {
  return expm1(sqrt(square < 0 ? 0 : square));
}

/* Computes the errors of one configuration, by variances of each quantity. */
static void errors_at(const struct kind *k, const double *const variance[],
                      size_t j, double to[QUANTITIES]) {
  for (size_t q = 0; q < QUANTITIES; q++)
    to[q] = error_of(k->of[q].scale[j] * variance[q][j]);
}

/* The variances of a kind as they are now; none without runs. */
static void take_now(const struct kind *k, const double *variance[QUANTITIES]) {
  for (size_t q = 0; q < QUANTITIES && k->n_runs > 0; q++)
    variance[q] = dl_variance_before(k->of[q].p);
}

/* Computes the errors of all runs, by the variances of a kind, and the others'
 * as they are now. */
static void errors_by(const struct work *w, size_t kind,
                      const double *const variance[], double to[QUANTITIES]) {
  double squares[QUANTITIES] = {0};
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++) {
    const struct kind *k = &w->kind[i];
    const double *now[QUANTITIES] = {NULL};
    take_now(k, now);
    for (size_t q = 0; q < QUANTITIES; q++)
      for (size_t j = 0; j < k->n_runs; j++)
        squares[q] +=
            k->of[q].scale[j] * (i == kind ? variance[q][j] : now[q][j]);
  }
  for (size_t q = 0; q < QUANTITIES; q++)
    to[q] = error_of(squares[q] / (double)w->rows->runs.n);
}

/* Whether run a, with that error, comes before run b; NaN comes last. */
static bool is_better(double error_a, size_t a, double error_b, size_t b) {
  if (isnan(error_a) || isnan(error_b))
    return isnan(error_a) && isnan(error_b) ? a < b : isnan(error_b);
  return error_a < error_b || (error_a <= error_b && a < b);
}

/* Keeps a run for the other configurations that it is the best for. */
static void keep_best(struct work *w, const struct kind *k, size_t run,
                      const double *const variance[]) {
  for (size_t j = 0; j < k->n_runs; j++) {
    size_t at = place_of(k, j);
    struct dl_suggested_run *best = &w->s->best[at];
    if (w->rows->runs.row[at].input == w->rows->runs.row[run].input)
      continue;
    double e[QUANTITIES];
    errors_at(k, variance, j, e);
    /* A run of another GPU may change nothing. */
    if (e[DL_SUGGEST_TIME] < best->before[DL_SUGGEST_TIME] &&
        is_better(e[DL_SUGGEST_TIME], run, best->after[DL_SUGGEST_TIME],
                  best->run)) {
      best->run = run;
      memcpy(best->after, e, sizeof e);
    }
  }
}

/* Finds the errors after each run of a block of a kind, and what is best for
 * each configuration. */
static void look_at(struct work *w, const struct kind *k, size_t block) {
  size_t from = block * BLOCK, n = k->n_runs - from, size = k->n_runs;
  n = n < BLOCK ? n : BLOCK;
  DL_FREED double *all = dl_calloc(QUANTITIES * n * size, sizeof *all);
  for (size_t q = 0; q < QUANTITIES; q++)
    dl_variance_after(k->of[q].p, k->n_kept + from, n, all + q * n * size);
  for (size_t i = 0; i < n; i++) {
    size_t run = place_of(k, from + i);
    const double *variance[QUANTITIES];
    for (size_t q = 0; q < QUANTITIES; q++)
      variance[q] = all + (q * n + i) * size;
    w->s->run[run].run = run;
    errors_by(w, w->rows->runs.row[run].kind, variance, w->s->run[run].after);
#pragma omp critical(dl_suggestion_best)
    keep_best(w, k, run, variance);
  }
}

static size_t blocks_of(const struct kind *k) {
  return (k->n_runs + BLOCK - 1) / BLOCK;
}

static void look_ahead(struct work *w) {
  size_t done = 0, n = 0;
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++)
    n += blocks_of(&w->kind[i]);
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++) {
    const struct kind *k = &w->kind[i];
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(k); b++) {
      look_at(w, k, b);
#pragma omp critical(dl_suggestion_progress)
      dl_progress_step(w->progress, (double)++done / (double)(n + 1));
    }
  }
}

static int compare_runs(const void *a, const void *b) {
  const struct dl_suggested_run *p = a, *q = b;
  return is_better(p->after[DL_SUGGEST_TIME], p->run, q->after[DL_SUGGEST_TIME],
                   q->run)
             ? -1
             : 1;
}

/* Sets what is known of each configuration before any run. */
static void begin_best(struct work *w) {
  w->s->best = dl_calloc(w->rows->runs.n, sizeof *w->s->best);
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++) {
    const struct kind *k = &w->kind[i];
    const double *now[QUANTITIES] = {NULL};
    take_now(k, now);
    for (size_t j = 0; j < k->n_runs; j++) {
      struct dl_suggested_run *best = &w->s->best[place_of(k, j)];
      best->run = SIZE_MAX;
      errors_at(k, now, j, best->before);
      errors_at(k, now, j, best->after);
    }
  }
}

enum dl_status dl_suggestion_make(struct dl_suggestion *s,
                                  const struct dl_suggestion_rows *rows,
                                  struct dl_diag *d) {
  DL_SCOPED(free_work)
  struct work w = {.s = s, .rows = rows, .progress = d->progress};
  for (size_t k = 0; k < DL_SUGGEST_KINDS; k++)
    DL_TRY(make_kind(&w, k, d));
  begin_best(&w);
  errors_by(&w, DL_SUGGEST_KINDS, NULL, s->before);
  s->run = dl_calloc(rows->runs.n, sizeof *s->run);
  look_ahead(&w);
  qsort(s->run, rows->runs.n, sizeof *s->run, compare_runs);
  return DL_OK;
}
