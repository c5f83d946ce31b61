/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scoring estimators on measured runs. */

#ifndef DL_ESTIMATE_SCORING_H
#define DL_ESTIMATE_SCORING_H

#include "base/intern.h"
#include "estimate/session.h"

/* Measured and estimated energies of one estimator in one group of runs. */
struct dl_score_cell {
  double *measured, *estimated; /* J, owned */
  size_t n, cap;
  size_t with_interval, inside; /* runs that had one, and lay in it */
};

/* All cells: estimators x groups. Start from {0}. */
struct dl_scoring {
  struct dl_intern groups;    /* values of --by; one, "", without it */
  struct dl_score_cell *cell; /* n_methods a group */
  size_t n_methods, n_cells, cap_cells;
};

void dl_scoring_free(struct dl_scoring *s);

/* Adds a run: its estimates against the energy that a method's boundary
 * measures. Runs that a method says nothing about do not count for it. */
enum dl_status dl_scoring_add(struct dl_scoring *s, const char *group,
                              const struct dl_estimate *est, size_t n,
                              const double *measured, struct dl_diag *d);

#endif
