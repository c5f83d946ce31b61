#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Transformers: by name, by shape, by tokens, in inference.

load ../common

small=transformer:layers=2,hidden=8,heads=2,vocab=16,seq=16

# flops ARG...: the estimate by flops, as JSON in out
flops() {
  try predict --method flops --format json "$@"
  if [ "$status" -ne 0 ]; then cat err; return 1; fi
}

@test "show: names as people write them" {
  while read -r name id; do
    gives 0 '' show arch "$name" --format json
    check ".id == \"$id\"" || echo "$name"
  done <<END
bert bert-base-uncased
google-bert/bert-large-uncased bert-large-uncased
gpt2-xl gpt2-xl
GPT-3-175B gpt3-175b
meta-llama/Llama-2-70b-hf llama-2-70b
Meta-Llama-3-8B llama-3-8b
mistralai/Mixtral-8x7B-v0.1 mixtral-8x7b
t5-11b t5-11b
openai/whisper-large-v3 whisper-large-v3
vit_base_patch16_224 vit_base_patch16_224
END
}

@test "a file of that path comes before a name" {
  mkdir -p meta-llama
  cat >meta-llama/Llama-2-7b-hf <<'END'
<catalog kind="architecture" version="1">
<entry id="mine" name="Mine" scaling="sequence">
<transformer layers="2" hidden="8" heads="2" vocab="16" seq="16"/>
</entry></catalog>
END
  gives 0 '' show arch meta-llama/Llama-2-7b-hf --format json
  check '.id == "mine"'
  check '.values[] | select(.field == "macs_g").value * 1e9 == 34816'
}

@test "a name with a slash that is neither a file nor known" {
  try show arch meta-llama/Llama-2-9b-hf
  [ "$status" -eq 3 ]
  grep -q "^dlest: $(message unknown_nearest arch meta-llama/Llama-2-9b-hf "")" err
}

@test "tokens, in text" {
  try predict --arch mixtral-8x7b --gpu h100 --gpus 64 --tokens 1e12 --all \
    --explain
  [ "$status" -eq 0 ]
  grep -q '^training tokens  *1.00e+12$' out
  grep -q '^parameters  *47000 M$' out
  grep -q '^active parameters per token  *13000 M$' out
  grep -q '^sequence  *32768 tokens$' out
  ! grep -q ' px$' out || false
  [ ! -s err ]
  grep -qx 'pre-epoch: no estimate without measured runs on tokens.' out
  try predict --arch mixtral-8x7b --gpu h100 --gpus 64 --tokens 1e12 -f json
  grep -qx "dlest: warning: $(message no_estimate_without pre-epoch \
    'measured runs on tokens')" err
}

@test "epochs: of --train-tokens they add up, of --tokens they are within" {
  job=(predict --arch gpt2 --gpu a100 --method flops -f json)
  gives 0 '' "${job[@]}" --tokens 3e9
  jq '.estimates[0].energy_j' out >whole
  gives 0 '' "${job[@]}" --train-tokens 1e9 --epochs 3
  jq '.estimates[0].energy_j' out | diff - whole
  gives 0 "dlest: warning: $(message tokens_of_all_epochs 3e+09 3)" \
    "${job[@]}" --tokens 3e9 --epochs 3
  jq '.estimates[0].energy_j' out | diff - whole
}

@test "a rank in a cell of fine_tune is that of --fine-tune and of lora_rank" {
  job=(predict --method flops -q -f csv --input runs.csv)
  for word in lora qlora; do
    table arch,gpu,batch_size,tokens,fine_tune "llama-2-7b,a100,1,1e9,$word:16"
    gives 0 '' "${job[@]}"
    mv out cell
    table arch,gpu,batch_size,tokens,fine_tune,lora_rank \
      "llama-2-7b,a100,1,1e9,$word,16"
    gives 0 '' "${job[@]}"
    diff <(jq -R 'split(",")|.[-12:]' cell) <(jq -R 'split(",")|.[-12:]' out)
    gives 0 '' predict --arch llama-2-7b --gpu a100 --batch-size 1 \
      --tokens 1e9 --method flops -q -f json --fine-tune "$word:16"
    mv out option
    gives 0 '' predict --arch llama-2-7b --gpu a100 --batch-size 1 \
      --tokens 1e9 --method flops -q -f json --set "fine_tune=$word:16"
    diff <(jq '.estimates' option) <(jq '.estimates' out)
  done
  for bad in lora: lora:0 lora:x lora:1.5 full:3; do
    table arch,gpu,batch_size,tokens,fine_tune "llama-2-7b,a100,1,1e9,$bad"
    try "${job[@]}"
    [ "$status" -eq 3 ]
  done
}

@test "a table of shapes, tokens and requests" {
  table 'arch,gpu,phase,tokens,prompt_tokens,output_tokens,requests' \
    "\"$small\",a100,,1.6e9,,," \
    "\"$small\",a100,inference,,10,3,4" \
    '"transformer:layers=x",a100,,1e9,,,' \
    'gpt2,a100,,,,,'
  try predict --input runs.csv --method flops --format csv
  [ "$status" -eq 3 ]
  [ "$(wc -l <out)" -eq 3 ]
  grep -q "runs.csv:4: arch: $(message at_column 13 \
    "$(message invalid_number layers x)")" err
  grep -q "runs.csv:5: $(message is_a_language_model_give gpt2)" err
  try predict --input runs.csv --method flops --format json
  near '.estimates[0].duration_s' '6 * 1e8 * 34816 / (312e12 * 0.4)'
}

# Chats of the ML.ENERGY benchmark; how long their prompts were is not given.
@test "measured inference: flops is a lower bound, within a factor of 5" {
  data=$MEASURED_RUNS/mlenergy/mlenergy_v2_inference.csv
  if [ ! -f "$data" ]; then skip "no measured runs in '$MEASURED_RUNS'"; fi
  awk -F, 'BEGIN {
      print "arch,gpu,n_gpus,phase,precision,prompt_tokens,output_tokens," \
        "requests,batch_size,measured_j" }
    /^llm_text_generation\/chat,(meta-llama\/Meta-Llama-3.1|mistralai\/Mixtral)/ {
      arch = $2; sub(/-Instruct/, "", arch)
      gpu = $3 ~ /A100/ ? "a100-sxm4-40gb" : "h100-sxm5-80gb"
      print arch "," gpu "," $4 * $5 ",inference,fp16,200," $9 "," $10 "," \
        $10 "," $6 }' "$data" >runs.csv
  [ "$(wc -l <runs.csv)" -eq 78 ]
  gives 0 '' predict --input runs.csv --method flops --format json --quiet
  check '[.estimates[] | .energy_j / .requests / (.measured_j | tonumber)] |
    sort | .[0] > 0.2 and .[-1] < 0.9 and (.[38] | . > 0.44 and . < 0.46)'
}

@test "a given set-up of a language model is taken as it is" {
  job=(predict --arch llama-2-7b --gpu a100-80gb --gpus 8 --tokens 1e9 -q)
  # What is printed as given is what is taken.
  gives 0 '' "${job[@]}" --explain --sharding zero3 --checkpointing full
  grep -Eq 'sharding +zero3$' out
  grep -Eq 'activation checkpointing +full$' out
  gives 0 '' "${job[@]}" --method physical -f json --checkpointing none
  jq '.estimates[0].duration_s' out >none
  gives 0 '' "${job[@]}" --method physical -f json --checkpointing full
  check ".estimates[0].duration_s > $(cat none)"
}
