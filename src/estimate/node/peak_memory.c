/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/peak_memory.h"

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/methods/work.h"
#include "estimate/node/parallel.h"

/* Bytes of a weight, of gradient and optimiser for it, of an activation. */
struct bytes {
  double weight, state, activation;
};

#define KEPT_OF_IMAGES 2.97
#define KEPT_OF_TOKENS 1.7
#define KEPT_OF_PAIRS 2.5
#define LARGEST 0.25

static struct bytes in_training(const struct dl_job *job) {
  static const char *const mixed[] = {"amp", "fp16", "bf16", "fp8"};
  double size = dl_work_bytes(job);
  for (size_t i = 0; job->run->precision && i < sizeof mixed / sizeof *mixed;
       i++)
    if (dl_strcasecmp(job->run->precision, mixed[i]) == 0)
      return (struct bytes){6, 12, 2};
  if (size < 4) /* no training by integers */
    size = NAN;
  return (struct bytes){size, 3 * size, size};
}

static const struct dl_transformer *language(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && dl_is_language_model(arch) ? arch->transformer : NULL;
}

/* Activations of a sample that the backward pass needs, in elements. */
static double kept(const struct dl_job *job) {
  double acts = 1e6 * job->run->acts_m;
  if (!language(job))
    return KEPT_OF_IMAGES * acts;
  double pairs = 1e6 * job->found.arch->attention_acts_m;
  return KEPT_OF_TOKENS * (acts - pairs) + KEPT_OF_PAIRS * pairs;
}

/* Those of a sample that are there at one time without a backward pass. */
static double at_once(const struct dl_job *job) {
  const struct dl_transformer *t = language(job);
  if (!t)
    return LARGEST * 1e6 * job->run->acts_m;
  double acts = isnan(job->run->prompt_tokens)
                    ? 1e6 * job->run->acts_m
                    : dl_transformer_pass(t, job->run->prompt_tokens).acts;
  return acts / (t->layers + t->decoder_layers);
}

/* Keys and values of a request at the end of its answer. */
static double cache(const struct dl_job *job) {
  const struct dl_transformer *t = language(job);
  if (!t || !dl_transformer_writes(t))
    return 0;
  struct dl_decoding step = dl_transformer_decoding(t, job->run->prompt_tokens);
  return step.kept + step.kept_more * job->run->output_tokens;
}

static double batch_of(const struct dl_job *job) {
  double n = dl_parallel_batch(job->run->batch_size, job->run->n_gpus,
                               dl_parallel_is_strong(job));
  if (!dl_is_inference(job))
    return n;
  return fmin(isnan(n) ? 1 : n, job->run->requests);
}

static double usual(double most) {
  if (!(most >= 1))
    return 0;
  return most >= 64 ? 32 * floor(most / 32) : exp2(floor(log2(most)));
}

void dl_memory_of(const struct dl_job *job, struct dl_memory_need *m) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_accelerator *gpu = job->found.gpu;
  double params = 1e6 * job->run->params_m;
  bool frozen = job->run->frozen_base > 0;
  if (dl_is_inference(job)) {
    double size = dl_work_bytes(job);
    m->model_gb = params * size / 1e9;
    m->sample_gb = (cache(job) + at_once(job)) * size / 1e9;
  } else {
    struct bytes b = in_training(job);
    double head = arch ? 1e6 * arch->head_params_m : NAN;
    double trained = !frozen ? params : isnan(head) ? 0 : head;
    m->model_gb = (params * b.weight + trained * b.state) / 1e9;
    m->sample_gb = (frozen ? at_once(job) : kept(job)) * b.activation / 1e9;
  }
  double has = gpu ? gpu->memory_gb : NAN;
  m->batch = batch_of(job);
  /* GPUs that serve a language model share it, and its requests. */
  m->shared = dl_is_inference(job) && language(job);
  if (m->shared && job->run->n_gpus > 1) {
    m->model_gb /= job->run->n_gpus;
    m->sample_gb /= job->run->n_gpus;
  }
  m->need_gb = m->model_gb + m->batch * m->sample_gb;
  m->over = m->need_gb > has;
  m->fits = usual((has - m->model_gb) / m->sample_gb);
}
