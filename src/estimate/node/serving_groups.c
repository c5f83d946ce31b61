/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/serving_groups.h"

#include <math.h>

#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* Shares of a GPU's memory that servers take for weights and keys, and for
 * weights alone: they leave room for keys. */
#define SHARE_OF_MEMORY 0.9
#define SHARE_OF_WEIGHTS 0.7

/* Whether GPUs in groups hold their parts of the weights, and each group a
 * request. */
static bool holds_model(struct dl_row *row, double tensor) {
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
  double one = m.model_gb + row->run.n_gpus / tensor * m.sample_gb;
  return m.model_gb <= SHARE_OF_WEIGHTS * has && one <= SHARE_OF_MEMORY * has;
}

static bool divides_heads(const struct dl_row *row, double tensor) {
  return fmod(row->found.arch->transformer->heads, tensor) <= 0;
}

/* NaN: none. */
static double smallest_group(struct dl_row *row) {
  const struct dl_run *r = &row->run;
  double n = r->n_gpus, requests = r->batch_size, tensor = 1;
  double group = divides_heads(row, n) ? n : (double)NAN;
  if (!(r->request_rate > 0))
    requests = fmin(requests, dl_or(r->requests, requests));
  for (; tensor < n; tensor *= 2) {
    if (fmod(n, tensor) > 0 || !divides_heads(row, tensor) ||
        !holds_model(row, tensor))
      continue;
    if (n / tensor <= requests)
      return tensor;
    if (!divides_heads(row, n))
      group = tensor; /* some copies have no request */
  }
  return group;
}

void dl_assume_serving_groups(struct dl_row *row) {
  struct dl_run *r = &row->run;
  if (!row->found.arch->transformer || !(r->n_gpus > 1) || !(r->batch_size > 0))
    return;
  if (!isnan(r->replicas) && isnan(r->tensor_parallel))
    dl_assume_number(row, DL_RUN_tensor_parallel, r->n_gpus / r->replicas);
  bool sized = row->found.gpu && !isnan(row->found.gpu->memory_gb);
  double tensor = sized ? smallest_group(row) : (double)NAN;
  if (isnan(r->tensor_parallel) && !isnan(tensor))
    dl_assume_number(row, DL_RUN_tensor_parallel, tensor);
  if (isnan(r->replicas) && !isnan(r->tensor_parallel))
    dl_assume_number(row, DL_RUN_replicas, r->n_gpus / r->tensor_parallel);
}

double dl_served_at_once(const struct dl_job *job) {
  const struct dl_run *r = job->run;
  struct dl_memory_need m;
  dl_memory_of(job, &m);
  double answer = dl_or(r->output_tokens, 0);
  double all = dl_or(r->prompt_tokens, 0) + answer;
  double kept = m.keys_gb * (all - answer / 2) / all;
  double room = (m.has_gb - m.model_gb) / kept;
  return m.shared && room >= dl_or(r->replicas, 1) ? fmin(r->batch_size, room)
                                                   : r->batch_size;
}
