/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights in the types of GGUF files: blocks of few bits with scales. */

#ifndef DL_QUANTITIES_GGUF_H
#define DL_QUANTITIES_GGUF_H

#include "quantities/quantities.h"

static inline bool dl_is_gguf(enum dl_precision precision) {
  return precision > DL_PRECISION_FP4 && precision < DL_PRECISION_OTHER;
}

/* Bits of a weight in the mean of a model, with scales and with the tensors
 * that a type leaves in another one: llama.cpp's tools/quantize/README.md
 * (Llama 3.1 8B), for legacy types the sizes of its files. 0: no such type. */
double dl_gguf_bits(enum dl_precision precision);

/* The share of the FP32 peak that products of prompts reach in llama.cpp, on a
 * CPU with dot products of 8 bits: Llama 3.1 8B on a Ryzen 9 7950X, build 4384
 * (github.com/ikawrakow/ik_llama.cpp, discussion 164). 0: no such type. */
double dl_gguf_rate(enum dl_precision precision);

#endif
