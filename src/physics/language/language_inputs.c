/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of the physics of training language models from a row. */

#include "physics/language/language_inputs.h"

#include "base/constants.h"
#include "catalog/architecture/transformer.h"
#include "physics/rows/inputs.h"
#include "run/setup/training_setup.h"

const struct dl_physics_quantity
    dl_language_quantities[DL_N_LANGUAGE_QUANTITIES] = {
        {DL_ON_RUN(macs_g), true, false},
        {DL_ON_RUN(params_m), true, true},
        {DL_ON_RUN(acts_m), false, false},
        {DL_ON_ARCH(attention_macs_g), true, false},
        {DL_ON_ARCH(depth), true, false},
        {DL_ON_ARCH(hidden_size), true, false},
        {DL_ON_ARCH(seq_len), false, false},
        {DL_ON_ARCH(heads), false, false},
        {DL_ON_ARCH(head_params_m), false, false},
        {DL_ON_ARCH(layers), false, false},
        {DL_ON_ARCH(active_params_m), false, false},
        {DL_ON_RUN(seq_len), true, true},
        {DL_ON_RUN(tokens), false, false},
        {DL_ON_RUN(train_tokens), false, false},
        {DL_ON_RUN(train_samples), false, false},
        {DL_ON_RUN(val_samples), false, false},
        {DL_ON_RUN(drop_last), false, false},
        {DL_ON_RUN(samples_per_s), false, false},
        {DL_ON_RUN(step_s), false, false},
        {DL_ON_RUN(epoch_s), false, false},
        {DL_ON_RUN(duration_s), false, false},
        {DL_ON_RUN(epochs), false, false},
        {DL_ON_RUN(batch_size), false, false},
        {DL_ON_RUN(global_batch), false, false},
        {DL_ON_RUN(grad_accum), false, false},
        {DL_ON_RUN(n_gpus), false, true},
        {DL_ON_RUN(precision), false, false},
        {DL_ON_RUN(fine_tune), false, false},
        {DL_ON_RUN(lora_rank), false, false},
        {DL_ON_RUN(frozen_base), false, false},
        {DL_ON_RUN(optimizer), false, false},
        {DL_ON_RUN(checkpointing), false, false},
        {DL_ON_RUN(checkpointed_layers), false, false},
        {DL_ON_RUN(attention), false, false},
        {DL_ON_RUN(sharding), false, false},
        {DL_ON_RUN(tensor_parallel), false, false},
        {DL_ON_RUN(pipeline_parallel), false, false},
        {DL_ON_RUN(virtual_stages), false, false},
        {DL_ON_RUN(expert_parallel), false, false},
        {DL_ON_RUN(context_parallel), false, false},
        {DL_ON_RUN(stack), false, false},
        {DL_ON_RUN(network_gbps), false, false},
        {DL_ON_RUN(gpus_per_node), false, false},
        {DL_ON_RUN(power_limit_w), false, false},
        {DL_ON_RUN(cpu_cores), false, false},
        {DL_ON_GPU(peak_fp32_tflops), false, false},
        {DL_ON_GPU(peak_tf32_tflops), false, false},
        {DL_ON_GPU(peak_fp16_tensor_tflops), false, false},
        {DL_ON_GPU(peak_bf16_tensor_tflops), false, false},
        {DL_ON_GPU(peak_fp8_tensor_tflops), false, false},
        {DL_ON_GPU(peak_fp4_tensor_tflops), false, false},
        {DL_ON_GPU(multiprocessors), false, false},
        {DL_ON_GPU(boost_mhz), false, false},
        {DL_ON_GPU(bandwidth_gb_s), true, true},
        {DL_ON_GPU(tdp_w), true, true},
        {DL_ON_GPU(memory_type), false, false},
        {DL_ON_GPU(memory_gb), false, false},
        {DL_ON_GPU(link_gb_s), false, false},
        {DL_ON_GPU(link_domain), false, false},
        {DL_ON_RUN(gpu), false, false},
        {DL_ON_RUN(arch), false, false},
        {DL_ON_RUN(source), false, false},
        {DL_ON_RUN(framework), false, false},
        {DL_ON_RUN(host), false, false},
        {DL_ON_OWN(doubt), false, false},
        {DL_ON_OWN(power_doubt), false, false},
};

/* Numbers in other columns, in the order of the quantities: standard deviations
 * of the logarithms by which the rate and the power may be off. */
enum { RATE_SD, POWER_SD };

/* GPUs of a node, if it is not given. */
#define GPUS_PER_NODE 8

/* Length scales of the residual process, of logarithms; work of another kind is
 * so far away that nothing covaries. */
#define LENGTH_TOKENS 1.5
#define LENGTH_GPUS 2.0
#define ANOTHER_KIND 10.0

/* Flash attention by the kernels of today's containers (cuDNN, FlashAttention-2
 * and 3) takes this share of the time of 2023's, which the fit has: "around 2x"
 * (Dao, arXiv 2307.08691), and 1.5 to 2 times that on an H100 (Shah et al.,
 * 2407.08608). */
#define KERNELS_SINCE 0.5

/* They are for GPUs from Ampere on, whose tensor cores are the first of BF16.
 */
static bool has_kernels_since(const struct dl_physics_row *row) {
  return dl_stack_of(row->run) == DL_SOFTWARE_NGC &&
         row->gpu->peak_bf16_tensor_tflops > 0;
}

/* Elements of a result in a tile that a multiprocessor computes at a time. */
#define TILE (128.0 * 128)

/* 4-bit weights are read, and written and read again in 16 bits. */
#define UNPACKED_BYTES 2.5

/* Share of the products that a training in FP4 computes in 16 bits: NVIDIA,
 * arXiv 2509.25149, keeps 16 % of the linear layers. */
#define LEFT_BY_FP4 0.16

/* Peak rate of products in FP8 or FP4, TFLOP/s; 0 or NaN: none. */
static double peak_of_few_bits(const struct dl_accelerator *gpu,
                               enum dl_precision precision) {
  double in_16 = dl_peak_16_bit(gpu, precision);
  if (precision == DL_PRECISION_FP4 && gpu->peak_fp4_tensor_tflops > 0)
    return 1 / ((1 - LEFT_BY_FP4) / gpu->peak_fp4_tensor_tflops +
                LEFT_BY_FP4 / in_16);
  bool fewer = precision == DL_PRECISION_FP8 || precision == DL_PRECISION_FP4;
  return fewer ? gpu->peak_fp8_tensor_tflops : 0;
}

static enum dl_language_format format_of(const struct dl_physics_row *row) {
  const struct dl_accelerator *gpu = row->gpu;
  enum dl_precision precision = row->run->precision;
  double in_16 = dl_peak_16_bit(gpu, precision);
  if (peak_of_few_bits(gpu, precision) > 0)
    return DL_LANG_FP8;
  if (in_16 > 0 &&
      (precision == DL_PRECISION_UNKNOWN || dl_is_16_bit(precision) ||
       precision == DL_PRECISION_FP8 || precision == DL_PRECISION_FP4))
    return DL_LANG_16_BIT;
  return precision == DL_PRECISION_TF32 && gpu->peak_tf32_tflops > 0
             ? DL_LANG_TF32
             : DL_LANG_FP32;
}

static void read_rates(const struct dl_physics_row *row,
                       struct dl_language_inputs *in) {
  const struct dl_accelerator *gpu = row->gpu;
  const double peak[] = {
      [DL_LANG_16_BIT] = dl_peak_16_bit(gpu, row->run->precision),
      [DL_LANG_TF32] = gpu->peak_tf32_tflops,
      [DL_LANG_FP32] = gpu->peak_fp32_tflops,
      [DL_LANG_FP8] = peak_of_few_bits(gpu, row->run->precision)};
  in->format = (int)format_of(row);
  in->element =
      in->format == DL_LANG_16_BIT || in->format == DL_LANG_FP8 ? 2 : 4;
  double tera = 1e12 * dl_cores_share(row->run, gpu);
  in->peak = tera * peak[in->format];
  /* Attention is in 16 bits where products are in 8. */
  in->peak_16 = in->element < 4 ? tera * peak[DL_LANG_16_BIT] : in->peak;
  if (in->format == DL_LANG_16_BIT)
    in->peak *= dl_half_rate_share(gpu);
  in->plain = in->format == DL_LANG_TF32 ? 1e12 * gpu->peak_fp32_tflops : 0;
  in->tiles =
      in->format == DL_LANG_FP32 ? 0 : TILE * dl_or(gpu->multiprocessors, 0);
  in->systolic = dl_is_word(gpu->family, "tpu");
  in->bandwidth = dl_bandwidth_used(row->run, gpu);
  in->gddr = dl_gddr_gb_s(gpu);
  in->chips = dl_gddr_chips_gb_s(gpu);
  in->limit = dl_or(row->run->power_limit_w, gpu->tdp_w);
  in->tdp = fmax(gpu->tdp_w, in->limit);
}

/* GPUs, and what joins them: NVLink in its domain, then the network. */
static void read_links(const struct dl_physics_row *row,
                       struct dl_language_inputs *in) {
  const struct dl_accelerator *gpu = row->gpu;
  const struct dl_run *run = row->run;
  double link = dl_or(gpu->link_gb_s, DL_PCIE_3_X16_GB_S);
  struct dl_degrees degrees = dl_degrees_of(run);
  double node =
      dl_or(run->gpus_per_node,
            fmax(dl_or(gpu->link_domain, GPUS_PER_NODE), GPUS_PER_NODE));
  in->n_gpus = dl_or(run->n_gpus, 1);
  in->tensor = dl_or(degrees.tensor, 1);
  in->pipeline = dl_or(degrees.pipeline, 1);
  in->virtual_stages = dl_or(run->virtual_stages, 1);
  in->nodes = ceil(in->n_gpus / node);
  in->pcie = !(link > DL_SLOWEST_NVLINK_GB_S);
  in->domain = in->pcie ? node : dl_or(gpu->link_domain, node);
  in->link = 1e9 * link;
  in->network = 1e9 / 8 * dl_or(run->network_gbps, dl_usual_network_gbps(gpu));
}

static bool is_causal(const struct dl_architecture *arch) {
  return arch->transformer && arch->transformer->kind == DL_TF_DECODER;
}

/* Work and traffic of a token. */
static void read_work(const struct dl_physics_row *row,
                      struct dl_language_inputs *in) {
  const struct dl_architecture *arch = row->arch;
  const struct dl_run *run = row->run;
  bool eager = run->attention != DL_ATTENTION_UNKNOWN
                   ? run->attention == DL_ATTENTION_EAGER
                   : in->element > 2;
  double masked = is_causal(arch) && !eager ? 0.5 : 1;
  in->tokens = dl_or(run->seq_len, arch->seq_len);
  in->linear = 1e9 * (run->macs_g - arch->attention_macs_g) / in->tokens;
  in->attention = 1e9 * masked * arch->attention_macs_g / in->tokens;
  in->layers = arch->depth;
  in->hidden = arch->hidden_size;
  in->scores = eager ? arch->depth * dl_or(arch->heads, 1) * in->tokens : 0;
  in->vocabulary = is_causal(arch) ? arch->transformer->vocab : 0;
}

/* Experts that tokens choose. */
static void read_mixture(const struct dl_physics_row *row,
                         struct dl_language_inputs *in) {
  const struct dl_transformer *t = row->arch->transformer;
  if (!t || !(t->experts > 1))
    return;
  in->moe_layers = dl_transformer_moe_layers(t);
  in->chosen = t->active_experts;
  in->expert_linear =
      dl_transformer_expert_params(t) * t->active_experts / t->experts;
  in->expert_width = fmin(t->moe_ffn, t->hidden);
  in->own_experts = t->experts / in->expert_parallel;
  in->launched = dl_stack_of(row->run) == DL_SOFTWARE_NGC ? in->own_experts : 1;
}

/* Experts divided among E GPUs, w of which are in a node of their own in E / w
 * of them. A token takes k experts, of which each is on one of the GPUs as
 * likely as on another: with the choice of different ones a node has none of
 * them with the odds of drawing k from the others' experts. */
static void read_experts(const struct dl_physics_row *row,
                         struct dl_language_inputs *in) {
  const struct dl_transformer *t = row->arch->transformer;
  double share = dl_divided_experts(row->run, t);
  in->expert_parallel = 1;
  if (!(share > 0))
    return;
  in->expert_parallel = dl_degrees_of(row->run).expert;
  in->experts = in->params * share;
  in->trained_experts =
      dl_fine_tune_of(row->run) == DL_TUNE_FULL ? in->experts : 0;
  in->members =
      fmin(fmax(floor(in->domain / in->tensor), 1), in->expert_parallel);
  double nodes = in->expert_parallel / in->members, none = 1;
  for (size_t i = 0; (double)i < t->active_experts && none > 0; i++)
    none *= fmax(t->experts * (1 - 1 / nodes) - (double)i, 0) /
            (t->experts - (double)i);
  in->to_members = t->active_experts * (1 - 1 / in->members);
  in->to_nodes = (nodes - 1) * (1 - none);
}

/* Bytes of a trained parameter that an optimizer reads and writes. */
static double state_bytes(const struct dl_run *run) {
  switch (dl_optimizer_of(run)) {
  case DL_OPTIMIZER_SGD:
    return 20;
  case DL_OPTIMIZER_ADAFACTOR:
    return 14;
  case DL_OPTIMIZER_ADAM8BIT:
    return 16;
  default:
    return 30;
  }
}

/* Counts the trained weights, and the passes that they take: forward, backward
 * through the activations, backward to the weights. */
static void read_training(const struct dl_physics_row *row,
                          struct dl_language_inputs *in) {
  const struct dl_run *run = row->run;
  enum dl_fine_tune tune = dl_fine_tune_of(run);
  bool adapters = tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA;
  in->params = 1e6 * run->params_m;
  in->trained = in->params;
  if (tune == DL_TUNE_HEAD)
    in->trained = 1e6 * dl_or(row->arch->head_params_m, 0);
  if (adapters) {
    in->trained = dl_adapter_params(run, row->arch);
    in->adapted = dl_adapted_sides(run, row->arch->transformer);
  }
  double share = fmin(in->trained / in->params, 1);
  in->passes = tune == DL_TUNE_HEAD ? 1 + 2 * share : 2 + share;
  in->unpack = tune == DL_TUNE_QLORA ? UNPACKED_BYTES * in->passes : 0;
  in->state_bytes = state_bytes(run);
}

/* Division among GPUs, what is computed again, and batches: what is not known
 * is the plainest; estimates assume it before (estimate/assumptions.h). */
static void read_division(const struct dl_physics_row *row,
                          struct dl_language_inputs *in) {
  const struct dl_run *run = row->run;
  double copies = in->n_gpus / (in->tensor * in->pipeline);
  double share = dl_checkpointed_share(run, in->layers);
  in->gathers = run->sharding == DL_SHARDING_ZERO3 && copies > 1;
  in->shards = run->sharding <= DL_SHARDING_DDP ? 1 : copies;
  in->again = share;
  in->attention_passes =
      (dl_fine_tune_of(run) == DL_TUNE_HEAD ? 1 : 3) +
      (in->scores > 0 ? 0 : 0.5) +
      (run->checkpointing == DL_CHECKPOINT_SELECTIVE ? 1 : share);
  if (has_kernels_since(row) && !(in->scores > 0))
    in->attention_passes *= KERNELS_SINCE;
  in->sequences = dl_or(dl_micro_batch(run), 1) / dl_degrees_of(run).context;
  in->micro_batches = dl_or(run->grad_accum, 1);
}

/* Software that is not known is plain on one GPU and tuned on many. */
static void read_software(const struct dl_physics_row *row,
                          struct dl_language_inputs *in) {
  const struct dl_transformer *t = row->arch->transformer;
  bool known = row->run->stack;
  in->composed = is_causal(row->arch) && t->gated > 0;
  if (dl_stack_of(row->run) == DL_SOFTWARE_TRANSFORMERS)
    in->untuned = 1;
  else if (!known)
    in->untuned = 1 / fmax(in->n_gpus, 1);
}

/* Place in the residual process: tokens of a micro-batch, GPUs, and software,
 * format and what is trained, which must be equal. */
static void locate(struct dl_language_inputs *in) {
  int kind = in->format + 4 * in->fused + 8 * in->graphs +
             16 * (in->trained < in->params);
  in->grouping.x[0] = log(in->sequences * in->tokens) / LENGTH_TOKENS;
  in->grouping.x[1] = log(in->n_gpus) / LENGTH_GPUS;
  in->grouping.x[2] = ANOTHER_KIND * kind;
}

static void group(const struct dl_physics_row *row, struct dl_grouping *g) {
  dl_row_names_of(row, g->name);
  g->level[DL_LANG_FACTOR_GPU].name = DL_NAME_GPU;
  g->level[DL_LANG_FACTOR_ARCH].name = DL_NAME_ARCH;
  g->level[DL_LANG_FACTOR_STACK].name = DL_NAME_STACK;
  g->level[DL_LANG_FACTOR_SOURCE].name = DL_NAME_SOURCE;
  g->level[DL_LANG_FACTOR_FRAMEWORK].name = DL_NAME_FRAMEWORK;
  g->level[DL_LANG_FACTOR_PAIR] =
      (struct dl_level_names){DL_NAME_ARCH, DL_NAME_GPU};
  g->sd[DL_LANG_TARGET_RATE] = dl_or(row->other[RATE_SD], 0);
  g->sd[DL_LANG_TARGET_POWER] = dl_or(row->other[POWER_SD], 0);
}

const char *dl_language_inputs_read(const struct dl_physics_row *row,
                                    void *inputs) {
  struct dl_language_inputs *in = inputs;
  const struct dl_run *run = row->run;
  const struct dl_architecture *arch = row->arch;
  const struct dl_accelerator *gpu = row->gpu;
  *in = (struct dl_language_inputs){0};
  read_rates(row, in);
  read_links(row, in);
  read_work(row, in);
  read_training(row, in);
  read_division(row, in);
  read_experts(row, in);
  read_mixture(row, in);
  in->graphs = dl_stack_of(run) == DL_SOFTWARE_MLPERF;
  in->fused = (dl_stack_of(run) == DL_SOFTWARE_NGC ||
               dl_stack_of(run) == DL_SOFTWARE_COMPILED) &&
              dl_framework_of(run) != DL_FRAMEWORK_TENSORFLOW;
  in->by_weight =
      dl_framework_of(run) == DL_FRAMEWORK_TENSORFLOW && !in->graphs;
  in->reduces_last = in->by_weight || (in->graphs && in->pcie);
  in->unknown = !run->stack;
  read_software(row, in);
  group(row, &in->grouping);
  locate(in);
  const struct dl_required required[] = {
      {"macs_g", run->macs_g},
      {"params_m", run->params_m},
      {"arch.attention_macs_g", arch->attention_macs_g},
      {"arch.depth", arch->depth},
      {"arch.hidden_size", arch->hidden_size},
      {"seq_len", in->tokens},
      {"gpu.peak_fp32_tflops", in->peak},
      {"gpu.bandwidth_gb_s", gpu->bandwidth_gb_s},
      {"gpu.tdp_w", gpu->tdp_w}};
  return dl_first_unknown(required, sizeof required / sizeof *required);
}

double dl_language_startup_s(const struct dl_run *run) {
  const double imports_s = 20, load_gb_s = 1;
  bool loads = run->fine_tune != DL_TUNE_UNKNOWN;
  double loaded_gb = loads ? 2e-3 * dl_or(run->params_m, 0) : 0;
  return imports_s + loaded_gb / load_gb_s;
}

/* A known duration has all of a training in it. */
static double steps_s(const struct dl_run *run) {
  double startup_s = dl_or(run->startup_s, dl_language_startup_s(run));
  double overhead = dl_or(run->overhead, DL_LANGUAGE_OVERHEAD);
  return (run->duration_s - startup_s) / (1 + overhead);
}

/* Validation has one of the three passes of training. */
#define VALIDATION_SHARE (1.0 / 3)

/* Tokens per second, also by the time of a micro-batch, of an epoch or of the
 * whole training. */
static double measured_rate(const struct dl_run *run) {
  double val = dl_batched_samples(run, dl_or(run->val_samples, 0));
  double samples =
      dl_batched_samples(run, run->train_samples) + VALIDATION_SHARE * val;
  double epoch = run->seq_len * samples;
  double batch = dl_global_batch(run) / dl_or(run->grad_accum, 1);
  const double rates[] = {
      run->tokens_per_s, run->samples_per_s * run->seq_len,
      batch * run->seq_len / run->step_s, epoch / run->epoch_s,
      dl_or(run->tokens, epoch * run->epochs) / steps_s(run)};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    if (isfinite(rates[i]) && rates[i] > 0)
      return rates[i];
  return NAN;
}

void dl_language_measured(const struct dl_run *run, double *value) {
  double rate = measured_rate(run), n = fmax(dl_or(run->n_gpus, 1), 1);
  value[DL_LANG_TARGET_RATE] = rate > 0 ? log(rate) : NAN;
  value[DL_LANG_TARGET_POWER] =
      run->gpu_power_w > 0 ? log(run->gpu_power_w / n) : NAN;
}

const char *dl_language_inputs_check(const void *inputs) {
  const struct dl_language_inputs *in = inputs;
  bool ok = in->sequences > 0 && in->micro_batches > 0 && in->tokens > 0 &&
            in->linear > 0 && in->params > 0 && in->layers > 0 &&
            in->hidden > 0 && in->peak > 0 && in->peak_16 > 0 &&
            in->bandwidth > 0 && in->tdp > 0 && in->limit > 0 && in->link > 0 &&
            in->network > 0 && in->n_gpus > 0 &&
            in->n_gpus >= in->tensor * in->pipeline;
  return ok ? NULL
            : "batch, tokens, work, layers, peak rate, bandwidth and TDP must "
              "be above 0, and GPUs no fewer than tensor x pipeline parallel";
}
