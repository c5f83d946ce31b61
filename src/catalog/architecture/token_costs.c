/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/token_costs.h"

#include <math.h>

#include "catalog/architecture/transformer.h"

static const char note[] = "derived: from the shape";

static void put(struct dl_descriptor *e, enum dl_architecture_field field,
                double x) {
  if (isnan(e->value[field].x))
    e->value[field] = (struct dl_value_of){x, e->shape_source, note};
}

/* What a step of generation costs, of a decoder. */
static void put_decoder(struct dl_descriptor *e,
                        const struct dl_transformer *t) {
  struct dl_decoding step = dl_transformer_decoding(t, 0);
  double fixed = dl_transformer_step_params(t, 0);
  bool experts = t->experts > 0;
  put(e, DL_ARCH_TOKEN_PARAMS_M, step.macs / 1e6);
  put(e, DL_ARCH_EXPERT_PARAMS_M,
      (dl_transformer_step_params(t, 1) - fixed) / 1e6);
  put(e, DL_ARCH_EXPERT_SHARE, experts ? t->active_experts / t->experts : 0);
  put(e, DL_ARCH_KEPT_PER_TOKEN, step.kept_more);
  put(e, DL_ARCH_PAIR_MACS, step.macs_more);
}

/* What does not depend on the input. */
static void put_shape(struct dl_descriptor *e, const struct dl_transformer *t) {
  put(e, DL_ARCH_PARAMS_M, dl_transformer_params(t) / 1e6);
  if (t->experts > 0)
    put(e, DL_ARCH_ACTIVE_PARAMS_M, dl_transformer_active_params(t) / 1e6);
  put(e, DL_ARCH_HEAD_PARAMS_M, dl_transformer_head_params(t) / 1e6);
  put(e, DL_ARCH_HEAD_INPUTS, t->hidden);
  put(e, DL_ARCH_LAYERS, dl_transformer_dense(t));
  put(e, DL_ARCH_LAUNCHES, dl_transformer_launches(t));
  put(e, DL_ARCH_DEPTH, t->layers + t->decoder_layers);
  put(e, DL_ARCH_WIDTH, t->hidden);
  put(e, DL_ARCH_HEADS, t->heads);
  if (t->classes > 0)
    put(e, DL_ARCH_CLASSES, t->classes);
  if (t->kind == DL_TF_VISION) {
    put(e, DL_ARCH_PATCH_PX, t->patch);
    put(e, DL_ARCH_EXTRA_TOKENS, 1);
  }
  if (t->kind == DL_TF_DECODER)
    put_decoder(e, t);
}

struct dl_descriptor dl_transformer_at(const struct dl_descriptor *e,
                                       const struct dl_use *use, bool *scaled) {
  struct dl_descriptor at = *e;
  struct dl_transformer t = *e->transformer;
  bool vision = t.kind == DL_TF_VISION;
  if (!isnan(use->classes) && (t.classes > 0 || t.kind == DL_TF_ENCODER))
    t.classes = use->classes;
  double n = dl_transformer_tokens(&t, use->image_px);
  double px = isnan(use->image_px) ? t.image : use->image_px;
  if (!vision && !isnan(use->seq_len))
    n = use->seq_len;
  *scaled = n != dl_transformer_tokens(&t, NAN);
  struct dl_pass p = dl_transformer_pass(&t, n);
  put_shape(&at, &t);
  put(&at, DL_ARCH_ATTENTION_MACS_G, p.attention_macs / 1e9);
  put(&at, DL_ARCH_ATTENTION_ACTS_M, p.attention_acts / 1e6);
  at.value[DL_ARCH_MACS_G] =
      (struct dl_value_of){p.macs / 1e9, e->shape_source, note};
  at.value[DL_ARCH_ACTS_M] =
      (struct dl_value_of){p.acts / 1e6, e->shape_source, note};
  at.value[vision ? DL_ARCH_IMAGE_PX : DL_ARCH_SEQ_LEN] =
      (struct dl_value_of){vision ? px : n, NULL, NULL};
  return at;
}

bool dl_is_language_model(const struct dl_descriptor *e) {
  return e->transformer && e->transformer->kind != DL_TF_VISION;
}
