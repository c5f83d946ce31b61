#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Rows of tables and options: one rule for both, and what rows take by default.

load ../common.bash

# An A100 of 400 W: 1.25 times it are 500 W, for 1000 s 0.5 MJ.
@test "a power beyond the limit is refused by calibrate as by predict" {
  local power energy boundary
  for power in 490 510; do
    table arch,gpu,batch_size,train_samples,epochs,duration_s,gpu_power_w \
      "resnet50,a100-sxm4-80gb,32,100000,1,1000,$power"
    for command in "calibrate runs.csv -o m.xml" "predict --input runs.csv"; do
      # shellcheck disable=SC2086 # words
      try $command
      [ "$status" -eq $((power > 500 ? 3 : 0)) ]
    done
  done
  # The same by energies: those with the node's memory may be more, by 100 W.
  while read -r status_wanted energy boundary; do
    for columns in energy_j,duration_s epoch_energy_j,epoch_s; do
      table "arch,gpu,batch_size,train_samples,epochs,boundary,$columns" \
        "resnet50,a100-sxm4-80gb,32,100000,1,$boundary,$energy,1000"
      try calibrate runs.csv -o m.xml
      echo "$energy '$boundary' $columns: $status"
      [ "$status" -eq "$status_wanted" ]
    done
  done <<'EOF'
0 490e3
3 510e3
3 510e3 gpu
0 590e3 gpu+ram
3 610e3 gpu+ram
EOF
}

# 90 x 1,000 samples are 10 times the samples of 9 epochs of 1,000, at one speed.
@test "--input: empty cells of sizes are named once, with what is taken" {
  local lines="dlest: warning: runs.csv:"
  table arch,gpu,epochs,batch_size,train_samples resnet50,a100,,32,1000 \
    resnet50,a100,9,32,1000 vgg16,a100,,32,1000 resnet50,a100,9,32,
  gives 0 "$lines $(message column_is_empty_in train_samples 1 '' 1281167)
$lines $(message column_is_empty_in epochs 2 s 90)" \
    predict --input runs.csv --method tdp --format json --set val_samples=0
  near '.estimates[0].energy_j' '10 * .estimates[1].energy_j'
  # of inference, of a number of tokens and with an option nothing is taken
  table arch,gpu,phase,epochs,batch_size,tokens,requests \
    resnet50,a100,inference,,32,,100 gpt2,a100,,,1,1e9,
  gives 0 '' predict --input runs.csv --method flops --format json
  table arch,gpu,epochs,batch_size,train_samples resnet50,a100,,32,1000
  try predict --input runs.csv --method tdp --epochs 5
  ! grep -q "$(message column_is_empty_in epochs 1 '' 90)" err || false
}

@test "a link that is not known is warned of, with several GPUs" {
  local job=(predict --arch resnet50 --gpu max-1550)
  gives 0 "dlest: warning: $(message link_is_not_known max-1550 15.8)" \
    "${job[@]}" --gpus 8
  gives 0 '' "${job[@]}"
  gives 0 '' "${job[@]}" --gpus 8 --set gpu.link_gb_s=100
  table arch,gpu,n_gpus,epochs,batch_size,train_samples \
    resnet50,max-1550,8,1,32,1000000 resnet50,a100,8,1,32,1000000
  gives 0 "dlest: warning: runs.csv: $(message link_of_rows_is_not_known 1 '')" \
    predict --input runs.csv --method tdp
  # Huawei's CloudMatrix384: 392 GB/s in one direction (arXiv 2506.12708)
  gives 0 '' predict --arch resnet50 --gpu ascend-910c --gpus 8 --format json -q
  check '.link_gb_s == 392'
}

@test "a row gives what the same settings give as options" {
  python3 "$BATS_TEST_DIRNAME/row_as_options.py" "$DLEST"
}

@test "--input: two sizes of one training are refused, as of options" {
  local skips="dlest: warning: runs.csv:2:"
  one() { # MESSAGE COLUMNS VALUES
    table "arch,gpu,batch_size,epochs,$2" "$3"
    try predict --input runs.csv --method flops
    [ "$status" -eq 3 ]
    grep -qxF "$skips $1" err
  }
  one "$(message tokens_and_validation)" tokens,val_samples gpt2,a100,8,1,1e9,500
  one "$(message train_tokens_and_samples)" train_tokens,train_samples \
    gpt2,a100,8,1,1e9,1000
  one "$(message is_for_language_models tokens resnet50)" tokens,seq_len \
    resnet50,a100,8,1,1e9,512
  # the same size twice: 1,000 samples of 1,024 tokens
  table arch,gpu,batch_size,epochs,train_tokens,train_samples,seq_len \
    gpt2,a100,8,1,1024000,1000,1024
  gives 0 '' predict --input runs.csv --method flops -q
}
