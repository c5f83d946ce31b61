#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Inference by tuned software: 8 bits without a stack, or --stack mlperf.

load ../common

# tuned ARG...: the estimate by the physical method, as JSON in out
tuned() {
  try predict --method physical --phase inference --format json "$@"
  if [ "$status" -ne 0 ]; then cat err; return 1; fi
}

resnet=(--arch resnet50 --samples 1e6 --batch-size 1024)

@test "8 bits without a stack are tuned software, which the title says" {
  gives 0 '' predict "${resnet[@]}" --gpu a100 --phase inference \
    --precision int8
  grep -q '^  Assumed  tuned software (TensorRT)' out
  gives 0 '' predict "${resnet[@]}" --gpu a100 --phase inference \
    --precision fp16 --stack mlperf
  grep -qF 'inference, tuned software (TensorRT),' out
  tuned "${resnet[@]}" --gpu a100 --precision fp16
  cp out eager
  tuned "${resnet[@]}" --gpu a100 --precision fp16 --stack mlperf
  check "(.estimates[0].duration_s <
    $(jq '.estimates[0].duration_s' eager) / 2)"
}

# MLPerf Inference v4.0, closed, Offline, 8 H100 SXM: ResNet-50 in INT8 699 to 706
# thousand samples/s (6 entries), BERT large 69.7 to 70.8 (8). The fit has seen
# both.
@test "speeds of the fit are as MLPerf's" {
  tuned "${resnet[@]}" --gpu h100 --gpus 8 --precision int8
  check '(1e6 / .estimates[0].duration_s / 705e3 | log | fabs) < 0.15'
  check '.estimates[0] | .duration_low_s < 1e6 / 705e3 and
    .duration_high_s > 1e6 / 705e3'
  tuned --arch bert-large-uncased --seq-len 177 --samples 1e6 --gpu h100 \
    --gpus 8 --precision int8 --batch-size 512
  check '(1e6 / .estimates[0].duration_s / 70.2e3 | log | fabs) < 0.2'
}

@test "a lower limit takes power and speed, a higher one gives speed" {
  local before='0 0' power time limit
  for limit in 500 400 300 200; do
    tuned --arch bert-large-uncased --seq-len 177 --samples 1e5 --gpu a100 \
      --precision int8 --batch-size 512 --set power_limit_w=$limit
    check ".estimates[0].power_w <= $limit"
    check "(.estimates[0].duration_s > ${before% *}) and
      (${before#* } == 0 or .estimates[0].power_w < ${before#* })"
    before=$(jq -r '.estimates[0] | "\(.duration_s) \(.power_w)"' out)
  done
}

@test "boards without units for 8 bits take 16" {
  tuned "${resnet[@]}" --gpu v100 --precision fp16 --stack mlperf -q
  jq '.estimates[0].duration_s' out >half
  for precision in int8 fp8; do
    tuned "${resnet[@]}" --gpu v100 --precision $precision
    near .estimates[0].duration_s "$(cat half)"
    grep -qF 'warning: v100' err
  done
}

@test "FP4: weights of 4.5 bits, no convolutions, GPUs with units for it" {
  local llama=(--arch llama-3-70b --gpu b200 --prompt-tokens 1
    --output-tokens 100 --requests 1 --batch-size 1)
  # One request at a time reads the weights: 4.5 bits in place of 8.
  tuned "${llama[@]}" --precision fp8 --set kv_bytes=1
  jq '.served.parts[] | select(.part == "memory").seconds' out >fp8
  tuned "${llama[@]}" --precision nvfp4 --set kv_bytes=1
  check "(.served.parts[] | select(.part == \"memory\").seconds) /
    $(cat fp8) | . > 0.56 and . < 0.57"
  tuned "${resnet[@]}" --gpu b200 --precision fp8
  jq '.estimates[0].duration_s' out >fp8
  tuned "${resnet[@]}" --gpu b200 --precision fp4
  near .estimates[0].duration_s "$(cat fp8)"
  refuses 3 "dlest: $(message precision_fp_has_no fp4 h100-sxm5-80gb bf16 \
    fp4)" predict --arch gpt2 --gpu h100 --tokens 1e9 --precision mxfp4
  gives 0 '' predict --arch llama-3-8b --gpu b200 --tokens 1e9 -f json -q \
    --precision fp8
  jq '.estimates[0].duration_s' out >fp8
  gives 0 '' predict --arch llama-3-8b --gpu b200 --tokens 1e9 -f json -q \
    --precision fp4
  check ".estimates[0].duration_s < $(cat fp8)"
}

@test "encoders of texts are answered, in 16 bits by a framework too" {
  local job=(--arch bert-large-uncased --gpu a100 --samples 1000
    --batch-size 64)
  tuned "${job[@]}" --seq-len 384 --precision fp16
  check '.recommended == "physical" and .estimates[0].low_j != null'
  jq '.estimates[0].energy_j' out >long
  tuned "${job[@]}" --seq-len 128 --precision fp16
  check ".estimates[0].energy_j < $(cat long) / 2"
}

@test "the fit that ships is that of the table, and as good as its page says" {
  try fit "$TOP_SRCDIR/data/tuned-means.csv" --method tuned --with none \
    --target request_s -o own.xml -f json
  [ "$status" -eq 0 ]
  check '[.fits[0].left_out[].mape] | .[0] < 0.09 and .[1] < 0.28 and
    .[2] < 0.115'
  # The last digits depend on the processor's BLAS.
  words() { grep '<array' "$1" | tr ' <>' '\n'; }
  paste -d ' ' <(words own.xml) <(words "$TOP_SRCDIR/models/tuned.xml") | awk '
    NF == 1 || ($1 != $2 && ($1 - $2) ^ 2 > 1e-18 * (1 + $1 ^ 2)) { bad = 1 }
    END { exit bad || NR < 100 }'
}
