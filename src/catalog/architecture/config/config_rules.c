/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/config/config_rules.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "catalog/architecture/config/config_towers.h"
#include "catalog/architecture/config/config_values.h"

/* Positions are learned, and may be more than the sequence. */
void dl_config_learned(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->positions = t->seq;
}

void dl_config_gpt2(struct dl_transformer *t, const dl_json *j) {
  dl_config_learned(t, j);
  t->gated = 0;
}

/* The variant with a narrow embedding has norms behind its layers. */
void dl_config_opt(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->positions = t->seq + 2;
  t->gated = 0;
  if (t->embedding < t->hidden)
    t->final_norm = 0;
}

void dl_config_gpt_neox(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->gated = t->positions = 0;
  dl_config_preset(&t->tied, 0);
}

void dl_config_bert(struct dl_transformer *t, const dl_json *j) {
  dl_config_learned(t, j);
  dl_config_preset(&t->token_types, 2);
  t->pooler = 1;
}

/* Positions below 2 stand for padding. */
void dl_config_roberta(struct dl_transformer *t, const dl_json *j) {
  dl_config_learned(t, j);
  dl_config_preset(&t->token_types, 1);
  t->seq -= 2;
  t->pooler = 1;
}

/* Embeddings of positions and types are as narrow as the embeddings of tokens,
 * and so is their norm; the way to the hidden size has a bias. */
void dl_config_albert(struct dl_transformer *t, const dl_json *j) {
  double rows = t->seq + dl_config_number_or(j, "type_vocab_size", 2);
  double e = t->embedding, d = t->hidden;
  t->positions = 0;
  if (e > 0 && e < d)
    t->extra_params = fmax((rows + 2) * e - d, 0);
  t->pooler = t->shared_layers = 1;
}

/* Relative positions, if any, go in both directions, as many as buckets. */
void dl_config_deberta(struct dl_transformer *t, const dl_json *j) {
  double buckets = dl_config_number(j, "position_buckets");
  double most = dl_config_number(j, "max_relative_positions");
  struct dl_json_value absolute = dl_json_get(j, "position_biased_input");
  bool none = absolute.type == DL_JSON_TRUTH && absolute.number == 0;
  double each = most >= 1 ? most : t->seq;
  if (dl_json_get(j, "relative_attention").number > 0)
    t->disentangled = 2 * (buckets > 0 ? buckets : each);
  t->positions = none ? 0 : t->seq;
}

void dl_config_qwen(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->ffn /= 2; /* intermediate_size counts both matrices of the gate */
  t->gated = 1;
  dl_config_preset(&t->qkv_bias, 1);
}

/* Counts the layers with a window by the rule of a family: all of Mistral's,
 * all but every second of Gemma 2 or sixth of Gemma 3, and the ones of Qwen
 * behind the first ones, if it uses any. */
static double usual_windows(const struct dl_transformer *t, const dl_json *j) {
  enum { QWEN_WITHOUT = 28 };
  if (dl_config_has_text(j, "model_type", "gemma")) {
    double every = dl_config_has_text(j, "model_type", "gemma2") ? 2 : 6;
    double pattern = dl_or(dl_config_number(j, "sliding_window_pattern"),
                           dl_config_number(j, "_sliding_window_pattern"));
    return t->layers - floor(t->layers / (pattern >= 1 ? pattern : every));
  }
  if (dl_config_has_text(j, "model_type", "qwen") &&
      dl_json_get(j, "use_sliding_window").number > 0)
    return t->layers -
           dl_or(dl_config_number(j, "max_window_layers"), QWEN_WITHOUT);
  return dl_config_has_text(j, "model_type", "mistral") ||
                 dl_config_has_text(j, "model_type", "mixtral")
             ? t->layers
             : 0;
}

/* Counts the layers with a window: as listed, else by the family's rule. */
void dl_config_llama(struct dl_transformer *t, const dl_json *j) {
  double window = dl_config_number(j, "sliding_window");
  double with = dl_config_layer_kind(j, 0)
                    ? dl_config_listed(j, "sliding_attention", t->layers)
                    : usual_windows(t, j);
  dl_config_preset(&t->gated, 1);
  if (window >= 1 && with >= 1) {
    t->window = window;
    t->window_layers = with;
  }
}

void dl_config_gemma(struct dl_transformer *t, const dl_json *j) {
  dl_config_llama(t, j);
  dl_config_preset(&t->tied, 1);
}

void dl_config_qwen2(struct dl_transformer *t, const dl_json *j) {
  dl_config_llama(t, j);
  dl_config_preset(&t->qkv_bias, 1);
}

/* Tokens of its pre-training's targets for one of 512 that are read. */
#define TARGETS_OF_T5 (114 / 512.0)

void dl_config_t5(struct dl_transformer *t, const dl_json *j) {
  t->gated = dl_config_has_text(j, "feed_forward_proj", "gated");
  t->bias = t->norm_bias = 0;
  dl_config_preset(&t->seq, 512);
  dl_config_preset(&t->decoder_seq, round(TARGETS_OF_T5 * t->seq));
  dl_config_preset(&t->tied, 1);
  dl_config_preset(&t->relative, 32);
}

void dl_config_whisper(struct dl_transformer *t, const dl_json *j) {
  (void)j;
  t->encoder_positions = t->seq;
  t->positions = t->decoder_seq;
  t->key_bias = 0;
  dl_config_preset(&t->tied, 1);
}

/* A checkpoint has a classifier if its name says so, else the pooling layer. */
void dl_config_vit(struct dl_transformer *t, const dl_json *j) {
  const char *is = dl_json_text_at(j, "architectures", 0);
  size_t labels = dl_json_count(j, "id2label");
  t->gated = 0;
  if (is && strstr(is, "Classification"))
    t->classes = labels > 0 ? (double)labels : 2;
  else
    t->pooler = 1;
}

/* Exponents of ReLU squared or xIELU in place of a gate. */
void dl_config_nemotron(struct dl_transformer *t, const dl_json *j) {
  t->gated = 0;
  t->bias = t->positions = 0;
  t->norm_bias = dl_config_has_text(j, "model_type", "nemotron");
  dl_config_preset(&t->qkv_bias, 0);
  dl_config_preset(&t->tied, 0);
}

/* The checkpoint holds the layers that predict further tokens: each a layer
 * and a product of two hidden states. */
void dl_config_mimo(struct dl_transformer *t, const dl_json *j) {
  double more = dl_config_number_or(j, "num_nextn_predict_layers", 0);
  double d = t->hidden, e = dl_or(t->head_dim, d / t->heads);
  dl_config_qwen2(t, j);
  t->extra_params = more * (2 * d * e * (t->heads + t->kv_heads) +
                            3 * d * t->ffn + 2 * d * d);
}

/* Layers in turn attend to a window; embeddings and norms have no bias. */
void dl_config_modernbert(struct dl_transformer *t, const dl_json *j) {
  double every = dl_config_number_or(j, "global_attn_every_n_layers", 3);
  t->gated = 1;
  t->bias = t->norm_bias = t->positions = 0;
  dl_config_preset(&t->qkv_bias, 0);
  t->final_norm = 1;
  t->window = dl_config_number_or(j, "local_attention", 128);
  t->window_layers = t->layers - ceil(t->layers / every);
  if (!isnan(every) && t->window_layers < 1)
    t->window = t->window_layers = NAN;
}

/* A class token, scales of layers; the giant has gates of 2/3 of the width,
 * rounded up to 8. */
void dl_config_dinov2(struct dl_transformer *t, const dl_json *j) {
  double ratio = dl_config_number_or(j, "mlp_ratio", 4), d = t->hidden;
  bool gated = dl_json_get(j, "use_swiglu_ffn").number > 0;
  double registers = dl_config_number_or(j, "num_register_tokens", 0);
  t->ffn = gated ? 8 * ceil(floor(ratio * d * 2 / 3) / 8) : ratio * d;
  t->gated = gated;
  t->bias = t->norm_bias = t->qkv_bias = 1;
  t->extra_params = 2 * t->layers * d + d + registers * d;
}

/* Two towers: images as tokens, with a head that attends to all; texts are
 * parameters only. */
void dl_config_siglip(struct dl_transformer *t, const dl_json *j) {
  double d = t->hidden, f = t->ffn;
  t->gated = 0;
  t->extra_params = 4 * d * (d + 1) + 2 * d * f + f + d + 2 * d;
  t->extra_params += dl_config_siglip_text(dl_json_member(j, "text_config"));
}

/* Layers have low-rank residuals, gates and projections of embeddings by
 * layer; between them, several streams (AltUp, arXiv 2301.13310). */
void dl_config_gemma3n(struct dl_transformer *t, const dl_json *j) {
  double d = t->hidden, L = t->layers;
  double rank = dl_config_number_or(j, "laurel_rank", 64);
  double streams = dl_config_number_or(j, "altup_num_inputs", 4);
  double each = dl_config_number_or(j, "hidden_size_per_layer_input", 256);
  double words = dl_config_number_or(j, "vocab_size_per_layer_input", 262144);
  double shared = dl_config_number_or(j, "num_kv_shared_layers", 15);
  t->ffn = dl_config_number_or(
      j, "intermediate_size",
      dl_json_value_at(dl_json_member(j, "intermediate_size"), 0).number);
  dl_config_gemma(t, j);
  t->extra_weights = L * d * (2 * rank + 2 * each + streams + 4) +
                     L * each * d + 2 * (streams - 1) * d * d;
  t->extra_params = words * L * each;
  t->extra_params += L * shared / fmax(L, 1) * 2 * d * t->kv_heads *
                     t->head_dim; /* stored, not used */
  t->kv_layers = t->layers - shared;
}

/* Layers without a window have larger heads, whose keys may be the values; the
 * last ones take keys and values of others, and may be twice as wide. */
void dl_config_gemma4(struct dl_transformer *t, const dl_json *j) {
  double d = t->hidden, L = t->layers;
  double each = dl_config_number_or(j, "hidden_size_per_layer_input", 256);
  double words = dl_config_number_or(j, "vocab_size_per_layer_input", 262144);
  double shared = dl_config_number_or(j, "num_kv_shared_layers", 0);
  bool joint = dl_json_get(j, "attention_k_eq_v").number > 0;
  dl_config_gemma(t, j);
  if (isnan(t->window))
    t->window_layers = NAN;
  t->window_heads = t->heads;
  t->window_kv_heads = t->kv_heads;
  t->window_head_dim = t->head_dim;
  t->head_dim = dl_config_number_or(j, "global_head_dim", 512);
  if (joint)
    t->kv_heads =
        dl_config_number_or(j, "num_global_key_value_heads", t->kv_heads);
  t->keys_as_values = joint;
  t->kv_layers = L - shared;
  if (dl_json_get(j, "use_double_wide_mlp").number > 0)
    t->extra_weights = shared * 3 * d * t->ffn;
  if (each > 0) {
    t->extra_weights = dl_or(t->extra_weights, 0) + 3 * L * d * each;
    t->extra_params = words * L * each;
  }
  if (!(dl_json_get(j, "enable_moe_block").number > 0))
    t->experts = t->active_experts = t->moe_ffn = NAN;
  else
    t->shared_ffn = t->ffn; /* beside the experts */
}
