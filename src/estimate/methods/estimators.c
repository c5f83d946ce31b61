/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/estimator.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "estimate/methods/language_training.h"
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

/* Rounding must not make a rate higher than the peak. */
#define ABOVE_ROUNDING (1 + 1e-12)

double dl_least_duration(const struct dl_job *job) {
  struct dl_work w;
  dl_work_of(job, &w);
  double peak = 1e12 * dl_work_most_tflops(job) * job->run->n_gpus;
  return w.model_flop / peak * ABOVE_ROUNDING;
}

static void slow_down(struct dl_prediction *p, double by) {
  p->value *= by;
  p->low *= by;
  p->high *= by;
}

/* Runs of other configurations may be faster than the peak rate allows, because
 * fast convolutions in FP32 save products. An estimate does not assume that. */
void dl_bound_by_peak(struct dl_job_predictions *p, const struct dl_job *job) {
  struct dl_prediction *rate = &p->of[DL_LANGUAGE_RATE];
  struct dl_prediction *time = &p->of[DL_PHYSICAL_TIME];
  struct dl_prediction *epoch = &p->of[DL_PHYSICAL_EPOCH];
  double epoch_s = dl_or(time->value, p->parts.time_s);
  double work_s =
      p->language ? dl_language_work_s(job, p) : epoch_s * job->epochs;
  double by = dl_least_duration(job) / work_s;
  bool measured = rate->repeats > 0 || time->repeats > 0 || epoch->repeats > 0;
  p->slower = 1;
  if (!(by > 1) || measured)
    return;
  p->slower = by;
  slow_down(rate, 1 / by);
  slow_down(time, by);
  slow_down(epoch, by);
  p->parts.compute_s += (by - 1) * p->parts.time_s;
  p->parts.time_s *= by;
}

void dl_estimate_throughput(struct dl_estimate *est, const struct dl_job *job) {
  struct dl_work w;
  est->samples_per_s = est->tokens_per_s = est->mfu = NAN;
  est->precision = dl_precision_words[job->run->precision];
  /* The length of a run alone does not say what it does. */
  bool any_work = !job->known.of_work && est->duration_s.x == job->known.run_s;
  if (dl_run_is_inference(job->run) || isnan(est->energy_j.x) || any_work)
    return;
  dl_work_of(job, &w);
  double peak = 1e12 * dl_work_most_tflops(job) * job->run->n_gpus;
  /* What the physical method and FLOPs estimate are the steps so far. */
  double steps_s = est->duration_s.x;
  if (est->id != DL_METHOD_PHYSICAL && est->duration_from != dl_flops.name)
    steps_s = dl_without_overhead(job, steps_s);
  est->samples_per_s =
      job->train_samples * job->epochs / (steps_s * w.train_share);
  est->tokens_per_s = est->samples_per_s * job->seq_len;
  est->mfu = w.model_flop / (steps_s * peak);
}

long dl_recommended(const struct dl_estimate *est, size_t n,
                    bool duration_given) {
  long best = -1;
  int best_rank = 0;
  for (size_t i = 0; i < n; i++) {
    const struct dl_estimator *e = dl_estimator_find(est[i].method);
    int rank = 0;
    if (e)
      rank = duration_given ? e->rank_given : e->rank_open;
    if (!isnan(est[i].energy_j.x) && !est[i].other_precision &&
        rank > best_rank) {
      best = (long)i;
      best_rank = rank;
    }
  }
  return best;
}
