#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --shard of extract and report: the parts add up to the whole.

load ../common
load ../logs/logs

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset "${!SLURM_ARRAY@}"
}

# adds_up N ARG...: the rows of the parts I/N of a CSV, one behind the other,
# are those of the whole, in its order
adds_up() {
  local n=$1 i
  shift
  "$DLEST" "$@" -q -f csv >whole || [ $? -eq 3 ]
  head -n 1 whole >parts
  for ((i = 1; i <= n; i++)); do
    "$DLEST" "$@" -q -f csv --shard "$i/$n" >part || [ $? -eq 3 ] || return
    head -n 1 part | diff - <(head -n 1 whole)
    tail -n +2 part >>parts
  done
  diff whole parts
}

# adds_up_unordered: the same rows in any order
adds_up_unordered() {
  adds_up "$@" >/dev/null || diff <(sort whole) <(sort parts)
}

@test 'report: all rows of a job are in one part' {
  awk 'BEGIN {
    print "JobID|User|State|ElapsedRaw|Start|NNodes|ConsumedEnergyRaw"
    for (i = 1; i <= 50; i++) {
      id = 1000 + i (i % 3 ? "" : "_" i % 4)
      for (k = 0; k < 1 + i % 5; k++)
        printf "%s%s|u%d|COMPLETED|%d|2024-03-%02dT00:00:00|2|%d\n", id,
          k == 0 ? "" : "." (k - 1), i % 4, 100 + i, 1 + i % 28,
          k == 0 ? 0 : 1000 * i + k
    } }' >sacct.txt
  [ "$(grep -c . sacct.txt)" -eq 151 ]
  for n in 1 2 3 8 200; do
    adds_up_unordered "$n" report --by job sacct.txt
    [ "$(wc -l <whole)" -eq 51 ]
  done
  # Jobs that are in two files count once, and so they do in parts.
  head -n 91 sacct.txt >first.txt
  { head -n 1 sacct.txt; tail -n +60 sacct.txt; } >second.txt
  adds_up_unordered 3 report --by job first.txt second.txt
  diff <(sort parts) <("$DLEST" report --by job sacct.txt -q -f csv | sort)
  # Columns of fixed width, another delimiter, the id in another place.
  awk -F'|' '{ printf "%-8s %-12s %10s\n", $2, $1, $4
    if (NR == 1) print "-------- ------------ ----------" }' \
    sacct.txt >fixed.txt
  adds_up_unordered 4 report --by job fixed.txt
  awk -F'|' '{ print $4 " ;; " $1 " ;; " $7 }' sacct.txt >other.txt
  adds_up_unordered 4 report --by job other.txt
}

@test 'report: a table of runs' {
  { echo run_id,duration_s,energy_j
    for i in 1 2 3 4 5 6 7; do echo "r$i,$i,1$i"; done; } >runs.csv
  for n in 2 5 9; do adds_up_unordered "$n" report --by job runs.csv; done
}

@test 'extract: logs of a run stay together' {
  for i in 1 2 3 4 5; do
    log "gpu-$i.csv" 20 "10$i"
    memory "memory-$i.csv" 20 512
  done
  for n in 1 2 3 5 11; do adds_up "$n" extract gpu-*.csv memory-*.csv; done
  [ "$(wc -l <whole)" -eq 6 ]
  adds_up 4 extract --no-join gpu-*.csv memory-*.csv
  ls gpu-* memory-* >logs
  adds_up 2 extract --files-from logs
}

@test 'extract: a row in two tables counts once' {
  { echo 'JobID|ElapsedRaw|ConsumedEnergyRaw|Start'
    for i in 1 2 3 4; do echo "$i|10|100$i|2024-01-01T00:00:0$i"; done; } >a.txt
  cp a.txt b.txt
  adds_up 3 extract a.txt b.txt
  [ "$(wc -l <whole)" -eq 5 ]
}

@test 'extract: jobs and traces belong together' {
  { echo 'JobID|ElapsedRaw|ConsumedEnergyRaw|Start'
    echo '1|10|1001|2024-01-01T00:00:01'; } >a.txt
  log gpu-1.csv 20 100
  refuses 3 "dlest: a.txt: $(message shard_separates_jobs)" \
    extract a.txt gpu-1.csv --shard 1/2
}

@test 'auto: the task of a Slurm job array' {
  for i in 1 2 3 4 5; do log "gpu-$i.csv" 20 "10$i"; done
  task() {
    SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=$2 SLURM_ARRAY_TASK_MAX=$3 \
      SLURM_ARRAY_TASK_STEP=$4 SLURM_ARRAY_TASK_COUNT=$5 \
      "$DLEST" extract gpu-*.csv -q -f csv --shard auto
  }
  part() {
    "$DLEST" extract gpu-*.csv -q -f csv --shard "$1"
  }
  diff <(task 0 0 2 1 3) <(part 1/3)
  diff <(task 9 1 9 4 3) <(part 3/3)
  run task 5 1 7 2 3
  [ "$output" = "dlest: $(message shard_uneven)" ]
  [ "$status" -eq 2 ]
  refuses 2 "dlest: $(message shard_unset SLURM_ARRAY_TASK_ID)" \
    extract gpu-1.csv --shard auto
  export SLURM_ARRAY_TASK_ID=x
  refuses 2 "dlest: $(message shard_invalid SLURM_ARRAY_TASK_ID x)" \
    extract gpu-1.csv --shard auto
}

@test 'what is no shard' {
  for bad in 0/3 4/3 1 1/ /3 1/0 -1/3 1/3/4 1.5/3 2/1000001 Auto ''; do
    refuses 2 "dlest: $(message invalid_value shard "$bad" 'I/N with 1 <= I <= N, or auto')" \
      extract x.csv --shard "$bad"
  done
}
