#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Relations that estimates keep (tests/chaos/relations.py).

load ../common

relations() {
  python3 -B "$TOP_SRCDIR/tests/chaos/relations.py" --dlest "$DLEST" "$@"
}

# Energy = power x time, intervals, limits, epochs, samples, last batches,
# formats, GPUs, utilization, coverage, order, threads, command lines.
@test "2,000 drawn rows keep all relations" {
  command -v python3 >/dev/null || skip "no python3"
  relations --rows 2000 --seed 7
}

# 336 M weights in 8 stages: both copies send and receive 336e6 / 8 x 4 B, which
# takes 26.6 ms at .4 of 15.8 GB/s; 1e11 tokens are 1e11 / (16 x 512) steps.
@test "a second node takes no longer than the first and its gradients" {
  local n
  for n in 8 16; do
    try predict --arch bert-large-uncased --gpu max-1550 --gpus "$n" \
      --tokens 1e11 --seq-len 512 --global-batch 16 --precision fp32 \
      --stack compiled --method physical -q --format json
    check '.bound == "launch" and .pipeline_parallel == 8'
    jq '.estimates[0].duration_s' out
  done >times
  jq -es '(336e6 / 8 * 4 / (0.4 * 15.8e9) * 1e11 / (16 * 512)) as $exchange
    | .[1] - .[0] | . > 0 and . < $exchange' times
}

@test "no GPU is above its peak in any format and software, nor slower in TF32 than in FP32" {
  command -v python3 >/dev/null || skip "no python3"
  relations --catalogue
}
