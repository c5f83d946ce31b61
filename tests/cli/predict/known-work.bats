#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# How much work a known time is for: its epochs, and the rate that it needs.

load ../common
load known

@test "a duration has as many epochs as its time or speed lets it" {
  # 20 h of epochs of 12 min are 100; 3 h at 500/s are 5.4e6 samples, of the
  # 1281167 + 50000 / 3 of an epoch; with the steps' speed the rest waits.
  local how
  try "${RUN[@]}" --epochs 100 --epoch-time 12m
  cp out epochs
  try "${RUN[@]}" --duration 20h --epoch-time 12m
  check '.epochs == 100'
  within '.estimates[0].energy_j' "$(jq '.estimates[0].energy_j' epochs)" 1e-9
  within '.estimates[0].high_j' "$(jq '.estimates[0].high_j' epochs)" 1e-9
  for how in '--throughput 500/s' '--step-time 512ms'; do
    # shellcheck disable=SC2086
    try "${RUN[@]}" --duration 3h $how
    within .epochs "$(jq -n '5.4e6 / (1281167 + 50000 / 3)')" 1e-9
    within '.estimates[0].duration_s' 10800 1e-9
    within '.estimates[0].samples_per_s' 500 1e-9
  done
  try "${RUN[@]}" --duration 20h --epoch-time 12m --throughput 9000/s
  check '.epochs == 100 and .busy_share < 0.25'
  printf '%s\n' arch,gpu,duration_s,epoch_s,samples_per_s \
    resnet50,a100-sxm4-40gb,72000,720, \
    resnet50,a100-sxm4-40gb,10800,,500 >runs.csv
  try predict --input runs.csv --method physical --format json
  ! grep -q epochs err || false
  within '.estimates[0].energy_j' "$(jq '.estimates[0].energy_j' epochs)" 1e-9
  within '.estimates[1].energy_j' \
    "$(value '.estimates[0].energy_j' --duration 3h --throughput 500)" 1e-9
  # the answer says how many, and a number that is a default
  try predict --arch resnet50 --gpu a100 -q --duration 3h --throughput 500/s
  grep -q ': 4.16 epochs$' out
  grep -q '^  Assumed  imagenet' out
  try predict --arch resnet50 --gpu a100 -q --epoch-time 12m
  grep -q '^  Assumed  imagenet, 90 epochs' out
  grep -q '18 h 00 min *12 min 00 s per epoch, given' out
}

@test "a duration and a speed of a language model: as many tokens as it holds" {
  local llama=(predict --arch llama-3-8b --gpu h100 --gpus 8 -q -f json
    --method physical)
  # 5 h of 50,000 tokens/s
  try "${llama[@]}" --tokens 9e8 --duration 5h --startup 0 --overhead 0
  jq '.estimates[0].energy_j' out >known
  try "${llama[@]}" --duration 5h --throughput 50000/s
  within '.estimates[0].tokens_per_s' 50000 1e-9
  within '.estimates[0].energy_j' "$(cat known)" 1e-9
  try predict --arch llama-3-8b --gpu h100 --gpus 8 --duration 5h \
    --throughput 50000/s
  head -1 out | grep -q ': 900M tokens$'
}

@test "a power that GPUs cannot draw at their utilization is refused" {
  # An A100 that works 10 % of the time at its limit and waits at .16 of its TDP
  # (62 to 64 W were measured) draws .1 x 400 + .9 x 64 = 97.6 W; utilization and
  # static power are uncertain, by a third each here.
  local job=(predict --arch resnet50 --gpu a100-sxm4-40gb -m physical -q)
  local most times want
  for times in '' '--duration 10h' '--epoch-time 30m'; do
    # shellcheck disable=SC2086
    try "${job[@]}" --gpu-util 10 --gpu-power 390 $times
    [ "$status" -eq 2 ]
    most=$(grep -oE '[0-9.]+ W at most' err | cut -d' ' -f1)
    awk -v w="$most" 'BEGIN { exit !(w > 97.6 && w < 97.6 * 1.33) }'
    want=$(message power_is_over_util 390 1 '' 10 s "$most" | as_options)
    [ "$(cat err)" = "dlest: ${want/gpu_util/--gpu-util}" ]
  done
  gives 0 '' "${job[@]}" --gpu-util 10 --gpu-power 85
  gives 0 '' "${job[@]}" --gpu-util 98 --gpu-power 390
  # four draw four times as much
  try "${job[@]}" --gpus 4 --gpu-util 10 --gpu-power 1560
  grep -q 'but 4 GPUs busy for 10 % of the time' err
  gives 0 '' "${job[@]}" --gpus 4 --gpu-util 10 --gpu-power 390
  printf '%s\n' arch,gpu,epochs,batch_size,train_samples,gpu_util,gpu_power_w \
    resnet50,a100,1,256,1e6,0.1,390 resnet50,a100,1,256,1e6,0.9,320 >runs.csv
  try predict --input runs.csv -m physical -f csv
  [ "$status" -eq 3 ]
  grep -q 'runs.csv:2: gpu_power_w is 390 W, but 1 GPU busy for 10 % of' err
  [ "$(wc -l <out)" = 2 ]
}

@test "a utilization leaves time and power the intervals that they have" {
  # GPUs that work all the time take as long as ones of which nothing is known;
  # ones that are busy for 30 % take 1 / 0.3 of that, at static power meanwhile.
  local job=(predict -a resnet50 -g a100 --precision amp --loader synthetic
    -m physical -q -f json)
  gives 0 '' "${job[@]}"
  jq '.estimates[0] | .duration_low_s, .duration_high_s' out >alone
  gives 0 '' "${job[@]}" --gpu-util 96
  check ".estimates[0] | (.duration_low_s / $(head -1 alone) - 1 | fabs < 0.05)
    and (.duration_high_s / $(tail -1 alone) - 1 | fabs < 0.1) and
    .power_low_w < .power_w and .power_w < .power_high_w"
  gives 0 '' "${job[@]}" --gpu-util 30
  check ".estimates[0] | (.duration_low_s * 0.3 / $(head -1 alone) - 1 |
    fabs < 0.1) and (.duration_high_s * 0.3 / $(tail -1 alone) - 1 | fabs < 0.1)
    and .power_high_w < 200"
  gives 0 '' "${job[@]}" --gpu-power 300 # it needs no interval
  check '.estimates[0] | .power_low_w == null and .duration_low_s > 0'
  gives 0 '' "${job[@]}" --epoch-time 20m
  check '.estimates[0].duration_low_s == null'
}

@test "what is known moves the estimate alike for any coverage" {
  for known in '--gpu-power 100' '--gpu-util 40' '--throughput 500/s'; do
    for coverage in 50 90 99.9; do
      "$DLEST" predict -a resnet18 -g h100 $known -m physical -q -f json \
        --coverage $coverage | jq '.estimates[0].energy_j'
    done >energies
    [ "$(sort -u energies | wc -l)" = 1 ]
  done
}
