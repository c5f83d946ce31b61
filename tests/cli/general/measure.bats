#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/measure where PyTorch is missing; with it: tests/torch/check-torch.sh.

load ../common
bats_require_minimum_version 1.5.0

@test "without PyTorch a message says how to get it" {
  command -v python3 >/dev/null || skip "no python3"
  mkdir without
  echo 'raise ImportError("made")' >without/torch.py
  PYTHONPATH=without PYTHONDONTWRITEBYTECODE=1 \
    run -1 --separate-stderr python3 "$TOP_SRCDIR/tools/measure"
  [ "$output" = '' ]
  [ "$stderr" = 'measure: PyTorch is not installed; install it as on https://pytorch.org/get-started (Debian: python3-torch)' ]
}
