/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/work.h"

#include <math.h>
#include <string.h>

#include "catalog/architecture/scaling.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "physics/rows/inputs.h"
#include "run/setup/training_setup.h"

#define PEAK(of) offsetof(struct dl_accelerator, peak_##of)

static const struct precision {
  double bytes;
  size_t peak[3]; /* members of the accelerator, in order; 0: the usual peak */
  const char *rate[3]; /* what people call these */
} precisions[] = {
    [DL_PRECISION_FP64] = {8,
                           {PEAK(fp64_tensor_tflops), PEAK(fp64_tflops)},
                           {NULL, "FP64"}},
    [DL_PRECISION_FP32] = {4, {PEAK(fp32_tflops)}, {NULL}},
    [DL_PRECISION_TF32] = {4, {0}, {NULL}},
    [DL_PRECISION_FP16] = {2,
                           {PEAK(fp16_tensor_tflops), PEAK(fp16_tflops)},
                           {"FP16 tensor", "FP16"}},
    [DL_PRECISION_AMP] = {2,
                          {PEAK(fp16_tensor_tflops), PEAK(fp16_tflops)},
                          {"FP16 tensor", "FP16"}},
    [DL_PRECISION_BF16] = {2,
                           {PEAK(bf16_tensor_tflops), PEAK(bf16_tflops)},
                           {"BF16 tensor", "BF16"}},
    /* Fewer bits than a GPU has units for are computed in 16. */
    [DL_PRECISION_FP8] = {1,
                          {PEAK(fp8_tensor_tflops), PEAK(fp16_tensor_tflops)},
                          {"FP8 tensor", "FP16 tensor"}},
    [DL_PRECISION_INT8] = {1,
                           {PEAK(int8_tensor_tops), PEAK(int8_tops),
                            PEAK(fp16_tensor_tflops)},
                           {"INT8 tensor", "INT8", "FP16 tensor"}},
    [DL_PRECISION_FP4] = {0.5625,
                          {PEAK(fp4_tensor_tflops), PEAK(fp8_tensor_tflops),
                           PEAK(fp16_tensor_tflops)},
                          {"FP4 tensor", "FP8 tensor", "FP16 tensor"}},
};

static const struct precision *precision(const struct dl_job *job) {
  enum dl_precision p = job->run->precision;
  if (dl_is_gguf(p))
    p = DL_PRECISION_FP16;
  return p == DL_PRECISION_UNKNOWN ? NULL : &precisions[p];
}

double dl_work_bytes(const struct dl_job *job) {
  const struct precision *p = precision(job);
  if (dl_is_gguf(job->run->precision))
    return dl_gguf_bits(job->run->precision) / 8;
  return p ? p->bytes : 4;
}

static double peak_at(const struct dl_accelerator *gpu, size_t offset) {
  double x;
  memcpy(&x, (const char *)gpu + offset, sizeof x);
  return x;
}

/* Index of the member of p that gives the peak: the first the accelerator has;
 * -1: the usual peak, or the user's. */
static int peak_of(const struct dl_job *job, const struct precision *p) {
  for (int i = 0; i < 3 && p->peak[i] > 0 && !job->peak_given; i++)
    if (!isnan(peak_at(job->found.gpu, p->peak[i])))
      return i;
  return -1;
}

/* Whether 16 bits are slower than FP32, which frameworks then compute in. */
static bool is_slow(const struct dl_accelerator *gpu, const struct precision *p,
                    int i) {
  return i >= 0 && p->bytes <= 2 &&
         peak_at(gpu, p->peak[i]) < gpu->peak_fp32_tflops;
}

double dl_work_peak_tflops(const struct dl_job *job) {
  const struct precision *p = precision(job);
  const struct dl_accelerator *gpu = job->found.gpu;
  if (!p || !gpu)
    return job->run->peak_tflops;
  int i = peak_of(job, p);
  if (is_slow(gpu, p, i))
    return gpu->peak_fp32_tflops;
  return i < 0 ? job->run->peak_tflops : peak_at(gpu, p->peak[i]);
}

double dl_work_most_tflops(const struct dl_job *job) {
  enum dl_precision format = job->run->precision;
  const struct dl_accelerator *gpu = job->found.gpu;
  double peak = dl_work_peak_tflops(job);
  if (job->peak_given || !gpu || format == DL_PRECISION_FP64 ||
      format == DL_PRECISION_FP32)
    return peak;
  bool in_16 = dl_is_16_bit(format) || format == DL_PRECISION_FP8 ||
               format == DL_PRECISION_FP4;
  peak = fmax(peak, dl_peak_32_bit(gpu, format));
  return in_16 ? fmax(peak, dl_peak_16_bit(gpu, format)) : peak;
}

double dl_work_least_pass_s(const struct dl_job *job, double flop) {
  double most = dl_work_most_tflops(job);
  double in_tf32 = job->found.gpu ? job->found.gpu->peak_tf32_tflops : NAN;
  return flop / (1e12 * fmax(most, in_tf32));
}

bool dl_work_is_plain_dense(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && job->found.gpu &&
         (arch->scaling == DL_SCALING_TOKENS ||
          arch->scaling == DL_SCALING_SEQUENCE) &&
         isnan(job->found.gpu->peak_tf32_tflops);
}

const char *dl_work_lacks_rate(const struct dl_job *job, const char **used) {
  const struct precision *p = precision(job);
  if (!p || !job->found.gpu)
    return NULL;
  if (p->peak[0] == 0) { /* TF32: the usual peak, which is FP32's without it */
    *used = "FP32";
    return isnan(job->found.gpu->peak_tf32_tflops) && !job->peak_given ? "TF32"
                                                                       : NULL;
  }
  int i = peak_of(job, p);
  if (i < 0)
    *used = "usual";
  else
    *used = is_slow(job->found.gpu, p, i) ? "FP32" : p->rate[i];
  if (job->peak_given || i == 0)
    return NULL;
  return p->rate[0] || i >= 1 ? p->rate[0] : p->rate[1];
}

/* FLOP/s of all GPUs as far as reached. */
static double rate(const struct dl_job *job) {
  return 1e12 * dl_work_peak_tflops(job) * job->run->efficiency *
         job->run->n_gpus;
}

/* MACs (1e9) of a training step for one sample: the forward pass, the gradients
 * of what it passes through, and the gradients of the weights that are
 * trained. */
static double training_macs(const struct dl_job *job) {
  double pass = job->run->macs_g, head;
  switch (dl_fine_tune_of(job->run)) {
  case DL_TUNE_HEAD:
    head = job->found.arch ? dl_classifier_macs_g(job->found.arch) : NAN;
    return pass + (isnan(head) ? 0 : 2 * head);
  case DL_TUNE_LORA:
  case DL_TUNE_QLORA:
    return 2 * pass;
  default:
    return 3 * pass;
  }
}

/* MACs that activation checkpointing adds: another forward pass, or attention's
 * alone. A frozen backbone has no activations to spare. */
static double recomputed_macs(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  double depth = arch ? arch->depth : NAN;
  if (dl_fine_tune_of(job->run) == DL_TUNE_HEAD)
    return 0;
  switch (job->run->checkpointing) {
  case DL_CHECKPOINT_FULL:
    return job->run->macs_g * dl_checkpointed_share(job->run, depth);
  case DL_CHECKPOINT_SELECTIVE:
    return arch ? dl_or(arch->attention_macs_g, 0) : 0;
  default:
    return 0;
  }
}

double dl_work_step_flop(const struct dl_job *job) {
  return 2e9 * (training_macs(job) + recomputed_macs(job));
}

static void training(const struct dl_job *job, struct dl_work *w) {
  double val = dl_or(job->val_samples, 0);
  double macs =
      training_macs(job) * job->train_samples + job->run->macs_g * val;
  double again = recomputed_macs(job) * job->train_samples;
  w->model_flop = 2e9 * macs * job->epochs;
  w->train_share = training_macs(job) * job->train_samples / macs;
  w->flop = w->model_flop + 2e9 * again * job->epochs;
  w->duration_s = w->flop / rate(job);
  if (isnan(job->run->macs_g))
    w->lacks = "macs_g";
  else if (isnan(job->train_samples))
    w->lacks = isnan(job->run->tokens) ? "train_samples" : "seq_len";
  else if (isnan(job->epochs))
    w->lacks = "epochs";
}

/* Sum over i = 1 .. n of a + b i. */
static double series(double a, double b, double n) {
  return n * a + b * n * (n + 1) / 2;
}

/* Sum over i = 1 .. n of the larger of two straight lines a + b i. They cross
 * once at most. */
static double larger(const double one[2], const double two[2], double n) {
  double cross = (two[0] - one[0]) / (one[1] - two[1]);
  bool first = one[0] + one[1] > two[0] + two[1];
  const double *before = first ? one : two;
  if (!(cross > 1 && cross < n))
    return series(before[0], before[1], n);
  const double *after = first ? two : one;
  double m = floor(cross);
  return series(before[0], before[1], m) + series(after[0], after[1], n) -
         series(after[0], after[1], m);
}

/* Bytes of the weights that a step reads for b requests at once. */
static double weights_read(const struct dl_transformer *t, double b,
                           double bytes) {
  double share =
      t->experts > 0 ? 1 - pow(1 - t->active_experts / t->experts, b) : 0;
  return bytes * dl_transformer_step_params(t, share);
}

static void decode(const struct dl_job *job, const struct dl_transformer *t,
                   struct dl_work *w) {
  struct dl_decoding step = dl_transformer_decoding(t, job->run->prompt_tokens);
  double n = job->run->output_tokens;
  double bytes = dl_or(job->run->weight_bytes, dl_work_bytes(job));
  double usual = dl_is_gguf(job->run->precision) ? 2 : dl_work_bytes(job);
  double kept = dl_or(job->run->kv_bytes, usual);
  double batch = dl_or(job->run->batch_size, 1);
  double served = fmin(batch, job->run->requests);
  double rounds = job->run->requests / served;
  double b = served * dl_or(job->run->beams, 1);
  double bandwidth = 1e9 * job->bandwidth_gb_s * job->run->n_gpus;
  double flop[2] = {2 * b * step.macs, 2 * b * step.macs_more};
  double read[2] = {weights_read(t, b, bytes) + b * kept * step.kept,
                    b * kept * step.kept_more};
  double by_rate[2] = {flop[0] / rate(job), flop[1] / rate(job)};
  double by_memory[2] = {read[0] / bandwidth, read[1] / bandwidth};
  w->decode_flop = rounds * series(flop[0], flop[1], n);
  w->decode_bytes = rounds * series(read[0], read[1], n);
  w->decode_s = n > 0 ? rounds * larger(by_rate, by_memory, n) : 0;
  if (isnan(job->bandwidth_gb_s) && n > 0) {
    w->decode_s = NAN;
    w->lacks = "gpu.bandwidth_gb_s";
  }
}

/* MACs of the passes for a request: over the prompt of a language model, else
 * over a sample. */
static double request_macs(const struct dl_job *job,
                           const struct dl_transformer *t) {
  const struct dl_architecture *generator = dl_generator(job);
  double once = generator ? dl_or(generator->pipeline_macs_g, 0) : 0;
  if (!t)
    return 1e9 * (job->run->macs_g * dl_denoising_steps(job) *
                      dl_passes_per_step(job) +
                  once);
  if (t->kind == DL_TF_ENCODER_DECODER)
    return dl_transformer_encoding(t, job->run->prompt_tokens);
  if (!dl_transformer_writes(t) && isnan(job->run->prompt_tokens))
    return 1e9 * job->run->macs_g;
  return dl_transformer_pass(t, job->run->prompt_tokens).macs;
}

static void inference(const struct dl_job *job, struct dl_work *w) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_transformer *t =
      arch && dl_is_language_model(arch) ? arch->transformer : NULL;
  double macs = request_macs(job, t);
  w->writes = t && dl_transformer_writes(t);
  w->prefill_flop = 2 * macs * job->run->requests;
  w->prefill_s = w->prefill_flop / rate(job);
  w->decode_flop = w->decode_s = w->decode_bytes = 0;
  if (isnan(job->run->requests))
    w->lacks = "requests";
  else if (w->writes && isnan(job->run->prompt_tokens))
    w->lacks = "prompt_tokens";
  else if (isnan(macs))
    w->lacks = "macs_g";
  else if (w->writes && isnan(job->run->output_tokens))
    w->lacks = "output_tokens";
  else if (t && w->writes)
    decode(job, t, w);
  w->flop = w->prefill_flop + w->decode_flop;
  w->duration_s = w->lacks ? NAN : w->prefill_s + w->decode_s;
}

void dl_work_of(const struct dl_job *job, struct dl_work *w) {
  *w = (struct dl_work){.inference = dl_run_is_inference(job->run),
                        .flop = NAN,
                        .model_flop = NAN,
                        .train_share = NAN,
                        .duration_s = NAN,
                        .prefill_flop = NAN,
                        .prefill_s = NAN,
                        .decode_flop = NAN,
                        .decode_s = NAN,
                        .decode_bytes = NAN};
  if (w->inference)
    inference(job, w);
  else
    training(job, w);
}

double dl_work_utilisation(const struct dl_job *job) {
  bool given = dl_run_set_has(&job->row->given, DL_RUN_utilisation);
  return given || isnan(job->known.util) ? job->run->utilisation
                                         : job->known.util;
}
