#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Inference by the physical method: language models that serve, and images.

load ../common

ROWS=$TOP_SRCDIR/tests/cli/serving/serving_rows.py
MLENERGY=$MEASURED_RUNS/mlenergy

# served ARG...: the estimate by the physical method, as JSON in out
served() {
  try predict --method physical --phase inference --format json "$@"
  if [ "$status" -ne 0 ]; then cat err; return 1; fi
}

llama=(--arch llama-3-8b --gpu h100 --prompt-tokens 512 --output-tokens 256)

@test "parts add up to the estimate" {
  served "${llama[@]}" --batch-size 32 --requests 1000
  check '.recommended == "physical" and .precision == "bf16"'
  check '[.served.work[].part] == ["prefill", "decode", "all"]'
  near '.served.work[2].energy_j' '.served.work[0].energy_j +
    .served.work[1].energy_j'
  near '.estimates[0].energy_j' '.served.work[2].energy_j'
  near '.estimates[0].duration_s' '.served.work[2].duration_s'
  near '.served.work[2].request_energy_j' '.served.work[2].energy_j / 1000'
  near '.served.work[1].token_energy_j' '.served.work[1].energy_j / 256e3'
  near '.served.work[2].duration_s' '[.served.parts[].seconds] | add'
  near '.served.most_a_second' '32 / .served.latency_s'
  near '.served.most_tokens_a_second' '256 * .served.most_a_second'
  check '.estimates[0] | .boundary == "gpu" and .interval_from == "config" and
    .low_j < .energy_j and .energy_j < .high_j'
}

# Llama 2 7B in 16 bits, 32 requests of 4,000 tokens with 100 of output: weights
# of 6.738e9; keys and values of 32 layers x 2 x 4,096; of one layer at a time
# 4,096 queries, 8,192 keys and values, 4,096 mixed values, 4,096 outputs, 2 x
# 11,008 + 4,096 of the feed-forward part, a 32nd of the 32,000 logits; scores
# of 32 heads x 4,000.
@test "peak memory of prompts: scores count with eager attention alone" {
  local job=(--arch llama-2-7b --gpu h200 --prompt-tokens 4000
    --output-tokens 100 --requests 32 --batch-size 32)
  local held='2 * (6.738e9 + 32 * (4100 * 32 * 8192 + 4000 * 47596))'
  served "${job[@]}"
  check "(.memory_need_gb * 1e9 / ($held) - 1) |
    fabs < 1e-3"
  cp out default
  served "${job[@]}" --attention flash
  check ".memory_need_gb == $(jq .memory_need_gb default)"
  served "${job[@]}" --attention eager
  near ".memory_need_gb -
    $(jq .memory_need_gb default)" '2 * 32 * 32 * 4000 * 4000 / 1e9'
}

@test "a rate and a pause exclude each other, in rows and by options" {
  local serve=(--phase inference --prompt-tokens 512 --output-tokens 256)
  table epochs,train_samples,arch,gpu,requests,request_rate,idle_s \
    1,1,llama-3-8b,h100,100,1,3 1,1,llama-3-8b,h100,100,1,0 \
    1,1,llama-3-8b,h100,100,1, 1,1,llama-3-8b,h100,100,,3
  gives 3 "dlest: warning: runs.csv:2: $(message idle_s_and_request_rate)
dlest: 1 row skipped" predict --input runs.csv "${serve[@]}" --batch-size 8
  refuses 2 "dlest: $(message idle_does_not_go)" predict --arch llama-3-8b \
    --gpu h100 "${serve[@]}" --set request_rate=1 --idle-s 3
}

@test "images: an interval that does not depend on training samples" {
  served --arch resnet50 --gpu a100 --batch-size 8 --requests 1000
  jq '.estimates[0] | .energy_j, .low_j, .high_j' out >option
  table arch,gpu,phase,batch_size,requests resnet50,a100,inference,8,1000
  for set in batch_size=8 train_samples=1 train_samples=1e9 val_samples=0; do
    gives 0 '' predict --input runs.csv --method physical -q -f json --set $set
    jq '.estimates[0] | .energy_j, .low_j, .high_j' out | diff option -
  done
}

@test "at a rate the time is that of the requests, without an interval" {
  served "${llama[@]}" --requests 100000 --request-rate 5
  # it keeps up to 1e-4
  check '.estimates[0] | (.duration_s / 20000 - 1 | fabs) < 1e-3 and
    .time_low_s == null and .time_high_s == null and .low_j < .energy_j'
  gives 0 '' predict --phase inference "${llama[@]}" --requests 100000 \
    --request-rate 5 -q
  grep -qE '^  Time +5 h 33 min  at most 5.00 requests/s' out
}

@test "no throughput without an estimate of it" {
  gives 0 '' predict --arch bert-base-uncased --gpu a100 --phase inference \
    --requests 1000 --prompt-tokens 128 -q
  grep -qE '^  Time +239 ms$' out
}

@test "requests cost alike, how many there be" {
  served "${llama[@]}" --batch-size 32 --requests 1000
  cp out thousand
  served "${llama[@]}" --batch-size 32 --requests 4000
  [ "$(jq .served.work[2].request_energy_j out)" = \
    "$(jq .served.work[2].request_energy_j thousand)" ]
  # fewer than the batch holds are a batch of their own
  served "${llama[@]}" --batch-size 32 --requests 4
  check '.served.at_once == 4'
}

# Llama 2 7B: 6.607e9 weights that are multiplied, 2 x 32 x 4,096 elements kept of a
# token. 112 requests of 128 + 2048 / 2 tokens: (6.607 + 2 x 33.82) / (6.607 +
# 33.82) as many bytes with keys in 16 bits as in 8.
@test "keys and values in 8 bits take half the traffic" {
  for bytes in 2 1; do
    served --arch llama-2-7b --gpu h100 --precision fp8 --batch-size 112 \
      --requests 112 --prompt-tokens 128 --output-tokens 2048 \
      --set kv_bytes=$bytes
    jq '.served.parts[] | select(.part == "memory").seconds' out >memory.$bytes
  done
  awk -v a="$(cat memory.2)" -v b="$(cat memory.1)" \
    'BEGIN { r = a / b / 1.8366; exit !(r > .9995 && r < 1.0005) }'
}

# Llama 3 8B: 7.505e9 weights, 262,144 multiply-accumulates with each token
# before: at 57,256 tokens of prompt as many of either kind. The peak in 8 bits
# is twice that in 16.
@test "attention is in the format of the keys" {
  local -A seconds
  for as in bf16 fp8 fp8,kv_bytes=1; do
    local set=() IFS=,
    read -r precision keys <<<"$as"
    unset IFS
    [ -z "$keys" ] || set=(--set "$keys")
    served --arch llama-3-8b --gpu h100 --precision "$precision" \
      --batch-size 1 --requests 1 --prompt-tokens 57256 --output-tokens 1 \
      "${set[@]}"
    seconds[$as]=$(jq '.served.work[0].duration_s' out)
  done
  awk -v a="${seconds[bf16]}" -v b="${seconds[fp8]}" \
    -v c="${seconds[fp8,kv_bytes=1]}" \
    'BEGIN { exit !(b / a > .748 && b / a < .752 && c / a > .498 && c / a < .502) }'
}

# Gaudi 3 has no published rate in FP32.
@test "the rate in FP32 is not needed in 16 or 8 bits" {
  served --arch llama-2-7b --gpu gaudi3 --precision fp8 --batch-size 75 \
    --requests 75 --prompt-tokens 2048 --output-tokens 2048
  check '.estimates[0].duration_s > 0'
  try predict --arch llama-2-7b --gpu gaudi3 --phase inference --precision fp32 \
    --prompt-tokens 10 --output-tokens 10 --method physical
  [ "$status" -ne 0 ]
}

@test "more at once cost less each" {
  last=1e9
  for batch in 1 8 64 256; do
    served "${llama[@]}" --batch-size $batch --requests 10000
    check ".served.work[2].request_energy_j < $last"
    last=$(jq .served.work[2].request_energy_j out)
  done
}

@test "a pause after each batch" {
  served "${llama[@]}" --batch-size 10 --requests 100
  cp out busy
  served "${llama[@]}" --batch-size 10 --requests 100 --idle-s 3
  check '[.served.work[].part] == ["prefill", "decode", "idle", "all"]'
  check '.served.work[2].duration_s == 30'
  near '.served.work[2].energy_j' '30 * .served.idle_w'
  near '.served.work[3].energy_j - .served.work[2].energy_j' \
    "$(jq .served.work[2].energy_j busy)"
  # by the descriptor, where it says so
  served "${llama[@]}" --idle-s 3 --set gpu.idle_w=70
  check '.served.idle_w == 70 and .served.idle_assumed == false'
}

@test "a rate: the batch that keeps up" {
  served "${llama[@]}" --request-rate 5 --requests 1000
  check '.served.at_once > 2 and .served.at_once < 100'
  check '.served.most_a_second / 5 | . >= 1 and . < 1.001'
  check '.estimates[0].duration_s / 200 | . > 0.999 and . <= 1'
  check '[.served.work[].part] | index("idle") == null'
  # slower than one at a time: the rest is idle
  served "${llama[@]}" --request-rate 0.1 --requests 10
  check '.served.at_once == 1 and .estimates[0].duration_s == 100'
  near '.served.work[2].duration_s' '100 - 10 * .served.latency_s'
}

@test "a rate that cannot be served, and one with a pause" {
  for method in '' '--method physical'; do
    # shellcheck disable=SC2086
    refuses 3 "dlest: $(message cannot_serve 1 '' 5000 \
      'a lower --request-rate, a larger --batch-size or more GPUs')" \
      predict --phase inference "${llama[@]}" --request-rate 5000 $method
  done
  refuses 2 "dlest: $(message idle_does_not_go)" predict --phase inference "${llama[@]}" --request-rate 5 \
    --idle-s 1
  invalid predict request-rate=0
}

# Llama 2 7B: 6.74e9 weights, 100 requests of 2,048 tokens with 262,144 elements
# kept: 107.4 GB in 16 bits, also beside weights in 8.
@test "memory: keys in their own format, weights of 4 bits" {
  local -A need
  for set in kv_bytes=2 kv_bytes=1 weight_bytes=0.5; do
    served --arch llama-2-7b --gpu h200 --precision fp8 --batch-size 100 \
      --requests 100 --prompt-tokens 2000 --output-tokens 48 --set "$set"
    need[$set]=$(jq .memory_need_gb out)
  done
  served --arch llama-2-7b --gpu h200 --precision fp8 --batch-size 100 \
    --requests 100 --prompt-tokens 2000 --output-tokens 48
  near .memory_need_gb "${need[kv_bytes=2]}"
  near "${need[kv_bytes=2]} - ${need[kv_bytes=1]}" '100 * 2048 * 262144 / 1e9'
  near ".memory_need_gb - ${need[weight_bytes=0.5]}" '6.74 / 2'
}

# Table 1 of "Insights into DeepSeek-V3" (arXiv 2505.09343): KV cache of a token in
# BF16, kB; with a million more tokens on eight GPUs.
@test "memory: keys and values of a token as published" {
  local -A need
  for case in deepseek-v3=70.272 qwen2.5-72b=327.680 llama-3.1-405b=516.096; do
    for tokens in 1000 2000; do
      served --arch "${case%=*}" --gpu h200 --gpus 8 --batch-size 1000 \
        --requests 1000 --prompt-tokens 100 --output-tokens $tokens \
        --precision bf16
      need[$tokens]=$(jq .memory_need_gb out)
    done
    near "${need[2000]} - ${need[1000]}" "${case#*=} / 8"
  done
}

# gpt-oss 20b: 24 layers with 2 x 8 x 64 elements of a token, every other one for the
# last 128 tokens: 8,000 more are kept in 12 layers, 2 bytes each.
@test "memory: layers with a window keep no more than that" {
  local -A need
  for tokens in 1000 9000; do
    served --arch gpt-oss-20b --gpu h200 --batch-size 100 --requests 100 \
      --prompt-tokens 1000 --output-tokens $tokens
    need[$tokens]=$(jq .memory_need_gb out)
  done
  near "${need[9000]} - ${need[1000]}" '100 * 8000 * 12 * 1024 * 2 / 1e9'
  check_show() { "$DLEST" show arch gpt-oss-20b --format csv | grep -q "$1"; }
  check_show '^attention_window,128,'
  check_show '^window_share,0.5,'
}

@test "a rate: at most as many requests at a time as fit" {
  # RTX 3090: 24 GB less 8.03e9 weights of 2 bytes leave 7.9 GB; of a request
  # 1,012 tokens of 65,536 keys and values in 2 bytes 0.133 GB, and what a layer
  # puts out: at most 59, of usual batches 32.
  own=(--arch llama-3-8b --gpu rtx-3090 --prompt-tokens 512 --output-tokens 500
    --requests 1000)
  served "${own[@]}" --request-rate 0.5
  check '.batch_size == 32 and .memory_need_gb < 24'
  ! grep -q 'needs about' err || false
  refuses 3 "dlest: $(message cannot_serve 1 '' 2 \
    'a lower --request-rate or more GPUs: no larger batch fits')" \
    predict --phase inference "${own[@]}" --request-rate 2
  served "${own[@]}" --request-rate 0.5 --batch-size 64
  grep -q 'needs about' err
  served --arch resnet50 --gpu a100 --samples 1000 --request-rate 100
  check '.batch_size == 256'
}

@test "missing values" {
  try predict --method physical --phase inference --arch llama-3-8b --gpu h100
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: $(message no_estimate_without physical \
    --prompt-tokens)" err
  try predict --method physical --phase inference --arch t5-base --gpu h100 \
    --prompt-tokens 5 --output-tokens 5
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: $(message no_estimate_without physical \
    'measured runs of such language models')" err
  cat >bare.xml <<'END'
<catalog kind="accelerator" version="1">
<entry id="bare" name="Bare"><value name="tdp_w">300</value>
<value name="peak_fp32_tflops">20</value></entry></catalog>
END
  try predict --method physical --phase inference --arch llama-3-8b \
    --gpu ./bare.xml --prompt-tokens 5 --output-tokens 5
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: $(message no_estimate_without physical \
    --set\ gpu.bandwidth_gb_s=VALUE)" err
}

@test "a batch that the memory does not hold, keys and values counted" {
  # 65536 keys and values a token, 2 bytes: 0.54 GB for 4096 tokens
  try predict --method physical --phase inference --arch llama-3-8b --gpu a100 \
    --prompt-tokens 4000 --output-tokens 96 --batch-size 256 --requests 1000
  [ "$status" -eq 0 ]
  grep -q '^dlest: warning: batch of 256 needs about [0-9.]* GB, more than the 40 GB' err
  # GPUs share the model: 70.6e9 weights of 2 bytes fit on four
  try predict --method physical --phase inference --arch llama-3-70b \
    --gpu h100 --gpus 4 --prompt-tokens 500 --output-tokens 100 --format json
  [ "$status" -eq 0 ]
  check '.memory_need_gb | . > 35.3 and . < 40'
  ! grep -q 'needs about' err || false
}

@test "images: forward passes" {
  served --arch resnet50 --gpu rtx-3090 --batch-size 32 --samples 3200 \
    --idle-s 0.5
  check '[.served.work[].part] == ["forward", "idle", "all"]'
  check '.served.work[1].duration_s == 50 and .served.at_once == 32'
  check '.served.work[2].token_energy_j == null'
  near '.served.work[0].request_energy_j' '.served.work[0].energy_j / 3200'
  check '.estimates[0] | .low_j < .energy_j and .energy_j < .high_j'
  # a training takes more than thrice its forward passes: weights are updated
  forward=$(jq .served.work[0].duration_s out)
  try predict --method physical --arch resnet50 --gpu rtx-3090 --batch-size 32 \
    --train-samples 3200 --val-samples 0 --epochs 1 --format json
  check ".estimates[0].duration_s > 3 * $forward"
  # two GPUs pass two batches at once
  served --arch resnet50 --gpu rtx-3090 --gpus 2 --batch-size 32 --samples 3200
  check ".served.at_once == 64"
  near '.served.work[0].duration_s' "$forward / 2"
}

@test "text, and where the time goes" {
  try predict --phase inference "${llama[@]}" --batch-size 32 --requests 1000 \
    --explain
  [ "$status" -eq 0 ]
  grep -qx 'Inference, by physical' out
  grep -q '^  prefill ' out
  grep -q '^  memory .* reading weights, keys and values$' out
  grep -q '^  bound by  *memory$' out
  ! grep -q 'Inference, by flops' out || false
  ! grep -q 'epoch' out || false
  try predict --phase inference "${llama[@]}" --method flops --explain
  grep -qx 'Inference, by flops' out
}

@test "the fit that ships follows from the table that ships" {
  try fit "$TOP_SRCDIR/data/mlenergy-means.csv" --method serving --with none \
    --target request_power_w --cv none -o again.xml
  [ "$status" -eq 0 ]
  for model in again.xml "$TOP_SRCDIR/models/inference.xml"; do
    grep -m1 'name="constants"' "$model" | sed 's/.*">//; s/<.*//' |
      tr ' ' '\n' >"constants$((++i))"
  done
  [ "$(wc -l <constants1)" -eq 16 ]
  paste constants1 constants2 |
    awk '{ d = $1 - $2; if (d > 1e-6 || d < -1e-6) exit 1 }'
}

# left_out GPU N ENERGY TIME POWER NEAR: errors on its measurements, of a fit
# without it, to a digit
left_out() {
  grep -v ",$1," "$TOP_SRCDIR/data/mlenergy-means.csv" >others.csv
  [ "$(wc -l <others.csv)" -gt 100 ]
  try fit others.csv --method serving --with none --target request_energy_j \
    --cv none -o others.xml
  [ "$status" -eq 0 ]
  python3 "$ROWS" table "$TOP_SRCDIR/data/make/mlenergy-means.py" "$MLENERGY" "$1" \
    >rows.csv
  try predict --input rows.csv --model others.xml --method physical \
    --format csv -o estimates.csv
  [ "$status" -eq 0 ]
  python3 "$ROWS" score rows.csv estimates.csv | tee scores
  awk -v w="$2 $3 $4 $5 $6" '{ split(w, t); for (i = 1; i <= 5; i++)
    if ($i - t[i] > 0.11 || t[i] - $i > 0.11) exit 1 }' scores
}

@test "held-out GPUs: the errors that docs/lab/inference.md states" {
  [ -r "$MLENERGY/mlenergy_v3_llm.csv" ] ||
    skip "no mlenergy/mlenergy_v3_llm.csv in '$MEASURED_RUNS'"
  left_out a100-sxm4-40gb 157 16.9 15.4 15.5 95
  left_out b200 228 24.6 22.1 22.4 79
  left_out h100-sxm5-80gb 400 17.3 19.4 18.2 95
}

@test "the table that ships follows from the measurements" {
  [ -r "$MLENERGY/mlenergy_v3_llm.csv" ] ||
    skip "no mlenergy/mlenergy_v3_llm.csv in '$MEASURED_RUNS'"
  python3 "$TOP_SRCDIR/data/make/mlenergy-means.py" \
    "$MLENERGY/mlenergy_v2_inference.csv" "$MLENERGY/mlenergy_v3_llm.csv" |
    diff - "$TOP_SRCDIR/data/mlenergy-means.csv"
}

@test "rows and sweeps of requests that cannot be served have no estimate" {
  # 2000 x 1,012 tokens a second, 3.2e16 FLOP/s for 8.03e9 parameters: the peak
  # of H100 is 1e15.
  table arch,gpu,phase,request_rate llama-3-8b,h100,inference,2000 \
    llama-3-8b,h100,inference,1
  gives 3 '' predict --input runs.csv --prompt-tokens 512 --requests 1000 \
    --output-tokens 500 --format json -q
  check '[.estimates[].request_rate] | unique == [1]'
  gives 3 '' predict --arch llama-3-8b --gpu h100,a100 --phase inference \
    --prompt-tokens 512 --output-tokens 500 --request-rate 2000 --format json -q
}

@test "a forward pass draws no less than the idle power" {
  try predict --arch resnet50 --gpu tpu-v4 --phase inference -q --format json
  near '.estimates[0].power_w' 90 # its published idle power
}

@test "diffusion models: steps one after another, guidance in one batch" {
  sdxl=(--arch sdxl --gpu a100 --precision fp16)
  served "${sdxl[@]}" --samples 8 --batch-size 4
  check '.denoising_steps == 50'
  fifty=$(jq '.estimates[0].energy_j' out)
  # 5,346.4 GMAC of text encoders and image decoder: see the next test
  near '.flop' '2e9 * 8 * (3380.6 * 50 * 2 + 5346.4)'
  served "${sdxl[@]}" --samples 8 --batch-size 4 --denoising-steps 10
  ten=$(jq '.estimates[0].energy_j' out)
  near '.flop' '2e9 * 8 * (3380.6 * 10 * 2 + 5346.4)'
  served "${sdxl[@]}" --samples 8 --batch-size 4 --denoising-steps 30
  near '.estimates[0].energy_j' "($ten + $fifty) / 2"
  served "${sdxl[@]}" --samples 8 --batch-size 4 --set arch.pipeline_macs_g=0
  fifty=$(jq '.estimates[0].energy_j' out)
  served "${sdxl[@]}" --samples 16 --batch-size 8 --set arch.passes_per_step=1 \
    --set arch.pipeline_macs_g=0
  near '.estimates[0].energy_j' "$fifty"
  # a training denoises each sample once
  gives 0 '' predict "${sdxl[@]}" --train-samples 1e5 --epochs 1 -q -f json
  check '.denoising_steps == null'
  try predict --arch resnet50 --gpu a100 --phase inference --denoising-steps 4
  grep -qFe "$(message setting_has_no_effect --denoising-steps \
    "'resnet50', which is no diffusion model")" err
}

@test "diffusion models: text encoders and image decoder, once per sample" {
  # Published: image decoder 1,239.9 GMAC at 512 px without the products of
  # attention, which are 2 x 4096^2 x 512 (arXiv 2305.15798); the transformers
  # of both encoders 85.1e6 and 629.8e6 weights that 77 tokens pass through.
  one=(--arch sdxl-turbo --gpu a100 --samples 8 --batch-size 8)
  served "${one[@]}"
  check '.precision == "bf16"' # as pipelines run, not TF32
  macs=794.39
  awk "BEGIN { once = $(jq .flop out) / 16e9 - $macs
    sum = 1239.9 + 2 * 4096^2 * 512 / 1e9 + 77 * (85.1 + 629.8) / 1e3
    exit !(once > .99 * sum && once < 1.01 * sum) }"
  whole=$(jq '.estimates[0].energy_j' out)
  served "${one[@]}" --set arch.pipeline_macs_g=0
  # more work than the step, in fewer kernels
  awk "BEGIN { exit !($whole > 1.5 * $(jq '.estimates[0].energy_j' out)) }"
  # the decoder grows with the image
  served "${one[@]}" --image-px 1024 --set arch.macs_g=1e-6
  near .flop '2e9 * 8 * (1e-6 + 4 * 1312.8)'
  gives 0 '' predict --arch sdxl --gpu a100 --train-samples 1e4 --epochs 1 -q -f json
  check '.precision == "bf16"'
}

@test "diffusion models: memory without the scores of attention" {
  # FP16: 2.567464e9 weights and 0.867210e9 of text encoders and image decoder;
  # of 5,051e6 outputs 3,271.9e6 are of attention's products, a quarter of the
  # others is there at a time, in two passes.
  sdxl=(--arch sdxl --gpu a100 --precision fp16 --samples 8 --batch-size 8)
  served "${sdxl[@]}"
  near .memory_need_gb \
    '2 * (2.567464 + 0.8672105 + 8 * 2 * 0.25 * (5.051 - 3.2719))'
  [ ! -s err ] # it fits, as it did when ML.ENERGY measured it
  served "${sdxl[@]}" --attention eager
  near .memory_need_gb '2 * (2.567464 + 0.8672105 + 8 * 2 * 0.25 * 5.051)'
  # At 768 px 2.25 times as many of each kind as at 512.
  served --arch stable-diffusion-v2 --image-px 768 --gpu a100 --precision fp16 \
    --samples 8 --batch-size 8
  near .memory_need_gb \
    '2 * (0.8659107 + 0.389878 + 8 * 2 * 0.25 * 2.25 * (0.75215 - 0.51549))'
}

@test "diffusion models: energies of ML.ENERGY, which no fit has seen" {
  images=$MLENERGY/mlenergy_v2_inference.csv
  [ -f "$images" ] || skip "no mlenergy/mlenergy_v2_inference.csv in '$MEASURED_RUNS'"
  python3 "$TOP_SRCDIR/tests/cli/serving/generated_images.py" "$DLEST" "$images" >figures
  sed 's/^/# n, median error, within 1.5, inside: /' figures >&3
  read -r n median near inside <figures
  [ "$n" -eq 58 ]
  awk "BEGIN { exit !($median <= .2 && $near >= .85 && $inside >= .85) }"
}

@test "FLUX.1 makes images of 1024 px; MLPerf trains it at 256" {
  served --arch flux.1 --gpu h100 --precision bf16
  check '.image_px == 1024 and .denoising_steps == 28'
  gives 0 '' show arch mlperf/flux1 -f json
  check '.id == "flux.1-256px"'
}
