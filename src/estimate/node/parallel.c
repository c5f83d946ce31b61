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

/* Alone, on its part of the batch. */
static double compute_s(const struct dl_parallel *p) {
  if (!p->strong)
    return p->step_s;
  return p->fixed_s + (p->step_s - p->fixed_s) / p->n;
}

static double exchange_s(const struct dl_parallel *p, double reached) {
  double messages = 2 * (p->n - 1);
  if (messages <= 0)
    return 0;
  return messages / p->n * p->bytes / (1e9 * p->link_gb_s * reached) +
         messages * MESSAGE_S * ceil(p->bytes / BUCKET);
}

void dl_parallel_of(const struct dl_parallel *p, struct dl_parallel_step *s) {
  double alone = compute_s(p);
  s->comm_s = exchange_s(p, REACHED);
  s->wait_s = s->comm_s - fmin(OVERLAP * s->comm_s, BACKWARD * alone);
  s->step_s = alone + s->wait_s;
  s->share = s->wait_s / s->step_s;
  s->energy_j = p->n * (alone * p->busy_w + s->wait_s * p->idle_w);
  s->power_w = s->energy_j / s->step_s;
  double worst = alone + exchange_s(p, REACHED / 2);
  s->extra = fmax(worst / s->step_s - 1, s->share);
}

bool dl_parallel_is_ring(const struct dl_job *job) {
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

void dl_parallel_job(const struct dl_job *job, struct dl_parallel *p,
                     bool *assumed) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_accelerator *gpu = job->found.gpu;
  /* Rows that are looked up are not exchanged: each is on one accelerator. */
  double trained = job->run->params_m - dl_sparse_params_m(job);
  if (job->run->frozen_base > 0)
    trained = arch ? arch->head_params_m : NAN;
  double link = gpu ? gpu->link_gb_s : NAN;
  *assumed = isnan(link);
  *p = (struct dl_parallel){
      .n = job->run->n_gpus,
      .strong = job->run->scaling == DL_SCALE_STRONG,
      .step_s = NAN,
      .bytes = 1e6 * trained * fmax(2, fmin(4, dl_work_bytes(job))),
      .link_gb_s = *assumed ? DL_PCIE_3_X16_GB_S : link,
      .busy_w = NAN,
      .idle_w = NAN,
  };
}
