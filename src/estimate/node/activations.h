/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activations that a GPU keeps for the backward pass, and outputs that exist at
 * one time without one. The formulas are in peak_memory.h. */

#ifndef DL_ESTIMATE_NODE_ACTIVATIONS_H
#define DL_ESTIMATE_NODE_ACTIVATIONS_H

#include "estimate/job.h"

/* Whether products are computed in 16 bits or fewer, with FP32 beside them. */
bool dl_is_mixed(const struct dl_job *job);

/* Bytes of an activation in training; NaN for integers. */
double dl_activation_bytes(const struct dl_job *job);

/* The shape of a language model; NULL of other networks. */
const struct dl_transformer *dl_language_of(const struct dl_job *job);

/* Whether the software keeps weights and inputs of products in 8 bits in an FP8
 * training (Transformer Engine: ngc, mlperf, and where the stack is unknown).
 * Software of torch.compile and eager mode converts them for each product. */
bool dl_keeps_fp8(const struct dl_job *job);

/* Returns the scores among the outputs of attention's products over n tokens.
 * They grow with the square; values are kept anyway. */
double dl_scores_among(double products, double n,
                       const struct dl_transformer *t);

/* Returns the classes by which a network labels each pixel of an image, where
 * --classes does not say them; 0 of other networks. */
double dl_pixel_classes(const struct dl_architecture *arch);

/* Bytes that one GPU keeps for a sample. */
double dl_kept_activations(const struct dl_job *job);

/* Outputs of a sample that exist at one time without a backward pass. */
double dl_outputs_at_once(const struct dl_job *job);

#endif
