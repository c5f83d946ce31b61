/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of one row: the job that it describes, what the fitted models
 * predict for it, and an estimate by each method. */

#ifndef DL_ESTIMATE_RESULT_H
#define DL_ESTIMATE_RESULT_H

#include "estimate/methods/estimator.h"

struct dl_result {
  size_t line; /* of the table; 0: the row comes from options */
  const char *const *cell; /* of the table's row, as read; or NULL */
  size_t combination; /* of the axes, from 0 */
  const char *broken; /* why the settings of a combination do not go together:
                         there are no estimates; or NULL */
  struct dl_job job;
  struct dl_job_predictions predictions;
  struct dl_estimate *est; /* one per method, owned by who estimates */
  size_t n;
  long best; /* the recommended one, or -1 */
};

/* The recommended estimate, or NULL. */
static inline const struct dl_estimate *dl_result_best(
    const struct dl_result *r) {
  return r->best >= 0 ? &r->est[r->best] : NULL;
}

/* Whether any method has an estimate. */
bool dl_result_has_energy(const struct dl_result *r);

#endif
