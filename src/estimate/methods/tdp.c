/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Energy as thermal design power times duration, as the ML CO2 Impact
 * calculator has it (Lacoste et al. 2019, arXiv 1910.09700):
 *
 *   E = TDP * T * GPUs
 *
 * That site rounds kWh to two decimals; dlest does not. */

#include <math.h>

#include "estimate/methods/methods.h"

static enum dl_status estimate(const struct dl_context *ctx,
                               const struct dl_job *job,
                               const struct dl_job_predictions *p,
                               struct dl_estimate *est, struct dl_diag *d) {
  (void)ctx;
  (void)p;
  (void)d;
  est->boundary = "gpu";
  est->power_w = job->tdp_w * job->run->n_gpus;
  est->energy_j = est->power_w * est->duration_s;
  if (isnan(job->tdp_w))
    est->lacks = "gpu.tdp_w";
  else if (isnan(job->run->n_gpus))
    est->lacks = "n_gpus";
  else if (isnan(est->energy_j))
    est->lacks = "duration_s";
  return DL_OK;
}

static const char *const needs[] = {"gpu.tdp_w", NULL};

const struct dl_estimator dl_tdp = {
    .name = "tdp",
    .summary = "thermal design power x duration x GPUs",
    .source = "ML CO2 Impact, arXiv 1910.09700",
    .rank_given = 2,
    .rank_open = 1,
    .needs = needs,
    .estimate = estimate,
};
