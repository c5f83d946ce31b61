#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The catalogue of accelerators against public tables of them.

load ../common

HARDWARE=$MEASURED_RUNS/hardware

# tables MODE: runs the tool on the tables
tables() {
  python3 "$TOP_SRCDIR/data/make/accelerators-from-csv.py" "$1" \
    "$DLEST_DATADIR/data" \
    "$HARDWARE/epoch_ml_hardware.csv" "$HARDWARE/gpu_info_api_flat_NOISY.csv" \
    "$HARDWARE/mlco2_gpus.csv" "$HARDWARE/greenalgorithms_TDP_gpu.csv" \
    "$HARDWARE/butter_e_nvidia_gpu_processors.csv" \
    "$HARDWARE/${2-codecarbon_amd_server_cpus.csv}" >out
}

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  [ -f "$HARDWARE/epoch_ml_hardware.csv" ] || skip "no tables in '$HARDWARE'"
  cd "$BATS_TEST_TMPDIR"
}

@test "two sources agree on TDP, memory and bandwidth of 100 entries" {
  tables --compare
  n=$(sed -n 's/^\([0-9]*\) with two independent sources.*/\1/p' out)
  [ "$n" -ge 100 ]
  [ "$(grep -c ': settled; ' out)" -eq "$n" ]
  grep -qx '0 differences that no note explains' out
  # Known errors of the tables are seen as such.
  grep -q '^gtx-750: .*mlco2 has 250, explained' out
  grep -q '^a10g: .*mlco2 has 150, explained' out
}

@test "the TDP of processors is that of CodeCarbon's table" {
  tables --compare codecarbon_cpu_tdp.csv
  grep -qx '0 differences that no note explains' out
  # one for each processor that both have
  n=$(grep -c '^\(xeon\|core\|epyc\|ryzen\|threadripper\).*tdp_w [0-9]*: .*codecarbon' out)
  [ "$n" -ge 50 ]
}

@test "a wrong value is seen" {
  sed '/id="t4"/,/<.entry>/s/>70</>700</' \
    "$DLEST_DATADIR/data/accelerators.xml" >wrong.xml
  mkdir -p data
  mv wrong.xml data/accelerators.xml
  cp "$DLEST_DATADIR/data/cpus.xml" data
  DLEST_DATADIR=. tables --compare
  grep -q '^t4: open; tdp_w 700: - (epoch has 70, UNEXPLAINED)' out
}

@test "proposed entries are a catalogue" {
  tables --propose
  cp out proposed.xml
  try check proposed.xml --format json
  check '.files[0].kind == "accelerator" and .files[0].entries > 10'
  # none of them is known already
  check '[.findings[] | select(.level == "warning")] == []'
}
