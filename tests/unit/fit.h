/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small fitted model, for unit tests. Include after cmocka.h. */

#ifndef DL_TESTS_FIT_H
#define DL_TESTS_FIT_H

#include "model/model.h"
#include "unit.h"

enum { FIT_ROWS = 12, FIT_FEATURES = 2 };

static UNUSED void fit_row(size_t i, double x[FIT_FEATURES]) {
  x[0] = 10 + 3 * sin(1.1 * (double)i);
  x[1] = 0.1 * (double)(i * i % 7);
}

/* Fits 1 + x0 - 2 x1 and a ripple with a method; fills what every fit has. */
static UNUSED void make_fit(struct dl_fit *f, const char *method,
                            const double *hyper, bool scaled) {
  gsl_matrix *X = gsl_matrix_alloc(FIT_ROWS, FIT_FEATURES);
  gsl_vector *y = gsl_vector_alloc(FIT_ROWS);
  struct dl_diag d = {0};

  *f = (struct dl_fit){.scaled = scaled, .n = FIT_ROWS};
  for (size_t i = 0; i < FIT_ROWS; i++) {
    double *x = gsl_matrix_ptr(X, i, 0);
    fit_row(i, x);
    gsl_vector_set(y, i, 1 + x[0] - 2 * x[1] + 0.3 * cos((double)i));
  }
  f->method = dl_regression_find(method);
  assert_non_null(f->method);
  f->target = strdup("gpu_power_w");
  dl_strlist_add(&f->features, "x0");
  dl_strlist_add(&f->features, "x1");
  if (scaled) {
    dl_scale_fit(&f->scale, X, NULL);
    dl_scale_apply(&f->scale, X);
  }
  for (size_t i = 0; i < f->method->n_hyper; i++)
    f->hyper[i] = hyper[i];
  assert_ok(f->method->fit(f->method, &f->state,
                           &(struct dl_design){.X = X, .y = y}, f->hyper, &d),
            &d);
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

/* Adds a training range. */
static UNUSED void add_range(struct dl_fit *f, const char *name, double low,
                             double high) {
  f->range = realloc(f->range, (f->n_ranges + 1) * sizeof *f->range);
  f->range[f->n_ranges++] =
      (struct dl_range){.name = strdup(name), .low = low, .high = high};
}

/* Gives a set of residuals n groups of one row each: -scale and scale in
 * turns. */
static UNUSED void add_residuals(struct dl_fit *f, enum dl_held_out_group left,
                                 size_t n, double scale) {
  struct dl_residuals *r = &f->held_out_residuals[left];
  char name[32];

  r->g = calloc(n, sizeof *r->g);
  r->n = n;
  r->pooled.n = n;
  for (size_t i = 0; i < n; i++) {
    snprintf(name, sizeof name, "g%zu", i);
    r->g[i] = (struct dl_group_residuals){
        .name = strdup(name), .n = 1, .n_values = 1};
    r->g[i].value[0] = i % 2 ? scale : -scale;
  }
}

#endif
