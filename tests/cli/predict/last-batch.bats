#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The last, incomplete batch of an epoch.

load ../common

vit='--arch vit_large_patch16_224 --gpu a100 --gpus 8 --batch-size 64 --epochs 10'

# of FIELD ARG...: a field of the estimate by the physical method
of() {
  local field=$1
  shift
  "$DLEST" predict "$@" --method physical -q --format json 2>/dev/null |
    jq -r ".estimates[0].$field"
}

# near A B SHARE: whether they differ by at most the share of B
near() {
  jq -en --argjson a "$1" --argjson b "$2" --argjson s "$3" \
    '($a / $b - 1) | . <= $s and . >= -$s' || {
    echo "$1 and $2"
    return 1
  }
}

# 1,023 samples on 8 GPUs are 128 on each: two batches of 64.
@test "the last batch is work, in training" {
  # shellcheck disable=SC2086
  near "$(of energy_j $vit -v 0 -t 1023)" "$(of energy_j $vit -v 0 -t 1024)" 1e-9
  # shellcheck disable=SC2086
  near "$(of duration_s $vit -v 0 -t 1023)" \
    "$(of duration_s $vit -v 0 -t 1024)" 1e-9
  # One GPU: 15 of 16 batches and one of 63 samples.
  one='--arch vit_large_patch16_224 --gpu a100 --batch-size 64 --epochs 10 -v 0'
  # shellcheck disable=SC2086
  near "$(of energy_j $one -t 1023)" "$(of energy_j $one -t 1024)" 2e-3
}

@test "the last batch is work, in validation" {
  # shellcheck disable=SC2086
  near "$(of energy_j $vit -t 1024 -v 1023)" \
    "$(of energy_j $vit -t 1024 -v 1024)" 1e-9
}

# More than none, less than a full batch, and with its launches more than in
# proportion to its samples.
@test "a smaller batch takes a part of a full one" {
  net='--arch resnet50 --gpu a100 --batch-size 256 --epochs 1 -v 0'
  # shellcheck disable=SC2086
  a=$(of duration_s $net -t 2560) b=$(of duration_s $net -t 2592)
  # shellcheck disable=SC2086
  c=$(of duration_s $net -t 2816)
  jq -en "($b - $a) / ($c - $a) | . > 32 / 256 and . < 0.9"
}

# An epoch of one batch is that batch, whatever size it may have.
@test "a data set below a batch is the batch" {
  net='--arch resnet50 --gpu a100 --epochs 10 -v 0 -t 20'
  # shellcheck disable=SC2086
  near "$(of duration_s $net -b 256)" "$(of duration_s $net -b 20)" 1e-6
}

# 1,023 of 512 at a time: one batch; 511 samples are left out.
@test "--drop-last leaves it out, in training and validation" {
  # shellcheck disable=SC2086
  near "$(of energy_j $vit -v 0 -t 1023 --drop-last)" \
    "$(of energy_j $vit -v 0 -t 512)" 1e-9
  # shellcheck disable=SC2086
  near "$(of energy_j $vit -t 1024 -v 1023 --drop-last)" \
    "$(of energy_j $vit -t 1024 -v 512)" 1e-9
  # shellcheck disable=SC2086
  near "$(of mfu $vit -v 0 -t 1023 --drop-last)" "$(of mfu $vit -v 0 -t 512)" 1e-9
  # shellcheck disable=SC2086
  near "$(of samples_per_s $vit -v 0 -t 1023 --drop-last)" \
    "$(of samples_per_s $vit -v 0 -t 512)" 1e-9
}

# 100,000 sequences in batches of 64: 1,562 of them, 99,968 sequences.
@test "--drop-last leaves it out of language models, and of a known speed" {
  gpt='--arch gpt2 --gpu a100 --batch-size 64 --seq-len 512 --epochs 1'
  # shellcheck disable=SC2086
  near "$(of duration_s $gpt -t 1e5 --drop-last)" \
    "$(of duration_s $gpt -t 99968)" 1e-9
  # shellcheck disable=SC2086
  near "$(of duration_s $vit -v 0 -t 1023 --throughput 100/s --drop-last)" \
    51.2 1e-9
}

# Loaders deal out equal parts: 1,025 samples are 129 on each of 8.
@test "GPUs get equal parts, rounded up" {
  # shellcheck disable=SC2086
  near "$(of duration_s $vit -v 0 -t 1025)" "$(of duration_s $vit -v 0 -t 1032)" \
    1e-9
}

# 1,000 samples on 8 GPUs are 125 on each: batches of 128 and 256 are one of 125.
@test "recommend: choices are the estimates of predict, and no batch wins by what it drops" {
  local net='--arch resnet50 --gpu a100 --gpus 8 -v 0 --epochs 3 -t 1000'
  # shellcheck disable=SC2086
  gives 0 '' recommend $net -q --format json
  cp out all
  jq -r '.choices[] | "\(.batch_size) \(.precision) \(.energy_j)"' all >choices
  [ "$(wc -l <choices)" -ge 8 ]
  while read -r batch precision energy; do
    # shellcheck disable=SC2086
    near "$energy" "$(of energy_j $net --batch-size "$batch" \
      --precision "$precision")" 1e-9
  done <choices
  jq -e '.choices | group_by(.precision) | length == 2 and all(.[];
    map({(.batch_size | tostring): .energy_j}) | add
    | .["128"] < .["64"] and .["64"] < .["16"] and .["128"] == .["256"])' all
}

# What a calibration learns of 1,023 samples is what it learns of 1,024.
@test "calibrate: the last batch is work that was measured" {
  local job='--arch vit_large_patch16_224 --gpu a100 --gpus 8 --batch-size 64 -v 0 -t 5000'
  # learns SAMPLES DROP_LAST
  learns() {
    printf '%s\n%s\n' \
      'arch,gpu,n_gpus,batch_size,epochs,val_samples,train_samples,drop_last,energy_j,duration_s,boundary' \
      "vit_large_patch16_224,a100,8,64,10,0,$1,$2,20000,10,gpu" >runs.csv
    "$DLEST" calibrate runs.csv -q -o m.xml >/dev/null
    # shellcheck disable=SC2086
    of "$3" $job --model m.xml
  }
  near "$(learns 1023 '' energy_j)" "$(learns 1024 '' energy_j)" 1e-4
  near "$(learns 1023 yes duration_s)" "$(learns 512 '' duration_s)" 1e-9
  # Half of the work in the same time is half of the speed.
  jq -en "$(learns 512 '' duration_s) / $(learns 1024 '' duration_s) | . > 1.3"
}
