/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of LLM serving as the hierarchical fit takes it. */

#include <assert.h>
#include <math.h>

#include "math/regression/regression_methods.h"
#include "physics/rows/physics_regression.h"
#include "physics/serving/serving_inputs.h"

static const struct dl_physics_constant constants[] = {
    [DL_SERVE_EM] = {"em", NULL, 0.8, 0.1, "share of the bandwidth reached"},
    [DL_SERVE_EC] = {"ec", NULL, 0.7, 0.1, "share of the peak rate, decoding"},
    [DL_SERVE_EP] = {"ep", NULL, 0.7, 0.1, "share of the peak rate, prompts"},
    [DL_SERVE_TAU] = {"tau", "s", 60e-6, 0.5, "a layer"},
    [DL_SERVE_ALPHA] = {"alpha", "s", 12e-6, 0.6, "an exchange between GPUs"},
    [DL_SERVE_X] = {"x", NULL, 0.7, 0.1, "share of the links' rate"},
    [DL_SERVE_C0] = {"c0", "s", 2e-3, 0.8, "a step on the host"},
    [DL_SERVE_C1] = {"c1", "s", 20e-6, 0.8, "and for each request"},
    [DL_SERVE_C2] = {"c2", "s", 20e-6, 0.8, "likewise, on several GPUs"},
    [DL_SERVE_OLD] = {"old", NULL, 3, 0.6, "host of 2024, relative"},
    [DL_SERVE_UNEVEN] = {"uneven", NULL, 1.2, 0.3, "work of experts, relative"},
    [DL_SERVE_PA] = {"pa", NULL, 0.165, 0.1, "static power, share of TDP"},
    [DL_SERVE_PU] = {"pu", NULL, 0.25, 0.3, "power of being busy"},
    [DL_SERVE_PF] = {"pf", NULL, 0.6, 0.3, "power at the peak rate"},
    [DL_SERVE_PM] = {"pm", NULL, 0.35, 0.3, "power at the full bandwidth"},
    [DL_SERVE_PCAP] = {"pcap", NULL, 0.97, 0.04, "most power, share of TDP"},
    [DL_SERVE_KAPPA] = {"kappa", NULL, 0.7, 0.3, "slower under a power cap"},
};

static const struct dl_grouping_factor factors[] = {
    [DL_SERVE_FACTOR_GPU] = {"gpu", DL_SERVE_EFFECT_GPU_COMPUTE, 3, .many = 0},
    [DL_SERVE_FACTOR_ARCH] = {"arch", DL_SERVE_EFFECT_ARCH_TIME, 2, .many = 0},
    [DL_SERVE_FACTOR_PROMPTS] = {"prompts", DL_SERVE_EFFECT_PROMPT, 1,
                                 .own_data = true},
};

static const struct dl_random_effect effects[] = {
    [DL_SERVE_EFFECT_GPU_COMPUTE] = {"gpu_compute", 0.15},
    [DL_SERVE_EFFECT_GPU_MEMORY] = {"gpu_memory", 0.15},
    [DL_SERVE_EFFECT_GPU_POWER] = {"gpu_power", 0.1},
    [DL_SERVE_EFFECT_ARCH_TIME] = {"arch_time", 0.12},
    [DL_SERVE_EFFECT_ARCH_POWER] = {"arch_power", 0.05},
    [DL_SERVE_EFFECT_PROMPT] = {"prompt", 0},
};

/* Standard deviations of the residuals, in logarithms, against which priors are
 * weighed. */
static const double sigma[] = {[DL_SERVE_TARGET_TIME] = 0.15,
                               [DL_SERVE_TARGET_ENERGY] = 0.15,
                               [DL_SERVE_TARGET_POWER] = 0.08};

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  dl_serving_gradient(c, fx, inputs, log_target, NULL);
}

static const char *const targets[] = {
    [DL_SERVE_TARGET_TIME] = "request_s",
    [DL_SERVE_TARGET_ENERGY] = "request_energy_j",
    [DL_SERVE_TARGET_POWER] = "request_power_w"};

const struct dl_physics dl_serving_physics = {
    .name = "serving",
    .recipe = "server",
    .optional = true,
    .inference = true,
    .quantity = dl_serving_quantities,
    .n_quantities = DL_N_SERVING_QUANTITIES,
    .target = targets,
    .read = dl_serving_inputs_read,
    .measured = dl_serving_measured,
    .check = dl_serving_inputs_check,
    .constant = constants,
    .n_constants = DL_N_SERVING,
    .factor = factors,
    .n_factors = DL_N_SERVING_FACTORS,
    .effect = effects,
    .n_effects = DL_N_SERVING_EFFECTS,
    .sigma = sigma,
    .n_targets = DL_N_SERVING_TARGETS,
    .weighted = true,
    .input_size = sizeof(struct dl_serving_inputs),
    .predict = predict,
    .gradient = dl_serving_gradient,
};

const struct dl_regression dl_serving = {
    .name = "serving",
    .summary = "language models that serve requests, with priors",
    .physics = &dl_serving_physics,
    .fit = dl_physics_fit,
    .save = dl_physics_save,
    .restore = dl_physics_restore,
    .free = dl_physics_free,
};

static_assert(sizeof(struct dl_serving_inputs) <= DL_MOST_INPUT_BYTES,
              "inputs fit into struct dl_inputs");
