/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/usual_shapes.h"

#include <math.h>

#define LEAST_PARAMS 1e7
#define MOST_PARAMS 1e13
/* GPT-2's and GPT-3's byte pairs; the output layer is the embedding. */
#define VOCABULARY 50257.0
#define SEQUENCE 2048.0

static const struct usual_shape {
  double params, hidden, heads;
} shapes[] = {{4.4e7, 512, 8},       {1.25e8, 768, 12},    {3.5e8, 1024, 16},
              {7.6e8, 1536, 16},     {1.3e9, 2048, 16},    {2.7e9, 2560, 32},
              {6.7e9, 4096, 32},     {1.3e10, 5120, 40},   {3e10, 7168, 56},
              {6.6e10, 9216, 72},    {1.75e11, 12288, 96}, {5.3e11, 20480, 128},
              {1.008e12, 25600, 160}};

bool dl_usual_shape(double params, struct dl_text *to) {
  const struct usual_shape *near = shapes;
  if (!(params >= LEAST_PARAMS && params <= MOST_PARAMS))
    return false;
  for (size_t i = 1; i < sizeof shapes / sizeof *shapes; i++)
    if (fabs(log(params / shapes[i].params)) < fabs(log(params / near->params)))
      near = &shapes[i];
  /* A layer has 4 h^2 weights in attention and 8 h^2 in the feed-forward. */
  double layers = round((params - VOCABULARY * near->hidden) /
                        (12 * near->hidden * near->hidden));
  dl_text_printf(to, "transformer:layers=%g,hidden=%g,heads=%g,vocab=%g,seq=%g",
                 fmax(1, layers), near->hidden, near->heads, VOCABULARY,
                 SEQUENCE);
  return true;
}
