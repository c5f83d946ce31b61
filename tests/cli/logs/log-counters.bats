#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: energy counters that wrap around, fall or contradict the power, and
# limits of several GPUs.
# Expected energies follow from the powers and times in the logs.

load ../common
load logs

# energies COLUMN VALUE...: one a second
energies() {
  awk -v OFS=, 'BEGIN { print "timestamp", ARGV[1]
    for (i = 2; i < ARGC; i++) print 1709631000 + i, ARGV[i] }' "$@"
}

@test "energies of intervals are no counter" {
  printf '%s\n' time_s,gpu_energy_j 0,500 5,500 10,500 15,500 >a.csv
  try extract a.csv -f csv
  grep -qF "$(message energy_no_counter 'never changes')" err
  is gpu_energy_j ''
  printf '%s\n' time_s,gpu_energy_j 0,500 5,510 10,490 15,500 20,480 25,505 \
    30,495 35,490 >a.csv
  # each of the interval that ends with its row: 510 + 490 + ... J in 35 s
  gives 0 "dlest: warning: a.csv:1: $(message falls_as_no_counter gpu_energy_j)" \
    extract a.csv -f csv
  is gpu_energy_j 3470
  # with a power beside it
  printf '%s\n' time_s,gpu_energy_j,gpu_power_w 0,500,100 5,500,100 \
    10,500,100 >a.csv
  try extract a.csv -f csv
  is gpu_energy_j 1000
}

@test "a counter that contradicts the power is not used" {
  # 99 s at 200 W are 19.8 kJ; a reading of the counter is wrong, or its unit
  counted() { # JOULES PER COUNT, COUNT OF LINE 50
    awk -v unit="$1" -v wrong="$2" 'BEGIN {
      print "timestamp,gpu_energy_j,gpu_power_w"
      for (i = 0; i < 100; i++)
        printf "%d,%.0f,200\n", 1709631000 + i,
          i == 50 && wrong != "" ? wrong : 5e6 + i * 200 * unit }' >log.csv
  }
  for how in '1 9e12' '1 1' 1000 0.001; do
    # shellcheck disable=SC2086
    counted $how
    try extract log.csv -f csv
    [ "$status" -eq 0 ]
    is energy_j 19800
    is counter_deviation ''
    grep -qF "$(message energy_no_counter 'contradicts the power')" err
  done
  # one that differs by as much as sensors do is used
  counted 1.2
  try extract log.csv -f csv
  is energy_j 23760
}

@test "a counter that wraps around" {
  # 600 s at 50 W, of a counter of 262,143.328850 J that is close to its end
  for every in 1 10 60; do
    awk -v every="$every" 'BEGIN { print "timestamp,cpu_energy_uj"
      for (t = 0; t <= 600; t += every)
        printf "%d,%.0f\n", 1709631000 + t,
          (262143328850 - 6525e6 + t * 50e6) % 262143328850 }' >log.csv
    line=$((130 / every + 3))
    gives 0 "dlest: warning: log.csv:$line: $(message counter_was_reset)" \
      extract log.csv -f csv
    is energy_j 30000
  done
}

# perf

@test "the power limit of all GPUs is unknown where that of one is" {
  smi() { # the limits of two GPUs that take 300 W each
    echo 'timestamp, index, power.draw [W], power.limit [W]'
    for s in 0 1 2 3; do
      echo "2024/03/05 09:30:0$s.000, 0, 300.00 W, $1"
      echo "2024/03/05 09:30:0$s.000, 1, 300.00 W, $2"
    done
  }
  smi '400.00 W' '400.00 W' >a.csv
  smi '[N/A]' '400.00 W' >b.csv
  smi '400.00 W' '[N/A]' >c.csv
  gives 0 '' extract a.csv b.csv c.csv -f json
  check '[.runs[].gpu_limit_w] == [800, null, null]'
}

@test "power stands in for a counter that stops or is missing" {
  # 299 s at 200 W; the counter has half of them
  for last in 'i < 150 ? i * 200 : 29800' 'i < 150 ? i * 200 : ""' \
    'i >= 150 ? i * 200 : ""'; do
    awk 'BEGIN { print "timestamp,gpu_power_w,gpu_energy_j"
      for (i = 0; i < 300; i++) print 1709631000 + i ",200," ('"$last"') }' \
      >log.csv
    try extract log.csv -f csv
    [ "$status" -eq 0 ]
    grep -q "$(message counter_stands_still '2 min [23][0-9] s')" err
    is energy_j 59800
  done
}

@test "energies of intervals beside the power, and counters of assumed times" {
  awk 'BEGIN { print "timestamp,gpu_power_w,gpu_energy_kwh"
    for (i = 0; i < 9; i++)
      printf "%d,%d,%.9f\n", 1709631000 + i, 200 + i, (200 + i) / 3.6e6 }' >a.csv
  gives 0 "dlest: warning: a.csv: $(message energy_no_counter \
    'is that of each interval')" extract a.csv -f csv
  is energy_j 1632 # 8 s at 204 W
  { echo '#Entity POWER TOTEC'
    for i in $(seq 60); do echo "GPU 0 200.0 $((12345678901 + i * 20000))"; done
  } >log.txt # 200 W each .1 s
  gives 0 "dlest: warning: $(message no_times_in_this log.txt)
dlest: warning: log.txt: $(message counter_gives_interval 0.1)" \
    extract log.txt -f csv
  is energy_j 1180
}

# 250 and 200 J in turn, but for those of the first row, whose beginning is unknown.
@test "energies of intervals without a power are summed" {
  local n
  for n in 5 8 30; do
    awk -v n=$n 'BEGIN { print "timestamp,gpu_energy_j"
      for (i = 0; i < n; i++)
        print 1709631000 + i "," (i % 2 ? 250 : 200) }' >a.csv
    gives 0 "dlest: warning: a.csv:1: $(message falls_as_no_counter \
      gpu_energy_j)" extract a.csv -f csv
    is gpu_energy_j $(((n - 1) / 2 * 450 + (n - 1) % 2 * 250))
  done
  # by their name, although they rise
  energies gpu_energy_delta_j 100 101 102 103 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 306
  # counters of GPUs in turn fall only from one to the next: 100 + 200 W, 19 s
  awk 'BEGIN { print "timestamp,gpu_energy_j"
    for (i = 0; i < 20; i++)
      printf "%d.100,%d\n%d.102,%d\n", 1709631000 + i, 90000 + 100 * i,
        1709631000 + i, 200 * i }' >a.csv
  try extract a.csv -f csv
  is gpu_energy_j 5700
  # nothing tells these from a counter but the power, of 1 W
  energies gpu_energy_j 100 101 102 103 >a.csv
  gives 0 "dlest: warning: a.csv: $(message energy_hardly_rises 3)" \
    extract a.csv -f csv
}

# Each row is the mean since the row before: 300 W and 200 W for a second each;
# trapezoids would give 200 + 250 J.
@test "a smart plug's coarse counter" {
  # 300 s at 305 W are 91,500 J; the counter has whole steps of 0.001 or 0.01 kWh
  plug() { # KWH COLUMNS
    awk -v step="$1" -v columns="$2" 'BEGIN { print columns
      for (i = 0; i <= 300; i++) {
        kwh = int((0.0123 + 305 * i / 3.6e6) / step) * step
        if (columns ~ /power/) printf "%d,305,%.3f\n", i, kwh
        else printf "%d,%.3f\n", i, kwh
      } }' >plug.csv
  }
  for step in 0.001 0.01; do
    plug "$step" time_s,node_power_w,node_energy_kwh
    gives 0 '' extract plug.csv -f csv
    # but for a second before its first move and one after its last
    awk -v j="$(cell energy_j)" "BEGIN { exit !(j >= 91500 - 305 && j <= 91500 + 305) }"
  done
  plug 0.01 time_s,node_energy_kwh # 0.01 to 0.03 kWh
  gives 0 "dlest: warning: plug.csv: $(message counter_is_coarse 3.6e+04 50)" \
    extract plug.csv -f csv
  is energy_j 72000
}

@test "energies of runs, one a row, that look like a counter" {
  printf '%s\n' timestamp,model,gpu_energy_kwh '2024-03-05 10:00:00,resnet18,0.5' \
    '2024-03-05 10:02:00,resnet50,0.51' '2024-03-05 10:05:00,vgg16,0.53' >a.csv
  gives 0 "dlest: warning: a.csv:1: $(message counter_of_named_rows model \
    gpu_energy_kwh)" extract a.csv -f csv
  printf '%s\n' timestamp,gpu_energy_kwh '2024-03-05 10:00:00,0.5' \
    '2024-03-05 12:00:00,0.6' '2024-03-05 14:00:00,0.8' >a.csv
  gives 0 "dlest: warning: a.csv: $(message counter_seldom_read '2 h 00 min')" \
    extract a.csv -f csv
  # as the message says
  printf '%s\n' run_id,duration_s,gpu_energy_kwh a,3600,0.5 b,3600,0.6 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 1800000
  is gpu_energy_j 2160000 2
}

@test "turbostat: means of intervals count as such" {
  printf '%s\t%s\n' Time_Of_Day_Seconds PkgWatt 1709715600.0 100.0 \
    1709715601.0 300.0 1709715602.0 200.0 >a.txt
  gives 0 '' extract a.txt -f csv
  is energy_j 500
}
