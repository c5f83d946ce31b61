#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# How a training is set up: batches, parallelism, what is trained.

load common

resnet='--arch resnet50 --gpu a100 --method flops -q --format json'
llama='--arch llama-2-7b --gpu a100 --method flops -q --format json'

@test "the batch of all GPUs follows, and sets what is not given" {
  # shellcheck disable=SC2086
  try predict $resnet --gpus 8 --global-batch 1024
  check '.batch_size == 128'
  # shellcheck disable=SC2086
  try predict $resnet --gpus 8 --global-batch 1024 --tensor-parallel 2
  check '.batch_size == 256'
  # shellcheck disable=SC2086
  try predict $resnet --gpus 8 --global-batch 4096 --grad-accum 8
  check '.batch_size == 64'
}

@test "tokens of a data set are trained on in every epoch" {
  # shellcheck disable=SC2086
  try predict $llama --train-tokens 1e9 --epochs 3
  check '.tokens == 3e9'
  # shellcheck disable=SC2086
  refuses 2 "dlest: $(message train_tokens_exclude)" predict $llama \
    --train-tokens 1e9 --train-samples 9
}

@test "a contradiction is refused, in a table by its line" {
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message degrees_divide 8 3 1)" predict $resnet \
    --gpus 8 --tensor-parallel 3
  cat >runs.csv <<'EOF'
arch,gpu,n_gpus,global_batch,precision,fine_tune
resnet50,a100,8,1024,Half,
resnet50,a100,8,1028,mixed,
resnet50,a100,8,,BFloat16,HEAD
EOF
  try predict --input runs.csv --format csv --method flops
  [ "$status" -eq 3 ]
  [ "$(grep -c '^resnet50' out)" -eq 2 ]
  grep -qx "dlest: warning: runs.csv:3: $(message global_batch_multiple 1028 \
    grad_accum 1 8)" err
}
