#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What is known of a training conditions its estimate: times, speeds, GPU
# utilization and power. Expected values are worked out in the comments;
# tests/unit/test_waiting.c has the posterior itself.

bats_require_minimum_version 1.5.0
load ../common
load known

@test "a time that was expected leaves the power as it was" {
  local epoch power
  epoch=$(value .epoch_s)
  power=$(value '.estimates[0].power_w' --duration 1h)
  try "${RUN[@]}" --epoch-time "${epoch}s"
  # 90 epochs
  within '.estimates[0].duration_s' "$(jq -n "90 * $epoch")" 1e-9
  within '.estimates[0].power_w' "$power" 0.1
  check '.busy_share > 0.9 and .known == ["epoch_s"]'
  check '.estimates[0].duration_from == "given"'
}

@test "a run that takes far longer than its work waits at static power" {
  local epoch power work
  epoch=$(value .epoch_s)
  power=$(value '.estimates[0].power_w' --duration 1h)
  # The work takes 30 % of the time, and the utilization says so too:
  # E = 0.3 T P + 0.7 T s
  try "${RUN[@]}" --epoch-time "$(jq -n "$epoch / 0.3")s" --gpu-util 30
  check '.busy_share > 0.28 and .busy_share < 0.33'
  jq -e --argjson p "$power" '.busy_share as $b | .static_power_w as $s |
    .estimates[0].power_w as $w | ($b * $p + (1 - $b) * $s) as $want |
    ($w / $want - 1) | fabs < 0.1' out
  jq -e '.estimates[0] | .low_j < .energy_j and .energy_j < .high_j' out
  try predict --arch resnet50 --gpu a100-sxm4-40gb --method physical -q \
    --epoch-time "$(jq -n "$epoch / 0.1")s"
  grep -Eq 'GPU busy [0-9]+ % of the time' out
}

# Energies by CodeCarbon: TeenyTinyLlama (github Nkluge-correa/TeenyTinyLlama) and
# Tucano 2b4 (huggingface.co/TucanoBR), whose boards draw up to 500 W.
@test "a language model that takes longer draws nearly its power" {
  local shape=transformer:kv_heads=HEADS,vocab=32000,tied=0,bias=0,positions=0
  local job=(predict --method physical -q --format json)
  try "${job[@]}" --arch ${shape/HEADS/16},layers=24,hidden=1024,heads=16,ffn=4096,seq=2048 \
    --gpu a100-sxm4-40gb --tokens 9.83e9 --seq-len 2048 --batch-size 2 \
    --grad-accum 2 --duration 1009910s
  within '.estimates[0].energy_j' "$(jq -n '92.271 * 3.6e6')" 0.15
  check '.estimates[0] | .low_j < 92.271 * 3.6e6 and .high_j > 92.271 * 3.6e6'
  local tucano=("${job[@]}" --arch
    ${shape/HEADS/4},layers=24,hidden=2560,heads=16,ffn=10240,seq=4096
    --gpu a100-sxm4-80gb --gpus 16 --gpus-per-node 4 --tokens 5.138e11
    --seq-len 4096 --global-batch 64 --duration 3042000s)
  try "${tucano[@]}" --set power_limit_w=500
  within '.estimates[0].energy_j' "$(jq -n '6430 * 3.6e6')" 0.15
  check '.estimates[0] | .low_j < 6430 * 3.6e6 and .high_j > 6430 * 3.6e6'
  # Without the limit its boards have 400 W.
  try "${tucano[@]}"
  check '.estimates[0].power_w <= 16 * 400'
}

# Energies of the GPU by CodeCarbon, less 48.5 W for CPU and memory: DIA lab
# (huggingface.co/DIA-MVP), SimCLR with two views of 15,000 images and two loaders.
@test "images bound by their host draw more than static power in surplus time" {
  local gpu time kwh
  while read -r gpu time kwh; do
    try predict --arch resnet18 --gpu "$gpu" --image-px 32 --set macs_g=0.557 \
      --set acts_m=0.56 --train-samples 30000 --val-samples 0 --epochs 10 \
      --batch-size 512 --optimizer adamw --loader cached --loader-workers 2 \
      --duration "$time" --method physical -q --format json
    within '.estimates[0].energy_j' "$(jq -n "$kwh * 3.6e6")" 0.25
    check ".estimates[0] | .low_j < $kwh * 3.6e6 and .high_j > $kwh * 3.6e6"
  done <<'END'
a100-sxm4-80gb 200s 0.0078083
a40 239s 0.010484
END
}

# Launching alone takes 24 of the 1,709 s of VGG-16 here: no share in squares.
@test "images bound by their GPU wait in surplus time" {
  local run=(predict --arch vgg16 --gpu a100-sxm4-80gb --dataset imagenet
    --epochs 1 --batch-size 256 --method physical -q --format json)
  local epoch work
  try "${run[@]}"
  epoch=$(jq .epoch_s out)
  work=$(jq '.estimates[0].power_w' out)
  try "${run[@]}" --epoch-time "$(jq -n "$epoch * 20")s"
  # What is left of the energy is the work's, of 1 / 20 of the time.
  jq -e --argjson t "$epoch" --argjson p "$work" '.static_power_w as $s |
    .estimates[0].energy_j / (20 * $t) - $s | . / ($p - $s) < 0.15' out
}

@test "a limit above the TDP is of language models alone" {
  local job=(predict --gpu a100-sxm4-40gb --method physical -f json)
  try "${job[@]}" --arch resnet50 --set power_limit_w=500
  grep -qF -e "$(message limit_has_no_effect 500 400)" err
  try "${job[@]}" --arch llama-3-8b --tokens 1e9 --set power_limit_w=500
  ! grep -qF 'power_limit_w' err || false
  try "${job[@]}" --arch resnet50 --set power_limit_w=300
  ! grep -qF 'power_limit_w' err || false
  printf '%s\n' arch,gpu,power_limit_w resnet50,a100,500 >runs.csv
  try predict --input runs.csv -m physical -f csv
  grep -qF "$(message limit_of_rows_has_no_effect 1 '')" err
}

# RTX 4090, 60,000 images in 5 epochs of steps alone (github dtjgp/GreenAI): 256
# and 302 W with ResNet-18, 270 and 298 W with VGG-11; an RTX 3080: 302 and 299.
@test "boards of Ada draw less in TF32" {
  local arch gpu low high
  while read -r gpu arch low high; do
    try predict --arch "$arch" --gpu "$gpu" --image-px 224 --batch-size 128 \
      --precision tf32 --train-samples 60000 --val-samples 0 --epochs 5 \
      --method physical -q --format json
    check ".estimates[0].power_w > $low / 1.25 and .estimates[0].power_w < $high * 1.25"
  done <<'END'
rtx-4090 resnet18 256 302
rtx-4090 vgg11 270 298
rtx-3080 resnet18 302 302
rtx-3080 vgg11 299 299
END
}

@test "a time shorter than the estimate makes the work faster" {
  local epoch
  epoch=$(value .epoch_s)
  try "${RUN[@]}" --epoch-time "$(jq -n "$epoch * 0.6")s"
  check '.busy_share > 0.95'
  within '.estimates[0].duration_s' "$(jq -n "90 * 0.6 * $epoch")" 1e-9
  # It draws at least as much, but less than its limit.
  less "$(value '.estimates[0].power_w' --duration 1h)" \
    "$(jq '.estimates[0].power_w' out)"
  check '.estimates[0].power_w <= 400'
}

@test "a longer time for the same work: less power, never less energy" {
  local epoch gpu factor
  for gpu in a100-sxm4-40gb mi250x t4; do
    epoch=$(value .epoch_s --gpu $gpu)
    for factor in 0.5 1 1.5 2 2.5 3 4 5 6 8 12 16 32; do
      value '.estimates[0] | [.power_w, .energy_j, .high_j] | @tsv' --gpu $gpu \
        --epochs 90 --duration "$(jq -n "90 * $epoch * $factor")s"
    done | tr -d '"' | sed 's/\\t/ /g' >$gpu
    awk 'NR > 1 && ($1 > power * 1.001 || $2 < energy * 0.999 || $3 < high * 0.999) {
        print "line", NR, $0; wrong = 1 }
      { power = $1; energy = $2; high = $3 }
      NR == 2 { expected = $2 }
      END { exit wrong || !($2 > 3 * expected) }' $gpu
  done
}

@test "utilization without a time makes the run longer" {
  local alone
  alone=$(value '.estimates[0].duration_s')
  try predict --arch resnet50 --gpu a100-sxm4-40gb --format json -q \
    --method physical,green-algorithms,tdp --gpu-util 31
  # About 1 / 0.31 of the time, for all methods.
  jq -e --argjson t "$alone" \
    '.estimates[0].duration_s / $t | . > 2.5 and . < 3.7' out
  jq -e '.estimates | map(.duration_s) | unique | length == 1' out
  # green-algorithms takes it: 400 W x 0.31 + 32 x 0.3725 W
  near '.estimates[1].power_w' 135.92
  # tdp stays TDP x time
  near '.estimates[2].power_w' 400
}

# The power is uncertain by 15 % unless it is known; what is left is the time.
@test "a known power does not widen the energy of a language model" {
  local set expected half
  for set in "--arch llama-2-7b --gpu a100 --gpus 8 --stack ngc" \
    "--arch mixtral-8x7b --gpu h100 --gpus 64" \
    "--arch bert-large-uncased --gpu v100-sxm2-16gb" \
    "--arch llama-3-8b --gpu b200 --gpus 8 --stack compiled --fine-tune lora"; do
    # shellcheck disable=SC2086
    try predict $set --tokens 1e9 --method physical -q --format json
    expected=$(jq '.estimates[0].power_w' out)
    half=$(jq '.estimates[0] | (.high_j / .low_j | log) / 2' out)
    # shellcheck disable=SC2086
    try predict $set --tokens 1e9 --method physical -q --format json \
      --gpu-power "$expected"
    check ".estimates[0] | (.high_j / .low_j | log) / 2 < $half"
    within '.estimates[0].power_w' "$expected" 1e-9
  done
}

# Unless the power makes waiting likely; a thousandth is what a share of
# trainings that wait for a moment adds.
@test "a known power does not widen the energy of an image network" {
  local set expected half
  for set in "--arch resnet50 --gpu a100" "--arch vgg16 --gpu rtx-3090" \
    "--arch nasnetmobile --gpu gtx-750-ti" \
    "--arch resnet50 --gpu a100 --gpus 8 --precision fp16"; do
    set+=' --loader synthetic'
    # shellcheck disable=SC2086
    try predict $set --method physical -q --format json
    # The GPUs alone: without the 5 W of the memory.
    expected=$(jq '.estimates[0].power_w - 5' out)
    half=$(jq '.estimates[0] | (.high_j / .low_j | log) / 2' out)
    # shellcheck disable=SC2086
    try predict $set --method physical -q --format json --gpu-power "$expected"
    check ".estimates[0] | (.high_j / .low_j | log) / 2 < $half * 1.001"
    within '.estimates[0].power_w' "$expected" 1e-9
  done
}

@test "a duration without epochs says nothing of the work" {
  near_same() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a == b) }'; }
  near_same "$(value '.estimates[0].power_w' --duration 3h)" \
    "$(value '.estimates[0].power_w' --duration 300h)"
  ! near_same "$(value '.estimates[0].power_w' --duration 30h --epochs 90)" \
    "$(value '.estimates[0].power_w' --duration 300h --epochs 90)"
}

@test "energy of waiting is as uncertain as static power" {
  # A standard error of .2 of its logarithm, 1.645 of them at 90 %: a factor of
  # 1.39 either way. Five minutes of work in 30 days; without the work's times
  # the same is known by the utilization.
  for known in '--throughput 5000/s' '--epoch-time 20m' '--gpu-util 0.1'; do
    # shellcheck disable=SC2086 # options
    try "${RUN[@]}" --epochs 1 --duration 30d $known
    check '.estimates[0] | .high_j / .energy_j > 1.39 and
      .energy_j / .low_j > 1.39 and .high_j / .low_j < 3'
  done
}

@test "a power and the time of the whole run are the energy, steps or not" {
  # 50 W x 30 d; meters are right to within exp(1.645 x .03) = 1.0506
  for known in '--throughput 5000/s' '--epoch-time 20m' '--gpu-util 0.1' ''; do
    # shellcheck disable=SC2086 # options
    try "${RUN[@]}" --epochs 1 --duration 30d --gpu-power 50 $known
    within '.estimates[0].energy_j' $((50 * 30 * 86400)) 1e-9
    within '.estimates[0].high_j' "$(jq -n '50 * 30 * 86400 * 1.0506')" 1e-3
    within '.estimates[0].low_j' "$(jq -n '50 * 30 * 86400 / 1.0506')" 1e-3
  done
}

@test "contradictory values are refused with both figures" {
  refuses 2 "dlest: $(message rates_contradict samples_per_s 2500 step_s 1024 | as_options)" \
    "${RUN[@]}" --throughput 2500/s --step-time 250ms
  refuses 2 "dlest: $(message time_is_shorter duration_s 36000 epochs \
    162000 | as_options)" "${RUN[@]}" --duration 10h --epochs 90 \
    --epoch-time 30m
  # 1297833 samples in 10 s x 6 x 4.11 GMAC; FP16 tensor cores reach 312
  refuses 2 "dlest: $(message samples_need_more_tflops 1.298e+05 3.2e+03 1 \
    a100-sxm4-40gb 312 'any precision')" "${RUN[@]}" --epoch-time 10s
  # 2500 x 24.66 GFLOP; 19.5 TFLOP/s x 2.25 by fast convolutions
  refuses 2 "dlest: $(message samples_need_more_tflops 2500 61.7 1 \
    a100-sxm4-40gb 43.9 fp32)" "${RUN[@]}" --throughput 2500/s --precision fp32
  refuses 2 "dlest: $(message power_is_over 600 "1 GPU" 400 | as_options)" \
    "${RUN[@]}" --gpu-power 600
  refuses 2 "dlest: $(message power_is_under 60 "4 idle GPUs draw" 220 | as_options)" \
    "${RUN[@]}" --gpu-power 60 --gpus 4
  # the idle power of a V100 is not in the catalogue: 5 % of 300 W
  refuses 2 "dlest: $(message power_is_under 10 "1 idle GPU draws" 15 | as_options)" \
    "${RUN[@]}" --gpu-power 10 --gpu v100-sxm2-16gb
}

@test "a utilization that leaves no time for the work is refused" {
  # 90 epochs of 1,297,833 samples x 6 x 4.11 GMAC = 2.88e18 FLOP in 1.5 % (1 %,
  # rounded) of 15 h: 3,556 TFLOP/s; FP16 tensor cores reach 312
  try "${RUN[@]}" --epoch-time 10m --gpu-util 1%
  [ "$status" -eq 2 ]
  [ ! -s out ]
  [ "$(cat err)" = "dlest: $(message busy_needs_more_tflops 1 54000 3.56e+03 1 \
    a100-sxm4-40gb 312 'any precision' | sed 's/gpu_util/--gpu-util/')" ]
  gives 0 '' "${RUN[@]}" --epoch-time 1h --gpu-util 30
}

@test "a utilization of 1 is 1 %, not all of it" {
  local text
  text=$(message gpu_util_of_one)
  gives 0 '' "${RUN[@]}" --epoch-time 15h --gpu-util 1
  check ".warnings | index(\"$text\")"
  jq 'del(.warnings)' out >bare
  gives 0 '' "${RUN[@]}" --epoch-time 15h --gpu-util 1%
  check ".warnings | index(\"$text\") | not"
  jq 'del(.warnings)' out | diff bare -
}

@test "what the fit cannot explain by any waiting is warned of" {
  local job=(predict --arch resnet50 --gpu a100-sxm4-40gb --method physical -f json)
  # Work all the time at the power of waiting; 25 minutes of work for 1,000 days without waiting, by utilization or power.
  while read -r known; do
    # shellcheck disable=SC2086 # options
    try "${job[@]}" $known
    [ "$status" -eq 0 ]
    grep -qE -e "$(message known_is_off_by '[0-9]{2,}')" err
    # shellcheck disable=SC2086 # options
    try "${job[@]}" $known --strict
    [ "$status" -eq 3 ]
  done <<'END'
--gpu-power 57 --gpu-util 100
--duration 1000d --epochs 1 --gpu-util 100
--duration 1000d --epochs 1 --gpu-power 350
END
  for known in '--duration 1000d --epochs 1' '--gpu-util 1' '--gpu-power 60' \
    '--gpu-power 399' '--epoch-time 1h --gpu-util 30'; do
    # shellcheck disable=SC2086 # options
    try "${job[@]}" $known
    ! grep 'standard deviations' err || false
  done
  printf '%s\n' arch,gpu,gpu_power_w,gpu_util resnet50,a100,57,1 \
    resnet50,a100,150, >runs.csv
  try predict --input runs.csv -m physical -f csv
  grep -qxF "dlest: warning: runs.csv: 1 row: $(message known_is_off)" err
}

@test "measured speeds and powers are none that a fit cannot explain" {
  for table in throughput-means language-training-means published-speeds; do
    try predict --input "$DLEST_DATADIR/data/$table.csv" -m physical --known time -f csv
    ! grep -qF "$(message known_is_off)" err || false
  done
  try predict --input "$DLEST_DATADIR/data/training-means.csv" -m physical -f csv
  ! grep -qF "$(message known_is_off)" err || false
}

@test "a power that waiting GPUs draw says no time of their work" {
  # Static power s is uncertain by .2 of its logarithm, and by the board's power:
  # below s / 1.39, at 90 %, there is no such training; up to 1.39 s a warning.
  local gpu s least job
  for gpu in t4 rtx-3090 v100-sxm2-16gb; do
    job=(predict --arch resnet50 --gpu $gpu -q -f json)
    s=$("$DLEST" "${job[@]}" --gpu-util 50 | jq .static_power_w)
    try "${job[@]}" --gpu-power "$(jq -n "$s / 2")"
    [ "$status" -eq 2 ]
    [ ! -s out ]
    least=$(grep -oE 'no less than [0-9.]+' err | grep -oE '[0-9.]+$')
    less "$least" "$(jq -n "$s / 1.39")"
    less "$(jq -n "$s / 1.9")" "$least"
    [ "$(cat err)" = "dlest: $(message power_is_of_waiting \
      "$(jq -n "$s / 2" | xargs printf %.4g)" '1 waiting GPU draws' \
      "$(printf %.3g "$s")" "$least" | as_options)" ]
    # its energy is known with the time
    gives 0 '' "${job[@]}" --gpu-power "$(jq -n "$s / 2")" --duration 1h
    within '.estimates[0].energy_j' "$(jq -n "$s / 2 * 3600")" 1e-9
    for share in 0.9 1.3; do
      try "${job[@]:0:5}" --gpu-power "$(jq -n "$s * $share")"
      [ "$status" -eq 0 ]
      grep -qF -e "$(message power_hardly_says_the_time \
        "$(jq -n "$s * $share" | xargs printf %g)" '1 waiting GPU' \
        "$(printf %.3g "$s")")" err
    done
    try "${job[@]:0:5}" --gpu-power "$(jq -n "$s * 1.9")"
    ! grep -q gpu-power err || false
  done
  printf '%s\n' arch,gpu,epochs,batch_size,train_samples,val_samples,gpu_power_w \
    resnet50,t4,1,64,1e6,0,5 resnet50,t4,1,64,1e6,0,18 >runs.csv
  try predict --input runs.csv -f csv
  [ "$status" -eq 3 ]
  grep -q 'runs.csv:2: gpu_power_w is 5 W, but 1 waiting GPU draws' err
  grep -qxF "dlest: warning: runs.csv: 1 row: $(message power_hardly_says_times)" err
}

@test "known values of one training are refused for several" {
  local how
  for how in 'epoch-time 60m' 'step-time 250ms' 'throughput 1024/s' \
    'gpu-util 31' 'gpu-power 250'; do
    # shellcheck disable=SC2086
    misused predict "$(message known_of_one_training "--${how% *}")" \
      --arch resnet50 --gpu a100,t4 --$how
    # shellcheck disable=SC2086
    misused recommend "$(message known_of_one_training "--${how% *}")" \
      --arch resnet50 --gpu a100,t4 --$how
  done
  # choices of one duration would be ranked by their power alone
  misused recommend "$(message duration_of_one_training --duration)" \
    --arch resnet50 --gpu a100,t4 --duration 10h --epochs 90
  misused recommend "$(message duration_of_one_training --duration)" \
    --arch resnet50 --gpu a100,t4 --duration 10h
  for how in epoch_s=60 step_s=1 samples_per_s=500 gpu_util=.3 gpu_power_w=250; do
    for set in --set --define; do
      misused predict "$(message known_of_one_training "$set ${how%=*}")" \
        --arch resnet50 --gpu a100,t4 $set $how
      misused recommend "$(message known_of_one_training "$set ${how%=*}")" \
        --arch resnet50 --gpu a100,t4 $set $how
    done
    [ "$how" = samples_per_s=500 ] || # known of inference too
      misused predict "$(message setting_is_for_phase "${how%=*}" training)" \
        --arch resnet50 --gpu a100 --phase inference --set $how
  done
  misused recommend "$(message duration_of_one_training '--set duration_s')" \
    --arch resnet50 --gpu a100,t4 --set duration_s=7200
}

@test "a speed that is none of this training is refused" {
  refuses 2 "dlest: $(message none_of_this_job tokens_per_s \
    'it has no tokens; give samples per second' | as_options)" "${RUN[@]}" \
    --throughput 1024tokens/s
  printf '%s\n' arch,gpu,epochs,batch_size,train_samples,tokens_per_s,\
samples_per_s resnet50,a100,90,256,1281167,1024, resnet50,a100,90,256,1281167,,0 \
    resnet50,a100,90,256,1281167,,1024 resnet50,a100,90,256,1281167,, >runs.csv
  try predict --input runs.csv --method physical --format json
  [ "$status" -eq 3 ]
  grep -q "runs.csv:2: $(message none_of_this_job tokens_per_s \
    'it has no tokens; give samples per second')" err
  grep -q "runs.csv:3: $(message none_of_this_job samples_per_s \
    'it is 0')" err
  check '.estimates | length == 2 and .[0].known == null'
  # what is not taken as known is not looked at
  try predict --input runs.csv --method physical --known none -q --format json
  [ "$status" -eq 0 ]
  check '.estimates | length == 4'
}

@test "times, speeds and utilizations of 0 are refused" {
  local column option
  while read -r column option; do
    refuses 2 "dlest: $(message none_of_this_job "$option" 'it is 0')" \
      "${RUN[@]}" --set "$column=0"
    refuses 2 "dlest: $(message none_of_this_job "$option" 'it is 0')" \
      "${RUN[@]}" --define "$column=1-1"
    printf '%s\n' "arch,gpu,$column" resnet50,a100,0 resnet50,a100, >runs.csv
    try predict --input runs.csv -m physical -f csv
    [ "$status" -eq 3 ]
    [ "$(grep -c '^resnet50' out)" -eq 1 ]
    grep -q "runs.csv:2: $(message none_of_this_job "$column" 'it is 0')" err
  done <<'END'
duration_s --duration
epoch_s --epoch-time
step_s --step-time
samples_per_s --throughput
gpu_util --gpu-util
END
  refuses 2 "dlest: $(message none_of_this_job --duration 'it is 0')" predict \
    --arch resnet50 --gpu a100 --phase inference --set duration_s=0
}

@test "columns of a table condition as options do" {
  printf '%s\n' arch,gpu,epochs,batch_size,train_samples,val_samples,epoch_s,\
step_s,samples_per_s,gpu_util,gpu_power_w \
    resnet50,a100-sxm4-40gb,90,256,1281167,50000,3600,,,, \
    resnet50,a100-sxm4-40gb,90,256,1281167,50000,,0.25,,, \
    resnet50,a100-sxm4-40gb,90,256,1281167,50000,,,1024,, \
    resnet50,a100-sxm4-40gb,90,256,1281167,50000,,,,0.31, \
    resnet50,a100-sxm4-40gb,90,256,1281167,50000,3600,,,,200 \
    resnet50,a100-sxm4-40gb,90,256,1281167,50000,10,,,, >runs.csv
  try predict --input runs.csv --method physical --format json
  [ "$status" -eq 3 ]
  grep -q 'runs.csv:7: 1.298e+05 samples/s' err
  for i in 0 1 2 3; do
    case $i in
    0) how='--epoch-time 60m' ;;
    1 | 2) how='--step-time 250ms' ;;
    3) how='--gpu-util 31' ;;
    esac
    # shellcheck disable=SC2086
    within ".estimates[$i].energy_j" \
      "$(value '.estimates[0].energy_j' --epochs 90 $how)" 1e-9
  done
  near '.estimates[4].energy_j' "$(jq -n '200 * 3600 * 90')"
  # --known: which of them
  try predict --input runs.csv --method physical -q --known none --format json
  jq -e '.estimates | length == 6 and (map(.energy_j) | unique | length == 1) and
    all(.busy_share == null)' out
  try predict --input runs.csv --method tdp -q --known duration --format json
  near '.estimates[0].energy_j' "$(jq -n '400 * 3600 * 90')"
  try predict --input runs.csv --known power
  [ "$status" -eq 2 ]
  grep -q "$(message expected_known_columns)" err
}

@test "compare does not score known values" {
  printf '%s\n' arch,gpu,epochs,batch_size,train_samples,epoch_s,gpu_util,\
gpu_power_w,gpu_energy_j,energy_j,boundary \
    resnet50,a100-sxm4-40gb,1,256,1281167,3000,0.9,300,900000,900000,gpu \
    resnet50,a100-sxm4-40gb,1,128,1281167,3100,0.9,290,899000,899000,gpu \
    >runs.csv
  local known
  for known in time gpu_util none; do
    gives 0 '' compare runs.csv --methods physical --known $known \
      --bootstrap 0 -q --format json
    jq '.scores[0].mape' out >$known
  done
  # Told the time, the energy is known better than without; the measured power
  # is not told, or the error were 0.
  less "$(cat time)" "$(cat none)"
  less 0.001 "$(cat time)"
  try compare runs.csv --known gpu_power
  [ "$status" -eq 2 ]
}

@test 'intervals of power and time, as rows and as options' {
  job=(predict --arch resnet50 --gpu a100 --method physical -q --format json
    --loader synthetic)
  try "${job[@]}"
  check '.estimates[0] | .duration_low_s < .duration_s and .duration_s < .duration_high_s'
  jq -c '.estimates[0] | [.power_low_w, .power_high_w, .duration_low_s, .duration_high_s]' out >single
  printf 'arch,gpu,loader\nresnet50,a100,synthetic\n' >t.csv
  try predict --input t.csv --method physical -q --format json
  jq -c '.estimates[0] | [.power_low_w, .power_high_w, .duration_low_s, .duration_high_s]' out >row
  diff single row
  try "${job[@]}" --duration 40h
  near '.estimates[0] | .power_high_w * 40 * 3600 / .high_j' 1
  check '.estimates[0].duration_low_s == null'
}
