#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# config.json files of model hubs as architectures. The files are cut down to
# the keys of the shape, with the values that the hub publishes; so are the
# numbers of parameters (of the weights that are not only for pre-training).

load ../common

CONFIGS=$TOP_SRCDIR/tests/reference/model-configs.jsonl

# config NAME: writes the file of a network, with its labels
config() {
  jq -c "select(.name == \"$1\") | .config +
    (if .labels then {id2label: ([range(.labels) | {(tostring): \"x\"}] | add)}
     else {} end)" "$CONFIGS" >config.json
}

@test "parameters are within 1 % of the published number" {
  [ "$(wc -l <"$CONFIGS")" -ge 25 ]
  jq -r '"\(.name) \(.params)"' "$CONFIGS" >published
  while read -r name params; do
    config "$name"
    gives 0 '' show arch ./config.json -q -f json
    check "(.values[] | select(.field == \"params_m\") | .value * 1e6 / $params)
      | . > 0.99 and . < 1.01"
  done <published
}

@test "every family that is required is among them" {
  for type in bert gpt2 llama mistral mixtral qwen2 gemma vit t5 whisper; do
    grep -q "\"model_type\": \"$type\"" "$CONFIGS"
  done
}

@test "a config.json gives what the catalogue's entry gives" {
  for pair in Llama-2-7b-hf:llama-2-7b gpt2:gpt2 bert-base-uncased:bert-base-uncased; do
    config "${pair%:*}"
    job=(--gpu a100 --gpus 8 --tokens 1e9 --method flops -q -f json)
    gives 0 '' predict --arch ./config.json "${job[@]}"
    jq '.estimates[0] | [.energy_j, .duration_s]' out >got
    gives 0 '' predict --arch "${pair#*:}" "${job[@]}"
    jq '.estimates[0] | [.energy_j, .duration_s]' out | diff - got
  done
}

# Gemma 3's report: five layers with a window to each without.
@test "windows of attention: listed, or by the rule of the family" {
  base='{"num_hidden_layers": 12, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
    "max_position_embeddings": 4096, "sliding_window": 512}'
  windows() { # [MEMBERS] -> window, share of the layers
    jq -n "$base + $1" >config.json
    gives 0 '' show arch ./config.json -q -f json
    jq -r '[.values[] | select(.field == "attention_window" or
      .field == "window_share") | .value | tostring] | join(" ")' out
  }
  [ "$(windows '{model_type: "gemma3_text", sliding_window_pattern: 6}')" = \
    "512 0.8333333333333334" ]
  [ "$(windows '{model_type: "gemma2"}')" = "512 0.5" ]
  [ "$(windows '{model_type: "mistral"}')" = "512 1" ]
  [ "$(windows '{model_type: "mistral", sliding_window: null}')" = "" ]
  [ "$(windows '{model_type: "qwen3", use_sliding_window: false}')" = "" ]
  [ "$(windows '{model_type: "qwen3", layer_types:
    ([range(12) | if . % 4 == 0 then "sliding_attention" else
      "full_attention" end])}')" = "512 0.25" ]
}

# transformers: of Qwen, layers from max_window_layers on, where windows are used.
@test "windows of Qwen and Mixtral" {
  base='{"num_hidden_layers": 12, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
    "max_position_embeddings": 4096, "sliding_window": 512}'
  windows() {
    jq -n "$base + $1" >config.json
    gives 0 '' show arch ./config.json -q -f json
    jq -r '[.values[] | select(.field == "attention_window" or
      .field == "window_share") | .value | tostring] | join(" ")' out
  }
  for type in qwen2 qwen3; do
    used="{model_type: \"$type\", use_sliding_window: true, max_window_layers"
    [ "$(windows "$used: 9}")" = "512 0.25" ]
    [ "$(windows "$used: 12}")" = "" ]
    [ "$(windows "$used: 20}")" = "" ]
    [ "$(windows "{model_type: \"$type\", max_window_layers: 9}")" = "" ]
  done
  experts='num_local_experts: 4, num_experts_per_tok: 2'
  [ "$(windows "{model_type: \"mixtral\", $experts}")" = "512 1" ]
  [ "$(windows "{model_type: \"mixtral\", $experts, sliding_window: null}")" = "" ]
}

# experts [MEMBERS] -> parameters of a small Qwen3-MoE of 4 layers
experts() {
  jq -n '{model_type: "qwen3_moe", num_hidden_layers: 4, hidden_size: 64,
    num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16,
    intermediate_size: 96, moe_intermediate_size: 32, num_experts: 8,
    num_experts_per_tok: 2, vocab_size: 1000, max_position_embeddings: 512,
    tie_word_embeddings: false} + '"$1" >config.json
  gives 0 '' show arch ./config.json -q -f json
  jq '.values[] | select(.field == "params_m") | .value * 1e6 | round' out
}

# Embedding and output layer; attention with two norms; a norm at the end; three
# products of a dense layer, of 8 experts with what chooses among them.
expected() { # LAYERS WITH EXPERTS
  echo $((2 * 1000 * 64 + 4 * (2 * 64 * 64 + 2 * 64 * 32 + 2 * 64) + 64 +
    (4 - $1) * 3 * 64 * 96 + $1 * (8 * 3 * 64 * 32 + 64 * 8)))
}

@test "layers without experts are those listed, and those between the sparse ones" {
  [ "$(experts '{}')" = "$(expected 4)" ]
  [ "$(experts '{mlp_only_layers: []}')" = "$(expected 4)" ]
  [ "$(experts '{mlp_only_layers: [0, 1, 2]}')" = "$(expected 1)" ]
  [ "$(experts '{mlp_only_layers: [3, 3, 9, -1]}')" = "$(expected 3)" ]
  [ "$(experts '{mlp_only_layers: [0, 1, 2, 3]}')" = "$(expected 0)" ]
  [ "$(experts '{decoder_sparse_step: 2}')" = "$(expected 2)" ]
  [ "$(experts '{decoder_sparse_step: 2, mlp_only_layers: [0]}')" = "$(expected 2)" ]
  [ "$(experts '{decoder_sparse_step: 2, mlp_only_layers: [1]}')" = "$(expected 1)" ]
}

# unread KEYS MEMBERS: a Llama 2 with these is counted, with a warning of the keys.
unread() {
  config Llama-2-7b-hf
  jq -c ". + $2" config.json >with.json
  gives 0 "${1:+dlest: warning: with.json: $(message config_not_read "$1")}" \
    show arch with.json
}

@test "keys that may change the network and are not read are named once" {
  unread "'num_local_experts', 'num_experts_per_tok'" \
    '{num_local_experts: 8, num_experts_per_tok: 2}'
  unread "'num_nextn_predict_layers'" '{num_nextn_predict_layers: 1}'
  unread "'first_k_dense_replace', 'moe_layer_freq', 'kv_lora_rank'" \
    '{first_k_dense_replace: 3, moe_layer_freq: [0, 1, 1], kv_lora_rank: 512}'
  unread "'interleave_moe_layer_step', 'n_shared_experts'" \
    '{interleave_moe_layer_step: 2, n_shared_experts: 1}'
  unread "'add_cross_attention'" '{add_cross_attention: true}'
  unread "'layer_types'" '{layer_types: ["linear_attention", "full_attention"]}'
  unread "'layer_types'" \
    '{layer_types: ([range(31) | "full_attention"] + ["linear_attention"])}'
  unread "'layer_types'" '{layer_types: [range(31) | "full_attention"]}'
  unread "'n_layer'" '{n_layer: 16}'
  unread "'a1', 'a2', 'a3', 'a4', 'a5', ..." \
    '{a1: 1, a2: 2, a3: 3, a4: 4, a5: 5, a6: 6}'
  config whisper-tiny
  jq '. + {decoder_ffn_dim: 1024}' config.json >with.json
  gives 0 "dlest: warning: with.json: $(message config_not_read "'decoder_ffn_dim'")" \
    show arch with.json
}

@test "keys that are off, equal, or without effect are not named" {
  unread '' '{num_local_experts: 0, moe_layer_freq: null, mtp: false, blocks: []}'
  unread '' '{layer_types: [range(32) | "full_attention"], n_layer: 32}'
  unread '' '{attention_dropout: 0, bos_token_id: 1, eos_token_id: [2, 3],
    initializer_range: 0.02, mlp_bias: false, pretraining_tp: 1,
    rms_norm_eps: 1e-05, rope_theta: 500000, torch_dtype: "bfloat16",
    rope_scaling: {factor: 8, rope_type: "llama3"}, use_cache: true,
    transformers_version: "4.51.0", id2label: {"0": "x"}, label2id: {"x": 0},
    task_specific_params: {a: {max_length: 50}}, auto_map: {AutoModel: "x"},
    num_beams: 1, max_length: 20, top_k: 50, unsloth_fixed: true,
    _attn_implementation_autoset: true}'
  config deberta-v3-large
  jq '. + {pos_att_type: ["p2c", "c2p"], share_att_key: true, legacy: true,
    pooler_hidden_size: 1024, norm_rel_ebd: "layer_norm"}' config.json >with.json
  gives 0 '' show arch with.json
  config whisper-tiny
  jq '. + {decoder_ffn_dim: 1536, encoder_ffn_dim: 1536, scale_embedding: false,
    decoder_attention_heads: 6, encoder_attention_heads: 6, num_hidden_layers: 4,
    suppress_tokens: [1, 2], begin_suppress_tokens: [220], median_filter_width: 7,
    forced_decoder_ids: [[1, 50259]], mask_time_length: 10, is_encoder_decoder: true,
    classifier_proj_size: 256, max_length: 448, alignment_heads: [[2, 2]]}' \
    config.json >with.json
  gives 0 '' show arch with.json
  config Qwen2.5-7B
  jq '. + {sliding_window: 131072, max_window_layers: 28, use_sliding_window: false,
    use_mrope: false}' config.json >with.json
  try show arch with.json
  [ "$status" -eq 0 ]
  ! grep -qF "$(message config_not_read X | cut -d: -f1)" err || false
}

# Llama-2-7b-hf: 2 x 32000 x 4096 + 32 x (4 x 4096^2 + 3 x 4096 x 11008 + 2 x 4096)
# + 4096.
@test "of several parts the one for texts is counted, with a warning" {
  config Llama-2-7b-hf
  jq '{model_type: "llava", text_config: ., vision_config: {hidden_size: 1024}}' \
    config.json >parts.json
  gives 0 "dlest: warning: parts.json: $(message part_not_known vision_config)" \
    show arch parts.json -f json
  near '.values[] | select(.field == "params_m") | .value' 6738.415616
}

# Sizes: the publications of the networks.
@test "a network that has no reader but is in the catalogue is named" {
  named() { # ARCH TYPE HIDDEN LAYERS VOCABULARY [FILTER]
    jq -n --arg t "$2" "{model_type: \$t, hidden_size: $3, num_hidden_layers: $4,
      vocab_size: $5} | ${6:-.}" >config.json
    try show arch config.json
    [ "$status" -eq 3 ]
    grep -qF "$(message catalogue_has_this_size "--arch $1")" err
    grep -qF "$(message model_type_not_known "$2")" err
  }
  named gpt-oss-20b gpt_oss_next 2880 24 201088
  named gpt-oss-120b gpt_oss_next 2880 36 201088
  named deepseek-v3 deepseek_v3_next 7168 61 129280
  named kimi-k2 kimi_k2_next 7168 61 163840
  named minimax-m2 minimax_m2_next 3072 62 200064
  named glm-4-9b glm4_next 4096 40 151552
  named modernbert-base modernbert_next 768 22 50368
  named 'llama-4-scout or --arch llama-4-maverick' llama4_next 5120 48 202048 \
    '{model_type, text_config: del(.model_type)}'
  # The size of the feed-forward part, or of an expert, and heads, if they are there.
  named deepseek-v3 deepseek_v3_next 7168 61 129280 '. + {intermediate_size: 18432,
    moe_intermediate_size: 2048, num_attention_heads: 128}'
  named minimax-m2 minimax_m2_next 3072 62 200064 '. + {intermediate_size: 1536,
    num_attention_heads: 48}'
  named 'llama-4-scout or --arch llama-4-maverick' llama4_next 5120 48 202048 \
    '. + {intermediate_size: 8192, intermediate_size_mlp: 16384,
      num_attention_heads: 40}'
  # A part for texts that leaves out what its family has by default.
  named gemma-3-12b gemma3_next 3840 48 null '{model_type, text_config: (del(.model_type,
    .vocab_size) + {model_type: "gemma3_text_next", intermediate_size: 15360})}'
  # A vocabulary to which tokens were added; by its name alone.
  named gpt-oss-20b gpt_oss_next 2880 24 201200
  named glm-4-9b chatglm_next 4096 40 null '. + {_name_or_path: "THUDM/glm-4-9b"}'
  # The name is another network's.
  named gpt-oss-20b gpt_oss_next 2880 24 201088 '. + {_name_or_path: "gpt2"}'
  for other in '{num_hidden_layers: 23}' '{num_attention_heads: 32}' \
    '{intermediate_size: 4096}' '{hidden_size: 2881}' '{vocab_size: 32000}'; do
    jq -n '{model_type: "mamba", hidden_size: 2880, num_hidden_layers: 24,
      vocab_size: 201088} + '"$other" >config.json
    try show arch config.json
    [ "$status" -eq 3 ]
    ! grep -qF 'did you mean' err || false
  done
}

# As Python's json module writes them.
@test "Infinity and NaN are read where they are not needed" {
  config Llama-2-7b-hf
  gives 0 '' show arch ./config.json -f json
  mv out want
  sed 's/^{/{"time_step_limit": [0.0, Infinity], "a": NaN,\n "b": {"c": [-Infinity , NaN]},/;
    s/}$/, "d": "say \\"NaN\\", Infinity", "e":Infinity}/' config.json >with.json
  mv with.json config.json
  gives 0 "dlest: warning: config.json: $(message config_not_read "'b'")" \
    show arch config.json -f json
  jq 'del(.warnings, .file)' want | sed 's/[.]\///' >one
  jq 'del(.warnings, .file)' out | diff one -
  for value in NaN Infinity -Infinity; do
    config Llama-2-7b-hf
    sed "s/\"hidden_size\":4096/\"hidden_size\":$value/" config.json >c
    mv c config.json
    refuses 3 "dlest: config.json: $(message is_no_number hidden_size)" \
      show arch config.json
  done
  # Neither a key nor a part of a word, and lines are counted.
  for text in '{NaN: 1}' '{"a": NaNs}' '{"a": Infinity' '{"a": - Infinity}' \
    '{"a": --Infinity}' '{"a": infinity}'; do
    printf '{"x": Infinity,\n"y": %s}' "$text" >config.json
    try show arch config.json
    [ "$status" -eq 3 ]
    grep -q '^dlest: config.json:2: ' err
  done
}

@test "a byte order mark, other line ends and another order of keys" {
  config bert-base-uncased
  gives 0 '' show arch ./config.json -f json
  cp out want
  { printf '\xef\xbb\xbf'; jq -S . config.json | sed 's/$/\r/'; } >other
  mv other config.json
  gives 0 '' show arch ./config.json -f json
  cmp out want
}

@test "the name is that of the checkpoint, else of the folder" {
  config Llama-2-7b-hf
  gives 0 '' show arch config.json -f json
  check '.id == "llama-2-7b-hf" and .name == "Llama-2-7b-hf"'
  mkdir My-Net
  jq 'del(._name_or_path)' config.json >My-Net/config.json
  gives 0 '' show arch My-Net/config.json -f json
  check '.id == "my-net"'
}

@test "images are counted at the size of the run" {
  config vit-base-patch16-224
  gives 0 '' predict --arch ./config.json --gpu a100 --batch-size 64 \
    --image-px 384 --method flops -q -f json
  check '.forward_macs_g // .macs_g | . > 49 and . < 56' # timm: 49.4 to 55.5
}

@test "a long context is counted at 8192 tokens, with a warning" {
  config Mistral-7B-v0.1
  gives 0 "dlest: warning: config.json: $(message takes_up_to_counted_at 32768 8192)" \
    show arch config.json -f json
  check '.values[] | select(.field == "seq_len") | .value == 8192'
}

@test "the published context is that of the positions, unless these are learned" {
  config Mistral-7B-v0.1
  try predict --arch ./config.json --gpu h100 --tokens 1e9 --seq-len 65536
  grep -qF -e "$(message sequence_is_longer_context --seq-len 65536 32768 model)" err
  try predict --arch ./config.json --gpu h100 --tokens 1e9 --seq-len 32768
  ! grep -qF 'tokens of context' err || false
}

@test "a format of the weights is not read, with a warning" {
  config bert-base-uncased
  jq '. + {quantization_config: null}' config.json >plain.json
  gives 0 '' show arch plain.json
  jq '. + {quantization_config: {bits: 4}}' config.json >awq.json
  gives 0 "dlest: warning: awq.json: $(message quantization_not_read)" \
    show arch awq.json
}

@test "a config.json of an unknown network is refused" {
  refused() {
    refuses 3 "dlest: config.json: $1" show arch config.json
  }
  try_text() { printf '%s' "$1" >config.json; }
  try_text '{}'
  refused "$(message no_model_type)"
  try_text '{"_class_name": "FluxTransformer2DModel", "num_layers": 19}'
  refused "$(message diffusers_not_read FluxTransformer2DModel \
    "flux.1 or flux.1-schnell")"
  try_text '[1]'
  refused "$(message json_not_an_object)"
  try_text '{"model_type": "mamba", "hidden_size": 4}'
  try show arch config.json
  [ "$status" -eq 3 ]
  grep -qF "$(message model_type_not_known mamba)" err
  try_text '{"model_type": "llama", "hidden_size": "4096"}'
  config Llama-2-7b-hf
  jq 'del(.hidden_size)' config.json >c
  mv c config.json
  refused "$(message no_key_of_config hidden_size hidden)"
  config Llama-2-7b-hf
  jq '.hidden_size = "4096"' config.json >c
  mv c config.json
  refused "$(message is_no_number hidden_size)"
  config Llama-2-7b-hf
  jq '.intermediate_size = true' config.json >c
  mv c config.json
  refused "$(message is_no_number intermediate_size)"
  config Llama-2-7b-hf
  jq '.tie_word_embeddings = 12' config.json >c
  mv c config.json
  refused "$(message is_no_truth tie_word_embeddings)"
  config Llama-2-7b-hf
  jq '.num_hidden_layers = 0.5' config.json >c
  mv c config.json
  try show arch config.json
  [ "$status" -eq 3 ]
  grep -q '^dlest: config.json: layers: 0.5' err
  config Llama-2-7b-hf
  jq '.num_key_value_heads = 5' config.json >c
  mv c config.json
  try show arch config.json
  [ "$status" -eq 3 ]
  grep -q '^dlest: config.json: kv_heads' err
}

@test "an embedding wider than the hidden size is refused" {
  cat >config.json <<'END'
{"model_type": "opt", "num_hidden_layers": 24, "hidden_size": 1024,
 "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272,
 "max_position_embeddings": 2048, "word_embed_proj_dim": 4096}
END
  try show arch config.json
  [ "$status" -eq 3 ]
  grep -q '^dlest: config.json: embedding is for tokens of one stack' err
  sed -i 's/4096}/1024}/' config.json
  gives 0 '' show arch config.json
}

# transformers: ALBERT has num_hidden_groups sets of weights, of inner_group_num layers.
@test "layers of ALBERT that are not repeats of one are refused" {
  local albert='"model_type": "albert", "num_hidden_layers": 12, "hidden_size": 768,
    "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30000,
    "embedding_size": 128, "max_position_embeddings": 512'
  for key in num_hidden_groups inner_group_num; do
    echo "{$albert, \"$key\": 1}" >config.json
    gives 0 '' show arch config.json
    echo "{$albert, \"$key\": 2}" >config.json
    refuses 3 "dlest: config.json: $(message layers_are_repeats_of_one "$key" 2)" \
      show arch config.json
  done
}

# Products of BERT, 2 x 12 layers x 512^2 tokens x 768, and as many with 2 x 256
# relative positions.
@test "a DeBERTa without relative positions" {
  for relative in true false; do
    echo "{\"model_type\": \"deberta-v2\", \"num_hidden_layers\": 12, \"hidden_size\": 768,
      \"num_attention_heads\": 12, \"intermediate_size\": 3072, \"vocab_size\": 128100,
      \"max_position_embeddings\": 512, \"position_buckets\": 256,
      \"relative_attention\": $relative}" >config.json
    gives 0 '' show arch config.json -f json
    check '.values[] | select(.field == "attention_macs_g") | .value ==
      '"$([ $relative = false ] && echo 4.831838208 || echo 9.663676416)"
  done
}

@test "hostile JSON is refused in no time" {
  for text in '' '{' '{"model_type": "llama"' '{"a": 1, "a": 2}' \
    '{"a": 1e999}' '{"a": "\u0000"}' '{"a": "\ud800"}' 'nan' '{"a": NaN}'; do
    printf '%s' "$text" >config.json
    try show arch config.json
    [ "$status" -eq 3 ]
    grep -q '^dlest: config.json:' err
  done
  { printf '{"a": '; yes '[' | head -n 100000 | tr -d '\n'; } >config.json
  try show arch config.json
  [ "$status" -eq 3 ]
  head -c 20000000 /dev/zero | tr '\0' ' ' >config.json
  try show arch config.json
  [ "$status" -eq 3 ]
  config bert-base-uncased
  mv config.json whole.json
  for i in $(seq 1 8 $(($(wc -c <whole.json) - 3))); do
    head -c "$i" whole.json >config.json
    try show arch config.json
    [ "$status" -eq 3 ]
  done
}
