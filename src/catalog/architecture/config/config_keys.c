/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/config/config_keys.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/config/config_families.h"

/* Parts of the names of keys that change no weight, or hardly any, and no
 * product. */
/* clang-format off */
static const char *const without_effect[] = {
    /* training */
    "dropout", "drop", "init", "loss", "checkpointing", "mask_time",
    "mask_feature", "spec_augment", "neftune", "seed", "train", "label",
    "problem_type", "finetuning", "task_specific", "prune",
    /* generation */
    "token_id", "suppress", "forced_", "_length", "beam", "penalty",
    "temperature", "typical_p", "no_repeat", "bad_words",
    "return_sequences", "do_sample", "early_stopping", "remove_invalid",
    "generation", "tokenizer", "alignment_heads", "median_filter",
    "is_decoder", "return_dict", "output_attentions",
    "output_hidden_states", "output_scores", "output_past", "cache",
    "summary_",
    /* numerics */
    "eps", "rope", "rotary", "ntk", "logn", "softcap", "scaling", "scale",
    "scalar", "multiplier", "clip_qkv", "swiglu_limit", "qk_norm",
    "qk_layernorm", "dtype",
    "float16", "bf16", "fp16", "fp32", "flash", "sdpa", "fused", "parallel",
    "reorder_and_upcast", "elementwise_affine", "norm_before", "original_",
    "weighted_layer_sum", "is_gated_act", "distance",
    /* storage */
    "version", "architectures", "auto_map", "torch", "transformers",
    "unsloth", "quantization", "chunk_size", "pretraining_tp", "tie_",
    "onnx", "_fixed", "multiple_of", "custom_pipelines",
    "is_encoder_decoder", "attn_implementation", "keys_to_ignore", "legacy",
    "batch_size",
    /* which experts a token takes */
    "norm_topk_prob", "router_", "n_group", "topk_group", "ep_size",
    /* biases, and parts that families have by default */
    "bias", "share_att_key", "sinusoidal", "token_types", "type_vocab_size",
    "pooler_", "proj_size", "encoder_stride", "gap_size", "memory_blocks",
    "net_structure", "relative_attention", "pos_att_type",
    "num_hidden_groups", "inner_group_num",
};
/* clang-format on */

/* Keys of these names have no effect; keys whose names contain them may have
 * one. */
static const char *const whole_names[] = {"top_k", "top_p", "prefix", NULL};

static bool has_no_effect(const char *key) {
  for (size_t i = 0; i < DL_LENGTH(without_effect); i++)
    if (strstr(key, without_effect[i]))
      return true;
  return dl_config_has_word(whole_names, key);
}

/* Shares, rates and limits are no whole numbers; one that is infinite is an
 * empty text. */
static bool has_a_rate(const dl_json *list) {
  for (size_t i = 0; i < dl_json_size(list); i++) {
    struct dl_json_value v = dl_json_value_at(list, i);
    if ((v.type == DL_JSON_NUMBER && v.number != floor(v.number)) ||
        (v.type == DL_JSON_TEXT && !*v.text))
      return true;
  }
  return false;
}

bool dl_config_may_matter(const char *key, const dl_json *value) {
  struct dl_json_value v = dl_json_value_of(value);
  if (has_no_effect(key))
    return false;
  switch (v.type) {
  case DL_JSON_NUMBER:
    return v.number >= 1 && v.number == floor(v.number);
  case DL_JSON_TRUTH:
    return v.number > 0;
  case DL_JSON_OTHER:
    return dl_json_members(value) > 0 && !has_a_rate(value);
  default:
    return false;
  }
}
