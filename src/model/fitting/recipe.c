/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fitting/recipe.h"

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
    {"gpu_power_w", "physics", "", NULL, 0,
     "time and power of a step from what it does", "physical"},
    {"epoch_energy_j", "physics", "", NULL, 0,
     "time and power of a step from what it does", "physical"},
    {"epoch_s", "physics", "", NULL, 0,
     "time and power of a step from what it does", "physical"},
    {"request_s", "server", "", NULL, 0,
     "time and power of a step that writes tokens", "serving"},
    {"request_energy_j", "server", "", NULL, 0,
     "time and power of a step that writes tokens", "serving"},
    {"request_power_w", "server", "", NULL, 0,
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
