#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/lab/make/training_power.py, which estimates the power of language models in
# trainings of sources that its fit has not seen.

load ../common
bats_require_minimum_version 1.5.0

TOOL=$TOP_SRCDIR/docs/lab/make/training_power.py

setup_file() {
  command -v python3 >/dev/null || skip "no python3"
}

@test "without measured powers it is skipped, with a reason" {
  run -0 python3 -B "$TOOL" "$DLEST" nowhere
  [ "$output" = "training-power: skipped: no table of powers: 'nowhere/power/training.csv'" ]
}

# The aims: 10 % in the median, and 85 to 95 % of the intervals of 90 % hold.
@test "board powers of language models, a source left out" {
  [ -f "$MEASURED_RUNS/power/training.csv" ] ||
    skip "no measured powers in '$MEASURED_RUNS'"
  run -0 python3 -B "$TOOL" "$DLEST" "$MEASURED_RUNS" --rows
  awk '{ match($0, /W [0-9.]+ \[.*/); split(substr($0, RSTART), x, /[][ ,]+/)
    off = x[2] > 1 ? x[2] - 1 : 1 - x[2]; close_by += off < 0.1
    inside += x[3] <= 1 && x[4] >= 1 }
    END { exit !(close_by >= NR / 2 && inside >= 0.85 * NR && inside <= 0.96 * NR) }' \
    <<<"$output"
}
