/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of networks leave much open in their config.json, or mean something
 * else by its keys: each function adjusts the shape that was read from the
 * keys. */

#ifndef DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_RULES_H
#define DL_CATALOG_ARCHITECTURE_CONFIG_CONFIG_RULES_H

#include "catalog/architecture/transformer.h"
#include "io/json_read.h"

typedef void dl_config_rule(struct dl_transformer *t, const dl_json *j);

/* Text and images (config_rules.c). */
dl_config_rule dl_config_albert, dl_config_bert, dl_config_deberta,
    dl_config_dinov2, dl_config_gemma, dl_config_gemma3n, dl_config_gemma4,
    dl_config_gpt2, dl_config_gpt_neox, dl_config_learned, dl_config_llama,
    dl_config_mimo, dl_config_modernbert, dl_config_nemotron, dl_config_opt,
    dl_config_qwen, dl_config_qwen2, dl_config_roberta, dl_config_siglip,
    dl_config_t5, dl_config_vit, dl_config_whisper;

/* Mixtures of experts (config_experts.c). */
dl_config_rule dl_config_deepseek, dl_config_deepseek_v4, dl_config_gpt_oss,
    dl_config_llama4, dl_config_mimo_v2, dl_config_qwen2_moe,
    dl_config_qwen3_moe, dl_config_shared_experts, dl_config_step3;

/* Recurrent layers (config_hybrids.c). */
dl_config_rule dl_config_falcon_h1, dl_config_granite_hybrid, dl_config_jamba,
    dl_config_mamba2, dl_config_minimax, dl_config_nemotron_h,
    dl_config_qwen3_next;

#endif
