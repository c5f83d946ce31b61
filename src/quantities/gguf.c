/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quantities/gguf.h"

#include "base/memory.h"

struct gguf_type {
  double bits, rate;
};

static const struct gguf_type types[] = {
    [DL_PRECISION_Q2_K_S] = {2.9697, 0.8},
    [DL_PRECISION_Q2_K] = {3.1593, 0.75},
    [DL_PRECISION_Q3_K_S] = {3.6429, 0.55},
    [DL_PRECISION_Q3_K_M] = {3.996, 0.55},
    [DL_PRECISION_Q3_K_L] = {4.2979, 0.55},
    [DL_PRECISION_Q4_0] = {4.65, 1},
    [DL_PRECISION_Q4_1] = {5.12, 0.9},
    [DL_PRECISION_Q4_K_S] = {4.6672, 0.71},
    [DL_PRECISION_Q4_K_M] = {4.8944, 0.65},
    [DL_PRECISION_Q5_0] = {5.58, 0.73},
    [DL_PRECISION_Q5_1] = {6.04, 0.7},
    [DL_PRECISION_Q5_K_S] = {5.5704, 0.49},
    [DL_PRECISION_Q5_K_M] = {5.7036, 0.5},
    [DL_PRECISION_Q6_K] = {6.5633, 0.54},
    [DL_PRECISION_Q8_0] = {8.5008, 0.96},
    [DL_PRECISION_IQ1_S] = {2.0042, 0.3},
    [DL_PRECISION_IQ1_M] = {2.146, 0.25},
    [DL_PRECISION_IQ2_XXS] = {2.3824, 0.3},
    [DL_PRECISION_IQ2_XS] = {2.5882, 0.32},
    [DL_PRECISION_IQ2_S] = {2.7403, 0.29},
    [DL_PRECISION_IQ2_M] = {2.9294, 0.29},
    [DL_PRECISION_IQ3_XXS] = {3.2548, 0.22},
    [DL_PRECISION_IQ3_XS] = {3.4977, 0.21},
    [DL_PRECISION_IQ3_S] = {3.6606, 0.2},
    [DL_PRECISION_IQ3_M] = {3.7628, 0.21},
    [DL_PRECISION_IQ4_XS] = {4.4597, 0.48},
    [DL_PRECISION_IQ4_NL] = {4.6818, 0.8},
};

double dl_gguf_bits(enum dl_precision precision) {
  return precision < DL_LENGTH(types) ? types[precision].bits : 0;
}

double dl_gguf_rate(enum dl_precision precision) {
  return precision < DL_LENGTH(types) ? types[precision].rate : 0;
}
