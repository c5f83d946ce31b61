#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Carbon intensity by the hour: means are computed by Python from the hours.

load ../common

# hours FILE [STEP_MINUTES]: 96 hours from 2024-03-05 UTC; 400 by day, 100 by
# night, and a little of each hour's own
hours() {
  python3 - "$1" <<'PY'
import sys
with open(sys.argv[1], "w") as out:
    print("timestamp,g_per_kwh", file=out)
    for h in range(96):
        g = (400 if 6 <= h % 24 < 22 else 100) + h % 5
        print(f"2024-03-{5 + h // 24:02}T{h % 24:02}:00Z,{g}", file=out)
PY
}

# mean FROM_H LENGTH_H: of those
mean() {
  python3 - "$1" "$2" <<'PY'
import sys
at, length = map(float, sys.argv[1:])
g = [(400 if 6 <= h % 24 < 22 else 100) + h % 5 for h in range(96)]
print(sum(g[h] * max(0, min(at + length, h + 1) - max(at, h))
          for h in range(96)) / length)
PY
}

# best FROM_H WITHIN_H LENGTH_H: the lowest mean of starts at whole hours
best() {
  local at least='' g
  for at in $(seq "$1" $(($1 + $2))); do
    g=$(mean "$at" "$3")
    if [ -z "$least" ] || python3 -c "exit(not $g < $least)"; then least=$g start=$at; fi
  done
  echo "$start $least"
}

job=(predict -a resnet50 -g a100 -n 8 --epochs 90 --intensity-hours hours.csv)

@test "a run at its start, by the time of the estimate" {
  hours hours.csv
  gives 0 '' "${job[@]}" --start 2024-03-05T20:00Z -q -f json
  length=$(jq '[.recommended as $m | .estimates[] | select(.method == $m)][0] |
    .duration_s / 3600' out)
  near '.intensity_g_kwh' "$(mean 20 "$length")"
  check '.start_time == "2024-03-05T20:00:00Z"'
  near '.estimates[] | select(.method == "physical") |
    .co2e_g / (.energy_j / 3.6e6)' "$(mean 20 "$length")"
  # in another zone
  gives 0 '' "${job[@]}" --start 2024-03-05T21:00+01:00 -q -f json
  near '.intensity_g_kwh' "$(mean 20 "$length")"
}

@test "the best start within a time" {
  hours hours.csv
  gives 0 '' "${job[@]}" --start 2024-03-05T12:00Z --start-within 24h -q -f json
  length=$(jq '[.recommended as $m | .estimates[] | select(.method == $m)][0] |
    .duration_s / 3600' out)
  read -r start least < <(best 12 24 "$length")
  near '.intensity_g_kwh' "$least"
  near '.given_start_intensity_g_kwh' "$(mean 12 "$length")"
  [ "$(jq -r .start_time out)" = \
    "$(date -u -d "2024-03-05 + $start hours" +%Y-%m-%dT%H:%M:%SZ)" ]
}

@test "jobs and logs by the hour" {
  hours hours.csv
  printf '%s\n' run_id,user,gpu,n_gpus,duration_s,energy_j,start_time \
    a,u,a100,1,36000,7200000,2024-03-05T10:30:00Z \
    b,v,a100,1,5400,3600000,2024-03-06T00:00:00+02:00 >jobs.csv
  gives 0 '' report jobs.csv --intensity-hours hours.csv --pue 1.5 --by job,user -f json
  near '.jobs[0].co2e_g' "$(python3 -c "print(3 * $(mean 10.5 10))")"
  near '.jobs[1].co2e_g' "$(python3 -c "print(1.5 * $(mean 22 1.5))")"
  near '.total.co2e_g' "$(python3 -c "print(3 * $(mean 10.5 10) + 1.5 * $(mean 22 1.5))")"
  near '[.groups[] | select(.user == "v")][0].co2e_g' \
    "$(python3 -c "print(1.5 * $(mean 22 1.5))")"
  gives 0 '' extract jobs.csv --intensity-hours hours.csv -f json
  near '.runs[0].co2e_g' "$(python3 -c "print(2 * $(mean 10.5 10))")"
  # a trace: 1 kW up to 22:00, then 3 kW for half an hour
  { echo timestamp,node_power_w
    for i in $(seq 0 59); do echo "2024-03-05T21:$(printf %02d "$i"):00Z,1000"; done
    for i in $(seq 0 30); do echo "2024-03-05T22:$(printf %02d "$i"):00Z,3000"; done
  } >log.csv
  gives 0 '' extract log.csv --intensity-hours hours.csv -f json
  near '.runs[0].co2e_g' "$(python3 -c "
print(59 / 60 * 401 + 2 / 60 * 401 + 1.5 * 102)")"
}

@test "recommend: each choice by its own time" {
  hours hours.csv
  gives 0 '' recommend -a resnet50 -g a100,v100 --epochs 20 -q -f json \
    --intensity-hours hours.csv --start 2024-03-05T20:00Z --all
  check '.choices | length > 2'
  for i in 0 1 2; do
    length=$(jq ".choices[$i].duration_s / 3600" out)
    near ".choices[$i] | .co2e_g / (.energy_j / 3.6e6)" "$(mean 20 "$length")"
  done
}

@test "gaps and times outside the file are refused" {
  hours hours.csv
  refuses 3 "dlest: hours.csv: $(message no_intensity_at 2024-03-04T23:00:00Z \
    2024-03-05T00:00:00Z 2024-03-09T00:00:00Z '')" \
    "${job[@]}" --start 2024-03-04T23:00Z -q
  refuses 3 "dlest: hours.csv: $(message no_intensity_at 2024-03-09T00:00:00Z \
    2024-03-05T00:00:00Z 2024-03-09T00:00:00Z '')" \
    "${job[@]}" --start 2024-03-08T23:00Z -q
  sed -i '/T23:00Z/d' hours.csv
  refuses 3 "dlest: hours.csv: $(message no_intensity_at 2024-03-05T23:00:00Z \
    2024-03-05T00:00:00Z 2024-03-08T23:00:00Z ', with a gap there')" \
    "${job[@]}" --start 2024-03-05T22:00Z -q
  refuses 2 "dlest: $(message hours_need_a_start)" "${job[@]}"
  try "${job[@]}" --start soon
  [ "$status" -eq 2 ]
  try predict -a resnet50 -g a100 --start 2024-03-05T12:00Z
  [ "$status" -eq 2 ]
  try "${job[@]}" --start 2024-03-05T12:00Z --country DE
  [ "$status" -eq 2 ]
  printf 'time,value\n2024-03-05T00:00Z,5\n2024-03-05T01:00Z,5\n' >hours.csv
  refuses 3 "dlest: hours.csv:1: $(message no_hours_columns)" \
    "${job[@]}" --start 2024-03-05T00:00Z
  printf 'time,g_per_kwh\n2024-03-05T01:00Z,5\n2024-03-05T00:00Z,5\n' >hours.csv
  refuses 3 "dlest: hours.csv:3: $(message hours_not_sorted 2024-03-05T00:00Z)" \
    "${job[@]}" --start 2024-03-05T00:00Z
  printf 'time,g_per_kwh\n2024-03-05T00:00Z,much\n2024-03-05T01:00Z,5\n' >hours.csv
  refuses 3 "dlest: hours.csv:2: $(message no_carbon_intensity much)" \
    "${job[@]}" --start 2024-03-05T00:00Z
  # Times at whose distances 64 bits of nanoseconds would overflow
  for times in '1700-01-01 2024-03-05' '2024-03-05 2200-01-01'; do
    # shellcheck disable=SC2086
    printf 'time,g_per_kwh\n%s,5\n%s,5\n' $times >hours.csv
    try "${job[@]}" --start 2024-03-05T00:00Z
    [ "$status" -eq 3 ]
    grep -q "invalid time '" err
  done
  printf 'time,g_per_kwh\n1970-01-02,5\n2115-01-01,5\n2115-12-01,5\n' >hours.csv
  for start in 1980-01-01T00:00Z 2117-01-01T00:00Z 2261-12-31T00:00Z; do
    try "${job[@]}" --start $start
    [ "$status" -eq 3 ]
    grep -q "no carbon intensity at ${start%%-*}" err
  done
  gives 0 '' "${job[@]}" --start 2115-12-02T00:00Z -q -f json
}

# Columns as the portals name them; 24 h of 200 g/kWh.
@test "files of Electricity Maps, WattTime, NESO and ENTSO-E" {
  of() { # HEADER FORMAT_OF_TIME FORMAT_OF_ROW
    { echo "$1"
      for h in $(seq 0 30); do
        # shellcheck disable=SC2059
        printf "$3\n" "$(date -u -d "2024-03-05 + $h hours" +"$2")"
      done
    } >hours.csv
    try predict -a resnet50 -g a100 -n 8 --epochs 10 --intensity-hours hours.csv \
      --start 2024-03-05T03:00Z -f json
    [ "$status" -eq 0 ]
    near .intensity_g_kwh "$4"
  }
  of 'Datetime (UTC),Country,Zone name,Carbon intensity gCO₂eq/kWh (direct),Carbon intensity gCO₂eq/kWh (Life cycle)' \
    '%Y-%m-%d %H:%M:%S' '%s,Germany,Germany,150,200' 200
  of 'point_time,value' '%Y-%m-%dT%H:%M:%S+00:00' '%s,440.925' "$(python3 -c 'print(440.925 * 0.45359237)')"
  of 'DATETIME,GAS,CARBON_INTENSITY' '%Y-%m-%d %H:%M:%S' '%s,9000,200' 200
  grep -qF "$(message hours_without_a_zone)" err
  of 'from,to,forecast,actual,index' '%Y-%m-%dT%H:%MZ' '%s,,150,200,moderate' 200
  of 'MTU (UTC);kgCO2/MWh' '%d.%m.%Y %H:%M - 23:59' '%s;200,0' 200
}
