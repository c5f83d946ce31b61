/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fitting/recipe.h"

#include "base/constants.h"

/* A constant as text, for a formula. */
#define QUOTE(x) #x
#define TEXT_OF(constant) QUOTE(constant)

/* Host time of an epoch, s: launches of every step, and what comes once. */
#define HOST                                                                   \
  "(0.3 + ((0.025 - 0.016*coalesce(frozen_base, 0))*train_samples"             \
  " + 0.009*coalesce(val_samples, 0))/batch_size)"

/* Passes over a sample, in forward passes: 3 to train, 1 with a frozen base
 * or to validate. */
#define PASSES                                                                 \
  "((3 - 2*coalesce(frozen_base, 0))*train_samples + coalesce(val_samples, "   \
  "0))"

/* GPU time of an epoch, s: arithmetic, and the traffic of activations, which
 * about follow sqrt(MACs) x side where they are not known. */
#define COMPUTE "macs_g/(350*peak_tflops)"
#define GPU_TIME                                                               \
  PASSES "*(" COMPUTE " + sqrt(macs_g)*image_px/(1400*gpu.bandwidth_gb_s))"
#define GPU_TIME_ACTS PASSES "*(" COMPUTE " + acts_m/(40*gpu.bandwidth_gb_s))"

/* Input pipeline of an epoch, s. */
#define INPUT "(train_samples + coalesce(val_samples, 0))*image_px^2/163840000"

#define ENERGY(gpu_time)                                                       \
  "gpu.tdp_w*(0.5*(" HOST " + " INPUT ") + 0.95*" gpu_time ")"

#define POWER_SHARE "(" GPU_TIME ")/sqrt((" GPU_TIME ")^2 + " HOST "^2)"

/* The columns of physics/training/physical.h, in their order. Automatic mixed
 * precision and 16-bit formats run in tensor cores and move half the bytes;
 * frameworks use TF32 where there is any, unless FP32 is asked for. Boards
 * whose TF32 rate is no more than their FP32 rate gain nothing from it: half of
 * their FP32 lanes are shared, and they reach as little of either. Runs of
 * del Rey et al. on ChessLive train 10 of about 80 epochs with a frozen base.
 */
#define HALF                                                                   \
  "max(coalesce(precision == 'amp', 0), max(coalesce(precision == 'fp16', "    \
  "0), coalesce(precision == 'bf16', 0)))"
#define FP32 "coalesce(precision == 'fp32', 0)"
#define TF32                                                                   \
  "max(gpu.peak_fp32_tflops, (1 - " FP32 ")*coalesce(gpu.peak_tf32_tflops, "   \
  "0))"
#define PEAK "max(" TF32 ", " HALF "*coalesce(gpu.peak_fp16_tensor_tflops, 0))"
#define TENSOR                                                                 \
  "max(2*" HALF "*(coalesce(gpu.peak_fp16_tensor_tflops, 0) > 0), (1 - " FP32  \
  "*(coalesce(gpu.peak_tf32_tflops, 0) > gpu.peak_fp32_tflops))*"              \
  "(coalesce(gpu.peak_tf32_tflops, 0) > 0))"
/* How the activations of a network differ from those of its descriptor where
 * the run says its own work: a width changes the former by the square root. */
#define WIDTH                                                                  \
  "(macs_g/coalesce(arch.macs_g, macs_g))"                                     \
  "^(0.5*(acts_m == coalesce(arch.acts_m, 0)))"
#define PHYSICAL(target)                                                       \
  target ", batch_size, coalesce(image_px, 0), train_samples, "                \
         "coalesce(val_samples, 0), max(coalesce(frozen_base, 0), "            \
         "0.125*coalesce(dataset == 'chesslive', 0)), macs_g, "                \
         "coalesce(acts_m*arch.traffic_ratio*" WIDTH ", 0), "                  \
         "coalesce(acts_m*" WIDTH ", 0), "                                     \
         "coalesce(launches, 0), coalesce(arch.layers, 0), "                   \
         "coalesce(params_m, 0), "                                             \
         "coalesce(frozen_base, 0)*coalesce(arch.head_params_m, 0), "          \
         "4 - 2*" HALF ", " PEAK ", " TENSOR ", "                              \
         "coalesce(gpu.peak_fp16_tensor_tflops, 0) > 0, gpu.bandwidth_gb_s, "  \
         "gpu.tdp_w, coalesce(power_limit_w, gpu.tdp_w), "                     \
         "max(max(coalesce(gpu.memory_type == 'gddr6', 0), "                   \
         "coalesce(gpu.memory_type == 'gddr6x', 0)), "                         \
         "coalesce(gpu.memory_type == 'gddr7', 0)), "                          \
         "coalesce(host_class == 'server', 0), " TEXT_OF(                      \
             DL_PHYSICAL_MEMORY_W) "*coalesce(boundary == 'gpu+ram', 1), "     \
                                   "key(gpu.id) + (key(gpu.id) == "            \
                                   "0)*key(gpu), key(host), "                  \
                                   "key(arch.id) + (key(arch.id) == "          \
                                   "0)*key(arch), key(source), "               \
                                   "key(dataset), key(framework), "            \
                                   "coalesce(facts_doubt, 0), "                \
                                   "coalesce(gpu_power_w, 0), "                \
                                   "coalesce(epoch_energy_j, 0), "             \
                                   "coalesce(epoch_s, 0), coalesce(doubt, 0)"

/* The columns of physics/serving/serving.h, in their order. Servers keep keys
 * and values in 16 bits where weights have fewer; a link that is not known is
 * PCIe 3.0. */
#define EIGHT                                                                  \
  "max(coalesce(precision == 'fp8', 0), coalesce(precision == 'int8', 0))"
#define BYTES                                                                  \
  "(4 - 2*" HALF " - 3*" EIGHT " + 4*coalesce(precision == 'fp64', 0))"
#define PEAK_16                                                                \
  "coalesce(gpu.peak_bf16_tensor_tflops, coalesce(gpu.peak_fp16_tensor_tflops" \
  ", 0))"
#define PEAK_8                                                                 \
  "coalesce(gpu.peak_fp8_tensor_tflops, coalesce(gpu.peak_int8_tensor_tops, "  \
  "0))"
#define PEAK_SERVING                                                           \
  "max(" TF32 ", max(max(" HALF ", " EIGHT ")*" PEAK_16 ", " EIGHT "*" PEAK_8  \
  "))"
#define SERVING(target)                                                        \
  target ", min(batch_size, coalesce(requests, batch_size)), prompt_tokens, "  \
         "output_tokens, "                                                     \
         "arch.token_params_m - arch.expert_params_m*arch.expert_share, "      \
         "arch.expert_params_m, arch.expert_share, arch.token_params_m, "      \
         "arch.pair_macs, arch.kv_cache_per_token, arch.depth, "               \
         "arch.hidden_size, "                                                  \
         "coalesce(weight_bytes, " BYTES "), max(2, " BYTES "), "              \
         "coalesce(n_gpus, 1), " PEAK_SERVING ", gpu.bandwidth_gb_s, "         \
         "coalesce(gpu.link_gb_s, " TEXT_OF(                                   \
             DL_PCIE_3_X16_GB_S) "), gpu.tdp_w, "                              \
                                 "coalesce(engine_2024, 0), "                  \
                                 "key(gpu.id) + (key(gpu.id) == 0)*key(gpu), " \
                                 "key(arch.id) + (key(arch.id) == "            \
                                 "0)*key(arch), key(dataset), "                \
                                 "coalesce(prompt_doubt, 0), "                 \
                                 "coalesce(request_s, 0), "                    \
                                 "coalesce(request_power_w, 0)"

static const struct dl_recipe recipes[] = {
    {"gpu_power_w", "busy-share", "log(macs_g)",
     "gpu.tdp_w*(0.4 + 0.55*" POWER_SHARE ")", 0,
     "TDP times the share of time the GPU is busy", NULL},
    {"gpu_power_w", "busy-share-capped", "log(image_px)",
     "gpu.tdp_w*min(0.95, 0.4 + 0.7*" POWER_SHARE ")", 0,
     "the same, at most 95 % of TDP", NULL},
    {"gpu_power_w", "plain",
     "log(batch_size), log(macs_g), log(image_px), log(gpu.tdp_w), "
     "log(gpu.peak_fp32_tflops)",
     NULL, 5, "powers of the descriptors", NULL},
    {"epoch_energy_j", "physical-acts", "log(batch_size), log(image_px)",
     ENERGY(GPU_TIME_ACTS), 0, "host, input, arithmetic and activations", NULL},
    {"epoch_energy_j", "physical", "log(macs_g)", ENERGY(GPU_TIME), 0,
     "host, input, arithmetic and estimated activations", NULL},
    {"epoch_energy_j", "physical-batch", "log(batch_size), log(macs_g)",
     ENERGY(GPU_TIME), 0, "the same, with a correction for the batch", NULL},
    {"epoch_energy_j", "plain",
     "log(batch_size), log(macs_g), log(image_px), log(gpu.tdp_w), "
     "log(gpu.peak_fp32_tflops), log(train_samples)",
     NULL, 5, "powers of the descriptors", NULL},
    {"gpu_power_w", "physics", PHYSICAL("1"), NULL, 0,
     "time and power of a step from what it does", "physical"},
    {"epoch_energy_j", "physics", PHYSICAL("2"), NULL, 0,
     "time and power of a step from what it does", "physical"},
    {"epoch_s", "physics", PHYSICAL("3"), NULL, 0,
     "time and power of a step from what it does", "physical"},
    {DL_BACKGROUND_TARGET, "physics",
     PHYSICAL("3 - 2*(coalesce(gpu_power_w, 0) > 0)"), NULL, 0,
     "power where there is one, else time", "physical"},
    {"request_s", "server", SERVING("1"), NULL, 0,
     "time and power of a step that writes tokens", "serving"},
    {"request_energy_j", "server", SERVING("2"), NULL, 0,
     "time and power of a step that writes tokens", "serving"},
    {"request_power_w", "server", SERVING("3"), NULL, 0,
     "time and power of a step that writes tokens", "serving"},
    {"epoch_s", "physical", "log(batch_size), log(macs_g)",
     HOST " + " INPUT " + " GPU_TIME, 0, "host, input and GPU time", NULL},
};

size_t dl_recipe_count(void) {
  return sizeof recipes / sizeof *recipes;
}

const struct dl_recipe *dl_recipe_at(size_t i) {
  return &recipes[i];
}
