/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of tuned inference as the hierarchical fit takes it. */

#include <assert.h>
#include <math.h>

#include "math/regression/regression_methods.h"
#include "physics/rows/physics_regression.h"
#include "physics/tuned/tuned_inputs.h"

static const struct dl_physics_constant constants[] = {
    [DL_TUNED_EC] = {"ec", NULL, 0.6, 0.2, "share of the peak rate reached"},
    [DL_TUNED_EM] = {"em", NULL, 0.9, 0.2, "share of the bandwidth reached"},
    [DL_TUNED_GAMMA] = {"gamma", NULL, 0.3, 0.3, "exponent of the rate per W"},
    [DL_TUNED_TAU] = {"tau", "s", 3e-6, 0.1, "a kernel"},
    [DL_TUNED_PA] = {"pa", NULL, 0.15, 0.1, "static power, share of TDP"},
    [DL_TUNED_PE] = {"pe", "J", 1e-12, 0.3, "an operation of 8 bits"},
    [DL_TUNED_PM] = {"pm", "J", 30e-12, 0.3, "a byte of memory"},
    [DL_TUNED_PCAP] = {"pcap", NULL, 0.97, 0.02, "most power, share of limit"},
};

static const struct dl_grouping_factor factors[] = {
    [DL_TUNED_FACTOR_GPU] = {"gpu", DL_TUNED_EFFECT_GPU_COMPUTE, 3, .many = 0},
    [DL_TUNED_FACTOR_FAMILY] = {"family", DL_TUNED_EFFECT_FAMILY_COMPUTE, 1,
                                .many = 0},
    [DL_TUNED_FACTOR_ARCH] = {"arch", DL_TUNED_EFFECT_ARCH_TIME, 2, .many = 0},
};

static const struct dl_random_effect effects[] = {
    [DL_TUNED_EFFECT_GPU_COMPUTE] = {"gpu_compute", 0.1},
    [DL_TUNED_EFFECT_GPU_MEMORY] = {"gpu_memory", 0.1},
    [DL_TUNED_EFFECT_GPU_POWER] = {"gpu_power", 0.15},
    [DL_TUNED_EFFECT_FAMILY_COMPUTE] = {"family_compute", 0.1},
    [DL_TUNED_EFFECT_ARCH_TIME] = {"arch_time", 0.25},
    [DL_TUNED_EFFECT_ARCH_POWER] = {"arch_power", 0.15},
};

/* Standard deviations of the residuals, in logarithms, against which priors are
 * weighed. */
static const double sigma[] = {
    [DL_TUNED_TARGET_TIME] = 0.12, [DL_TUNED_TARGET_POWER] = 0.05};

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  dl_tuned_gradient(c, fx, inputs, log_target, NULL);
}

static const char *const targets[] = {[DL_TUNED_TARGET_TIME] = "request_s",
                                      [DL_TUNED_TARGET_POWER] =
                                          "request_power_w"};

const struct dl_physics dl_tuned_physics = {
    .name = "tuned",
    .recipe = "tuned inference",
    .optional = true,
    .inference = true,
    .quantity = dl_tuned_quantities,
    .n_quantities = DL_N_TUNED_QUANTITIES,
    .target = targets,
    .read = dl_tuned_inputs_read,
    .measured = dl_tuned_measured,
    .check = dl_tuned_inputs_check,
    .constant = constants,
    .n_constants = DL_N_TUNED,
    .factor = factors,
    .n_factors = DL_N_TUNED_FACTORS,
    .effect = effects,
    .n_effects = DL_N_TUNED_EFFECTS,
    .sigma = sigma,
    .n_targets = DL_N_TUNED_TARGETS,
    .input_size = sizeof(struct dl_tuned_inputs),
    .predict = predict,
    .gradient = dl_tuned_gradient,
};

const struct dl_regression dl_tuned = {
    .name = "tuned",
    .summary = "inference by tuned software, with priors",
    .physics = &dl_tuned_physics,
    .fit = dl_physics_fit,
    .save = dl_physics_save,
    .restore = dl_physics_restore,
    .free = dl_physics_free,
};

static_assert(sizeof(struct dl_tuned_inputs) <= DL_MOST_INPUT_BYTES,
              "inputs fit into struct dl_inputs");
