/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generations of accelerators and of memory: how the rates of a board follow
 * from its hardware.
 *
 * Peak rates are fixed by design: an FP32 lane does a fused multiply-add (2
 * FLOPs) per clock cycle, and matrix units do a fixed multiple of it in each
 * generation. The multiples come from the vendors' architecture white papers
 * (NVIDIA Kepler to Blackwell, AMD GCN to RDNA 4 and CDNA to CDNA 4, Intel Xe)
 * and are for dense matrices. Tensor units have two where accumulating in FP32
 * is half as fast on GeForce boards. */

#include "base/number.h"
#ifndef DL_CATALOG_VALIDATE_GENERATIONS_H
#define DL_CATALOG_VALIDATE_GENERATIONS_H

enum { DL_MOST_SPANS = 4 };

/* Lists of ratios end at one whose `high` is 0; an empty one is not checked. */
struct dl_generation {
  const char *family;
  const char *memory;   /* what its memory_type begins with; NULL: any */
  double lanes;         /* FP32 lanes of a multiprocessor */
  double issue;         /* FP32 instructions per lane and clock cycle */
  struct dl_span per_w; /* FP32 TFLOP/s per watt of TDP of the boards built */
  /* Ratios to the FP32 rate: FP64, FP16 outside and inside tensor units. */
  struct dl_span fp64[DL_MOST_SPANS], fp16[DL_MOST_SPANS],
      tensor[DL_MOST_SPANS];
  /* Ratios of tensor rates to the FP16 one. */
  struct dl_span int8[DL_MOST_SPANS], fp8[DL_MOST_SPANS];
  double tf32; /* FP16 tensor rate by TF32 rate; 0: no TF32 */
};

struct dl_memory_technology {
  const char *name; /* "gddr6" */
  struct dl_span bandwidth;
};

/* Finds a generation, and a memory technology, by the words in catalogues;
 * memory_type may be NULL. Returns NULL if it is not known. */
const struct dl_generation *dl_generation_find(const char *family,
                                               const char *memory_type);
const struct dl_memory_technology *dl_memory_find(const char *name);

#endif
