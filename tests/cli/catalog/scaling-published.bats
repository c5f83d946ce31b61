#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The scaling rules, on networks that others list or that were counted at
# several input sizes.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  cd "$BATS_TEST_TMPDIR"
  pairs=$TOP_SRCDIR/tests/scaling-pairs.py
  catalog=$DLEST_DATADIR/data/architectures.xml
}

@test 'every network that timm lists at two sizes, from one of them' {
  tables=$MEASURED_RUNS/timm
  [ -d "$tables" ] || skip "no timm at $MEASURED_RUNS"
  run -0 "$pairs" "$DLEST" "$catalog" "$tables"/timm_arch_descriptors.csv \
    "$tables"/timm_infer_all.csv "$tables"/timm_train_rtx3090.csv
  printf '%s\n' "$output" | sed 's/^/# /' >&3
}

@test "torchvision's networks, counted operator by operator at three sizes" {
  run -0 "$pairs" --counted \
    "$TOP_SRCDIR"/data/make/architectures-torchvision.csv "$DLEST" "$catalog"
  printf '%s\n' "$output" | sed 's/^/# /' >&3
}
