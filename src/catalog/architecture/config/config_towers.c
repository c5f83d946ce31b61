/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/config/config_towers.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/config/config_values.h"

/* Sizes of a tower of transformer layers; w: hidden size of texts. */
struct tower {
  const dl_json *own, *whole;
  double layers, d, f, heads, patch, w;
};

/* A layer: attention, a feed-forward part and norms; with biases, or with a
 * gate and norms without. */
static double plain_layer(const struct tower *t) {
  return 4 * t->d * (t->d + 1) + 2 * t->d * t->f + t->f + t->d + 4 * t->d;
}

static double gated_layer(const struct tower *t) {
  return 4 * t->d * t->d + 3 * t->d * t->f + 2 * t->d;
}

static double stem(const struct tower *t, double frames) {
  return 3 * frames * t->patch * t->patch * t->d;
}

static double squared(double x) {
  return x * x;
}

/* Positions of the patches of an image. */
static double grid(const struct tower *t, double image) {
  return squared(
      floor(dl_config_number_or(t->own, "image_size", image) / t->patch));
}

static double siglip(const struct tower *t) {
  return t->layers * plain_layer(t) + stem(t, 1) + t->d + grid(t, 224) * t->d +
         2 * t->d + t->d * t->w + t->d;
}

/* Merges of 2 x 2 patches: a norm and two products. */
static double merger(const struct tower *t, double norm) {
  double wide = 4 * t->d;
  double out = dl_config_number_or(t->own, "out_hidden_size", t->w);
  return norm + wide * (wide + 1) + (wide + 1) * out;
}

static double qwen2_vl(const struct tower *t) {
  double d = dl_config_number_or(t->own, "embed_dim", 1280);
  double f = dl_config_number_or(t->own, "mlp_ratio", 4) * d;
  struct tower of = *t;
  of.d = d;
  of.f = f;
  return t->layers * plain_layer(&of) + stem(&of, 2) + merger(&of, 2 * d);
}

static double qwen2_5_vl(const struct tower *t) {
  double biases = 4 * t->d + 2 * t->f + t->d;
  return t->layers * (gated_layer(t) + biases) + stem(t, 2) + merger(t, t->d);
}

/* Some layers have merges of their own, with wider norms. */
static double qwen3_vl(const struct tower *t) {
  double deep = (double)dl_json_count(t->own, "deepstack_visual_indexes");
  double rows = dl_config_number_or(t->own, "num_position_embeddings", 2304);
  return t->layers * plain_layer(t) + stem(t, 2) + t->d + rows * t->d +
         merger(t, 2 * t->d) + deep * merger(t, 8 * t->d);
}

static double llama4(const struct tower *t) {
  double in = dl_config_number_or(t->own, "projector_input_dim", 4096);
  double out = dl_config_number_or(t->own, "projector_output_dim", 4096);
  double last = dl_config_number_or(t->own, "vision_output_dim", 4096);
  return t->layers * plain_layer(t) + stem(t, 1) + (grid(t, 448) + 1) * t->d +
         t->d + 4 * t->d + t->f * in + in * out + last * t->w;
}

/* Mistral: the projection merges 2 x 2 patches. */
static double pixtral(const struct tower *t) {
  double side = dl_config_number_or(t->whole, "spatial_merge_size", 1);
  double merged = side > 1 ? t->d + squared(side) * t->d * t->d : 0;
  return t->layers * gated_layer(t) + stem(t, 1) + t->d + merged + t->d * t->w +
         t->w * t->w;
}

static double gemma4(const struct tower *t) {
  double rows = dl_config_number_or(t->own, "position_embedding_size", 10240);
  double norms = 2 * t->d + 2 * dl_config_number_or(t->own, "head_dim", 64);
  return t->layers * (gated_layer(t) + norms) + stem(t, 1) + 2 * rows * t->d +
         t->d * t->w;
}

/* The MobileNet V5 and the audio encoder (USM) of Gemma 3n, with their
 * embeddings: the published networks less their text parts. */
#define GEMMA3N_TOWERS 983281760

static double gemma3n(const struct tower *t) {
  (void)t;
  return GEMMA3N_TOWERS;
}

static double nothing(const struct tower *t) {
  (void)t;
  return 0;
}

/* Conformer layers: two feed-forward parts of 4 d, attention of five products,
 * convolutions. */
static double gemma4_audio(const struct tower *t) {
  double k = dl_config_number_or(t->own, "conv_kernel_size", 5), d = t->d;
  double out = dl_config_number_or(t->own, "output_proj_dims", 1536);
  double each = 16 * d * d + 5 * d * d + 3 * d * d + k * d + 10 * d;
  return t->layers * each + 9 * 128 + 9 * 128 * 32 + 32 * 32 * d + d * out +
         out + out * t->w;
}

/* Kinds of towers, by the model_type of their part or of the whole. */
static const struct tower_kind {
  const char *type;
  double (*params)(const struct tower *t);
  double layers, d, f, heads, patch; /* where a file leaves them out */
} kinds[] = {
    {"siglip_vision_model", siglip, 27, 1152, 4304, 16, 14},
    {"gemma3", siglip, 27, 1152, 4304, 16, 14},
    {"qwen2_vl", qwen2_vl, 32, 1280, 5120, 16, 14},
    {"qwen2_5_vl", qwen2_5_vl, 32, 1280, 3420, 16, 14},
    {"qwen3_vl", qwen3_vl, 27, 1152, 4304, 16, 16},
    {"qwen3_vl_moe", qwen3_vl, 27, 1152, 4304, 16, 16},
    {"qwen3_5", qwen3_vl, 27, 1152, 4304, 16, 16},
    {"qwen3_5_moe", qwen3_vl, 27, 1152, 4304, 16, 16},
    {"qwen3_5_vision", qwen3_vl, 27, 1152, 4304, 16, 16},
    {"qwen3_5_moe_vision", qwen3_vl, 27, 1152, 4304, 16, 16},
    {"llama4_vision_model", llama4, 34, 1408, 5632, 16, 14},
    {"pixtral", pixtral, 24, 1024, 4096, 16, 16},
    {"gemma4_vision", gemma4, 16, 768, 3072, 12, 16},
    {"gemma4_audio", gemma4_audio, 12, 1024, 0, 8, 0},
    {"gemma3n_vision", gemma3n, 0, 2048, 0, 0, 0},
    {"gemma3n_audio", nothing, 12, 1536, 0, 8, 0},
};

static double first_of(const dl_json *j, const char *key, const char *other,
                       double otherwise) {
  return dl_config_number_or(j, key, dl_config_number_or(j, other, otherwise));
}

double dl_config_tower(const dl_json *whole, const char *part, double width) {
  const dl_json *own = dl_json_member(whole, part);
  const char *type = dl_json_get(own, "model_type").text;
  if (!type)
    type = dl_json_get(whole, "model_type").text;
  for (size_t i = 0; type && i < DL_LENGTH(kinds); i++) {
    const struct tower_kind *k = &kinds[i];
    if (strcmp(k->type, type) != 0)
      continue;
    struct tower t = {own, whole, 0, 0, 0, 0, 0, width};
    t.layers = first_of(own, "num_hidden_layers", "depth", k->layers);
    t.d = dl_config_number_or(own, "hidden_size", k->d);
    t.f = dl_config_number_or(own, "intermediate_size", k->f);
    t.heads = first_of(own, "num_attention_heads", "num_heads", k->heads);
    t.patch = dl_config_number_or(own, "patch_size", k->patch);
    return k->params(&t);
  }
  return NAN;
}

double dl_config_siglip_text(const dl_json *part) {
  enum { WORDS = 32000, TOKENS = 64 };
  struct tower t = {.own = part,
                    .layers =
                        dl_config_number_or(part, "num_hidden_layers", 12),
                    .d = dl_config_number_or(part, "hidden_size", 768),
                    .f = dl_config_number_or(part, "intermediate_size", 3072)};
  double rows = dl_config_number_or(part, "vocab_size", WORDS) +
                dl_config_number_or(part, "max_position_embeddings", TOKENS);
  return rows * t.d + t.layers * plain_layer(&t) + 2 * t.d + t.d * (t.d + 1) +
         2;
}
