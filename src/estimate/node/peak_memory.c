/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/peak_memory.h"

#include <math.h>

#include "base/constants.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/methods/plain_software.h"
#include "estimate/methods/work.h"
#include "estimate/node/activations.h"
#include "estimate/node/parallel.h"
#include "physics/cpu/cpu_inputs.h"
#include "run/setup/training_setup.h"

/* Bytes of a quantized weight: 4 bits, and of each 64 a scale of 8 bits, of
 * each 256 of which one of 32 bits (QLoRA, arXiv 2305.14314: .127 bits). */
#define NF4 (0.5 + 1.0 / 64 + 4.0 / (64 * 256))

/* Bytes of a weight in FP4, of each 16 a scale of 8 bits (NVFP4). */
#define FP4 (0.5 + 1.0 / 16)

/* Bytes of a weight's moving average, in FP32. */
#define AVERAGE 4

/* Bounds of the interval: weights and states, by these factors, and what an
 * allocator and a driver hold beside them, 1e9 bytes; logarithms of the factors
 * for all else (peak_memory.h). */
#define LEAST_STATES 0.97
#define MOST_STATES 1.05
#define DRIVER 0.5
#define REPORTED 0.987 /* share of the memory that CUDA reports */
#define LEAST_OF_IMAGES 0.22
#define MOST_OF_IMAGES 0.53
#define LEAST_OF_TOKENS 0.45
#define LEAST_OF_FINE_TUNING 1.2
#define MOST_OF_TOKENS 0.45

/* Bytes of a trained parameter: its weight, gradient and what the optimizer
 * keeps. */
struct memory_bytes {
  double weight, gradient, optimizer;
};

/* Moments of the optimizer for each FP32 parameter. */
static double moments(const struct dl_job *job) {
  switch (dl_optimizer_of(job->run)) {
  case DL_OPTIMIZER_SGD:
    return 4;
  case DL_OPTIMIZER_ADAM8BIT:
    return 2;
  case DL_OPTIMIZER_ADAFACTOR: /* a row and a column of each matrix */
    return 0;
  default:
    return 8;
  }
}

/* Language models are trained on 16-bit weights with a master copy, other
 * networks on FP32 weights of which products take a copy. */
static struct memory_bytes in_training(const struct dl_job *job) {
  double size = dl_work_bytes(job), m = moments(job);
  if (dl_is_mixed(job))
    return dl_language_of(job) ? (struct memory_bytes){2, 2, 4 + m}
                               : (struct memory_bytes){6, 4, m};
  if (size < 4) /* no training by integers */
    size = NAN;
  return (struct memory_bytes){size, size, m * size / 4};
}

/* Keys and values of a request at the end of its answer. Beams of a search have
 * answers of their own; servers keep the prompt's once. */
static double cache(const struct dl_job *job) {
  const struct dl_transformer *t = dl_language_of(job);
  if (!t || !dl_transformer_writes(t))
    return 0;
  struct dl_decoding step = dl_transformer_decoding(t, job->run->prompt_tokens);
  double n = job->run->prompt_tokens + job->run->output_tokens;
  double beyond = t->window > 0 ? fmax(n - t->window, 0) : 0;
  double beams = dl_or(job->run->beams, 1);
  double answer = step.kept_more *
                  (job->run->output_tokens -
                   t->window_layers / fmax(t->attention_layers, 1) * beyond);
  return (dl_is_plain(job) ? beams : 1) * step.kept + beams * answer;
}

static double batch_of(const struct dl_job *job) {
  double n = dl_micro_batch(job->run);
  /* A data set that is smaller is the batch. */
  double samples = job->train_samples / dl_degrees_of(job->run).data;
  if (!dl_run_is_inference(job->run))
    return samples > 0 ? fmin(n, ceil(samples)) : n;
  /* At a rate there are more before and after those that are counted. */
  return job->run->request_rate > 0 ? dl_or(n, 1)
                                    : fmin(dl_or(n, 1), job->run->requests);
}

static double usual(double most) {
  if (!(most >= 1))
    return 0;
  return most >= 64 ? 32 * floor(most / 32) : exp2(floor(log2(most)));
}

/* Returns how many parameters the layers' products have: QLoRA leaves
 * embeddings, the output layer and norms as they are. */
static double quantized_params(const struct dl_transformer *t, double params) {
  return t ? fmax(params - dl_transformer_unquantized_params(t), 0) : params;
}

/* Bytes of a weight of the layers that adapters leave as it is. */
static double frozen_weight(const struct dl_job *job) {
  double size = dl_work_bytes(job);
  if (dl_fine_tune_of(job->run) == DL_TUNE_QLORA)
    return NF4;
  if (dl_keeps_fp8(job))
    return size < 1 ? FP4 : size;
  return dl_activation_bytes(job);
}

/* Parameters that are trained; `kept`: bytes of the others. */
static double trained_params(const struct dl_job *job, double params,
                             double *kept) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_transformer *t = dl_language_of(job);
  double trained, layers = quantized_params(t, params);
  *kept = 0;
  switch (dl_fine_tune_of(job->run)) {
  case DL_TUNE_HEAD:
    trained = dl_or(arch ? 1e6 * arch->head_params_m : (double)NAN, 0);
    *kept = (params - trained) * in_training(job).weight;
    return trained;
  case DL_TUNE_LORA:
  case DL_TUNE_QLORA:
    *kept = layers * frozen_weight(job) +
            (params - layers) * dl_activation_bytes(job);
    return dl_adapter_params(job->run, arch);
  default:
    return params;
  }
}

/* The share of the weights that a GPU holds where ZeRO divides nothing. */
static double held_share(const struct dl_job *job) {
  double experts = dl_divided_experts(job->run, dl_language_of(job));
  return 1 - experts + experts / dl_degrees_of(job->run).expert;
}

/* Bytes that ZeRO-3 gathers beside its part: two layers, embeddings and output
 * layer; in a pipeline the weights of a stage, and their gradients in FP32, for
 * all micro-batches of a step. */
static double gathered(const struct dl_job *job) {
  const struct dl_transformer *t = dl_language_of(job);
  struct dl_degrees by = dl_degrees_of(job->run);
  if (!t || job->run->sharding != DL_SHARDING_ZERO3 ||
      !(by.data * by.context > 1))
    return 0;
  bool full = dl_fine_tune_of(job->run) == DL_TUNE_FULL;
  double q = dl_activation_bytes(job);
  double params = 1e6 * job->run->params_m;
  double layers = quantized_params(t, params);
  if (full && by.pipeline > 1)
    return params * held_share(job) * (q + 4) / by.pipeline / by.tensor;
  return ((params - layers) * q + 2 * layers * held_share(job) *
                                      (full ? q : frozen_weight(job)) /
                                      (t->layers + t->decoder_layers)) /
         by.tensor;
}

/* Bytes beside the network that is trained. Trainings of diffusion models keep
 * an average of the weights, if all are trained, and the frozen networks around
 * them, if these encode as it trains; QLoRA a product's weights in 16 bits. */
static double held_beside(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_transformer *t = dl_language_of(job);
  enum dl_fine_tune tune = dl_fine_tune_of(job->run);
  bool cached = job->run->cached_latents == DL_CACHED_LATENTS_YES;
  double around = cached || !arch ? 0 : dl_or(arch->pipeline_params_m, 0);
  if (arch && arch->denoising_steps > 0)
    return 1e6 * (around * dl_activation_bytes(job) +
                  (tune == DL_TUNE_FULL ? AVERAGE * job->run->params_m : 0));
  return t && tune == DL_TUNE_QLORA ? t->hidden * t->ffn * 2 : 0;
}

/* Weights, gradients and optimizer of one GPU, and what is beside them. */
static void hold_states(const struct dl_job *job, struct dl_memory_need *m) {
  struct memory_bytes b = in_training(job);
  struct dl_degrees by = dl_degrees_of(job->run);
  double sparse = 1e6 * dl_sparse_params_m(job), kept;
  double params = 1e6 * job->run->params_m - sparse;
  double trained = trained_params(job, params, &kept);
  enum dl_sharding kind = job->run->sharding; /* each divides more */
  bool zero1 = kind >= DL_SHARDING_ZERO1, zero2 = kind >= DL_SHARDING_ZERO2;
  bool zero3 = kind == DL_SHARDING_ZERO3;
  double data = fmax(by.data * by.context, 1), model = by.tensor * by.pipeline;
  bool full = dl_fine_tune_of(job->run) == DL_TUNE_FULL;
  double held = held_share(job), own = full ? held : 1;
  double weights = (kept * held + trained * own * b.weight);
  if (zero3)
    weights = (kept + trained * b.weight) / data;
  double gradients = trained * b.gradient * (zero2 ? 1 / data : own);
  double optimizer = trained * b.optimizer * (zero1 ? 1 / data : own);
  m->states_gb = (weights + gradients + optimizer) / model / 1e9;
  /* Rows that are looked up are divided among all, in FP32 and without states.
   */
  m->states_gb += sparse * 4 / data / 1e9;
  m->model_gb = m->states_gb + (gathered(job) + held_beside(job)) / 1e9;
}

static void hold_training(const struct dl_job *job, struct dl_memory_need *m) {
  hold_states(job, m);
  struct dl_degrees by = dl_degrees_of(job->run);
  if (dl_fine_tune_of(job->run) == DL_TUNE_HEAD)
    m->sample_gb = dl_outputs_at_once(job) * dl_activation_bytes(job) /
                   (by.tensor * by.context) / 1e9;
  else
    m->sample_gb = dl_kept_activations(job) / 1e9;
}

/* Language models keep what a layer puts out in 16 bits where weights have
 * fewer, and keys and values unless they compute in FP8, as in
 * serving_inputs.c. */
static void hold_inference(const struct dl_job *job, struct dl_memory_need *m) {
  double size = dl_work_bytes(job), kept = size, keys = size, weight = size;
  const struct dl_run *run = job->run;
  const struct dl_architecture *generator = dl_generator(job);
  double others = generator ? dl_or(generator->pipeline_params_m, 0) : 0;
  if (dl_language_of(job)) {
    kept = size < 2 ? 2 : size;
    weight =
        dl_or(run->weight_bytes, fmin(job->found.arch->weight_bytes, size));
    bool in_fp8 = run->precision == DL_PRECISION_FP8 ||
                  run->precision == DL_PRECISION_FP4;
    keys = dl_or(run->kv_bytes, in_fp8 ? 1 : kept);
  }
  m->model_gb = m->states_gb = (job->run->params_m + others) * weight / 1e3;
  m->keys_gb = cache(job) * keys / 1e9;
  m->sample_gb = m->keys_gb + dl_outputs_at_once(job) * kept / 1e9;
}

/* Sets the bounds of the interval. Sequences of fine-tuning may be shorter than
 * the length that is given. */
static void bound(const struct dl_job *job, struct dl_memory_need *m) {
  bool tokens = dl_language_of(job) != NULL;
  bool tunes = tokens && job->run->fine_tune != DL_TUNE_UNKNOWN;
  double least = tunes ? LEAST_OF_FINE_TUNING : LEAST_OF_TOKENS;
  double most = tokens ? MOST_OF_TOKENS : MOST_OF_IMAGES;
  double shared =
      m->shared ? dl_or(job->run->tensor_parallel, fmax(job->run->n_gpus, 1))
                : 1;
  double states = m->states_gb / shared, rest = m->need_gb - states;
  m->low_gb =
      LEAST_STATES * states + rest * exp(tokens ? -least : -LEAST_OF_IMAGES);
  m->high_gb = MOST_STATES * states + DRIVER + rest * exp(most);
}

double dl_usable_gb(const struct dl_accelerator *gpu) {
  if (!gpu)
    return NAN;
  if (dl_is_cpu(gpu))
    return DL_MODULE_GB * dl_or(gpu->memory_channels, DL_USUAL_CHANNELS);
  double ecc = dl_or(gpu->ecc_share, 0);
  return gpu->memory_gb * (1 - ecc) * REPORTED * DL_BYTES_PER_GIB / 1e9 -
         DRIVER;
}

/* The memory of CPUs is their node's. */
static double memory_at_hand(const struct dl_job *job) {
  const struct dl_accelerator *gpu = job->found.gpu;
  if (!gpu)
    return NAN;
  bool given = job->row && dl_run_set_has(&job->row->given, DL_RUN_ram_gb);
  if (!dl_is_cpu(gpu))
    return dl_usable_gb(gpu);
  return given ? job->run->ram_gb : gpu->memory_gb;
}

void dl_memory_of(const struct dl_job *job, struct dl_memory_need *m) {
  m->keys_gb = 0;
  if (dl_run_is_inference(job->run)) {
    hold_inference(job, m);
  } else {
    hold_training(job, m);
  }
  m->has_gb = memory_at_hand(job);
  m->batch = batch_of(job);
  /* GPUs that serve a language model share its copies, and all requests. */
  m->shared = dl_run_is_inference(job->run) && dl_language_of(job) &&
              !dl_is_cpu(job->found.gpu);
  if (m->shared && job->run->n_gpus > 1) {
    m->model_gb /= dl_or(job->run->tensor_parallel, job->run->n_gpus);
    m->sample_gb /= job->run->n_gpus;
    m->keys_gb /= job->run->n_gpus;
  }
  m->need_gb = m->model_gb + m->batch * m->sample_gb;
  bound(job, m);
  m->over = m->need_gb > m->has_gb;
  m->fits = usual((m->has_gb - m->model_gb) / m->sample_gb);
}
