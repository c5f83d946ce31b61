/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An architecture as a run uses it: at another input, with another head.
 *
 * MACs and activations have three parts: a constant one (the head), one that
 * grows by g and one that grows by g^2 (attention scores and the weighted sum
 * of values). g is, by the family's rule,
 *
 *   tokens  the ratio of the tokens, floor(px / patch)^2 + extra;
 *   area    the ratio of the area. A map whose stride does not divide the
 *           input is rounded up (by padded convolutions) or, area-down, down
 *           (by pooling and patches), so that the area is a mean over the
 *           strides 2 .. 32 with the share of MACs or activations that stands
 *           at each: the medians of torchvision's 57 convolutional networks,
 *           counted by data/make/architectures-from-torchvision.py.
 *
 * The part that grows by g^2 is given by the descriptor (attention_macs_g at
 * its first input), or 2 depth n^2 width for n tokens: every token meets
 * every other one, twice (Vaswani et al. 2017, arXiv 1706.03762). */

#ifndef DL_CATALOG_ARCHITECTURE_SCALING_H
#define DL_CATALOG_ARCHITECTURE_SCALING_H

#include "catalog/descriptor_kinds.h"

/* The input and classifier of a run; NaN: the architecture's own. */
struct dl_use {
  double image_px; /* side of the square input */
  double seq_len;  /* tokens a sample */
  double classes;  /* outputs of the classifier */
};

/* The reference use: all NaN. */
extern const struct dl_use dl_use_reference;

/* Returns the descriptor for a use. An input that the descriptor lists is taken
 * as it is; else the nearest one is scaled by its rule. Another number of
 * classes replaces the classifier, if it is known: parameters, MACs and
 * activations follow, and head_params_m and classes describe the new one. The
 * result is a full descriptor with macs_g, acts_m, its part attention_acts_m,
 * and image_px or seq_len set; its texts belong to `e`. *scaled is set to
 * whether a rule was applied. */
struct dl_architecture dl_architecture_at(const struct dl_architecture *e,
                                          const struct dl_use *use,
                                          bool *scaled);

/* Returns 1e9 multiply-accumulates of the classifier for one sample; 0 without
 * one, NaN if it is not known. */
double dl_classifier_macs_g(const struct dl_architecture *e);

/* Returns 1e6 attention scores of one sample, from a descriptor made by
 * dl_architecture_at; NaN or 0 where there are none. If the catalogue counts
 * them together with the sums of values, both are included. */
double dl_scores_m(const struct dl_architecture *at);

#endif
