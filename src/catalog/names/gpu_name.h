/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an accelerator's name in the forms that vendors, drivers and
 * benchmark submitters write: "NVIDIA A100-SXM4-80GB (400W)". */

#ifndef DL_CATALOG_NAMES_GPU_NAME_H
#define DL_CATALOG_NAMES_GPU_NAME_H

#include <stdbool.h>

enum { DL_GPU_WORD = 16, DL_GPU_PRODUCT = 64 };

/* Texts are in lower case and "" where the name does not state the part,
 * numbers NaN. */
struct dl_gpu_name {
  char product[DL_GPU_PRODUCT];  /* the other words: "a100" */
  char form[DL_GPU_WORD];        /* "sxm4", "sxm", "pcie", "oam" */
  char memory_type[DL_GPU_WORD]; /* "hbm2e" */
  char family[DL_GPU_WORD];      /* "ampere" */
  double memory_gb;              /* "80GB", "80 GiB", "81559 MiB" (/ 1024) */
  double watts;                  /* "400W" */
};

/* Splits a name. Vendors and words like "GPU", "Tensor Core", "(R)" do not
 * count, nor does a system in front ("DGX-2H"). A generation ("Blackwell")
 * stays in the product where `keep_family` is set. False where the name cannot
 * be one accelerator's: two sizes, forms or powers, no product (which has
 * a digit), or too long. */
bool dl_gpu_name_parse(const char *name, bool keep_family,
                       struct dl_gpu_name *g);

#endif
