/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of descriptors and their fields. */

#include <string.h>

#include "catalog/descriptor.h"

/* A hundred times what boards reach: beyond that a unit was mistaken. */
#define RATE(name, what)                                                       \
  { name, "TFLOP/s", 1e-4, 1e5, what }
#define LANE_RATE(name, what)                                                  \
  { name, "TFLOP/s", 1e-4, 1e4, what }

static const struct dl_field accelerator_fields[] = {
    [DL_GPU_TDP_W] = {"tdp_w", "W", 1, 2000, "thermal design power"},
    [DL_GPU_LIMIT_W] = {"power_limit_w", "W", 1, 2000,
                        "power limit in force, where it is not the TDP"},
    [DL_GPU_IDLE_W] = {"idle_w", "W", 0, 1000, "power with nothing running"},
    [DL_GPU_FP64_TFLOPS] =
        LANE_RATE("peak_fp64_tflops", "peak FP64 rate, outside tensor cores"),
    [DL_GPU_FP32_TFLOPS] =
        LANE_RATE("peak_fp32_tflops", "peak FP32 rate, outside tensor cores"),
    [DL_GPU_FP16_TFLOPS] =
        LANE_RATE("peak_fp16_tflops", "peak FP16 rate, outside tensor cores"),
    [DL_GPU_BF16_TFLOPS] =
        LANE_RATE("peak_bf16_tflops", "peak BF16 rate, outside tensor cores"),
    [DL_GPU_FP64_TENSOR_TFLOPS] =
        RATE("peak_fp64_tensor_tflops", "peak FP64 tensor rate, dense"),
    [DL_GPU_TF32_TFLOPS] =
        RATE("peak_tf32_tflops", "peak TF32 tensor rate, dense"),
    [DL_GPU_FP16_TENSOR_TFLOPS] =
        RATE("peak_fp16_tensor_tflops", "peak FP16 tensor rate, dense"),
    [DL_GPU_BF16_TENSOR_TFLOPS] =
        RATE("peak_bf16_tensor_tflops", "peak BF16 tensor rate, dense"),
    [DL_GPU_FP8_TENSOR_TFLOPS] =
        RATE("peak_fp8_tensor_tflops", "peak FP8 tensor rate, dense"),
    [DL_GPU_INT8_TOPS] = {"peak_int8_tops", "TOP/s", 1e-4, 1e5,
                          "peak INT8 rate, outside tensor cores"},
    [DL_GPU_INT8_TENSOR_TOPS] = {"peak_int8_tensor_tops", "TOP/s", 1e-4, 1e5,
                                 "peak INT8 tensor rate, dense"},
    [DL_GPU_MEMORY_GB] = {"memory_gb", "GB", 0.1, 1e4, "memory of the board"},
    [DL_GPU_BANDWIDTH_GB_S] = {"bandwidth_gb_s", "GB/s", 1, 1e5,
                               "memory bandwidth"},
    [DL_GPU_LINK_GB_S] = {"link_gb_s", "GB/s", 0.1, 1e5,
                          "to other accelerators, one direction"},
    [DL_GPU_CORES] = {"cuda_cores", NULL, 1, 1e6,
                      "FP32 lanes (CUDA cores, stream processors)"},
    [DL_GPU_MULTIPROCESSORS] = {"multiprocessors", NULL, 1, 1e5,
                                "multiprocessors, compute units or cores"},
    [DL_GPU_BASE_MHZ] = {"base_mhz", "MHz", 50, 1e4, "base clock"},
    [DL_GPU_BOOST_MHZ] = {"boost_mhz", "MHz", 100, 1e4, "boost clock"},
    [DL_GPU_L2_MB] = {"l2_mb", "MB", 0.01, 1e5, "last-level cache"},
    [DL_GPU_DEVICES] = {"devices", NULL, 1, 64,
                        "devices that the system sees on the board"},
    [DL_GPU_EMBODIED_KG] = {"embodied_kg", "kg", 0.1, 1e5,
                            "CO2 equivalent of making the board"},
    [DL_GPU_YEAR] = {"year", NULL, 2000, 2100, "year of release"},
};

static const struct dl_field architecture_fields[] = {
    [DL_ARCH_MACS_G] = {"macs_g", "GMAC", 1e-6, 1e9,
                        "multiply-accumulates of one forward pass"},
    [DL_ARCH_ACTS_M] = {"acts_m", "M", 1e-6, 1e9,
                        "outputs of convolutions and dense layers"},
    [DL_ARCH_PARAMS_M] = {"params_m", "M", 1e-6, 1e9, "parameters"},
    [DL_ARCH_ACTIVE_PARAMS_M] = {"active_params_m", "M", 1e-6, 1e9,
                                 "parameters that a token uses"},
    [DL_ARCH_IMAGE_PX] = {"image_px", "px", 1, 1e5, "side of the square input"},
    [DL_ARCH_SEQ_LEN] = {"seq_len", "tokens", 1, 1e9, "length of the sequence"},
    [DL_ARCH_HEAD_MACS_G] = {"head_macs_g", "GMAC", 0, 1e9,
                             "part that does not grow with the input"},
    [DL_ARCH_HEAD_INPUTS] = {"head_inputs", NULL, 1, 1e9,
                             "features that the classifier takes"},
    [DL_ARCH_CLASSES] = {"classes", NULL, 1, 1e9, "outputs of the classifier"},
    [DL_ARCH_HEAD_PARAMS_M] = {"head_params_m", "M", 0, 1e9,
                               "parameters trained with a frozen base"},
    [DL_ARCH_LAYERS] = {"layers", NULL, 1, 1e6,
                        "convolutions and dense layers"},
    [DL_ARCH_LAUNCHES] = {"launches", NULL, 1, 1e7,
                          "kernels of one forward pass"},
    [DL_ARCH_PATCH_PX] = {"patch_px", "px", 1, 1e5, "side of a patch"},
    [DL_ARCH_DEPTH] = {"depth", NULL, 1, 1e5, "attention blocks"},
    [DL_ARCH_WIDTH] = {"width", NULL, 1, 1e6, "width of the embedding"},
    [DL_ARCH_HEADS] = {"heads", NULL, 1, 1e5, "attention heads"},
    [DL_ARCH_EXTRA_TOKENS] = {"extra_tokens", NULL, 0, 1e5,
                              "tokens besides the patches"},
    [DL_ARCH_ATTENTION_MACS_G] = {"attention_macs_g", "GMAC", 0, 1e9,
                                  "part that grows with the tokens squared"},
    [DL_ARCH_ATTENTION_ACTS_M] = {"attention_acts_m", "M", 0, 1e9,
                                  "part that grows with the tokens squared"},
    [DL_ARCH_STRIDE_PX] = {"stride_px", "px", 1, 1024,
                           "stride of the coarsest map"},
    [DL_ARCH_TRAFFIC_RATIO] = {"traffic_ratio", NULL, 1, 1000,
                               "elements that all layers read and write, "
                               "by activation"},
    [DL_ARCH_TOKEN_PARAMS_M] = {"token_params_m", "M", 1e-6, 1e9,
                                "weights that a token is multiplied with"},
    [DL_ARCH_EXPERT_PARAMS_M] = {"expert_params_m", "M", 0, 1e9,
                                 "weights of all experts"},
    [DL_ARCH_EXPERT_SHARE] = {"expert_share", NULL, 0, 1,
                              "share of the experts that a token goes through"},
    [DL_ARCH_KEPT_PER_TOKEN] = {"kept_per_token", NULL, 1, 1e9,
                                "keys and values kept of a token"},
    [DL_ARCH_PAIR_MACS] = {"pair_macs", NULL, 1, 1e12,
                           "multiply-accumulates with each token before"},
};

static const struct dl_field dataset_fields[] = {
    [DL_DATA_TRAIN] = {"train_samples", NULL, 1, 1e12, "training samples"},
    [DL_DATA_VAL] = {"val_samples", NULL, 0, 1e12, "validation samples"},
    [DL_DATA_CLASSES] = {"classes", NULL, 1, 1e9, "classes"},
    [DL_DATA_IMAGE_PX] = {"image_px", "px", 1, 1e5, "usual input size"},
};

static const struct dl_field grid_fields[] = {
    [DL_GRID_CARBON_G_KWH] = {"carbon_g_kwh", "g/kWh", 0, 5000,
                              "carbon intensity, CO2 equivalent"},
    [DL_GRID_YEAR] = {"year", NULL, 2000, 2100, "year of the figure"},
};

static const struct dl_field site_fields[] = {
    [DL_SITE_PUE] = {"pue", NULL, 1, 10, "power usage effectiveness"},
    [DL_SITE_CARBON_G_KWH] = {"carbon_g_kwh", "g/kWh", 0, 5000,
                              "carbon intensity, CO2 equivalent"},
    [DL_SITE_YEAR] = {"year", NULL, 2000, 2100, "year of the figures"},
};

static const struct dl_field node_fields[] = {
    [DL_NODE_SOCKETS] = {"sockets", NULL, 0.01, 64, "CPUs"},
    [DL_NODE_CPU_TDP_W] = {"cpu_tdp_w", "W", 1, 2000,
                           "thermal design power of one CPU"},
    [DL_NODE_CPU_IDLE_W] = {"cpu_idle_w", "W", 0, 1000,
                            "power of one CPU with nothing running"},
    [DL_NODE_GPUS] = {"gpus", NULL, 0, 256, "accelerators"},
    [DL_NODE_GPU_IDLE_W] = {"gpu_idle_w", "W", 0, 1000,
                            "power of one accelerator with nothing running"},
    [DL_NODE_MEMORY_GB] = {"memory_gb", "GB", 0.1, 1e6, "main memory"},
    [DL_NODE_MEMORY_W_GB] = {"memory_w_gb", "W/GB", 0, 10,
                             "power of the memory by GB"},
    [DL_NODE_REST_W] = {"rest_w", "W", 0, 2e4,
                        "power of board, fans, network and drives"},
    [DL_NODE_EFFICIENCY] = {"supply_efficiency", NULL, 0.1, 1,
                            "efficiency of the power supply"},
    [DL_NODE_PUE] = {"pue", NULL, 1, 10,
                     "power usage effectiveness of where it stands"},
    [DL_NODE_EMBODIED_KG] = {"embodied_kg", "kg", 0.1, 1e6,
                             "CO2 equivalent of making it, without "
                             "accelerators"},
    [DL_NODE_YEAR] = {"year", NULL, 2000, 2100, "year of the figures"},
};

static const char *const no_noise[] = {NULL};
static const char *const accelerator_noise[] = {
    "nvidia", "amd",      "intel",    "geforce", "tesla",
    "radeon", "instinct", "graphics", NULL};

#define COUNT(a) (sizeof(a) / sizeof *(a))

_Static_assert(COUNT(accelerator_fields) <= DL_MAX_FIELDS &&
                   COUNT(architecture_fields) <= DL_MAX_FIELDS,
               "DL_MAX_FIELDS is too small");

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct dl_kind_info kinds[] = {
    [DL_ACCELERATOR] = {"accelerator", "gpu", "gpus",
                        FILES("data/accelerators.xml"), "data/accelerators.rng",
                        accelerator_fields, COUNT(accelerator_fields),
                        accelerator_noise},
    [DL_ARCHITECTURE] = {"architecture", "arch", "archs",
                         FILES("data/architectures.xml",
                               "data/transformers.xml"),
                         "data/architectures.rng", architecture_fields,
                         COUNT(architecture_fields), no_noise},
    [DL_DATASET] = {"dataset", "dataset", "datasets",
                    FILES("data/datasets.xml"), "data/datasets.rng",
                    dataset_fields, COUNT(dataset_fields), no_noise},
    [DL_GRID] = {"grid", "grid", "grids", FILES("data/grids.xml"),
                 "data/grids.rng", grid_fields, COUNT(grid_fields), no_noise},
    [DL_SITE] = {"site", "site", "sites", FILES("data/sites.xml"),
                 "data/sites.rng", site_fields, COUNT(site_fields), no_noise},
    [DL_NODE] = {"node", "node", "nodes", FILES("data/nodes.xml"),
                 "data/nodes.rng", node_fields, COUNT(node_fields), no_noise},
};

const struct dl_kind_info *dl_kind_info(enum dl_kind kind) {
  return &kinds[kind];
}

long dl_field_find(enum dl_kind kind, const char *name) {
  const struct dl_kind_info *k = &kinds[kind];
  for (size_t i = 0; i < k->n_fields; i++)
    if (strcmp(k->fields[i].name, name) == 0)
      return (long)i;
  return -1;
}
