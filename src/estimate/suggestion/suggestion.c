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
static const struct {
  double of[DL_MAX_TARGETS]; /* multiples of the logarithms of targets */
  unsigned measured;
} quantities[][QUANTITIES] = {
    [DL_SUGGEST_OTHERS] = {{{[DL_TARGET_TIME] = 1}, 1u << DL_TARGET_TIME},
                           {{[DL_TARGET_ENERGY] = 1},
                            1u << DL_TARGET_TIME | 1u << DL_TARGET_POWER}},
    [DL_SUGGEST_LANGUAGE] = {
        {{[DL_LANG_TARGET_RATE] = -1}, 1u << DL_LANG_TARGET_RATE},
        {{[DL_LANG_TARGET_RATE] = -1, [DL_LANG_TARGET_POWER] = 1},
         1u << DL_LANG_TARGET_RATE | 1u << DL_LANG_TARGET_POWER}}};

/* An outlook is what is known of a quantity of the rows of a kind. */
struct outlook {
  struct dl_information_run *run; /* owned */
  struct dl_information_request request;
  struct dl_run_information *p; /* owned; NULL: nothing is wanted */
  double *scale; /* of each variance, to the square of an error; owned */
};

/* The rows of a kind: those kept come before the runs. */
struct kind {
  size_t n_kept, n_runs, n_wanted;
  size_t *run, *wanted; /* their places in the tables; owned */
  const void **inputs;  /* of what is wanted; owned */
  struct outlook of[QUANTITIES];
};

struct work {
  struct dl_suggestion *s;
  const struct dl_suggestion_rows *rows;
  const struct dl_suggestion_table *wanted;
  struct dl_progress *progress;
  bool *chosen; /* of the runs; owned */
  struct kind kind[DL_SUGGEST_KINDS];
};

static void free_work(struct work *w) {
  free(w->chosen);
  for (size_t k = 0; k < DL_SUGGEST_KINDS; k++) {
    free(w->kind[k].run);
    free(w->kind[k].wanted);
    free((void *)w->kind[k].inputs);
    for (size_t q = 0; q < QUANTITIES; q++) {
      free(w->kind[k].of[q].run);
      free(w->kind[k].of[q].scale);
      dl_run_information_free(w->kind[k].of[q].p);
    }
  }
}

void dl_suggestion_free(struct dl_suggestion *s) {
  free(s->after);
  free(s->order);
  free(s->chosen);
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
          kept ? row->measured : quantities[kind][q].measured};
    if (kept)
      k->n_kept++;
    else
      k->n_runs++;
  }
}

static void list_rows(struct work *w, size_t kind) {
  struct kind *k = &w->kind[kind];
  size_t n_runs = w->rows->kept.n + w->rows->runs.n;
  k->run = dl_calloc(n_runs, sizeof *k->run);
  k->wanted = dl_calloc(w->wanted->n, sizeof *k->wanted);
  k->inputs = dl_calloc(w->wanted->n, sizeof *k->inputs);
  for (size_t q = 0; q < QUANTITIES; q++)
    k->of[q].run = dl_calloc(n_runs, sizeof *k->of[q].run);
  add_runs(w, k, kind, &w->rows->kept);
  add_runs(w, k, kind, &w->rows->runs);
  for (size_t j = 0; j < w->wanted->n; j++)
    if (w->wanted->row[j].kind == kind) {
      k->inputs[k->n_wanted] =
          w->rows->inputs[kind].inputs.s[w->wanted->row[j].input];
      k->wanted[k->n_wanted++] = j;
    }
}

/* The factor of each configuration that makes the square of its half-width of
 * its variance. One without a width has the factor of the others together;
 * energies without any have the factors of times, and without a width of
 * either, errors are as large as the prior has them. */
static void find_scales(const struct work *w, const struct kind *k, size_t q,
                        double *scale) {
  const double *variance = dl_variance_before(k->of[q].p);
  double squares = 0, variances = 0;
  for (size_t j = 0; j < k->n_wanted; j++) {
    double half = w->wanted->row[k->wanted[j]].half_width[q];
    scale[j] = half * half / variance[j];
    squares += isnan(scale[j]) ? 0 : half * half;
    variances += isnan(scale[j]) ? 0 : variance[j];
  }
  for (size_t j = 0; j < k->n_wanted; j++) {
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
  for (size_t q = 0; q < QUANTITIES && k->n_wanted > 0; q++) {
    struct outlook *of = &k->of[q];
    of->request =
        (struct dl_information_request){.from = w->rows->fit[kind]->state,
                                        .run = of->run,
                                        .n_runs = k->n_kept + k->n_runs,
                                        .wanted = k->inputs,
                                        .n_wanted = k->n_wanted,
                                        .quantity = quantities[kind][q].of};
    DL_TRY(dl_run_information_new(&of->p, &of->request, d));
    of->scale = dl_calloc(k->n_wanted, sizeof *of->scale);
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

/* Returns the errors of one wanted configuration, by variances of each
 * quantity. */
static struct dl_suggestion_errors
errors_at(const struct kind *k, const double *const variance[], size_t j) {
  struct dl_suggestion_errors e;
  for (size_t q = 0; q < QUANTITIES; q++)
    e.of[q] = error_of(k->of[q].scale[j] * variance[q][j]);
  return e;
}

/* The variances of a kind as they are now; none where nothing is wanted. */
static void take_now(const struct kind *k, const double *variance[QUANTITIES]) {
  for (size_t q = 0; q < QUANTITIES && k->n_wanted > 0; q++)
    variance[q] = dl_variance_before(k->of[q].p);
}

/* The errors of all that is wanted, by the variances of a kind, and the others'
 * as they are now. */
static struct dl_suggestion_errors errors_by(const struct work *w, size_t kind,
                                             const double *const variance[]) {
  struct dl_suggestion_errors e;
  double squares[QUANTITIES] = {0};
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++) {
    const struct kind *k = &w->kind[i];
    const double *now[QUANTITIES] = {NULL};
    take_now(k, now);
    for (size_t q = 0; q < QUANTITIES; q++)
      for (size_t j = 0; j < k->n_wanted; j++)
        squares[q] +=
            k->of[q].scale[j] * (i == kind ? variance[q][j] : now[q][j]);
  }
  for (size_t q = 0; q < QUANTITIES; q++)
    e.of[q] = error_of(squares[q] / (double)w->wanted->n);
  return e;
}

/* Whether run a, with that error, comes before run b; NaN comes last. */
static bool is_better(double error_a, size_t a, double error_b, size_t b) {
  if (isnan(error_a) || isnan(error_b))
    return isnan(error_a) && isnan(error_b) ? a < b : isnan(error_b);
  return error_a < error_b || (error_a <= error_b && a < b);
}

/* Keeps a run for the wanted configurations that it is the best for. */
static void keep_best(struct work *w, const struct kind *k, size_t run,
                      const double *const variance[]) {
  for (size_t j = 0; j < k->n_wanted; j++) {
    size_t at = k->wanted[j];
    struct dl_suggested_for *best = &w->s->best[at];
    if (w->wanted->row[at].input == w->rows->runs.row[run].input)
      continue;
    struct dl_suggestion_errors e = errors_at(k, variance, j);
    /* A run of another GPU may change nothing. */
    if (e.of[DL_SUGGEST_TIME] < best->before.of[DL_SUGGEST_TIME] &&
        is_better(e.of[DL_SUGGEST_TIME], run, best->after.of[DL_SUGGEST_TIME],
                  best->run)) {
      best->run = run;
      best->after = e;
    }
  }
}

/* --- runs */

/* The errors after each run of a block of a kind; the first time also what is
 * best for each wanted configuration. */
static void look_at(struct work *w, const struct kind *k, size_t block,
                    bool first, struct dl_suggestion_errors *after) {
  size_t from = block * BLOCK, n = k->n_runs - from, size = k->n_wanted;
  n = n < BLOCK ? n : BLOCK;
  DL_FREED double *all = dl_calloc(QUANTITIES * n * size, sizeof *all);
  for (size_t q = 0; q < QUANTITIES && size > 0; q++)
    dl_variance_after(k->of[q].p, k->n_kept + from, n, all + q * n * size);
  for (size_t i = 0; i < n; i++) {
    size_t run = k->run[k->n_kept + from + i];
    const double *variance[QUANTITIES];
    for (size_t q = 0; q < QUANTITIES; q++)
      variance[q] = all + (q * n + i) * size;
    after[run] = errors_by(w, w->rows->runs.row[run].kind, variance);
    if (first)
#pragma omp critical(dl_suggestion_best)
      keep_best(w, k, run, variance);
  }
}

static size_t blocks_of(const struct kind *k) {
  return (k->n_runs + BLOCK - 1) / BLOCK;
}

static void look_ahead(struct work *w, bool first,
                       struct dl_suggestion_errors *after) {
  size_t done = 0, n = 0;
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++)
    n += blocks_of(&w->kind[i]);
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++) {
    const struct kind *k = &w->kind[i];
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(k); b++) {
      look_at(w, k, b, first, after);
#pragma omp critical(dl_suggestion_progress)
      dl_progress_step(w->progress, (double)++done / (double)(n + 1));
    }
  }
}

/* The best run that is not chosen. */
static size_t best_run(const struct work *w,
                       const struct dl_suggestion_errors *after) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < w->rows->runs.n; i++)
    if (!w->chosen[i] &&
        (best == SIZE_MAX || is_better(after[i].of[DL_SUGGEST_TIME], i,
                                       after[best].of[DL_SUGGEST_TIME], best)))
      best = i;
  return best;
}

/* Measures a run: it is chosen. */
static void choose(struct work *w, size_t run) {
  const struct dl_suggestion_row *row = &w->rows->runs.row[run];
  struct kind *k = &w->kind[row->kind];
  for (size_t i = k->n_kept; i < k->n_kept + k->n_runs; i++)
    for (size_t q = 0; q < QUANTITIES && k->run[i] == run; q++)
      if (k->n_wanted > 0)
        dl_run_information_measure(k->of[q].p, i);
  w->chosen[run] = true;
}

static void choose_all(struct work *w, size_t n_chosen) {
  struct dl_suggestion *s = w->s;
  size_t n = w->rows->runs.n;
  DL_FREED struct dl_suggestion_errors *after = dl_calloc(n, sizeof *after);
  memcpy(after, s->after, n * sizeof *after);
  s->chosen = dl_calloc(n_chosen, sizeof *s->chosen);
  while (s->n_chosen < n_chosen) {
    size_t run = best_run(w, after);
    s->chosen[s->n_chosen++] = (struct dl_suggested_run){run, after[run]};
    if (s->n_chosen == n_chosen)
      break;
    choose(w, run);
    struct dl_progress_span outer =
        dl_progress_enter(w->progress, s->n_chosen, n_chosen);
    look_ahead(w, false, after);
    dl_progress_leave(w->progress, outer);
  }
}

/* --- ranking */

struct place {
  double error;
  size_t run;
};

static int compare_places(const void *a, const void *b) {
  const struct place *p = a, *q = b;
  return is_better(p->error, p->run, q->error, q->run) ? -1 : 1;
}

static void rank(struct dl_suggestion *s, size_t n) {
  DL_FREED struct place *place = dl_calloc(n, sizeof *place);
  for (size_t i = 0; i < n; i++)
    place[i] = (struct place){s->after[i].of[DL_SUGGEST_TIME], i};
  qsort(place, n, sizeof *place, compare_places);
  s->order = dl_calloc(n, sizeof *s->order);
  for (size_t i = 0; i < n; i++)
    s->order[i] = place[i].run;
}

/* Sets what is known of each wanted configuration before any run. */
static void begin_best(struct work *w) {
  w->s->best = dl_calloc(w->wanted->n, sizeof *w->s->best);
  for (size_t i = 0; i < DL_SUGGEST_KINDS; i++) {
    const struct kind *k = &w->kind[i];
    const double *now[QUANTITIES] = {NULL};
    take_now(k, now);
    for (size_t j = 0; j < k->n_wanted; j++) {
      struct dl_suggestion_errors e = errors_at(k, now, j);
      w->s->best[k->wanted[j]] = (struct dl_suggested_for){SIZE_MAX, e, e};
    }
  }
}

enum dl_status dl_suggestion_make(struct dl_suggestion *s,
                                  const struct dl_suggestion_rows *rows,
                                  size_t n_chosen, struct dl_diag *d) {
  DL_SCOPED(free_work)
  struct work w = {.s = s,
                   .rows = rows,
                   .progress = d->progress,
                   .wanted = rows->wanted.n > 0 ? &rows->wanted : &rows->runs};
  n_chosen = n_chosen < rows->runs.n ? n_chosen : rows->runs.n;
  w.chosen = dl_calloc(rows->runs.n, sizeof *w.chosen);
  for (size_t k = 0; k < DL_SUGGEST_KINDS; k++)
    DL_TRY(make_kind(&w, k, d));
  begin_best(&w);
  s->before = errors_by(&w, DL_SUGGEST_KINDS, NULL);
  s->after = dl_calloc(rows->runs.n, sizeof *s->after);
  struct dl_progress_span outer = dl_progress_enter(d->progress, 0, n_chosen);
  look_ahead(&w, true, s->after);
  dl_progress_leave(d->progress, outer);
  rank(s, rows->runs.n);
  choose_all(&w, n_chosen);
  return DL_OK;
}
