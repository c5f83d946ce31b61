#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The first screen of each command: at most 10 lines on a terminal of 80
# columns, with all that goes to it.

load ../common
load on_terminal

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_CONFIG_HOME=$PWD/config
  unset DLEST_ARGS COLUMNS
  examples=$DLEST_DATADIR/data/examples
}

# on_screen COLUMNS ARG...: what dlest shows on a terminal, in the file seen;
# progress, which is cleared again, is left out.
on_screen() {
  CHECKED=1 TERM=xterm WIDTH=$1 on_terminal "${@:2}" || return
  sed -i $'s/.*\r\033\\[K//' seen
}

# fits LINES ARG...: the screen of 80 columns has at most so many lines, none
# wider; one of 120 columns has no more.
fits() {
  local most=$1
  shift
  on_screen 80 "$@"
  cat seen
  [ "$(wc -l <seen)" -le "$most" ]
  [ "$(wc -l <seen)" -ge 2 ]
  [ "$(LC_ALL=C.UTF-8 wc -L <seen)" -le 80 ]
  local lines
  lines=$(wc -l <seen)
  on_screen 120 "$@"
  [ "$(LC_ALL=C.UTF-8 wc -L <seen)" -le 120 ]
  [ "$(wc -l <seen)" -le "$lines" ]
}

@test 'predict: trainings' {
  fits 10 predict --arch resnet50 --gpu a100
  fits 10 predict --arch resnet50 --gpu a100 --gpus 4 --country DE
  fits 10 predict --arch resnet50 --gpu h100-nvl --precision amp
  fits 10 predict --arch llama-3.1-8b --gpu a100 --gpus 4 --dataset alpaca \
    --fine-tune lora
  fits 10 predict --arch yolov8n --gpu t4 --dataset coco2017
  fits 10 predict --arch llama-3-8b --gpu h100 --gpus 1024 --tokens 15e12
}

@test 'predict: serving' {
  fits 10 predict --arch qwen3-32b --gpu h100 --gpus 2 --phase inference \
    --requests 100000 --prompt-tokens 500 --output-tokens 300
  fits 10 predict --arch qwen3-32b --gpu h100 --gpus 2 --phase inference \
    --request-rate 1.16 --prompt-tokens 500 --output-tokens 300
  fits 10 predict --arch resnet50 --gpu t4 --phase inference --requests 1000
}

@test 'step' {
  fits 10 step "$examples/gpu-7.csv" --epochs 90
}

@test 'extract' {
  fits 10 extract "$examples/gpu-7.csv" --set arch=resnet50
}

@test 'compare' {
  fits 10 compare "$examples/runs.csv" --cv group:gpu
}

@test 'recommend: one network and several' {
  fits 10 recommend --arch resnet50
  fits 10 recommend --arch resnet50,vit_base_patch16_224
  fits 10 recommend --arch resnet18,resnet34,resnet50,vgg16,densenet121
  fits 10 recommend --arch llama-2-7b --tokens 1e9 --fine-tune lora
}

@test 'report' {
  fits 10 report "$examples/sacct.txt"
  fits 10 report "$examples/sacct.txt" --country DE --price 0.3EUR
}

@test 'fit' {
  fits 10 fit "$examples/runs.csv" -o m.xml
  fits 10 fit "$examples/runs.csv" --target epoch_energy_j -o m.xml
}

@test 'calibrate' {
  fits 10 calibrate "$examples/runs.csv" -o m.xml
  fits 10 calibrate "$examples/plan.csv" --suggest
}

@test 'record' {
  fits 10 record --cpu-tdp 100 -o r.csv -- true
}
