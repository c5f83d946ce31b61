#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/lab/make/memory_fits.py: which trainings fit, and peaks that were
# measured.

load ../common
bats_require_minimum_version 1.5.0

TOOL=$TOP_SRCDIR/docs/lab/make/memory_fits.py

setup_file() {
  command -v python3 >/dev/null || skip "no python3"
}

@test "without tables of measured batches it is skipped, with a reason" {
  run -0 python3 -B "$TOOL" "$DLEST" nowhere
  [ "$output" = "memory: skipped: no table of measured batches: 'nowhere/timm/timm_train_rtx3090.csv'" ]
}

# share ROW COLUMN LEAST: a share of the table in percent
share() {
  value=$(grep "^| $1 " table | cut -d '|' -f "$2" | tr -dc 0-9)
  [ "$value" -ge "$3" ]
}

@test "95 % of the trainings that ran fit, and the median peak is 12 % off" {
  [ -d "$MEASURED_RUNS/timm" ] && [ -d "$MEASURED_RUNS/pepr" ] ||
    skip "no measured batches in '$MEASURED_RUNS'"
  python3 -B "$TOOL" "$DLEST" "$MEASURED_RUNS" >table
  share all 4 95
  share all 7 70  # of the batches that failed
  share all 12 85 # of the peaks, inside the interval
  error=$(grep '^| all ' table | cut -d '|' -f 11 | tr -dc 0-9)
  [ "$error" -le 12 ]
  share 'timm, NCHW, AMP' 4 92
  share 'timm, NCHW, AMP' 7 70
}
