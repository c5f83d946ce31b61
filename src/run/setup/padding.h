/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a training batches texts of different lengths. */

#ifndef DL_RUN_SETUP_PADDING_H
#define DL_RUN_SETUP_PADDING_H

#include "run/row.h"

/* Texts that are taken at a time where the batch is not given and they are
 * padded: the default of Transformers' Trainer. */
#define DL_PADDED_BATCH 8

/* Whether the samples are texts of a data set, as long as its mean, each of
 * which is padded to the longest of its batch. Texts of classes and for
 * encoders have the length that all are padded to. NVIDIA's containers, MLPerf
 * and tuned trainers pack them. */
bool dl_pads_texts(const struct dl_row *row);

/* Tokens of such a batch, relative to its texts' own: 1 + 1/2 + .. + 1/n,
 * the mean longest of n whose lengths are spread as an exponential. 2.1 for 4,
 * where FLAN's texts take twice as long as when packed and OrcaMath's, which
 * are alike, 1.4 times (Hugging Face, Packing with Flash Attention 2, 2024). 1
 * for others. */
double dl_padding(const struct dl_row *row);

#endif
