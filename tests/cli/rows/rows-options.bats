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

@test "a row gives what the same settings give as options" {
  python3 "$BATS_TEST_DIRNAME/row_as_options.py" "$DLEST"
}
