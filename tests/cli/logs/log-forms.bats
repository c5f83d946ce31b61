#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: parts of a log by time and at idle times, epochs in a column,
# units, and logs of trackers. Energies follow by hand from constant powers.

load ../common
load logs

START=1700000000 # 2023-11-14 22:13:20 UTC

# table N EXPRESSION [HEADER]: rows of a second, "time,EXPRESSION of i"
table() {
  awk -v n="$1" -v t="$START" -v h="${3:-timestamp,gpu_power_w}" 'BEGIN {
    print h; for (i = 0; i < n; i++) print t + i "," ('"$2"') }'
}

get() { # FILTER of a run of log.csv [ARG...]
  local filter=$1
  shift
  "$DLEST" extract "$@" -q -f json | jq -c "[.runs[] | $filter]"
}

@test "a window: since the first sample, of the wall, of the day" {
  table 500 300 >log.csv
  [ "$(get .energy_j log.csv --since 50s --until 90s)" = '[12000]' ]
  [ "$(get .duration_s log.csv --since 50s)" = '[449]' ]
  table 500 300 | sed 's/^1700000/1700000/' | awk -F, 'NR == 1 { print; next } {
    s = $1 - 1700000000 + 80000; printf "2023-11-14 %02d:%02d:%02d,%s\n",
      s / 3600, s / 60 % 60, s % 60, $2 }' >day.csv
  [ "$(get .duration_s day.csv --since '2023-11-14 22:15')" = '[399]' ]
  [ "$(get .duration_s day.csv --since 22:15 --until 22:16:10)" = '[70]' ]
  [ "$(get .duration_s day.csv --since 2023-11-14T23:15:00+01:00)" = '[339]' ] ||
    [ "$(get .duration_s day.csv --since 2023-11-14T22:15:00Z)" = '[399]' ]
  try extract log.csv --since 600s
  [ "$status" -eq 3 ]
  grep -qx 'dlest: warning: log.csv: no samples' err
  try extract log.csv --since yesterday
  [ "$status" -eq 2 ]
  echo 'run_id,duration_s,energy_j
a,10,1000' >runs.csv
  refuses 2 "dlest: runs.csv: $(message window_of_a_table)" \
    extract runs.csv --since 5s
}

# 100 s of 300 W, 300 s of 30 W, 100 s of 200 W
@test "a log is split at idle times" {
  table 500 'i < 100 ? 300 : i < 400 ? 30 : 200' >log.csv
  [ "$(get .run_id log.csv --split-idle 1m)" = '["log-1","log-2"]' ]
  check_near() { [ "$(get "$1" log.csv --split-idle 1m)" = "$2" ]; }
  # with the ramps between samples of 30 W and of the work
  check_near .energy_j "[$((99 * 300 + 165)),$((99 * 200 + 115))]"
  check_near .duration_s '[100,100]'
  [ "$(get .run_id log.csv --split-idle 10m)" = '["log"]' ]
  table 500 '300 + i % 7' >even.csv
  [ "$(get .run_id even.csv --split-idle 1m)" = '["even"]' ]
  "$DLEST" extract log.csv --split-idle 1m 2>err >out
  grep -qF "$(message split_into_runs 2 '1 min 00 s')" err
  refuses 2 "dlest: <stdin>: $(message split_reads_twice)" extract - \
    --split-idle 1m <log.csv
}

@test "epochs by a column of their numbers" {
  table 101 '"" 300 "," int(i / 20) + 1' timestamp,gpu_power_w,epoch |
    head -101 >log.csv
  [ "$(get '[.epochs, .epochs_verdict]' log.csv)" = '[[5,"given"]]' ]
  gives 0 '' extract log.csv --epochs -f csv
  [ "$(cut -d, -f 2-5 out | sed -n 2p)" ]
  # fractions of an epoch, and rows between without a number
  table 101 '300 "," (i % 10 ? "" : i / 20)' timestamp,gpu_power_w,epoch >log.csv
  [ "$(get .epochs log.csv)" = '[5]' ] || [ "$(get .epochs log.csv)" = '[6]' ]
  # energies by epoch are no counters
  printf 'timestamp,energy_j,epoch\n1700000000,5,1\n1700000009,6,2\n' >e.csv
  try extract e.csv
  [ "$status" -eq 3 ]
}

@test "semicolons with decimal commas" {
  { echo 'Date;power_w'
    for i in $(seq 0 59); do printf '2024-04-11 14:00:%02d,250;500,5\n' "$i"; done
  } >log.csv
  [ "$(get '[.energy_j, .duration_s]' log.csv)" = '[[29529.5,59]]' ]
}

@test "a recording keeps its GPU, its limit and its epochs" {
  { echo '# dlest record 0.1.0'
    echo '# gpu0: NVIDIA A100-SXM4-80GB, GPU-1c2d3e4f, by nvml, limit 400 W'
    echo timestamp,gpu0_power_w
    for i in 0 1 2 3 4; do echo "2026-11-22T14:05:0$i.5Z,300"; done
  } >rec.csv
  [ "$(get '[.gpu, .gpu_limit_w, .epochs]' rec.csv)" = \
    '[["NVIDIA A100-SXM4-80GB",400,null]]' ]
  printf 'epoch,end_time\n0,2026-11-22T14:05:02.5Z\n1,2026-11-22T14:05:04.5Z\n' \
    >rec-epochs.csv
  [ "$(get .epochs rec.csv)" = '[2]' ]
  [ "$(get .epochs rec.csv --no-join)" = '[null]' ]
}

@test "nvitop: means of intervals, by the number of the GPU" {
  table 20 '"1,95,300,999,250"' \
    'resources/timestamp,resources/duration (s),resources/cuda:0 (gpu:3)/gpu_utilization (%)/mean,resources/cuda:0 (gpu:3)/power_usage (W)/mean,resources/cuda:0 (gpu:3)/power_usage (W)/max,resources/gpu:1/power_usage (W)/mean' >n.csv
  [ "$(get '[.energy_j, .n_gpus]' n.csv)" = "[[$((19 * 550)),2]]" ]
}

@test "Weights & Biases: events as JSON lines, a panel with several runs" {
  for i in $(seq 0 19); do
    echo "{\"system.gpu.0.powerWatts\": 300.5, \"system.gpu.1.powerWatts\": 200,
      \"system.gpu.0.gpu\": 90, \"_timestamp\": $((START + 15 * i)).5}" | jq -c .
    echo '{"system.cpu": 5}'
  done >wandb-events.jsonl
  [ "$(get '[.energy_j, .n_gpus, .duration_s]' wandb-events.jsonl)" = \
    '[[142642.5,2,285]]' ]
  # run.history(stream="events", pandas=False) as JSON
  jq -s . wandb-events.jsonl >api.json
  [ "$(get '[.energy_j, .n_gpus, .duration_s]' api.json)" = \
    '[[142642.5,2,285]]' ]
  { echo '"Relative Time (Process)","sun - 3 - system/gpu.0.powerWatts","sun - 3 - system/gpu.0.powerWatts__MAX","sun - 3 - system/gpu.1.powerWatts","fog - system/gpu.0.powerWatts"'
    for i in 0 1 2 3; do echo "\"$((i * 15))\",\"300\",\"999\",\"100\",\"$([ $i = 3 ] || echo 200)\""; done
  } >panel.csv
  [ "$(get '[.run_id, .n_gpus, .duration_s, .energy_j]' panel.csv)" = \
    '[["sun - 3",2,45,18000],["fog",1,30,6000]]' ]
  # The columns are those of the table, also behind odd quotes; a later header
  # adds one.
  { echo 'Wall Time,"odd"quote,sun - other",sun - system/gpu.0.powerWatts'
    for i in 0 1 2; do echo "$((i * 10)),x,200"; done
    echo 'Wall Time,"odd"quote,sun - other",sun - system/gpu.0.powerWatts,fog - system/gpu.0.powerWatts'
    for i in 3 4 5; do echo "$((i * 10)),x,200,100"; done
  } >odd.csv
  [ "$(get '[.run_id, .n_gpus, .duration_s, .energy_j]' odd.csv)" = \
    '[["sun",1,50,10000],["fog",1,20,2000]]' ]
  echo a,b >frame.csv
  refuses 3 "dlest: frame.csv:1: $(message no_column_of_power)" \
    extract --from wandb-panel frame.csv
}

@test "MLflow: the folder of a run" {
  mkdir -p mlruns/0/abc/metrics/system
  for gpu in 0 1; do
    for i in $(seq 0 19); do
      echo "$(((START + 10 * i) * 1000 + gpu)) $((300 - 100 * gpu)).0 $i"
    done >"mlruns/0/abc/metrics/system/gpu_${gpu}_power_usage_watts"
    sed 's/ [0-9.]* / 95.0 /' "mlruns/0/abc/metrics/system/gpu_${gpu}_power_usage_watts" \
      >"mlruns/0/abc/metrics/system/gpu_${gpu}_utilization_percentage"
  done
  echo "${START}000 12.0 0" >mlruns/0/abc/metrics/system/cpu_utilization_percentage
  [ "$(get '[.run_id, .n_gpus, .energy_j, (.gpu_util * 100 | round)]' mlruns/0/abc)" = \
    '[["abc",2,95000,95]]' ]
  echo "${START}000 300.0 0" >copy.txt # of which GPU, and of what?
  refuses 3 "dlest: copy.txt: $(message no_metric_of_mlflow)" \
    extract --from mlflow copy.txt
}

# AllocTRES of the job, energies of its steps.
@test "sacct --json is read as sacct -P" {
  jq -n --argjson t $START '{meta: {plugin: {type: "openapi/dbv0.0.39"}}, jobs:
    [range(2) | {job_id: (10 + .), name: "a|b", user: "ann", account: "ml",
     partition: "gpu", nodes: "n\(.)", state: {current: ["COMPLETED"]},
     time: {elapsed: 3600, start: $t, end: ($t + 3600), total: {seconds: 7265}},
     tres: {allocated: [{type: "cpu", name: "", count: 16}, {type: "gres",
       name: "gpu:a100", count: 4}, {type: "node", name: "", count: 1}]},
     steps: [{step: {id: "\(10 + .).0", name: "python"}, state: "COMPLETED",
       time: {elapsed: 3600, start: {set: true, number: $t}, end: {set: true,
         number: ($t + 3600)}}, nodes: {count: 1, range: "n\(.)"},
       statistics: {energy: {consumed: {set: true, infinite: false,
         number: 5400000}}}}]}]}' >jobs.json
  [ "$(get '[.run_id, .gpu, .n_gpus, .duration_s, .energy_j, .start_time]' jobs.json)" = \
    '[["10","a100",4,3600,5400000,"2023-11-14T22:13:20Z"],["11","a100",4,3600,5400000,"2023-11-14T22:13:20Z"]]' ]
  gives 0 '' report jobs.json -f json
  check '.totals.energy_kwh // .total.energy_kwh // 3 | . > 2.99 and . < 3.01'
  jq 'del(.jobs[1].job_id)' jobs.json >bad.json
  refuses 3 "dlest: bad.json: $(message job_has_no_id 2)" extract bad.json
}

# What trackio logs of GPUs: its sum counts none of them twice.
@test "trackio: names of a process, and sums" {
  for i in $(seq 0 19); do
    jq -nc --argjson t $((START + 10 * i)) '{timestamp: $t, "rank0/gpu/0/power": 300,
      "rank0/gpu/0/utilization": 90, "rank0/gpu/0/power_limit": 400,
      "rank0/gpu/0/power_percent": 75, "rank0/gpu/1/power": 200,
      "rank0/gpu/total_power": 500, "rank0/gpu/mean_utilization": 90}'
  done >ranks.jsonl
  sed 's,rank0/,,g' ranks.jsonl >one.jsonl
  for log in ranks one; do
    [ "$(get '[.energy_j, .n_gpus]' $log.jsonl)" = "[[$((190 * 500)),2]]" ]
  done
  # The GPUs of another process may be the same ones.
  sed 's,rank0/,rank1/,g' ranks.jsonl | tail -n 2 >>ranks.jsonl
  try extract ranks.jsonl
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: ranks.jsonl:21: $(message second_process 1)" err
}

@test "lines of trackers that cannot be used" {
  printf '%s\n' '{"system.gpu.0.powerWatts": 300, "_timestamp": 1700000000}' \
    '{"system.gpu.0.powerWatts": 300}' '{"system' \
    '{"system.gpu.0.powerWatts": 300, "_timestamp": 1700000009}' >e.jsonl
  gives 3 "dlest: warning: e.jsonl:2: $(message no_time_such_as)
dlest: warning: e.jsonl:3: $(message not_a_json_object)
dlest: 2 rows skipped" extract e.jsonl
  printf '%s\n' 'Relative Time (Process),a - system/gpu.0.powerWatts' 0,300 9,300 \
    5,300 12,300 >p.csv
  try extract p.csv
  grep -qx "dlest: warning: p.csv:4: $(message time_before_the_last 5)" err
  mkdir -p R/metrics/system
  printf '1700000000000 1 0\n1700000001000 x 1\n1700000002000 2 2\n' \
    >R/metrics/system/gpu_0_power_usage_watts
  try extract R
  grep -qF "gpu_0_power_usage_watts:2: $(message expected_ms_value_step)" err
}

@test "tables of runs in other units, with semicolons" {
  printf '%s\n' 'arch;gpu;n_gpus;duration_h;Energy [kWh]' 'resnet50;a100;2;2,5;7,5' >r.csv
  [ "$(get '[.arch, .n_gpus, .duration_s, .energy_j]' r.csv)" = \
    '[["resnet50",2,9000,27000000]]' ]
  gives 0 '' report r.csv -f json
  check '.total.energy_kwh == 7.5 and .total.gpu_h == 5'
  # the power of a run, of nothing in particular: 0.5 kW for 2 h
  printf '%s\n' run_id,duration_h,power_kw a,2,0.5 b,1,2 >r.csv
  [ "$(get '[.energy_j, .duration_s]' r.csv)" = '[[3600000,7200],[7200000,3600]]' ]
  gives 0 '' report r.csv -f json
  check '.total.energy_kwh == 3'
  # an energy that is measured comes first
  printf '%s\n' 'run_id,duration_s,mean power [W],energy_j' a,10,300,1000 >r.csv
  [ "$(get .energy_j r.csv)" = '[1000]' ]
  # the column in the table's own unit comes first
  printf '%s\n' run_id,duration_h,duration_s,energy_j a,99,3600,1000 >r.csv
  [ "$(get .duration_s r.csv)" = '[3600]' ]
}

# Units

# energy HEADER CELL: of a table of 11 s, J
energy() {
  awk -v h="$1" -v c="$2" 'BEGIN { print h
    for (i = 0; i <= 10; i++) printf "%d,%s\n", i, c }' >t.csv
  try extract t.csv -f csv
  [ "$status" -eq "${3:-0}" ] || { cat err; return 1; }
}

@test "units in headers and cells" {
  energy time_s,gpu_power_w 250
  is gpu_energy_j 2500
  energy time_s,gpu_power_w '0.25 kW'
  is gpu_energy_j 2500
  energy time_s,gpu_power_w '250000 mW'
  is gpu_energy_j 2500
  energy time_s,gpu_power_w 250000mW
  is gpu_energy_j 2500
  energy time_s,gpu_power_mw '250 W'
  is gpu_energy_j 2500
  energy time_s,gpu_power_mW 250000
  is gpu_energy_j 2500
  energy time_s,gpu_power_kw 0.25
  is gpu_energy_j 2500
  energy time_s,node_power_MW 0.5
  is node_energy_j 5000000
  energy 'time_s,node power [MW]' 0.5
  is node_energy_j 5000000
  energy time_s,gpu_power_w '90 %' 3
  energy time_s,gpu_power_w '90 J' 3
  energy time_s,NODE_POWER_MW 0.5 3 # milli or mega
  # NVML's counter, and one in megajoules
  for unit in mj:1000 MJ:0.000001 kJ:0.001; do
    awk -v u="${unit%:*}" -v j="${unit#*:}" 'BEGIN { print "time_s,gpu_energy_" u
      for (i = 0; i <= 10; i++) printf "%d,%.9f\n", i, 250 * i * j }' >t.csv
    gives 0 '' extract t.csv -f csv
    is gpu_energy_j 2500
  done
}

@test "units of nvidia-smi" {
  log a.csv 11 250
  sed 's/250.00 W/0.25 kW/' a.csv >b.csv
  gives 0 '' extract b.csv -f csv
  is gpu_energy_j 2500
  sed 's/250.00 W/250000/; s/draw \[W\]/draw [mW]/' a.csv >b.csv
  gives 0 '' extract b.csv -f csv
  is gpu_energy_j 2500
  sed 's/250.00 W/25000 %/' a.csv >b.csv
  try extract b.csv -f csv
  [ "$status" -eq 3 ]
}
