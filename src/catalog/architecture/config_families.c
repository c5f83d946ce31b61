/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of networks, and the names of their keys in the transformers library
 * (https://huggingface.co/docs/transformers), which differ by family. */

#include "catalog/architecture/config_families.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"

#define MOST_LAYERS 1e4 /* transformer_shape.c */

#define KEY(member, truth, ...)                                                \
  {                                                                            \
#member, offsetof(struct dl_transformer, member), truth, {                 \
      __VA_ARGS__                                                              \
    }                                                                          \
  }

const struct dl_config_key dl_config_keys[] = {
    [DL_CONFIG_LAYERS] = KEY(layers, false, "num_hidden_layers", "n_layer",
                             "n_layers", "encoder_layers", "num_layers"),
    [DL_CONFIG_HIDDEN] =
        KEY(hidden, false, "hidden_size", "n_embd", "d_model", "dim"),
    [DL_CONFIG_HEADS] =
        KEY(heads, false, "num_attention_heads", "n_head", "n_heads",
            "encoder_attention_heads", "decoder_attention_heads", "num_heads"),
    [DL_CONFIG_KV_HEADS] = KEY(kv_heads, false, "num_key_value_heads"),
    [DL_CONFIG_HEAD_DIM] =
        KEY(head_dim, false, "head_dim", "d_kv", "kv_channels"),
    [DL_CONFIG_FFN] =
        KEY(ffn, false, "intermediate_size", "n_inner", "d_ff", "ffn_dim",
            "encoder_ffn_dim", "decoder_ffn_dim", "hidden_dim"),
    [DL_CONFIG_VOCAB] = KEY(vocab, false, "vocab_size", "padded_vocab_size"),
    [DL_CONFIG_EMBEDDING] =
        KEY(embedding, false, "word_embed_proj_dim", "embedding_size"),
    [DL_CONFIG_SEQ] = KEY(seq, false, "max_position_embeddings", "n_positions",
                          "n_ctx", "max_source_positions", "seq_length"),
    [DL_CONFIG_TIED] = KEY(tied, true, "tie_word_embeddings"),
    [DL_CONFIG_QKV_BIAS] = KEY(qkv_bias, true, "attention_bias"),
    [DL_CONFIG_DECODER_LAYERS] =
        KEY(decoder_layers, false, "decoder_layers", "num_decoder_layers"),
    [DL_CONFIG_DECODER_SEQ] = KEY(decoder_seq, false, "max_target_positions"),
    [DL_CONFIG_TOKEN_TYPES] = KEY(token_types, false, "type_vocab_size"),
    [DL_CONFIG_RELATIVE] =
        KEY(relative, false, "relative_attention_num_buckets"),
    [DL_CONFIG_EXPERTS] =
        KEY(experts, false, "num_local_experts", "num_experts"),
    [DL_CONFIG_ACTIVE_EXPERTS] =
        KEY(active_experts, false, "num_experts_per_tok"),
    [DL_CONFIG_MOE_FFN] = KEY(moe_ffn, false, "moe_intermediate_size"),
    [DL_CONFIG_MOE_EVERY] = KEY(moe_every, false, "decoder_sparse_step"),
    [DL_CONFIG_SHARED_FFN] =
        KEY(shared_ffn, false, "shared_expert_intermediate_size"),
    [DL_CONFIG_IMAGE] = KEY(image, false, "image_size"),
    [DL_CONFIG_PATCH] = KEY(patch, false, "patch_size"),
    [DL_CONFIG_CHANNELS] = KEY(channels, false, "num_channels"),
    [DL_CONFIG_MEL] = KEY(mel, false, "num_mel_bins"),
};

void dl_config_put(struct dl_transformer *t, const struct dl_config_key *k,
                   double x) {
  memcpy((char *)t + k->offset, &x, sizeof x);
}

/* Below, `adjust` of each family sets what its keys leave open. */

static void preset(double *x, double usual) {
  if (isnan(*x))
    *x = usual;
}

/* Returns a member that is a number; else NaN. */
static double number_of(const dl_json *j, const char *key) {
  struct dl_json_value v = dl_json_get(j, key);
  return v.type == DL_JSON_NUMBER ? v.number : (double)NAN;
}

static bool has_text(const dl_json *j, const char *key, const char *part_of) {
  const char *text = dl_json_get(j, key).text;
  return text && strstr(text, part_of);
}

/* Positions are learned, and may be more than the sequence. */
static void learned(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->positions = t->seq;
}

static void gpt2(struct dl_transformer *t, const dl_json *j) {
  learned(t, j);
  t->gated = 0;
}

/* The variant with a narrow embedding has norms behind its layers. */
static void opt(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->positions = t->seq + 2;
  t->gated = 0;
  if (t->embedding < t->hidden)
    t->final_norm = 0;
}

static void gpt_neox(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->gated = t->positions = 0;
  preset(&t->tied, 0);
}

static void bert(struct dl_transformer *t, const dl_json *j) {
  learned(t, j);
  preset(&t->token_types, 2);
  t->pooler = 1;
}

/* Positions below 2 stand for padding. */
static void roberta(struct dl_transformer *t, const dl_json *j) {
  learned(t, j);
  preset(&t->token_types, 1);
  t->seq -= 2;
  t->pooler = 1;
}

static void albert(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->positions = 0;
  t->pooler = t->shared_layers = 1;
}

/* Relative positions, if any, go in both directions, as many as buckets. */
static void deberta(struct dl_transformer *t, const dl_json *j) {
  double buckets = number_of(j, "position_buckets");
  double most = number_of(j, "max_relative_positions");
  struct dl_json_value absolute = dl_json_get(j, "position_biased_input");
  bool none = absolute.type == DL_JSON_TRUTH && absolute.number == 0;
  double each = most >= 1 ? most : t->seq;
  if (dl_json_get(j, "relative_attention").number > 0)
    t->disentangled = 2 * (buckets > 0 ? buckets : each);
  t->positions = none ? 0 : t->seq;
}

static void qwen(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->ffn /= 2; /* intermediate_size counts both matrices of the gate */
  t->gated = 1;
  preset(&t->qkv_bias, 1);
}

/* Counts the layers with a window by the rule of a family: all of Mistral's,
 * all but every second of Gemma 2 or sixth of Gemma 3, and the ones of Qwen
 * behind the first ones, if it uses any. */
static double usual_windows(const struct dl_transformer *t, const dl_json *j) {
  enum { QWEN_WITHOUT = 28 };
  if (has_text(j, "model_type", "gemma")) {
    double every = has_text(j, "model_type", "gemma2") ? 2 : 6;
    double pattern = dl_or(number_of(j, "sliding_window_pattern"),
                           number_of(j, "_sliding_window_pattern"));
    return t->layers - floor(t->layers / (pattern >= 1 ? pattern : every));
  }
  if (has_text(j, "model_type", "qwen") &&
      dl_json_get(j, "use_sliding_window").number > 0)
    return t->layers - dl_or(number_of(j, "max_window_layers"), QWEN_WITHOUT);
  return has_text(j, "model_type", "mistral") ||
                 has_text(j, "model_type", "mixtral")
             ? t->layers
             : 0;
}

double dl_config_listed(const dl_json *j, const char *kind) {
  double n = 0;
  for (size_t i = 0; i < dl_json_count(j, DL_CONFIG_LAYER_TYPES); i++) {
    const char *type = dl_json_text_at(j, DL_CONFIG_LAYER_TYPES, i);
    n += type && strcmp(type, kind) == 0;
  }
  return n;
}

/* Counts the layers with a window: as listed, else by the family's rule. */
static void llama(struct dl_transformer *t, const dl_json *j) {
  double window = number_of(j, "sliding_window");
  double with = dl_json_count(j, DL_CONFIG_LAYER_TYPES) > 0
                    ? dl_config_listed(j, "sliding_attention")
                    : usual_windows(t, j);
  t->gated = 1;
  if (window >= 1 && with >= 1) {
    t->window = window;
    t->window_layers = with;
  }
}

static void gemma(struct dl_transformer *t, const dl_json *j) {
  llama(t, j);
  preset(&t->tied, 1);
}

static void qwen2(struct dl_transformer *t, const dl_json *j) {
  llama(t, j);
  preset(&t->qkv_bias, 1);
}

/* Some layers of a mixture of experts have none: the listed ones, and the ones
 * that are not the last of `moe_every`. Their number counts, not their places.
 */
static void qwen3_moe(struct dl_transformer *t, const dl_json *j) {
  const dl_json *list = dl_json_member(j, "mlp_only_layers");
  double layers = t->layers, every = dl_or(t->moe_every, 1);
  bool counts = layers >= 1 && layers <= MOST_LAYERS && every >= 1;
  llama(t, j);
  if (dl_json_size(list) == 0 || !counts)
    return;
  DL_FREED bool *dense = dl_calloc((size_t)layers, sizeof *dense);
  for (size_t i = 0; i < dl_json_size(list); i++) {
    double at = dl_json_value_at(list, i).number;
    if (at >= 0 && at < layers)
      dense[(size_t)at] = true;
  }
  t->moe_every = 1;
  t->dense_layers = 0;
  for (size_t i = 0; i < (size_t)layers; i++)
    t->dense_layers += dense[i] || fmod((double)i + 1, every) > 0;
}

static void qwen2_moe(struct dl_transformer *t, const dl_json *j) {
  qwen3_moe(t, j);
  preset(&t->qkv_bias, 1);
}

/* Tokens of its pre-training's targets for one of 512 that are read. */
#define TARGETS_OF_T5 (114 / 512.0)

static void t5(struct dl_transformer *t, const dl_json *j) {
  t->gated = has_text(j, "feed_forward_proj", "gated");
  t->bias = t->norm_bias = 0;
  preset(&t->seq, 512);
  preset(&t->decoder_seq, round(TARGETS_OF_T5 * t->seq));
  preset(&t->tied, 1);
  preset(&t->relative, 32);
}

static void whisper(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->encoder_positions = t->seq;
  t->positions = t->decoder_seq;
  t->key_bias = 0;
  preset(&t->tied, 1);
}

/* A checkpoint has a classifier if its name says so, else the pooling layer. */
static void vit(struct dl_transformer *t, const dl_json *j) {
  const char *is = dl_json_text_at(j, "architectures", 0);
  size_t labels = dl_json_count(j, "id2label");
  t->gated = 0;
  if (is && strstr(is, "Classification"))
    t->classes = labels > 0 ? (double)labels : 2;
  else
    t->pooler = 1;
}

/* Keys that `adjust` reads, to NULL. */
#define WINDOW_KEYS                                                            \
  "sliding_window", "sliding_window_pattern", "_sliding_window_pattern",       \
      DL_CONFIG_LAYER_TYPES, "use_sliding_window", "max_window_layers"
static const char *const window_keys[] = {WINDOW_KEYS, NULL};
static const char *const moe_keys[] = {WINDOW_KEYS, "mlp_only_layers", NULL};
static const char *const deberta_keys[] = {
    "relative_attention", "position_buckets", "max_relative_positions",
    "position_biased_input", NULL};

#define NEED(key) DL_CONFIG_##key
#define MAY(key) (DL_CONFIG_##key | DL_CONFIG_OPTIONAL)
#define DECODER NEED(LAYERS), NEED(HIDDEN), NEED(HEADS), NEED(VOCAB), NEED(SEQ)
#define LLAMA                                                                  \
  DECODER, NEED(FFN), MAY(KV_HEADS), MAY(HEAD_DIM), MAY(TIED), MAY(QKV_BIAS)
#define MOE NEED(EXPERTS), NEED(ACTIVE_EXPERTS)

/* clang-format off */
const struct dl_config_family dl_config_families[] = {
    {{"llama", "mistral", "qwen3"}, DL_TF_DECODER, {LLAMA}, llama, window_keys},
    {{"gemma", "gemma2", "gemma3_text"}, DL_TF_DECODER,
     {LLAMA}, gemma, window_keys},
    {{"mixtral"}, DL_TF_DECODER, {LLAMA, MOE}, llama, window_keys},
    {{"qwen2"}, DL_TF_DECODER, {LLAMA}, qwen2, window_keys},
    {{"qwen2_moe"}, DL_TF_DECODER,
     {LLAMA, MOE, NEED(MOE_FFN), NEED(SHARED_FFN), MAY(MOE_EVERY)},
      qwen2_moe, moe_keys},
    {{"qwen3_moe"}, DL_TF_DECODER,
     {LLAMA, MOE, NEED(MOE_FFN), MAY(MOE_EVERY)}, qwen3_moe, moe_keys},
    {{"qwen"}, DL_TF_DECODER,
     {DECODER, NEED(FFN), MAY(HEAD_DIM), MAY(TIED), MAY(QKV_BIAS)}, qwen,
      NULL},
    {{"gpt2"}, DL_TF_DECODER, {DECODER, MAY(FFN), MAY(TIED)}, gpt2, NULL},
    {{"opt"}, DL_TF_DECODER,
     {DECODER, NEED(FFN), MAY(TIED), MAY(EMBEDDING)}, opt, NULL},
    {{"gpt_neox"}, DL_TF_DECODER,
     {DECODER, NEED(FFN), MAY(TIED)}, gpt_neox, NULL},
    {{"bert"}, DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(TOKEN_TYPES)}, bert, NULL},
    {{"roberta", "xlm-roberta", "camembert"}, DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(TOKEN_TYPES)}, roberta, NULL},
    {{"distilbert"}, DL_TF_ENCODER, {DECODER, NEED(FFN)}, learned, NULL},
    {{"albert"}, DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(EMBEDDING)}, albert, NULL},
    {{"deberta-v2"}, DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(TOKEN_TYPES)}, deberta, deberta_keys},
    {{"t5", "mt5"}, DL_TF_ENCODER_DECODER,
     {NEED(LAYERS), NEED(HIDDEN), NEED(HEADS), NEED(HEAD_DIM), NEED(FFN),
      NEED(VOCAB), MAY(SEQ), MAY(DECODER_LAYERS), MAY(TIED),
      MAY(RELATIVE)}, t5, NULL},
    {{"whisper"}, DL_TF_ENCODER_DECODER,
     {DECODER, NEED(FFN), NEED(DECODER_LAYERS), NEED(DECODER_SEQ),
      NEED(MEL), MAY(TIED)}, whisper, NULL},
    {{"vit", "deit"}, DL_TF_VISION,
     {NEED(LAYERS), NEED(HIDDEN), NEED(HEADS), NEED(FFN), NEED(IMAGE),
      NEED(PATCH), MAY(CHANNELS)}, vit, NULL},
    {{NULL}, DL_TF_DECODER, {DL_CONFIG_END}, NULL, NULL},
};
/* clang-format on */

bool dl_config_has_word(const char *const *words, const char *word) {
  for (; words && *words; words++)
    if (strcasecmp(*words, word) == 0)
      return true;
  return false;
}

double dl_config_first(const dl_json *j, const struct dl_config_key *k) {
  double x = NAN;
  for (const char *const *name = k->names; *name && isnan(x); name++)
    x = dl_json_get(j, *name).number;
  return x;
}

const struct dl_config_family *dl_config_family_of(const dl_json *j) {
  const char *type = dl_json_get(j, "model_type").text;
  const struct dl_config_family *f = dl_config_families;
  while (f->types[0] && !(type && dl_config_has_word(f->types, type)))
    f++;
  return f->types[0] ? f : NULL;
}
