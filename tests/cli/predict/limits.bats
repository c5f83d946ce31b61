#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory, several GPUs, rates that a GPU does not have, absurd descriptors.

load ../common

# 100 M parameters x 16 bytes, 10 M activations x (1.1 x 2 + .42) x 4 bytes: 1.6
# GB and 0.1048 GB a sample
JOB=(predict --arch resnet50 --gpu a100 --method flops --set params_m=100
  --set acts_m=10)

@test "memory: unknown without parameters or a batch" {
  try predict --gpu a100 --duration 2h --method tdp --format json
  check '.memory_need_gb == null and (.estimates | length) == 1'
  try predict --gpu a100 --duration 2h --method tdp
  ! grep -q '^peak GPU memory' out || false
}

@test "several GPUs: the exchange enters no estimate" {
  try "${JOB[@]}" --batch-size 64 --gpus 4 --format json
  jq -e .estimates[0].energy_j out
  jq .estimates out >with
  try "${JOB[@]}" --batch-size 64 --gpus 4 --format json \
    --set gpu.link_gb_s=0.1
  jq .estimates out | diff with -
}

@test "20,000 names that no catalogue has take no time: 20 get suggestions" {
  seq -f 'resnet5%.0f,a100,1,1000,8' 20000 |
    sed '1i arch,gpu,epochs,train_samples,batch_size' >runs.csv
  status=0
  (
    ulimit -t 20 # of processors, whatever else runs
    "$DLEST" predict --input runs.csv --method tdp >out 2>err
  ) || status=$?
  [ "$status" -eq 3 ]
  [ "$(grep -c "(did you mean '" err)" -eq 20 ]
  seq 20000 | sed 's/.*/&|COMPLETED|60|gres\/gpu:card&=1/
    1i JobID|State|ElapsedRaw|AllocTRES' >sacct.txt
  (
    ulimit -t 20
    "$DLEST" report sacct.txt -q >out
  )
}

@test "a time by operations is no shorter than the energy needs at the limit" {
  try fit "$DLEST_DATADIR/data/examples/runs.csv" --target epoch_energy_j \
    -o own.xml -q
  # 15 kWh at 400 W and 3.7 W of memory
  try predict --arch resnet50 --gpu a100 --model own.xml -q --format json
  check '.estimates[] | select(.method == "pre-epoch") |
    .duration_from == "pre-epoch" and (.power_w / 403.7 - 1 | fabs) < 1e-9 and
    (.energy_j / .power_w / .duration_s - 1 | fabs) < 1e-9'
  try predict --arch resnet50 --gpu a100 --model own.xml -q --format json \
    --power-limit 250
  check '.estimates[] | select(.method == "pre-epoch") | .power_w < 253.71'
}
