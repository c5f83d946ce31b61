/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/scaling.h"

#include <math.h>

#include "catalog/from_onnx.h"

const struct dl_use dl_use_reference = {NAN, NAN, NAN};

/* Attention over n tokens: 2 depth n^2 width MACs for scores and mixing. */
static double attention_macs_g(const struct dl_descriptor *e, double px) {
  double side = floor(px / e->value[DL_ARCH_PATCH_PX].x);
  double n = side * side + 1;
  return 2e-9 * e->value[DL_ARCH_DEPTH].x * n * n * e->value[DL_ARCH_WIDTH].x;
}

static double tokens(const struct dl_descriptor *e, double px) {
  double side = floor(px / e->value[DL_ARCH_PATCH_PX].x);
  return side * side + 1;
}

static void scale_input(const struct dl_descriptor *e, struct dl_input *in,
                        double px) {
  double area = (px / in->image_px) * (px / in->image_px);
  if (e->scaling == DL_SCALING_AREA) {
    double head = e->value[DL_ARCH_HEAD_MACS_G].x;
    if (isnan(head))
      head = 0;
    in->macs_g.x = head + (in->macs_g.x - head) * area;
    in->acts_m.x *= area;
  } else if (e->scaling == DL_SCALING_TOKENS) {
    double was = attention_macs_g(e, in->image_px);
    double more = tokens(e, px) / tokens(e, in->image_px);
    in->macs_g.x = (in->macs_g.x - was) * more + attention_macs_g(e, px);
    /* Attention maps are activations too, but a minor part of them. */
    in->acts_m.x *= more;
  }
  in->macs_g.note = in->acts_m.note = "derived: scaled with the input size";
  in->image_px = px;
}

static const struct dl_input *nearest_input(const struct dl_descriptor *e,
                                            double px) {
  const struct dl_input *best = &e->inputs[0];
  for (size_t i = 1; i < e->n_inputs; i++)
    if (fabs(log(e->inputs[i].image_px / px)) < fabs(log(best->image_px / px)))
      best = &e->inputs[i];
  return best;
}

/* Activations may be listed for fewer inputs than MACs. */
static struct dl_value_of acts_at(const struct dl_descriptor *e, double px) {
  struct dl_value_of none = {NAN, NULL, NULL};
  for (size_t i = 0; i < e->n_inputs; i++) {
    if (isnan(e->inputs[i].acts_m.x))
      continue;
    struct dl_input in = e->inputs[i];
    if (in.image_px != px)
      scale_input(e, &in, px);
    return in.acts_m;
  }
  return none;
}

struct dl_descriptor dl_architecture_at(const struct dl_descriptor *e,
                                        const struct dl_use *use,
                                        bool *scaled) {
  double image_px = use->image_px;
  struct dl_descriptor at = *e;
  *scaled = false;
  if (e->recount && dl_recount_at(e->recount, use, &at))
    return at;
  if (e->n_inputs == 0)
    return at;
  struct dl_input in =
      isnan(image_px) ? e->inputs[0] : *nearest_input(e, image_px);
  if (!isnan(image_px) && in.image_px != image_px) {
    scale_input(e, &in, image_px);
    *scaled = true;
  }
  if (isnan(in.acts_m.x))
    in.acts_m = acts_at(e, in.image_px);
  at.value[DL_ARCH_MACS_G] = in.macs_g;
  at.value[DL_ARCH_ACTS_M] = in.acts_m;
  at.value[DL_ARCH_IMAGE_PX] = (struct dl_value_of){in.image_px, NULL, NULL};
  return at;
}
