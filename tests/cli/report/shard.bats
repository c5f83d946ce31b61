#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --shard of extract, report and predict: the parts add up to the whole.

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

@test 'predict --input: rows' {
  cp "$DLEST_DATADIR/data/examples/plan.csv" .
  [ "$(wc -l <plan.csv)" -gt 3 ]
  for n in 1 2 3 7 100; do adds_up "$n" predict --input plan.csv; done
}

@test 'predict --input: line ends in quotes, CRLF, blank lines, no last line end' {
  printf 'run_id,arch,gpu,note\r\n1,resnet50,a100,"a\r\nb\n2,resnet50,t4,c"\r\n\r\n3,vgg16,t4,d"e\r\n"4",vgg16,v100,"""\n5,vgg16,t4,x"\r\n6,alexnet,t4,' >quoted.csv
  "$DLEST" predict -q --input quoted.csv -f csv --method tdp --duration 1h |
    python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert [r["run_id"] for r in rows] == ["1", "3", "4", "6"], rows'
  for n in 2 3 5 17 150; do
    adds_up "$n" predict --method tdp --duration 1h --input quoted.csv
  done
}

@test 'predict --input: a message names the line of the whole file' {
  { echo arch,gpu,batch_size; yes resnet50,a100,32 | head -n 40
    echo resnet50,a100,x; echo resnet50,a100,64; } >runs.csv
  try predict -f csv --input runs.csv --method tdp --duration 1h --shard 8/8
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: runs.csv:42: $(message column_invalid_number batch_size x)" \
    err
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
  local plan=$DLEST_DATADIR/data/examples/plan.csv
  task() {
    SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=$2 SLURM_ARRAY_TASK_MAX=$3 \
      SLURM_ARRAY_TASK_STEP=$4 SLURM_ARRAY_TASK_COUNT=$5 \
      "$DLEST" predict --input "$plan" -q -f csv --shard auto
  }
  diff <(task 0 0 2 1 3) <("$DLEST" predict --input "$plan" -q -f csv --shard 1/3)
  diff <(task 9 1 9 4 3) <("$DLEST" predict --input "$plan" -q -f csv --shard 3/3)
  run task 5 1 7 2 3
  [ "$output" = "dlest: $(message shard_uneven)" ]
  [ "$status" -eq 2 ]
  refuses 2 "dlest: $(message shard_unset SLURM_ARRAY_TASK_ID)" \
    predict --input "$plan" --shard auto
  export SLURM_ARRAY_TASK_ID=x
  refuses 2 "dlest: $(message shard_invalid SLURM_ARRAY_TASK_ID x)" \
    predict --input "$plan" --shard auto
}

@test 'what is no shard' {
  for bad in 0/3 4/3 1 1/ /3 1/0 -1/3 1/3/4 1.5/3 2/1000001 Auto ''; do
    refuses 2 "dlest: $(message invalid_value shard "$bad" 'I/N with 1 <= I <= N, or auto')" \
      extract x.csv --shard "$bad"
  done
  refuses 2 "dlest: $(message has_no_effect_without shard input)" \
    predict --arch resnet50 --gpu a100 --shard 1/2
  refuses 2 "dlest: <stdin>: $(message shard_pipe)" \
    predict --input - --shard 1/2 < <(echo arch,gpu)
}

@test "a later header in a part before" {
  { echo arch,gpu,batch_size,epochs,train_samples
    for i in $(seq 1 20); do echo "resnet50,a100,$i,1,1000"; done
    echo batch_size,train_samples,gpu,arch,epochs
    for i in $(seq 21 40); do echo "$i,1000,a100,resnet50,1"; done; } >rows.csv
  "$DLEST" predict --input rows.csv -f csv >whole.csv
  [ "$(cut -d, -f3 whole.csv | sort -u | wc -l)" -eq 41 ]
  for n in 2 3 7; do
    for i in $(seq "$n"); do
      "$DLEST" predict --input rows.csv --shard "$i/$n" -f csv >part.csv
      [ "$i" -eq 1 ] && cat part.csv || tail -n +2 part.csv
    done >parts.csv
    cmp whole.csv parts.csv
  done
}
