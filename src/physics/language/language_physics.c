/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of training language models as the hierarchical fit takes it. */

#include <assert.h>
#include <math.h>

#include "math/regression/regression_methods.h"
#include "physics/language/language_inputs.h"
#include "physics/language/language_parts.h"
#include "physics/rows/physics_regression.h"

static const struct dl_physics_constant constants[] = {
    [DL_LANG_EC] = {"ec", NULL, 0.7, 0.1, "share of the 16-bit peak reached"},
    [DL_LANG_EC_TF32] = {"ec_tf32", NULL, 0.65, 0.15, "share of the TF32 peak"},
    [DL_LANG_EC_FP32] = {"ec_fp32", NULL, 1, 0.15, "share of the FP32 peak"},
    [DL_LANG_EC_FP8] = {"ec_fp8", NULL, 0.75, 0.2, "share of the FP8 peak"},
    [DL_LANG_TH] = {"th", NULL, 0.14, 0.5, "exponent of the rate per W"},
    [DL_LANG_H0] = {"h0", NULL, 120, 0.4, "width of products at half the rate"},
    [DL_LANG_EA] = {"ea", NULL, 0.3, 0.2, "share of the peak, attention"},
    [DL_LANG_PHI] = {"phi", NULL, 0.5, 0.5, "exponent of the peak, attention"},
    [DL_LANG_EM] = {"em", NULL, 0.8, 0.15, "share of the bandwidth reached"},
    [DL_LANG_CT] = {"ct", NULL, 3, 0.3, "traffic of activations, relative"},
    [DL_LANG_FUSED] = {"fused", NULL, 0.6, 0.3, "with fused kernels, relative"},
    [DL_LANG_EAGER] = {"eager", NULL, 1.7, 0.4, "traffic of scores, relative"},
    [DL_LANG_WOPT] = {"wopt", NULL, 1, 0.3, "traffic of the optimizer, rel."},
    [DL_LANG_TAU] = {"tau", "s", 30e-6, 0.6, "a launch on the host"},
    [DL_LANG_C0] = {"c0", "s", 3e-3, 0.8, "a micro-batch on the host"},
    [DL_LANG_GRAPH] = {"graph", NULL, 0.4, 0.4, "launches by graphs, relative"},
    [DL_LANG_XL] = {"xl", NULL, 0.7, 0.2, "share of NVLink's rate"},
    [DL_LANG_XP] = {"xp", NULL, 0.4, 0.4, "share of PCIe's rate"},
    [DL_LANG_XN] = {"xn", NULL, 0.7, 0.3, "share of the network's rate"},
    [DL_LANG_XTP] = {"xtp", NULL, 0.6, 0.4, "the same, tensor parallelism"},
    [DL_LANG_ALPHA] = {"alpha", "s", 15e-6, 0.7, "a step of a collective"},
    [DL_LANG_STRAG] = {"strag", NULL, 0.02, 0.8, "slower as nodes double"},
    [DL_LANG_UNKNOWN] = {"unknown", NULL, 1.23, 0.1,
                         "software not known, relative"},
    [DL_LANG_PA] = {"pa", NULL, 0.103, 0.19, "static power, share of TDP"},
    [DL_LANG_PB] = {"pb", "W s/GB", 0.041, 0.2, "static power of memory"},
    [DL_LANG_PU] = {"pu", NULL, 0.30, 0.15, "power of being busy"},
    [DL_LANG_PF] = {"pf", NULL, 0.75, 0.2, "power of computing"},
    [DL_LANG_PM] = {"pm", NULL, 0.42, 0.21, "power of moving data"},
    [DL_LANG_PCAP] = {"pcap", NULL, 0.959, 0.014, "most power, share of TDP"},
    [DL_LANG_KAPPA] = {"kappa", NULL, 0.47, 0.27, "slower under a power cap"},
};

static const struct dl_grouping_factor factors[] = {
    [DL_LANG_FACTOR_GPU] = {"gpu", DL_LANG_EFFECT_GPU_TIME, 2, .many = 0},
    [DL_LANG_FACTOR_ARCH] = {"arch", DL_LANG_EFFECT_ARCH_TIME, 1, .many = 0},
    [DL_LANG_FACTOR_STACK] = {"stack", DL_LANG_EFFECT_STACK_TIME, 1, .many = 0},
    [DL_LANG_FACTOR_FRAMEWORK] = {"framework", DL_LANG_EFFECT_FRAMEWORK_TIME, 1,
                                  .many = 0},
    [DL_LANG_FACTOR_PAIR] = {"pair", DL_LANG_EFFECT_PAIR_TIME, 1,
                             .own_data = true},
    [DL_LANG_FACTOR_SOURCE] = {"source", DL_LANG_EFFECT_SOURCE_POWER, 1,
                               .many = 0},
};

static const struct dl_random_effect effects[] = {
    [DL_LANG_EFFECT_GPU_TIME] = {"gpu_time", 0.1, 0.07},
    [DL_LANG_EFFECT_GPU_POWER] = {"gpu_power", 0.1, 0.1},
    [DL_LANG_EFFECT_ARCH_TIME] = {"arch_time", 0.08, 0.08},
    [DL_LANG_EFFECT_STACK_TIME] = {"stack_time", 0.15, 0.15},
    [DL_LANG_EFFECT_FRAMEWORK_TIME] = {"framework_time", 0.2, 0.2},
    [DL_LANG_EFFECT_PAIR_TIME] = {"pair_time", 0.2},
    [DL_LANG_EFFECT_SOURCE_POWER] = {"source_power", 0.08, 0.08},
};

/* Standard deviations of the residuals, in logarithms, against which priors are
 * weighed. */
static const double sigma[] = {
    [DL_LANG_TARGET_RATE] = 0.08, [DL_LANG_TARGET_POWER] = 0.06};

/* The residual of a network on a GPU is nearly equal at another batch or number
 * of GPUs. */
static const struct dl_residual_component components[] = {
    {.near = 0.15, .targets = 1u << DL_LANG_TARGET_RATE}};

static const struct dl_residual_process process = {
    .component = components,
    .n_components = sizeof components / sizeof *components,
    .repeat_sd = 0.05,
    .floor_sd = 0.03,
    .neighbour_share = 0.5,
};

/* Components that make the residuals of GPUs after one run on them most likely:
 * a run says more of itself than of its network, and more of its network than
 * of its GPU (docs/lab/designs.md). */
static const struct dl_residual_component calibrated[] = {
    {.near = 0.1, .own = 0.2, .targets = 1u << DL_LANG_TARGET_RATE},
    {.near = 0.05, .own = 0.05, .targets = 1u << DL_LANG_TARGET_POWER}};

static const struct dl_residual_process calibration = {
    .component = calibrated,
    .n_components = sizeof calibrated / sizeof *calibrated,
    .repeat_sd = 0.02,
    .floor_sd = 0.005,
    .bound_length = 1,
    .near_length = 1,
};

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  dl_language_gradient(c, fx, inputs, log_target, NULL);
}

static const char *const targets[] = {[DL_LANG_TARGET_RATE] = "tokens_per_s",
                                      [DL_LANG_TARGET_POWER] = "gpu_power_w"};

const struct dl_physics dl_language_physics = {
    .name = "language",
    .recipe = "language",
    .optional = true,
    .quantity = dl_language_quantities,
    .n_quantities = DL_N_LANGUAGE_QUANTITIES,
    .target = targets,
    .read = dl_language_inputs_read,
    .measured = dl_language_measured,
    .check = dl_language_inputs_check,
    .constant = constants,
    .n_constants = DL_N_LANGUAGE,
    .factor = factors,
    .n_factors = DL_N_LANGUAGE_FACTORS,
    .effect = effects,
    .n_effects = DL_N_LANGUAGE_EFFECTS,
    .sigma = sigma,
    .n_targets = DL_N_LANGUAGE_TARGETS,
    .process = &process,
    .widths_by_run = true,
    .calibration = &calibration,
    .input_size = sizeof(struct dl_language_inputs),
    .predict = predict,
    .gradient = dl_language_gradient,
    .bound = dl_language_bound,
};

const struct dl_regression dl_language = {
    .name = "language",
    .summary = "training of language models, with priors",
    .physics = &dl_language_physics,
    .fit = dl_physics_fit,
    .save = dl_physics_save,
    .restore = dl_physics_restore,
    .free = dl_physics_free,
};

static_assert(sizeof(struct dl_language_inputs) <= DL_MOST_INPUT_BYTES,
              "inputs fit into struct dl_inputs");
