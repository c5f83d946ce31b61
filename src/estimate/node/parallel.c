/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/parallel.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "estimate/methods/work.h"
#include "run/setup/training_setup.h"

#define REACHED 0.8     /* of the line rate */
#define MESSAGE_S 10e-6 /* latency of one */
#define BUCKET (25 * DL_BYTES_PER_MIB)
#define OVERLAP 0.5
enum { USUAL_DOMAIN = 8 };   /* GPUs that links join, where it is not known */
#define BACKWARD (2.0 / 3.0) /* of a step's work */

double dl_ring_s(double n, double bytes, double link_gb_s) {
  double messages = 2 * (n - 1);
  if (messages <= 0)
    return 0;
  return messages / n * bytes / (1e9 * link_gb_s * REACHED) +
         messages * MESSAGE_S * ceil(bytes / BUCKET);
}

double dl_ring_wait_s(double ring_s, double compute_s) {
  return ring_s - fmin(OVERLAP * ring_s, BACKWARD * compute_s);
}

/* Whether gradients are exchanged by a plain ring over the links of one node.
 */
static bool is_ring(const struct dl_job *job) {
  const struct dl_accelerator *gpu = job->found.gpu;
  double domain = gpu ? gpu->link_domain : NAN;
  struct dl_degrees by = dl_degrees_of(job->run);
  return job->run->n_gpus <= dl_or(domain, USUAL_DOMAIN) && by.tensor <= 1 &&
         by.pipeline <= 1 && by.context <= 1 && by.expert <= 1 &&
         dl_fine_tune_of(job->run) < DL_TUNE_LORA &&
         (!job->run->sharding || job->run->sharding == DL_SHARDING_DDP);
}

double dl_parallel_batch(double batch_size, double n, bool strong) {
  return strong ? ceil(batch_size / n) : batch_size;
}

/* Bytes of the gradients; NaN without parameters. */
static double gradient_bytes(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  /* Rows that are looked up are not exchanged: each is on one accelerator. */
  double trained = job->run->params_m - dl_sparse_params_m(job);
  if (job->run->frozen_base > 0)
    trained = arch ? arch->head_params_m : NAN;
  return 1e6 * trained * fmax(2, fmin(4, dl_work_bytes(job)));
}

void dl_exchange_of(const struct dl_job *job, struct dl_exchange *e) {
  const struct dl_accelerator *gpu = job->found.gpu;
  const struct dl_run *run = job->run;
  double n = run->n_gpus;
  bool strong = run->scaling == DL_SCALE_STRONG;
  *e = (struct dl_exchange){NAN, false, NAN, NAN, NAN};
  if (!(n > 1) || dl_run_is_inference(run))
    return;
  e->link_assumed = !gpu || isnan(gpu->link_gb_s);
  e->link_gb_s = e->link_assumed ? DL_PCIE_3_X16_GB_S : gpu->link_gb_s;
  if (!is_ring(job))
    return;
  double compute_s = dl_work_step_flop(job) *
                     dl_parallel_batch(run->batch_size, n, strong) /
                     (1e12 * dl_work_peak_tflops(job) * run->efficiency);
  e->bytes = gradient_bytes(job);
  e->ring_s = dl_ring_s(n, e->bytes, e->link_gb_s);
  double wait_s = dl_ring_wait_s(e->ring_s, compute_s);
  e->share = wait_s / (compute_s + wait_s);
}
