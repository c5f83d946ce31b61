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

@test "show: what a shape comes to" {
  gives 0 '' show arch "$small" --format json
  check ".id == \"$small\" and .scaling == \"sequence\""
  check '.shape | startswith("decoder, layers 2, hidden 8, heads 2")'
  # a token: 2 layers of 768 weights and 128 of the output; 32 MACs a pair
  near '.values[] | select(.field == "macs_g").value' \
    '(16 * 1664 + 32 * 256) / 1e9'
  near '.values[] | select(.field == "attention_macs_g").value' '32 * 256 / 1e9'
  check '.values[] | select(.field == "seq_len").value == 16'
  # GPT-2 small has 124,439,808 parameters
  gives 0 '' show arch --format json \
    transformer:layers=12,hidden=768,heads=12,vocab=50257,seq=1024
  check '.values[] | select(.field == "params_m").value == 124.439808'
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

@test "networks by the names of checkpoints" {
  for name in meta-llama/Llama-2-7b-chat-hf:llama-2-7b \
    EleutherAI/pythia-6.9b:pythia-6.9b mosaicml/mpt-7b-instruct:mpt-7b \
    TinyLlama-1.1B-Chat:tinyllama-1.1b timm/resnet50.a1_in1k:resnet50 \
    google/vit-base-patch16-224:vit_base_patch16_224 \
    google/flan-t5-xl:flan-t5-xl gpt3-175b:gpt3-175b opt-175b:opt-175b \
    llama-3.1-405b:llama-3.1-405b bert-large-uncased:bert-large-uncased \
    resnet50.a1_in1k:resnet50 yolov8n.pt:yolov8n \
    vit_base_patch16_224.augreg_in21k:vit_base_patch16_224 \
    deepseek-ai/DeepSeek-V3:deepseek-v3 Qwen/Qwen2-7B:qwen2.5-7b \
    tiiuae/falcon-40b:falcon-40b black-forest-labs/FLUX.1-dev:flux.1 \
    mlperf/flux1:flux.1-256px mlperf/deepseek_v3:deepseek-v3; do
    gives 0 '' show arch "${name%:*}" --format json
    check ".id == \"${name#*:}\""
  done
}

@test "a network that the catalogue lacks: export it, and no chance neighbour" {
  for name in no-such-network99 mosaicml/mpt-7b-8k Llama-2-9b-chat-v2 \
    convnext_base.fb_in22k_ft_in1k_384 resnet50.a1.in1k org/; do
    try show arch "$name"
    [ "$status" -eq 3 ]
    [ ! -s out ]
  done
  gives 3 "dlest: $(message unknown_nearest_or_export arch no-such-network99 \
    '' archs)" show arch no-such-network99
}

@test "a name with a slash that is neither a file nor known" {
  try show arch meta-llama/Llama-2-9b-hf
  [ "$status" -eq 3 ]
  grep -q "^dlest: $(message unknown_nearest arch meta-llama/Llama-2-9b-hf "")" err
}

@test "tokens: three passes of each sequence, once" {
  flops --arch "$small" --gpu a100 --tokens 1.6e9
  check '.train_samples == 1e8 and .epochs == 1 and .val_samples == 0'
  check '.tokens == 1.6e9 and .seq_len == 16 and .dataset == null'
  near .flop '6 * 1e8 * (16 * 1664 + 32 * 256)'
  near '.estimates[0].duration_s' '6 * 1e8 * 34816 / (312e12 * 0.4)'
  near '.estimates[0].energy_j' '400 * 6 * 1e8 * 34816 / (312e12 * 0.4)'
  # at half the length half the attention a token
  flops --arch "$small" --gpu a100 --tokens 1.6e9 --seq-len 8
  near .flop '6 * 2e8 * (8 * 1664 + 32 * 64)'
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

@test "training: GPT-3 as its paper counts, and attention" {
  # arXiv 2005.14165, table D.1: 3.14e23 FLOPs for 300e9 tokens, without
  # attention, which adds 12 x 96 x 12288 x 2048 a token
  flops --arch gpt3-175b --gpu v100 --tokens 300e9 --checkpointing none
  check '(.flop - 300e9 * 12 * 96 * 12288 * 2048) / 3.14e23 |
    . > 0.995 and . < 1.005'
}

@test "the size of a training must be given" {
  refuses 2 "dlest: $(message is_a_language_model gpt2)" predict --arch gpt2 --gpu a100
  flops --arch gpt2 --gpu a100 --train-samples 1000
  check '.epochs == 1 and .train_samples == 1000 and .val_samples == null'
  flops --arch gpt2 --gpu a100 --train-samples 1000 --epochs 3
  check '.epochs == 3'
  for option in train-samples=5 val-samples=5; do
    refuses 2 "dlest: --tokens is the whole training; it does not go with \
--${option%=*}" predict --arch gpt2 --gpu a100 --tokens 1e9 "--$option"
  done
  refuses 2 "dlest: $(message tokens_is_whole_training)" predict --arch gpt2 --gpu a100 --tokens 1e9 --dataset imagenet
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

@test "bf16 on a GPU without it is emulated" {
  try predict --arch gpt2 --gpu v100 --tokens 1e9 --method flops \
    --precision bf16 -f json
  [ "$status" -eq 0 ]
  grep -qF "$(message has_no_bf16 v100-sxm2-16gb usual 15.7)" err
}

@test "inference: prefill and decode apart" {
  flops --arch "$small" --gpu a100 --phase inference --precision fp16 \
    --prompt-tokens 10 --output-tokens 3 --requests 4 --batch-size 4
  check '.phase == "inference" and .requests == 4 and .peak_tflops == 312'
  check '[.inference[].part] == ["prefill", "decode"]'
  near '.inference[0].flop' '4 * 2 * (10 * 1664 + 32 * 100)'
  near '.inference[1].flop' '4 * 2 * (3 * 1664 + 32 * 36)'
  near '.inference[1].bytes' '3 * 2 * 1888 + 4 * 2 * 32 * 36'
  # A100: 1555 GB/s
  near '.inference[1].duration_s' '(3 * 2 * 1888 + 4 * 2 * 32 * 36) / 1555e9'
  near '.inference[1].energy_j' '.inference[1].duration_s * 400'
  near '.estimates[0].duration_s' '[.inference[].duration_s] | add'
  near .flop '[.inference[].flop] | add'
}

@test "inference: images, and other estimators" {
  try predict --arch resnet50 --gpu a100 --phase inference --samples 1000 \
    --format json
  check '.requests == 1000 and .flop == 2e12 * .macs_g'
  check '[.inference[].part] == ["forward"]'
  check '.estimates[] | select(.method | startswith("pre-")).energy_j == null'
  grep -qx "dlest: warning: $(message no_estimate_without pre-epoch \
    'measured runs of inference')" err
  grep -qx "dlest: warning: $(message no_estimate_without pre-power \
    'measured runs of inference')" err
}

@test "inference: missing values" {
  refuses 3 "dlest: warning: $(message no_estimate_without flops --prompt-tokens)
dlest: $(message no_method_has_enough \
    '; give --prompt-tokens and --output-tokens')" \
    predict --method flops --arch gpt2 --gpu a100 --phase inference
  refuses 3 "dlest: warning: $(message no_estimate_without flops --output-tokens)
dlest: $(message no_method_has_enough '; give --output-tokens')" \
    predict --method flops --arch gpt2 --gpu a100 --phase inference --prompt-tokens 5
  # of all methods nothing but what to give
  refuses 3 "dlest: $(message no_method_has_enough \
    '; give --prompt-tokens and --output-tokens')" \
    predict --arch t5-large --gpu a100 --phase inference
  refuses 2 "dlest: $(message tokens_is_for resnet50)" \
    predict --method flops --arch resnet50 --gpu a100 --tokens 1e9
  misused predict "$(message invalid_value_nearest phase infer \
    "'inference', 'training'")" --phase infer
  misused predict "$(message invalid_value_nearest precision fp15 \
    "'fp16', 'fp8'")" \
    --precision fp15
  invalid predict tokens=3X
  invalid predict seq-len=0
}

@test "shapes that are refused" {
  refuses 3 "dlest: arch: column 22: $(message unknown_key_nearest hiden \
    "$(meant hidden)")" \
    predict --arch transformer:layers=2,hiden=8 --gpu a100 --tokens 1e9
  refuses 3 "dlest: arch: $(message at_column 13 \
    "layers: 1e99 is no whole number between 1 and 10000")" show arch transformer:layers=1e99
  refuses 3 "dlest: arch: $(message at_column 13 'expected key=value')" show arch transformer:
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

# What is published of five trainings (arXiv 2309.14393, 2104.10350). FLOPs are
# 6 x active parameters x tokens: a prediction. Days and energy then use the
# rate and power that the same run reached: circular, a check of the sums only.
@test "published trainings, by LLMCarbon's formula" {
  cp "$TOP_SRCDIR/tests/reference/llm-trainings.csv" runs.csv
  try predict --input runs.csv --method flops --format json \
    --define 'macs_g=active_params_b' --define 'train_samples=tokens_b*1e9' \
    --define 'gpu.tdp_w=system_power_w' --define 'peak_tflops=achieved_tflops' \
    --efficiency 1 --epochs 1 --val-samples 0 --batch-size 1
  [ "$status" -eq 0 ]
  check '.estimates | length == 5'
  # deviations from what is published, in 1/1000: FLOPs, days, MWh
  check '[.estimates[] | (.duration_s * .n_gpus * (.achieved_tflops | tonumber)
    / 1e9 / (.zettaflop | tonumber) - 1) * 1000 | round] ==
    [-22, 3, 38, 82, -33]'
  check '[.estimates[] | (.duration_s / 86400 / (.days | tonumber) - 1) * 1000 |
    round] == [-18, 1, 48, 82, -34]'
  check '[.estimates[] | (.energy_kwh * .measured_pue / 1000 /
    (.energy_mwh | tonumber) - 1) * 1000 | round] == [-23, 3, 40, 81, -35]'
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

# 1,000 sequences of 1,024 tokens, three times: 3,072,000 tokens.
@test "tokens of a table that its epochs do not make" {
  table arch,gpu,batch_size,seq_len,tokens,train_samples,train_tokens,epochs \
    gpt2,a100,8,1024,3072000,1000,,3 gpt2,a100,8,1024,3072000,,1024000,3 \
    gpt2,a100,8,1024,3072000,,,1 gpt2,a100,8,1024,3072000,,,
  gives 0 '' predict --input runs.csv --method flops --format csv
  table arch,gpu,batch_size,seq_len,tokens,train_samples,train_tokens,epochs \
    gpt2,a100,8,1024,3072000,1000,,1 gpt2,a100,8,1024,3072000,,1024000,1 \
    gpt2,a100,8,1024,3072000,,,3
  gives 0 "dlest: warning: runs.csv: 3 rows: $(message tokens_not_of_epochs)" \
    predict --input runs.csv --method flops --format csv
}
