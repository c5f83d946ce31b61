/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published formulas: a power of the datasheet times a duration.
 *
 *   tdp               P = TDP * GPUs
 *     ML CO2 Impact (Lacoste et al. 2019, arXiv 1910.09700). That site rounds
 *     kWh to two decimals; dlest does not.
 *   green-algorithms  P = TDP * utilisation * GPUs + RAM_GB * 0.3725 W/GB
 *     Lannelongue, Grealey, Inouye 2021, doi 10.1002/advs.202100707, as del Rey
 *     et al. use it. The PUE of the full formula is a separate option (--pue).
 * Both take the power limit in force where it is below the TDP: their duration,
 * given or by a model, is that under the limit.
 *   flops             P = TDP * GPUs
 *     T = FLOPs / (peak FLOP/s * efficiency * GPUs)
 *     FLOPs and peak rate: work.h. The efficiency is the user's or the default
 *     that the output states. A given duration is not used. */

#include <math.h>

#include "base/constants.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"

/* A value that a formula needs, and its name. */
struct input {
  double value;
  const char *name;
};

/* E = P T of *est; where it is unknown, names the first unknown of the n
 * inputs. */
static void multiply(struct dl_estimate *est, const struct input *in,
                     size_t n) {
  est->energy_j.x = est->power_w.x * est->duration_s.x;
  for (size_t i = 0; isnan(est->energy_j.x) && !est->lacks && i < n; i++)
    if (isnan(in[i].value))
      est->lacks = in[i].name;
}

/* The most that a GPU draws, W. */
static double board_w(const struct dl_job *job) {
  double limit = job->run->power_limit_w;
  return limit < job->tdp_w ? limit : job->tdp_w;
}

static void tdp(const struct dl_engine *ctx, const struct dl_job *job,
                const struct dl_job_predictions *p, struct dl_estimate *est) {
  const struct input in[] = {{job->tdp_w, "gpu.tdp_w"},
                             {job->run->n_gpus, "n_gpus"},
                             {est->duration_s.x, "duration_s"}};
  (void)ctx, (void)p;
  est->boundary = "gpu";
  est->power_w.x = board_w(job) * job->run->n_gpus;
  multiply(est, in, 3);
}

static void green_algorithms(const struct dl_engine *ctx,
                             const struct dl_job *job,
                             const struct dl_job_predictions *p,
                             struct dl_estimate *est) {
  const struct dl_run *run = job->run;
  const struct input in[] = {{job->tdp_w, "gpu.tdp_w"},
                             {run->ram_gb, "ram_gb"},
                             {dl_work_utilisation(job), "utilisation"},
                             {run->n_gpus, "n_gpus"},
                             {est->duration_s.x, "duration_s"}};
  (void)ctx, (void)p;
  est->boundary = "gpu+ram";
  est->memory_w = run->ram_gb * DL_MEMORY_W_PER_GB;
  est->power_w.x =
      board_w(job) * dl_work_utilisation(job) * run->n_gpus + est->memory_w;
  multiply(est, in, 5);
}

static void flops(const struct dl_engine *ctx, const struct dl_job *job,
                  const struct dl_job_predictions *p, struct dl_estimate *est) {
  const struct dl_run *run = job->run;
  const struct input in[] = {{job->tdp_w, "gpu.tdp_w"},
                             {run->efficiency, "efficiency"},
                             {run->n_gpus, "n_gpus"},
                             {NAN, "peak_tflops"}};
  struct dl_work w;
  (void)ctx, (void)p;
  dl_work_of(job, &w);
  est->boundary = "gpu";
  est->duration_s.x = w.duration_s;
  est->duration_from = dl_flops.name;
  est->power_w.x = job->tdp_w * run->n_gpus;
  if (isnan(est->power_w.x * est->duration_s.x))
    est->lacks = w.lacks;
  multiply(est, in, 4);
}

static const char *const tdp_needs[] = {"gpu.tdp_w", NULL};
static const char *const flops_needs[] = {"gpu.tdp_w", "gpu.peak_fp32_tflops",
                                          "arch.macs_g",
                                          "dataset.train_samples", NULL};

const struct dl_estimator dl_tdp = {
    .id = DL_METHOD_TDP,
    .name = "tdp",
    .summary = "thermal design power x duration x GPUs",
    .source = "ML CO2 Impact, arXiv 1910.09700",
    .rank_given = 2,
    .rank_open = 1,
    .needs = tdp_needs,
    .estimate = tdp,
};

const struct dl_estimator dl_green_algorithms = {
    .id = DL_METHOD_GREEN_ALGORITHMS,
    .name = "green-algorithms",
    .summary = "TDP x utilisation and 0.3725 W per GB of memory, x duration",
    .source = "Green Algorithms, doi 10.1002/advs.202100707",
    .rank_given = 3,
    .rank_open = 2,
    .needs = tdp_needs,
    .estimate = green_algorithms,
};

const struct dl_estimator dl_flops = {
    .id = DL_METHOD_FLOPS,
    .name = "flops",
    .summary = "operations / (peak rate x efficiency) x TDP",
    .source = "common practice; training = 3 forward passes",
    .rank_given = 1,
    .rank_open = 3,
    .needs = flops_needs,
    .estimate = flops,
};
