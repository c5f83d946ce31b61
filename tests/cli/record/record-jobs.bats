#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest record: several processes and nodes, marks, and the row for a runs
# table with what follows from it.

bats_require_minimum_version 1.5.0
load ../common
load record

@test "of the processes of a node the first one records" {
  for rank in 0 1 2; do
    LOCAL_RANK=$rank LOCAL_WORLD_SIZE=3 "$DLEST" record --trace "t$rank.csv" \
      --interval 50ms -- sh -c "sleep 0.2; echo $rank >>ran; exit $rank" \
      2>err || [ "$?" -eq $rank ]
  done
  [ "$(tr '\n' ' ' <ran)" = '0 1 2 ' ]
  [ -e t0.csv ]
  [ ! -e t1.csv ]
  [ ! -e t2.csv ]
  SLURM_LOCALID=1 "$DLEST" record --trace u.csv --duration 1s
  [ ! -e u.csv ]
  SLURM_LOCALID=1 gives 2 \
    "dlest: $(message cannot_be_started ./none 'No such file or directory')" \
    record -- ./none
}

@test "nodes: names of files, and what a recording says of itself" {
  export SLURM_JOB_ID=77 SLURM_STEP_ID=1 SLURM_STEP_NUM_NODES=2 SLURM_NODEID=1
  record --trace '{job}-{host}.csv'
  host=$(hostname -s | tr -c 'A-Za-z0-9._\n' '-')
  [ -e "77.1-$host.csv" ]
  grep -qx '# job: 77.1' "77.1-$host.csv"
  grep -qx '# node: 1 of 2' "77.1-$host.csv"
  grep -qx "# host: $host" "77.1-$host.csv"
  record
  [ "$(find . -name "dlest-*-$host*.csv" | wc -l)" -eq 1 ]
  misused record "$(message output_of_node 2)" -o runs.csv --duration 1s
  unset SLURM_STEP_ID SLURM_STEP_NUM_NODES
  SLURM_NNODES=2 record
  grep -q "$(message record_nodes 2)" err
}

@test "two recordings that begin in the same second" {
  for i in 1 2 3; do
    "$DLEST" record -q --interval 50ms -- sleep 0.1 &
  done
  wait
  [ "$(find . -name 'dlest-*.csv' ! -name '*-epochs.csv' | wc -l)" -eq 3 ]
}

@test "phases that the program marks" {
  # shellcheck disable=SC2016 # of the program
  "$DLEST" record --interval 50ms --no-trace --details -- sh -c '
    exec 3>"$DLEST_MARKS"
    sleep 0.4
    for i in 0 1; do
      echo "phase train" >&3; sleep 1
      echo "phase validation" >&3; sleep 0.5
      echo "epoch $i" >&3
    done
    echo "phase bad,name" >&3' 2>err
  # Seconds at 450 W.
  awk '$1 == "train" { t = $2; j = $4 }
    $1 == "validation" { v = $2 * ($3 == "s" ? 1 : 0); k = $4 }
    END { exit !(t > 1.9 && t < 2.6 && j / t > 440 && j / t < 460 &&
      v > 0.9 && v < 1.4 && k / v > 440 && k / v < 460) }' err
  ! grep -q 'bad' err || false
}

@test "marks in a file, of a program that runs already" {
  touch marks
  echo 'epoch 0' >marks # of before
  (
    sleep 0.5
    for i in 1 2 3; do
      sleep 0.3
      echo "epoch $i" >>marks
    done
  ) &
  DLEST_MARKS=$PWD/marks "$DLEST" record --duration 2s --interval 50ms \
    --trace t.csv --format json >out
  check '.epochs == 3'
  [ "$(tail -n +2 t-epochs.csv | cut -d, -f1 | tr '\n' ' ')" = '1 2 3 ' ]
  [ "$(wc -l <marks)" -eq 4 ]
}

# train [ARG...]: a training of four epochs; its row in runs.csv
train() {
  # shellcheck disable=SC2016 # of the program
  "$DLEST" record --interval 50ms --no-trace --arch resnet50 --batch-size 64 \
    --epochs 4 -o runs.csv "$@" -- sh -c '
    for i in 0 1 2 3; do
      sleep 0.3; echo "epoch $i" >"$DLEST_MARKS"
    done; echo "samples 50000" >"$DLEST_MARKS"' 2>err
}

@test "the row of a recording: predict, calibrate and fit read it" {
  train --precision fp32 --set val_samples=10000 --set image_px=32
  header=$(head -n 1 runs.csv)
  for column in arch gpu n_gpus batch_size precision train_samples val_samples \
    epochs gpu_energy_j energy_j duration_s gpu_power_w; do
    [[ ,$header, == *,$column,* ]] || {
      echo "no column $column in $header"
      return 1
    }
  done
  "$DLEST" predict --input runs.csv --method physical --format csv -q >out
  [ "$(wc -l <out)" -eq 2 ]
  "$DLEST" calibrate runs.csv -o mine.xml --format json >out
  check '[.. | .runs? | numbers] | any(. == 1)'
  "$DLEST" predict --arch resnet50 --gpu a100 --image-px 32 --model mine.xml \
    --train-samples 50000 --epochs 4 --batch-size 64 -q --format json >out
  check '.recommended == "physical"'
  # Recordings of several trainings make a table to fit.
  mkdir rows
  i=0
  for px in 32 64 96 128 160 192; do
    for batch in 16 64; do
      train --batch-size $batch --set image_px=$px --set run_id=r$i
      mv runs.csv rows/$i.csv
      i=$((i + 1))
    done
  done
  "$DLEST" extract rows/*.csv --format csv -o all.csv
  [ "$(wc -l <all.csv)" -eq 13 ]
  "$DLEST" fit all.csv --target gpu_power_w --method ols \
    --features 'log(macs_g),log(batch_size)' -o own.xml --format json >out
  [ -s own.xml ]
}

@test "the summary compares the estimate of predict" {
  train --dataset cifar10 --precision fp32 --details
  grep -q '^Estimated by method  *physical$' err
  [ "$(grep -cE '^Estimate for the GPUs .* (kWh|kJ|J)$' err)" -eq 1 ]
  value=$(awk '/^Estimate for the GPUs/ {
    print $5 * ($6 == "kWh" ? 3.6e6 : $6 == "kJ" ? 1e3 : 1) }' err)
  # That of predict for these settings on two GPUs, without 5 W of memory.
  "$DLEST" predict --arch resnet50 --gpu 'NVIDIA A100-SXM4-40GB' --gpus 2 \
    --dataset cifar10 --epochs 4 --batch-size 64 --precision fp32 -q \
    --format json |
    jq '.estimates[] | select(.method == "physical") |
      if .boundary == "gpu" then .energy_j else
        .energy_j - 5 * .duration_s end' >want
  within "$(jq '. * 0.994' want)" "$value" "$(jq '. * 1.006' want)"
  # Without the number of samples there is none.
  for details in '' --details; do
    # shellcheck disable=SC2086 # no argument
    "$DLEST" record --no-trace --arch resnet50 --epochs 4 --interval 50ms \
      $details -- sh -c 'sleep 0.3; echo "epoch 0" >"$DLEST_MARKS"' 2>err
    grep -qE '(Estimate +none|Not compared with an estimate): the number of t' err
  done
}

@test "names are looked up before the program starts" {
  for option in --arch '--arch vgg16 --dataset' --country; do
    # shellcheck disable=SC2086 # words
    try record $option resnet5O -- touch started
    [ "$status" -eq 3 ]
    [ ! -e started ]
  done
}

@test "cost and emissions where a grid is given" {
  record --intensity 500 --pue 1.5 --price 0.4EUR
  # 500 g and 0.40 EUR per kWh of the facility's energy.
  near '.facility_energy_j' '1.5 * .energy_j'
  near '.co2e_g' '500 * 1.5 * .energy_j / 3.6e6'
  near '.cost' '0.4 * 1.5 * .energy_j / 3.6e6'
  command -v script >/dev/null || skip "no script(1)"
  # shellcheck disable=SC2016 # of the program
  echo 'for i in 0 1 2 3 4 5 6 7; do
    sleep 0.4; echo "epoch $i" >"$DLEST_MARKS"; done' >train.sh
  TERM=xterm timeout 20 script -qec "'$DLEST' record --interval 50ms \
    --no-trace --epochs 20 --intensity 500 --price 0.4EUR -- sh train.sh" \
    typed >/dev/null
  tr '\r' '\n' <typed | grep -qE 'left, [0-9.]+ m?g CO2e, [0-9.e-]+ EUR'
}
