/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accelerators by the parts of their names (gpu_name.h): the spellings that the
 * catalogue does not list. */

#ifndef DL_CATALOG_NAMES_GPU_MATCH_H
#define DL_CATALOG_NAMES_GPU_MATCH_H

#include "base/names/intern.h"
#include "catalog/descriptor_kinds.h"

/* The entries by product, and copies of boards whose power a name limits.
 * Starts as {0}. */
struct dl_gpu_match {
  struct dl_intern products;
  size_t *first; /* by number in `products`: the last name entered of it */
  size_t cap_first;
  struct dl_gpu_listed *listed;
  size_t n_listed, cap_listed;
  struct dl_accelerator **limited;
  size_t n_limited, cap_limited;
};

/* Enters the names of n accelerators, which must outlive m. */
void dl_gpu_match_read(struct dl_gpu_match *m,
                       const struct dl_descriptor *const *all, size_t n);

void dl_gpu_match_free(struct dl_gpu_match *m);

/* Finds the accelerator that a name means, or NULL: one with its product, and
 * with the memory (as stated, or as a driver reports it), form, type of memory
 * and generation that it states. If there are several it is the one that the
 * product alone names ("a100"), else the only one that shares form, or memory,
 * with that one. A board of a series for desktops, or a TPU, is found by its
 * number alone too ("4090", "7900 XTX", "v5e").
 *
 * With a power in the name ("400W", 0.2 to 1.5 times the TDP) *e is a copy that
 * has it as power_limit_w; m owns it. */
void dl_gpu_match_find(struct dl_gpu_match *m, const char *name,
                       const struct dl_descriptor **e);

#endif
