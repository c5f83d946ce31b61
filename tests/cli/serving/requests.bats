#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# How many requests there are in inference: given, by default, at a rate.

load ../common

# served ARG...: the estimate by the physical method, as JSON in out
served() {
  try predict --method physical --phase inference --format json "$@"
  if [ "$status" -ne 0 ]; then cat err; return 1; fi
}

llama=(--arch llama-3-8b --gpu h100 --prompt-tokens 512 --output-tokens 256)

@test "a rate for a time: so many requests" {
  # 5 requests a second for an hour
  served "${llama[@]}" --request-rate 5 --duration 1h
  check '.requests == 18000'
  check '.estimates[0].duration_s / 3600 - 1 | fabs < 1e-3'
  jq '.estimates[0].energy_j' out >hour
  served "${llama[@]}" --request-rate 5 --requests 18000
  jq '.estimates[0].energy_j' out | diff -u hour -
  table arch,gpu,phase,prompt_tokens,output_tokens,request_rate,duration_s \
    llama-3-8b,h100,inference,512,256,5,3600
  try predict --input runs.csv --method physical --format json -q
  jq '.estimates[0].energy_j' out | diff -u hour -
  gives 0 '' predict --method physical --phase inference "${llama[@]}" \
    --request-rate 5 --duration 1h -q
  head -n 1 out | grep -q 'inference, 18,000 requests'
  grep -q '^  Assumed  batch size' out
  refuses 3 "dlest: $(message rate_makes_requests --request-rate 5 18000 \
    --duration 3600 100 --requests)" predict --phase inference "${llama[@]}" \
    --request-rate 5 --duration 1h --requests 100
}

@test "a rate: memory is that of the most requests at a time" {
  # of one request, the default, and of a thousand
  for n in '' '--requests 1000' '--requests 7'; do
    # shellcheck disable=SC2086 # options
    served "${llama[@]}" --request-rate 5 --batch-size 32 $n
    jq .memory_need_gb out
  done | uniq | wc -l >memories
  [ "$(cat memories)" -eq 1 ]
}

@test "images in whole rounds: no image is divided, and GPUs wait for the last" {
  # An idle power of 300 W is above the fitted static power, so that it counts.
  one=(--gpu a100 --set gpu.idle_w=300)
  for arch in sdxl resnet50; do
    for n in 1 2 3; do
      served --arch $arch "${one[@]}" --samples $n --batch-size 4
      jq -r '.estimates[0] | .energy_j, .duration_s' out
    done | paste -sd ' ' >each
    read -r e1 t1 e2 t2 e3 t3 <each
    # 3 + 3 + 2: one GPU waits
    served --arch $arch "${one[@]}" --samples 8 --batch-size 4 --gpus 3
    near '.estimates[0].duration_s' "$t3"
    near '.estimates[0].energy_j' "2 * $e3 + $e2 + 300 * ($t3 - $t2)"
    # 3 + 3 and then 2
    served --arch $arch "${one[@]}" --samples 8 --batch-size 1 --gpus 3 --stack eager
    near '.estimates[0].duration_s' "3 * $t1"
    near '.estimates[0].energy_j' "8 * $e1 + 300 * $t1"
    # 4 + 4 and then 2 on one GPU
    served --arch $arch "${one[@]}" --samples 4 --batch-size 4
    read -r e4 t4 < <(jq -r '.estimates[0] | "\(.energy_j) \(.duration_s)"' out)
    served --arch $arch "${one[@]}" --samples 10 --batch-size 4 --idle-s 5
    near '.estimates[0].duration_s' "2 * $t4 + $t2 + 3 * 5"
    near '.estimates[0].energy_j' "2 * $e4 + $e2 + 300 * 3 * 5"
  done
}

@test "a duration that the estimate does not take is warned of" {
  local none
  none="dlest: warning: $(message duration_no_effect)"
  try predict --phase inference "${llama[@]}" --requests 1000 --duration 10h \
    --idle-s 1
  [ "$(cat err)" = "$none" ]
  gives 0 '' predict --phase inference "${llama[@]}" --requests 1000 \
    --duration 10h --method tdp
  table arch,gpu,phase,requests,idle_s,duration_s \
    resnet50,t4,inference,9,1,3600 resnet50,t4,inference,9,1,
  gives 0 "dlest: warning: runs.csv: $(message rows_duration_no_effect 1 '')" \
    predict --input runs.csv --batch-size 1
}

# A duration beyond the estimate is time in which the GPU waits at a power between
# idle and work; its energy grows with it, and no shorter time than the peak rate
# allows is believed.
@test "a known time or speed conditions inference" {
  local d last=0 job=(--arch resnet50 --gpu a100 --batch-size 32 --samples 1e6)
  for d in 5m 10m 1h 10h; do
    served "${job[@]}" --duration $d
    check ".estimates[0] | .duration_from == \"given\" and .energy_j > $last and
      .energy_j / .duration_s >= 55 and .energy_j / .duration_s <= 400 and
      .low_j < .energy_j and .energy_j < .high_j"
    last=$(jq '.estimates[0].energy_j' out)
  done
  served "${job[@]}" --throughput 1000/s
  cp out by_rate
  served "${job[@]}" --duration 1000s
  diff <(jq .estimates[0].energy_j by_rate) <(jq .estimates[0].energy_j out)
  served --arch resnet50 --gpu a100 --batch-size 32 --throughput 1000/s \
    --duration 1000s
  diff <(jq .estimates[0].energy_j by_rate) <(jq .estimates[0].energy_j out)
  try predict --phase inference --arch resnet50 --gpu a100 --batch-size 32 \
    --duration 1h
  grep -qxF "dlest: warning: $(message endless_work)" err
  table arch,gpu,phase,duration_s resnet50,a100,inference,60
  gives 0 "dlest: warning: runs.csv: $(message rows_endless_work 1 '')" \
    predict --input runs.csv --batch-size 1
  try predict --phase inference "${llama[@]}" --throughput 99/s
  [ "$status" -eq 2 ]
  grep -qF -- --throughput err
  gives 2 "dlest: $(message both_say_how_fast --throughput --request-rate)" \
    predict --phase inference "${job[@]}" --throughput 9/s --request-rate 9
  try predict --phase inference "${job[@]}" --duration 1s
  [ "$status" -eq 2 ]
  served "${job[@]}" --startup 100s
  local t e
  read -r t e < <(jq -r '.estimates[0] | "\(.duration_s) \(.energy_j)"' out)
  check '.waits == [{part: "start-up", duration_s: 100, energy_j: 6400}]'
  served "${job[@]}" --startup 40s --idle-tail 1m
  near '.estimates[0].duration_s' "$t"
  near '.estimates[0].energy_j' "$e"
  check '[.waits[].energy_j] == [2560, 3840]'
  served "${job[@]}"
  near '.estimates[0].duration_s' "$t - 100"
  near '.estimates[0].energy_j' "$e - 100 * 64"
  check '.waits == null'
}

@test "a batch that the default of one request does not fill is warned of" {
  try predict --phase inference "${llama[@]}" --batch-size 16
  [ "$(cat err)" = "dlest: warning: $(message does_not_fill request 16 request)" ]
  try predict --phase inference --arch resnet50 --gpu t4 --batch-size 16
  [ "$(cat err)" = "dlest: warning: $(message does_not_fill sample 16 sample)" ]
  gives 0 '' predict --phase inference "${llama[@]}" --batch-size 16 --requests 9
  gives 0 '' predict --phase inference "${llama[@]}" --batch-size 16 \
    --request-rate 2
  gives 0 "dlest: warning: the sweep: $(message rows_fill_no_batch 2 s)" \
    predict --phase inference "${llama[@]}" --batch-size 1,2,4
}

@test "requests longer than the context, and GPUs that do not divide the heads" {
  # Llama 3.1 8B: 131,072 tokens of context, 32 heads (config.json). vLLM and
  # others need a number of GPUs that divides the heads.
  local context=131072 gpus job=(predict --phase inference --arch llama-3-8b --gpu h100 --requests 10)
  gives 0 '' "${job[@]}" --prompt-tokens $((context - 256)) --output-tokens 256
  try "${job[@]}" --prompt-tokens $((context - 255)) --output-tokens 256
  grep -qF "$(message sequence_is_longer_context \
    'prompt and output tokens of a request,' $((context + 1)) "$context" llama-3-8b)" err
  for gpus in 2 4 8 16 32; do
    try "${job[@]}" --prompt-tokens 512 --output-tokens 256 --gpus $gpus
    ! grep -q 'attention heads' err || false
  done
  # Groups that divide the heads hold 8e9 parameters, but no such group 70e9.
  for gpus in 3 6 7; do
    gives 0 '' "${job[@]}" -q --prompt-tokens 512 --output-tokens 256 --gpus $gpus -f json
    jq -e "32 % .tensor_parallel == 0 and .tensor_parallel * .replicas == $gpus" out
    gives 0 "dlest: warning: $(message heads_are_undivided $gpus 64 llama-3-70b)" \
      "${job[@]}" --arch llama-3-70b --prompt-tokens 512 --output-tokens 256 --gpus $gpus
  done
  # BERT base has 512 positions, and generates nothing: GPUs serve side by side
  job=(predict --phase inference --arch bert_base --gpu a100 --requests 100)
  gives 0 '' "${job[@]}" --gpus 5
  gives 0 "dlest: warning: $(message sequence_is_longer --seq-len 513 512 \
    bert-base-uncased)" "${job[@]}" --seq-len 513
  table arch,gpu,phase,requests,prompt_tokens,output_tokens,n_gpus,batch_size \
    llama-3-70b,h100,inference,10,512,256,3,1 llama-3-70b,h100,inference,10,512,256,2,1
  gives 0 "dlest: warning: runs.csv: $(message rows_heads_are_undivided 1 '')" \
    predict --input runs.csv --method flops -f csv
}
