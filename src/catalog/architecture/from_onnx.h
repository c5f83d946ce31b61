/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ONNX model as an architecture of the catalogue. */

#ifndef DL_CATALOG_ARCHITECTURE_FROM_ONNX_H
#define DL_CATALOG_ARCHITECTURE_FROM_ONNX_H

#include "catalog/architecture/scaling.h"
#include "catalog/catalog_file.h"
#include "onnx/onnx.h"

/* Makes a catalogue of one architecture from the counts of a model; each value
 * is marked as derived. It scales with the area if a count at twice the size of
 * its image input confirms that within 0.5 %; head_macs_g is then the part that
 * did not grow. The caller owns it. */
struct dl_xml *dl_onnx_descriptor(const struct dl_onnx *m,
                                  const struct dl_onnx_asked *asked,
                                  const struct dl_onnx_count *c);

/* Counts of a model at the inputs of a run. */
struct dl_recount;

/* Reads and counts a model. Open dimensions are counted at an
 * image of 224 px and a sequence of 128 tokens, with a warning; the sizes of a
 * run take precedence. */
enum dl_status dl_onnx_load(struct dl_catalog_file *s, const char *path,
                            struct dl_recount **recount, struct dl_diag *d);
void dl_recount_free(struct dl_recount *r); /* accepts NULL */

/* Sets MACs, activations and input of *e for a use. Returns false, with *e
 * unchanged, if the use is the one of *e or the model cannot be counted at it.
 */
bool dl_recount_at(const struct dl_recount *r, const struct dl_use *use,
                   struct dl_architecture *e);

#endif
