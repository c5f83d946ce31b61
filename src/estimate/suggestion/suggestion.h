/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run to measure, so that a calibration with it helps most.
 *
 * Errors are expected ones: the root mean square over the wanted configurations
 * of what half of all estimates of each are off by at most. Before, that is
 * half the width of its 50 % interval, which is based on held-out residuals.
 * What share a run leaves of the variance of each is known before it is
 * measured (physics/calibration/run_information.h); the prior's own variances
 * may be too wide.
 */

#ifndef DL_ESTIMATE_SUGGESTION_SUGGESTION_H
#define DL_ESTIMATE_SUGGESTION_SUGGESTION_H

#include "estimate/suggestion/suggestion_rows.h"

/* Fractions, by quantity. */
struct dl_suggestion_errors {
  double of[DL_SUGGEST_QUANTITIES];
};

struct dl_suggestion {
  struct dl_suggestion_errors before;
  struct dl_suggestion_errors *after; /* each run alone; owned */
  size_t *order;                      /* runs, best first; owned */
  /* Runs that are measured together, best first, and what all up to each
   * leave; owned. */
  struct dl_suggested_run {
    size_t run;
    struct dl_suggestion_errors after;
  } * chosen;
  size_t n_chosen;
  /* For each wanted configuration, the best run of another configuration;
   * owned. SIZE_MAX: no run says anything of it. */
  struct dl_suggested_for {
    size_t run;
    struct dl_suggestion_errors before, after;
  } * best;
};

/* Ranks the runs of `rows`, of which there is one at least, and chooses up to
 * n_chosen. `rows` has the wanted configurations, or none: those are then the
 * runs. Starts from {0}. Errors (DL_EINPUT): of dl_run_information_new. */
enum dl_status dl_suggestion_make(struct dl_suggestion *s,
                                  const struct dl_suggestion_rows *rows,
                                  size_t n_chosen, struct dl_diag *d);
void dl_suggestion_free(struct dl_suggestion *s);

#endif
