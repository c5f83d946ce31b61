/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/estimator.h"

#include <math.h>
#include <string.h>

#include "estimate/methods/methods.h"

static const struct dl_estimator *const estimators[] = {
    &dl_physical_method,  &dl_pre_epoch, &dl_pre_power,
    &dl_green_algorithms, &dl_tdp,       &dl_flops,
};

size_t dl_estimator_count(void) {
  return sizeof estimators / sizeof *estimators;
}

const struct dl_estimator *dl_estimator_at(size_t i) {
  return estimators[i];
}

const struct dl_estimator *dl_estimator_find(const char *name) {
  for (size_t i = 0; i < dl_estimator_count(); i++)
    if (strcmp(estimators[i]->name, name) == 0)
      return estimators[i];
  return NULL;
}

void dl_settle_duration(const struct dl_job *job, double *duration_s,
                        const char **from) {
  *from = "given";
  *duration_s = job->duration_s;
  if (!isnan(*duration_s))
    return;
  *duration_s = dl_physical_duration(job);
  *from = dl_physical_method.name;
  if (isnan(*duration_s)) {
    *duration_s = dl_pre_duration(job);
    *from = dl_pre_epoch.name;
  }
  if (isnan(*duration_s)) {
    *duration_s = dl_flops_duration(job);
    *from = isnan(*duration_s) ? NULL : dl_flops.name;
  }
}

enum dl_status dl_run_estimator(const struct dl_estimator *e,
                                const struct dl_context *ctx,
                                const struct dl_job *job, double duration_s,
                                const char *duration_from,
                                struct dl_estimate *est, struct dl_diag *d) {
  *est = (struct dl_estimate){
      .method = e->name,
      .energy_j = NAN,
      .low_j = NAN,
      .high_j = NAN,
      .power_w = NAN,
      .duration_s = duration_s,
      .duration_from = duration_from,
  };
  return e->estimate(ctx, job, est, d);
}

long dl_recommended(const struct dl_estimate *est, size_t n,
                    bool duration_given) {
  long best = -1;
  int best_rank = 0;
  for (size_t i = 0; i < n; i++) {
    const struct dl_estimator *e = dl_estimator_find(est[i].method);
    int rank = e ? (duration_given ? e->rank_given : e->rank_open) : 0;
    if (!isnan(est[i].energy_j) && rank > best_rank) {
      best = (long)i;
      best_rank = rank;
    }
  }
  return best;
}
