/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set-up of a training, and the rules between its settings. */

#include "run/setup/training_setup.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "catalog/sample_kinds.h"
#include "run/setup/serving_setup.h"

/* Rows: DLRM in MLPerf Training and NVIDIA/DeepLearningExamples. */
double dl_trained_batch(const struct dl_architecture *arch) {
  enum dl_samples of = arch ? dl_samples_of_network(arch) : DL_SAMPLES_UNKNOWN;
  if (of == DL_SAMPLES_GRAPHS)
    return 1;
  return of == DL_SAMPLES_RATINGS ? 65536 : DL_USUAL_BATCH;
}

struct dl_degrees dl_degrees_of(const struct dl_run *r) {
  double tensor = dl_or(r->tensor_parallel, 1);
  double pipeline = dl_or(r->pipeline_parallel, 1);
  double context = dl_or(r->context_parallel, 1);
  return (struct dl_degrees){.tensor = tensor,
                             .pipeline = pipeline,
                             .context = context,
                             .data = r->n_gpus / (tensor * pipeline * context),
                             .expert = dl_or(r->expert_parallel, 1)};
}

double dl_micro_batch(const struct dl_run *r) {
  return r->scaling == DL_SCALE_STRONG
             ? ceil(r->batch_size / dl_degrees_of(r).data)
             : r->batch_size;
}

double dl_global_batch(const struct dl_run *r) {
  double per_pass = r->scaling == DL_SCALE_STRONG
                        ? r->batch_size
                        : r->batch_size * dl_degrees_of(r).data;
  return per_pass * dl_or(r->grad_accum, 1);
}

bool dl_drops_last(const struct dl_run *r) {
  return r->drop_last == DL_DROP_LAST_YES;
}

double dl_batched_samples(const struct dl_run *r, double samples) {
  double batch = dl_micro_batch(r) * dl_or(dl_degrees_of(r).data, 1);
  return dl_drops_last(r) && batch > 0 ? floor(samples / batch) * batch
                                       : samples;
}

struct dl_epoch_batches dl_epoch_batches_of(double samples, double batch,
                                            double n) {
  double each = n > 1 ? ceil(samples / n) : samples, full = floor(each / batch);
  return (struct dl_epoch_batches){.full = full, .last = each - full * batch};
}

double dl_checkpointed_share(const struct dl_run *r, double layers) {
  if (r->checkpointing != DL_CHECKPOINT_FULL)
    return 0;
  return fmin(dl_or(r->checkpointed_layers / layers, 1), 1);
}

double dl_pipeline_rounds(double micro_batches, double stages,
                          double virtual_stages) {
  return fmax(micro_batches, stages) +
         (fmin(micro_batches, stages) - 1) / virtual_stages;
}

static double layers_of(const struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  if (t)
    return t->layers + t->decoder_layers;
  return arch ? arch->layers : (double)NAN;
}

bool dl_divides_layers(const struct dl_row *row, double parts, int others) {
  double layers = layers_of(row);
  bool even = false;
  for (int i = 0; i <= others && !even; i++)
    even = fmod(layers + i, parts) <= 0;
  return even;
}

double dl_most_virtual_stages(const struct dl_row *row, double most) {
  double stages = dl_degrees_of(&row->run).pipeline, v = most;
  while (v > 1 && !dl_divides_layers(row, v * stages, 2))
    v--;
  return stages > 1 ? v : 1;
}

double dl_divided_experts(const struct dl_run *r,
                          const struct dl_transformer *t) {
  return t && r->expert_parallel > 1
             ? dl_transformer_expert_params(t) / dl_transformer_params(t)
             : 0;
}

/* Returns the experts of a layer; NaN: network or shape is not known. */
static double experts_of(const struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  if (!arch)
    return NAN;
  return arch->transformer && dl_is_language_model(arch)
             ? arch->transformer->experts
             : 0;
}

bool dl_divides_experts(const struct dl_row *row, double n) {
  double experts = experts_of(row), data = dl_degrees_of(&row->run).data;
  return experts > 0 && fmod(experts, n) <= 0 && fmod(data, n) <= 0;
}

/* --- Assumptions. */

void dl_assume_word(struct dl_row *row, enum dl_run_id id, unsigned word) {
  dl_run_set_word(&row->run, id, word);
  dl_run_set_put(&row->assumed, id, true);
}

void dl_assume_number(struct dl_row *row, enum dl_run_id id, double x) {
  dl_run_set_number(&row->run, id, x);
  dl_run_set_put(&row->assumed, id, true);
}

void dl_forget_assumed(struct dl_row *row) {
  for (size_t w = 0; w < DL_LENGTH(row->assumed.word); w++)
    for (uint64_t left = row->assumed.word[w]; left; left &= left - 1) {
      size_t i = 64 * w + (size_t)__builtin_ctzll(left);
      if (dl_run_columns[i].is_text)
        dl_run_lend_text(&row->run, (enum dl_run_id)i, NULL);
      else
        dl_run_set_number(&row->run, (enum dl_run_id)i, NAN);
    }
  row->assumed = (struct dl_run_set){0};
}

/* --- Rules between settings, and with descriptors. A rule that a row breaks
 * says what is wrong and what to change; `to` may be NULL. */

static bool is_whole(double x) {
  return fabs(x - nearbyint(x)) <= 1e-9 * x;
}

/* Fewer samples per step than there are data-parallel accelerators: trainers
 * refuse that (Megatron-LM's check of the global batch), and only language
 * models have other ways to divide the work. */
static bool breaks_share(const struct dl_row *row, double data,
                         struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  if (arch && dl_is_language_model(arch))
    return dl_rule_message(
        to,
        "{global_batch} %g is less than one sequence for each of %g "
        "data-parallel accelerators; divide the model among them "
        "({tensor_parallel}, {pipeline_parallel} or "
        "{context_parallel}), or take fewer",
        r->global_batch, data);
  return dl_rule_message(
      to,
      "{global_batch} %g is less than one sample for each of %g "
      "accelerators; take a larger {global_batch}, or {n_gpus} %g "
      "or fewer",
      r->global_batch, data, fmax(floor(r->global_batch), 1));
}

/* n_gpus = tensor x pipeline x data, and global_batch = batch_size x grad_accum
 * x data, in whole numbers. */
static bool breaks_products(const struct dl_row *row,
                            struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  struct dl_degrees by = dl_degrees_of(r);
  bool divided = isnan(by.data) || (by.data >= 1 && is_whole(by.data));
  if (!divided && by.context > 1)
    return dl_rule_message(
        to,
        "{n_gpus} %g is not a multiple of {tensor_parallel} x "
        "{pipeline_parallel} x {context_parallel}, %g x %g x %g; change "
        "one of them",
        r->n_gpus, by.tensor, by.pipeline, by.context);
  if (!divided)
    return dl_rule_message(
        to,
        "{n_gpus} %g is not a multiple of {tensor_parallel} x "
        "{pipeline_parallel}, %g x %g; change one of them",
        r->n_gpus, by.tensor, by.pipeline);
  double data = r->scaling == DL_SCALE_STRONG ? 1 : dl_or(by.data, 1);
  double accum = dl_or(r->grad_accum, 1);
  double all = r->batch_size * accum * data;
  bool batch_given = dl_run_set_has(&row->given, DL_RUN_batch_size);
  bool accum_given = dl_run_set_has(&row->given, DL_RUN_grad_accum);
  if (!dl_run_set_has(&row->given, DL_RUN_global_batch) ||
      isnan(r->batch_size) ||
      (fabs(all - r->global_batch) <= 1e-9 * all &&
       (batch_given || (is_whole(r->batch_size) && all >= 1)) &&
       (accum_given || (is_whole(accum) && accum >= 1))))
    return false;
  if (r->global_batch < data)
    return breaks_share(row, data, to);
  if (!batch_given)
    return dl_rule_message(
        to,
        "{global_batch} %g is not a multiple of {grad_accum} x "
        "data-parallel accelerators, %g x %g; change one of them",
        r->global_batch, accum, data);
  if (!accum_given)
    return dl_rule_message(
        to,
        "{global_batch} %g is not a multiple of {batch_size} x "
        "data-parallel accelerators, %g x %g; change one of them",
        r->global_batch, r->batch_size, data);
  return dl_rule_message(
      to,
      "{global_batch} %g is not {batch_size} x {grad_accum} x "
      "data-parallel accelerators, %g x %g x %g; leave one out",
      r->global_batch, r->batch_size, accum, data);
}

/* Low-rank adapters sit beside the products of attention and of dense layers.
 */
static bool breaks_tuning(const struct dl_row *row,
                          struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  enum dl_fine_tune tune = dl_fine_tune_of(r);
  bool lora = tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA;
  if (r->fine_tune != DL_TUNE_UNKNOWN && !isnan(r->frozen_base) &&
      (r->fine_tune == DL_TUNE_HEAD) != (r->frozen_base > 0))
    return dl_rule_message(
        to,
        "{fine_tune} %s and {frozen_base} %g contradict each other; "
        "leave one out",
        dl_fine_tune_words[r->fine_tune], r->frozen_base);
  if (!isnan(r->lora_rank) && !lora)
    return dl_rule_message(
        to, "{lora_rank} goes with {fine_tune} lora or qlora; give that");
  if (t && r->lora_rank > dl_smallest_product(t))
    return dl_rule_message(
        to,
        "{lora_rank} %g is more than the smallest dimension of the "
        "products of '%s', %g; take a lower rank",
        r->lora_rank, arch->head.id, dl_smallest_product(t));
  bool diffuses = arch && arch->denoising_steps > 0;
  if (r->cached_latents == DL_CACHED_LATENTS_YES && arch && !diffuses)
    return dl_rule_message(
        to,
        "{cached_latents} is for diffusion models, and '%s' is none; leave it "
        "out",
        arch->head.id);
  if (tune == DL_TUNE_HEAD && diffuses)
    return dl_rule_message(
        to,
        "{fine_tune} head: '%s' generates images and has no classifier; use "
        "lora or full",
        arch->head.id);
  if (lora && arch && !t && !diffuses && !(arch->heads > 0))
    return dl_rule_message(
        to,
        "{fine_tune} %s is for transformers, and '%s' is none; use "
        "full or head",
        dl_fine_tune_words[r->fine_tune], arch->head.id);
  return false;
}

/* Whether more layers are to be computed again than a network has. */
static bool breaks_checkpointing(const struct dl_row *row,
                                 struct dl_message_style *to) {
  double n = row->run.checkpointed_layers, layers = layers_of(row);
  const struct dl_architecture *arch = row->found.arch;
  if (isnan(n))
    return false;
  if (row->run.checkpointing != DL_CHECKPOINT_FULL)
    return dl_rule_message(
        to, "{checkpointed_layers} goes with {checkpointing} full; "
            "give that");
  if (arch && !dl_is_language_model(arch))
    return dl_rule_message(
        to,
        "{checkpointed_layers} is for language models, and '%s' is "
        "none; leave it out",
        arch->head.id);
  return n > layers &&
         dl_rule_message(to,
                         "{checkpointed_layers} %g is more than the %g "
                         "layers of '%s'; take fewer",
                         n, layers, arch->head.id);
}

/* No method divides the layers of networks other than language models. Virtual
 * stages divide a pipeline's layers in equal numbers. */
static bool breaks_stages(const struct dl_row *row,
                          struct dl_message_style *to) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  double tensor = dl_or(row->run.tensor_parallel, 1);
  double stages = dl_or(row->run.pipeline_parallel, 1);
  double v = row->run.virtual_stages, layers = layers_of(row);
  double heads = t ? t->heads : arch ? arch->heads : (double)NAN;
  double context = dl_or(row->run.context_parallel, 1);
  char word[DL_WORD_SIZE];
  const char *used = stages > 1 ? "pipeline_parallel" : "context_parallel";
  if (tensor > 1)
    used = "tensor_parallel";
  if (arch && !dl_is_language_model(arch) &&
      (tensor > 1 || stages > 1 || context > 1))
    return dl_rule_message(
        to, "%s is for language models, and '%s' is none; leave it out",
        dl_column_word(to, used, word), arch->head.id);
  if (tensor > 1 && !isnan(heads) && !is_whole(heads / tensor))
    return dl_rule_message(
        to,
        "{tensor_parallel} %g does not divide the %g attention heads "
        "of '%s'; take a divisor",
        tensor, heads, arch->head.id);
  if (stages > layers)
    return dl_rule_message(
        to,
        "{pipeline_parallel} %g is more than the %g layers of '%s'; "
        "take fewer stages",
        stages, layers, arch->head.id);
  if (v > 1 && !(stages > 1))
    return dl_rule_message(to,
                           "{virtual_stages} %g goes with a pipeline; give "
                           "{pipeline_parallel}",
                           v);
  if (v > 1 && !isnan(layers) && !dl_divides_layers(row, v * stages, 3))
    return dl_rule_message(
        to,
        "{virtual_stages} %g of %g pipeline stages do not divide the "
        "%g layers of '%s' evenly; use %g",
        v, stages, layers, arch->head.id, dl_most_virtual_stages(row, v));
  return false;
}

/* Data-parallel accelerators divide the experts, in whole numbers. */
static bool breaks_experts(const struct dl_row *row,
                           struct dl_message_style *to) {
  double n = row->run.expert_parallel, experts = experts_of(row);
  double data = dl_degrees_of(&row->run).data;
  if (!(n > 1))
    return false;
  if (experts <= 0)
    return dl_rule_message(
        to,
        "{expert_parallel} is for mixtures of experts, and '%s' is "
        "none; leave it out",
        row->found.arch->head.id);
  if (fmod(experts, n) > 0)
    return dl_rule_message(
        to,
        "{expert_parallel} %g does not divide the %g experts of '%s'; "
        "take a divisor",
        n, experts, row->found.arch->head.id);
  if (fmod(data, n) > 0)
    return dl_rule_message(
        to,
        "{expert_parallel} %g does not divide the %g data-parallel "
        "accelerators; change one of them",
        n, data);
  return false;
}

static bool breaks_precision(const struct dl_row *row,
                             struct dl_message_style *to) {
  const struct dl_accelerator *gpu = row->found.gpu;
  if (dl_run_is_inference(&row->run))
    return false;
  enum dl_precision precision = row->run.precision;
  bool in_4 = precision == DL_PRECISION_FP4;
  const char *name = in_4 ? "fp4" : "fp8";
  if (gpu && (in_4 || precision == DL_PRECISION_FP8) &&
      isnan(in_4 ? gpu->peak_fp4_tensor_tflops : gpu->peak_fp8_tensor_tflops) &&
      !dl_run_set_has(&row->given, DL_RUN_peak_tflops))
    return dl_rule_message(
        to,
        "precision %s: '%s' has no such rate; use %s, or give "
        "--set gpu.peak_%s_tensor_tflops=VALUE",
        name, gpu->head.id,
        isnan(gpu->peak_bf16_tensor_tflops) ? "fp16" : "bf16", name);
  return precision == DL_PRECISION_INT8 &&
         dl_rule_message(to,
                         "precision int8 is for inference; use bf16 or fp16");
}

/* The kernels of NVIDIA's containers and engine run on NVIDIA's GPUs alone. A
 * card of the user may not say whose it is. */
static bool breaks_stack(const struct dl_row *row,
                         struct dl_message_style *to) {
  const struct dl_accelerator *gpu = row->found.gpu;
  enum dl_software stack = dl_stack_of(&row->run);
  return gpu && gpu->vendor && strcasecmp(gpu->vendor, "nvidia") != 0 &&
         (stack == DL_SOFTWARE_NGC || stack == DL_SOFTWARE_TENSORRT) &&
         dl_rule_message(
             to,
             "{stack} %s is NVIDIA's software, and '%s' is no NVIDIA GPU; use "
             "transformers, tuned, compiled or mlperf",
             dl_software_words[stack], gpu->head.id);
}

/* The lowest limits that boards accept are 0.2 times the TDP (B200: 200 of
 * 1000 W) to 0.86 times (T4: 60 of 70 W), the highest ones 1.4 times. A limit
 * below idling cannot be held. */
static bool breaks_limit(const struct dl_row *row,
                         struct dl_message_style *to) {
  const double least = 0.2, most = 1.5;
  const struct dl_accelerator *gpu = row->found.gpu;
  double limit = row->run.power_limit_w;
  if (!gpu || !dl_run_set_has(&row->given, DL_RUN_power_limit_w))
    return false;
  double low = fmax(least * gpu->tdp_w, dl_or(gpu->idle_w, 0));
  if (limit < low || limit > most * gpu->tdp_w)
    return dl_rule_message(
        to,
        "{power_limit_w} %g is not possible on '%s' with a TDP of %g W; "
        "take %g to %g",
        limit, gpu->head.id, gpu->tdp_w, ceil(low), floor(most * gpu->tdp_w));
  return false;
}

/* Two sizes of one training: an epoch has as many tokens as its samples. */
static bool breaks_sizes(const struct dl_row *row, double seq,
                         struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  bool samples = dl_run_set_has(&row->given, DL_RUN_train_samples);
  bool tokens = dl_run_set_has(&row->given, DL_RUN_tokens);
  if (tokens && arch && dl_usual_dataset(arch))
    return dl_rule_message(
        to, "{tokens} is for language models, and '%s' is none; leave it out",
        arch->head.id);
  return samples && dl_run_set_has(&row->given, DL_RUN_train_tokens) &&
         fabs(r->train_samples * seq - r->train_tokens) >
             1e-6 * r->train_tokens &&
         dl_rule_message(
             to, "{train_tokens} and {train_samples} exclude each other");
}

/* Dropping the last batch must leave one. */
static bool breaks_batches(const struct dl_row *row,
                           struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  double batch = dl_micro_batch(r) * dl_or(dl_degrees_of(r).data, 1);
  char word[DL_WORD_SIZE];
  return !dl_run_is_inference(r) && dl_drops_last(r) &&
         r->train_samples < batch &&
         dl_rule_message(
             to,
             "%s leaves no batch: a step on all accelerators takes %.10g "
             "samples, more than the %.10g of an epoch; take a smaller "
             "batch",
             dl_column_word(to, "drop_last", word), batch, r->train_samples);
}

/* A step must not take more tokens than an epoch has, and the tokens of the
 * whole training are the tokens of its epochs. */
static bool breaks_tokens(const struct dl_row *row,
                          struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  double seq = isnan(r->seq_len) && arch ? arch->seq_len : r->seq_len;
  double step = dl_global_batch(r) * seq;
  bool per_epoch = !isnan(r->train_tokens);
  double most = per_epoch ? r->train_tokens : r->tokens;
  char word[DL_WORD_SIZE];
  if (!dl_run_is_inference(r) && step > most)
    return dl_rule_message(
        to,
        "a step takes %g tokens (global batch %g x {seq_len} %g), "
        "more than %s %g; take a smaller batch",
        step, dl_global_batch(r), seq,
        dl_column_word(to, per_epoch ? "train_tokens" : "tokens", word), most);
  double all = r->train_tokens * r->epochs;
  if (dl_run_set_has(&row->given, DL_RUN_tokens) &&
      dl_run_set_has(&row->given, DL_RUN_train_tokens) && r->epochs > 1 &&
      fabs(all - r->tokens) > 1e-6 * all)
    return dl_rule_message(
        to,
        "{tokens} %g is not {train_tokens} x {epochs}, %g x %g; leave one "
        "out",
        r->tokens, r->train_tokens, r->epochs);
  return !dl_run_is_inference(r) && breaks_sizes(row, seq, to);
}

bool dl_setup_check(const struct dl_row *row, struct dl_message_style *to) {
  return breaks_products(row, to) || breaks_tuning(row, to) ||
         breaks_checkpointing(row, to) || breaks_stages(row, to) ||
         breaks_experts(row, to) || breaks_precision(row, to) ||
         breaks_stack(row, to) || breaks_limit(row, to) ||
         breaks_batches(row, to) || breaks_tokens(row, to) ||
         dl_serving_check(row, to);
}
