/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an estimate assumes of a run that does not say it.
 *
 *   precision   language models: bf16 where the accelerator has it, else fp16;
 *               other networks: what frameworks do by default, TF32 where there
 *               is any (in convolutions; TensorFlow in matrix products too),
 *               else FP32
 *   attention   language models: flash in 16 bits, else eager
 *   sharding, checkpointing
 *               language models: the first of ddp without checkpointing, zero3
 *               without, ddp with full checkpointing, zero3 with, that fits
 *   batch_size  language models: the largest that fits, up to 4e6 tokens per
 *               step on all accelerators; of a global_batch, a part that fits,
 *               and grad_accum the rest
 *   efficiency  0.3, of trainings of language models 0.4
 *
 * Outputs state all of it. */

#ifndef DL_ESTIMATE_ASSUMPTIONS_H
#define DL_ESTIMATE_ASSUMPTIONS_H

#include "run/row.h"

/* For dl_frame_assume. */
void dl_assume(struct dl_row *row);

#endif
