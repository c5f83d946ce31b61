# SPDX-License-Identifier: GPL-3.0-or-later
# dlest calibrate: what it refuses, what it learns from, and that it learns of
# the machine that was measured alone. tools/docs/calibration.py has the figures.

load common

runs() { # ROW...: runs.csv
  printf '%s\n' arch,gpu,batch_size,image_px,train_samples,val_samples,\
epochs,gpu_power_w,energy_j,boundary,host,framework "$@" >runs.csv
}

# A sixth less power and a third more energy than the model that ships tells.
one=resnet50,rtx-3070,32,224,10000,0,1,165,12000,gpu+ram,,tensorflow

# energy MODEL GPU [ARG...]: of an epoch
energy() {
  local model=$1 gpu=$2
  shift 2
  "$DLEST" predict --model "$model" --gpu "$gpu" --arch resnet50 -e 1 \
    --batch-size 64 --framework tensorflow --method physical -q --format json \
    "$@" |
    jq '.estimates[0].energy_j'
}

# close A B SHARE: they differ by at most that
close() {
  awk -v a="$1" -v b="$2" -v s="$3" \
    'BEGIN { d = a / b - 1; exit !((d < 0 ? -d : d) <= s) }'
}

@test "a table without anything measured is refused" {
  printf 'arch,gpu,batch_size,train_samples\nresnet50,a40,32,10000\n' >runs.csv
  refuses 3 "dlest: runs.csv: $(message none_model_targets_is)" calibrate runs.csv
  [ ! -e runs.calibrated.xml ]
}

@test "standard input is refused" {
  refuses 2 "dlest: $(message table_is_read_several)" \
    calibrate - </dev/null
}

@test "a table without rows is refused" {
  runs
  refuses 3 "dlest: runs.csv: $(message no_run_that_could_be)" calibrate runs.csv
}

@test "a GPU without a descriptor is refused" {
  runs resnet50,nosuch-gpu,32,224,10000,0,1,150,20000,gpu+ram,,
  try calibrate runs.csv
  [ "$status" -eq 3 ]
  grep -q "runs.csv:2: unknown gpu 'nosuch-gpu'" err
  grep -q "$(message no_run_that_could_be)" err
  [ ! -e runs.calibrated.xml ]
}

@test "energies that are none are refused" {
  for energy in -5 nan inf 1e400 abc; do
    runs "resnet50,rtx-3070,32,224,10000,0,1,150,$energy,gpu+ram,,"
    try calibrate runs.csv
    [ "$status" -eq 3 ]
    grep -q "runs.csv:2: column 'energy_j'" err
    [ ! -e runs.calibrated.xml ]
  done
  runs resnet50,rtx-3070,32,224,10000,0,1,0,20000,gpu+ram,,
  refuses 3 "dlest: runs.csv:2: $(message must_be_above gpu_power_w)" \
    calibrate runs.csv
}

@test "a model that cannot learn so is refused" {
  runs "$one"
  try calibrate runs.csv --model "$DLEST_DATADIR/models/pre.xml"
  [ "$status" -eq 2 ]
  grep -q 'cannot be calibrated; physical can' err
  grep -v 'name="factor"' "$DLEST_DATADIR/models/physical.xml" >old.xml
  refuses 3 "dlest: $(message model_does_not_say)" calibrate runs.csv --model old.xml
}

@test "one run teaches its machine and leaves the others alone" {
  runs "$one"
  gives 0 '' calibrate runs.csv -o mine.xml -q --format json
  check '.calibrations | length == 2 and all(.mape_after < .mape_before / 4)'
  local shipped=$DLEST_DATADIR/models/physical.xml
  ! close "$(energy mine.xml rtx-3070)" "$(energy "$shipped" rtx-3070)" 0.1
  for gpu in a40 v100-pcie-32gb rtx-3090 gtx-750-ti; do
    close "$(energy mine.xml $gpu)" "$(energy "$shipped" $gpu)" 0.07
  done
}

@test "a power, an energy or a time alone teaches both targets" {
  local cells
  for cells in 150,, ,20000, ,,110; do
    printf '%s\n' arch,gpu,batch_size,image_px,train_samples,val_samples,\
epochs,boundary,gpu_power_w,energy_j,duration_s \
      "resnet50,rtx-3070,32,224,10000,0,1,gpu+ram,$cells" >runs.csv
    gives 0 '' calibrate runs.csv -o mine.xml -q --format json
    check '[.calibrations[].target] == ["gpu_power_w", "epoch_energy_j"]'
    ! close "$(energy mine.xml rtx-3070)" \
      "$(energy "$DLEST_DATADIR/models/physical.xml" rtx-3070)" 1e-3
  done
  # Nothing of the target was measured: there is no error to tell.
  check '.calibrations | all(.mape_before == null and .mape_after == null)'
}

@test "several GPUs and hosts are told apart" {
  runs resnet50,rtx-3070,32,224,10000,0,1,150,10000,gpu+ram,slow, \
    resnet50,rtx-3070,64,224,10000,0,1,150,10000,gpu+ram,slow, \
    mobilenet_v2,rtx-3070,32,224,10000,0,1,90,3000,gpu+ram,quick, \
    resnet50,a100-sxm4-40gb,32,224,10000,0,1,250,9000,gpu+ram,big,
  gives 0 '' calibrate runs.csv -o mine.xml -q --format json
  check '.calibrations | all(.runs == 4 and .mape_after < .mape_before)'
  ! close "$(energy mine.xml rtx-3070 --set host=slow)" \
    "$(energy mine.xml rtx-3070 --set host=quick)" 1e-3
  # The only host of its GPU need not be named.
  [ "$(energy mine.xml a100-sxm4-40gb --set host=big)" = \
    "$(energy mine.xml a100-sxm4-40gb)" ]
}

@test "what was learnt is kept for the next run" {
  runs "$one"
  gives 0 '' calibrate runs.csv -o first.xml -q
  runs mobilenet_v2,rtx-3070,32,224,10000,0,1,90,6000,gpu+ram,,tensorflow
  gives 0 '' calibrate runs.csv --model first.xml -o second.xml -q
  xmllint --noout --relaxng "$DLEST_DATADIR/models/model.rng" second.xml
  close "$(energy second.xml rtx-3070)" "$(energy first.xml rtx-3070)" 0.15
}

@test "more runs do not make it worse" {
  [ -f "$MEASURED_RUNS/delrey2024/runs.csv" ] ||
    skip "no measured runs in '$MEASURED_RUNS'"
  python3 -B "$TOP_SRCDIR/tools/docs/calibration.py" "$DLEST" "$MEASURED_RUNS" \
    --gpu rtx-3070 --counts 1,10 >table.md
  # before, one run, ten: errors of power / energy, bounds above what was seen
  awk -F '[|/]' '$2 ~ /rtx-3070/ && NF > 8 {
    seen++
    exit !($7 < 0.75 * $5 && $9 < 0.5 * $5 && $7 < 14 && $9 < 9)
  }
  END { if (!seen) exit 1 }' table.md
}
