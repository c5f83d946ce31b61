/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/token_costs.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/transformer.h"

static const char note[] = "derived: from the shape";

/* Sets a value that follows from the shape, unless the catalogue gives it. */
static void put(struct dl_architecture *e, double *member, double x) {
  if (!isnan(*member))
    return;
  *member = x;
  e->head.origin[dl_field_index(&e->head, member)] =
      (struct dl_origin){.source = e->shape_source, .note = note};
}

/* Sets the cost of one generation step, by the decoder. */
static void put_decoder(struct dl_architecture *e,
                        const struct dl_transformer *t) {
  struct dl_decoding step = dl_transformer_decoding(t, 0);
  double fixed = dl_transformer_step_params(t, 0);
  bool experts = t->experts > 0;
  put(e, &e->token_params_m, step.macs / 1e6);
  put(e, &e->expert_params_m, (dl_transformer_step_params(t, 1) - fixed) / 1e6);
  put(e, &e->expert_share, experts ? t->active_experts / t->experts : 0);
  put(e, &e->kv_cache_per_token, step.kept_more);
  put(e, &e->pair_macs, step.macs_more);
  if (t->window > 0) {
    put(e, &e->attention_window, t->window);
    put(e, &e->window_share, t->window_layers / fmax(t->attention_layers, 1));
  }
}

/* Sets the values that do not depend on the input. */
static void put_shape(struct dl_architecture *e,
                      const struct dl_transformer *t) {
  put(e, &e->params_m, dl_transformer_params(t) / 1e6);
  if (t->experts > 0)
    put(e, &e->active_params_m, dl_transformer_active_params(t) / 1e6);
  put(e, &e->head_params_m, dl_transformer_head_params(t) / 1e6);
  put(e, &e->head_inputs, t->hidden);
  put(e, &e->layers, dl_transformer_dense(t));
  put(e, &e->launches, dl_transformer_launches(t));
  put(e, &e->depth, t->layers + t->decoder_layers);
  put(e, &e->hidden_size, t->hidden);
  put(e, &e->heads, t->heads);
  if (t->classes > 0)
    put(e, &e->classes, t->classes);
  if (t->kind == DL_TF_VISION) {
    put(e, &e->patch_px, t->patch);
    put(e, &e->extra_tokens, 1);
  }
  if (dl_transformer_writes(t))
    put_decoder(e, t);
}

struct dl_architecture dl_transformer_at(const struct dl_architecture *e,
                                         const struct dl_use *use,
                                         bool *scaled) {
  struct dl_architecture at = *e;
  struct dl_transformer t = *e->transformer;
  bool vision = t.kind == DL_TF_VISION;
  if (!isnan(use->classes) && (t.classes > 0 || t.kind == DL_TF_ENCODER))
    t.classes = use->classes;
  double n = dl_transformer_tokens(&t, use->image_px);
  double px = dl_or(use->image_px, t.image);
  if (!vision && !isnan(use->seq_len))
    n = use->seq_len;
  *scaled = n != dl_transformer_tokens(&t, NAN);
  struct dl_pass p = dl_transformer_pass(&t, n);
  put_shape(&at, &t);
  put(&at, &at.attention_macs_g, p.attention_macs / 1e9);
  put(&at, &at.attention_acts_m, p.attention_acts / 1e6);
  at.macs_g = at.acts_m = NAN; /* follow from the shape alone */
  put(&at, &at.macs_g, p.macs / 1e9);
  put(&at, &at.acts_m, p.acts / 1e6);
  double *input = vision ? &at.image_px : &at.seq_len;
  *input = vision ? px : n;
  at.head.origin[dl_field_index(&at.head, input)] = (struct dl_origin){0};
  return at;
}

bool dl_is_language_model(const struct dl_architecture *e) {
  return e->transformer && e->transformer->kind != DL_TF_VISION;
}

bool dl_encodes(const struct dl_architecture *e) {
  return e->transformer && e->transformer->kind == DL_TF_ENCODER;
}

bool dl_has_encoder(const struct dl_architecture *e) {
  return e->transformer && e->transformer->kind == DL_TF_ENCODER_DECODER;
}

const char *dl_usual_dataset(const struct dl_architecture *e) {
  /* Families and their data sets; NULL: each publication has its own. */
  static const char *const usual[][2] = {{"rcnn", "coco2017"},
                                         {"detr", "coco2017"},
                                         {"retinanet", "coco2017"},
                                         {"ssd", "coco2017"},
                                         {"yolo", "coco2017"},
                                         {"efficientdet", "coco2017"},
                                         {"segformer", "ade20k"},
                                         {"speech", "librispeech"},
                                         {"segmentation", NULL},
                                         {"diffusion", NULL},
                                         {"unet", NULL},
                                         {"video", NULL},
                                         {"sam", NULL},
                                         {"clip", NULL}};
  if (dl_is_language_model(e))
    return NULL;
  for (size_t i = 0; e->family && i < DL_LENGTH(usual); i++)
    if (strcmp(e->family, usual[i][0]) == 0)
      return usual[i][1];
  /* Other samples are neither images nor sequences of a known length:
   * utterances, volumes, pairs of a user and an item, graphs. */
  bool own = !e->transformer && e->n_inputs == 0 && isnan(e->image_px) &&
             isnan(e->seq_len);
  return own ? NULL : "imagenet";
}
