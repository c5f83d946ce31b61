#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Changes of a log that keep its meaning: log_mutations.py.

load ../common
load logs

@test "line ends, marks, quotes, order of columns, repeated rows of all formats" {
  command -v python3 >/dev/null || skip 'no python3'
  export PYTHONDONTWRITEBYTECODE=1
  run python3 "$BATS_TEST_DIRNAME/log_mutations.py" "$DLEST" 1 2 3
  echo "$output"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

# changed COMMAND: the log with its rows, but for the header, changed by it
changed() {
  { head -1 a.csv; tail -n +2 a.csv | eval "$1"; } >b.csv
  try extract b.csv -q -f csv
  [ "$status" -eq 0 ]
}

@test "rows in another order, another sampling interval" {
  awk 'BEGIN { print "timestamp,index,gpu_power_w"
    for (i = 0; i <= 1200; i++) { t = 36000000 + i * 500
      printf "2024-03-05 %02d:%02d:%02d.%03d,0,%.2f\n", t / 3600000,
        t / 60000 % 60, t / 1000 % 60, t % 1000, 100 + i / 4 } }' >a.csv
  energy=150000 # 100 to 400 W in 600 s
  changed cat
  [ "$(cell gpu_energy_j)" = $energy ]
  for seed in 1 2 3; do # shuffled within 32 rows
    changed "awk -v s=$seed 'BEGIN { srand(s) }
      { print int(NR / 32) * 32 + 32 * rand() \"\\t\" \$0 }' | sort -g -k 1,1 |
      cut -f 2"
    [ "$(cell gpu_energy_j)" = $energy ]
    is duration_s 600
  done
  for step in 2 3 5 10; do # every second, third ... row of a linear power
    changed "awk 'NR % $step == 1'"
    [ "$(cell gpu_energy_j)" = $energy ]
  done
}
