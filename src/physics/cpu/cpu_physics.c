/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of CPUs as the hierarchical fit takes it. */

#include <assert.h>
#include <math.h>

#include "math/regression/regression_methods.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/rows/physics_regression.h"

#define OF(first, software) [first + DL_CPU_##software - 1]

static const struct dl_physics_constant constants[] = {
    [DL_CPU_FP32] = {"fp32", NULL, 0.8, 0.15, "share of the FP32 peak"},
    [DL_CPU_AVX2] = {"avx2", NULL, 0.6, 0.2, "of INT8 by 16-bit products"},
    [DL_CPU_VNNI] = {"vnni", NULL, 0.65, 0.2, "of INT8 dot products"},
    [DL_CPU_BF16] = {"bf16", NULL, 0.55, 0.2, "of BF16 dot products"},
    [DL_CPU_AMX] = {"amx", NULL, 0.5, 0.3, "of tiles"},
    [DL_CPU_CLOCK] = {"clock", NULL, 1.3, 0.2,
                      "clock of client parts, relative to base"},
    [DL_CPU_ELEMENTS] = {"elements", "cycles", 10, 0.7,
                         "a vector of activations"},
    [DL_CPU_MEMORY] = {"memory", NULL, 0.7, 0.3, "share of the bandwidth"},
    [DL_CPU_MEMORY_PLAIN] = {"memory_plain", NULL, 0.5, 0.4,
                             "in software that is not tuned"},
    [DL_CPU_PASS] = {"pass", "s", 2e-3, 0.8, "a pass of such software"},
    OF(DL_CPU_SHARE_FLOAT, PYTORCH) = {"float_pytorch", NULL, 0.9, 0.15,
                                       "rate in PyTorch, relative"},
    OF(DL_CPU_SHARE_FLOAT, TENSORFLOW) = {"float_tensorflow", NULL, 0.9, 0.15,
                                          "in TensorFlow"},
    OF(DL_CPU_SHARE_FLOAT, ONNXRUNTIME) = {"float_onnxruntime", NULL, 0.9, 0.15,
                                           "in ONNX Runtime"},
    OF(DL_CPU_SHARE_FLOAT, COMPILED) = {"float_compiled", NULL, 0.9, 0.15,
                                        "in compiled PyTorch"},
    OF(DL_CPU_SHARE_INT8, PYTORCH) = {"int8_pytorch", NULL, 0.7, 0.25,
                                      "rate of INT8 in PyTorch, relative"},
    OF(DL_CPU_SHARE_INT8, TENSORFLOW) = {"int8_tensorflow", NULL, 0.7, 0.25,
                                         "in TensorFlow"},
    OF(DL_CPU_SHARE_INT8, ONNXRUNTIME) = {"int8_onnxruntime", NULL, 0.7, 0.25,
                                          "in ONNX Runtime"},
    OF(DL_CPU_SHARE_INT8, COMPILED) = {"int8_compiled", NULL, 0.7, 0.25,
                                       "in compiled PyTorch"},
    OF(DL_CPU_SOFTWARE_ELEMENTS, PYTORCH) = {"elements_pytorch", NULL, 2, 0.5,
                                             "a vector in PyTorch, relative"},
    OF(DL_CPU_SOFTWARE_ELEMENTS, TENSORFLOW) = {"elements_tensorflow", NULL, 2,
                                                0.7, "in TensorFlow"},
    OF(DL_CPU_SOFTWARE_ELEMENTS, ONNXRUNTIME) = {"elements_onnxruntime", NULL,
                                                 2, 0.7, "in ONNX Runtime"},
    OF(DL_CPU_SOFTWARE_ELEMENTS, COMPILED) = {"elements_compiled", NULL, 2, 0.5,
                                              "in compiled PyTorch"},
    OF(DL_CPU_LAYER, PYTORCH) = {"layer_pytorch", "s", 100e-6, 0.8,
                                 "a layer in PyTorch"},
    OF(DL_CPU_LAYER, TENSORFLOW) = {"layer_tensorflow", "s", 50e-6, 0.8,
                                    "in TensorFlow"},
    OF(DL_CPU_LAYER, ONNXRUNTIME) = {"layer_onnxruntime", "s", 30e-6, 0.8,
                                     "in ONNX Runtime"},
    OF(DL_CPU_LAYER, COMPILED) = {"layer_compiled", "s", 30e-6, 0.8,
                                  "in compiled PyTorch"},
};

static const struct dl_grouping_factor factors[] = {
    [DL_CPU_EFFECT_CPU] = {"gpu", DL_CPU_EFFECT_CPU, 1, .many = 0},
    [DL_CPU_EFFECT_FAMILY] = {"family", DL_CPU_EFFECT_FAMILY, 1, .many = 0},
    [DL_CPU_EFFECT_NETWORK] = {"arch", DL_CPU_EFFECT_NETWORK, 1, .many = 0},
    [DL_CPU_EFFECT_TOOL] = {"tool", DL_CPU_EFFECT_TOOL, 1, .many = 0},
};

static const struct dl_random_effect effects[] = {
    [DL_CPU_EFFECT_CPU] = {"cpu_time", 0.1},
    [DL_CPU_EFFECT_FAMILY] = {"family_time", 0.1},
    [DL_CPU_EFFECT_NETWORK] = {"network_time", 0.3},
    [DL_CPU_EFFECT_TOOL] = {"tool_time", 0.2},
};

/* Standard deviation of the residuals, in logarithms. */
static const double sigma[] = {[DL_CPU_TARGET_TIME] = 0.2};

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  dl_cpu_gradient(c, fx, inputs, log_target, NULL);
}

static const char *const targets[] = {[DL_CPU_TARGET_TIME] = "request_s"};

const struct dl_physics dl_cpu_physics = {
    .name = "cpu",
    .recipe = "processor",
    .optional = true,
    .inference = true,
    .quantity = dl_cpu_quantities,
    .n_quantities = DL_N_CPU_QUANTITIES,
    .target = targets,
    .read = dl_cpu_inputs_read,
    .measured = dl_cpu_measured,
    .check = dl_cpu_inputs_check,
    .constant = constants,
    .n_constants = DL_N_CPU,
    .factor = factors,
    .n_factors = DL_N_CPU_EFFECTS,
    .effect = effects,
    .n_effects = DL_N_CPU_EFFECTS,
    .sigma = sigma,
    .n_targets = DL_N_CPU_TARGETS,
    .input_size = sizeof(struct dl_cpu_inputs),
    .predict = predict,
    .gradient = dl_cpu_gradient,
};

const struct dl_regression dl_cpu = {
    .name = "cpu",
    .summary = "networks on CPUs, with priors",
    .physics = &dl_cpu_physics,
    .fit = dl_physics_fit,
    .save = dl_physics_save,
    .restore = dl_physics_restore,
    .free = dl_physics_free,
};

static_assert(sizeof(struct dl_cpu_inputs) <= DL_MOST_INPUT_BYTES,
              "inputs fit into struct dl_inputs");
