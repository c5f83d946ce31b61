/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of networks, and the names of their keys in the transformers library
 * (https://huggingface.co/docs/transformers), which differ by family. */

#include "catalog/architecture/config/config_families.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/architecture/config/config_rules.h"

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
    [DL_CONFIG_KV_HEADS] = KEY(kv_heads, false, "num_key_value_heads",
                               "num_attention_groups", "multi_query_group_num"),
    [DL_CONFIG_HEAD_DIM] = KEY(head_dim, false, "head_dim", "d_kv",
                               "kv_channels", "attention_head_dim"),
    [DL_CONFIG_FFN] = KEY(ffn, false, "intermediate_size", "n_inner", "d_ff",
                          "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim",
                          "hidden_dim", "ffn_hidden_size"),
    [DL_CONFIG_VOCAB] = KEY(vocab, false, "vocab_size", "padded_vocab_size"),
    [DL_CONFIG_EMBEDDING] =
        KEY(embedding, false, "word_embed_proj_dim", "embedding_size"),
    [DL_CONFIG_SEQ] = KEY(seq, false, "max_position_embeddings", "n_positions",
                          "n_ctx", "max_source_positions", "seq_length"),
    [DL_CONFIG_TIED] = KEY(tied, true, "tie_word_embeddings"),
    [DL_CONFIG_QKV_BIAS] =
        KEY(qkv_bias, true, "attention_bias", "use_bias", "add_qkv_bias"),
    [DL_CONFIG_DECODER_LAYERS] =
        KEY(decoder_layers, false, "decoder_layers", "num_decoder_layers"),
    [DL_CONFIG_DECODER_SEQ] = KEY(decoder_seq, false, "max_target_positions"),
    [DL_CONFIG_TOKEN_TYPES] = KEY(token_types, false, "type_vocab_size"),
    [DL_CONFIG_RELATIVE] =
        KEY(relative, false, "relative_attention_num_buckets"),
    [DL_CONFIG_Q_RANK] = KEY(q_rank, false, "q_lora_rank", "share_q_dim"),
    [DL_CONFIG_KV_RANK] = KEY(kv_rank, false, "kv_lora_rank"),
    [DL_CONFIG_ROPE_DIM] = KEY(rope_dim, false, "qk_rope_head_dim"),
    [DL_CONFIG_VALUE_DIM] = KEY(value_dim, false, "v_head_dim"),
    [DL_CONFIG_EXPERTS] =
        KEY(experts, false, "num_local_experts", "num_experts",
            "n_routed_experts", "moe_num_experts"),
    [DL_CONFIG_ACTIVE_EXPERTS] = KEY(
        active_experts, false, "num_experts_per_tok", "num_experts_per_token",
        "experts_per_token", "moe_k", "moe_top_k", "top_k_experts"),
    [DL_CONFIG_MOE_FFN] = KEY(moe_ffn, false, "moe_intermediate_size"),
    [DL_CONFIG_DENSE_LAYERS] = KEY(dense_layers, false, "first_k_dense_replace",
                                   "moe_layer_start_index"),
    [DL_CONFIG_MOE_EVERY] =
        KEY(moe_every, false, "decoder_sparse_step", "moe_layer_interval",
            "interleave_moe_layer_step"),
    [DL_CONFIG_SHARED_FFN] =
        KEY(shared_ffn, false, "shared_expert_intermediate_size",
            "shared_intermediate_size", "share_expert_dim",
            "moe_shared_expert_intermediate_size"),
    [DL_CONFIG_IMAGE] = KEY(image, false, "image_size"),
    [DL_CONFIG_PATCH] = KEY(patch, false, "patch_size"),
    [DL_CONFIG_CHANNELS] = KEY(channels, false, "num_channels"),
    [DL_CONFIG_MEL] = KEY(mel, false, "num_mel_bins"),
};

void dl_config_put(struct dl_transformer *t, const struct dl_config_key *k,
                   double x) {
  memcpy((char *)t + k->offset, &x, sizeof x);
}

/* Keys that `adjust` reads, to NULL. */
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define WINDOW_KEYS                                                            \
  "sliding_window", "sliding_window_pattern", "_sliding_window_pattern",       \
      "layer_types", "use_sliding_window", "max_window_layers"
#define SHARED_KEYS                                                            \
  WINDOW_KEYS, "n_shared_experts", "moe_num_shared_experts",                   \
      "num_shared_experts", "moe_layer_freq", "moe_layer_end_index",           \
      "use_moe", "moe_capacity", "moe_use_aux_free",                           \
      "num_nextn_predict_layers", "use_qk_norm"
#define INDEX_KEYS                                                             \
  SHARED_KEYS, "qk_nope_head_dim", "qk_head_dim", "index_n_heads",             \
      "index_head_dim", "head_dim", "num_key_value_heads",                     \
      "indexer_rope_interleave", "mlp_layer_types"
#define MAMBA_KEYS                                                             \
  "mamba_d_ssm", "mamba_n_heads", "mamba_num_heads", "mamba_d_head",           \
      "mamba_head_dim", "mamba_expand", "expand", "mamba_d_state",             \
      "ssm_state_size", "mamba_n_groups", "n_groups", "mamba_d_conv",          \
      "conv_kernel", "state_size", "mamba_dt_rank", "mamba_rms_norm",          \
      "mamba_use_mlp", "time_step_rank", "rms_norm", "norm_before_gate"
#define DELTA_KEYS                                                             \
  "linear_num_value_heads", "linear_value_head_dim", "linear_key_head_dim",    \
      "linear_num_key_heads", "linear_conv_kernel_dim", "layer_types",         \
      "full_attention_interval", "attn_output_gate", "mlp_only_layers",        \
      "use_sliding_window", "max_window_layers"
#define E_KEYS                                                                 \
  "hidden_size_per_layer_input", "vocab_size_per_layer_input",                 \
      "num_kv_shared_layers"

static const char *const hybrid_kinds[] = {"mamba", "attention", NULL};
static const char *const delta_kinds[] = {"linear_attention", "full_attention",
                                          NULL};
static const char *const chunk_kinds[] = {"chunked_attention", "full_attention",
                                          NULL};
static const char *const nemotron_kinds[] = {"mamba", "attention", "moe", "mlp",
                                             NULL};
static const char *const v4_kinds[] = {"sliding_attention",
                                       "compressed_sparse_attention",
                                       "heavily_compressed_attention", NULL};

#define NEED(key) DL_CONFIG_##key
#define MAY(key) (DL_CONFIG_##key | DL_CONFIG_OPTIONAL)
#define DECODER NEED(LAYERS), NEED(HIDDEN), NEED(HEADS), NEED(VOCAB), NEED(SEQ)
#define LLAMA                                                                  \
  DECODER, NEED(FFN), MAY(KV_HEADS), MAY(HEAD_DIM), MAY(TIED), MAY(QKV_BIAS)
#define MOE NEED(EXPERTS), NEED(ACTIVE_EXPERTS)
#define SPARSE                                                                 \
  LLAMA, MOE, NEED(MOE_FFN), MAY(DENSE_LAYERS), MAY(MOE_EVERY), MAY(SHARED_FFN)
#define LATENT                                                                 \
  DECODER, NEED(FFN), MAY(TIED), MAY(QKV_BIAS), MAY(Q_RANK), NEED(KV_RANK),    \
      NEED(ROPE_DIM), NEED(VALUE_DIM), MAY(EXPERTS), MAY(ACTIVE_EXPERTS),      \
      MAY(MOE_FFN), MAY(DENSE_LAYERS)
#define VISION                                                                 \
  NEED(LAYERS), NEED(HIDDEN), NEED(HEADS), NEED(IMAGE), NEED(PATCH),           \
      MAY(CHANNELS)
#define USUAL(key, value)                                                      \
  { DL_CONFIG_##key, value }
#define TIED_BY_DEFAULT .usual = {USUAL(TIED, 1)}
#define GEMMA_USUAL(heads, kv_heads, vocab)                                    \
  .usual = {USUAL(HEADS, heads),  USUAL(KV_HEADS, kv_heads),                   \
            USUAL(HEAD_DIM, 256), USUAL(VOCAB, vocab),                         \
            USUAL(SEQ, 131072),   USUAL(TIED, 1)}

const struct dl_config_family dl_config_families[] = {
    {{"llama", "mistral", "ministral", "ministral3", "qwen3", "qwen3_vl_text",
      "qwen3_vl", "olmo2", "olmo3", "granite", "exaone4", "phi3", "glm", "glm4",
      "seed_oss"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_llama,
     .reads = LIST(WINDOW_KEYS)},
    {{"cohere", "cohere2", "ernie4_5", "smollm3"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_llama,
     .reads =
         LIST(WINDOW_KEYS, "no_rope_layers", "no_rope_layer_interval",
              "layer_switch", "use_embedding_sharing", "use_gated_activation"),
     TIED_BY_DEFAULT},
    {{"gemma", "gemma2"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_gemma,
     .reads = LIST(WINDOW_KEYS)},
    {{"gemma3_text", "gemma3"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_gemma,
     .reads = LIST(WINDOW_KEYS),
     GEMMA_USUAL(8, 4, 262208)},
    {{"gemma3n_text", "gemma3n"},
     DL_TF_DECODER,
     {DECODER, MAY(KV_HEADS), MAY(HEAD_DIM), MAY(TIED), MAY(QKV_BIAS)},
     .adjust = dl_config_gemma3n,
     .reads = LIST(WINDOW_KEYS, E_KEYS, "laurel_rank", "altup_num_inputs",
                   "altup_active_idx", "intermediate_size", "altup_coef_clip",
                   "activation_sparsity_pattern"),
     GEMMA_USUAL(8, 2, 262400)},
    {{"gemma4_text", "gemma4"},
     DL_TF_DECODER,
     {LLAMA, MAY(EXPERTS), MAY(ACTIVE_EXPERTS), MAY(MOE_FFN)},
     .adjust = dl_config_gemma4,
     .reads = LIST(WINDOW_KEYS, E_KEYS, "global_head_dim",
                   "num_global_key_value_heads", "attention_k_eq_v",
                   "use_double_wide_mlp", "enable_moe_block"),
     GEMMA_USUAL(8, 4, 262144)},
    {{"mimo"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_mimo,
     .reads = LIST(WINDOW_KEYS, "num_nextn_predict_layers")},
    {
        {"nemotron", "apertus"},
        DL_TF_DECODER,
        {LLAMA},
        .adjust = dl_config_nemotron,
    },
    {{"mixtral", "phimoe", "olmoe", "minimax_m2"},
     DL_TF_DECODER,
     {LLAMA, MOE},
     .adjust = dl_config_llama,
     .reads = LIST(WINDOW_KEYS, "shared_intermediate_size", "use_mtp",
                   "num_mtp_modules", "mtp_transformer_layers", "use_qk_norm",
                   "attn_type_list")},
    {{"granitemoe", "granitemoeshared"},
     DL_TF_DECODER,
     {LLAMA, MOE, MAY(SHARED_FFN)},
     .adjust = dl_config_llama,
     .reads = LIST(WINDOW_KEYS)},
    {{"gpt_oss"},
     DL_TF_DECODER,
     {LLAMA, MOE},
     .adjust = dl_config_gpt_oss,
     .reads = LIST(WINDOW_KEYS)},
    {{"qwen2", "qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_qwen2,
     .reads = LIST(WINDOW_KEYS)},
    {{"qwen2_moe"},
     DL_TF_DECODER,
     {LLAMA, MOE, NEED(MOE_FFN), NEED(SHARED_FFN), MAY(MOE_EVERY)},
     .adjust = dl_config_qwen2_moe,
     .reads = LIST(WINDOW_KEYS, "mlp_only_layers")},
    {{"qwen3_moe", "qwen3_vl_moe_text", "qwen3_vl_moe"},
     DL_TF_DECODER,
     {LLAMA, MOE, NEED(MOE_FFN), MAY(MOE_EVERY)},
     .adjust = dl_config_qwen3_moe,
     .reads = LIST(WINDOW_KEYS, "mlp_only_layers")},
    {{"glm4_moe", "dots1", "ernie4_5_moe"},
     DL_TF_DECODER,
     {SPARSE},
     .adjust = dl_config_shared_experts,
     .reads = LIST(SHARED_KEYS)},
    {{"llama4_text", "llama4"},
     DL_TF_DECODER,
     {LLAMA, MOE, MAY(MOE_EVERY)},
     .adjust = dl_config_llama4,
     .reads = LIST("intermediate_size_mlp", "attention_chunk_size",
                   "layer_types", "moe_layers", "no_rope_layers",
                   "no_rope_layer_interval", "use_qk_norm",
                   "attn_temperature_tuning", "floor_scale", "attn_scale"),
     .layer_kinds = chunk_kinds},
    {{"mimo_v2_flash", "mimo_v2"},
     DL_TF_DECODER,
     {SPARSE, MAY(VALUE_DIM)},
     .adjust = dl_config_mimo_v2,
     .reads = LIST(SHARED_KEYS, "hybrid_layer_pattern", "sliding_window_size",
                   "swa_num_attention_heads", "swa_num_key_value_heads",
                   "swa_head_dim", "swa_v_head_dim", "attention_chunk_size",
                   "hybrid_block_size")},
    {{"step3p5", "step3_text"},
     DL_TF_DECODER,
     {SPARSE, MAY(Q_RANK)},
     .adjust = dl_config_step3,
     .reads = LIST(SHARED_KEYS, "moe_layers_enum", "attention_other_setting",
                   "use_head_wise_attn_gate", "norm_expert_weight",
                   "yarn_only_types", "max_seq_len", "use_moe", "swiglu_limits",
                   "swiglu_limits_shared", "moe_every_n_layer")},
    {{"deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe_lite"},
     DL_TF_DECODER,
     {LATENT},
     .adjust = dl_config_deepseek,
     .reads = LIST(INDEX_KEYS)},
    {{"deepseek_v32", "glm_moe_dsa"},
     DL_TF_DECODER,
     {LATENT},
     .adjust = dl_config_deepseek,
     .reads = LIST(INDEX_KEYS)},
    {{"deepseek_v4"},
     DL_TF_DECODER,
     {DECODER, NEED(HEAD_DIM), NEED(Q_RANK), MAY(TIED), NEED(MOE_FFN), MOE},
     .adjust = dl_config_deepseek_v4,
     .reads = LIST(INDEX_KEYS, "compress_ratios", "o_lora_rank", "o_groups",
                   "hc_mult", "index_topk", "qk_rope_head_dim",
                   "moe_intermediate_size", "num_hash_layers",
                   "hc_sinkhorn_iters", "compress_rates", "swiglu_limit"),
     .layer_kinds = v4_kinds},
    {{"qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"},
     DL_TF_DECODER,
     {LLAMA, MOE, NEED(MOE_FFN), NEED(SHARED_FFN), MAY(MOE_EVERY)},
     .adjust = dl_config_qwen3_next,
     .reads = LIST(DELTA_KEYS),
     .layer_kinds = delta_kinds,
     .usual = {USUAL(HEAD_DIM, 256), USUAL(FFN, 1)}},
    {{"qwen3_5", "qwen3_5_text"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_qwen3_next,
     .reads = LIST(DELTA_KEYS),
     .layer_kinds = delta_kinds,
     .usual = {USUAL(HEAD_DIM, 256)}},
    {{"minimax", "minimax_m1", "minimax_text_01"},
     DL_TF_DECODER,
     {LLAMA, MOE, MAY(SHARED_FFN)},
     .adjust = dl_config_minimax,
     .reads = LIST("attn_type_list", "layer_types", "postnorm",
                   "shared_moe_mode", "layernorm_full_attention_beta",
                   "layernorm_linear_attention_beta", "layernorm_mlp_beta",
                   "layernorm_full_attention_alpha",
                   "layernorm_linear_attention_alpha", "layernorm_mlp_alpha",
                   "full_attn_alpha_factor", "linear_attn_alpha_factor",
                   "mlp_alpha_factor", "full_attn_beta_factor",
                   "linear_attn_beta_factor", "mlp_beta_factor", "block_size"),
     .layer_kinds = delta_kinds},
    {{"jamba"},
     DL_TF_DECODER,
     {LLAMA, MOE},
     .adjust = dl_config_jamba,
     .reads = LIST(MAMBA_KEYS, "attn_layer_period", "attn_layer_offset",
                   "expert_layer_period", "expert_layer_offset",
                   "layers_block_type", "use_mamba_kernels", "sliding_window"),
     .layer_kinds = hybrid_kinds},
    {{"falcon_h1"},
     DL_TF_DECODER,
     {LLAMA},
     .adjust = dl_config_falcon_h1,
     .reads = LIST(MAMBA_KEYS),
     .layer_kinds = hybrid_kinds},
    {{"granitemoehybrid", "bamba"},
     DL_TF_DECODER,
     {LLAMA, MAY(EXPERTS), MAY(ACTIVE_EXPERTS), MAY(SHARED_FFN)},
     .adjust = dl_config_granite_hybrid,
     .reads = LIST(MAMBA_KEYS, "attn_layer_indices", "layer_types",
                   "layers_block_type", "position_embedding_type"),
     .layer_kinds = hybrid_kinds},
    {{"nemotron_h"},
     DL_TF_DECODER,
     {LLAMA, MAY(EXPERTS), MAY(ACTIVE_EXPERTS), MAY(MOE_FFN), MAY(SHARED_FFN)},
     .adjust = dl_config_nemotron_h,
     .reads = LIST(MAMBA_KEYS, "hybrid_override_pattern", "layers_block_type",
                   "n_shared_experts", "use_mamba_kernels", "sliding_window",
                   "mamba_hidden_act"),
     .layer_kinds = nemotron_kinds},
    {{"mamba2"},
     DL_TF_DECODER,
     {DECODER, MAY(HEAD_DIM), MAY(TIED)},
     .adjust = dl_config_mamba2,
     .reads = LIST(MAMBA_KEYS),
     .usual = {USUAL(SEQ, 2048), USUAL(TIED, 0)}},
    {{"qwen"},
     DL_TF_DECODER,
     {DECODER, NEED(FFN), MAY(HEAD_DIM), MAY(TIED), MAY(QKV_BIAS)},
     .adjust = dl_config_qwen},
    {
        {"gpt2"},
        DL_TF_DECODER,
        {DECODER, MAY(FFN), MAY(TIED)},
        .adjust = dl_config_gpt2,
    },
    {{"opt"},
     DL_TF_DECODER,
     {DECODER, NEED(FFN), MAY(TIED), MAY(EMBEDDING)},
     .adjust = dl_config_opt},
    {{"gpt_neox"},
     DL_TF_DECODER,
     {DECODER, NEED(FFN), MAY(TIED)},
     .adjust = dl_config_gpt_neox},
    {{"bert"},
     DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(TOKEN_TYPES)},
     .adjust = dl_config_bert},
    {{"roberta", "xlm-roberta", "camembert"},
     DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(TOKEN_TYPES)},
     .adjust = dl_config_roberta},
    {
        {"distilbert"},
        DL_TF_ENCODER,
        {DECODER, NEED(FFN)},
        .adjust = dl_config_learned,
    },
    {{"albert"},
     DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(EMBEDDING)},
     .adjust = dl_config_albert},
    {{"deberta-v2"},
     DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(TOKEN_TYPES)},
     .adjust = dl_config_deberta,
     .reads = LIST("relative_attention", "position_buckets",
                   "max_relative_positions", "position_biased_input")},
    {{"modernbert"},
     DL_TF_ENCODER,
     {DECODER, NEED(FFN), MAY(QKV_BIAS)},
     .adjust = dl_config_modernbert,
     .reads =
         LIST("global_attn_every_n_layers", "local_attention", "layer_types"),
     .usual = {USUAL(LAYERS, 22), USUAL(HIDDEN, 768), USUAL(HEADS, 12),
               USUAL(FFN, 1152), USUAL(VOCAB, 50368), USUAL(SEQ, 8192)}},
    {{"t5", "mt5"},
     DL_TF_ENCODER_DECODER,
     {NEED(LAYERS), NEED(HIDDEN), NEED(HEADS), NEED(HEAD_DIM), NEED(FFN),
      NEED(VOCAB), MAY(SEQ), MAY(DECODER_LAYERS), MAY(TIED), MAY(RELATIVE)},
     .adjust = dl_config_t5},
    {{"whisper"},
     DL_TF_ENCODER_DECODER,
     {DECODER, NEED(FFN), NEED(DECODER_LAYERS), NEED(DECODER_SEQ), NEED(MEL),
      MAY(TIED)},
     .adjust = dl_config_whisper},
    {{"vit", "deit"},
     DL_TF_VISION,
     {VISION, NEED(FFN)},
     .adjust = dl_config_vit},
    {{"dinov2", "dinov2_with_registers"},
     DL_TF_VISION,
     {VISION},
     .adjust = dl_config_dinov2,
     .reads =
         LIST("mlp_ratio", "use_swiglu_ffn", "num_register_tokens",
              "out_indices", "out_features", "stage_names", "apply_layernorm",
              "use_mask_token", "reshape_hidden_states")},
    {{"siglip", "siglip2"},
     DL_TF_VISION,
     {VISION, NEED(FFN)},
     .adjust = dl_config_siglip,
     .reads = LIST("text_config"),
     .part = "vision_config",
     .usual = {USUAL(LAYERS, 12), USUAL(HIDDEN, 768), USUAL(HEADS, 12),
               USUAL(FFN, 3072), USUAL(IMAGE, 224), USUAL(PATCH, 16)}},
    {.types = {NULL}},
};

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

double dl_config_usual(const struct dl_config_family *f, unsigned key) {
  for (size_t i = 0; f->usual[i].key; i++)
    if (f->usual[i].key == key)
      return f->usual[i].value;
  return NAN;
}

const struct dl_config_family *dl_config_family_of(const dl_json *j) {
  const char *type = dl_json_get(j, "model_type").text;
  const struct dl_config_family *f = dl_config_families;
  while (f->types[0] && !(type && dl_config_has_word(f->types, type)))
    f++;
  return f->types[0] ? f : NULL;
}
