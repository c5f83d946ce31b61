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

@test "no GPU is above its peak in any format and software, nor slower in TF32 than in FP32" {
  command -v python3 >/dev/null || skip "no python3"
  relations --catalogue
}

# GTX 1080 Ti: 11.3 TFLOP/s in FP32, 0.177 in FP16.
@test "GPUs with slow FP16 compute in FP32" {
  try predict --arch resnet50 --gpu gtx-1080-ti --precision fp16 --format json
  [ "$status" -eq 0 ]
  check '.peak_tflops > 11 and .estimates[0].mfu < 1'
  grep -qF "$(message has_no_rate_for gtx-1080-ti 'FP16 tensor' fp16 FP32 11.3)" err
}

# A100: 156 TFLOP/s in TF32.
@test "MFU in TF32 is of its whole rate" {
  try predict --arch resnet50 --gpu a100 --precision tf32 --val-samples 0 \
    --method physical -q --format json
  check '.macs_g as $g | .estimates[0]
    | .mfu / (.samples_per_s * 6 * $g / 156e3) | . > 0.999 and . < 1.001'
}
