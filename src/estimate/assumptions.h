/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an estimate assumes of a run that does not say it.
 *
 *   precision   language models: bf16 where the accelerator has it, else fp16;
 *               other networks: what frameworks do by default, TF32 where there
 *               is any (in convolutions; TensorFlow in matrix products too),
 *               else FP32
 *   efficiency  0.3, of trainings of language models 0.4
 *
 * Outputs state all of it. */

#ifndef DL_ESTIMATE_ASSUMPTIONS_H
#define DL_ESTIMATE_ASSUMPTIONS_H

#include "run/row.h"

/* For dl_frame_assume. */
void dl_assume(struct dl_row *row);

#endif
