#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: logs that once gave a wrong energy without a word. Expected
# energies follow from the powers and times in the logs.

load ../common
load logs

# watts N W [FROM]: the lines of a PTDaemon log at 10:00:00 + FROM s, 1 Hz
watts() {
  awk -v n="$1" -v w="$2" -v from="${3:-0}" 'BEGIN { for (i = 0; i < n; i++) {
    t = 36000 + from + i
    printf "Time,03-05-2024 %02d:%02d:%02d.000,Watts,%.2f,Volts,230\n",
      t / 3600, t / 60 % 60, t % 60, w } }'
}

# Companions

@test "a companion of a part of the run has no part in its energy" {
  log gpu.csv 361 200 # 72 kJ
  watts 61 500 >node.txt
  gives 0 "dlest: warning: node.txt: $(message covers_run_energy_left 60 360)" \
    extract gpu.csv node.txt -f csv
  is gpu_energy_j 72000
  is energy_j 72000
  is node_energy_j ''
  is rest_energy_j ''
  is boundary gpu
  # the same for CPUs: perf with intervals, without, and turbostat
  for i in $(seq 60); do
    echo "     $i.000000000      50.00 Joules power/energy-pkg/"
  done >perf.txt
  gives 0 "dlest: warning: perf.txt: $(message covers_run_energy_left 60 360)" \
    extract gpu.csv perf.txt -f csv
  is energy_j 72000
  is cpu_energy_j ''
  printf '%s\n' "          3,000.00 Joules power/energy-pkg/" "" \
    "      60.001 seconds time elapsed" >perf.txt
  gives 0 "dlest: warning: perf.txt: $(message covers_run_energy_left 60.001 \
    360)" extract gpu.csv perf.txt -f csv
  is energy_j 72000
  { echo PkgWatt; for i in $(seq 61); do echo 50.00; done; } >turbostat.txt
  try extract gpu.csv turbostat.txt --interval 1s -f csv
  [ "$status" -eq 0 ]
  grep -qF "$(message covers_run_energy_left 60 360)" err
  is energy_j 72000
}

@test "a companion that begins and ends a little apart counts" {
  log gpu.csv 361 200
  watts 355 500 3 >node.txt # from 3 s to 357 s: 98.3 %
  gives 0 '' extract gpu.csv node.txt -f csv
  is node_energy_j 177000
  is energy_j 177000
  is rest_energy_j 105000
}

@test "a companion of another day is skipped with a warning" {
  log gpu.csv 61 200
  watts 61 500 | sed 's/03-05/03-07/' >node.txt
  gives 0 "dlest: warning: node.txt: $(message no_sample_at_time)" \
    extract gpu.csv node.txt -f csv
  is energy_j 12000
  memory mem.csv 61 8000
  sed -i s/2024-03-05/2024-03-07/ mem.csv
  try extract gpu.csv mem.csv -f csv
  [ "$status" -eq 0 ]
  is energy_j 12000
  is ram_energy_j ''
  sed -i s/2024-03-07/2024-03-03/ mem.csv
  gives 0 "dlest: warning: mem.csv: $(message no_sample_at_time)" \
    extract gpu.csv mem.csv -f csv
  is energy_j 12000
  is boundary gpu
}

# Gaps, clocks and missing values

@test "a gap behind the first sample is one" {
  { echo "$HEADER"; samples 1 200; samples 61 200 3600; } >a.csv
  # 200 W for an hour
  gives 0 "dlest: warning: a.csv:3: $(message gap_not_bridged '1 h 00 min' 0.2)" \
    extract a.csv -f csv
  is gpu_energy_j 12000
  is duration_s 60
  gives 0 "dlest: warning: a.csv:3: $(message gap '1 h 00 min' bridged)" \
    extract --gaps bridge a.csv -f csv
  is gpu_energy_j 732000
  gives 0 "dlest: warning: a.csv:3: $(message gap '1 h 00 min' cut)" \
    extract --gaps cut a.csv -f csv
  is gpu_energy_j 12000
}

@test "a clock set back by less than a minute" {
  local decimal=([59]=.0 [30]=.0 [5]=.00) # three digits
  for back in 59 30 5; do
    { echo "$HEADER"; samples 300 100; samples 301 100 $((300 - back)); } >a.csv
    gives 0 "dlest: warning: a.csv:302: $(message clock_set_back_by_carried \
      "$((back - 1))${decimal[back]} s" '1.00 s')" extract a.csv -f csv
    is duration_s 600
    is gpu_energy_j 60000
    is missing 0
  done
  # 8 GPUs
  awk 'BEGIN { print "timestamp, index, power.draw [W]"
    for (i = 0; i <= 600; i++) for (g = 0; g < 8; g++) {
      t = 36000 + i - (i >= 300 ? 59 : 0)
      printf "2024-03-05 %02d:%02d:%02d.%03d, %d, 100.00 W\n", t / 3600,
        t / 60 % 60, t % 60, g, g } }' >b.csv
  try extract b.csv -f csv
  [ "$status" -eq 0 ]
  is gpu_energy_j 480000
}

@test "lines that are late are no clock" {
  { echo "$HEADER"; samples 600 100; } >a.csv
  # every tenth line stands 8 lines behind its place
  { head -1 a.csv
    tail -n +2 a.csv | awk 'NR % 10 == 0 { keep = $0; at = NR + 8; next }
      { print } NR == at { print keep }
      END { if (at > NR) print keep }'; } >b.csv
  gives 0 '' extract b.csv -f csv
  is gpu_energy_j 59900
}

@test "no power in a part of the log" {
  { echo "$HEADER"; samples 60 100
    samples 60 100 60 | sed 's/100.00 W/[N\/A]/'; } >a.csv
  gives 0 "dlest: warning: a.csv: $(message meter_has_values 0 59 119)" \
    extract a.csv -f csv
  is gpu_energy_j 5900
}

@test "one impossible sample" {
  { echo "$HEADER"; samples 30 100; samples 1 99999 30; samples 30 100 31; } \
    >a.csv
  gives 3 "dlest: warning: a.csv:32: $(message power_single_sample 99999)
dlest: 1 row skipped" extract a.csv -f csv || true
  [ "$status" -eq 3 ]
  is gpu_energy_j 6000
}

# Several GPUs without a column that identifies them

# gpus N ROUNDS MILLISECONDS HEADER [AWK]: N GPUs of 100, 110, 120 ... W once a
# second, rows of a round MILLISECONDS apart; AWK is a condition for rows
gpus() {
  echo "$4"
  awk -v n="$1" -v rounds="$2" -v ms="$3" 'BEGIN {
    for (i = 0; i < rounds; i++) for (g = 0; g < n; g++) {
      row++
      t = 36000000 + i * 1000 + g * ms
      if ('"${5:-1}"') printf "2024-03-05 %02d:%02d:%02d.%03d, %.2f W\n",
        t / 3600000, t / 60000 % 60, t / 1000 % 60, t % 1000, 100 + 10 * g } }'
}

@test "GPUs without an index are distinguished by their turns" {
  smi='timestamp, power.draw [W]'
  four=$(message gpus_distinguished_by 4)
  for ms in 0 5 150; do
    gpus 4 561 $ms "$smi" >a.csv # (100 + 110 + 120 + 130) W * 560 s
    gives 0 "dlest: warning: a.csv:1: $four" extract a.csv -f csv
    is n_gpus 4
    is gpu_energy_j 257600
  done
  # one row is missing: those behind it in the round may count for others
  for row in 50 1000 1001 1003 1004; do
    gpus 4 561 5 "$smi" "row != $row" >a.csv
    try extract a.csv -f csv
    [ "$status" -eq 0 ]
    [ "$(cat err)" = "dlest: warning: a.csv:1: $four
dlest: warning: a.csv:2244: $(message rounds_lack_rows 1 560)" ]
    is n_gpus 4
    check_near 257600 31 # a row: at most 130 W - 100 W, for a second
  done
  # one GPU drops out for 100 s in the middle: its row is worth 110 W * 100 s,
  # and no more than the difference to the next ones is lost of it
  gpus 4 561 5 "$smi" 'i < 200 || i >= 300 || g != 1' >a.csv
  try extract a.csv -f csv
  grep -q "$(message rounds_lack_rows 100 560)" err
  is n_gpus 4
  check_near 257600 2021
  # it begins within a round: 2 GPUs lack a second
  gpus 4 561 5 "$smi" 'row > 2' >a.csv
  gives 0 "dlest: warning: a.csv:1: $four" extract a.csv -f csv
  is n_gpus 4
  is gpu_energy_j $((257600 - 100 - 110))
  # a short gap
  gpus 4 561 5 "$smi" 'i < 10 || i > 15' >a.csv
  gives 0 "dlest: warning: a.csv:1: $four" extract a.csv -f csv
  is n_gpus 4
  is gpu_energy_j 257600
}

@test "two or three rounds of GPUs without an index" {
  smi='timestamp, power.draw [W]'
  for n in 2 3; do
    gpus 4 "$n" 5 "$smi" >a.csv # (100 + 110 + 120 + 130) W * (n - 1) s
    gives 0 "dlest: warning: a.csv:1: $(message gpus_distinguished_by 4)" \
      extract a.csv -f csv
    is n_gpus 4
    is gpu_energy_j $((460 * (n - 1)))
  done
  # one GPU whose samples are unevenly spaced
  gpus 2 2 300 "$smi" >a.csv
  gives 0 '' extract a.csv -f csv
  is n_gpus 1
}

# check_near ENERGY DIFFERENCE
check_near() {
  cell gpu_energy_j | awk -v e="$1" -v d="$2" \
    '{ print; exit !($1 > e - d && $1 < e + d) }'
}

@test "samples at one time are of several GPUs, however few or uneven" {
  smi='timestamp, power.draw [W]'
  four=$(message gpus_distinguished_by 4)
  # (100 + 110 + 120 + 130) W, for 1 and 2 s; times of whole seconds may be
  # rounded ones of one GPU
  for rounds in 2 3; do
    gpus 4 $rounds 0 "$smi" | sed 's/\.000,/.250,/' >a.csv
    gives 0 "dlest: warning: a.csv:1: $four" extract a.csv -f csv
    is n_gpus 4
    is gpu_energy_j $((460 * (rounds - 1)))
    gpus 4 $rounds 0 "$smi" >a.csv
    gives 0 "dlest: warning: a.csv:1: $(message rows_come_in_groups)" \
      extract a.csv -f csv
  done
  # every second round lacks the third GPU
  gpus 4 561 0 "$smi" 'i % 2 == 0 || g != 2' | sed 's/\.000,/.250,/' >a.csv
  try extract a.csv -f csv
  [ "$(cat err)" = "dlest: warning: a.csv:1: $four
dlest: warning: a.csv:1965: $(message rounds_lack_rows 280 560)" ]
  is n_gpus 4
  check_near 257600 5601 # 130 W - 120 W, for 560 s
}

@test "one GPU stays one" {
  smi='timestamp, power.draw [W]'
  gpus 1 561 0 "$smi" >a.csv
  gives 0 '' extract a.csv -f csv
  is n_gpus 1
  gpus 1 561 0 "$smi" 'i % 20 < 17 && i % 31 != 3' >a.csv
  gives 0 '' extract a.csv -f csv
  is n_gpus 1
  is gpu_energy_j 56000
}

@test "a table of samples of several GPUs without an index" {
  gpus 4 561 5 'timestamp,gpu_power_w' | sed 's/ W$//' >a.csv
  gives 0 "dlest: warning: a.csv:1: $(message gpus_distinguished_by 4)" \
    extract a.csv -f csv
  is n_gpus 4
  is gpu_energy_j 257600
}

@test "GPUs whose number is unknown are warned about" {
  awk 'BEGIN { print "timestamp, power.draw [W]"; srand(3)
    for (i = 0; i < 90; i++) { n = i % 2 ? 3 : (i % 4 ? 4 : 2)
      for (g = 0; g < n; g++) { t = 36000000 + i * 1000 + g * 20
        printf "2024-03-05 %02d:%02d:%02d.%03d, 100.00 W\n", t / 3600000,
          t / 60000 % 60, t / 1000 % 60, t % 1000 } } }' >a.csv
  gives 0 "dlest: warning: a.csv:1: $(message rows_come_in_groups)" \
    extract a.csv -f csv
}

# Tables of samples

@test "a repeated header with columns in another order" {
  printf '%s\n' time_s,gpu_power_w,cpu_power_w 0,100,50 5,100,50 10,100,50 \
    time_s,cpu_power_w,gpu_power_w 15,50,100 20,50,100 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 2000
  is cpu_energy_j 1000
  printf '%s\n' time_s,gpu_power_w 0,200 5,200 10,200 gpu_power_w,time_s \
    200,15 200,19 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 3800
}

@test "times before the beginning are negative" {
  printf '%s\n' time_s,gpu_power_w -10,100 -5,100 0,100 5,100 10,100 >a.csv
  gives 0 '' extract a.csv -f csv
  is duration_s 20
  is gpu_energy_j 2000
}

@test "perf -x, with decimal commas" {
  printf '%s\n' '1012,74,Joules,power/energy-pkg/,1000000,100,00,,' \
    '99,10,Joules,power/energy-ram/,1000000,100,00,,' >perf.csv
  gives 0 '' extract perf.csv -f csv
  is cpu_energy_j 1012.74
  is ram_energy_j 99.1
  is duration_s ''
  for i in 1 2 3 4 5; do
    echo "$i.000123456,50,25,Joules,power/energy-pkg/,1000000,100,00,,"
  done >perf.csv
  gives 0 '' extract perf.csv -f csv
  is cpu_energy_j 251.25
  for i in 1 2 3 4 5; do
    for s in 0 1; do
      echo "$i.000123456,S$s,1,50,25,Joules,power/energy-pkg/,1000000,100,00,,"
    done
  done >perf.csv
  gives 0 '' extract perf.csv -f csv
  is cpu_energy_j 502.5
  # the same with a full stop, where a domain has a count
  sed 's/50,25/50.25/' perf.csv >plain.csv
  gives 0 '' extract plain.csv -f csv
  is cpu_energy_j 502.5
}

# Zones

@test "times with and without a zone in one log" {
  log a.csv 21 100
  sed -E '10,$s/^([^ ]*) ([^,]*),/\1T\2+02:00,/' a.csv >b.csv
  try extract b.csv -f csv
  [ "$status" -eq 3 ]
  grep -qF "$(message mixed_zones)" err
  is gpu_energy_j 700 # of the 8 rows without a zone
}

# Slurm

# sacct prints: two jobs of one node, 3.6 MJ and 1.8 MJ
jobs() {
  cat <<'END'
JobID|User|State|ElapsedRaw|Start|NNodes|ConsumedEnergyRaw
1|ann|COMPLETED|3600|2024-03-01T10:00:00|1|7200000
1.batch||COMPLETED|3600|2024-03-01T10:00:00|1|3500000
1.extern||COMPLETED|3600|2024-03-01T10:00:00|1|3600000
1.0||COMPLETED|3500|2024-03-01T10:01:00|1|3400000
2|bob|COMPLETED|1800|2024-03-01T12:00:00|1|3600000
2.batch||COMPLETED|1800|2024-03-01T12:00:00|1|1790000
2.extern||COMPLETED|1800|2024-03-01T12:00:00|1|1800000
END
}

sum_of_jobs() {
  try extract "$@" -f json
  [ "$status" -eq "${want:-0}" ] || { cat err; return 1; }
  check '.runs | map(.energy_j) | add == 5400000'
  check '.runs | length == 2'
}

@test "rows of a job count once" {
  jobs >a.txt
  sum_of_jobs a.txt
  # a row twice, all rows twice, the same file twice, exported twice
  sed '/1.extern/p' a.txt >b.txt
  sum_of_jobs b.txt
  sed p a.txt >b.txt
  sum_of_jobs b.txt
  cat a.txt a.txt >b.txt
  sum_of_jobs b.txt
  grep -qF "$(message rows_read_before)" err
  cp a.txt b.txt
  want=3 sum_of_jobs a.txt b.txt # none in the second
  try report a.txt b.txt -f json
  cp out twice
  try report a.txt -f json
  diff <(jq .total.energy_j twice) <(jq .total.energy_j out)
  # without a start
  cut -d'|' -f 1-4,6,7 a.txt >c.txt
  cat c.txt c.txt >d.txt
  sum_of_jobs d.txt
}

@test "steps apart from their job are refused" {
  { jobs | head -1; jobs | grep -E '^[12][|]'; jobs | grep -E '^[12][.]'; } >a.txt
  try extract a.txt -f json
  [ "$status" -eq 3 ]
  grep -qF "$(message row_of_job_apart 1)" err
  check '.runs | length == 2'
}

# carbontracker

@test "an epoch whose first line is corrupt is no part of the one before" {
  cat >ct_carbontracker.log <<'END'
2022-11-14 15:42:00 - carbontracker version 1.1.6
2022-11-14 15:42:00 - The following components were found: GPU with device(s) A.
2022-11-14 15:43:00 - Epoch 1:
2022-11-14 15:43:00 - Duration: 0:01:00.00
2022-11-14 15:43:00 - Average power usage (W) for gpu: [100]
2022-11-14 15:44:00 - Ep#ch 2:
2022-11-14 15:44:00 - Duration: 0:01:00.00
2022-11-14 15:44:00 - Average power usage (W) for gpu: [200]
2022-11-14 15:45:00 - Epoch 3:
2022-11-14 15:45:00 - Duration: 0:01:00.00
2022-11-14 15:45:00 - Average power usage (W) for gpu: [300]
2022-11-14 15:45:00 - Monitoring thread ended.
END
  gives 0 "dlest: warning: ct_carbontracker.log:7: \
$(message duration_without_its_epoch)" extract ct_carbontracker.log -f csv
  is epochs 3
  is gpu_energy_j 36000
}

# Tables of runs

@test "rows of a table of runs count once" {
  printf '%s\n' run_id,n_gpus,duration_s,energy_j a,1,10,100 b,1,10,200 >a.csv
  cat a.csv a.csv >b.csv
  gives 0 "dlest: warning: b.csv:5: $(message rows_read_before)" \
    extract b.csv -f json
  check '.runs | map(.energy_j) == [100, 200]'
  printf '%s\n' start_time,window_name,elapsed_time,gpu0_energy \
    1700000000,w,10,100 1700000020,w,10,100 >a.csv
  cat a.csv a.csv >b.csv
  try extract b.csv -f json
  [ "$status" -eq 0 ]
  check '.runs | map(.energy_j) == [100, 100]'
}

@test "rocm-smi: the sensor of the first die of an MI250 measures both" {
  for power in 200 210 205; do
    printf '%s\n' 'device,Average Graphics Package Power (W),GPU use (%)' \
      "card0,$power.0,99" 'card1,N/A (Secondary die),98' ''
  done >mi250.txt
  try extract mi250.txt --from rocm-smi --interval 1s --format json
  [ "$status" -eq 0 ]
  # (200 + 210) / 2 * 1 s + (210 + 205) / 2 * 1 s
  check '.runs[0].gpu_energy_j == 412.5'
  check '.runs[0].n_gpus == 2'
}

@test "a mean power that no GPU has: a warning" {
  printf 'time_s,gpu_power_w\n%s\n' 0,0.25 1,0.25 2,0.25 >a.csv # in kW
  gives 0 "dlest: warning: a.csv: $(message mean_power_not_plausible 0.250)" \
    extract a.csv -f csv
  printf 'time_s,gpu_power_w\n%s\n' 0,4e3 1,4e3 2,4e3 >a.csv
  gives 0 "dlest: warning: a.csv: $(message mean_power_not_plausible 4000)" \
    extract a.csv -f csv
  printf 'time_s,gpu_power_w\n%s\n' 5,40 5,40 5,40 >a.csv
  try extract a.csv -f csv
  [ "$status" -eq 0 ]
  grep -qxF "dlest: warning: a.csv: $(message all_samples_same_time 3)" err
}

@test "more GPUs than the log has: a warning" {
  printf 'time_s,gpu_power_w\n%s\n' 0,40 1,40 2,40 >a.csv
  gives 0 "dlest: warning: a.csv: $(message n_gpus_is_set 8 1)" \
    extract a.csv --set n_gpus=8 -f csv
  gives 0 '' extract a.csv --set n_gpus=1 -f csv
}

@test "two columns of one name, a node that takes less than its GPUs" {
  printf 'time_s,gpu_power_w,gpu_power_w\n%s\n' 0,250,240 1,250,240 >a.csv
  refuses 3 "dlest: a.csv:1: $(message duplicate_column gpu_power_w)" \
    extract a.csv
  printf 'time_s,gpu0_power_w,gpu1_power_w,node_power_w\n%s\n' \
    0,250,250,400 10,250,250,400 >a.csv
  gives 0 "dlest: warning: a.csv: $(message node_takes_less 4e+03 5e+03)" \
    extract a.csv -f csv
  sed -i 's/,400/,600/' a.csv
  gives 0 '' extract a.csv -f csv
}
