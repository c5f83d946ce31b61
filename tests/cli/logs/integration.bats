#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Energies of dlest extract against independent readers of each log format
# (tests/reference/integrate): on generated logs, and on the 249 measured traces
# of del Rey et al. with their memory logs. A failure prints the seed.

load ../common

export PYTHONDONTWRITEBYTECODE=1

# agrees FORMAT: for the logs generated from the seeds 1 to 30
agrees() {
  run python3 "$TOP_SRCDIR/tests/reference/integrate/check_energies.py" \
    "$DLEST" "$1" 1 30
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *" 0 differ" ]]
}

@test "nvidia-smi: energies agree with an independent reader" {
  agrees nvidia-smi
}

@test "nvidia-smi-dmon: energies agree with an independent reader" {
  agrees nvidia-smi-dmon
}

@test "dcgmi-dmon: energies agree with an independent reader" {
  agrees dcgmi-dmon
}

@test "rocm-smi: energies agree with an independent reader" {
  agrees rocm-smi
}

@test "psutil: energies agree with an independent reader" {
  agrees psutil
}

@test "perf: energies agree with an independent reader" {
  agrees perf
}

@test "turbostat: energies agree with an independent reader" {
  agrees turbostat
}

@test "ptdaemon: energies agree with an independent reader" {
  agrees ptdaemon
}

@test "powerjoular: energies agree with an independent reader" {
  agrees powerjoular
}

@test "json-lines: energies agree with an independent reader" {
  agrees json-lines
}

@test "json-array: energies agree with an independent reader" {
  agrees json-array
}

@test "wandb-panel: energies agree with an independent reader" {
  agrees wandb-panel
}

@test "mlflow: energies agree with an independent reader" {
  agrees mlflow
}

@test "mlperf-training: energies agree with an independent reader" {
  agrees mlperf-training
}

@test "sacct: energies agree with an independent reader" {
  agrees sacct
}

@test "sstat: energies agree with an independent reader" {
  agrees sstat
}

@test "codecarbon: energies agree with an independent reader" {
  agrees codecarbon
}

@test "eco2ai: energies agree with an independent reader" {
  agrees eco2ai
}

@test "zeus: energies agree with an independent reader" {
  agrees zeus
}

@test "prometheus: energies agree with an independent reader" {
  agrees prometheus
}

@test "grafana: energies agree with an independent reader" {
  agrees grafana
}

@test "carbontracker: energies agree with an independent reader" {
  agrees carbontracker
}

@test "carbontracker-output: energies agree with an independent reader" {
  agrees carbontracker-output
}

@test "runs: energies agree with an independent reader" {
  agrees runs
}

@test "epochs: energies agree with an independent reader" {
  agrees epochs
}

@test "samples: energies agree with an independent reader" {
  agrees samples
}

@test "a GPU log with the wall power beside it" {
  agrees companions
}

@test "every importer has an independent reader" {
  "$DLEST" list importers -f csv | tail -n +2 | cut -d, -f1 | sort >importers
  sed -n 's/^  agrees //p' "$BATS_TEST_FILENAME" | grep -vx companions |
    sort >compared
  diff -u importers compared
}

@test "249 measured traces and their memory logs agree" {
  [ -f "$MEASURED_RUNS/seaa2023/runs.csv" ] ||
    skip "no traces in '$MEASURED_RUNS/seaa2023'"
  run python3 "$TOP_SRCDIR/tests/reference/integrate/check_energies.py" \
    "$DLEST" --traces "$MEASURED_RUNS/seaa2023/traces"
  echo "$output"
  [ "$output" = "249 traces, 249 memory logs, 0 differ" ]
}
