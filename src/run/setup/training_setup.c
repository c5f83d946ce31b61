/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set-up of a training, and the rules between its settings. */

#include "run/setup/training_setup.h"

#include <math.h>
#include <string.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"

/* Rank of adapters that is not given. */
#define USUAL_RANK 16

/* Whether a value is a word, or the word and a rank: "lora:16". */
static bool is_ranked(const char *value, const char *word) {
  size_t n = strlen(word);
  return value && strncmp(value, word, n) == 0 &&
         (value[n] == '\0' || value[n] == ':');
}

enum dl_fine_tune dl_fine_tune_of(const struct dl_run *r) {
  return is_ranked(r->fine_tune, "lora")    ? DL_TUNE_LORA
         : is_ranked(r->fine_tune, "qlora") ? DL_TUNE_QLORA
         : dl_is_word(r->fine_tune, "head") || r->frozen_base > 0
             ? DL_TUNE_HEAD
             : DL_TUNE_FULL;
}

struct dl_degrees dl_degrees_of(const struct dl_run *r) {
  double tensor = dl_or(r->tensor_parallel, 1);
  double pipeline = dl_or(r->pipeline_parallel, 1);
  return (struct dl_degrees){.tensor = tensor,
                             .pipeline = pipeline,
                             .data = r->n_gpus / (tensor * pipeline),
                             .expert = dl_or(r->expert_parallel, 1)};
}

double dl_micro_batch(const struct dl_run *r) {
  return dl_is_word(r->scaling, "strong")
             ? ceil(r->batch_size / dl_degrees_of(r).data)
             : r->batch_size;
}

double dl_global_batch(const struct dl_run *r) {
  double per_pass = dl_is_word(r->scaling, "strong")
                        ? r->batch_size
                        : r->batch_size * dl_degrees_of(r).data;
  return per_pass * dl_or(r->grad_accum, 1);
}

double dl_adapter_params(const struct dl_run *r,
                         const struct dl_transformer *t) {
  return t ? dl_transformer_adapter_params(t, dl_or(r->lora_rank, USUAL_RANK))
           : 0;
}

double dl_pipeline_rounds(double micro_batches, double stages,
                          double virtual_stages) {
  return fmax(micro_batches, stages) +
         (fmin(micro_batches, stages) - 1) / virtual_stages;
}

static double layers_of(const struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  return t ? t->layers + t->decoder_layers : arch ? arch->layers : (double)NAN;
}

/* Whether layers are divided evenly, where the embedding and the output layer
 * may count as one each. */
static bool divides_layers(const struct dl_row *row, double parts) {
  double layers = layers_of(row);
  return fmod(layers, parts) <= 0 || fmod(layers + 1, parts) <= 0 ||
         fmod(layers + 2, parts) <= 0;
}

double dl_most_virtual_stages(const struct dl_row *row, double most) {
  double stages = dl_degrees_of(&row->run).pipeline, v = most;
  while (v > 1 && !divides_layers(row, v * stages))
    v--;
  return stages > 1 ? v : 1;
}

double dl_divided_experts(const struct dl_run *r,
                          const struct dl_transformer *t) {
  return t && r->expert_parallel > 1
             ? dl_transformer_expert_params(t) / dl_transformer_params(t)
             : 0;
}

/* Of a layer; NaN: the network is not known, or its shape is not. */
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

void dl_assume_text(struct dl_row *row, enum dl_run_id id, const char *word) {
  dl_run_lend_text(&row->run, id, word);
  dl_run_set_put(&row->assumed, id, true);
}

void dl_assume_number(struct dl_row *row, enum dl_run_id id, double x) {
  dl_run_set_number(&row->run, id, x);
  dl_run_set_put(&row->assumed, id, true);
}

void dl_forget_assumed(struct dl_row *row) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    if (!dl_is_assumed(row, id))
      continue;
    if (dl_run_columns[i].is_text)
      dl_run_lend_text(&row->run, id, NULL);
    else
      dl_run_set_number(&row->run, id, NAN);
  }
  row->assumed = (struct dl_run_set){0};
}

/* --- Rules. Each returns whether a row breaks it, and then appends what is
 * wrong and what to change to *to, unless that is NULL. */

static bool is_whole(double x) {
  return fabs(x - nearbyint(x)) <= 1e-9 * x;
}

static bool breaks_degrees(const struct dl_row *row, struct dl_text *to) {
  struct dl_degrees by = dl_degrees_of(&row->run);
  if (isnan(by.data) || (by.data >= 1 && is_whole(by.data)))
    return false;
  if (to)
    dl_text_printf(to,
                   "n_gpus %g is not a multiple of tensor_parallel x "
                   "pipeline_parallel, %g x %g; change one of them",
                   row->run.n_gpus, by.tensor, by.pipeline);
  return true;
}

/* global_batch = batch_size x grad_accum x data-parallel accelerators, in whole
 * numbers. */
static bool breaks_global_batch(const struct dl_row *row, struct dl_text *to) {
  const struct dl_run *r = &row->run;
  double data =
      dl_is_word(r->scaling, "strong") ? 1 : dl_or(dl_degrees_of(r).data, 1);
  double accum = dl_or(r->grad_accum, 1);
  bool batch_given = dl_run_set_has(&row->given, DL_RUN_batch_size);
  bool accum_given = dl_run_set_has(&row->given, DL_RUN_grad_accum);
  if (!dl_run_set_has(&row->given, DL_RUN_global_batch) || isnan(r->batch_size))
    return false;
  double all = r->batch_size * accum * data;
  bool equal = fabs(all - r->global_batch) <= 1e-9 * all;
  if (equal && (batch_given || (is_whole(r->batch_size) && all >= 1)) &&
      (accum_given || (is_whole(accum) && accum >= 1)))
    return false;
  if (to && !batch_given)
    dl_text_printf(to,
                   "global_batch %g is not a multiple of grad_accum x "
                   "data-parallel accelerators, %g x %g; change one of them",
                   r->global_batch, accum, data);
  else if (to && !accum_given)
    dl_text_printf(to,
                   "global_batch %g is not a multiple of batch_size x "
                   "data-parallel accelerators, %g x %g; change one of them",
                   r->global_batch, r->batch_size, data);
  else if (to)
    dl_text_printf(to,
                   "global_batch %g is not batch_size x grad_accum x "
                   "data-parallel accelerators, %g x %g x %g; leave one out",
                   r->global_batch, r->batch_size, accum, data);
  return true;
}

static bool breaks_fine_tune(const struct dl_row *row, struct dl_text *to) {
  const struct dl_run *r = &row->run;
  if (!r->fine_tune || isnan(r->frozen_base) ||
      (dl_is_word(r->fine_tune, "head") ? r->frozen_base > 0
                                        : !(r->frozen_base > 0)))
    return false;
  if (to)
    dl_text_printf(to,
                   "fine_tune %s and frozen_base %g contradict each other; "
                   "leave one out",
                   r->fine_tune, r->frozen_base);
  return true;
}

/* The smallest dimension of the products that have adapters: queries, keys,
 * values and output of attention, and the feed-forward part. Networks with one
 * head of keys and values compute these together with the queries. */
static double smallest_product(const struct dl_transformer *t) {
  double kv = t->kv_heads > 1 ? t->kv_heads * t->head_dim : INFINITY;
  if (t->kv_rank > 0)
    kv = t->q_rank > 0 ? fmin(t->kv_rank, t->q_rank) : t->kv_rank;
  return fmin(fmin(t->hidden, t->ffn), fmin(t->heads * t->head_dim, kv));
}

static bool breaks_rank(const struct dl_row *row, struct dl_text *to) {
  enum dl_fine_tune tune = dl_fine_tune_of(&row->run);
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  double rank = row->run.lora_rank;
  bool lora = tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA;
  bool high = t && rank > smallest_product(t);
  if (isnan(rank) || (lora && !high))
    return false;
  if (to && lora)
    dl_text_printf(to,
                   "lora_rank %g is more than the smallest dimension of the "
                   "products of '%s', %g; take a lower rank",
                   rank, arch->head.id, smallest_product(t));
  else if (to)
    dl_text_add(to, "lora_rank goes with fine_tune lora or qlora; give that");
  return true;
}

/* Low-rank adapters sit beside the products of attention and of dense layers.
 */
static bool breaks_adapters(const struct dl_row *row, struct dl_text *to) {
  const struct dl_architecture *arch = row->found.arch;
  enum dl_fine_tune tune = dl_fine_tune_of(&row->run);
  if ((tune != DL_TUNE_LORA && tune != DL_TUNE_QLORA) || !arch ||
      arch->transformer || arch->heads > 0)
    return false;
  if (to)
    dl_text_printf(to,
                   "fine_tune %s is for transformers, and '%s' is none; use "
                   "full or head",
                   row->run.fine_tune, arch->head.id);
  return true;
}

/* No method divides the layers of other networks. */
static bool breaks_division(const struct dl_row *row, struct dl_text *to) {
  const struct dl_architecture *arch = row->found.arch;
  bool tensor = row->run.tensor_parallel > 1;
  if (!arch || dl_is_language_model(arch) ||
      !(tensor || row->run.pipeline_parallel > 1))
    return false;
  if (to)
    dl_text_printf(
        to, "%s is for language models, and '%s' is none; leave it out",
        tensor ? "tensor_parallel" : "pipeline_parallel", arch->head.id);
  return true;
}

static bool breaks_heads(const struct dl_row *row, struct dl_text *to) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  double tensor = dl_or(row->run.tensor_parallel, 1);
  double heads = t ? t->heads : arch ? arch->heads : (double)NAN;
  if (!(tensor > 1) || isnan(heads) || is_whole(heads / tensor))
    return false;
  if (to)
    dl_text_printf(to,
                   "tensor_parallel %g does not divide the %g attention heads "
                   "of '%s'; take a divisor",
                   tensor, heads, arch->head.id);
  return true;
}

static bool breaks_depth(const struct dl_row *row, struct dl_text *to) {
  double stages = dl_or(row->run.pipeline_parallel, 1);
  double layers = layers_of(row);
  if (!(stages > layers))
    return false;
  if (to)
    dl_text_printf(to,
                   "pipeline_parallel %g is more than the %g layers of '%s'; "
                   "take fewer stages",
                   stages, layers, row->found.arch->head.id);
  return true;
}

/* Virtual stages divide those of a pipeline, in equal numbers of layers. */
static bool breaks_virtual_stages(const struct dl_row *row,
                                  struct dl_text *to) {
  double v = row->run.virtual_stages;
  double stages = dl_or(row->run.pipeline_parallel, 1);
  if (!(v > 1) || (stages > 1 &&
                   (isnan(layers_of(row)) || divides_layers(row, v * stages))))
    return false;
  if (to && stages > 1)
    dl_text_printf(to,
                   "virtual_stages %g of %g pipeline stages do not divide the "
                   "%g layers of '%s' evenly; use %g",
                   v, stages, layers_of(row), row->found.arch->head.id,
                   dl_most_virtual_stages(row, v));
  else if (to)
    dl_text_printf(to,
                   "virtual_stages %g goes with a pipeline; give "
                   "pipeline_parallel",
                   v);
  return true;
}

/* Data-parallel accelerators divide the experts, in whole numbers. */
static bool breaks_experts(const struct dl_row *row, struct dl_text *to) {
  double n = row->run.expert_parallel, experts = experts_of(row);
  double data = dl_degrees_of(&row->run).data;
  bool none = experts <= 0, uneven = fmod(experts, n) > 0;
  if (!(n > 1) || !(none || uneven || fmod(data, n) > 0))
    return false;
  if (to && none)
    dl_text_printf(to,
                   "expert_parallel is for mixtures of experts, and '%s' is "
                   "none; leave it out",
                   row->found.arch->head.id);
  else if (to && uneven)
    dl_text_printf(to,
                   "expert_parallel %g does not divide the %g experts of '%s'; "
                   "take a divisor",
                   n, experts, row->found.arch->head.id);
  else if (to)
    dl_text_printf(to,
                   "expert_parallel %g does not divide the %g data-parallel "
                   "accelerators; change one of them",
                   n, data);
  return true;
}

static bool breaks_fp8(const struct dl_row *row, struct dl_text *to) {
  const struct dl_accelerator *gpu = row->found.gpu;
  if (!dl_is_word(row->run.precision, "fp8") ||
      dl_run_is_inference(&row->run) || !gpu ||
      !isnan(gpu->peak_fp8_tensor_tflops) ||
      dl_run_set_has(&row->given, DL_RUN_peak_tflops))
    return false;
  if (to)
    dl_text_printf(to,
                   "precision fp8: '%s' has no FP8 rate; use %s, or give "
                   "--set gpu.peak_fp8_tensor_tflops=VALUE",
                   gpu->head.id,
                   isnan(gpu->peak_bf16_tensor_tflops) ? "fp16" : "bf16");
  return true;
}

static bool breaks_int8(const struct dl_row *row, struct dl_text *to) {
  if (!dl_is_word(row->run.precision, "int8") || dl_run_is_inference(&row->run))
    return false;
  if (to)
    dl_text_add(to, "precision int8 is for inference; use bf16 or fp16");
  return true;
}

/* A step must not take more tokens than an epoch has. */
static bool breaks_tokens(const struct dl_row *row, struct dl_text *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  double seq = isnan(r->seq_len) && arch ? arch->seq_len : r->seq_len;
  double step = dl_global_batch(r) * seq;
  bool per_epoch = !isnan(r->train_tokens);
  double all = per_epoch ? r->train_tokens : r->tokens;
  if (dl_run_is_inference(&row->run) || !(step > all))
    return false;
  if (to)
    dl_text_printf(to,
                   "a step takes %g tokens (global batch %g x seq_len %g), "
                   "more than %s %g; take a smaller batch",
                   step, dl_global_batch(r), seq,
                   per_epoch ? "train_tokens" : "tokens", all);
  return true;
}

/* The tokens of the whole training are those of its epochs. */
static bool breaks_epochs(const struct dl_row *row, struct dl_text *to) {
  const struct dl_run *r = &row->run;
  double all = r->train_tokens * r->epochs;
  bool given = dl_run_set_has(&row->given, DL_RUN_tokens) &&
               dl_run_set_has(&row->given, DL_RUN_train_tokens);
  if (!given || isnan(all) || fabs(all - r->tokens) <= 1e-6 * all ||
      !(r->epochs > 1))
    return false;
  if (to)
    dl_text_printf(to,
                   "tokens %g is not train_tokens x epochs, %g x %g; leave one "
                   "out",
                   r->tokens, r->train_tokens, r->epochs);
  return true;
}

static bool (*const rules[])(const struct dl_row *row, struct dl_text *to) = {
    breaks_degrees,        breaks_global_batch, breaks_fine_tune, breaks_rank,
    breaks_adapters,       breaks_division,     breaks_heads,     breaks_depth,
    breaks_virtual_stages, breaks_experts,      breaks_fp8,       breaks_int8,
    breaks_tokens,         breaks_epochs};

void dl_setup_check(struct dl_row *row) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i](row, NULL)) {
      row->fault = (struct dl_fault){.kind = DL_FAULT_SETUP, .step = i};
      return;
    }
}

void dl_setup_explain(const struct dl_row *row, struct dl_text *to) {
  rules[row->fault.step](row, to);
}
