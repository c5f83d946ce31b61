#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Settings of each kind of job: one that has no effect is warned about or refused.

load ../common

@test "a setting changes the answer, or is warned about, or refused" {
  command -v python3 >/dev/null || skip "no python3"
  run python3 "$BATS_TEST_DIRNAME/setting_effects.py" "$DLEST"
  [ "$status" -eq 0 ] || { echo "$output"; false; }
}

of() {
  "$DLEST" predict --method physical -q --format json "$@" | jq '.estimates[0]
    | [.duration_s, .energy_j, .power_w, .tokens_per_s]'
}

@test "a locked clock slows down and saves power, in training and in inference" {
  local job before now
  while read -r job; do
    # shellcheck disable=SC2086
    before=$(of $job)
    # shellcheck disable=SC2086
    now=$(of $job --gpu-clock 900)
    jq -en --argjson a "$before" --argjson b "$now" \
      '$b[0] > 1.01 * $a[0] and $b[0] < 1410 / 900 * $a[0] and
        $b[1] < $a[1] and $b[2] < .8 * $a[2]'
    # shellcheck disable=SC2086
    [ "$(of $job --gpu-clock 1410)" = "$before" ]
  done <<'END'
--arch resnet50 --gpu a100 --dataset imagenet --precision amp
--arch llama-2-7b --gpu a100 --gpus 8 --tokens 1e9
--arch llama-2-7b --gpu a100 --phase inference --prompt-tokens 500 --output-tokens 99 --batch-size 32
--arch resnet50 --gpu a100 --phase inference --requests 1e5 --batch-size 256 --precision int8
END
  try predict --arch resnet50 --gpu a100 --gpu-clock 1500
  grep -qF -- "$(message gpu_clock_without_boost 900)" \
    <("$DLEST" predict --arch resnet50 --gpu gaudi2 --gpu-clock 900 2>&1)
  grep -qF "$(message no_effect_on_physical '--set host_class')" \
    <("$DLEST" predict --arch resnet50 --gpu a100 --set host_class=desktop 2>&1)
  grep -qF -- "$(message gpu_clock_has_no_effect 1500 a100-sxm4-40gb 1410)" err
}

@test "a whole training: start-up and a share beside its steps, with a stack too" {
  local stack
  for stack in '' '--stack tuned'; do
    # shellcheck disable=SC2086
    steps=$(of --arch llama-2-7b --gpu a100 --gpus 8 --tokens 1e9 $stack \
      --overhead 0 --startup 0)
    # shellcheck disable=SC2086
    whole=$(of --arch llama-2-7b --gpu a100 --gpus 8 --tokens 1e9 $stack)
    jq -en --argjson a "$steps" --argjson b "$whole" \
      '($b[0] - (1.05 * $a[0] + 20) | fabs) < 1e-6 * $b[0] and
        $a[3] == $b[3] and (1e9 / $a[0] / $a[3] - 1 | fabs) < 1e-9'
  done
  # fine-tuning loads 13.5 GB, a second each
  gives 0 '' predict --arch llama-2-7b --gpu a100 --tokens 1e8 --fine-tune lora \
    -q --format json
  check '.startup_s > 33 and .startup_s < 34 and .overhead == 0.05'
  # a known time of steps has none of it, and a duration alone no known work
  gives 0 '' predict --arch llama-2-7b --gpu a100 --tokens 1e8 --throughput 5e3/s \
    -q --format json
  check '.startup_s == null and .overhead == null'
  gives 0 '' predict --arch llama-2-7b --gpu a100 --duration 9h -q --format json
  check '.startup_s == null and .overhead == null'
  refuses 3 "dlest: $(message startup_and_duration --overhead)" predict \
    --arch llama-2-7b --gpu a100 --duration 9h --overhead 0.1
}

@test "a known duration has its start-up in it, at static power" {
  job=(predict --arch bert-base-uncased --gpu a40 --train-samples 64000
    --epochs 3 --val-samples 0 --seq-len 128 --batch-size 16 -q --format json)
  "$DLEST" "${job[@]}" --duration 1000s --startup 0 >steps
  "$DLEST" "${job[@]}" --duration 1030s --startup 30s >whole
  jq -en --slurpfile a steps --slurpfile b whole '
    def e: .[0].estimates[0]; $a | .[0].static_power_w as $s |
    (($b | e.energy_j) - (e.energy_j + 30 * $s) | fabs) < 1e-6 * e.energy_j and
      ($b | e.duration_s) == 1030'
  # an assumed one is so too, and its doubt widens the interval
  "$DLEST" "${job[@]}" --duration 1000s >assumed
  jq -en --slurpfile a steps --slurpfile b assumed '
    def e: .[0].estimates[0]; $b[0].startup_s == 20 and
    ($b | e.energy_j) < ($a | e.energy_j) and
      ($b | e.energy_low_j // e.low_j) < ($a | e.energy_low_j // e.low_j)'
  refuses 3 "dlest: $(message startup_exceeds_duration --startup 1000 --duration 1000)" \
    "${job[@]}" --duration 1000s --startup 1000s
}

@test 'where the duration alone is known, 3 in 10 trainings wait for a uniform share of it' {
  job=(predict --arch resnet50 --gpu a100 --method physical -q --format json
    --loader synthetic)
  # The GPU's part of the lower end at work; memory draws 5 W.
  for p in 90 80 50; do
    try "${job[@]}" --coverage $p
    jq '.estimates[0].power_low_w - 5' out >works-$p
    try "${job[@]}" --coverage $p --duration 40h
    jq '.estimates[0].power_low_w' out >low-$p
  done
  # All but (1 - coverage) / 2 work a sixth, a third and five sixths of the time at
  # least; beside it they draw static power, the same for all three.
  for p in '90 6' '80 3' '50 1.2'; do
    awk -v low="$(cat low-${p% *})" -v works="$(cat works-${p% *})" -v by="${p#* }" \
      'BEGIN { printf "%.6f\n", (low - works / by) / (1 - 1 / by) }'
  done >static
  [ "$(sort -u static | wc -l)" -eq 1 ]
  awk '{ exit !($1 > 30 && $1 < 100) }' static
}
