#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/lab/make/reality.py, which scores estimates against figures that others
# published.

load ../common
bats_require_minimum_version 1.5.0

TOOL=$TOP_SRCDIR/docs/lab/make/reality.py

setup_file() {
  command -v python3 >/dev/null || skip "no python3"
}

@test "without published figures it is skipped, with a reason" {
  run -0 python3 -B "$TOOL" "$DLEST" nowhere
  [ "$output" = "reality: skipped: no table of published figures: 'nowhere/reality/cases.csv'" ]
}

# The limit of an A100 of 80 GB is 400 W, of ten hours 4 kWh: published as 5, the
# rule is 20 % too low. A command that fails is named, the others are scored.
@test "ratios of a made table, by hand" {
  mkdir -p made/reality
  cat >made/reality/cases.csv <<'EOF'
kind,source,setup,quantity,unit,published,command
train-energy-duration,made,,energy (GPU),kWh,5,dlest predict --arch resnet50 --gpu a100-sxm4-80gb --duration 10h
train-time,made,,time,s,36000,dlest predict --arch resnet50 --gpu a100-sxm4-80gb --duration 10h
train-time,made,,time,s,1,dlest predict --arch no-such-network --gpu a100
EOF
  run -0 --separate-stderr python3 -B "$TOOL" "$DLEST" made --rows
  grep -q 'no-such-network' <<<"$stderr"
  [ "$(wc -l <<<"$output")" -eq 2 ]
  grep -q '^train-energy-duration .* tdp=0\.80 ' <<<"$output"
  grep -q '^train-time 1\.000 ' <<<"$output"
  run -0 --separate-stderr python3 -B "$TOOL" "$DLEST" made --kind energy
  grep -qE '^\| energy of a training, duration given \| 1 .*\| 20 % +\|' <<<"$output"
}

# A folder of measured data has all cases: each gives an estimate.
@test "each published case has an estimate" {
  [ -f "$MEASURED_RUNS/reality/cases.csv" ] ||
    skip "no published figures in '$MEASURED_RUNS'"
  run -0 --separate-stderr python3 -B "$TOOL" "$DLEST" "$MEASURED_RUNS" --kind memory
  [ "$stderr" = '' ]
  grep -qE '^\| peak GPU memory \| 6 ' <<<"$output"
}
