#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: logs and tables that were appended to: later headers, and parts
# with nothing between. Expected energies follow from the powers and times.

load ../common
load logs

# Logs that were begun again: 100 W for 100 s and 300 W for 50 s.

@test "a log appended on another day" {
  { echo "$HEADER"; samples 101 100; echo "$HEADER"
    samples 51 300 | sed s/03-05/03-06/; } >a.csv
  # the mean of both for 86,300 s
  gives 0 "dlest: warning: a.csv:104: $(message gap_not_bridged '23 h 58 min' 4.79)" \
    extract a.csv -f csv
  is gpu_energy_j 25000
  is duration_s 150
  is missing 0
  sed '103d' a.csv >b.csv # without the header
  gives 0 "dlest: warning: b.csv:103: $(message gap_not_bridged '23 h 58 min' 4.79)" \
    extract b.csv -f csv
  is gpu_energy_j 25000
  gives 0 "dlest: warning: a.csv:104: $(message gap '23 h 58 min' bridged)" \
    extract --gaps bridge a.csv -f csv
  is gpu_energy_j 17285000
  is duration_s 86450
  gives 0 "dlest: warning: a.csv:104: $(message gap '23 h 58 min' cut)" \
    extract --gaps cut a.csv -f csv
  is gpu_energy_j 25000
  is duration_s 150
  gives 0 '' extract --max-gap 24h a.csv -f csv
  is duration_s 86450
}

@test "a later header makes a new part of what follows a short gap" {
  { echo "$HEADER"; samples 101 100; echo "$HEADER"; samples 51 300 400; } >a.csv
  # 200 W for 300 s are 0.0167 kWh
  gives 0 "dlest: warning: a.csv:104: $(message gap_not_bridged '5 min 00 s' 0.0167)" \
    extract a.csv -f csv
  is gpu_energy_j 25000
  sed 103d a.csv >b.csv
  gives 0 "dlest: warning: b.csv:103: $(message gap '5 min 00 s' bridged)" \
    extract b.csv -f csv
  is gpu_energy_j 85000
  { echo "$HEADER"; samples 101 100; echo "$HEADER"; samples 51 100 101; } >c.csv
  gives 0 '' extract c.csv -f csv
  is gpu_energy_j 15100
}

@test "several GPUs, epochs and memory of a log that was begun again" {
  { echo timestamp,index,power.draw; awk 'BEGIN { for (day = 5; day < 7; day++)
      for (s = 0; s <= 60; s++) for (gpu = 0; gpu < 2; gpu++)
        printf "2024-03-0%d 10:%02d:%02d.%d00,%d,%d\n", day, s / 60, s % 60,
          gpu, gpu, 100 + 100 * gpu }'; } >gpu-7.csv
  memory mem-7.csv 61 8000 # 3 W
  sed '1d; s/03-05/03-06/' mem-7.csv >more
  cat more >>mem-7.csv
  printf '%s\n' epoch,end_time 1,2024-03-05T10:00:30 2,2024-03-05T10:01:00 \
    3,2024-03-06T10:00:30 4,2024-03-06T10:01:00 >gpu-7-epochs.csv
  # 300 W and 3 W for 86,340 s
  gives 0 "dlest: warning: gpu-7.csv:124: $(message gap_not_bridged \
    '23 h 59 min' 7.19)" extract gpu-7.csv mem-7.csv gpu-7-epochs.csv -f csv
  is duration_s 120.2 # from the first sample of GPU 0 to the last of GPU 1
  is gpu_energy_j 36030 # 120.1 s of each
  [ "$(cell ram_energy_j | cut -c1-5)" = 360.3 ]
  [ "$(cell epochs)" -eq 4 ]
  "$DLEST" extract --epochs gpu-7.csv mem-7.csv gpu-7-epochs.csv -f json \
    2>/dev/null >out
  check '[.epochs[] | select(.part == "epoch") | .duration_s] | all(. >= 29.9 and . <= 30.1)'
}

# 100 W throughout: the counter goes on, and the run with it; or the counter
# stands for what others did in between, at 20 W.
@test "an energy counter across a hole" {
  counter() { # WATTS within the hole of an hour
    awk -v w="$1" 'BEGIN { print "t_s,gpu_energy_j"
      for (t = 0; t <= 100; t++) print t "," 5000 + 100 * t
      for (t = 0; t <= 100; t++) print 3700 + t "," 15000 + 3600 * w + 100 * t }'
  }
  counter 100 >a.csv
  gives 0 "dlest: warning: a.csv:103: $(message gap '1 h 00 min' bridged)" \
    extract a.csv -f csv
  is gpu_energy_j 380000
  is duration_s 3800
  counter 20 >a.csv
  gives 0 "dlest: warning: a.csv:103: $(message gap_not_bridged '1 h 00 min' 0.02)" \
    extract a.csv -f csv
  is gpu_energy_j 20000
  is duration_s 200
}

# Every 400 s at 100 W, 02:00 is 03:00.
@test "daylight saving with samples far apart" {
  { echo timestamp,gpu_power_w; for t in 00:00:00 00:06:40 00:13:20 00:20:00 \
    00:26:40 00:33:20 00:40:00 00:46:40 00:53:20 01:00:00 01:06:40 01:13:20 \
    01:20:00 01:26:40 01:33:20 01:40:00 01:46:40 01:53:20 03:00:00 03:06:40; do
    echo "2024-03-31T$t,100"; done; } >a.csv
  gives 0 "dlest: warning: a.csv:20: $(message clock_set_ahead_by)" \
    extract a.csv -f csv
  is gpu_energy_j 760000 # 19 x 400 s
}

# Later headers

@test "later headers of logs that are joined" {
  log gpu-7.csv 11 100
  memory mem-7.csv 6 8000 # 3 W, then 6 W
  { echo 'memory usage (MB),timestamp,cpu usage (%)'
    for s in 06 07 08 09 10; do echo "16000,2024-03-05 10:00:$s.100,25"; done
  } >>mem-7.csv
  printf '%s\n' epoch,end_time 1,2024-03-05T10:00:05 end_time,loss,epoch \
    2024-03-05T10:00:10,.5,2 >gpu-7-epochs.csv
  gives 0 '' extract gpu-7.csv mem-7.csv gpu-7-epochs.csv -f csv
  is ram_energy_j 43.5 # 5 x 3 + 4.5 + 4 x 6
  is epochs 2
}
