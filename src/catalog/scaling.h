/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An architecture as a run uses it: at another input, with another head. */

#ifndef DL_CATALOG_SCALING_H
#define DL_CATALOG_SCALING_H

#include "catalog/descriptor.h"

/* What a run asks of an architecture; NaN where its own holds. */
struct dl_use {
  double image_px; /* side of the square input */
  double seq_len;  /* tokens a sample */
  double classes;  /* outputs of the classifier */
};

/* Nothing asked: the reference. */
extern const struct dl_use dl_use_reference;

/* The descriptor for that use. An input that the descriptor lists is taken as
 * it is; else the nearest one is scaled by its rule. The result is a full
 * descriptor with macs_g, acts_m and image_px or seq_len set; its texts belong
 * to `e`. *scaled tells whether a rule was applied. */
struct dl_descriptor dl_architecture_at(const struct dl_descriptor *e,
                                        const struct dl_use *use, bool *scaled);

#endif
