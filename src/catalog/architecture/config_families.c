/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of keys are those of the transformers library
 * (https://huggingface.co/docs/transformers), in which they differ by family.
 */

#include "catalog/architecture/config_families.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define MOST_LAYERS 1e4 /* transformer_shape.c */

/* A key of a shape (transformer_shape.c) and what configs call it: the first
 * that is there counts, and others say the same. */
static const struct dl_config_key keys[] = {
    {"layers", "num_hidden_layers|n_layer|n_layers|encoder_layers|num_layers"},
    {"hidden", "hidden_size|n_embd|d_model|dim"},
    {"heads", "num_attention_heads|n_head|n_heads|encoder_attention_heads|"
              "decoder_attention_heads|num_heads"},
    {"kv_heads", "num_key_value_heads"},
    {"head_dim", "head_dim|d_kv|kv_channels"},
    {"ffn", "intermediate_size|n_inner|d_ff|ffn_dim|encoder_ffn_dim|"
            "decoder_ffn_dim|hidden_dim"},
    {"vocab", "vocab_size|padded_vocab_size"},
    {"embedding", "word_embed_proj_dim|embedding_size"},
    {"seq", "max_position_embeddings|n_positions|n_ctx|max_source_positions|"
            "seq_length"},
    {"tied", "tie_word_embeddings"},
    {"qkv_bias", "attention_bias"},
    {"decoder_layers", "decoder_layers|num_decoder_layers"},
    {"decoder_seq", "max_target_positions"},
    {"token_types", "type_vocab_size"},
    {"relative", "relative_attention_num_buckets"},
    {"experts", "num_local_experts|num_experts"},
    {"active_experts", "num_experts_per_tok"},
    {"moe_ffn", "moe_intermediate_size"},
    {"moe_every", "decoder_sparse_step"},
    {"shared_ffn", "shared_expert_intermediate_size"},
    {"image", "image_size"},
    {"patch", "patch_size"},
    {"channels", "num_channels"},
    {"mel", "num_mel_bins"},
};

void dl_config_put(struct dl_config_parts *p, const char *key, double x) {
  size_t i = 0;
  while (i < p->n && strcmp(p->at[i].key, key) != 0)
    i++;
  snprintf(p->at[i].key, DL_CONFIG_MOST_KEY, "%s", key);
  p->at[i].x = x;
  p->n += i == p->n;
}

double dl_config_part(const struct dl_config_parts *p, const char *key) {
  for (size_t i = 0; i < p->n; i++)
    if (strcmp(p->at[i].key, key) == 0)
      return p->at[i].x;
  return NAN;
}

/* --- What a family adds to its keys. */

/* A member that is a number; else NaN. */
static double number_of(const dl_json *j, const char *key) {
  struct dl_json_value v = dl_json_get(j, key);
  return v.type == DL_JSON_NUMBER ? v.number : (double)NAN;
}

static bool has_text(const dl_json *j, const char *key, const char *part_of) {
  const char *text = dl_json_get(j, key).text;
  return text && strstr(text, part_of);
}

/* Positions are learned, and may be more than the sequence. */
static void learned(struct dl_config_parts *p, const dl_json *j) {
  (void)j;
  dl_config_put(p, "positions", dl_config_part(p, "seq"));
}

/* The variant with a narrow embedding has norms behind its layers. */
static void opt(struct dl_config_parts *p, const dl_json *j) {
  (void)j;
  dl_config_put(p, "positions", dl_config_part(p, "seq") + 2);
  if (dl_config_part(p, "embedding") < dl_config_part(p, "hidden"))
    dl_config_put(p, "final_norm", 0);
}

/* Positions below 2 stand for padding. */
static void roberta(struct dl_config_parts *p, const dl_json *j) {
  learned(p, j);
  dl_config_put(p, "seq", dl_config_part(p, "seq") - 2);
}

/* Relative positions, if any, in both directions, as many as buckets. */
static void deberta(struct dl_config_parts *p, const dl_json *j) {
  double buckets = number_of(j, "position_buckets");
  double most = number_of(j, "max_relative_positions");
  struct dl_json_value absolute = dl_json_get(j, "position_biased_input");
  bool none = absolute.type == DL_JSON_TRUTH && absolute.number == 0;
  if (dl_json_get(j, "relative_attention").number > 0)
    dl_config_put(p, "disentangled",
                  2 * (buckets > 0 ? buckets
                       : most >= 1 ? most
                                   : dl_config_part(p, "seq")));
  dl_config_put(p, "positions", none ? 0 : dl_config_part(p, "seq"));
}

static void qwen(struct dl_config_parts *p, const dl_json *j) {
  (void)j; /* intermediate_size counts both matrices of the gate */
  dl_config_put(p, "ffn", dl_config_part(p, "ffn") / 2);
}

/* Layers with a window by the rule of a family: all of Mistral's, all but every
 * second of Gemma 2 or sixth of Gemma 3, and those of Qwen behind the first
 * ones where it uses any. */
static double usual_windows(const struct dl_config_parts *p, const dl_json *j) {
  enum { QWEN_WITHOUT = 28 };
  double layers = dl_config_part(p, "layers");
  if (has_text(j, "model_type", "gemma")) {
    double every = has_text(j, "model_type", "gemma2") ? 2 : 6;
    double pattern = dl_or(number_of(j, "sliding_window_pattern"),
                           number_of(j, "_sliding_window_pattern"));
    return layers - floor(layers / (pattern >= 1 ? pattern : every));
  }
  if (has_text(j, "model_type", "qwen") &&
      dl_json_get(j, "use_sliding_window").number > 0)
    return layers - dl_or(number_of(j, "max_window_layers"), QWEN_WITHOUT);
  return has_text(j, "model_type", "mistral") ||
                 has_text(j, "model_type", "mixtral")
             ? layers
             : 0;
}

/* The layers that a config lists with that kind of attention. */
double dl_config_listed(const dl_json *j, const char *kind) {
  double n = 0;
  for (size_t i = 0; i < dl_json_count(j, "layer_types"); i++) {
    const char *type = dl_json_text_at(j, "layer_types", i);
    n += type && strcmp(type, kind) == 0;
  }
  return n;
}

/* Layers with a window: as listed, else as usual. */
static void windows(struct dl_config_parts *p, const dl_json *j) {
  double window = number_of(j, "sliding_window");
  double with = dl_json_count(j, "layer_types") > 0
                    ? dl_config_listed(j, "sliding_attention")
                    : usual_windows(p, j);
  if (window >= 1 && with >= 1) {
    dl_config_put(p, "window", window);
    dl_config_put(p, "window_layers", with);
  }
}

/* Some layers of a mixture of experts have none: the listed ones, and those
 * that are not the last of `moe_every`. How many they are counts, not which. */
static void dense_layers(struct dl_config_parts *p, const dl_json *j) {
  const dl_json *list = dl_json_member(j, "mlp_only_layers");
  double layers = dl_config_part(p, "layers"),
         every = dl_or(dl_config_part(p, "moe_every"), 1);
  bool counts = layers >= 1 && layers <= MOST_LAYERS && every >= 1;
  windows(p, j);
  if (dl_json_size(list) == 0 || !counts)
    return;
  DL_FREED bool *dense = dl_calloc((size_t)layers, sizeof *dense);
  for (size_t i = 0; i < dl_json_size(list); i++) {
    double at = dl_json_value_at(list, i).number;
    if (at >= 0 && at < layers)
      dense[(size_t)at] = true;
  }
  double n = 0;
  for (size_t i = 0; i < (size_t)layers; i++)
    n += dense[i] || fmod((double)i + 1, every) > 0;
  dl_config_put(p, "moe_every", 1);
  dl_config_put(p, "dense_layers", n);
}

static void t5(struct dl_config_parts *p, const dl_json *j) {
  dl_config_put(p, "gated", has_text(j, "feed_forward_proj", "gated"));
  if (isnan(dl_config_part(p, "seq")))
    dl_config_put(p, "seq", 512);
}

static void whisper(struct dl_config_parts *p, const dl_json *j) {
  (void)j;
  dl_config_put(p, "encoder_positions", dl_config_part(p, "seq"));
  dl_config_put(p, "positions", dl_config_part(p, "decoder_seq"));
}

/* A classifier where the checkpoint is one, else the pooling layer. */
static void vit(struct dl_config_parts *p, const dl_json *j) {
  const char *is = dl_json_text_at(j, "architectures", 0);
  size_t labels = dl_json_count(j, "id2label");
  if (is && strstr(is, "Classification"))
    dl_config_put(p, "classes", labels > 0 ? (double)labels : 2);
  else
    dl_config_put(p, "pooler", 1);
}

#define WINDOWS                                                                \
  "sliding_window|sliding_window_pattern|_sliding_window_pattern|"             \
  "layer_types|use_sliding_window|max_window_layers"
#define DECODER "layers hidden heads vocab seq "
#define LLAMA DECODER "ffn gated=1 kv_heads? head_dim? tied? qkv_bias? "
#define MOE "experts active_experts "

const struct dl_config_family dl_config_families[] = {
    {"llama|mistral|qwen3", "decoder", LLAMA, windows, WINDOWS},
    {"gemma|gemma2|gemma3_text", "decoder", LLAMA "tied=1", windows, WINDOWS},
    {"mixtral", "decoder", LLAMA MOE, windows, WINDOWS},
    {"qwen2", "decoder", LLAMA "qkv_bias=1", windows, WINDOWS},
    {"qwen2_moe", "decoder",
     LLAMA MOE "moe_ffn shared_ffn moe_every? qkv_bias=1", dense_layers,
     WINDOWS "|mlp_only_layers"},
    {"qwen3_moe", "decoder", LLAMA MOE "moe_ffn moe_every?", dense_layers,
     WINDOWS "|mlp_only_layers"},
    {"qwen", "decoder", DECODER "ffn head_dim? tied? gated=1 qkv_bias=1", qwen,
     NULL},
    {"gpt2", "decoder", DECODER "ffn? tied? gated=0", learned, NULL},
    {"opt", "decoder", DECODER "ffn tied? embedding? gated=0", opt, NULL},
    {"gpt_neox", "decoder", DECODER "ffn gated=0 tied=0 positions=0", NULL,
     NULL},
    {"bert", "encoder", DECODER "ffn token_types=2 pooler=1", learned, NULL},
    {"roberta|xlm-roberta|camembert", "encoder",
     DECODER "ffn token_types=1 pooler=1", roberta, NULL},
    {"distilbert", "encoder", DECODER "ffn", learned, NULL},
    {"albert", "encoder",
     DECODER "ffn embedding? positions=0 pooler=1 shared_layers=1", NULL, NULL},
    {"deberta-v2", "encoder", DECODER "ffn token_types?", deberta,
     "relative_attention|position_buckets|max_relative_positions|"
     "position_biased_input"},
    {"t5|mt5", "encoder-decoder",
     "layers hidden heads head_dim ffn vocab seq? decoder_layers? tied=1 "
     "relative=32 bias=0 norm_bias=0",
     t5, NULL},
    {"whisper", "encoder-decoder",
     DECODER "ffn decoder_layers decoder_seq mel tied=1 key_bias=0", whisper,
     NULL},
    {"vit|deit", "vision",
     "layers hidden heads ffn image patch channels? gated=0", vit, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct dl_config_key *dl_config_key(const char *name) {
  for (size_t i = 0; i < DL_LENGTH(keys); i++)
    if (strcmp(keys[i].key, name) == 0)
      return &keys[i];
  return NULL;
}

/* The value of the first name of a key that is there; NaN. */
double dl_config_first(const dl_json *j, const struct dl_config_key *k) {
  double x = NAN;
  for (const char *s = k->names; *s && isnan(x); s += *s == '|') {
    DL_TEXT(name);
    size_t n = strcspn(s, "|");
    dl_text_add_n(&name, s, n);
    x = dl_json_get(j, dl_text_str(&name)).number;
    s += n;
  }
  return x;
}

/* The family of the model_type of a config, or NULL; accepts NULL. */
const struct dl_config_family *dl_config_family_of(const dl_json *j) {
  const char *type = dl_json_get(j, "model_type").text;
  const struct dl_config_family *f = dl_config_families;
  while (f->types &&
         !(type && dl_word_among(f->types, type, strlen(type)) >= 0))
    f++;
  return f->types ? f : NULL;
}
