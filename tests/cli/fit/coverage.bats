#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The intervals cover what they promise, on runs that the model never saw: it
# is refitted without the group it predicts.

TABLE=$DLEST_DATADIR/data/delrey2024-configurations.csv

# covered METHOD GROUP [COVERAGE]: share of runs inside their interval. Three
# methods share their fits, so that one comparison by a group is for all of them.
covered() {
  local scores=$BATS_FILE_TMPDIR/$2-${3:-90}.json methods=$1
  [ -n "${3-}" ] || methods=pre-epoch,pre-power,physical
  [ -e "$scores" ] || "$DLEST" compare "$TABLE" --cv "group:$2" \
    --methods "$methods" --coverage "${3:-90}" -q --format json >"$scores"
  jq --arg method "$1" '.scores[] | select(.method == $method).covered' "$scores"
}

between() {
  awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN {
    if (x == "null" || x + 0 < low || x + 0 > high) {
      print "covered " x ", expected " low " to " high
      exit 1
    }
  }'
}

# 45 configurations: a share has a standard error of 4.5 %.
@test "a held-out configuration: 90 % intervals cover 85 to 97.5 %" {
  between "$(covered pre-epoch config)" .85 .975
  between "$(covered pre-power config)" .85 .975
  between "$(covered physical config)" .85 .975
}

@test "a held-out configuration: 50 % intervals cover 35 to 65 %" {
  between "$(covered pre-epoch config 50)" .35 .65
}

@test "a held-out architecture: 90 % intervals cover at least 85 %" {
  between "$(covered pre-epoch arch)" .85 1
  between "$(covered pre-power arch)" .85 1
  between "$(covered physical arch)" .85 1
}

@test "a held-out GPU: 90 % intervals cover at least 85 %" {
  between "$(covered pre-epoch gpu)" .85 1
  between "$(covered pre-power gpu)" .85 1
  between "$(covered physical gpu)" .85 1
}

@test "intervals widen outside the range of the training data" {
  width() {
    "$DLEST" predict --arch "$1" --gpu "$2" --batch-size 64 --image-px 128 \
      --dataset caltech101 --epochs 1 --method pre-epoch -q --format json |
      jq '.estimates[0] | .high_j / .low_j'
  }
  known=$(width inception_v3 rtx-3090)
  arch=$(width densenet121 rtx-3090)
  both=$(width densenet121 v100)
  awk -v a="$known" -v b="$arch" -v c="$both" \
    'BEGIN { exit !(1 < a && a < b && b < c) }'
}

@test "what is added to an interval follows its coverage" {
  # a power known within .22 at 90 %: 1.64485 standard deviations, of which 50 %
  # are .67449
  "$DLEST" predict --arch llama-3.1-8b --gpu h100 --tokens 1e9 \
    --method physical --coverage 50 --set startup_s=0 \
    --set overhead=0 -q --format json |
    jq -e '.estimates[0] | (.power_high_w / .power_w | log) / 0.22
      | . > 0.41005 and . < 0.41007'
}

# Effects of the batch size, which a configuration that is held out shares with
# others; simulated_fits.py states the bound.
@test "new batch sizes between those of the runs: simulated truth is covered" {
  command -v python3 >/dev/null || skip 'no python3'
  cd "$BATS_TEST_TMPDIR"
  for method in krr ridge ols; do
    python3 "$TOP_SRCDIR/tests/cli/fit/simulated_fits.py" "$DLEST" $method \
      "${DLEST_SIMULATED_FITS:-30}"
  done
}
