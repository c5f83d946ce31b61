#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The JSON of every command is as its schema says.

bats_require_minimum_version 1.5.0

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  python3 "$TOP_SRCDIR/tests/check-schema.py" --have ||
    skip 'no jsonschema for Python (Debian: python3-jsonschema)'
  cd "$BATS_TEST_TMPDIR"
  cp "$TOP_SRCDIR"/data/examples/* .
}

# valid SCHEMA ARGS...: the JSON of dlest ARGS is valid
valid() {
  local schema=$TOP_SRCDIR/schemas/$1.json
  shift
  "$DLEST" "$@" --format json -q >out.json
  python3 "$TOP_SRCDIR/tests/check-schema.py" "$schema" <out.json
}

@test 'predict: one run' {
  valid predict predict --arch resnet50 --gpu a100
  valid predict predict --arch resnet50 --gpu a100 --country ES --pue 1.2 \
    --duration 3h --gpus 4
  valid predict predict --arch resnet50 --gpu a100 --cloud gcp:us-central1
  valid predict predict --arch resnet50 --gpu a100 --price 0.25EUR
  valid predict predict --arch llama-3-8b --gpu h100 --phase inference \
    --prompt-tokens 512 --output-tokens 256 --request-rate 0.1
  valid predict predict --arch resnet50 --gpu a100 --phase inference
}

@test 'predict: on a node' {
  valid predict predict --arch resnet50 --node dgx-h100 --embodied
  valid predict predict --arch resnet50 --node xeon-8368 --price 0.3EUR
  valid predict predict --arch resnet50 --node xeon-8368-4xa100 \
    --share mig:2g.10gb --country ES
  valid predict predict --arch resnet50 --gpu a100 --gpu-share 0.3 --price 1
}

@test 'predict: what cannot be estimated is null' {
  valid predict predict --gpu a100 --duration 2h
}

@test 'predict: a model of your own' {
  "$DLEST" fit runs.csv -o own.xml -q >/dev/null
  valid predict predict --model own.xml --arch resnet50 --gpu a100
}

@test 'predict --input' {
  valid predict-input predict --input plan.csv
  valid predict-input predict --input runs.csv --country ES --pue 1.1 \
    --price 0.25EUR
}

@test 'predict: a sweep' {
  valid predict-input predict --arch resnet50,vgg16 --gpu a100,t4 \
    --batch-size 16..64x2 --country ES --pue 1.1
}

@test 'recommend: estimates, limits, accuracy, measured runs' {
  valid recommend recommend --arch resnet50,vgg16 --gpu a100,t4 \
    --budget-kwh 20 --deadline 100h
  valid recommend recommend --arch resnet50
  printf '%s\n' arch,accuracy resnet50,0.8 vgg16,0.7 >acc.csv
  valid recommend recommend --arch resnet50,vgg16 --gpu t4 --accuracy acc.csv
  valid recommend recommend --table runs.csv
  valid recommend recommend --arch resnet50,vgg16 --node dgx-a100,dgx-h100
}

@test 'fit: by itself, every method, every scheme' {
  valid fit fit runs.csv -o own.xml
  for method in ols ridge krr; do
    valid fit fit runs.csv --target gpu_power_w --method $method --no-model \
      --features 'log(macs_g), batch_size' --cv kfold:4
  done
  valid fit fit runs.csv --target gpu_power_w --features batch_size \
    --method ols --no-model --cv none
  valid fit fit runs.csv --target gpu_power_w --features batch_size \
    --method ridge --no-model --cv group:gpu
}

@test 'compare' {
  valid compare compare runs.csv
  valid compare compare runs.csv --by arch --cv group:gpu
}

@test 'extract' {
  for i in 0 1 2 3 4; do
    echo "2024-03-05 10:00:0$i, $((100 + i)) W, 50 %"
  done | sed '1i timestamp, power.draw [W], utilization.gpu [%]' >gpu.csv
  printf 'epoch,end_time\n0,2024-03-05 10:00:02\n1,2024-03-05 10:00:04\n' \
    >epochs.csv
  valid extract extract gpu.csv --set batch_size=32 --set host=me
  valid extract extract --epochs gpu.csv epochs.csv
}

@test 'step' {
  valid step step gpu-7.csv memory-7.csv --epochs 90
  valid step step gpu-7.csv --epochs 40..90 --phases 10,80 --stabilise fluss
  valid step step epochs.csv --epochs 50 --seen 1
  valid step step epochs.csv --epochs 50 --cloud aws:eu-west-1
}

@test 'report' {
  valid report report sacct.txt
  valid report report sacct.txt --by user,partition --site hpc --country fr
}

@test 'record' {
  export LD_LIBRARY_PATH=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  valid record record --duration 0.2s --interval 50ms --no-trace
}

@test 'list' {
  for what in gpus archs datasets grids sites nodes models methods formats \
    importers sensors; do
    valid list list $what
  done
  valid list list gpus --columns name,vendor --where 'year>2020'
}

@test 'calibrate' {
  valid calibrate calibrate runs.csv -o mine.xml
  valid calibrate-suggest calibrate runs.csv --suggest --for plan.csv --runs 2
  valid calibrate-suggest calibrate plan.csv --suggest --model mine.xml
}

@test 'show' {
  valid show show gpu a100
  valid show show gpu ./lab-card.xml
  valid show show arch resnet50
  valid show show dataset imagenet
  valid show show grid ES
  "$DLEST" calibrate runs.csv -o mine.xml -q >/dev/null
  valid show show model mine.xml
  valid show show model "$DLEST_DATADIR/models/language.xml"
  valid show show site aws:eu-west-1
  valid show show arch vit_b_16
}

@test 'check' {
  valid check check lab-card.xml
  sed 's/275/1e9/' lab-card.xml >wrong.xml
  "$DLEST" check wrong.xml lab-card.xml --format json >out.json || true
  python3 "$TOP_SRCDIR/tests/check-schema.py" \
    "$TOP_SRCDIR/schemas/check.json" <out.json
}

@test 'describe' {
  if "$DLEST" describe tiny-cnn.onnx 2>&1 | grep -q 'built without ONNX'; then
    skip 'built without ONNX'
  fi
  valid describe describe tiny-cnn.onnx
  valid show show arch tiny-cnn.onnx
}

@test 'a key that no schema names is noticed' {
  "$DLEST" list formats --format json | sed 's/"schema"/"new": 1, &/' >out.json
  run ! python3 "$TOP_SRCDIR/tests/check-schema.py" \
    "$TOP_SRCDIR/schemas/list.json" <out.json
}
