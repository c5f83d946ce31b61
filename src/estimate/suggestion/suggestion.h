/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run to measure, so that a calibration with it helps most.
 *
 * Errors are expected ones: the root mean square over all configurations
 * of what half of all estimates of each are off by at most. Before, that is
 * half the width of its 50 % interval, which is based on held-out residuals.
 * What share a run leaves of the variance of each is known before it is
 * measured (physics/calibration/run_information.h); the prior's own variances
 * may be too wide.
 */

#ifndef DL_ESTIMATE_SUGGESTION_SUGGESTION_H
#define DL_ESTIMATE_SUGGESTION_SUGGESTION_H

#include "estimate/suggestion/suggestion_rows.h"

/* Errors are fractions, by quantity. */
struct dl_suggested_run {
  size_t run;
  double before[DL_SUGGEST_QUANTITIES], after[DL_SUGGEST_QUANTITIES];
};

struct dl_suggestion {
  double before[DL_SUGGEST_QUANTITIES];
  /* All runs, best first, each with what it leaves alone of all; owned. */
  struct dl_suggested_run *run;
  /* For each configuration, the best run of another one, with its own errors;
   * owned. SIZE_MAX: no run says anything of it. */
  struct dl_suggested_run *best;
};

/* Ranks the runs of `rows`, of which there is one at least. Starts from {0}.
 * Errors (DL_EINPUT): of dl_run_information_new. */
enum dl_status dl_suggestion_make(struct dl_suggestion *s,
                                  const struct dl_suggestion_rows *rows,
                                  struct dl_diag *d);
void dl_suggestion_free(struct dl_suggestion *s);

#endif
