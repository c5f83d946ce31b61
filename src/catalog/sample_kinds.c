/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Smallest images: min_size of torchvision's weights (0.15 and later); else by
 * the stride of the coarsest map. */

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

static bool is_family(const char *family, const char *word) {
  return family && strcmp(family, word) == 0;
}

enum dl_samples dl_samples_of_dataset(const struct dl_dataset *e) {
  if (is_family(e->family, "text"))
    return DL_SAMPLES_TEXT;
  if (is_family(e->family, "speech"))
    return DL_SAMPLES_SPEECH;
  bool images = !isnan(e->image_px) || !isnan(e->stored_mpx);
  return images ? DL_SAMPLES_IMAGES : DL_SAMPLES_UNKNOWN;
}

enum dl_samples dl_samples_of_network(const struct dl_architecture *e) {
  static const struct {
    const char *family;
    enum dl_samples samples;
  } families[] = {{"speech", DL_SAMPLES_SPEECH},
                  {"translation", DL_SAMPLES_TEXT},
                  {"transformer-xl", DL_SAMPLES_TEXT},
                  {"recommendation", DL_SAMPLES_RATINGS},
                  {"graph", DL_SAMPLES_GRAPHS}};
  for (size_t i = 0; i < DL_LENGTH(families); i++)
    if (is_family(e->family, families[i].family))
      return families[i].samples;
  if (dl_is_language_model(e))
    return e->transformer->mel > 0 ? DL_SAMPLES_SPEECH : DL_SAMPLES_TEXT;
  return e->transformer || !isnan(e->image_px) ? DL_SAMPLES_IMAGES
                                               : DL_SAMPLES_UNKNOWN;
}

/* Networks with unpadded layers; a name is an identifier or its beginning. */
static double published_smallest(const char *id) {
  static const struct {
    const char *name;
    double px;
  } published[] = {{"alexnet", 63},       {"densenet1", 29},
                   {"densenet2", 29},     {"googlenet", 15},
                   {"inception_v3", 75},  {"squeezenet1_0", 21},
                   {"squeezenet1_1", 17}, {"vgg", 32}};
  for (size_t i = 0; i < DL_LENGTH(published); i++)
    if (strncmp(id, published[i].name, strlen(published[i].name)) == 0)
      return published[i].px;
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
  return e->scaling == DL_SCALING_TOKENS ? dl_or(e->patch_px, 1)
         : e->scaling == DL_SCALING_DOWN ? stride
         : e->scaling == DL_SCALING_AREA ? stride / 4
                                         : 0;
}
