/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of the physics of LLM serving from a row. */

#include "physics/serving/serving_inputs.h"

#include "base/constants.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "physics/rows/inputs.h"

const struct dl_physics_quantity
    dl_serving_quantities[DL_N_SERVING_QUANTITIES] = {
        {DL_ON_RUN(batch_size), true, true},
        {DL_ON_RUN(requests), false, false},
        {DL_ON_RUN(prompt_tokens), true, true},
        {DL_ON_RUN(output_tokens), true, true},
        {DL_ON_RUN(beams), false, false},
        {DL_ON_ARCH(token_params_m), true, true},
        {DL_ON_ARCH(expert_params_m), true, false},
        {DL_ON_ARCH(expert_share), true, false},
        {DL_ON_ARCH(pair_macs), true, false},
        {DL_ON_ARCH(attention_window), false, false},
        {DL_ON_ARCH(window_share), false, false},
        {DL_ON_ARCH(kv_cache_per_token), true, false},
        {DL_ON_ARCH(weight_bytes), false, false},
        {DL_ON_ARCH(depth), true, false},
        {DL_ON_ARCH(hidden_size), true, false},
        {DL_ON_RUN(precision), false, false},
        {DL_ON_RUN(n_gpus), false, false},
        {DL_ON_RUN(tensor_parallel), false, false},
        {DL_ON_RUN(replicas), false, false},
        {DL_ON_RUN(power_limit_w), false, false},
        {DL_ON_GPU(peak_fp32_tflops), false, false},
        {DL_ON_GPU(peak_tf32_tflops), false, false},
        {DL_ON_GPU(peak_bf16_tensor_tflops), false, false},
        {DL_ON_GPU(peak_fp16_tensor_tflops), false, false},
        {DL_ON_GPU(peak_fp8_tensor_tflops), false, false},
        {DL_ON_GPU(peak_fp4_tensor_tflops), false, false},
        {DL_ON_GPU(peak_int8_tensor_tops), false, false},
        {DL_ON_GPU(multiprocessors), false, false},
        {DL_ON_GPU(boost_mhz), false, false},
        {DL_ON_GPU(bandwidth_gb_s), true, true},
        {DL_ON_GPU(link_gb_s), false, false},
        {DL_ON_GPU(tdp_w), true, true},
        {DL_ON_RUN(gpu), false, false},
        {DL_ON_RUN(arch), false, false},
        {DL_ON_RUN(dataset), false, false},
        {DL_ON_RUN(host), false, false},
        {DL_ON_RUN(source), false, false},
        {DL_ON_RUN(weight_bytes), false, false},
        {DL_ON_RUN(kv_bytes), false, false},
        {DL_ON_OWN(engine_2024), false, false},
        {DL_ON_OWN(prompt_doubt), false, false},
};

/* Numbers in other columns, in the order of the quantities: 1 for a server of
 * 2024; standard deviation of the logarithm by which prompt_tokens may be off.
 */
enum { ENGINE_2024, PROMPT_SD };

/* Bytes of a weight in NVFP4: 16 of them share a scale of a byte. */
#define FP4_BYTES 0.5625

/* The share of the peak rate that products in NVFP4 reach, relative to 16 bits:
 * kernels of more than 300 us, on B200 .37 and .58, on GB200 .35 and .58 (means
 * of shapes, NVIDIA aiconfigurator, Apache-2.0). */
#define FP4_SHARE 0.62

/* In 8 bits or fewer. */
static bool is_8_bit(enum dl_precision precision) {
  return precision == DL_PRECISION_FP8 || precision == DL_PRECISION_INT8 ||
         precision == DL_PRECISION_FP4;
}

static double bytes_of(enum dl_precision precision) {
  if (dl_is_gguf(precision))
    return dl_gguf_bits(precision) / 8;
  if (dl_is_16_bit(precision))
    return 2;
  if (precision == DL_PRECISION_FP4)
    return FP4_BYTES;
  if (is_8_bit(precision))
    return 1;
  return precision == DL_PRECISION_FP64 ? 8 : 4;
}

static double kept_bytes(enum dl_precision precision) {
  bool in_fp8 = precision == DL_PRECISION_FP8 || precision == DL_PRECISION_FP4;
  return in_fp8 ? 1 : fmax(2, bytes_of(precision));
}

/* 0: none is known. */
static double peak_tflops(const struct dl_accelerator *gpu,
                          enum dl_precision precision, bool in_8_bits) {
  double in_16 = dl_or(gpu->peak_bf16_tensor_tflops,
                       dl_or(gpu->peak_fp16_tensor_tflops, 0));
  double in_8 =
      dl_or(gpu->peak_fp8_tensor_tflops, dl_or(gpu->peak_int8_tensor_tops, 0));
  double peak = fmax(dl_peak_32_bit(gpu, precision), 0);
  if (dl_is_16_bit(precision) || is_8_bit(precision))
    peak = fmax(peak, in_16 * dl_half_rate_share(gpu));
  return in_8_bits ? fmax(peak, in_8) : peak;
}

/* Divides the GPUs into groups that have a copy of the model each, and the
 * requests among these. All are one group where nothing is known of it. */
static void divide(const struct dl_run *run, struct dl_serving_inputs *in) {
  double all = dl_or(run->n_gpus, 1);
  in->n_gpus =
      fmin(dl_or(run->tensor_parallel, all / dl_or(run->replicas, 1)), all);
  in->replicas = all / in->n_gpus;
  in->batch = fmin(run->batch_size, dl_or(run->requests, run->batch_size));
  in->batch /= in->replicas;
}

/* An encoder-decoder encodes prompts with layers of its own. */
static void encode(const struct dl_architecture *arch,
                   struct dl_serving_inputs *in) {
  const struct dl_transformer *t = arch->transformer;
  if (!dl_has_encoder(arch))
    return;
  in->encode_macs = dl_transformer_encoding(t, in->prompt);
  in->encoder_weights =
      fmax(1e6 * arch->params_m - dl_transformer_step_params(t, 1), 0);
  in->encoder_layers = t->layers;
  in->layers = t->decoder_layers;
}

/* Prompts differ by the kind of requests where their length is uncertain. */
static void group(const struct dl_physics_row *row, struct dl_grouping *g) {
  double sd = dl_or(row->other[PROMPT_SD], 0);
  dl_row_names_of(row, g->name);
  g->level[DL_SERVE_FACTOR_GPU].name = DL_NAME_GPU;
  g->level[DL_SERVE_FACTOR_ARCH].name = DL_NAME_ARCH;
  g->level[DL_SERVE_FACTOR_PROMPTS].name =
      sd > 0 ? DL_NAME_DATASET : DL_NAME_NONE;
  g->level_sd = sd;
}

const char *dl_serving_inputs_read(const struct dl_physics_row *row,
                                   void *inputs) {
  struct dl_serving_inputs *in = inputs;
  const struct dl_run *run = row->run;
  const struct dl_architecture *arch = row->arch;
  const struct dl_accelerator *gpu = row->gpu;
  double bytes = bytes_of(run->precision);
  *in = (struct dl_serving_inputs){0};
  divide(run, in);
  in->prompt = run->prompt_tokens;
  in->answer = run->output_tokens;
  in->beams = dl_or(run->beams, 1);
  in->weights =
      1e6 * (arch->token_params_m - arch->expert_params_m * arch->expert_share);
  in->experts = 1e6 * arch->expert_params_m;
  in->share = arch->expert_share;
  in->token_weights = 1e6 * arch->token_params_m;
  in->pair_macs = arch->pair_macs;
  in->kept = arch->kv_cache_per_token;
  in->window = dl_or(arch->attention_window, 0);
  in->windowed = in->window > 0 ? dl_or(arch->window_share, 1) : 0;
  in->layers = arch->depth;
  in->width = arch->hidden_size;
  encode(arch, in);
  /* Checkpoints may have fewer bits than the products. */
  in->weight_bytes = dl_or(run->weight_bytes, fmin(arch->weight_bytes, bytes));
  /* Servers keep keys and values in FP8 where they compute in FP8 or FP4, in 16
   * bits where weights alone have fewer, and attend in the format of the keys.
   */
  in->kept_bytes = dl_or(run->kv_bytes, kept_bytes(run->precision));
  in->peak = 1e12 * peak_tflops(gpu, run->precision, is_8_bit(run->precision));
  in->peak_keys =
      1e12 * peak_tflops(gpu, run->precision,
                         is_8_bit(run->precision) && in->kept_bytes < 2);
  in->bandwidth = 1e9 * gpu->bandwidth_gb_s;
  /* A link that is not known is PCIe 3.0. */
  in->link = 1e9 * dl_or(gpu->link_gb_s, DL_PCIE_3_X16_GB_S);
  if (run->precision == DL_PRECISION_FP4)
    in->peak = fmax(in->peak,
                    FP4_SHARE * 1e12 * dl_or(gpu->peak_fp4_tensor_tflops, 0));
  in->tdp = gpu->tdp_w;
  in->limit = dl_or(run->power_limit_w, gpu->tdp_w);
  in->old = row->other[ENGINE_2024] > 0;
  group(row, &in->grouping);
  const struct dl_required required[] = {
      {"batch_size", run->batch_size},
      {"prompt_tokens", run->prompt_tokens},
      {"output_tokens", run->output_tokens},
      {"arch.token_params_m", arch->token_params_m},
      {"arch.expert_params_m", arch->expert_params_m},
      {"arch.expert_share", arch->expert_share},
      {"arch.pair_macs", arch->pair_macs},
      {"arch.kv_cache_per_token", arch->kv_cache_per_token},
      {"arch.depth", arch->depth},
      {"arch.hidden_size", arch->hidden_size},
      {"gpu.peak_fp32_tflops", in->peak > 0 ? in->peak : NAN},
      {"gpu.bandwidth_gb_s", gpu->bandwidth_gb_s},
      {"gpu.tdp_w", gpu->tdp_w}};
  return dl_first_unknown(required, sizeof required / sizeof *required);
}

/* Time and power where both are there, else the target alone: the energy. */
void dl_serving_measured(const struct dl_run *run, double *value) {
  bool both = run->request_s > 0 && run->request_power_w > 0;
  value[DL_SERVE_TARGET_TIME] = run->request_s > 0 ? log(run->request_s) : NAN;
  value[DL_SERVE_TARGET_POWER] =
      run->request_power_w > 0 ? log(run->request_power_w) : NAN;
  value[DL_SERVE_TARGET_ENERGY] =
      !both && run->request_energy_j > 0 ? log(run->request_energy_j) : NAN;
}

const char *dl_serving_inputs_check(const void *inputs) {
  const struct dl_serving_inputs *in = inputs;
  bool ok = in->batch > 0 && in->token_weights > 0 && in->weight_bytes > 0 &&
            in->n_gpus > 0 && in->peak > 0 && in->peak_keys > 0 &&
            in->bandwidth > 0 && in->kept_bytes > 0 && in->link > 0 &&
            in->tdp > 0 && in->limit > 0 && in->weights > 0 &&
            in->replicas > 0 && in->layers > 0;
  if (!ok)
    return "batch, GPUs, weights, layers, peak rate, bandwidth and TDP must be "
           "above 0";
  return in->prompt + in->answer > 0 ? NULL : "neither prompt nor answer";
}
