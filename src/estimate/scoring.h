/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scoring estimators on measured runs. */

#ifndef DL_ESTIMATE_SCORING_H
#define DL_ESTIMATE_SCORING_H

#include <stdint.h>

#include "base/intern.h"
#include "estimate/session.h"
#include "math/cross_validation/bootstrap.h"
#include "math/cross_validation/metrics.h"

/* A run that is scored, and to what it belongs. */
struct dl_scored_run {
  size_t table;
  size_t group;   /* of `groups` */
  size_t cluster; /* of `clusters`: what the bootstrap draws */
};

/* All runs, each with one entry a candidate: an estimator with a model. Start
 * from {0}. */
struct dl_scoring {
  struct dl_intern groups; /* values of --by; one, "", without it */
  struct dl_intern clusters;
  struct dl_scored_run *run; /* owned */
  double *measured;          /* n x n_methods, J; NaN: unknown; owned */
  double *estimated;         /* n x n_methods, J; NaN: none; owned */
  int8_t *inside; /* n x n_methods: in its interval, or -1 without; owned */
  size_t n_methods, n, cap_run, cap_measured, cap_estimated, cap_inside;
};

void dl_scoring_free(struct dl_scoring *s);

/* Adds a run: its estimates against the energy that a method's boundary
 * measures. Runs that a method says nothing about do not count for it.
 * `cluster` NULL: the run is one by itself. n is the same for all runs. */
enum dl_status dl_scoring_add(struct dl_scoring *s, size_t table,
                              const char *group, const char *cluster,
                              const struct dl_estimate *est, size_t n,
                              const double *measured, struct dl_diag *d);

/* Whether two candidates say the same of every run, bit by bit. */
bool dl_scoring_same(const struct dl_scoring *s, size_t a, size_t b);

/* Which runs: of one table, of one group, or of all (DL_ALL). */
#define DL_ALL SIZE_MAX
struct dl_scope {
  size_t table, group;
};

/* How sure the scores are: see math/cross_validation/bootstrap.h. */
struct dl_resampling {
  size_t resamples;
  double confidence;
  unsigned long seed;
};

/* The scores of one candidate. */
struct dl_method_score {
  struct dl_scores of;
  struct dl_boot_scores boot;
  double covered;  /* share of runs inside their interval; NaN: none */
  size_t clusters; /* that were drawn from, of all candidates */
};

/* Scores of the candidates `which` (n of them) on the runs of a scope, ranked
 * among each other; out gets one entry each. */
enum dl_status dl_scoring_of(const struct dl_scoring *s,
                             const struct dl_scope *scope, const size_t *which,
                             size_t n, const struct dl_resampling *how,
                             struct dl_method_score *out, struct dl_diag *d);

#endif
