/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fitting/time_residuals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/interval.h"
#include "physics/conditioning/joint_prediction.h"

const char *dl_software_of(const struct dl_design *g, size_t row) {
  const struct dl_observed *o = &g->rows.row[row];
  return g->physics->software ? g->physics->software(o->inputs) : NULL;
}

double dl_held_out_spread(struct dl_held_out_spreads *s, size_t row) {
  const struct dl_design *g = s->g;
  if (!g->physics->widths_by_run)
    return 1;
  if (!s->seen)
    s->seen = dl_calloc(g->table->n_inputs, sizeof *s->seen);
  double *seen = &s->seen[g->table->input[row]];
  if (!(*seen > 0)) {
    struct dl_fit_row of_fit;
    double spread[2];
    dl_fit_row_make(&of_fit, s->fit->state, g->rows.row[row].inputs);
    dl_run_spreads(&of_fit, dl_leaves_arch(s->left), dl_leaves_gpu(s->left),
                   (const size_t[]){s->target, s->target}, spread);
    *seen = spread[0];
  }
  return *seen;
}

double dl_held_out_value(const struct dl_design *g, size_t row, size_t target) {
  const struct dl_observed *o = &g->rows.row[row];
  return g->physics->scored ? g->physics->scored(o->inputs, o->value, target)
                            : o->value[target];
}

/* The rows of one call. */
struct rows {
  const struct dl_design *g;
  enum dl_held_out_group left;
  size_t first;       /* row of the sample that row 0 is */
  double *x;          /* n: residuals, NaN without */
  size_t *row, *from; /* rows by fold (dl_folds_list); one fold more holds those
                         that are in none */
  const struct dl_folds *folds;
};

/* Residuals, and rows by fold. */
static void prepare(struct rows *w, const struct dl_held_out *h) {
  const struct dl_folds *f = w->folds;
  size_t target = w->g->physics->time;
  struct dl_folds all = {.n = f->n, .k = f->k + 1};
  w->x = dl_calloc(f->n, sizeof *w->x);
  all.of_row = dl_calloc(f->n, sizeof *all.of_row);
  for (size_t i = 0; i < f->n; i++) {
    bool in = f->of_row[i] < f->k;
    all.of_row[i] = in ? f->of_row[i] : f->k;
    w->x[i] = in ? dl_held_out_value(w->g, w->first + i, target) -
                       h->y[i * w->g->physics->n_targets + target]
                 : (double)NAN;
  }
  dl_folds_list(&all, &w->row, &w->from);
  free(all.of_row);
}

/* Adds the n residuals x of a group, which are sorted with their spreads. */
static void add_group(struct dl_residuals *r, const char *name, double *x,
                      double *spread, size_t n) {
  double sum = r->pooled.mape * (double)r->pooled.n;
  for (size_t i = 0; i < n; i++)
    sum += fabs(expm1(-x[i]));
  r->pooled = (struct dl_scores){.n = r->pooled.n + n,
                                 .r2 = NAN,
                                 .rmse = NAN,
                                 .mae = NAN,
                                 .mape = sum / (double)(r->pooled.n + n),
                                 .median_ape = NAN,
                                 .bias = NAN};
  dl_add_group_residuals(r, name, x, spread, n);
}

/* Those of fold k that were measured with the software of t. */
static void add_fold(struct dl_time_residuals *t, const struct rows *w,
                     size_t k, double *x, double *spread,
                     struct dl_held_out_spreads *spreads) {
  size_t n = 0;
  for (size_t i = w->from[k]; i < w->from[k + 1]; i++) {
    size_t row = w->first + w->row[i];
    if (!isfinite(w->x[w->row[i]]) ||
        strcmp(dl_software_of(w->g, row), t->software) != 0)
      continue;
    spread[n] = dl_held_out_spread(spreads, row);
    x[n++] = w->x[w->row[i]];
  }
  const char *name = w->folds->name ? w->folds->name[k] : "";
  if (n > 0)
    add_group(&t->held_out[w->left], name, x,
              dl_has_spreads(w->g) ? spread : NULL, n);
}

void dl_add_time_residuals(struct dl_fit *fit, enum dl_held_out_group left,
                           const struct dl_design *g, size_t first,
                           const struct dl_folds *folds,
                           const struct dl_held_out *h) {
  struct rows w = {.g = g, .left = left, .first = first, .folds = folds};
  struct dl_held_out_spreads spreads = {fit, g, g->physics->time, left, NULL};
  double *x = dl_calloc(folds->n, sizeof *x);
  double *spread = dl_calloc(folds->n, sizeof *spread);
  prepare(&w, h);
  for (size_t i = 0; i < folds->n; i++)
    if (!isnan(w.x[i]))
      dl_fit_add_times(fit, dl_software_of(g, first + i));
  for (size_t k = 0; k < folds->k; k++)
    for (size_t s = 0; s < fit->n_times; s++)
      add_fold(&fit->times[s], &w, k, x, spread, &spreads);
  free(spreads.seen);
  free(w.x);
  free(w.row);
  free(x);
  free(spread);
}
