/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/peak_memory.h"

#include <math.h>
#include <string.h>

#include "catalog/architecture/scaling.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/methods/work.h"
#include "estimate/node/parallel.h"
#include "run/setup/training_setup.h"

#define KEPT_OF_IMAGES 2.97
#define KEPT_OF_IMAGES_16_BIT 2.2
#define KEPT_WITH_ATTENTION 2.06
#define LEAST_ATTENTION 0.05    /* scores among the outputs */
#define KEPT_OF_SCORES 1        /* what the softmax puts out */
#define KEPT_OF_SCORES_16_BIT 3 /* that in FP32, and a copy in 16 bits */
#define KEPT_OF_TOKENS 1.7
#define KEPT_OF_PAIRS 2.5
#define KEPT_BY_CHECKPOINT 2 /* bytes of a layer's input, in 16 bits */
#define LOGIT 4
#define LARGEST 0.25

/* Bytes of a quantized weight: 4 bits, and of each 64 a scale of 8 bits, of
 * each 256 of which one of 32 bits (QLoRA, arXiv 2305.14314: .127 bits). */
#define NF4 (0.5 + 1.0 / 64 + 4.0 / (64 * 256))

/* Bytes of a trained parameter: its weight, gradient and what the optimizer
 * keeps; of an activation. */
struct memory_bytes {
  double weight, gradient, optimizer, activation;
};

static bool is_mixed(const struct dl_job *job) {
  enum dl_precision p = job->run->precision;
  return p == DL_PRECISION_AMP || p == DL_PRECISION_FP16 ||
         p == DL_PRECISION_BF16 || p == DL_PRECISION_FP8;
}

static const struct dl_transformer *language(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && dl_is_language_model(arch) ? arch->transformer : NULL;
}

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
  if (is_mixed(job))
    return language(job) ? (struct memory_bytes){2, 2, 4 + m, 2}
                         : (struct memory_bytes){6, 4, m, 2};
  if (size < 4) /* no training by integers */
    size = NAN;
  return (struct memory_bytes){size, size, m * size / 4, size};
}

/* Outputs of a sample of an image network are its layers' and the scores of
 * attention that are stored. All scores make up `share` of them. */
struct outputs {
  double layers, scores, share;
};

/* Fused kernels store no scores. PyTorch takes such kernels by itself from 2.0
 * on (scaled_dot_product_attention), Keras does not. */
static struct outputs outputs_of_images(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  enum dl_attention kind = job->run->attention;
  bool fused = kind != DL_ATTENTION_UNKNOWN
                   ? kind == DL_ATTENTION_FLASH
                   : dl_framework_of(job->run) != DL_FRAMEWORK_TENSORFLOW;
  double all = 1e6 * job->run->acts_m;
  double share = arch ? dl_or(dl_scores_m(arch) / arch->acts_m, 0) : 0;
  share = fmin(share, 1);
  return (struct outputs){.layers = all * (1 - share),
                          .scores = fused ? 0 : all * share,
                          .share = share};
}

/* The number of parts that checkpointing divides an image network into; NaN. */
static double checkpointed_parts(const struct dl_architecture *arch) {
  if (!arch)
    return NAN;
  return isnan(arch->depth) ? sqrt(arch->layers) : arch->depth;
}

/* The multiple of the outputs of its layers that an image network keeps. */
static double kept_share(const struct dl_job *job, double attention) {
  if (attention >= LEAST_ATTENTION)
    return KEPT_WITH_ATTENTION;
  return is_mixed(job) ? KEPT_OF_IMAGES_16_BIT : KEPT_OF_IMAGES;
}

/* Activations of a sample that the backward pass of an image network needs,
 * bytes. */
static double kept_of_images(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  double parts = checkpointed_parts(arch);
  struct outputs of = outputs_of_images(job);
  double f = kept_share(job, of.share);
  double of_scores = is_mixed(job) ? KEPT_OF_SCORES_16_BIT : KEPT_OF_SCORES;
  double all =
      (f * of.layers + of_scores * of.scores) * in_training(job).activation;
  bool full = job->run->checkpointing == DL_CHECKPOINT_FULL && parts >= 2;
  return full ? all * fmin(2 / parts, 1) : all;
}

/* Returns how many outputs of attention's products over n tokens are scores,
 * which grow with the square; values are kept anyway. */
static double scores_in(double products, double n,
                        const struct dl_transformer *t) {
  double head = t->value_dim > 0 ? t->value_dim : t->head_dim;
  double layers = t->layers + t->decoder_layers;
  return fmax(products - layers * n * t->heads * head, 0);
}

/* Returns the scores of a sample of a language model. */
static double scores(const struct dl_job *job, const struct dl_transformer *t) {
  return scores_in(1e6 * job->found.arch->attention_acts_m, job->seq_len, t);
}

/* Returns the activations that one GPU keeps of a language model, bytes. Stages
 * of a pipeline have several batches under way. */
static double kept_of_tokens(const struct dl_job *job,
                             const struct dl_transformer *t) {
  const struct dl_run *run = job->run;
  struct dl_degrees by = dl_degrees_of(run);
  double q = in_training(job).activation;
  double layers = t->layers + t->decoder_layers;
  double pairs = scores(job, t);
  double logits = dl_transformer_writes(t) ? t->vocab * job->seq_len : 0;
  double dense = fmax(1e6 * run->acts_m - pairs - logits, 0);
  bool stored = run->attention != DL_ATTENTION_FLASH &&
                run->checkpointing != DL_CHECKPOINT_SELECTIVE;
  double all = KEPT_OF_TOKENS * dense + (stored ? KEPT_OF_PAIRS * pairs : 0);
  double share = dl_checkpointed_share(run, layers);
  if (share > 0)
    all = all * (1 - share + 1 / layers) +
          KEPT_BY_CHECKPOINT / 2.0 * t->hidden * job->seq_len * layers * share;
  double accum = dl_or(run->grad_accum, 1);
  double v = dl_or(run->virtual_stages, 1);
  double most = by.pipeline + (v > 1 ? (by.pipeline - 1) / v : 0);
  double under_way = fmin(accum, most) / by.pipeline;
  return (all * q * under_way + logits * LOGIT * q / 2) /
         (by.tensor * by.context);
}

/* Returns the outputs of a sample that exist at one time without a backward
 * pass. */
static double at_once(const struct dl_job *job) {
  const struct dl_transformer *t = language(job);
  struct outputs of = outputs_of_images(job);
  if (!t)
    return LARGEST * (of.layers + of.scores) * dl_passes_per_step(job);
  double n = job->run->prompt_tokens, acts = 1e6 * job->run->acts_m,
         pairs = scores(job, t);
  if (!isnan(n)) {
    const struct dl_pass prompt = dl_transformer_pass(t, n);
    acts = prompt.acts;
    pairs = scores_in(prompt.attention_acts, n, t);
  }
  bool flash = job->run->attention == DL_ATTENTION_FLASH;
  return (acts - (flash ? pairs : 0)) / (t->layers + t->decoder_layers);
}

/* Keys and values of a request at the end of its answer. */
static double cache(const struct dl_job *job) {
  const struct dl_transformer *t = language(job);
  if (!t || !dl_transformer_writes(t))
    return 0;
  struct dl_decoding step = dl_transformer_decoding(t, job->run->prompt_tokens);
  double n = job->run->prompt_tokens + job->run->output_tokens;
  double beyond = t->window > 0 ? fmax(n - t->window, 0) : 0;
  return step.kept + step.kept_more * (job->run->output_tokens -
                                       t->window_layers / t->layers * beyond);
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

static double adapter_params(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return dl_adapter_params(job->run, arch ? arch->transformer : NULL);
}

/* Returns how many parameters the layers' products have: QLoRA leaves
 * embeddings, the output layer and norms as they are. */
static double quantized_params(const struct dl_transformer *t, double params) {
  return t ? fmax(params - dl_transformer_unquantized_params(t), 0) : params;
}

/* Weights, gradients and optimizer of one GPU, and under ZeRO-3 the weights of
 * two layers that it gathers. */
static void hold_states(const struct dl_job *job, struct dl_memory_need *m) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_transformer *t = language(job);
  struct memory_bytes b = in_training(job);
  struct dl_degrees by = dl_degrees_of(job->run);
  double sparse = 1e6 * dl_sparse_params_m(job);
  double params = 1e6 * job->run->params_m - sparse, trained = params, kept = 0;
  double head = arch ? 1e6 * arch->head_params_m : (double)NAN;
  switch (dl_fine_tune_of(job->run)) {
  case DL_TUNE_HEAD:
    trained = dl_or(head, 0);
    kept = (params - trained) * b.weight;
    break;
  case DL_TUNE_LORA:
  case DL_TUNE_QLORA:
    trained = adapter_params(job);
    kept = params * b.activation;
    if (dl_fine_tune_of(job->run) == DL_TUNE_QLORA)
      kept -= quantized_params(t, params) * (b.activation - NF4);
    break;
  default:
    break;
  }
  enum dl_sharding kind = job->run->sharding; /* each divides more */
  bool zero1 = kind >= DL_SHARDING_ZERO1, zero2 = kind >= DL_SHARDING_ZERO2;
  bool zero3 = kind == DL_SHARDING_ZERO3;
  double data = fmax(by.data * by.context, 1), model = by.tensor * by.pipeline;
  /* Experts have this share of what ZeRO does not divide. */
  double experts = dl_divided_experts(job->run, t);
  double held = 1 - experts + experts / by.expert;
  bool full = dl_fine_tune_of(job->run) == DL_TUNE_FULL;
  double own = full ? held : 1;
  double weights = (kept * held + trained * own * b.weight);
  if (zero3)
    weights = (kept + trained * b.weight) / data;
  double gradients = trained * b.gradient * (zero2 ? 1 / data : own);
  double optimizer = trained * b.optimizer * (zero1 ? 1 / data : own);
  m->states_gb = (weights + gradients + optimizer) / model / 1e9;
  double gathered = zero3 && data > 1 && t ? 2 * params * held * b.activation /
                                                 (t->layers + t->decoder_layers)
                                           : 0;
  /* Rows that are looked up are divided among all, in FP32 and without states.
   */
  m->states_gb += sparse * 4 / data / 1e9;
  m->model_gb = m->states_gb + gathered / by.tensor / 1e9;
}

static void hold_training(const struct dl_job *job, struct dl_memory_need *m) {
  const struct dl_transformer *t = language(job);
  hold_states(job, m);
  struct dl_degrees by = dl_degrees_of(job->run);
  if (dl_fine_tune_of(job->run) == DL_TUNE_HEAD)
    m->sample_gb = at_once(job) * in_training(job).activation /
                   (by.tensor * by.context) / 1e9;
  else
    m->sample_gb = (t ? kept_of_tokens(job, t) : kept_of_images(job)) / 1e9;
}

/* Language models keep what a layer puts out in 16 bits where weights have
 * fewer, and keys and values unless they compute in FP8, as in
 * serving_inputs.c. */
static void hold_inference(const struct dl_job *job, struct dl_memory_need *m) {
  double size = dl_work_bytes(job), kept = size, keys = size, weight = size;
  const struct dl_architecture *generator = dl_generator(job);
  double others = generator ? dl_or(generator->pipeline_params_m, 0) : 0;
  if (language(job)) {
    kept = size < 2 ? 2 : size;
    weight = job->weight_bytes > 0 ? job->weight_bytes : size;
    keys = job->run->precision == DL_PRECISION_FP8 ? size : kept;
    keys = job->kv_bytes > 0 ? job->kv_bytes : keys;
  }
  m->model_gb = m->states_gb = (job->run->params_m + others) * weight / 1e3;
  m->sample_gb = (cache(job) * keys + at_once(job) * kept) / 1e9;
}

void dl_memory_of(const struct dl_job *job, struct dl_memory_need *m) {
  const struct dl_accelerator *gpu = job->found.gpu;
  if (dl_run_is_inference(job->run)) {
    hold_inference(job, m);
  } else {
    hold_training(job, m);
  }
  double has = gpu ? gpu->memory_gb : (double)NAN;
  m->batch = batch_of(job);
  /* GPUs that serve a language model share its copies, and all requests. */
  m->shared = dl_run_is_inference(job->run) && language(job);
  if (m->shared && job->run->n_gpus > 1) {
    m->model_gb /= dl_or(job->run->tensor_parallel, job->run->n_gpus);
    m->sample_gb /= job->run->n_gpus;
  }
  m->need_gb = m->model_gb + m->batch * m->sample_gb;
  m->over = m->need_gb > has;
  m->fits = usual((has - m->model_gb) / m->sample_gb);
}
