/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/serving_groups.h"

#include <math.h>

#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* Shares of a GPU's memory that servers take for weights and keys, and for
 * weights alone: whatever the batch is now, a server leaves room for keys. */
#define SHARE_OF_MEMORY 0.9
#define SHARE_OF_WEIGHTS 0.7

/* A GPU in a group holds its part of these. */
enum fit { NO_WEIGHTS, WEIGHTS, ALL_REQUESTS };

static enum fit fit_of(struct dl_row *row, double tensor) {
  struct dl_memory_need m;
  const double was = row->run.tensor_parallel;
  const struct dl_job job = {
      .row = row,
      .run = &row->run,
      .found = row->found,
      .seq_len = dl_or(row->run.seq_len, row->found.arch->seq_len)};
  row->run.tensor_parallel = tensor;
  dl_memory_of(&job, &m);
  row->run.tensor_parallel = was;
  double has = dl_usable_gb(row->found.gpu);
  if (m.model_gb > SHARE_OF_WEIGHTS * has)
    return NO_WEIGHTS;
  return m.need_gb > SHARE_OF_MEMORY * has ? WEIGHTS : ALL_REQUESTS;
}

static bool divides_heads(const struct dl_row *row, double tensor) {
  return fmod(row->found.arch->transformer->heads, tensor) <= 0;
}

static double smallest_group(struct dl_row *row) {
  const struct dl_run *r = &row->run;
  double n = r->n_gpus, requests = r->batch_size;
  if (!(r->request_rate > 0))
    requests = fmin(requests, dl_or(r->requests, requests));
  double of_weights = n;
  for (double tensor = 1; tensor < n; tensor *= 2) {
    if (fmod(n, tensor) > 0 || !divides_heads(row, tensor) ||
        n / tensor > requests)
      continue;
    enum fit fit = fit_of(row, tensor);
    if (fit == ALL_REQUESTS)
      return tensor;
    if (fit == WEIGHTS)
      of_weights = fmin(of_weights, tensor);
  }
  return fit_of(row, n) == ALL_REQUESTS ? n : of_weights;
}

void dl_assume_serving_groups(struct dl_row *row) {
  struct dl_run *r = &row->run;
  if (!row->found.arch->transformer || !(r->n_gpus > 1) || !(r->batch_size > 0))
    return;
  if (!isnan(r->replicas) && isnan(r->tensor_parallel))
    dl_assume_number(row, DL_RUN_tensor_parallel, r->n_gpus / r->replicas);
  bool sized = row->found.gpu && !isnan(row->found.gpu->memory_gb);
  double tensor = sized ? smallest_group(row) : (double)NAN;
  if (isnan(r->tensor_parallel) && divides_heads(row, tensor))
    dl_assume_number(row, DL_RUN_tensor_parallel, tensor);
  if (isnan(r->replicas) && !isnan(r->tensor_parallel))
    dl_assume_number(row, DL_RUN_replicas, r->n_gpus / r->tensor_parallel);
}
