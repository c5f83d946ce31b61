/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples that data sets hold and networks take. */

#ifndef DL_CATALOG_SAMPLE_KINDS_H
#define DL_CATALOG_SAMPLE_KINDS_H

#include "catalog/descriptor_kinds.h"

enum dl_samples {
  DL_SAMPLES_UNKNOWN,
  DL_SAMPLES_IMAGES,
  DL_SAMPLES_TEXT,
  DL_SAMPLES_SPEECH,
  DL_SAMPLES_RATINGS, /* users and items */
  DL_SAMPLES_GRAPHS
};

/* Returns "images", "text", ... */
const char *dl_samples_word(enum dl_samples samples);

enum dl_samples dl_samples_of_dataset(const struct dl_dataset *e);
enum dl_samples dl_samples_of_network(const struct dl_architecture *e);

/* Returns the side of the smallest image that a network takes. A smaller one
 * leaves a layer without output or, in networks that pad, lets all layers from
 * a quarter of the way down work on single elements. 0: any, or it takes none.
 */
double dl_smallest_image(const struct dl_architecture *e);

#endif
