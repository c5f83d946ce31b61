/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/activations.h"

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
#define MORE_THAN_KEPT 1.1 /* by what operators keep, and beside that */
#define BESIDE_KEPT 0.42
#define BESIDE_KEPT_16_BIT 0.15
#define KEPT_WITH_ATTENTION 2.06
#define KEPT_OF_DETECTORS 2
#define FROZEN_STAGES 104    /* outputs of a pixel of the image */
#define GRADIENTS_OF_RCNN 48 /* outputs of a pixel, beside what is kept */
#define LOSS_OF_RETINANET 60 /* outputs of a pixel, in FP32 */
#define CLASSES_OF_COCO 21   /* of pixels, in torchvision */
#define CLASSES_OF_ADE20K 150
#define LEAST_ATTENTION 0.05    /* scores among the outputs */
#define KEPT_OF_SCORES 1        /* what the softmax puts out */
#define KEPT_OF_SCORES_16_BIT 3 /* that in FP32, and a copy in 16 bits */
#define KEPT_OF_TOKENS 1.7
#define KEPT_OF_OPERATORS 0.65 /* selective, in PyTorch */
#define KEPT_OF_PAIRS 2.5
#define KEPT_BY_CHECKPOINT 2 /* bytes of a layer's input, in 16 bits */
#define LOGIT 4
#define LOGIT_OF_PYTORCH 14
#define LOGIT_OF_TRANSFORMERS 18
#define LARGEST 0.25

bool dl_is_mixed(const struct dl_job *job) {
  enum dl_precision p = job->run->precision;
  return p != DL_PRECISION_UNKNOWN && p != DL_PRECISION_FP64 &&
         p != DL_PRECISION_FP32 && p != DL_PRECISION_TF32 &&
         p != DL_PRECISION_INT8;
}

double dl_activation_bytes(const struct dl_job *job) {
  double size = dl_work_bytes(job);
  if (dl_is_mixed(job))
    return 2;
  return size < 4 ? (double)NAN : size;
}

const struct dl_transformer *dl_language_of(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && dl_is_language_model(arch) ? arch->transformer : NULL;
}

static bool in_pytorch(const struct dl_run *run) {
  enum dl_software stack = dl_stack_of(run);
  return stack == DL_SOFTWARE_EAGER || stack == DL_SOFTWARE_COMPILED;
}

/* Whether kernels of NVIDIA's software fuse what is between products. */
static bool is_fused(const struct dl_run *run) {
  enum dl_software stack = dl_stack_of(run);
  return stack == DL_SOFTWARE_NGC || stack == DL_SOFTWARE_MLPERF;
}

bool dl_keeps_fp8(const struct dl_job *job) {
  return dl_work_bytes(job) < 2 && dl_is_mixed(job) &&
         (is_fused(job->run) || !job->run->stack);
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

static bool is_family(const struct dl_architecture *arch, const char *name) {
  return arch && arch->family && !strcmp(arch->family, name);
}

/* Whether an image network begins with a backbone whose first stages and batch
 * norms are frozen, as torchvision and MMDetection train two families. */
static bool has_frozen_stages(const struct dl_architecture *arch) {
  return is_family(arch, "rcnn") || is_family(arch, "retinanet");
}

double dl_pixel_classes(const struct dl_architecture *arch) {
  if (is_family(arch, "segformer"))
    return CLASSES_OF_ADE20K;
  return is_family(arch, "segmentation") ? CLASSES_OF_COCO : 0;
}

/* Bytes that the backward pass of a detector, or of a network that labels
 * pixels, begins with, beside what it keeps of an image (peak_memory.h). */
static double begun(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  double area = job->run->image_px * job->run->image_px;
  double logit = dl_is_mixed(job) ? LOGIT_OF_PYTORCH : LOGIT * 4;
  if (dl_pixel_classes(arch) > 0)
    return logit * area * dl_or(job->run->classes, dl_pixel_classes(arch));
  if (is_family(arch, "rcnn"))
    return GRADIENTS_OF_RCNN * area * dl_activation_bytes(job);
  return is_family(arch, "retinanet") ? LOSS_OF_RETINANET * area * 4 : 0;
}

/* The multiple of the outputs of its layers that an image network keeps.
 * Diffusion models with convolutions that pad are U-Nets. */
static double kept_share(const struct dl_job *job, double attention) {
  const struct dl_architecture *arch = job->found.arch;
  bool unet = arch && arch->denoising_steps > 0 && arch->padding_ratio > 1;
  bool mixed = dl_is_mixed(job);
  double by_block = NAN;
  if (has_frozen_stages(arch))
    return KEPT_OF_DETECTORS;
  if (attention >= LEAST_ATTENTION && !unet)
    return KEPT_WITH_ATTENTION;
  if (arch && mixed)
    by_block = arch->mixed_kept_ratio + BESIDE_KEPT_16_BIT;
  else if (arch)
    by_block = MORE_THAN_KEPT * arch->kept_ratio + BESIDE_KEPT;
  if (!isnan(by_block))
    return by_block;
  return mixed ? KEPT_OF_IMAGES_16_BIT : KEPT_OF_IMAGES;
}

/* Activations of a sample that the backward pass of an image network needs,
 * bytes. */
static double kept_of_images(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  double parts = checkpointed_parts(arch), side = job->run->image_px;
  struct outputs of = outputs_of_images(job);
  if (has_frozen_stages(arch))
    of.layers = fmax(of.layers - FROZEN_STAGES * side * side, 0);
  double f = kept_share(job, of.share);
  double of_scores = dl_is_mixed(job) ? KEPT_OF_SCORES_16_BIT : KEPT_OF_SCORES;
  double all =
      (f * of.layers + of_scores * of.scores) * dl_activation_bytes(job);
  bool full = job->run->checkpointing == DL_CHECKPOINT_FULL && parts >= 2;
  return (full ? all * fmin(2 / parts, 1) : all) + begun(job);
}

/* Tokens that pass the layers of a language model, by the number of layers. */
static double passes(const struct dl_transformer *t, double n) {
  return t->layers * n + t->decoder_layers * dl_transformer_targets(t, n);
}

double dl_scores_among(double products, double n,
                       const struct dl_transformer *t) {
  double head = t->value_dim > 0 ? t->value_dim : t->head_dim;
  return fmax(products - passes(t, n) * t->heads * head, 0);
}

/* Returns the scores of a sample of a language model. */
static double scores(const struct dl_job *job, const struct dl_transformer *t) {
  return dl_scores_among(1e6 * job->found.arch->attention_acts_m, job->seq_len,
                         t);
}

/* The part of the activations of a layer, in bytes of 16 bits, that adapters,
 * fused kernels and 8 bits leave to be kept. A layer keeps, for a token, the
 * inputs of two norms, of the products of attention and of the feed-forward
 * part, two masks (5 h), queries, keys, values and what attention puts out, and
 * what enters and leaves the nonlinearity. LoRA needs no gradients of frozen
 * weights and so no inputs of the feed-forward products. Mixtures of experts
 * keep copies of tokens sorted by experts instead. */
static double left_to_keep(const struct dl_job *job,
                           const struct dl_transformer *t) {
  double h = t->hidden, f = t->ffn;
  if (t->experts > 1)
    return 1;
  double heads = (2 * t->heads + 2 * t->kv_heads) * t->head_dim;
  double up = (1 + t->gated) * f;
  double all = 5 * h + heads + 2 * up, inputs = 2 * h + f, kept = all;
  if (dl_fine_tune_of(job->run) == DL_TUNE_LORA) {
    kept -= h + f;
    inputs = h;
  }
  if (t->gated > 0 && (is_fused(job->run) || dl_keeps_fp8(job)))
    kept -= f;
  if (dl_keeps_fp8(job))
    kept -= (inputs + up) / 2;
  return kept / all;
}

/* Bytes of a logit. The loss of PyTorch has the logits in 16 bits, the
 * logarithms of their softmax, and the gradients of both in FP32; Transformers
 * copies the logits once more to shift them. Fused losses, as recipes for
 * mixtures of experts have them (NeMo AutoModel), and losses of parts of the
 * sequence have one copy in FP32. */
static double logit_bytes(const struct dl_job *job,
                          const struct dl_transformer *t) {
  enum dl_fine_tune tune = dl_fine_tune_of(job->run);
  enum dl_software stack = dl_stack_of(job->run);
  bool adapters = tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA;
  double bytes = LOGIT;
  if (adapters && !is_fused(job->run) && stack != DL_SOFTWARE_COMPILED)
    bytes = LOGIT_OF_TRANSFORMERS;
  else if (tune == DL_TUNE_FULL && in_pytorch(job->run) && !(t->experts > 1))
    bytes = LOGIT_OF_PYTORCH;
  return dl_is_mixed(job) ? bytes : fmax(bytes - 2, LOGIT * 2);
}

/* Returns the activations that one GPU keeps of a language model, bytes. Stages
 * of a pipeline have several batches under way. */
static double kept_of_tokens(const struct dl_job *job,
                             const struct dl_transformer *t) {
  const struct dl_run *run = job->run;
  struct dl_degrees by = dl_degrees_of(run);
  double q = dl_activation_bytes(job);
  double layers = t->layers + t->decoder_layers;
  double pairs = scores(job, t);
  double logits = dl_transformer_writes(t)
                      ? t->vocab * dl_transformer_targets(t, job->seq_len)
                      : 0;
  double dense = fmax(1e6 * run->acts_m - pairs - logits, 0);
  bool stored = run->attention != DL_ATTENTION_FLASH &&
                run->checkpointing != DL_CHECKPOINT_SELECTIVE;
  bool operators =
      run->checkpointing == DL_CHECKPOINT_SELECTIVE && in_pytorch(run);
  double f =
      operators ? KEPT_OF_OPERATORS : KEPT_OF_TOKENS * left_to_keep(job, t);
  double all = f * dense + (stored ? KEPT_OF_PAIRS * pairs : 0);
  double share = dl_checkpointed_share(run, layers);
  if (share > 0)
    all = all * (1 - share + 1 / layers) + KEPT_BY_CHECKPOINT / 2.0 *
                                               t->hidden *
                                               passes(t, job->seq_len) * share;
  double accum = dl_or(run->grad_accum, 1);
  double v = dl_or(run->virtual_stages, 1);
  double most = by.pipeline + (v > 1 ? (by.pipeline - 1) / v : 0);
  double under_way = fmin(accum, most) / by.pipeline;
  return (all * q * under_way + logits * logit_bytes(job, t)) /
         (by.tensor * by.context);
}

double dl_kept_activations(const struct dl_job *job) {
  const struct dl_transformer *t = dl_language_of(job);
  return t ? kept_of_tokens(job, t) : kept_of_images(job);
}

double dl_outputs_at_once(const struct dl_job *job) {
  const struct dl_transformer *t = dl_language_of(job);
  struct outputs of = outputs_of_images(job);
  if (!t)
    return LARGEST * (of.layers + of.scores) * dl_passes_per_step(job);
  double n = job->run->prompt_tokens, acts = 1e6 * job->run->acts_m,
         pairs = scores(job, t);
  if (!isnan(n)) {
    const struct dl_pass prompt = dl_transformer_pass(t, n);
    acts = prompt.acts;
    pairs = dl_scores_among(prompt.attention_acts, n, t);
  }
  bool flash = job->run->attention == DL_ATTENTION_FLASH;
  return (acts - (flash ? pairs : 0)) / (t->layers + t->decoder_layers);
}
