/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of training as the hierarchical fit takes it. */

#include <assert.h>
#include <math.h>

#include "math/regression/regression_methods.h"
#include "physics/rows/physics_regression.h"
#include "physics/training/training_inputs.h"
#include "physics/training/training_step.h"

static const struct dl_physics_constant constants[] = {
    [DL_TRAIN_EC] = {"ec", NULL, 0.9, 0.3, "share of the FP32 peak reached"},
    [DL_TRAIN_EC_TF32] = {"ec_tf32", NULL, 0.6, 0.3, "share of the TF32 peak"},
    [DL_TRAIN_EC_HALF] = {"ec_half", NULL, 0.4, 0.3,
                          "share of the 16-bit peak"},
    [DL_TRAIN_EM] = {"em", NULL, 0.65, 0.2, "share of the bandwidth reached"},
    [DL_TRAIN_TAU] = {"tau", "s", 8e-6, 0.6, "a kernel on the GPU"},
    [DL_TRAIN_LAMBDA] = {"lambda", "s", 12e-6, 0.6, "a launch on the host"},
    [DL_TRAIN_C0] = {"c0", "s", 1.5e-3, 0.8, "a step on the host"},
    [DL_TRAIN_BESIDE] = {"beside", NULL, 0.45, 0.2,
                         "a launch beside others, relative"},
    [DL_TRAIN_SERVER] = {"srv", NULL, 1.5, 0.3,
                         "launches of a server, relative"},
    [DL_TRAIN_T0] = {"t0", "s", 0.3, 1, "an epoch"},
    [DL_TRAIN_WOPT] = {"wopt", NULL, 8, 0.4, "passes over the weights a step"},
    [DL_TRAIN_CA] = {"ca", NULL, 7, 0.15, "traffic by outputs of dense layers"},
    [DL_TRAIN_PA] = {"pa", NULL, 0.15, 0.25, "static power, share of TDP"},
    [DL_TRAIN_PB] = {"pb", "W s/GB", 0.055, 0.3, "power of GDDR6 by bandwidth"},
    [DL_TRAIN_PU] = {"pu", NULL, 0.25, 0.2, "power of being busy"},
    [DL_TRAIN_PF] = {"pf", NULL, 1, 0.25, "power at the peak rate"},
    [DL_TRAIN_PM] = {"pm", NULL, 0.35, 0.25, "power at the full bandwidth"},
    [DL_TRAIN_PCAP] = {"pcap", NULL, 0.97, 0.04, "most power, share of TDP"},
    [DL_TRAIN_PTC] = {"ptc", NULL, 0.75, 0.2, "without tensor cores, relative"},
    [DL_TRAIN_EAGER_DEPTHWISE] = {"eager_depthwise", NULL, 0.06, 0.4,
                                  "of FP32, depthwise layers"},
    [DL_TRAIN_MTC] = {"mtc", NULL, 1, 0.3,
                      "bandwidth without tensor cores, rel."},
    [DL_TRAIN_KAPPA] = {"kappa", NULL, 0.5, 0.5, "slower under a power cap"},
    [DL_TRAIN_NGC_EC] = {"ngc_ec", NULL, 0.9, 0.3, "containers: of FP32"},
    [DL_TRAIN_NGC_TF32] = {"ngc_tf32", NULL, 0.55, 0.3, "of TF32"},
    [DL_TRAIN_NGC_HALF] = {"ngc_half", NULL, 0.45, 0.3, "of 16 bits"},
    [DL_TRAIN_NGC_EM] = {"ngc_em", NULL, 0.7, 0.2, "of the bandwidth"},
    [DL_TRAIN_NGC_TAU] = {"ngc_tau", "s", 6e-6, 0.3, "a kernel on the GPU"},
    [DL_TRAIN_NGC_LAMBDA] = {"ngc_lambda", "s", 6e-6, 0.8, "its launch"},
    [DL_TRAIN_NGC_C0] = {"ngc_c0", "s", 1.5e-3, 0.8, "a step on the host"},
    [DL_TRAIN_NGC_BETWEEN_32] = {"ngc_between_32", NULL, 1, 0.2,
                                 "traffic between layers, 32 bits"},
    [DL_TRAIN_NGC_BETWEEN_16] = {"ngc_between_16", NULL, 0.7, 0.2,
                                 "the same, 16 bits"},
    [DL_TRAIN_NGC_REGIONS] = {"ngc_regions", "s", 0.02, 1,
                              "two-stage detectors, a sample"},
    [DL_TRAIN_MLPERF_BETWEEN] = {"mlperf_between", NULL, 0.4, 0.3,
                                 "MLPerf: between layers"},
    [DL_TRAIN_MLPERF_REGIONS] = {"mlperf_regions", "s", 0.002, 0.7,
                                 "two-stage detectors"},
    [DL_TRAIN_MLPERF_HALF] = {"mlperf_half", NULL, 1, 0.3,
                              "by containers: of 16 bits"},
    [DL_TRAIN_MLPERF_EM] = {"mlperf_em", NULL, 1, 0.3, "of the bandwidth"},
    [DL_TRAIN_MLPERF_TAU] = {"mlperf_tau", NULL, 0.7, 0.5,
                             "a kernel on the GPU"},
    [DL_TRAIN_MLPERF_LAMBDA] = {"mlperf_lambda", NULL, 0.4, 0.5, "its launch"},
    [DL_TRAIN_MLPERF_C0] = {"mlperf_c0", NULL, 0.7, 0.5, "a step on the host"},
    [DL_TRAIN_TUNED_WOPT] = {"tuned_wopt", NULL, 8, 0.4,
                             "passes over the weights a step"},
    [DL_TRAIN_DEPTHWISE] = {"depthwise", NULL, 0.06, 0.4,
                            "of FP32, depthwise layers"},
    [DL_TRAIN_XL] = {"xl", NULL, 0.6, 0.4, "share of the link reached"},
    [DL_TRAIN_XN] = {"xn", NULL, 0.8, 0.6, "share of the network reached"},
    [DL_TRAIN_XS] = {"xs", NULL, 0.02, 0.7, "waiting, by doubling of GPUs"},
    [DL_TRAIN_XK] = {"xk", NULL, 0.05, 1,
                     "waiting for late kernels, of theirs"},
};

/* The board and the software of another machine may differ by this share of
 * what GPUs do. */
#define ANOTHER_BOARD 0.85

/* In a table of so many networks, one that occurs in a single configuration
 * has no effects of its own: one configuration does not determine them. */
#define MANY_NETWORKS 64

static const struct dl_grouping_factor factors[] = {
    [DL_FACTOR_HOST] = {"host", DL_EFFECT_HOST_LAUNCH, 2, .unit_share = 0},
    [DL_FACTOR_GPU] = {"gpu", DL_EFFECT_GPU_COMPUTE, 3, .unit = DL_FACTOR_HOST,
                       .unit_share = ANOTHER_BOARD},
    [DL_FACTOR_ARCH] = {"arch", DL_EFFECT_ARCH_TIME, 3, .many = MANY_NETWORKS},
    [DL_FACTOR_FRAMEWORK] = {"framework", DL_EFFECT_FRAMEWORK_LAUNCH, 2,
                             .unit_share = 0},
    [DL_FACTOR_FACTS] = {"facts", DL_EFFECT_FACTS_FLOPS, 3, .own_data = true},
    [DL_FACTOR_FAMILY] = {"family", DL_EFFECT_FAMILY_COMPUTE, 2,
                          .own_data = true},
};

static const struct dl_random_effect effects[] = {
    [DL_EFFECT_HOST_LAUNCH] = {"host_launch", 0.6, 0.4},
    [DL_EFFECT_HOST_EPOCH] = {"host_epoch", 0.5, 0.25},
    [DL_EFFECT_GPU_COMPUTE] = {"gpu_compute", 0.2, 0.2, 0.1},
    [DL_EFFECT_GPU_MEMORY] = {"gpu_memory", 0.3, 0.15, 0.03},
    [DL_EFFECT_GPU_POWER] = {"gpu_power", 0.1, 0.05, 0.05},
    [DL_EFFECT_ARCH_TIME] = {"arch_time", 0.15, 0.2},
    [DL_EFFECT_ARCH_KERNELS] = {"arch_kernels", 0.3, 0.3},
    [DL_EFFECT_ARCH_POWER] = {"arch_power", 0.05, 0.025},
    [DL_EFFECT_FRAMEWORK_LAUNCH] = {"framework_launch", 0.2, 0.1},
    [DL_EFFECT_FRAMEWORK_TIME] = {"framework_time", 0.2, 0.1},
    [DL_EFFECT_FACTS_FLOPS] = {"facts_flops", 0},
    [DL_EFFECT_FACTS_BYTES] = {"facts_bytes", 0},
    [DL_EFFECT_FACTS_KERNELS] = {"facts_kernels", 0},
    [DL_EFFECT_FAMILY_COMPUTE] = {"family_compute", 0.1},
    [DL_EFFECT_FAMILY_MEMORY] = {"family_memory", 0.1},
};

/* Standard deviations of the residuals, in logarithms, against which priors are
 * weighed. */
static const double sigma[] = {[DL_TARGET_POWER] = 0.06,
                               [DL_TARGET_ENERGY] = 0.08,
                               [DL_TARGET_TIME] = 0.08};

/* The standard deviations that make the residuals of the GPUs held out of a fit
 * most likely (docs/lab/estimation.md): found without any one GPU they differ
 * by less than a third. The energy of an epoch has the residuals of both. */
#define OF_TIME (1u << DL_TARGET_ENERGY | 1u << DL_TARGET_TIME)
#define OF_POWER (1u << DL_TARGET_POWER | 1u << DL_TARGET_ENERGY)

static const struct dl_residual_component components[] = {
    {0.1, 0.08, 0.03, 0, OF_TIME, {0}}, {0.05, 0.06, 0.03, 0, OF_POWER, {0}}};

static const struct dl_residual_process process = {
    .component = components,
    .n_components = DL_LENGTH(components),
    .repeat_sd = 0.02,
    .floor_sd = 0.005,
};

/* Time beyond the expected that a GPU takes for depthwise layers, whose kernels
 * frameworks wrote themselves, and for starting and ending kernels: multiples
 * of the expected time. Tuned software has neither. */
#define DEPTHWISE_SD 4
#define KERNELS_SD 1.5

/* Components that make the residuals of GPUs after one run on them most likely,
 * with the spreads of kernels and of effects above (docs/lab/designs.md). */
static const struct dl_residual_component calibrated[] = {
    {0.1, 0.13, 0.02, 0.1, OF_TIME, {DEPTHWISE_SD, KERNELS_SD}},
    {0.02, 0.05, 0.06, 0, OF_POWER, {0}}};

/* In tuned software networks on one GPU have less in common, and configurations
 * more of their own. */
static const struct dl_residual_component calibrated_tuned[] = {
    {0.03, 0.035, 0.07, 0.08, OF_TIME, {0}},
    {0.02, 0.05, 0.06, 0, OF_POWER, {0}}};

static const struct dl_residual_process calibration = {
    .component = calibrated,
    .tuned = calibrated_tuned,
    .n_components = DL_LENGTH(calibrated),
    .repeat_sd = 0.02,
    .floor_sd = 0.005,
    .bound_length = 0.6,
    .near_length = 1.5,
};

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  const struct dl_training_inputs *in = inputs;
  struct dl_cost cost;
  dl_training_epoch(c, fx, in, &cost);
  dl_training_targets(&cost, in, log_target);
}

static const char *const targets[] = {[DL_TARGET_POWER] = "gpu_power_w",
                                      [DL_TARGET_ENERGY] = "epoch_energy_j",
                                      [DL_TARGET_TIME] = "epoch_s"};

static const struct dl_energy_targets energy = {
    DL_TARGET_ENERGY, DL_TARGET_POWER, DL_TARGET_TIME};

const struct dl_physics dl_training_physics = {
    .name = "physical",
    .recipe = "physics",
    .quantity = dl_training_quantities,
    .n_quantities = DL_N_TRAINING_QUANTITIES,
    .target = targets,
    .read = dl_training_inputs_read,
    .measured = dl_training_measured,
    .scored = dl_training_scored,
    .software = dl_training_software,
    .time = DL_TARGET_TIME,
    .times_beside = DL_TARGET_ENERGY,
    .check = dl_training_inputs_check,
    .constant = constants,
    .n_constants = DL_N_TRAINING_CONSTANTS,
    .factor = factors,
    .n_factors = DL_N_TRAINING_FACTORS,
    .effect = effects,
    .n_effects = DL_N_TRAINING_EFFECTS,
    .sigma = sigma,
    .n_targets = DL_N_PHYSICAL_TARGETS,
    .energy = &energy,
    .process = &process,
    .widths_by_run = true,
    .calibration = &calibration,
    .settled = 1u << DL_TARGET_POWER,
    .input_size = sizeof(struct dl_training_inputs),
    .predict = predict,
    .gradient = dl_training_gradient,
    .bound = dl_training_bound,
    .own_rates = dl_training_own_rates,
    .squares = dl_training_squares,
};

const struct dl_regression dl_physical = {
    .name = "physical",
    .summary = "arithmetic, memory traffic and launches, with priors",
    .physics = &dl_training_physics,
    .fit = dl_physics_fit,
    .save = dl_physics_save,
    .restore = dl_physics_restore,
    .free = dl_physics_free,
};

static_assert(sizeof(struct dl_training_inputs) <= DL_MOST_INPUT_BYTES,
              "inputs fit into struct dl_inputs");
