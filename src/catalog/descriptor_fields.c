/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of each kind of descriptor: a new one is a row here and a member
 * in descriptor_kinds.h. */

#include <string.h>

#include "catalog/descriptor_kinds.h"

#define TEXT(kind, member, help)                                               \
  { #member, true, NULL, 0, 0, offsetof(struct dl_##kind, member), help }
#define NUMBER(kind, member, unit, low, high, help)                            \
  { #member, false, unit, low, high, offsetof(struct dl_##kind, member), help }
/* Every kind begins with these. */
#define ID_AND_NAME                                                            \
  {"id", true, NULL, 0, 0, offsetof(struct dl_descriptor, id), "id"}, {        \
    "name", true, NULL, 0, 0, offsetof(struct dl_descriptor, name), "name"     \
  }

/* A hundred times what boards reach: beyond that a unit was mistaken. */
#define RATE(member, help)                                                     \
  NUMBER(accelerator, member, "TFLOP/s", 1e-4, 1e5, help)
#define LANE_RATE(member, help)                                                \
  NUMBER(accelerator, member, "TFLOP/s", 1e-4, 1e4, help)

static const struct dl_field accelerator_fields[] = {
    ID_AND_NAME,
    TEXT(accelerator, vendor, "vendor"),
    TEXT(accelerator, family, "family"),
    TEXT(accelerator, form, "form"),
    TEXT(accelerator, memory_type, "memory"),
    NUMBER(accelerator, tdp_w, "W", 1, 2000, "thermal design power"),
    NUMBER(accelerator, power_limit_w, "W", 1, 2000,
           "power limit in force, where it is not the TDP"),
    NUMBER(accelerator, idle_w, "W", 0, 1000, "power with nothing running"),
    LANE_RATE(peak_fp64_tflops, "peak FP64 rate, outside tensor cores"),
    LANE_RATE(peak_fp32_tflops, "peak FP32 rate, outside tensor cores"),
    LANE_RATE(peak_fp16_tflops, "peak FP16 rate, outside tensor cores"),
    LANE_RATE(peak_bf16_tflops, "peak BF16 rate, outside tensor cores"),
    RATE(peak_fp64_tensor_tflops, "peak FP64 tensor rate, dense"),
    RATE(peak_tf32_tflops, "peak TF32 tensor rate, dense"),
    RATE(peak_fp16_tensor_tflops, "peak FP16 tensor rate, dense"),
    RATE(peak_bf16_tensor_tflops, "peak BF16 tensor rate, dense"),
    RATE(peak_fp8_tensor_tflops, "peak FP8 tensor rate, dense"),
    NUMBER(accelerator, peak_int8_tops, "TOP/s", 1e-4, 1e5,
           "peak INT8 rate, outside tensor cores"),
    NUMBER(accelerator, peak_int8_tensor_tops, "TOP/s", 1e-4, 1e5,
           "peak INT8 tensor rate, dense"),
    NUMBER(accelerator, memory_gb, "GB", 0.1, 1e4, "memory of the board"),
    NUMBER(accelerator, bandwidth_gb_s, "GB/s", 1, 1e5, "memory bandwidth"),
    NUMBER(accelerator, link_gb_s, "GB/s", 0.1, 1e5,
           "to other accelerators, one direction"),
    NUMBER(accelerator, cuda_cores, NULL, 1, 1e6,
           "FP32 lanes (CUDA cores, stream processors)"),
    NUMBER(accelerator, multiprocessors, NULL, 1, 1e5,
           "multiprocessors, compute units or cores"),
    NUMBER(accelerator, base_mhz, "MHz", 50, 1e4, "base clock"),
    NUMBER(accelerator, boost_mhz, "MHz", 100, 1e4, "boost clock"),
    NUMBER(accelerator, l2_mb, "MB", 0.01, 1e5, "last-level cache"),
    NUMBER(accelerator, devices, NULL, 1, 64,
           "devices that the system sees on the board"),
    NUMBER(accelerator, embodied_kg, "kg", 0.1, 1e5,
           "CO2 equivalent of making the board"),
    NUMBER(accelerator, year, NULL, 2000, 2100, "year of release"),
};

static const struct dl_field architecture_fields[] = {
    ID_AND_NAME,
    TEXT(architecture, family, "family"),
    NUMBER(architecture, macs_g, "GMAC", 1e-6, 1e9,
           "multiply-accumulates of one forward pass"),
    NUMBER(architecture, acts_m, "M", 1e-6, 1e9,
           "outputs of convolutions and dense layers"),
    NUMBER(architecture, params_m, "M", 1e-6, 1e9, "parameters"),
    NUMBER(architecture, active_params_m, "M", 1e-6, 1e9,
           "parameters that a token uses"),
    NUMBER(architecture, image_px, "px", 1, 1e5, "side of the square input"),
    NUMBER(architecture, seq_len, "tokens", 1, 1e9, "length of the sequence"),
    NUMBER(architecture, head_macs_g, "GMAC", 0, 1e9,
           "part that does not grow with the input"),
    NUMBER(architecture, head_inputs, NULL, 1, 1e9,
           "features that the classifier takes"),
    NUMBER(architecture, classes, NULL, 1, 1e9, "outputs of the classifier"),
    NUMBER(architecture, head_params_m, "M", 0, 1e9,
           "parameters trained with a frozen base"),
    NUMBER(architecture, layers, NULL, 1, 1e6, "convolutions and dense layers"),
    NUMBER(architecture, launches, NULL, 1, 1e7, "kernels of one forward pass"),
    NUMBER(architecture, patch_px, "px", 1, 1e5, "side of a patch"),
    NUMBER(architecture, depth, NULL, 1, 1e5, "attention blocks"),
    NUMBER(architecture, hidden_size, NULL, 1, 1e6, "hidden size"),
    NUMBER(architecture, heads, NULL, 1, 1e5, "attention heads"),
    NUMBER(architecture, extra_tokens, NULL, 0, 1e5,
           "tokens in addition to the patches"),
    NUMBER(architecture, attention_macs_g, "GMAC", 0, 1e9,
           "part that grows with the tokens squared"),
    NUMBER(architecture, attention_acts_m, "M", 0, 1e9,
           "part that grows with the tokens squared"),
    NUMBER(architecture, stride_px, "px", 1, 1024,
           "stride of the coarsest map"),
    NUMBER(architecture, traffic_ratio, NULL, 1, 1000,
           "elements that all layers read and write, "
           "by activation"),
    NUMBER(architecture, token_params_m, "M", 1e-6, 1e9,
           "weights that a token is multiplied with"),
    NUMBER(architecture, expert_params_m, "M", 0, 1e9,
           "weights of all experts"),
    NUMBER(architecture, expert_share, NULL, 0, 1,
           "share of the experts that a token goes through"),
    NUMBER(architecture, kv_cache_per_token, NULL, 1, 1e9,
           "size of the KV cache per token, elements"),
    NUMBER(architecture, pair_macs, NULL, 1, 1e12,
           "multiply-accumulates with each token before"),
};

static const struct dl_field dataset_fields[] = {
    ID_AND_NAME,
    TEXT(dataset, family, "family"),
    NUMBER(dataset, train_samples, NULL, 1, 1e12, "training samples"),
    NUMBER(dataset, val_samples, NULL, 0, 1e12, "validation samples"),
    NUMBER(dataset, classes, NULL, 1, 1e9, "classes"),
    NUMBER(dataset, image_px, "px", 1, 1e5, "usual input size"),
};

static const struct dl_field grid_fields[] = {
    ID_AND_NAME,
    NUMBER(grid, carbon_g_kwh, "g/kWh", 0, 5000,
           "carbon intensity, CO2 equivalent"),
    NUMBER(grid, year, NULL, 2000, 2100, "year of the figure"),
};

static const struct dl_field site_fields[] = {
    ID_AND_NAME,
    TEXT(site, vendor, "vendor"),
    TEXT(site, grid, "grid"),
    TEXT(site, place, "place"),
    NUMBER(site, pue, NULL, 1, 10, "power usage effectiveness"),
    NUMBER(site, carbon_g_kwh, "g/kWh", 0, 5000,
           "carbon intensity, CO2 equivalent"),
    NUMBER(site, year, NULL, 2000, 2100, "year of the figures"),
};

static const struct dl_field node_fields[] = {
    ID_AND_NAME,
    TEXT(node, vendor, "vendor"),
    TEXT(node, cpu, "CPU"),
    TEXT(node, gpu, "GPU"),
    TEXT(node, site, "site"),
    NUMBER(node, sockets, NULL, 0.01, 64, "CPUs"),
    NUMBER(node, cpu_tdp_w, "W", 1, 2000, "thermal design power of one CPU"),
    NUMBER(node, cpu_idle_w, "W", 0, 1000,
           "power of one CPU with nothing running"),
    NUMBER(node, gpus, NULL, 0, 256, "accelerators"),
    NUMBER(node, gpu_idle_w, "W", 0, 1000,
           "power of one accelerator with nothing running"),
    NUMBER(node, memory_gb, "GB", 0.1, 1e6, "main memory"),
    NUMBER(node, memory_w_gb, "W/GB", 0, 10, "power of the memory by GB"),
    NUMBER(node, rest_w, "W", 0, 2e4,
           "power of board, fans, network and drives"),
    NUMBER(node, supply_efficiency, NULL, 0.1, 1,
           "efficiency of the power supply"),
    NUMBER(node, pue, NULL, 1, 10,
           "power usage effectiveness of where it stands"),
    NUMBER(node, embodied_kg, "kg", 0.1, 1e6,
           "CO2 equivalent of making it, without "
           "accelerators"),
    NUMBER(node, year, NULL, 2000, 2100, "year of the figures"),
};

static const char *const no_noise[] = {NULL};
static const char *const accelerator_noise[] = {
    "nvidia", "amd",      "intel",    "geforce", "tesla",
    "radeon", "instinct", "graphics", NULL};

#define COUNT(a) (sizeof(a) / sizeof *(a))

_Static_assert(COUNT(accelerator_fields) <= DL_MOST_FIELDS &&
                   COUNT(architecture_fields) <= DL_MOST_FIELDS,
               "DL_MOST_FIELDS is too small");

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct dl_kind_info kinds[] = {
    [DL_ACCELERATOR] = {"accelerator", "gpu", "gpus",
                        FILES("data/accelerators.xml"), "data/accelerators.rng",
                        accelerator_fields, COUNT(accelerator_fields),
                        sizeof(struct dl_accelerator), accelerator_noise},
    [DL_ARCHITECTURE] = {"architecture", "arch", "archs",
                         FILES("data/architectures.xml",
                               "data/transformers.xml"),
                         "data/architectures.rng", architecture_fields,
                         COUNT(architecture_fields),
                         sizeof(struct dl_architecture), no_noise},
    [DL_DATASET] = {"dataset", "dataset", "datasets",
                    FILES("data/datasets.xml"), "data/datasets.rng",
                    dataset_fields, COUNT(dataset_fields),
                    sizeof(struct dl_dataset), no_noise},
    [DL_GRID] = {"grid", "grid", "grids", FILES("data/grids.xml"),
                 "data/grids.rng", grid_fields, COUNT(grid_fields),
                 sizeof(struct dl_grid), no_noise},
    [DL_SITE] = {"site", "site", "sites", FILES("data/sites.xml"),
                 "data/sites.rng", site_fields, COUNT(site_fields),
                 sizeof(struct dl_site), no_noise},
    [DL_NODE] = {"node", "node", "nodes", FILES("data/nodes.xml"),
                 "data/nodes.rng", node_fields, COUNT(node_fields),
                 sizeof(struct dl_node), no_noise},
};

const struct dl_kind_info *dl_kind_info(enum dl_kind kind) {
  return &kinds[kind];
}
