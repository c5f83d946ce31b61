#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest compare: scores worked out by hand; groups; what it refuses.

load ../common

MEANS=$DLEST_DATADIR/data/delrey2024-configurations.csv
# 100 W x duration
TDP=(compare runs.csv --methods tdp --set gpu.tdp_w=100 --format json)

@test "models on runs that they may know: a warning, --cv takes it away" {
  known=$(message fitted_methods_may)
  try compare "$MEANS" --methods pre-power --format json
  check ".warnings | any(startswith(\"$known\"))"
  try compare "$MEANS" --methods physical --format json --bootstrap 0
  check ".warnings == [\"$known\"]"
  try compare "$MEANS" --methods pre-power --cv group:gpu --format json
  check ".warnings | any(startswith(\"$known\")) | not"
  check '.scores[0].n == 45'
}

@test "text and CSV" {
  table arch,gpu,duration_s,energy_j vgg16,a100,10,800 vgg16,v100,20,2500
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100
  grep -qE '^  tdp +2 ' out
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100 --format csv
  [ "$(sed -n 2p out | cut -d, -f1-5)" = \
    'tdp,,2,380.7886552931954,350' ]
}

@test "energies of one boundary alone" {
  table arch,gpu,duration_s,energy_j,gpu_energy_j,boundary \
    vgg16,a100,10,2000,800,node vgg16,v100,20,2500,,gpu vgg16,t4,10,900,, \
    vgg16,l4,10,4000,,node
  scored() {
    gives 0 '' "${TDP[@]}" --bootstrap 0 -q --boundary "$1"
    check ".scores[0] | .n == $2"
    near .scores[0].mae_j "$3"
  }
  scored gpu 2 350 # 1000 and 2000: gpu_energy_j 800, energy_j 2500
  scored node 2 2000 # 1000 and 1000: 2000, 4000
  try "${TDP[@]}" --bootstrap 0 --boundary node
  check ".warnings == [\"$(message runs_of_other_boundaries 2 s node)\",
    \"$(message scored_against tdp gpu node)\"]"
  refuses 3 "dlest: runs.csv: $(message no_run_of_boundary facility)" \
    compare runs.csv --methods tdp --boundary facility
}

@test "without an estimate of any run compare fails and prints no table" {
  table arch,gpu,energy_j resnet50,a100,1000 vgg16,a100,2000
  try compare runs.csv --methods tdp,flops --bootstrap 0
  [ "$status" -eq 3 ]
  [ ! -s out ]
  [ "$(tail -n 1 err)" = "dlest: $(message no_method_estimates_a_run)" ]
}

@test "text: the best method first, RMSE, MAE and R2 with --details" {
  table arch,gpu,duration_s,energy_j vgg16,a100,10,800 vgg16,v100,20,2500
  # flops: 1e6 x as much as tdp; tdp: errors of 25 and 20 %
  job=(compare runs.csv --methods tdp,green-algorithms --set gpu.tdp_w=100
    --set ram_gb=100 --bootstrap 0)
  gives 0 '' "${job[@]}"
  [ "$(head -1 out)" = '2 runs' ]
  grep -qE '^  \* tdp +2 +22\.5 % ' out
  ! grep -q RMSE out || false
  gives 0 '' "${job[@]}" --details
  grep -qE '^  method +RMSE +MAE +bias +R2$' out
  grep -qE '^ +J +J +J$' out
  grep -qE '^  tdp +381 +350 +-150 ' out
}

@test "standard input" {
  table arch,gpu,duration_s,energy_j vgg16,a100,10,800
  gives 0 '' compare - --methods tdp <runs.csv
  refuses 2 'dlest: --cv reads the table several times: give a file, not '\
'standard input' compare - --cv group:gpu <runs.csv
}

@test "the same bytes with 1, 2 and 3 threads" {
  for n in 1 2 3; do
    OMP_NUM_THREADS=$n "$DLEST" compare "$MEANS" --cv group:arch --by gpu -q \
      --format json >"$n.json"
  done
  cmp 1.json 2.json
  cmp 1.json 3.json
}

@test "rows that cannot be scored: reported, counted, the rest scored" {
  table arch,gpu,duration_s,energy_j vgg16,a100,10,800 vgg16,rtx3091,10,800 \
    vgg16,a100,10,-5 vgg16,a100,10, vgg16,a100,20,2500
  skipped="dlest: warning: runs.csv:3: $(message unknown_nearest_see_list \
    gpu rtx3091 "$(meant rtx-3090)" gpus)"
  gives 3 "$skipped
dlest: warning: runs.csv:4: $(message is_not_between "column 'energy_j'" -5 0 \
    1e+300)
dlest: warning: runs.csv:5: $(message column_no_value energy_j)
dlest: $(message row_skipped 3 s)" "${TDP[@]}"
  check '.scores[0].n == 2'
}

@test "no run has a score" {
  table arch,gpu,energy_j nope,a100,5
  try compare runs.csv
  [ "$status" -eq 3 ]
  [ "$(tail -1 err)" = "dlest: runs.csv: $(message no_run_that_could)" ]
  [ ! -s out ]
}

@test "columns that are not there" {
  table arch,gpu,x vgg16,a100,5
  refuses 2 "dlest: runs.csv: $(message no_column_nearest energy_j \
    "$(message add_it_or_define energy_j)")" compare runs.csv
  table arch,gpu,energy_j vgg16,a100,5
  refuses 2 "dlest: runs.csv: $(message no_column_nearest lab \
    "$(message the_table_has "'arch', 'gpu', 'energy_j'")")" compare runs.csv --by lab
  cp "$MEANS" runs.csv
  try compare runs.csv --cv group:lab
  [ "$status" -eq 2 ]
  grep -q "^dlest: runs.csv: $(message no_column_nearest lab "")" err
}

@test "groups that cannot be held out" {
  for bad in foo kfold:5 none group:; do
    refuses 2 "dlest: $(message cv_expected_group_column "$bad")" \
      compare "$MEANS" --cv $bad
  done
  cp "$MEANS" runs.csv
  refuses 3 "dlest: runs.csv: $(message column_has_fewer_than source)" compare runs.csv --cv group:source
}

@test "several tables: each, and all together; configurations are drawn" {
  table config,arch,gpu,duration_s,energy_j c0,vgg16,a100,10,800 \
    c0,vgg16,a100,10,1000 c1,vgg16,v100,20,2500
  cp runs.csv other.csv
  gives 0 "dlest: warning: other.csv: $(message counts_twice runs.csv)" \
    compare runs.csv other.csv --methods tdp --set gpu.tdp_w=100 --format json
  check '[.scores[].table] == ["runs.csv", "other.csv", null]'
  check '[.scores[].n] == [3, 3, 6] and [.scores[].clusters] == [2, 2, 4]'
  check '.bootstrap == {"resamples": 2000, "by": "config", "confidence": 0.95}'
  # Two GPUs say nothing of others.
  check '.scores[0] | .mape_low == null and .mape_high == null'
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100 --format json \
    --bootstrap-by run
  check '.scores[0].clusters == 3 and .bootstrap.by == "run"'
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100 --format json \
    --bootstrap 0
  check '.scores[0] | .mape_low == null and .rank == 1'
  refuses 2 "dlest: runs.csv: $(message no_column_nearest lab \
    "$(message the_table_has "'config', 'arch', 'gpu', 'duration_s', 'energy_j'")")" compare runs.csv --bootstrap-by lab
}

@test "several models: a method that asks none of them is there once" {
  for n in 1 2; do
    try fit "$MEANS" --target epoch_energy_j --features batch_size,macs_g \
      --method $([ $n = 1 ] && echo ols || echo ridge) --cv none -q -o m$n.xml
    [ "$status" -eq 0 ]
  done
  try compare "$MEANS" --model m1.xml --model m2.xml -q --format json \
    --methods pre-epoch,tdp --set duration_s=100
  [ "$status" -eq 0 ]
  check '[.scores[] | select(.method == "pre-epoch") | .model] | sort ==
    ["m1.xml", "m2.xml"]'
  check '[.scores[] | select(.method == "tdp") | .model] == [null]'
}

@test "few GPUs: Student's t, or no interval and the reason" {
  # errors 10, 20 and 30 %, one GPU each: their mean has the standard error
  # 10 % / sqrt(3), of a bootstrap of 2000 to 2 %; t of 2 degrees of freedom
  table arch,gpu,duration_s,energy_j vgg16,a100,11,1000 vgg16,v100,12,1000 \
    vgg16,t4,13,1000
  gives 0 '' "${TDP[@]}"
  check '.scores[0] | (.mape_low / (0.2 * (-4.302652729911275 * 0.1 / (3 | sqrt) / 0.2 | exp)) - 1 | fabs) < 0.05
    and (.mape_high / (0.2 * (4.302652729911275 * 0.1 / (3 | sqrt) / 0.2 | exp)) - 1 | fabs) < 0.05'
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100
  ! grep -q 'too few' out || false
  # Three GPUs of which one has most runs are hardly two.
  table arch,gpu,duration_s,energy_j vgg16,a100,11,1000 vgg16,a100,11,1010 \
    vgg16,a100,11,1020 vgg16,a100,11,1030 vgg16,v100,12,1000 vgg16,t4,13,1000
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100
  grep -qx '3 GPUs: too few for an interval of scores (3 of equal size, or more).' out
}
