#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# config.json files of model hubs as architectures. The files are cut down to
# the keys of the shape, with the values that the hub publishes; so are the
# numbers of parameters (of the weights that are not only for pre-training).

load common

CONFIGS=$BATS_TEST_DIRNAME/../reference/model-configs.jsonl

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
  try_text '[1]'
  refused "$(message json_not_an_object)"
  try_text '{"model_type": "mamba", "hidden_size": 4}'
  try show arch config.json
  [ "$status" -eq 3 ]
  grep -qF "$(message model_type_is_none_of mamba llama)" err
  try_text '{"model_type": "llama", "hidden_size": "4096"}'
  config Llama-2-7b-hf
  jq 'del(.hidden_size)' config.json >c && mv c config.json
  refused "$(message no_key_of_config hidden_size hidden)"
  config Llama-2-7b-hf
  jq '.hidden_size = "4096"' config.json >c && mv c config.json
  refused "$(message is_no_number hidden_size)"
  config Llama-2-7b-hf
  jq '.intermediate_size = true' config.json >c && mv c config.json
  refused "$(message is_no_number intermediate_size)"
  config Llama-2-7b-hf
  jq '.tie_word_embeddings = 12' config.json >c && mv c config.json
  refused "$(message is_no_truth tie_word_embeddings)"
  config Llama-2-7b-hf
  jq '.num_hidden_layers = 0.5' config.json >c && mv c config.json
  try show arch config.json
  [ "$status" -eq 3 ]
  grep -q '^dlest: config.json: layers: 0.5' err
  config Llama-2-7b-hf
  jq '.num_key_value_heads = 5' config.json >c && mv c config.json
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
