/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Architectures given by their shape: "transformer:layers=32,hidden=4096,...".
 * They need no file and may stand in a table. */

#ifndef DL_CATALOG_ARCHITECTURE_LAYER_SHAPES_H
#define DL_CATALOG_ARCHITECTURE_LAYER_SHAPES_H

#include "base/names/intern.h"
#include "catalog/descriptor_kinds.h"

/* Shapes in use, by their text. Starts as {0}. */
struct dl_shapes {
  struct dl_intern texts;
  struct dl_descriptor **e; /* architectures by number in `texts`, owned */
  size_t cap;
};

void dl_shapes_free(struct dl_shapes *s);

/* Whether a name is a shape. */
bool dl_is_shape(const char *name);

/* Returns the architecture of such a text in *e; s owns it. Fails as
 * dl_transformer_parse does. */
enum dl_status dl_shapes_get(struct dl_shapes *s, const char *text,
                             const struct dl_descriptor **e, struct dl_diag *d);

#endif
