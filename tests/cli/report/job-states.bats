#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Accounting: of the states of a job in several rows the latest counts, whatever
# the order of rows and tables.

load ../common

head='JobID|State|ElapsedRaw|Start|End|NNodes|ConsumedEnergyRaw|AllocTRES'
from=2024-03-31T22:30:00

# jobs FILE LINE...: what sacct printed
jobs() {
  local file=$1
  shift
  printf '%s\n' "$head" "$@" >"$file"
}

# totals JOBS SECONDS JOULES FILE...: what report and extract count of the tables
totals() {
  local want="$1 $2 $3"
  shift 3
  try report "$@" -q -f json
  [ "$status" -eq 0 ]
  [ "$(jq -r '.total | "\(.jobs) \(.duration_s) \(.energy_j)"' out)" = "$want" ]
  try extract "$@" -q -f json
  [ "$(jq -r '.runs | "\(length) \(map(.duration_s // 0) | add) \(map(.energy_j // 0) | add)"' out)" = "$want" ]
}

# any_order JOBS SECONDS JOULES FILE...: in all orders of the tables, and in all
# orders of their rows in one table
any_order() {
  local want=("$1" "$2" "$3") order
  shift 3
  for order in $(python3 -c 'import itertools, sys
for p in itertools.permutations(sys.argv[1:]): print(",".join(p))' "$@"); do
    totals "${want[@]}" ${order//,/ }
    cat ${order//,/ } >all.txt
    totals "${want[@]}" all.txt
  done
}

# 2e8 J in 100 h
@test 'a job that ran when one of the tables was made' {
  jobs mar.txt "31|RUNNING|5400|$from|Unknown|1|2900000|gres/gpu=2" \
    "31.batch|RUNNING|5400|$from|Unknown|1|2900000|"
  jobs apr.txt "31|RUNNING|90000|$from|Unknown|1|50000000|gres/gpu=2"
  jobs may.txt "31|CANCELLED by 1000|360000|$from|2024-04-05T02:30:00|1|200000000|gres/gpu=2" \
    "31.batch|CANCELLED|360000|$from|2024-04-05T02:30:00|1|200000000|" \
    "31.extern|COMPLETED|360000|$from|2024-04-05T02:30:00|1|200000000|"
  any_order 1 360000 200000000 mar.txt apr.txt may.txt
  any_order 1 90000 50000000 mar.txt apr.txt
  gives 0 "dlest: warning: may.txt:2: $(message job_in_several_states 31)" \
    report mar.txt may.txt
  [ "$("$DLEST" report may.txt mar.txt -q -f csv | cut -d, -f6 | tail -n 1)" = CANCELLED ]
  # among others, in their order
  jobs two.txt '30|COMPLETED|60|2024-03-01T00:00:00|2024-03-01T00:01:00|1|6000|' \
    "31|RUNNING|5400|$from|Unknown|1|2900000|" \
    "32_7|RUNNING|5400|$from|Unknown|1|100000|" "33+1|RUNNING|100|$from|Unknown|1|1000|"
  totals 4 10960 3007000 two.txt
  [ "$("$DLEST" report two.txt -q -f csv | cut -d, -f1 | tr '\n' ' ')" = 'run_id 30 31 32_7 33+1 ' ]
  jobs new.txt "32_7|COMPLETED|7200|$from|2024-04-01T00:30:00|1|200000|" \
    "33+1|NODE_FAIL|200|$from|$from|1|2000|" '34|COMPLETED|1|2024-05-01T00:00:00|x|1|1|'
  any_order 5 12861 3108001 two.txt new.txt
}

@test 'states without a column Start, or without State' {
  head='JobID|State|ElapsedRaw|ConsumedEnergyRaw'
  jobs a.txt '31|RUNNING|5400|2900000' '32|COMPLETED|60|600'
  jobs b.txt '31|COMPLETED|360000|200000000' '33|COMPLETED|60|600'
  any_order 3 360120 200001200 a.txt b.txt
  head='JobID|ElapsedRaw|Start|End|ConsumedEnergyRaw'
  jobs a.txt "31|5400|$from|Unknown|2900000" "32|60|$from|$from|600"
  jobs b.txt "31|360000|$from|2024-04-05T02:30:00|200000000" "33|60|$from|$from|600"
  any_order 3 360120 200001200 a.txt b.txt
}

@test 'a row of 0 s that was put back into the queue does not hide the run' {
  jobs a.txt "31|REQUEUED|0|$from|$from|1||gres/gpu=2"
  jobs b.txt "31|COMPLETED|3600|$from|2024-03-31T23:30:00|1|3600000|gres/gpu=2"
  any_order 1 3600 3600000 a.txt b.txt
}

# sacct --duplicates: 60 + 600 + 1,200 + 3,600 s, 100 W each
@test 'each run of a job counts once' {
  jobs a.txt '31|NODE_FAIL|60|2024-03-01T00:00:00|2024-03-01T00:01:00|1|6000|' \
    '31.batch|CANCELLED|60|2024-03-01T00:00:00|2024-03-01T00:01:00|1|6000|' \
    '31|PREEMPTED|600|2024-03-02T00:00:00|2024-03-02T00:10:00|1|60000|' \
    '31.batch|CANCELLED|600|2024-03-02T00:00:00|2024-03-02T00:10:00|1|60000|' \
    '31|REQUEUED|1200|2024-03-03T00:00:00|2024-03-03T00:20:00|1|120000|' \
    '31|RUNNING|1800|2024-03-04T00:00:00|Unknown|1|180000|' '40|COMPLETED|1|2024-03-04T00:00:00|x|1|1|'
  jobs b.txt '31|PREEMPTED|600|2024-03-02T00:00:00|2024-03-02T00:10:00|1|60000|' \
    '31.batch|CANCELLED|600|2024-03-02T00:00:00|2024-03-02T00:10:00|1|60000|' \
    '31|COMPLETED|3600|2024-03-04T00:00:00|2024-03-04T01:00:00|1|360000|' \
    '31.batch|COMPLETED|3600|2024-03-04T00:00:00|2024-03-04T01:00:00|1|360000|' \
    '41|COMPLETED|1|2024-03-04T00:00:00|x|1|1|'
  any_order 6 5462 546002 a.txt b.txt
}

# Of 2 nodes: 70 kJ + 80 kJ in turn.
@test 'a job whose rows are at the end of one table and in the next' {
  local rows=("1|COMPLETED|600|$from|x|1|6000|" "2|COMPLETED|600|$from|x|2||" \
    "2.0|COMPLETED|300|$from|x|2|70000|" "2.1|COMPLETED|300|$from|x|2|80000|" \
    "3|COMPLETED|600|$from|x|1|6000|")
  for n in 2 3; do
    jobs a.txt "${rows[@]:0:n}"
    jobs b.txt "${rows[@]:n}"
    any_order 3 1800 162000 a.txt b.txt
    jobs whole.txt "${rows[@]}"
    any_order 3 1800 162000 a.txt whole.txt
    any_order 3 1800 162000 whole.txt b.txt
  done
}

@test 'tables of runs, and tables of both kinds' {
  jobs mar.txt '30|COMPLETED|60|2024-03-01T00:00:00|2024-03-01T00:01:00|1|6000|' \
    "31|RUNNING|5400|$from|Unknown|1|2900000|gres/gpu=2"
  jobs apr.txt "31|COMPLETED|360000|$from|2024-04-05T02:30:00|1|200000000|gres/gpu=2"
  for t in mar apr; do "$DLEST" extract $t.txt -q -f csv -o $t.csv; done
  for files in 'mar.csv apr.csv' 'apr.csv mar.csv'; do
    gives 0 "dlest: warning: ${files#* }:$([ "$files" = 'apr.csv mar.csv' ] && echo 3 || echo 2): $(message job_in_several_states 31)" \
      report $files -f json
    check '.total | .jobs == 2 and .energy_j == 200006000'
  done
  # the last table has no jobs of sacct
  table run_id,duration_s,energy_j r,60,6000
  try report mar.txt runs.csv -q -f json
  check '.total | .jobs == 3 and .energy_j == 2912000'
}
