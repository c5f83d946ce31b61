#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The published energies of 249 runs of del Rey et al. (arXiv 2307.05520, data:
# doi 10.5281/zenodo.7828518) from their nvidia-smi and psutil logs.

load ../common

SEAA=$MEASURED_RUNS/seaa2023
# Their parser keeps whole watts and leaves out the last three rows.
THEIRS=(--truncate-watts --drop-last 3)

setup() {
  [ -f "$SEAA/runs.csv" ] || skip "no traces in '$SEAA'"
  cd "$BATS_TEST_TMPDIR"
}

# shows FORMAT NUMBER FILTER: the number printed so
shows() {
  local got
  got=$(jq -r "$3" out | LC_ALL=C xargs printf "$1")
  [ "$got" = "$2" ] || { echo "$3: $got, expected $2"; return 1; }
}

@test "the worked example, to all printed digits" {
  dir=$SEAA/traces/cloud/mobilenet_v2
  gives 0 '' extract "$dir/gpu-power-20221205T095541.csv" \
    "$dir/cpu-mem-usage-20221205T095541.csv" "${THEIRS[@]}" --format json
  check '.runs | length == 1 and .[0].boundary == "gpu+ram"'
  shows %.9f 0.415289086 '.runs[0].gpu_energy_j / 1e6'
  shows %.7f 0.0124440 '.runs[0].ram_energy_j / 1e6'
  shows %.6f 156.930408 '.runs[0].gpu_power_w'
  shows %.7f 0.7350283 '.runs[0].duration_s / 3600'
  shows %.6f 22.995461 '.runs[0].gpu_util * 100'
  # with the decimals of the watts 0.31 % more
  whole=$(jq '.runs[0].gpu_energy_j' out)
  gives 0 '' extract "$dir/gpu-power-20221205T095541.csv" \
    "$dir/cpu-mem-usage-20221205T095541.csv" --drop-last 3 --format json
  shows %.2f 0.31 "(.runs[0].gpu_energy_j / $whole - 1) * 100"
}

# deviates MEAN WORST: of all runs in out (CSV) from the published energies
deviates() {
  awk -F, -v most_mean="$1" -v most="$2" '
    FNR == 1 { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
    FILENAME != "out" {
      want[$(at[FILENAME, "environment"]) "/" \
        $(at[FILENAME, "architecture"]) "/" $(at[FILENAME, "trace"])] = \
        $(at[FILENAME, "gpu_energy_mj"]) * 1e6
      next
    }
    { n = split($NF, part, "/")
      name = part[n - 2] "/" part[n - 1] "/" part[n]
      if (!(name in want)) { print name ": not published"; exit bad = 1 }
      d = $(at["out", "gpu_energy_j"]) / want[name] - 1
      sum += d; runs++
      if (d < 0) d = -d
      if (!(d <= worst)) { worst = d; where = name } }
    END {
      if (bad) exit 1
      mean = runs ? sum / runs : 1
      printf "%d runs, mean %.4f %%, worst %.4f %% (%s)\n", runs, mean * 100,
        worst * 100, where
      if (mean < 0) mean = -mean
      exit !(runs == 249 && mean < most_mean && worst < most) }' \
    "$SEAA/runs.csv" out
}

@test "249 runs: mean deviation under 0.05 %, worst under 0.5 %" {
  try extract "$SEAA"/traces/*/*/gpu-power-*.csv "${THEIRS[@]}" -f csv -q
  [ "$status" -eq 0 ]
  deviates 0.0005 0.005
}

@test "249 runs with their memory logs, the same" {
  try extract "$SEAA"/traces/*/*/*.csv "${THEIRS[@]}" -f csv -q
  [ "$status" -eq 0 ]
  deviates 0.0005 0.005
  boundaries=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++)
    if ($i == "boundary") at = i; next } { print $at }' out | sort -u)
  [ "$boundaries" = gpu+ram ]
}

@test "settings by a table of runs, as they were published" {
  try extract "$SEAA"/traces/local-v2/*/gpu-power-*.csv -f json -q \
    --settings "$SEAA/runs.csv"
  [ "$status" -eq 0 ]
  check '.runs | all(.environment == "local-v2" and .image_px == 128 and
    .train_samples == null and .training_size == 23807 and
    .batch_size >= 16 and .epochs > 0)'
  check '.runs | all(. as $r | .file | test("/" + $r.architecture + "/"))'
}
