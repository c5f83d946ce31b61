/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scoring estimators on measured runs. */

#ifndef DL_ESTIMATE_SCORING_H
#define DL_ESTIMATE_SCORING_H

#include <stdint.h>

#include "base/names/intern.h"
#include "estimate/engine.h"
#include "math/cross_validation/bootstrap.h"
#include "math/cross_validation/metrics.h"

/* Runs have one of these in common, so that their errors are not
 * independent. */
enum dl_clustering {
  DL_CLUSTER_OWN, /* the unit that is drawn: a configuration, ... */
  DL_CLUSTER_GPU,
  DL_CLUSTER_ARCH,
  DL_N_CLUSTERINGS
};

/* All runs, each with one entry a candidate: an estimator with a model. Start
 * from {0}. */
struct dl_scoring {
  struct dl_intern groups; /* values of --by; one, "", without it */
  struct dl_intern clusters[DL_N_CLUSTERINGS];
  uint32_t *table,
      *group; /* n: the table of each run, and of `groups`; owned */
  /* n: of `clusters`, what the bootstrap draws; owned */
  uint32_t *cluster[DL_N_CLUSTERINGS];
  double **measured; /* columns of n, J; NaN: unknown; owned */
  size_t *column; /* n_methods: the column of each, owned. Candidates with equal
                     values share a column. */
  size_t *before; /* n_methods: the columns before the last run, owned */
  double **estimated; /* n_methods columns of n, J; NaN: none; owned */
  int8_t **inside;    /* likewise: in its interval, or -1 without; owned */
  size_t n_methods, n_columns, n, room;
};

void dl_scoring_free(struct dl_scoring *s);

/* A run that is scored: its estimates, and for each the energy that was
 * measured within the boundary of its method. */
struct dl_scored {
  size_t table;
  const char *group;
  /* Names; the one of DL_CLUSTER_OWN may be NULL: the run is one by itself;
   * others: they are not looked at. */
  const char *cluster[DL_N_CLUSTERINGS];
  const struct dl_estimate *est;
  const double *measured;
  size_t n; /* of both; equal for all runs */
};

/* Adds a run. Runs that a method has no estimate of do not count for it. */
void dl_scoring_add(struct dl_scoring *s, const struct dl_scored *run);

/* Whether two candidates agree on every run, bit by bit. */
bool dl_scoring_same(const struct dl_scoring *s, size_t a, size_t b);

/* Which candidates, on which runs: of one table, of one group, or of all
 * (DL_ALL). */
#define DL_ALL SIZE_MAX
struct dl_scoring_scope {
  size_t table, group;
  const size_t *which; /* n candidates */
  size_t n;
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
  double covered; /* share of runs inside their interval; NaN: none */
  size_t groups[DL_N_CLUSTERINGS]; /* of the runs of all candidates */
  double effective_groups;         /* dl_boot_groups */
};

/* Scores of the candidates of a scope on its runs, ranked among each other; out
 * gets one entry each. */
enum dl_status dl_scoring_of(const struct dl_scoring *s,
                             const struct dl_scoring_scope *scope,
                             const struct dl_resampling *how,
                             struct dl_method_score *out, struct dl_diag *d);

#endif
