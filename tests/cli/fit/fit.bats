#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest fit: coefficients worked out by hand, the report, the model file, what
# it refuses.

load ../common

MEANS=$DLEST_DATADIR/data/delrey2024-configurations.csv
XY=(--target y --features x)

line_table() { # y = 1 + 2x
  table x,y,g 1,3,a 2,5,a 3,7,b 4,9,b 5,11,c 6,13,c 7,15,a 8,17,b 9,19,c 10,21,a
}

value() { # of the model's first target at x
  "$DLEST" predict --model "$1" --set "x=$2" --format json -q |
    jq '.predictions[0].value'
}

same() { # two numbers within 1e-10
  awk -v a="$1" -v b="$2" 'BEGIN {
    if (a == "" || a == "null" || b == "null" || (a - b)^2 > 1e-20 * b^2) {
      print a " is not " b
      exit 1
    }
  }'
}

@test "auxiliary data without a physical fit: a warning" {
  {
    echo gpu.tdp_w,macs_g,params_m,batch_size,gpu_power_w,epochs,energy_j,train_samples
    awk 'BEGIN { for (i = 0; i < 24; i++)
      print 200 + i % 5 * 50 "," 1 + i % 7 "," 9 + i % 11 "," 2 ^ (i % 6) "," \
        150 + i * 37 % 100 ",2," 1000 + i * 29 % 500 ",1000" }'
  } >runs.csv
  gives 0 "dlest: warning: $(message has_no_effect with \
    'without a physical fit of this table')" \
    fit runs.csv --no-model --with "$DLEST_DATADIR/data/training-means.csv"
  gives 0 '' fit runs.csv --no-model --with none
  gives 0 '' fit runs.csv --no-model
}

@test "kernel ridge: two points" {
  table x,y 0,5 1,5
  # k = 1/2, (K + I) d = 5: d = 2 each, f(0) = 2 (1 + 1/2)
  gives 0 '' fit runs.csv "${XY[@]}" --method krr --alpha 1 \
    --gamma 0.69314718055994531 --no-scale --cv none -o m.xml --format json
  check '.fits[0].hyperparameters | .alpha == 1 and .gamma > 0.69'
  same "$(value m.xml 0)" 3
  same "$(value m.xml 1)" 3
}

@test "the target's logarithm" {
  table x,y 0,1 1,2 2,4 3,8
  gives 0 '' fit runs.csv "${XY[@]}" --log --method ols --no-scale --cv none \
    -o m.xml --format json
  near '.fits[0].features[0].coefficient' 0.69314718055994531
  same "$(value m.xml 5)" 32
}

@test "weights: rows count that often, least squares" {
  table x,y,n 1,2,3 2,3,1 4,1,2
  try fit runs.csv "${XY[@]}" --weight n --method ols --no-scale --cv none \
    --no-model --format json
  jq '.fits[0] | .intercept, .features[0].coefficient' out >weighted
  table x,y 1,2 1,2 1,2 2,3 4,1 4,1
  try fit runs.csv "${XY[@]}" --method ols --no-scale --cv none --no-model \
    --format json
  jq '.fits[0] | .intercept, .features[0].coefficient' out >repeated
  paste weighted repeated | while read -r a b; do same "$a" "$b"; done
}

@test "weights: a table of means gives kernel ridge's model of the repeats" {
  for scale in '' --no-scale; do
    table x,y 1,2 1,4 1,3 2,3 4,1 4,2 7,5
    gives 0 '' fit runs.csv "${XY[@]}" --method krr --alpha 0.1 --gamma 0.3 \
      $scale --cv none -o repeats.xml
    table x,y,n 1,3,3 2,3,1 4,1.5,2 7,5,1
    gives 0 '' fit runs.csv "${XY[@]}" --weight n --method krr --alpha 0.1 \
      --gamma 0.3 $scale --cv none -o means.xml
    for x in 0 1 2.5 4 9; do
      same "$(value means.xml $x)" "$(value repeats.xml $x)"
    done
  done
}

@test "--define and --alias" {
  table 'architecture,gpu,w,x' net,a100,2,1 vgg16,v100,4,2 vgg11,t4,6,3
  gives 0 '' fit runs.csv --define arch=architecture --alias net=resnet50 \
    --define y=w/2 --target y --features 'x, log(macs_g)' --method ridge \
    --lambda 1 --cv none --no-model
}

@test "JSON has every fold, however many" {
  try fit "$MEANS" --target gpu_power_w --features 'log(macs_g)' \
    --method ridge --lambda 1 --no-model --format json
  check '.fits[0].cv.folds | length == 45 and (map(.n) | add) == 45'
  try fit "$MEANS" --target gpu_power_w --features 'log(macs_g)' \
    --method ridge --lambda 1 --no-model
  [ "$(wc -l <out)" -lt 60 ] # people get a summary
}

@test "folds: consecutive, shuffled by a seed, by group" {
  line_table
  base=(fit runs.csv "${XY[@]}" --method ols --no-model --format json)
  try "${base[@]}" --cv kfold:3
  check '[.fits[0].cv.folds[].n] == [4, 3, 3]'
  try "${base[@]}" --cv group:g
  check '[.fits[0].cv.folds[].n] == [4, 3, 3] and
    .fits[0].cv.scheme == "group:g"'
  try "${base[@]}" --cv kfold-shuffled:5
  cp out one
  try "${base[@]}" --cv kfold-shuffled:5 --seed 1
  cmp one out
  try "${base[@]}" --cv none
  check '.fits[0].cv == null'
}

@test "hyper-parameters by search: the same with every seed given again" {
  for how in grid random:20; do
    try fit "$MEANS" --target gpu_power_w --features 'log(macs_g), batch_size' \
      --method krr --search $how --seed 7 --cv kfold:5 -o a.xml --format json
    check '.fits[0].hyperparameters | .alpha > 0 and .gamma > 0'
    try fit "$MEANS" --target gpu_power_w --features 'log(macs_g), batch_size' \
      --method krr --search $how --seed 7 --cv kfold:5 -o b.xml
    cmp a.xml b.xml
  done
}

@test "with nothing else: power and epoch energy, and a model for predict" {
  cp "$MEANS" runs.csv
  try fit runs.csv --format json
  [ "$status" -eq 0 ]
  check '[.fits[].target] | index("gpu_power_w") != null and
    index("epoch_energy_j") != null'
  check '.model == "runs.dlest.xml" and (.fits | all(.cv.folds | length > 1))'
  check '.fits | all([.left_out[].left_out] ==
    ["config", "arch", "gpu"])'
  try predict --arch vgg16 --gpu rtx-3070 --model runs.dlest.xml --format json
  [ "$status" -eq 0 ]
  check '.estimates[] | select(.method == "pre-power") |
    .model == "runs.dlest.xml" and .energy_j > 0'
  check '[.predictions[].target] | index("gpu_power_w") != null'
}

@test "the same bytes with 1, 2 and 3 threads" {
  for n in 1 2 3; do
    OMP_NUM_THREADS=$n "$DLEST" fit "$MEANS" -o m.xml --format json >"$n.json"
    mv m.xml "$n.xml"
  done
  cmp 1.json 2.json
  cmp 1.json 3.json
  cmp 1.xml 2.xml
  cmp 1.xml 3.xml
}

@test "CSV: one row a fit" {
  try fit "$MEANS" --target gpu_power_w --features 'log(macs_g)' --no-model \
    --format csv
  [ "$(wc -l <out)" -eq 2 ]
  head -1 out | grep -q '^target,unit,boundary,method,n,configurations,scheme,'
  sed -n 2p out | grep -q '^gpu_power_w,W,gpu,ridge,45,45,group:config,'
}

@test "where the model goes" {
  line_table
  fit=(fit runs.csv "${XY[@]}" --method ols)
  gives 0 '' "${fit[@]}"
  [ -s runs.dlest.xml ]
  gives 0 '' "${fit[@]}" -o other.xml
  diff <(grep -v provenance other.xml) <(grep -v provenance runs.dlest.xml)
  gives 0 '' fit - "${XY[@]}" --method ols <runs.csv
  [ -s stdin.dlest.xml ]
  rm -- *.xml
  gives 0 '' "${fit[@]}" --no-model
  [ -z "$(find . -name '*.xml')" ]
}

@test "-o -: the model alone" {
  line_table
  gives 0 '' fit runs.csv "${XY[@]}" --method ols -o -
  head -1 out | grep -q '^<?xml '
  [ "$(tail -1 out)" = '</model>' ]
  cp out m.xml
  same "$(value m.xml 50)" 101
}

@test "--means: a row a configuration, with standard deviations and n" {
  table config,arch,gpu,x,gpu_power_w c1,vgg16,a100,1,10 c2,vgg16,v100,2,7 \
    c1,vgg16,a100,1,14
  gives 0 '' fit runs.csv --means means.csv
  [ "$(wc -l <means.csv)" -eq 3 ]
  head -1 means.csv | grep -q 'gpu_power_w,gpu_power_w_sd'
  grep -q '^c1,.*,12,2\.8284271[0-9]*,.*2$\|^c1,.*,12,2\.8284271[0-9]*,2$' \
    means.csv
}

@test "a rank-deficient design: solved, with the columns concerned" {
  table x,z,y 1,2,3 2,4,5 3,6,8 4,8,9 5,10,12 6,12,13
  deficient=(fit runs.csv --target y --features x,z --method ols --cv none
    --no-model)
  text="dlest: warning: $(message design_is_rank_deficient 1 2 \
    "columns 'x', 'z' are linear combinations of each other")"
  gives 0 "$text" "${deficient[@]}" --no-scale --format json
  check '.warnings | length == 1'
  # How the slope over x is shared out between x and z is up to the solver.
  near '.fits[0].features | .[0].coefficient + 2 * .[1].coefficient' 72/35
  refuses 3 "$text
dlest: $(message warning_with_strict_nothing 1 "")" "${deficient[@]}" --strict
}

@test "rows that cannot be used: reported, counted, the rest fitted" {
  table x,gpu_power_w 1,2 2,-5 3, 4,8 5,10
  gives 3 "dlest: warning: runs.csv:3: $(message is_not_between \
    "column 'gpu_power_w'" -5 0 1e+09)
dlest: warning: runs.csv:4: $(message column_no_value gpu_power_w)
dlest: $(message row_skipped 2 s)" fit runs.csv --target gpu_power_w --features x \
    --method ols --no-scale --cv none -o m.xml --format json
  check '.fits[0].n == 3'
  near '.fits[0].features[0].coefficient' 2
  [ -s m.xml ]
  refuses 3 "dlest: warning: runs.csv:3: $(message is_not_between \
    "column 'gpu_power_w'" -5 0 1e+09)
dlest: warning: runs.csv:4: $(message column_no_value gpu_power_w)
dlest: $(message row_skipped 2 s)
dlest: $(message warning_with_strict_nothing 2 s)" fit runs.csv \
    --target gpu_power_w --features x --method ols --cv none -o strict.xml \
    --strict
  [ ! -e strict.xml ]
}

# Refusals

@test "columns that are not there" {
  line_table
  no="dlest: runs.csv: $(message no_column_nearest foo "$(message the_table_has "'x', 'y', 'g'")")"
  refuses 2 "$no" fit runs.csv --target y --features foo
  refuses 2 "$no" fit runs.csv --target foo --features x
  refuses 2 "$no" fit runs.csv "${XY[@]}" --weight foo
  refuses 2 "$no" fit runs.csv "${XY[@]}" --offset foo
  refuses 2 "$no" fit runs.csv "${XY[@]}" --cv group:foo
  [ -z "$(find . -name '*.xml')" ]
}

@test "nothing to fit" {
  line_table
  refuses 3 'dlest: runs.csv: nothing to fit: found neither gpu_power_w nor '\
'energy_j with epochs, or too few settings beside them; choose with --target '\
'and --features' fit runs.csv
  refuses 2 "dlest: runs.csv: $(message no_recipe_fits_target y)" fit runs.csv --target y
  refuses 2 "dlest: $(message features_needs_a_target)" fit runs.csv --features x
}

@test "a choice of recipes keeps the options given" {
  gives 0 '' fit "$MEANS" --target gpu_power_w --method krr --alpha 1e9 \
    --no-model --format json
  check '.fits[0].hyperparameters.alpha == 1e9'
  gives 0 '' fit "$MEANS" --target gpu_power_w --method ridge --lambda 7 \
    --no-scale --no-model --format json
  check '.fits[0].hyperparameters.lambda == 7'
  check '.fits[0].features | all(.mean == null)'
  lambda=()
  for seed in 1 2; do
    gives 0 '' fit "$MEANS" --target gpu_power_w --method ridge \
      --search random:1 --seed $seed --no-model --format json
    lambda+=("$(jq '.fits[0].hyperparameters.lambda' out)")
  done
  [ "${lambda[0]}" != "${lambda[1]}" ]
}

# chosen ARG...: dlest fit of the epochs' energy of the example runs, without a
# warning. It takes long, so that equal ones run once for this file.
chosen() {
  local kept
  kept=$BATS_FILE_TMPDIR/chosen$(printf %s "$*" | tr ' ' _)
  if [ ! -e "$kept" ]; then
    gives 0 '' fit "$DLEST_DATADIR/data/examples/runs.csv" --no-model \
      --target epoch_energy_j "$@"
    cp out "$kept"
  fi
  cp "$kept" out
}

@test 'what was chosen is printed where there was a choice' {
  local runs=$DLEST_DATADIR/data/examples/runs.csv
  chosen --details
  tr '\n' ' ' <out | tr -s ' ' >line
  grep -qF "Chosen from 10 by their mean error: krr, with the recipe \"host,\
 input, arithmetic and activations\"." line
  # The first row of what was tried is that of JSON, as percentages.
  row=$(grep -m 1 '^    krr  *host, input, arithmetic and activations ' out)
  chosen --format json
  jq -r '.fits[0].chosen' out | awk -v row="$row" '{
    n = split(row, cell, " ")
    for (i = 0; i < 4; i++) {
      d = cell[n - i] - 100 * $(NF - 2 * i)
      if (d * d > 0.06 ^ 2)
        exit 1
    } }'
  try fit "$runs" --no-model --target epoch_energy_j --method physical \
    --details
  [ "$status" -eq 0 ]
  [ "$(grep -ci chosen out)" -eq 0 ]
}

@test 'the errors of several targets fit a screen' {
  gives 0 '' fit "$DLEST_DATADIR/data/examples/runs.csv" -o m.xml -q
  [ "$(wc -l <out)" -le 10 ]
  [ "$(wc -L <out)" -le 80 ]
  # Targets and errors are those of JSON.
  awk '/^  [a-z]+_[a-z_]+ / { print $1, $3, $5, $7 }' out >shown
  gives 0 '' fit "$DLEST_DATADIR/data/examples/runs.csv" --no-model -q -f json
  jq -r '.fits[] | "\(.target) \([.left_out[:3][].mape] | @tsv)"' out |
    awk '{ printf "%s %.1f %.1f %.1f\n", $1, 100 * $2, 100 * $3, 100 * $4 }' \
      >wanted
  cat shown wanted
  diff shown wanted
}

# A run of each of three configurations on each of GPUs, whose power is off by a
# factor of its GPU: intervals of new GPUs have that width.
@test 'the first screen: intervals, what a fit is based on, and what would help' {
  python3 - >many.csv <<'END'
print("arch,gpu,batch_size,gpu_power_w")
gpus = "a100 h100 v100 t4 a40 l40 a30 l4 p100 a10 rtx-3090 rtx-4090".split()
for i, gpu in enumerate(gpus):
    for arch, w in ("resnet50", 45), ("vgg16", 50), ("densenet121", 44):
        print(f"{arch},{gpu},64,{w * (1.2 if i % 2 else 1 / 1.2):.6f}")
END
  COLUMNS=80 gives 0 '' fit many.csv --log --method ols --features 'log(macs_g)' \
    --target gpu_power_w --no-model
  [ "$(grep -c . out)" -le 13 ] # with the coefficients
  [ "$(wc -L <out)" -le 80 ]
  # Residuals are 1.2 or 1 / 1.2, -17 and +20 %; the interval has them.
  awk '$1 == "gpu_power_w" {
    low = $(NF - 3); high = $(NF - 1)
    if (low > -17 || low < -35 || high < 20 || high > 45) exit 1
    seen = 1 } END { exit !seen }' out
  grep -q '^Basis   ols on 36 runs of 36 configurations, 3 architectures, 12 GPUs$' out
  grep -qE '^Better  runs of more (GPU|architecture|configuration)s: ' out
  # One GPU: nothing is known about others.
  sed -n '1p;/,a100,/p' many.csv >one.csv
  printf 'mobilenetv2_100,a100,64,40\nresnet18,a100,64,42\n' >>one.csv
  gives 0 '' fit one.csv --method ols --features 'log(macs_g)' \
    --target gpu_power_w --no-model
  grep -q '^Better  runs on other GPUs: ' out
}

@test "calibrate: the first screen, and what would help next" {
  # From 5 configurations on a GPU has intervals of its own.
  local shown left
  for n in 1 4 5; do
    table "$(head -n 1 "$DLEST_DATADIR/data/examples/runs.csv")"
    grep gtx-1080-ti "$DLEST_DATADIR/data/examples/runs.csv" | head -n "$n" |
      sed 's/gtx-1080-ti/rtx-4070/' >>runs.csv
    COLUMNS=80 gives 0 '' calibrate runs.csv -o mine.xml
    [ "$(grep -c . out)" -le 10 ]
    [ "$(wc -L <out)" -le 80 ]
    grep -q "^Basis   $n runs\? of $n configurations\? on 1 GPU" out
    shown=$(sed -n 's/^Better  \([0-9]*\) more conf.* on rtx-4070: .*/\1/p' out)
    left=$((5 - n))
    [ "${shown:-0}" -eq "$left" ]
  done
  grep -q '^Better  dlest calibrate PLAN.csv --suggest ' out
}

@test 'people get three digits, and details on request' {
  chosen
  ! grep -qE 'Residuals|Features|alpha|[0-9][.][0-9]{5}' out || false
  # Its pooled scores are those of the first row of the table below.
  ! grep -q '^  Cross-validation, group:config' out || false
  grep -qE '^  epoch_energy_j +gpu\+ram +[0-9.]+ % ' out
  chosen --details
  grep -q 'Residuals, log' out
  grep -q '^  alpha ' out
  [ "$(awk '/^    pooled rows/ { print $4, $5, $6, $7 }' out)" = \
    "$(awk '/^    config / { print $3, $4, $5, $6 }' out)" ]
  chosen --format json
  cp out brief.json
  chosen --format json --details
  diff brief.json out
}

@test "a column dataset gives the training samples" {
  runs=$TOP_SRCDIR/data/examples/runs.csv
  # imagenette has 9469 training samples, as all rows of that table
  python3 - "$runs" <<'END' >named.csv
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {(r["dataset"], r["train_samples"]) for r in rows} == {
    ("imagenette", "9469")}
names = [n for n in rows[0] if n not in ("train_samples", "val_samples")]
out = csv.DictWriter(sys.stdout, names, extrasaction="ignore")
out.writeheader()
out.writerows(rows)
END
  "$DLEST" fit "$runs" --target epoch_energy_j --no-model -q -f json >want.json
  "$DLEST" fit named.csv --target epoch_energy_j --no-model -q -f json >got.json
  scores='[.fits[] | .cv]'
  [ "$(jq -c "$scores" got.json)" = "$(jq -c "$scores" want.json)" ]
  # a name that is unknown is reported with its row
  sed 's/imagenette/imagenett/' named.csv >bad.csv
  try fit bad.csv --target epoch_energy_j
  [ "$status" -eq 3 ]
  grep -q "bad.csv:3: unknown dataset 'imagenett' (did you mean" err
}
