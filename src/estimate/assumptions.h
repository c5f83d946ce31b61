/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An estimate assumes settings that a run does not give.
 *
 *   precision   language models, and diffusion models that generate: bf16 where
 *               the accelerator has it, else fp16; other networks: what
 *               frameworks do by default, TF32 where there is any (in
 *               convolutions; TensorFlow in matrix products too), else FP32
 *   attention   language models: flash in 16 bits, else eager
 *   lora_rank   16, or the largest that the network takes
 *   checkpointing, checkpointed_layers, sharding, tensor_parallel,
 *   pipeline_parallel, virtual_stages, expert_parallel, batch_size, grad_accum
 *               language models: the fastest that fit (node/division.h)
 *   batch_size  image networks, and requests at a rate: 256, or the largest
 *               power of two that fits
 *   tensor_parallel, replicas
 *               inference: the smallest groups of GPUs that hold a language
 *               model (node/serving_groups.h)
 *   stack       inference: transformers for language models in FP32 and for
 *               single images, without a pause or a rate
 *   efficiency  0.3, of trainings of language models 0.4
 *
 * Outputs state all of it. */

#ifndef DL_ESTIMATE_ASSUMPTIONS_H
#define DL_ESTIMATE_ASSUMPTIONS_H

#include "run/row.h"

/* For dl_plan_assume. */
void dl_assume(struct dl_row *row);

/* Assumes precision, attention, memory and batches of language models alone,
 * for tables of runs that are fitted or calibrate a model. */
void dl_assume_language_setup(struct dl_row *row);

#endif
