/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A transformer as a run uses it: its figures as a descriptor's values. */

#ifndef DL_CATALOG_ARCHITECTURE_TOKEN_COSTS_H
#define DL_CATALOG_ARCHITECTURE_TOKEN_COSTS_H

#include "catalog/architecture/scaling.h"

/* Does as dl_architecture_at for a descriptor with a shape. Values that the
 * catalogue gives (a published params_m) stay; the others follow from the shape
 * at use->seq_len tokens (vision: at use->image_px), with use->classes outputs
 * of its classifier where it has one or is an encoder. */
struct dl_architecture dl_transformer_at(const struct dl_architecture *e,
                                         const struct dl_use *use,
                                         bool *scaled);

/* Whether samples are sequences of tokens, not images. */
bool dl_is_language_model(const struct dl_architecture *e);

/* Whether a network is an encoder of texts (BERT): a text passes once. */
bool dl_encodes(const struct dl_architecture *e);

/* Whether a network writes what an encoder has read (T5, Whisper). */
bool dl_has_encoder(const struct dl_architecture *e);

/* Returns the data set that a network is usually trained on, by its name in the
 * catalogue: ImageNet, or the one that publications of its family use. NULL if
 * there is no usual one, and for language models. */
const char *dl_usual_dataset(const struct dl_architecture *e);

#endif
