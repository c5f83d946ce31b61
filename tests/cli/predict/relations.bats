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
