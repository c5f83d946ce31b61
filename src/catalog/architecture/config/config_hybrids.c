/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks with recurrent layers: state spaces (Mamba, arXiv 2312.00752; Mamba
 * 2, arXiv 2405.21060), linear attention (arXiv 2501.08313) and gated delta
 * networks (arXiv 2412.06464). Symbols: d hidden size, n heads of size p, a
 * state of s for each of their elements, g groups, convolutions over k tokens.
 */

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "catalog/architecture/config/config_rules.h"
#include "catalog/architecture/config/config_values.h"

/* Layers with mixers and with attention, by their kinds. */
static void count_layers(struct dl_transformer *t, const dl_json *j,
                         const char *mixer) {
  if (!dl_config_layer_kind(j, 0))
    return;
  t->mixers = dl_config_listed(j, mixer, t->layers);
  t->attention_layers = dl_config_listed(j, "full_attention", t->layers) +
                        dl_config_listed(j, "attention", t->layers);
}

/* Sets the mixers of Mamba 2: n heads of size p. */
static void mamba2_mixer(struct dl_transformer *t, double n, double p, double s,
                         double g, double k) {
  double inner = n * p, convolved = inner + 2 * g * s;
  t->mixer_weights = t->hidden * (inner + convolved + n) + convolved * (k + 1) +
                     3 * n + inner + inner * t->hidden;
  t->mixer_state = inner * s;
}

static double first_of(const dl_json *j, const char *key, const char *other,
                       double otherwise) {
  return dl_config_number_or(j, key, dl_config_number_or(j, other, otherwise));
}

/* Two names of these keys are in use. */
static void mamba2_by_keys(struct dl_transformer *t, const dl_json *j) {
  double inner = dl_config_number(j, "mamba_d_ssm");
  double n = first_of(j, "mamba_n_heads", "mamba_num_heads", 128);
  double p = first_of(j, "mamba_d_head", "mamba_head_dim",
                      first_of(j, "mamba_expand", "expand", 2) * t->hidden / n);
  if (!isnan(inner))
    p = inner / n;
  mamba2_mixer(t, n, p, first_of(j, "mamba_d_state", "ssm_state_size", 128),
               first_of(j, "mamba_n_groups", "n_groups", 1),
               first_of(j, "mamba_d_conv", "conv_kernel", 4));
}

void dl_config_mamba2(struct dl_transformer *t, const dl_json *j) {
  dl_config_preset(&t->head_dim, 64);
  t->gated = 1;
  t->attention_layers = t->ffn_layers = 0;
  t->mixers = t->layers;
  mamba2_mixer(t, t->heads, t->head_dim,
               dl_config_number_or(j, "state_size", 128),
               dl_config_number_or(j, "n_groups", 8),
               dl_config_number_or(j, "conv_kernel", 4));
}

/* Each layer has attention and a mixer side by side. */
void dl_config_falcon_h1(struct dl_transformer *t, const dl_json *j) {
  dl_config_llama(t, j);
  t->mixers = t->layers;
  mamba2_by_keys(t, j);
}

/* Experts, if any, stand beside a feed-forward part that all tokens share. */
void dl_config_granite_hybrid(struct dl_transformer *t, const dl_json *j) {
  double layers = t->layers;
  const dl_json *listed = dl_json_member(j, "attn_layer_indices");
  dl_config_llama(t, j);
  mamba2_by_keys(t, j);
  count_layers(t, j, "mamba");
  if (dl_json_size(listed) > 0) {
    t->attention_layers = (double)dl_json_size(listed);
    t->mixers = layers - t->attention_layers;
  }
  if (t->experts > 0)
    return;
  t->ffn = dl_or(t->shared_ffn, t->ffn);
  t->experts = t->active_experts = t->shared_ffn = NAN;
}

/* Attention in one layer of a period, experts in one of another. */
void dl_config_jamba(struct dl_transformer *t, const dl_json *j) {
  double d = t->hidden, inner = dl_config_number_or(j, "mamba_expand", 2) * d;
  double s = dl_config_number_or(j, "mamba_d_state", 16);
  double k = dl_config_number_or(j, "mamba_d_conv", 4);
  double rank = dl_config_number_or(j, "mamba_dt_rank", ceil(d / 16));
  double period = dl_config_number_or(j, "attn_layer_period", 8);
  double offset = dl_config_number_or(j, "attn_layer_offset", 4);
  double every = dl_config_number_or(j, "expert_layer_period", 2);
  double first = dl_config_number_or(j, "expert_layer_offset", 1);
  t->gated = 1;
  t->attention_layers = ceil((t->layers - offset) / period);
  t->mixers = t->layers - t->attention_layers;
  t->mixer_weights = 3 * d * inner + inner * (k + 1) + inner * (rank + 2 * s) +
                     (rank + 1) * inner + rank + 2 * s + inner * (s + 1);
  t->mixer_state = inner * s;
  if (t->experts > 1)
    t->dense_layers = t->layers - ceil((t->layers - first) / every);
  else
    t->experts = t->active_experts = NAN;
}

/* Each layer is one of: mixer (M), attention (*), feed-forward part (-),
 * experts (E); as letters or as words. Without a gate, ReLU squared. */
void dl_config_nemotron_h(struct dl_transformer *t, const dl_json *j) {
  const char *pattern = dl_json_get(j, "hybrid_override_pattern").text;
  double moe = dl_config_listed(j, "moe", t->layers);
  double dense = dl_config_listed(j, "mlp", t->layers);
  t->gated = t->bias = t->norm_bias = t->positions = 0;
  dl_config_preset(&t->qkv_bias, 0);
  mamba2_by_keys(t, j);
  count_layers(t, j, "mamba");
  if (pattern) {
    t->mixers = t->attention_layers = moe = dense = 0;
    for (; *pattern; pattern++) {
      t->mixers += *pattern == 'M';
      t->attention_layers += *pattern == '*';
      moe += *pattern == 'E';
      dense += *pattern == '-';
    }
  }
  t->ffn_layers = moe + dense;
  t->dense_layers = dense;
  if (moe > 0)
    return;
  t->experts = t->active_experts = t->moe_ffn = t->shared_ffn = NAN;
  t->dense_layers = NAN;
}

/* Gated delta networks; attention has a gate for each of its outputs. */
void dl_config_qwen3_next(struct dl_transformer *t, const dl_json *j) {
  double n = dl_config_number_or(j, "linear_num_value_heads", 32);
  double p = dl_config_number_or(j, "linear_value_head_dim", 128);
  double key = dl_config_number_or(j, "linear_key_head_dim", 128);
  double keys = key * dl_config_number_or(j, "linear_num_key_heads", 16);
  double k = dl_config_number_or(j, "linear_conv_kernel_dim", 4);
  double every = dl_config_number_or(j, "full_attention_interval", 4);
  double d = t->hidden;
  t->gated = 1;
  t->attention_layers = floor(t->layers / every);
  t->mixers = t->layers - t->attention_layers;
  count_layers(t, j, "linear_attention");
  t->head_gate = t->head_dim;
  t->mixer_weights = d * (2 * keys + 2 * n * p + 2 * n) +
                     (2 * keys + n * p) * k + 2 * n + p + n * p * d;
  t->mixer_state = n * p * key;
  t->mixer_macs = 4 * t->mixer_state; /* decay, read, correct, read */
}

/* Linear attention of all heads with a gate, in the layers marked with 0 or
 * listed; the other ones have softmax. */
void dl_config_minimax(struct dl_transformer *t, const dl_json *j) {
  const dl_json *marks = dl_json_member(j, "attn_type_list");
  double wide = t->heads * t->head_dim;
  t->gated = 1;
  count_layers(t, j, "linear_attention");
  if (dl_json_size(marks) > 0) {
    t->mixers = 0;
    for (size_t i = 0; (double)i < t->layers; i++)
      t->mixers += dl_json_value_at(marks, i).number == 0;
    t->attention_layers = t->layers - t->mixers;
  }
  if (!(t->mixers > 0))
    t->mixers = NAN;
  t->mixer_weights = 5 * t->hidden * wide + wide;
  t->mixer_state = wide * t->head_dim;
  if (t->shared_ffn == 0)
    t->shared_ffn = NAN;
}
