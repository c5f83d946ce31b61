#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Emissions of what is recorded, by the hour. The made driver draws 450 W.

load ../common
load record

# hours FROM STEP G...: intensities from now on, each for STEP s, in hours.csv
hours() {
  local at=$(($(date +%s) + $1)) step=$2
  shift 2
  echo 'datetime (UTC),Carbon intensity gCO2eq/kWh (direct)' >hours.csv
  for g in "$@"; do
    echo "$(date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ),$g"
    at=$((at + step))
  done >>hours.csv
}

@test "emissions of a recording by the hour" {
  hours -3600 1800 100 200 300 400 500
  "$DLEST" record --interval 50ms --no-trace --intensity-hours hours.csv \
    --pue 1.5 -o runs.csv -- sleep 1 2>err
  grep -q '^  CO2e .* 300 g/kWh, hours.csv$' err
  # of the row before the PUE, as of 'dlest extract'
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { x = $at["co2e_g"] / ($at["energy_j"] / 3.6e6) - 300
      exit !(x > -0.01 && x < 0.01) }' runs.csv
  record --no-trace --intensity-hours hours.csv --pue 1.5
  within 0.999 "$(jq '.co2e_g / (.energy_kwh * 1.5 * 300)' out)" 1.001
  [ "$(jq -r .intensity_of out)" = hours.csv ]
}

# Steps of 1 s of 0 and 1000 g/kWh: 4 s at constant power have the half.
@test "each hour counts by its energy" {
  hours -10 1 0 1000 0 1000 0 1000 0 1000 0 1000 0 1000 0 1000 0 1000 0 1000 \
    0 1000 0 1000 0 1000 0 1000 0 1000 0 1000
  "$DLEST" record --interval 50ms --no-trace --duration 4s --format json \
    --intensity-hours hours.csv >out
  within 450 "$(jq .intensity_g_kwh out)" 550
}

@test "the file may grow meanwhile" {
  hours -2 2 100 100 100 100 100
  mv hours.csv longer.csv
  head -n 3 longer.csv >hours.csv # two more seconds
  "$DLEST" record --interval 50ms --no-trace --intensity-hours hours.csv -- \
    sh -c 'cp longer.csv hours.csv; sleep 3' 2>err
  grep -q '^  CO2e .* 100 g/kWh, hours.csv$' err
}

@test "a recording that the file does not have whole keeps its energy" {
  hours -3600 1800 100 200 300 400 500
  cp hours.csv all.csv
  head -n 3 all.csv >short.csv
  "$DLEST" record --interval 50ms --no-trace --intensity-hours hours.csv -- \
    sh -c 'cp short.csv hours.csv; sleep 0.5' 2>err
  grep -qF "$(message hours_unknown)" err
  grep -q '^  Energy ' err
  [ "$(grep -c '^  CO2e ' err)" -eq 0 ]
  # Before it begins, that is an error.
  try record --no-trace --intensity-hours short.csv -- touch begun
  [ "$status" -eq 3 ]
  grep -q 'short.csv: no carbon intensity at ' err
  [ ! -e begun ]
  try record --no-trace --intensity-hours all.csv --country DE -- touch begun
  [ "$status" -eq 2 ]
}

@test "assumed energy has the mean of its hours" {
  hours -3600 1800 100 200 300 400 500
  FAKE_NVML_DENIED=1 "$DLEST" record --interval 100ms --no-trace --cpu-tdp 100 \
    --duration 1s --intensity-hours hours.csv --format json >out 2>err
  within 299 "$(jq .intensity_g_kwh out)" 301
  jq -e '.assumed_co2e_g >= 0' out
}
