/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixtures of experts: which layers have experts, experts that all tokens
 * share, and attention of their own. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/config/config_rules.h"
#include "catalog/architecture/config/config_values.h"

#define MOST_LAYERS 1e4 /* transformer_shape.c */

/* Some layers of a mixture of experts have none: the listed ones, and the ones
 * that are not the last of `moe_every`. Their number counts, not their places.
 */
void dl_config_qwen3_moe(struct dl_transformer *t, const dl_json *j) {
  const dl_json *list = dl_json_member(j, "mlp_only_layers");
  double layers = t->layers, every = dl_or(t->moe_every, 1);
  bool counts = layers >= 1 && layers <= MOST_LAYERS && every >= 1;
  dl_config_llama(t, j);
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

void dl_config_qwen2_moe(struct dl_transformer *t, const dl_json *j) {
  dl_config_qwen3_moe(t, j);
  dl_config_preset(&t->qkv_bias, 1);
}

/* Experts that all tokens go through are given by their number. */
static void share_experts(struct dl_transformer *t, const dl_json *j) {
  double n = dl_config_number_or(
      j, "n_shared_experts",
      dl_config_number_or(j, "moe_num_shared_experts",
                          dl_config_number_or(j, "num_shared_experts", 0)));
  if (isnan(t->shared_ffn) && n > 0)
    t->shared_ffn = n * dl_or(t->moe_ffn, t->ffn);
}

/* A list says of each layer whether it has experts; a number n, that every nth
 * one behind the first dense layers has them. */
static void dense_by_list(struct dl_transformer *t, const dl_json *j) {
  const dl_json *list = dl_json_member(j, "moe_layer_freq");
  const double every = dl_config_number(j, "moe_layer_freq");
  if (every > 1) {
    const double first = dl_or(t->dense_layers, 0);
    const double with_experts = ceil(t->layers / every) - ceil(first / every);
    t->dense_layers = t->layers - fmax(with_experts, 0);
  }
  if (dl_json_size(list) == 0)
    return;
  t->dense_layers = 0;
  for (size_t i = 0; (double)i < t->layers; i++)
    t->dense_layers += !(dl_json_value_at(list, i).number > 0);
}

void dl_config_shared_experts(struct dl_transformer *t, const dl_json *j) {
  dl_config_llama(t, j);
  dense_by_list(t, j);
  share_experts(t, j);
}

void dl_config_gpt_oss(struct dl_transformer *t, const dl_json *j) {
  dl_config_llama(t, j);
  dl_config_preset(&t->qkv_bias, 1);
  t->bias = 1;
}

/* Latent attention. An index that chooses tokens has products of its own. */
void dl_config_deepseek(struct dl_transformer *t, const dl_json *j) {
  double heads = dl_config_number_or(j, "index_n_heads", 0);
  double dim = dl_config_number_or(j, "index_head_dim", 0);
  double nope = dl_config_number(j, "qk_nope_head_dim");
  dl_config_shared_experts(t, j);
  t->head_dim = nope + t->rope_dim;
  t->kv_heads = t->heads;
  if (heads > 0)
    t->extra_weights =
        t->layers * (t->q_rank * heads * dim + t->hidden * (dim + heads));
}

/* Attention to a window and to compressed tokens, which an index chooses or of
 * which all are read: a mixer, since its work hardly depends on the length.
 * Its keys are the values, of one head; its output goes through groups of low
 * rank. Ratios of compression by layer: 0 none, below 16 with an index. */
void dl_config_deepseek_v4(struct dl_transformer *t, const dl_json *j) {
  enum { INDEXED_BELOW = 16, STREAMS = 4 };
  const dl_json *ratios = dl_json_member(j, "compress_ratios");
  double d = t->hidden, e = t->head_dim, wide = t->heads * e;
  double rank = dl_config_number_or(j, "o_lora_rank", 1024);
  double groups = dl_config_number_or(j, "o_groups", 8);
  double heads = dl_config_number_or(j, "index_n_heads", 64);
  double dim = dl_config_number_or(j, "index_head_dim", 128);
  double streams = dl_config_number_or(j, "hc_mult", STREAMS);
  double window = dl_config_number_or(j, "sliding_window", 128);
  double chosen = dl_config_number_or(j, "index_topk", 512);
  double mixes = (2 + streams) * streams * streams * d;
  double index = t->q_rank * heads * dim + d * heads + 4 * d * dim;
  dl_config_shared_experts(t, j);
  t->attention_layers = 0;
  t->mixers = t->layers;
  t->mixer_weights = d * t->q_rank + t->q_rank * wide + d * e + wide * rank +
                     groups * rank * d + 2 * mixes;
  t->extra_weights = 0;
  for (size_t i = 0; (double)i < t->layers; i++) {
    double ratio = dl_json_value_at(ratios, i).number;
    if (ratio > 0)
      t->extra_weights += ratio < INDEXED_BELOW ? 4 * d * e + index : 2 * d * e;
  }
  t->mixer_state = (window + chosen) * e;
  t->mixer_macs = 2 * (window + chosen) * wide;
  t->window = t->window_layers = t->q_rank = NAN;
  t->ffn = t->moe_ffn;
  t->kv_heads = NAN;
}

/* Layers without experts are wider than an expert; attention by chunks in three
 * layers of four. */
void dl_config_llama4(struct dl_transformer *t, const dl_json *j) {
  double chunk = dl_config_number_or(j, "attention_chunk_size", 0);
  bool listed = dl_config_layer_kind(j, 0) != NULL;
  t->gated = 1;
  t->moe_ffn = t->shared_ffn = t->ffn;
  t->ffn = dl_config_number_or(j, "intermediate_size_mlp", 2 * t->moe_ffn);
  if (!(chunk >= 1))
    return;
  t->window = chunk;
  t->window_layers = listed
                         ? dl_config_listed(j, "chunked_attention", t->layers)
                         : t->layers - floor(t->layers / 4);
  if (t->window_layers < 1)
    t->window = t->window_layers = NAN;
}

/* Layers with a window, a list of 1, have heads of keys and values of their
 * own. */
void dl_config_mimo_v2(struct dl_transformer *t, const dl_json *j) {
  const dl_json *pattern = dl_json_member(j, "hybrid_layer_pattern");
  dl_config_shared_experts(t, j);
  t->window = dl_config_number_or(
      j, "sliding_window", dl_config_number_or(j, "sliding_window_size", 128));
  t->window_layers = 0;
  for (size_t i = 0; (double)i < t->layers; i++)
    t->window_layers += dl_json_value_at(pattern, i).number > 0;
  if (t->window_layers < 1) {
    t->window = t->window_layers = NAN;
    return;
  }
  t->window_heads = dl_config_number_or(j, "swa_num_attention_heads", t->heads);
  t->window_kv_heads =
      dl_config_number_or(j, "swa_num_key_value_heads", t->kv_heads);
  t->window_head_dim = dl_config_number_or(j, "swa_head_dim", t->head_dim);
}

/* Layers with experts are listed as "3,4,5"; heads have gates, and more heads
 * are in the layers with a window. */
void dl_config_step3(struct dl_transformer *t, const dl_json *j) {
  const dl_json *other = dl_json_member(j, "attention_other_setting");
  const char *with = dl_json_get(j, "moe_layers_enum").text;
  dl_config_llama(t, j);
  if (with) {
    t->dense_layers = t->layers - (*with != 0);
    for (; *with; with++)
      t->dense_layers -= *with == ',';
    t->dense_layers = fmax(t->dense_layers, 0);
  }
  if (dl_json_get(j, "use_head_wise_attn_gate").number > 0)
    t->head_gate = 1;
  if (other && t->window_layers > 0) {
    t->window_heads =
        dl_config_number_or(other, "num_attention_heads", t->heads);
    t->window_kv_heads =
        dl_config_number_or(other, "num_attention_groups", t->kv_heads);
    t->window_head_dim = dl_config_number_or(other, "head_dim", t->head_dim);
  }
}
