/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data of a regression: features and target of each row, or the rows of a
 * physics. */

#ifndef DL_MATH_REGRESSION_DESIGN_H
#define DL_MATH_REGRESSION_DESIGN_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

struct dl_hierarchical_problem;
struct dl_observations;
struct dl_physics;

/* Everything is borrowed, but for designs of dl_design_make, which
 * dl_design_free frees. Cross-validation fits the transformed target
 *
 *   t = log(y) - offset   with log_target, else   t = y - offset
 *
 * A regression (regression.h) takes y as it stands: it is given designs whose
 * target is transformed and whose features are scaled. */
struct dl_design {
  const gsl_matrix *X;      /* n x p features; NULL for a physics */
  const gsl_vector *y;      /* n targets, > 0 with log_target */
  const gsl_vector *w;      /* n weights > 0, or NULL; a row of weight k counts
                             * as k equal rows */
  const gsl_vector *offset; /* n, or NULL */
  const char *const *names; /* p: names of the features for messages, or NULL */
  bool log_target;
  bool scale;    /* standardise X, within each fold on its training rows */
  bool means;    /* a row is the mean of w runs: w holds for everything that
                  * was measured in them, not for y alone */
  double within; /* sum of the squared deviations of those runs from y; only
                  * ridge's choice of lambda depends on it */

  /* Members for a physics, which reads its inputs itself. */
  const struct dl_physics *physics; /* or NULL */
  size_t target;                    /* number of the target to fit */
  const struct dl_observations *rows;
  /* Solutions that all fits of these rows share, or NULL. */
  struct dl_hierarchical_problem *problem;
};

#endif
