#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The last, incomplete batch of an epoch.

load common

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

@test "column drop_last" {
  cat >rows.csv <<END
arch,gpu,n_gpus,batch_size,epochs,val_samples,train_samples,drop_last
vit_large_patch16_224,a100,8,64,10,0,1023,
vit_large_patch16_224,a100,8,64,10,0,1023,no
vit_large_patch16_224,a100,8,64,10,0,1023,False
vit_large_patch16_224,a100,8,64,10,0,1023,0
vit_large_patch16_224,a100,8,64,10,0,512,
vit_large_patch16_224,a100,8,64,10,0,1023,yes
vit_large_patch16_224,a100,8,64,10,0,1023,True
vit_large_patch16_224,a100,8,64,10,0,1023,1
END
  try predict --input rows.csv --method physical -q --format json
  [ "$status" -eq 0 ]
  check '[.estimates[].energy_j] | (.[:4] | unique | length) == 1
    and (.[4:] | unique | length) == 1 and .[0] > 1.5 * .[4]'
}

@test "a step above the epoch is refused where the last batch is dropped" {
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message drop_last_leaves_none --drop-last 512 511)" \
    predict $vit -v 0 -t 511 --drop-last
}

# Loaders deal out equal parts: 1,025 samples are 129 on each of 8.
@test "GPUs get equal parts, rounded up" {
  # shellcheck disable=SC2086
  near "$(of duration_s $vit -v 0 -t 1025)" "$(of duration_s $vit -v 0 -t 1032)" \
    1e-9
}
