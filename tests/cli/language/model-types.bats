#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# config.json files of the model types of 2025 and 2026. The files have the keys
# of the shape as the hub publishes them under ORGANISATION/NAME; the numbers of
# parameters are those of the stored weights, or the rounded one of the model
# card (`unit`: one in its last digit). Cards count active parameters with the
# embeddings, without the one that is looked up, or without both (`lookups`).

load ../common

TYPES=$TOP_SRCDIR/tests/reference/model-types.jsonl

# of NAME: writes its config.json and runs show
of() {
  jq -c --arg n "$1" 'select(.name | endswith("/" + $n)) | .config' "$TYPES" \
    >config.json
  gives 0 '' show arch ./config.json -q -f json
}

value() { # FIELD
  jq ".values[] | select(.field == \"$1\") | .value" out
}

# Multi-token prediction is no part of a pass: a layer, the product of two
# hidden states, and copies of both embeddings.
@test "parameters are within .1 % of the published number" {
  [ "$(wc -l <"$TYPES")" -ge 80 ]
  jq -r '"\(.name) \(.params) \(.unit) \(.predicting // false)"' "$TYPES" >published
  while read -r name params unit predicting; do
    of "${name#*/}"
    more=0
    [ "$predicting" = false ] ||
      more=$(jq '.hidden_size as $d | 3 * $d * .moe_intermediate_size
        * (.n_routed_experts + .n_shared_experts) + 2 * $d * (.vocab_size + $d)
        + 2 * $d * .head_dim * (.num_attention_heads + .num_key_value_heads)' config.json)
    check "(.values[] | select(.field == \"params_m\") | .value * 1e6 + $more
      - $params | fabs) <= ([$params / 1000, $unit / 2] | max)" ||
      { echo "$name: $(value params_m)" >&2; false; }
  done <published
}

@test "active parameters are those of the model card" {
  jq -r 'select(.active) | "\(.name) \(.active) \(.active_unit) \(.lookups)"' \
    "$TYPES" >published
  [ "$(wc -l <published)" -ge 25 ]
  while read -r name active unit lookups; do
    of "${name#*/}"
    without=$(jq "$lookups * ((.text_config // .) | .hidden_size * .vocab_size)" \
      config.json)
    # cut or rounded
    check "(.values[] | select(.field == \"active_params_m\") | .value * 1e6
      - $without - $active | fabs) < $unit" ||
      { echo "$name: $(value active_params_m)" >&2; false; }
  done <published
}

@test "every model type of these years is among them" {
  for type in gpt_oss deepseek_v2 deepseek_v3 deepseek_v4 kimi_k2 llama4 \
    gemma3 gemma3n gemma4 glm4 glm4_moe glm_moe_dsa minimax_text_01 minimax_m2 \
    qwen3_moe qwen3_next qwen2_5_vl qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe \
    phi3 phimoe granite granitemoe granitemoehybrid olmo2 olmo3 olmoe smollm3 \
    cohere2 exaone4 ernie4_5 ernie4_5_moe nemotron nemotron_h mimo \
    mimo_v2_flash step3p5 step3_text mamba2 jamba falcon_h1 modernbert \
    deberta-v2 albert whisper dinov2 siglip sam2_video; do
    grep -q "\"model_type\": \"$type\"" "$TYPES" || { echo "$type" >&2; false; }
  done
}

# Jamba: one layer of eight has attention, so keys and values of 4 layers are
# kept, and the states of the other 28. Granite 4.0: 4 of 40. Qwen3-Next: 12 of 48.
@test "layers of hybrids by their pattern" {
  of Jamba-v0.1
  [ "$(value kv_cache_per_token)" = $((4 * 2 * 8 * 128)) ]
  of granite-4.0-h-small
  [ "$(value kv_cache_per_token)" = $((4 * 2 * 8 * 128)) ]
  of Qwen3-Next-80B-A3B-Instruct
  [ "$(value kv_cache_per_token)" = $((12 * 2 * 2 * 256)) ]
  of NVIDIA-Nemotron-Nano-9B-v2
  [ "$(value kv_cache_per_token)" = $((4 * 2 * 8 * 128)) ]
  of mamba2-130m-hf
  [ "$(value kv_cache_per_token)" = 0 ]
  of gemma-4-E2B-it # the last 20 of 35 layers take keys and values of others
  [ "$(value kv_cache_per_token)" = $((12 * 2 * 256 + 3 * 2 * 512)) ]
}

# A product for each weight that is not looked up, and the state's: decayed and
# read, with gated delta networks four times.
@test "MACs of a token without attention to others" {
  of mamba2-130m-hf
  check "$(value macs_g) * 1e9 / $(value seq_len) - (24 * (768 * (2 * 1536 + 256 + 24)
    + 1792 * 5 + 3 * 24 + 1536 + 1536 * 768 + 2 * 1536 * 128) + 50288 * 768) | fabs < 1"
}

# The keys of SAM 2 are the ones of transformers' conversion of its checkpoints
# (convert_sam2_video_to_hf.py), the parameters those of its README (rounded).
# Without the memory (5,922,304 of its attention, 1,384,608 of its encoder, and
# 198,609 less the 256 that stand in for it), as modeling_sam2.py counts.
@test "SAM 2 without the memory of videos" {
  of sam2-hiera-tiny
  whole=$(value params_m)
  jq '.model_type = "sam2"' config.json >image.json
  try show arch image.json
  [ "$status" -eq 0 ]
  grep -qF "$(message sam2_image)" err
  gives 0 '' show arch image.json -q -f json
  check "$whole - $(value params_m) | . * 1e6 - (5922304 + 1384608 + 198609 - 256)
    | fabs < 1"
  jq '.enable_occlusion_spatial_embedding = true
    | .enable_temporal_pos_encoding_for_object_pointers = true' config.json >of21.json
  gives 0 '' show arch of21.json -q -f json # SAM 2.1
  check "$(value params_m) - $whole | . * 1e6 - (257 * 64 + 64) | fabs < 1"
}

# The work of one image is summed up by hand from the blocks: grids of 256, 128,
# 64 and 32, windows of 8, 4, 14 and 7 (the first of a stage has those of the
# stage before, and queries of a quarter), blocks 5, 7 and 9 with the whole grid.
@test "MACs of SAM 2 for an image and a prompt" {
  of sam2-hiera-tiny
  jq -n '
    def sq: . * .;
    # side, width before and behind, window, pooling: MACs, and those of attention
    def block($side; $in; $out; $w; $pool):
      (($side / $w) | ceil | sq) as $n | ($w / $pool | sq) as $q |
      {all: ($n * ($w | sq) * 3 * $in * $out + $n * $q * $out * $out
         + 8 * (($side / $pool) | sq) * $out * $out
         + (if $in == $out then 0 else $side * $side * $in * $out end)),
       attention: ($n * 2 * $q * ($w | sq) * $out)};
    def way($q; $k; $d): # of the decoder, from queries to keys
      {all: (2 * ($q + $k) * 256 * $d), attention: (2 * $q * $k * $d)};
    [block(256; 96; 96; 8; 1),
     block(256; 96; 192; 8; 2), block(128; 192; 192; 4; 1),
     block(128; 192; 384; 4; 2), block(64; 384; 384; 14; 1),
     (range(3) | block(64; 384; 384; 64; 1)),
     (range(2) | block(64; 384; 384; 14; 1)),
     block(64; 384; 768; 14; 2), block(32; 768; 768; 7; 1),
     {all: (256 * 256 * 96 * 147)},
     ([[256, 96], [128, 192], [64, 384], [32, 768]][] |
       {all: ((.[0] | sq) * .[1] * 256)}),
     (range(2) | way(8; 8; 256), way(8; 4096; 128), way(4096; 8; 128),
       {all: (8 * 2 * 256 * 2048)}), way(8; 4096; 128),
     {all: (4096 * 256 * 64 * 4 + 16384 * 64 * 32 * 4 # mask
        + 4 * (2 * 65536 + 256 * 32) + 4 * 65536 * 32 + 4 * 65536 + 256 * 5
        + 65536 * 256 * 32 + 16384 * 256 * 64)}]
    | {attention: (map(.attention // 0) | add)}
      + {all: (map(.all + (.attention // 0)) | add)}' >by_hand
  check "$(value attention_macs_g) * 1e9 - $(jq .attention by_hand) | fabs < 1e3"
  check ".inputs[0].macs_g * 1e9
    - $(jq .all by_hand) | fabs < 1e3"
}

@test "a SAM 2 that cannot be counted is refused" {
  of sam2-hiera-tiny
  while read -r key change; do
    jq "$change" config.json >odd.json
    gives 3 "dlest: odd.json: $(message sam2_wrong "$key")" show arch odd.json
  done <<'EOF'
hidden_size .vision_config.backbone_config.hidden_size = 112
hidden_size .mask_decoder_config.hidden_size = "wide"
num_hidden_layers .mask_decoder_config.num_hidden_layers = 1000000
num_multimask_outputs .mask_decoder_config.num_multimask_outputs = 2.5
image_size .vision_config.backbone_config.image_size = [1024, 512]
backbone_channel_list .vision_config.backbone_channel_list = [896, 448, 224, 112]
backbone_config .vision_config.backbone_config.model_type = "timm_wrapper"
window_size_per_stage .vision_config.backbone_config.window_size_per_stage = [8, 4]
mask_downsampler_stride .mask_downsampler_stride = 1
EOF
  jq '.vision_config.backbone_config.blocks_per_stage = [1, 2]' config.json >odd.json
  gives 3 "dlest: odd.json: $(message sam2_stages 2 8)" show arch odd.json
}

@test "kinds of layers that are not known are named" {
  of Qwen3-Next-80B-A3B-Instruct
  jq '.layer_types = [range(48) | "full_attention"]' config.json >all.json
  gives 0 '' show arch all.json -q
  jq '.layer_types = [range(48) | if . == 7 then "fourier" else
    "full_attention" end]' config.json >odd.json
  try show arch odd.json
  [ "$status" -eq 0 ]
  grep -qF "$(message config_not_read "'layer_types'")" err
  of GLM-5 # attends to the tokens that an index chooses
  try show arch config.json
  grep -qF "$(message config_not_read "'index_topk'")" err
}

@test "towers are counted, and what is not is said" {
  of Qwen2.5-VL-7B-Instruct
  whole=$(value params_m)
  try show arch config.json
  grep -qF "$(message part_has_no_work "'vision_config'")" err
  jq 'del(.vision_config)' config.json >text.json
  gives 0 '' show arch text.json -q -f json
  check "$whole - (.values[] | select(.field == \"params_m\") | .value) |
    . > 660 and . < 690" # the tower of Qwen2.5-VL: 0.67 billion
  jq '.vision_config.model_type = "eye"' config.json >eye.json
  try show arch eye.json
  grep -qF "$(message part_not_known vision_config)" err
  of siglip-base-patch16-224
  try show arch config.json
  grep -qF "$(message text_part_has_no_work)" err
}

# Experts in every second of the layers behind the first 3: 29 of 58 become dense.
@test "a number of layers between those with experts" {
  of DeepSeek-V3
  all=$(value params_m)
  jq '.moe_layer_freq = 2' config.json >every.json
  gives 0 '' show arch every.json -q -f json
  check "($all - (.values[] | select(.field == \"params_m\") | .value)) * 1e6
    / (29 * (257 * 3 * 7168 * 2048 + 256 * 7168 - 3 * 7168 * 18432))
    | . > 0.999 and . < 1.001"
  jq '.num_hidden_layers = 1e17' every.json >endless.json
  try show arch endless.json
  [ "$status" -eq 3 ]
}

@test "a key that changes the network changes its figures, or is named" {
  n=0
  while IFS='|' read -r name change; do
    of "$name"
    jq -c .values out >before.json
    jq "$change" config.json >changed.json
    try show arch changed.json -f json
    [ "$status" -eq 0 ]
    ! jq -c .values out | cmp -s - before.json ||
      grep -q 'not read\|not known\|no work' err || {
      echo "$name: $change changes nothing" >&2
      false
    }
    n=$((n + 1))
  done <<'END'
Qwen3-30B-A3B|.n_shared_experts = 2
Qwen3-30B-A3B|.shared_expert_intermediate_size = 1024
Qwen3-30B-A3B|.num_nextn_predict_layers = 1
Qwen3-30B-A3B|.first_k_dense_replace = 3
Qwen3-30B-A3B|.tie_word_embeddings = true
Qwen3-30B-A3B|.mlp_only_layers = [0, 1, 2]
Qwen3-30B-A3B|.sliding_window = 128 | .use_sliding_window = true | .max_window_layers = 20
Qwen3-30B-A3B|.layer_types = [range(48) | "linear_attention"]
Qwen3-30B-A3B|.hidden_mystery_layers = 7
SmolLM3-3B|.layer_types = [range(36) | "mamba"]
SmolLM3-3B|.tie_word_embeddings = false
SmolLM3-3B|.num_local_experts = 8 | .num_experts_per_tok = 2
SmolLM3-3B|.attention_bias = true
SmolLM3-3B|.head_dim = 256
SmolLM3-3B|.sliding_window = 256 | .layer_types = [range(36) | "sliding_attention"]
SmolLM3-3B|.mtp_num_layers = 2
SmolLM3-3B|.kv_lora_rank = 512
SmolLM3-3B|.vision_config = {hidden_size: 1024, num_hidden_layers: 24}
SmolLM3-3B|.audio_config = {hidden_size: 1024, num_hidden_layers: 24}
SmolLM3-3B|.num_extra_blocks = 4
SmolLM3-3B|.num_key_value_heads = 16
DeepSeek-V3|.n_shared_experts = 4
DeepSeek-V3|.first_k_dense_replace = 10
DeepSeek-V3|.q_lora_rank = null
DeepSeek-V3|.index_n_heads = 64 | .index_head_dim = 128
gpt-oss-20b|.layer_types = [range(24) | "full_attention"]
gpt-oss-20b|.num_experts_per_tok = 8
gpt-oss-20b|.shared_intermediate_size = 2880
OLMo-2-1124-7B|.tie_word_embeddings = true
gemma-3-27b-it|.text_config.layer_types = [range(62) | "full_attention"]
gemma-3-27b-it|.text_config.sliding_window = 64
Jamba-v0.1|.attn_layer_period = 4
Jamba-v0.1|.num_experts = 32
granite-4.0-h-small|.shared_intermediate_size = 4096
END
  [ "$n" -ge 30 ]
}
