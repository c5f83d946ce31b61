#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Changes of the input that must not change the result, or change it in a known
# way: there is no other expected value.

load ../common

@test "a log from a slow pipe is recognised as its file is" {
  printf '%s\n' 'JobID|ElapsedRaw|ConsumedEnergyRaw' '5|1|0' '5.batch|1|200' \
    '5.0|0|100' '5|2|0' '5.batch|2|500' '5.0|1|390' >sstat.txt
  gives 0 '' extract sstat.txt -f json
  check '.runs[0].format == "sstat"'
  jq '.runs[0] | del(.file, .run_id)' out >file.json
  { head -n 3 sstat.txt; sleep 0.2; tail -n +4 sstat.txt; } |
    "$DLEST" extract - -f json | jq '.runs[0] | del(.file, .run_id)' >pipe.json
  diff -u file.json pipe.json
}

# --- tables and fits

# y depends on a and b in a way that no straight line follows; six groups.
noisy_table() { # FILE
  awk 'BEGIN { srand(7); print "a,b,g,y"
    for (i = 0; i < 30; i++) { a = 1 + 9 * rand(); b = 5 * rand()
      printf "%.6f,%.6f,g%d,%.6f\n", a, b, i % 6,
        20 + 3 * a + b * b + 2 * rand() } }' >"$1"
}

# fitted NAME TABLE ARG...: the model and the report in NAME.xml and NAME.json,
# predictions for three points, two within the table, in NAME.y; a is in units
# of 1/$unit
unit=
warning=
fitted() {
  local name=$1 table=$2 point
  shift 2
  gives 0 "$warning" fit "$table" --target y --features a,b --cv group:g "$@" \
    -o "$name.xml" -f json
  cp out "$name.json"
  for point in '2 1' '7.5 3.25' '12 6'; do
    # shellcheck disable=SC2086 # two words
    set -- $point
    "$DLEST" predict --model "$name.xml" --set "a=$1$unit" --set "b=$2" -q -f json |
      jq '.predictions[0].value'
  done >"$name.y"
}

# copied LINE N: the warning of N rows that repeat others, of line 2 the first
copied() {
  echo "dlest: warning: $1: $(message rows_repeated 2 "$2" 's count' \
    'them if they are copies')"
}

# factor A B FACTOR [TOLERANCE]: each number of A is FACTOR times that of B
factor() {
  paste "$1" "$2" | awk -v k="$3" -v most="${4:-1e-9}" '
    { d = $1 == 0 && $2 == 0 ? 0 : $1 / (k * $2) - 1; n++
      if (!(d < most && -d < most)) { print $1, "is not", k, "times", $2; bad = 1 }
    } END { exit bad || n == 0 }'
}

# score NAME: the errors of the cross-validation
score() {
  jq '.fits[0].cv.pooled | .mape, .rmse, .r2' "$1.json" >"$1.cv"
}

@test "three copies of a table: the same least squares" {
  noisy_table one.csv
  { cat one.csv; tail -n +2 one.csv; tail -n +2 one.csv; } >three.csv
  fitted one one.csv --method ols
  warning=$(copied three.csv:32 60)
  fitted three three.csv --method ols
  factor three.y one.y 1
  score one
  score three
  factor three.cv one.cv 1
}

# The penalty is not divided by the number of rows (ridge.c, krr.c).
@test "three copies of a table and three times the penalty: the same ridge, krr" {
  noisy_table one.csv
  { cat one.csv; tail -n +2 one.csv; tail -n +2 one.csv; } >three.csv
  for method in 'ridge --lambda' 'krr --gamma 0.1 --alpha'; do
    # shellcheck disable=SC2086 # options
    fitted one one.csv --method $method 0.5
    warning=$(copied three.csv:32 60)
    # shellcheck disable=SC2086
    fitted three three.csv --method $method 1.5
    warning=
    factor three.y one.y 1
    score one
    score three
    factor three.cv one.cv 1
  done
}

@test "a weight of three is three copies: least squares, ridge, krr" {
  noisy_table one.csv
  awk -F, '{ print $0 "," (NR == 1 ? "n" : NR % 3 + 1) }' one.csv >weighted.csv
  awk -F, 'NR == 1; NR > 1 { for (i = 0; i < NR % 3 + 1; i++) print }' \
    one.csv >copies.csv
  for method in ols 'ridge --lambda 0.5' 'krr --gamma 0.1 --alpha 0.5'; do
    # shellcheck disable=SC2086 # options
    fitted weighted weighted.csv --weight n --method $method
    # shellcheck disable=SC2086
    warning=$(copied copies.csv:3 30)
    fitted copies copies.csv --method $method
    warning=
    factor weighted.y copies.y 1
  done
}

@test "rows in another order: the same fit" {
  noisy_table one.csv
  { head -n 1 one.csv; tail -n +2 one.csv | tac; } >back.csv
  { head -n 1 one.csv; tail -n +2 one.csv | sort; } >sorted.csv
  for method in ols ridge krr; do
    fitted one one.csv --method $method
    for other in back sorted; do
      fitted $other $other.csv --method $method
      factor $other.y one.y 1 1e-8
      score one
      score $other
      factor $other.cv one.cv 1 1e-8
    done
  done
}

@test "rows and columns in another order: the same physical fit" {
  runs=$DLEST_DATADIR/data/examples/runs.csv
  { head -n 1 "$runs"; tail -n +2 "$runs" | tac; } >rows.csv
  awk -F, -v OFS=, '{ for (i = NF; i > 0; i--) printf "%s%s", $i,
    (i > 1 ? "," : "\n") }' "$runs" >columns.csv
  for table in "$runs" rows.csv columns.csv; do
    name=$(basename "$table" .csv)
    gives 0 '' fit "$table" --method physical --with none --cv group:arch \
      --target gpu_power_w --target epoch_s -q -f json -o "$name.xml"
    jq '.fits[].cv.pooled | .mape, .rmse' out >"$name.cv"
    for gpu in rtx-3090 v100; do
      "$DLEST" predict --model "$name.xml" --arch resnet50 --gpu $gpu \
        --batch-size 64 --image-px 128 -q -f json | jq '.predictions[].value'
    done >"$name.y"
  done
  [ "$(wc -l <runs.y)" -eq 4 ]
  for name in rows columns; do
    factor $name.y runs.y 1 1e-6
    factor $name.cv runs.cv 1 1e-6
  done
}

@test "columns in another order and renamed by --define: the same fit" {
  noisy_table one.csv
  awk -F, -v OFS=, '{ print $3, NR == 1 ? "result" : $4, $2,
    NR == 1 ? "half_a" : $1 / 2 }' OFMT=%.9g one.csv >renamed.csv
  for method in ols ridge 'krr --gamma 0.1 --alpha 0.5'; do
    # shellcheck disable=SC2086 # options
    fitted one one.csv --method $method
    # shellcheck disable=SC2086
    fitted renamed renamed.csv --method $method --define y=result \
      --define 'a=half_a * 2'
    factor renamed.y one.y 1 1e-8
  done
}

# Kernel ridge has no intercept, so that its fit of a logarithm depends on the
# unit.
@test "a target in another unit: the prediction in that unit" {
  noisy_table one.csv
  awk -F, -v OFS=, 'NR > 1 { $4 = sprintf("%.3f", $4 * 1000) } 1' one.csv >k.csv
  for method in ols 'ols --log' 'ridge --lambda 0.5' \
    'ridge --lambda 0.5 --log' 'krr --gamma 0.1 --alpha 0.5'; do
    # shellcheck disable=SC2086 # options
    fitted one one.csv --method $method
    # shellcheck disable=SC2086
    fitted k k.csv --method $method
    factor k.y one.y 1000
    jq '.fits[0].cv.pooled | .mape, .r2' one.json >one.cv
    jq '.fits[0].cv.pooled | .mape, .r2' k.json >k.cv
    factor k.cv one.cv 1
  done
}

@test "a feature in another unit: the same fit, features being scaled" {
  noisy_table one.csv
  awk -F, -v OFS=, 'NR > 1 { $1 = sprintf("%.3f", $1 * 1000) } 1' one.csv >m.csv
  for method in ols 'ols --no-scale' ridge 'krr --gamma 0.1 --alpha 0.5'; do
    # shellcheck disable=SC2086 # options
    fitted one one.csv --method $method
    # shellcheck disable=SC2086
    unit=e3 fitted m m.csv --method $method
    factor m.y one.y 1 1e-8
  done
}

@test "a plan in another order, or in two parts: the same rows" {
  plan=$DLEST_DATADIR/data/examples/plan.csv
  estimates() { # FILE
    "$DLEST" predict --input "$1" -q -f csv | tail -n +2
  }
  estimates "$plan" >whole
  [ "$(wc -l <whole)" -ge 12 ]
  { head -n 1 "$plan"; tail -n +2 "$plan" | tac; } >back.csv
  estimates back.csv | sort | diff - <(sort whole)
  sed 3d "$plan" >first.csv
  sed -n '1p;3p' "$plan" >second.csv
  { estimates first.csv; estimates second.csv; } | sort | diff - <(sort whole)
}

@test "measured runs in another order: the same scores of all methods" {
  runs=$DLEST_DATADIR/data/examples/runs.csv
  { head -n 1 "$runs"; tail -n +2 "$runs" | tac; } >back.csv
  scores() { # FILE
    "$DLEST" compare "$1" --method tdp,green-algorithms,flops -q -f json |
      jq '.scores[] | .rmse_j, .mae_j, .mape, .median_ape, .r2, .bias_j,
        .rank'
  }
  scores "$runs" >one
  scores back.csv >back
  [ "$(wc -l <one)" -gt 10 ]
  factor back one 1
}

@test "estimates: kWh, facility, CO2e and power follow from the energy" {
  try predict --arch resnet50,vgg16 --gpu a100,t4,rtx-3090 --gpus 1,4 \
    --pue 1.25 --intensity 300 -q -f json
  check '.estimates | length == 2 * 3 * 2 * 6'
  check '[.estimates[] | select(.energy_j) |
    (.energy_kwh * 3.6e6 / .energy_j - 1 | fabs),
    (.facility_energy_j / (1.25 * .energy_j) - 1 | fabs),
    (.co2e_g / (300 * .facility_energy_j / 3.6e6) - 1 | fabs)] | max < 1e-12'
  check '[.estimates[] | select(.energy_j and .power_w and .duration_s) |
    (.power_w * .duration_s / .energy_j - 1 | fabs)] | length > 20 and
    max < 1e-12'
  check '[.estimates[] | select(.low_j) |
    .low_j <= .energy_j and .energy_j <= .high_j] | length > 10 and all'
}

# --- logs

# power_log FILE ROWS: two GPUs, about one sample a second, powers that vary
power_log() {
  awk -v n="$2" 'BEGIN { srand(11); print "timestamp,index,gpu_power_w"
    for (i = 0; i < n; i++) for (k = 0; k < 2; k++)
      printf "2024-03-05 %02d:%02d:%02d.%03d,%d,%.3f\n", 10 + i / 3600,
        i / 60 % 60, i % 60, 900 * rand(), k, 100 + 300 * rand() }' >"$1"
}

# energies FILE...: energy and duration of each run
energies() {
  "$DLEST" extract "$@" --no-join -q -f json |
    jq '.runs[] | .energy_j, .gpu_energy_j, .duration_s'
}

# changed AWK FACTOR: with the rows of the log so, energies are FACTOR times
changed() {
  awk -F, -v OFS=, "$1" a.csv >b.csv
  energies a.csv | sed 3d >one
  energies b.csv | sed 3d >other
  factor other one "$2"
  energies a.csv | sed -n 3p >one
  energies b.csv | sed -n 3p >other
  factor other one 1
}

@test "a log: twice the power, another unit, column order, date, zone" {
  power_log a.csv 300
  changed 'NR > 1 { $3 = sprintf("%.3f", 2 * $3) } 1' 2
  changed 'NR == 1 { $3 = "gpu_power_mw" } NR > 1 { $3 = $3 * 1000 } 1' 1
  changed 'NR == 1 { $3 = "gpu_power_kw" }
    NR > 1 { $3 = sprintf("%.6f", $3 / 1000) } 1' 1
  changed '{ print $3, $1, $2 }' 1
  changed '{ sub("03-05", "11-27") } 1' 1
  changed 'NR > 1 { sub(" ", "T", $1); $1 = $1 "+05:30" } 1' 1
  changed 'NR % 7 == 0 { print } 1' 1
}

@test "a log cut in two at a sample: energies and durations add up" {
  power_log a.csv 300
  sed -i '/,1,/d' a.csv
  sed -n '1,120p' a.csv >first.csv
  sed -n '1p; 120,$p' a.csv >second.csv
  energies a.csv >one
  energies first.csv second.csv >both
  awk 'NR <= 3 { x[NR] = $1; next } { printf "%.17g\n", x[NR - 3] + $1 }' \
    both >sum
  factor sum one 1
}

@test "GPUs in one log or in a log each: the same energy" {
  power_log a.csv 300
  sed '/,1,/d' a.csv >first.csv
  sed '/,0,/d' a.csv >second.csv
  energies a.csv | sed 3d >one
  energies first.csv second.csv >both
  awk 'NR <= 3 { x[NR] = $1; next } NR < 6 { printf "%.17g\n",
    x[NR - 3] + $1 }' both >sum
  factor sum one 1
}

# --- accounting and projections

# accounting: 40 jobs of five users with steps, in jobs.txt; a job's lines
# together
accounting() {
  awk 'BEGIN { srand(5); OFS = "|"
    print "JobID", "User", "Account", "Partition", "State", "ElapsedRaw",
      "Start", "NNodes", "ConsumedEnergyRaw", "AllocTRES"
    for (i = 1; i <= 40; i++) {
      s = int(60 + 9000 * rand()); e = rand() < 0.7 ? int(s * 500 * rand()) : 0
      start = sprintf("2024-%02d-03T10:00:00", 1 + i % 4)
      print i, "u" i % 5, "a" i % 3, "gpu", "COMPLETED", s, start, 1, e,
        "cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G"
      print i ".batch", "", "a" i % 3, "", "COMPLETED", s, start, 1, e, ""
      print i ".0", "", "a" i % 3, "", "COMPLETED", s, start, 1, int(e / 2), ""
    } }' >jobs.txt
}

TOTALS='.jobs, .unknown_jobs, .duration_s, .gpu_s, .energy_j, .measured_energy_j,
  .facility_energy_j, .co2e_g'

# totals FILE...: of all jobs
totals() {
  "$DLEST" report "$@" --pue 1.25 --intensity 300 -q -f json |
    jq ".total | $TOTALS"
}

@test "jobs in another order, or in two files: the same totals" {
  accounting
  totals jobs.txt >one
  [ "$(grep -c null one)" -eq 0 ]
  { head -n 1 jobs.txt
    tail -n +2 jobs.txt | paste - - - | tac | tr '\t' '\n'; } >back.txt
  totals back.txt >back
  sed -n '1,61p' jobs.txt >first.txt
  sed -n '1p; 62,$p' jobs.txt >second.txt
  totals first.txt second.txt >both
  factor back one 1
  factor both one 1
  totals first.txt >first
  totals second.txt >second
  paste first second | awk '{ printf "%.17g\n", $1 + $2 }' >sum
  factor sum one 1
}

@test "groups of jobs add up to the total, by whatever they are grouped" {
  accounting
  totals jobs.txt >one
  for by in user account partition month user,month user,account,month; do
    "$DLEST" report jobs.txt --pue 1.25 --intensity 300 --by $by -q -f json |
      jq "[.groups[] | [$TOTALS]] | transpose | map(add) | .[]" >sum
    factor sum one 1
  done
  "$DLEST" report jobs.txt --pue 1.25 --intensity 300 --by job -q -f json >out
  check '(.jobs | length == 40) and
    (([.jobs[].energy_j] | add) / .total.energy_j - 1 | fabs) < 1e-12'
  factor <(jq '.total.facility_energy_j' out) <(jq .total.energy_j out) 1.25
}

# projected FILE: energies by all methods for 50 epochs
projected() {
  "$DLEST" step "$1" --epochs 50 -q -f json |
    jq '.estimates[] | .energy_j, .low_j, .high_j | select(. != null)'
}

@test "epochs with twice the energy, in kWh, columns in another order" {
  awk 'BEGIN { srand(3); print "epoch,duration_s,energy_j"
    for (i = 0; i < 18; i++) printf "%d,%.3f,%.3f\n", i,
      30 + (i == 0) * 9 + rand(), 7000 + (i == 0) * 2500 + 90 * rand() }' >a.csv
  projected a.csv >one
  [ "$(wc -l <one)" -ge 6 ]
  awk -F, -v OFS=, 'NR > 1 { $3 = sprintf("%.3f", 2 * $3) } 1' a.csv >b.csv
  projected b.csv >twice
  factor twice one 2
  awk -F, -v OFS=, 'NR == 1 { print "energy_kwh", $2, $1; next }
    { print sprintf("%.12g", $3 / 3.6e6), $2, $1 }' a.csv >b.csv
  projected b.csv >kwh
  factor kwh one 1
}

@test 'software that is not given may be faster than eager mode, not slower' {
  local stack
  for stack in none eager compiled; do
    gives 0 '' predict --arch resnet50 --gpu h100 --precision bf16 -q -f json \
      --loader synthetic -m physical $([ $stack = none ] || echo --stack $stack)
    jq '.estimates[0] | [.duration_low_s / .duration_s, .low_j / .energy_j,
      .duration_high_s / .duration_s, .high_j / .energy_j]' out >$stack
  done
  # Software without measured speeds may be either.
  jq -en --slurpfile none none --slurpfile eager eager --slurpfile other compiled '
    $none[0] as $n | $eager[0] as $e | $other[0] as $o |
    all(0, 1; $n[.] < .97 * $e[.] and $o[.] < .97 * $e[.]) and
    all(2, 3; ($n[.] / $e[.] - 1 | fabs) < .02 and $o[.] > 1.02 * $e[.])'
}
