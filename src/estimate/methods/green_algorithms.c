/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Green Algorithms (Lannelongue, Grealey, Inouye 2021, doi
 * 10.1002/advs.202100707), as del Rey et al. use it:
 *
 *   E = (TDP * utilisation * GPUs + RAM_GB * 0.3725 W/GB) * T
 *
 * The PUE that the full formula has is never applied here: dlest keeps the
 * facility apart (--pue). */

#include <math.h>

#include "base/constants.h"
#include "estimate/methods/methods.h"

static enum dl_status estimate(const struct dl_context *ctx,
                               const struct dl_job *job,
                               const struct dl_job_predictions *p,
                               struct dl_estimate *est, struct dl_diag *d) {
  (void)ctx;
  (void)p;
  (void)d;
  est->boundary = "gpu+ram";
  est->memory_w = job->run->ram_gb * DL_MEMORY_W_PER_GB;
  est->power_w =
      job->tdp_w * job->run->utilisation * job->run->n_gpus + est->memory_w;
  est->energy_j = est->power_w * est->duration_s;
  if (isnan(job->tdp_w))
    est->lacks = "gpu.tdp_w";
  else if (isnan(job->run->ram_gb))
    est->lacks = "ram_gb";
  else if (isnan(job->run->utilisation))
    est->lacks = "utilisation";
  else if (isnan(job->run->n_gpus))
    est->lacks = "n_gpus";
  else if (isnan(est->energy_j))
    est->lacks = "duration_s";
  return DL_OK;
}

static const char *const needs[] = {"gpu.tdp_w", NULL};

const struct dl_estimator dl_green_algorithms = {
    .name = "green-algorithms",
    .summary = "TDP x utilisation and 0.3725 W per GB of memory, x duration",
    .source = "Green Algorithms, doi 10.1002/advs.202100707",
    .rank_given = 3,
    .rank_open = 2,
    .needs = needs,
    .estimate = estimate,
};
