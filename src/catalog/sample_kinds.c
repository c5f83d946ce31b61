/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smallest image of a network is min_size of torchvision's weights (0.15
 * and later), or follows from the stride of the coarsest map. */

#include "catalog/sample_kinds.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"

#define USUAL_STRIDE 32

const char *dl_samples_word(enum dl_samples samples) {
  static const char *const words[] = {
      "unknown samples",         "images", "text", "speech",
      "users' ratings of items", "graphs"};
  return words[samples];
}

enum dl_samples dl_samples_of_dataset(const struct dl_dataset *e) {
  if (dl_same_text(e->family, "text"))
    return DL_SAMPLES_TEXT;
  if (dl_same_text(e->family, "speech"))
    return DL_SAMPLES_SPEECH;
  bool images = !isnan(e->image_px) || !isnan(e->stored_mpx);
  return images ? DL_SAMPLES_IMAGES : DL_SAMPLES_UNKNOWN;
}

enum dl_samples dl_samples_of_network(const struct dl_architecture *e) {
  static const char *const families[][2] = {
      [DL_SAMPLES_TEXT] = {"translation", "transformer-xl"},
      [DL_SAMPLES_SPEECH] = {"speech"},
      [DL_SAMPLES_RATINGS] = {"recommendation"},
      [DL_SAMPLES_GRAPHS] = {"graph"}};
  for (size_t i = 0; e->family && i < DL_LENGTH(families); i++)
    if (dl_same_text(e->family, families[i][0]) ||
        dl_same_text(e->family, families[i][1]))
      return (enum dl_samples)i;
  if (dl_is_language_model(e))
    return e->transformer->mel > 0 ? DL_SAMPLES_SPEECH : DL_SAMPLES_TEXT;
  return e->transformer || !isnan(e->image_px) ? DL_SAMPLES_IMAGES
                                               : DL_SAMPLES_UNKNOWN;
}

/* Returns the published size of a network with unpadded layers, or NaN. A name
 * is an identifier or its beginning. */
static double published_smallest(const char *id) {
  static const char *const names[] = {
      "alexnet",      "densenet1",     "densenet2",     "googlenet",
      "inception_v3", "squeezenet1_0", "squeezenet1_1", "vgg"};
  static const double px[DL_LENGTH(names)] = {63, 29, 29, 15, 75, 21, 17, 32};
  for (size_t i = 0; i < DL_LENGTH(names); i++)
    if (strncmp(id, names[i], strlen(names[i])) == 0)
      return px[i];
  return NAN;
}

double dl_smallest_image(const struct dl_architecture *e) {
  double published = published_smallest(e->head.id);
  double stride = dl_or(e->stride_px, USUAL_STRIDE);
  if (e->transformer)
    return dl_is_language_model(e) ? 0 : e->transformer->patch;
  if (e->recount || isnan(e->image_px))
    return 0;
  if (!isnan(published))
    return published;
  switch (e->scaling) {
  case DL_SCALING_TOKENS:
    return dl_or(e->patch_px, 1);
  case DL_SCALING_DOWN:
    return stride;
  case DL_SCALING_AREA:
    return stride / 4;
  default:
    return 0;
  }
}
