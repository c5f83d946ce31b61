/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/estimator.h"

#include <math.h>
#include <string.h>

#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"

#define ROW(estimator) &estimator,
const struct dl_estimator *const dl_estimators[] = {DL_ESTIMATORS(ROW) NULL};

const struct dl_estimator *dl_estimator_find(const char *name) {
  for (size_t i = 0; dl_estimators[i]; i++)
    if (strcmp(dl_estimators[i]->name, name) == 0)
      return dl_estimators[i];
  return NULL;
}

void dl_estimate_throughput(struct dl_estimate *est, const struct dl_job *job) {
  struct dl_work w;
  est->samples_per_s = est->tokens_per_s = est->mfu = NAN;
  est->precision = job->run->precision;
  /* The length of a run alone does not say what it does. */
  bool any_work = !job->known.of_work && est->duration_s == job->known.run_s;
  if (dl_run_is_inference(job->run) || isnan(est->energy_j) || any_work)
    return;
  dl_work_of(job, &w);
  double peak = 1e12 * dl_work_peak_tflops(job) * job->run->n_gpus;
  est->samples_per_s =
      job->train_samples * job->epochs / (est->duration_s * w.train_share);
  est->tokens_per_s = est->samples_per_s * job->seq_len;
  est->mfu = w.model_flop / (est->duration_s * peak);
}

long dl_recommended(const struct dl_estimate *est, size_t n,
                    bool duration_given) {
  long best = -1;
  int best_rank = 0;
  for (size_t i = 0; i < n; i++) {
    const struct dl_estimator *e = dl_estimator_find(est[i].method);
    int rank = e ? (duration_given ? e->rank_given : e->rank_open) : 0;
    if (!isnan(est[i].energy_j) && !est[i].other_precision &&
        rank > best_rank) {
      best = (long)i;
      best_rank = rank;
    }
  }
  return best;
}
