#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs that measured one piece of hardware at the same time: sums have its energy
# once. Expected energies are those of the meters by hand.

load ../common

cc=timestamp,project_name,run_id,duration,emissions,cpu_energy,gpu_energy
cc+=,ram_energy,energy_consumed,country_name,gpu_count,gpu_model,tracking_mode

# emission ID TIME SECONDS KWH [MODE]: a row of CodeCarbon, half of it of GPUs
emission() {
  awk -v id="$1" -v t="$2" -v s="$3" -v kwh="$4" -v mode="${5:-machine}" 'BEGIN {
    printf "2024-05-01T%s,p,%s,%s,.01,%.9g,%.9g,0.001,%.9g,France,4,4 x A100,%s\n",
      t, id, s, kwh / 2 - .001, kwh / 2, kwh, mode }'
}

# emissions FILE ...: a table of one
emissions() {
  { echo "$cc"; emission "${@:2}"; } >"$1"
}

# total KWH: of the report
total() {
  jq -e ".total.energy_j / 3.6e6 - $1 | fabs < 1e-9" out >/dev/null ||
    { jq .total out; return 1; }
}

# once KWH N SHARED FILE...: of N runs SHARED kWh is not added
once() {
  local kwh=$1 n=$2 shared=$3 s=s
  shift 3
  [ "$n" -gt 1 ] || s=''
  local text="dlest: warning: $(message runs_share_hardware "$n" "$s" "$shared")"
  gives 0 "$text" extract "$@" -f csv
  cp out table.csv
  gives 0 "$text" report "$@" -f json
  total "$kwh"
  gives 0 "$text" report table.csv -f json
  total "$kwh"
}

# added KWH FILE...: none of it is shared
added() {
  local kwh=$1
  shift
  gives 0 '' extract "$@" -f csv
  gives 0 '' report "$@" -f json
  total "$kwh"
}

@test 'ranks of one machine, each of which tracks all of it' {
  for rank in 0 1 2 3; do
    emissions "$rank.csv" "r$rank" 10:00:00 3600 1.2
  done
  once 1.2 3 3.6 0.csv 1.csv 2.csv 3.csv
  jq -e '.total.gpu_h == 4' out
  # a second after it, of another power, of processes
  emissions next.csv a 11:00:01 3600 1.2
  added 2.4 0.csv next.csv
  emissions other.csv a 10:00:00 3600 1.3
  added 2.5 0.csv other.csv
  emissions a.csv a 10:00:00 3600 1.2 process
  emissions b.csv b 10:00:00 3600 1.2 process
  added 2.4 a.csv b.csv
  # half an hour of its own
  emissions half.csv a 10:30:00 3600 1.2
  once 1.8 1 0.6 0.csv half.csv
}

@test 'several machines, each with its ranks' {
  { echo "$cc"; emission a0 10:00:00 3600 1.2; emission b0 10:00:01 3600 1.0
    emission a1 10:00:02 3600 1.2; emission b1 10:00:01 3600 1.0; } >a.csv
  try report a.csv -f json
  # two seconds of the second rank are its own
  jq -e '.total.energy_j / 3.6e6 | . >= 2.2 and . < 2.201' out
}

@test 'a column host distinguishes machines' {
  { echo run_id,host,gpu,n_gpus,project,duration_s,energy_j,boundary,start_time,format
    for host in x y; do
      echo "$host,$host,a100,4,p,3600,3600000,gpu+cpu+ram,2024-05-01T10:00:00,codecarbon"
    done; } >runs.csv
  added 2 runs.csv
  sed s/,y,/,x,/ runs.csv >same.csv
  gives 0 "dlest: warning: $(message runs_share_hardware 1 '' 1)" \
    report same.csv -f json
  total 1
}

@test 'two meters of one node' {
  { echo run_id,host,duration_s,energy_j,boundary,start_time
    echo a,x,3600,3600000,node,2024-05-01T10:00:00
    echo b,x,3600,3960000,node,2024-05-01T10:00:00
    echo c,y,3600,3600000,node,2024-05-01T10:00:00; } >node.csv
  once 2 1 1.1 node.csv
  sed 's/,node,/,gpu,/' node.csv >gpu.csv # maybe of different GPUs
  added 3.1 gpu.csv
}

@test 'windows of Zeus within others' {
  { echo start_time,window_name,elapsed_time,gpu0_energy
    echo 1700000001,epoch_0,10,3600
    echo 1700000011,epoch_1,10,5400
    echo 1700000000,training,22,10800
    echo 1700000100,next,10,3600; } >zeus.csv
  once .004 1 0.0025 zeus.csv
  { sed -n '1p;4p' zeus.csv; sed -n 2,3p zeus.csv; } >before.csv
  once .003 2 0.0025 before.csv
}

@test 'tasks of a run of CodeCarbon' {
  emissions run.csv id 10:10:00 60 .01
  { echo "task_name,$cc"; echo "a,$(emission id 10:05:00 300 .0025)"
    echo "b,$(emission id 10:09:00 240 .005)"; } >tasks.csv
  once .01 1 0.0075 tasks.csv run.csv
  once .01 2 0.0075 run.csv tasks.csv
}
