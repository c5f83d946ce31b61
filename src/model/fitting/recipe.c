/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feature sets, and the physics. */

#include "model/fitting/recipe.h"

#include "physics/physics.h"

/* Host time of an epoch, s: launches of every step, and what comes once. */
#define HOST                                                                   \
  "(0.3 + ((0.025 - 0.016*coalesce(frozen_base, 0))*train_samples"             \
  " + 0.009*coalesce(val_samples, 0))/batch_size)"

/* Passes over a sample, in forward passes: 3 to train, 1 with a frozen backbone
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
     "TDP times the share of time the GPU is busy, at most 95 % of TDP", NULL},
    {"gpu_power_w", "plain",
     "log(batch_size), log(macs_g), log(image_px), log(gpu.tdp_w), "
     "log(gpu.peak_fp32_tflops)",
     NULL, 5, "powers of the descriptors", NULL},
    {"epoch_energy_j", "physical-acts", "log(batch_size), log(image_px)",
     ENERGY(GPU_TIME_ACTS), 0, "host, input, arithmetic and activations", NULL},
    {"epoch_energy_j", "physical", "log(macs_g)", ENERGY(GPU_TIME), 0,
     "host, input, arithmetic and estimated activations", NULL},
    {"epoch_energy_j", "physical-batch", "log(batch_size), log(macs_g)",
     ENERGY(GPU_TIME), 0,
     "host, input, arithmetic and estimated activations, by batch size", NULL},
    {"epoch_energy_j", "plain",
     "log(batch_size), log(macs_g), log(image_px), log(gpu.tdp_w), "
     "log(gpu.peak_fp32_tflops), log(train_samples)",
     NULL, 5, "powers of the descriptors", NULL},
    {"epoch_s", "physical", "log(batch_size), log(macs_g)",
     HOST " + " INPUT " + " GPU_TIME, 0, "host, input and GPU time", NULL},
};

enum { N_RECIPES = sizeof recipes / sizeof *recipes };

/* Behind the table comes a recipe for each target of each physics. */
bool dl_recipe_at(size_t i, struct dl_recipe *recipe) {
  if (i < N_RECIPES) {
    *recipe = recipes[i];
    return true;
  }
  i -= N_RECIPES;
  for (size_t k = 0; k < DL_N_REGRESSIONS; k++) {
    const struct dl_regression *method = dl_regressions[k];
    if (!method->physics)
      continue;
    if (i < method->physics->n_targets) {
      *recipe = (struct dl_recipe){.target = method->physics->target[i],
                                   .name = method->physics->recipe,
                                   .features = "",
                                   .summary = method->summary,
                                   .method = method};
      return true;
    }
    i -= method->physics->n_targets;
  }
  return false;
}
