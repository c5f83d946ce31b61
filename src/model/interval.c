/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prediction intervals from residuals of held-out groups. */

#include "model/interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

void dl_residual_quantiles(struct dl_group_residuals *g, double *x, size_t n) {
  const size_t most = sizeof g->value / sizeof *g->value;
  gsl_sort(x, 1, n);
  g->n = n;
  g->n_values = n < most ? n : most;
  for (size_t i = 0; i < g->n_values; i++)
    g->value[i] =
        n <= most ? x[i] : x[(size_t)((double)(i * (n - 1)) / 20.0 + 0.5)];
}

bool dl_add_group_residuals(struct dl_residuals *r, const char *name, double *x,
                            size_t n) {
  struct dl_group_residuals *grown =
      dl_reallocarray(r->g, r->n + 1, sizeof *grown);
  if (!grown)
    return false;
  r->g = grown;
  struct dl_group_residuals *to = &r->g[r->n];
  *to = (struct dl_group_residuals){.name = dl_strdup(name)};
  dl_residual_quantiles(to, x, n);
  r->n += to->name != NULL;
  return to->name;
}

struct weighted {
  double x, w;
};

static int by_value(const void *a, const void *b) {
  double x = ((const struct weighted *)a)->x;
  double y = ((const struct weighted *)b)->x;
  return (x > y) - (x < y);
}

/* All residuals, each group weighing 1 in total; NULL when memory is out. */
static struct weighted *gather(const struct dl_residuals *r, size_t *n) {
  *n = 0;
  for (size_t i = 0; i < r->n; i++)
    *n += r->g[i].n_values;
  struct weighted *all = dl_calloc(*n, sizeof *all);
  if (!all)
    return NULL;
  size_t k = 0;
  for (size_t i = 0; i < r->n; i++)
    for (size_t j = 0; j < r->g[i].n_values; j++)
      all[k++] =
          (struct weighted){r->g[i].value[j], 1.0 / (double)r->g[i].n_values};
  qsort(all, *n, sizeof *all, by_value);
  return all;
}

/* The new group itself holds one share of G+1, beyond the end on the side
 * that is requested. */
static bool conformal(const struct dl_residuals *r, double coverage,
                      double *low, double *high) {
  size_t n;
  struct weighted *all = gather(r, &n);
  if (!all || n == 0) {
    free(all);
    return false;
  }
  double tail = (1 - coverage) / 2 * ((double)r->n + 1);
  tail += 1e-9 * (double)r->n; /* sums of weights are rounded */
  double sum = 0;
  size_t i = 0;
  for (i = 0; i < n - 1; i++) {
    sum += all[i].w;
    if (sum > tail - 1)
      break;
  }
  *low = all[i].x;
  sum = 0;
  for (i = n - 1; i > 0; i--) {
    sum += all[i].w;
    if (sum > tail - 1)
      break;
  }
  *high = all[i].x;
  free(all);
  return true;
}

static void mean_and_spread(const struct dl_group_residuals *g, double *mean,
                            double *variance) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < g->n_values; i++)
    sum += g->value[i];
  *mean = sum / (double)g->n_values;
  for (size_t i = 0; i < g->n_values; i++)
    squares += (g->value[i] - *mean) * (g->value[i] - *mean);
  *variance = squares / (double)g->n_values;
}

static bool student(const struct dl_residuals *r, double coverage, double *low,
                    double *high) {
  double between = 0, within = 0;
  for (size_t i = 0; i < r->n; i++) {
    double mean, variance;
    mean_and_spread(&r->g[i], &mean, &variance);
    between += mean * mean;
    within += variance;
  }
  double groups = (double)r->n;
  between /= groups;
  within /= groups;
  double t = gsl_cdf_tdist_Pinv((1 + coverage) / 2, groups - 1);
  *high = t * sqrt((between + within) * (1 + 1 / groups));
  *low = -*high;
  return isfinite(*high);
}

bool dl_residual_interval(const struct dl_residuals *r, double coverage,
                          double *low, double *high) {
  if (r->n < 2)
    return false;
  double groups = (double)r->n;
  if (coverage <= (groups - 1) / (groups + 1))
    return conformal(r, coverage, low, high);
  return student(r, coverage, low, high);
}
