#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Values in tables of runs: words, counts, names of columns, data sets.

load ../common.bash

JOB=(--method physical --format csv)
HEADER=arch,gpu,train_samples,epochs,batch_size

# energies: the column energy_j of the output
energies() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "energy_j") c = i }
    NR > 1 { print $c }' out
}

@test "words count in any case, as on the command line" {
  table "$HEADER,precision,phase" resnet50,a100,1e6,90,256,fp16,training \
    resnet50,a100,1e6,90,256,FP16,Training \
    resnet50,a100,1e6,90,256,Fp16, resnet50,a100,1e6,90,256,FP16,TRAINING
  gives 0 '' predict --input runs.csv "${JOB[@]}"
  [ "$(energies | wc -l)" -eq 4 ]
  [ "$(energies | sort -u | wc -l)" -eq 1 ]
  energies | head -1 >table-energy
  try predict --arch resnet50 --gpu a100 --train-samples 1000000 \
    --epochs 90 --batch-size 256 --precision fP16 "${JOB[@]}"
  [ "$(energies)" = "$(cat table-energy)" ]
  try predict --arch resnet50 --gpu a100 --train-samples 1000000 \
    --epochs 90 --batch-size 256 --set precision=FP16 "${JOB[@]}"
  [ "$(energies)" = "$(cat table-energy)" ]
}

@test "a word that a column does not have is refused" {
  table "$HEADER,precision,phase" resnet50,a100,1e6,90,256,xyz, \
    resnet50,a100,1e6,90,256,fp61,training \
    resnet50,a100,1e6,90,256,fp16,trainig resnet50,a100,1e6,90,256,fp16,
  gives 3 "dlest: warning: runs.csv:2: $(message column_invalid_value \
    precision xyz "'amp', 'fp8'")
dlest: warning: runs.csv:3: $(message column_invalid_value precision fp61 \
    "'fp16', 'fp64'")
dlest: warning: runs.csv:4: $(message column_invalid_value phase trainig \
    "'training', 'inference'")
dlest: 3 rows skipped" predict --input runs.csv "${JOB[@]}"
  [ "$(energies | wc -l)" -eq 1 ]
  refuses 2 "dlest: $(message set_invalid_value precision xyz \
    "'amp', 'fp8'")" predict --arch resnet50 --gpu a100 --set precision=xyz
}

@test "an unknown framework is reported once where it is learnt from" {
  table "$HEADER,framework,epoch_s" resnet50,a100,1e6,90,256,PyTorch,1 \
    resnet50,a100,1e6,90,256,pytroch,2 resnet50,a100,1e6,90,256,pytroch,3
  try fit runs.csv --target epoch_s --method ols --features '(framework=="jax")' \
    --cv none
  [ "$(grep -c pytroch err)" -eq 1 ]
  grep -qxF "dlest: warning: runs.csv:3: $(message column_unknown_value \
    framework pytroch "'pytorch', 'jax', 'openvino', 'tensorflow',\
 'onnxruntime'")" err
}

# LAMB keeps two moments as Adam does; LARS one, as SGD does.
@test "optimizers by other names" {
  local job=(--arch bert-large --gpu a100 --tokens 1e9 -q --format json)
  while read -r name same; do
    gives 0 '' predict "${job[@]}" --optimizer "$name"
    jq .memory_need_gb,.estimates[0].energy_j out >other
    gives 0 '' predict "${job[@]}" --optimizer "$same"
    jq .memory_need_gb,.estimates[0].energy_j out | diff other -
  done <<'END'
LAMB adamw
lars sgd
lion sgd
paged_adamw_8bit adam8bit
END
}

@test "counts are whole" {
  table "$HEADER,n_gpus" resnet50,a100,1e6,90,256,1.5 \
    resnet50,a100,1e6,90,256,2
  gives 3 "dlest: warning: runs.csv:2: $(message column_not_whole n_gpus 1.5)
dlest: 1 row skipped" predict --input runs.csv "${JOB[@]}"
  [ "$(energies | wc -l)" -eq 1 ]
  refuses 2 "dlest: $(message not_a_whole_number n_gpus 1.5)" \
    predict --arch resnet50 --gpu a100 --set n_gpus=1.5
  # a definition is checked too
  table "$HEADER,half" resnet50,a100,1e6,90,256,3 resnet50,a100,1e6,90,256,4
  gives 3 "dlest: warning: runs.csv:2: $(message column_not_whole n_gpus 1.5)
dlest: 1 row skipped" predict --input runs.csv --define n_gpus=half/2 \
    "${JOB[@]}"
}

@test "a column that is probably another one is reported" {
  table "$HEADER,gpus" resnet50,a100,1e6,90,256,2
  gives 0 "dlest: warning: runs.csv: $(message column_not_used gpus n_gpus \
    n_gpus gpus)" predict --input runs.csv "${JOB[@]}"
  gives 0 '' predict --input runs.csv "${JOB[@]}" --define n_gpus=gpus
  table "$HEADER,Num GPUs,imgae_px" resnet50,a100,1e6,90,256,2,128
  gives 0 "dlest: warning: runs.csv: $(message column_not_used 'Num GPUs' \
    n_gpus n_gpus "'\`Num GPUs\`'")
dlest: warning: runs.csv: $(message column_not_used imgae_px image_px \
    image_px imgae_px)" predict --input runs.csv "${JOB[@]}"
  # names of other tools
  for name in per_device_train_batch_size=batch_size dataset_size=train_samples; do
    table "arch,gpu,epochs,${name%=*}" resnet50,a100,90,64
    try predict --input runs.csv --method physical
    grep -qx "dlest: warning: runs.csv: $(message column_not_used "${name%=*}" \
      "${name#*=}" "${name#*=}" "${name%=*}")" err
  done
  # in the unit of the column, 3600 s an hour
  table "$HEADER,hours" resnet50,a100,1e6,90,256,30
  gives 0 "dlest: warning: runs.csv: $(message column_not_used hours \
    duration_s duration_s "'hours*3600'")" predict --input runs.csv "${JOB[@]}"
  # not where the quantity itself is there, or the name is of something else
  table "$HEADER,n_gpus,gpus,colour" resnet50,a100,1e6,90,256,2,4,red
  gives 0 '' predict --input runs.csv "${JOB[@]}"
}

@test "a column of another unit is named with its factor" {
  reported() { # COLUMN MEANT FORMULA
    table "arch,gpu,epochs,batch_size,train_samples,$1" resnet50,a100,1,32,1e6,1
    gives 0 "dlest: warning: runs.csv: $(message column_not_used "$1" "$2" \
      "$2" "$3")" predict --input runs.csv --method tdp
  }
  reported 'duration (s)' duration_s "'\`duration (s)\`'"
  reported epoch_time_s epoch_s epoch_time_s
  # as it says: 2 h of 400 W, 0.8 kWh
  table 'arch,gpu,epochs,batch_size,train_samples,runtime [h]' \
    resnet50,a100,1,32,1e6,2
  gives 0 '' predict --input runs.csv --method tdp --format csv \
    --define duration_s='`runtime [h]`*3600'
  grep -q ',2880000,' out
  # a name that states another unit is read in it
  for column in 'runtime [h]' duration_h 'duration (h)' 'Training time [h]'; do
    table "arch,gpu,epochs,batch_size,train_samples,$column" \
      resnet50,a100,1,32,1e6,2
    gives 0 '' predict --input runs.csv --method tdp --format csv
    grep -q ',2880000,' out
  done
}

@test "the data set of a row has its own size" {
  table arch,gpu,dataset,epochs,batch_size resnet50,a100,cifar10,90,256 \
    resnet50,a100,imagenett,90,256 resnet50,a100,imagenet,90,256 \
    resnet50,a100,,90,256
  gives 3 "dlest: warning: runs.csv:3: $(message unknown_nearest_see_list \
    dataset imagenett "$(meant imagenet imagenette imagenet-22k)" \
    datasets); $(message dataset_size)
dlest: warning: runs.csv:5: $(message dataset_default imagenet)
dlest: warning: runs.csv:3: no estimate: flops needs train_samples
dlest: 1 row skipped" predict --input runs.csv --method flops --format csv
  energies >of-table
  : >of-options
  for dataset in cifar10 imagenet imagenet; do
    try predict --arch resnet50 --gpu a100 --dataset $dataset --method flops \
      --format csv
    energies >>of-options
  done
  diff of-options of-table
  # 50,000 and 10,000 images against 1,281,167 and 50,000, forward and back
  awk 'NR == 1 { small = $1 } NR == 2 { large = $1 }
    END { x = large / small * (3 * 50000 + 10000) / (3 * 1281167 + 50000)
          exit !(x > 0.999999 && x < 1.000001) }' of-table
}

# measured FILE EDIT: the runs of the examples, those of lines 2 and 3 edited by
# awk, which has the columns by name in c
measured() {
  awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
    NR == 2 || NR == 3 { '"$2"' } { print }' \
    "$DLEST_DATADIR/data/examples/runs.csv" >"$1"
}

# skips_two FILE PATTERN: the commands that learn from measured runs leave lines 2
# and 3 out
skips_two() {
  local fit=(fit "$1" --features 'log(macs_g)' --target)
  for command in "compare $1 --method tdp" "${fit[*]} energy_j" \
    "recommend --table $1"; do
    # shellcheck disable=SC2086 # words
    try $command
    [ "$status" -eq 3 ]
    grep -q "^dlest: warning: $1:2: $2" err
    grep -q "^dlest: warning: $1:3: $2" err
    grep -qx 'dlest: 2 rows skipped' err
  done
}

@test "measured runs that contradict themselves are skipped" {
  measured good.csv ''
  gives 0 '' compare good.csv --method tdp
  # J taken for kJ, and an energy below the one of its part
  measured kj.csv '$c["energy_j"] /= 1000'
  skips_two kj.csv 'energy_j is 0.001'
  measured below.csv '$c["energy_j"] = 0.9 * $c["gpu_energy_j"]'
  skips_two below.csv "$(message contradicts energy_j 0.9 \
    'the energy of the parts within its boundary')"
  # the same by power alone: mW, and 6 J of a minute
  measured mw.csv '$c["gpu_power_w"] *= 1000; $c["gpu_energy_j"] = ""'
  try fit mw.csv --target gpu_power_w --features 'log(macs_g)'
  [ "$status" -eq 3 ]
  grep -q "^dlest: warning: mw.csv:2: the measured power is " err
  measured low.csv '$c["energy_j"] = 6; $c["gpu_energy_j"] = ""'
  try compare low.csv --method tdp
  [ "$status" -eq 3 ]
  grep -q "^dlest: warning: low.csv:3: the measured power is 0.0" err
}

@test "measured runs that are hardly credible are reported once" {
  # three times the energy that power and duration give
  measured much.csv '$c["gpu_energy_j"] /= 3'
  try compare much.csv --method tdp
  [ "$status" -eq 0 ]
  [ "$(wc -l <err)" -eq 1 ]
  grep -qx "dlest: warning: much.csv:2: $(message contradicts \
    'gpu_power_w x duration_s' 3 gpu_energy_j)$(message rows_like_this 2)" err
}

# 100 W for 1000 s are 0.1 MJ; 100,000 samples in 3,125 steps of 32.
@test "a calibration by powers, energies and times that contradict each other" {
  head="dlest: warning: runs.csv:2:"
  one() { # COLUMNS VALUES
    table "arch,gpu,batch_size,train_samples,epochs,gpu_power_w,$1" \
      "resnet50,a100,32,100000,1,100,$2"
  }
  one duration_s,energy_j 1000,0.1e6
  try calibrate runs.csv -o m.xml
  [ "$status" -eq 0 ]
  ! grep -q 'gpu_power_w x' err || false
  one epoch_s,energy_j 1000,0.4e6
  try calibrate runs.csv -o m.xml
  grep -qx "$head $(message contradicts 'gpu_power_w x duration_s' 0.25 \
    energy_j)" err
  one duration_s,energy_j,boundary 1000,0.4e6,node # the rest of it is the node's
  try calibrate runs.csv -o m.xml
  ! grep -q 'gpu_power_w x' err || false
  one epoch_s,step_s 250,0.08
  gives 0 '' calibrate runs.csv -o m.xml
  one epoch_s,step_s 250,0.8
  gives 0 "$head $(message contradicts step_s 10 \
    'the time of a step by the other columns')" calibrate runs.csv -o m.xml
  # repeats of one run: their mean is off by a tenth, or by (sqrt(3) - 1 + 1 -
  # 1 / sqrt(3)) / 2 = 58 %
  table arch,gpu,batch_size,train_samples,epochs,epoch_s \
    resnet50,a100,32,100000,1,400 resnet50,a100,32,100000,1,480
  gives 0 '' calibrate runs.csv -o m.xml
  table arch,gpu,batch_size,train_samples,epochs,epoch_s \
    resnet50,a100,32,100000,1,400 resnet50,a100,32,100000,1,1200
  try calibrate runs.csv -o m.xml
  [ "$status" -eq 0 ]
  grep -qx "dlest: warning: runs.csv: $(message repeats_contradict epoch_s \
    '5[78].*')" err
  one samples_per_s,step_s 100,32 # 0.32 s, in hundredths
  try calibrate runs.csv -o m.xml
  [ "$status" -eq 3 ]
}

@test "measured columns that a command does not use are not checked" {
  measured kj.csv '$c["energy_j"] /= 1000'
  try predict --input kj.csv --method tdp --format csv
  [ "$status" -eq 0 ]
  [ "$(energies | wc -l)" -eq 36 ]
}

@test "a definition without a finite value in range is refused" {
  local job=(predict --arch resnet50 --gpu a100 --method tdp)
  refuses 3 "dlest: $(message column_not_between epochs inf 1e-06 1e+09)" \
    "${job[@]}" --define epochs=1/0
  refuses 3 "dlest: $(message column_not_between train_samples 1e+30 0 1e+15)" \
    "${job[@]}" --define 'train_samples=1e15*1e15'
  refuses 3 "dlest: $(message column_no_formula_value macs_g)" \
    "${job[@]}" --define 'macs_g=log(0-1)'
  refuses 3 "dlest: $(message column_no_formula_value macs_g)" \
    "${job[@]}" --define macs_g=0/0
  # in a sweep and in a table
  gives 3 "dlest: $(message column_not_between epochs inf 1e-06 1e+09)" \
    "${job[@]}" --batch-size 16,32 --define epochs=1/0
  table "$HEADER,a,b" resnet50,a100,1e6,90,256,0,0 resnet50,a100,1e6,90,256,8,2
  gives 3 "dlest: warning: runs.csv:2: $(message column_no_formula_value \
    image_px)
dlest: 1 row skipped" predict --input runs.csv --define 'image_px=32*a/b' \
    "${JOB[@]}"
  # what it needs is absent: the next source of the quantity is taken
  table "$HEADER,a,b" resnet50,a100,1e6,90,256,, resnet50,a100,1e6,90,256,14,2
  gives 0 '' predict --input runs.csv --define 'image_px=32*a/b' "${JOB[@]}"
  [ "$(energies | sort -u | wc -l)" -eq 1 ]
}

@test "a power in the name of a GPU is its limit, unless the row states one" {
  {
    echo gpu,arch,power_limit_w,train_samples,batch_size
    echo '"NVIDIA A100-SXM4-80GB (300W)",resnet50,,1e6,64'
    echo 'a100-80gb,resnet50,300,1e6,64'
    echo '"NVIDIA A100-SXM4-80GB (300W)",resnet50,250,1e6,64'
    echo 'a100-80gb,resnet50,250,1e6,64'
    echo 'a100-80gb,resnet50,,1e6,64'
  } >runs.csv
  gives 0 '' predict --input runs.csv --duration 1h --method tdp --format csv -q
  [ "$(sed 1d out | sed 's/"[^"]*"//' | cut -d, -f8 | paste -sd' ')" = \
    '1080000 1080000 900000 900000 1440000' ]
}

# 100,000 samples of ResNet-50 (4.11 GMAC; 3 passes of 2 FLOPs a MAC) on an A100
# of 312 TFLOP/s: at most 12,652 samples/s.
@test "a throughput that contradicts the time or the GPU" {
  rate() { # COLUMNS VALUES
    table "arch,gpu,batch_size,train_samples,epochs,$1" \
      "resnet50,a100,32,100000,2,$2"
  }
  head="dlest: warning: runs.csv:2:"
  rate samples_per_s,duration_s 1000,200
  gives 0 '' fit runs.csv --means m.csv
  rate samples_per_s,duration_s 1000,20
  gives 0 "$head $(message contradicts samples_per_s 0.1 \
    'the samples of an epoch by its time')" fit runs.csv --means m.csv
  rate samples_per_s,epoch_s 60000,100 # per minute
  try fit runs.csv --means m.csv
  [ "$status" -eq 3 ]
  grep -qx "$head $(message contradicts samples_per_s 60 \
    'the samples of an epoch by its time')" err
  # of eight GPUs, by their number and without
  rate samples_per_s,n_gpus 25304,8
  gives 0 '' fit runs.csv --means m.csv
  rate samples_per_s,n_gpus 25304,1
  gives 0 "$head $(message contradicts 'the work of the throughput' 2 \
    'the highest rate of the GPUs')" fit runs.csv --means m.csv
  rate samples_per_s 500000
  try fit runs.csv --means m.csv
  [ "$status" -eq 3 ]
  grep -q "$head the work of the throughput is 39.5 times" err
  # the classifier alone needs a forward pass, a third of it
  rate samples_per_s,fine_tune 25304,head
  gives 0 '' fit runs.csv --means m.csv
}

# 100,000 samples of ResNet-50 need 2.4660e15 FLOPs an epoch: 7.9038 s at the
# 312 TFLOP/s of an A100, and at its 400 W 3161.5 J.
@test "epochs that the GPUs are too slow for, or take too much energy for" {
  beats() { # ROWS TIMES
    echo "dlest: warning: runs.csv:2: $(message contradicts \
      'the work of the epochs per second' "$2" \
      'the highest rate of the GPUs')$(message rows_like_this "$1")"
  }
  head=arch,gpu,batch_size,train_samples,epochs
  table $head,duration_s resnet50,a100,32,100000,2,7.9038 \
    resnet50,a100,32,100000,3,7.9038 resnet50,a100,32,100000,1,7.9119
  gives 0 "$(beats 2 2)" fit runs.csv --means m.csv
  table $head,epoch_s resnet50,a100,32,100000,9,1.9759 \
    resnet50,a100,32,100000,1,1
  gives 0 "$(beats 2 4)" fit runs.csv --means m.csv
  # 8 GPUs are as fast; so is training of the classifier, a third of the work
  table $head,n_gpus,fine_tune,duration_s resnet50,a100,32,100000,16,8,,16 \
    resnet50,a100,32,100000,3,1,head,8
  gives 0 '' fit runs.csv --means m.csv
  table $head,duration_s resnet50,a100,32,100000,100,7.9038
  try fit runs.csv --means m.csv
  [ "$status" -eq 3 ]
  grep -q 'the work of the epochs per second is 100 times' err
  table $head,energy_j resnet50,a100,32,100000,2,6000
  gives 0 '' fit runs.csv --means m.csv
  table $head,energy_j resnet50,a100,32,100000,6,6323
  gives 0 "dlest: warning: runs.csv:2: $(message contradicts \
    'the work of the epochs per joule' 3 \
    'the highest efficiency of the GPUs')" fit runs.csv --means m.csv
}

# 8 A100 of 300 W each: 2,400 W together, 720 kJ in 300 s; they idle at 8 x 55 W.
@test "a power of one GPU where that of all is meant" {
  head=arch,gpu,n_gpus,batch_size,train_samples,epochs,duration_s,gpu_power_w
  fits() { gives 0 "$1" fit runs.csv --means m.csv; }
  table $head,gpu_energy_j resnet50,a100,8,32,1281167,1,300,2400,720000
  fits ''
  table $head,gpu_energy_j resnet50,a100,8,32,1281167,1,300,300,720000
  alone="dlest: warning: runs.csv:2: $(message contradicts gpu_power_w 0.125 \
    'the mean power of all GPUs together')"
  idle="dlest: warning: runs.csv:2: $(message contradicts gpu_power_w 0.682 \
    'the power of all GPUs idling')"
  fits "$alone
$idle"
  table $head resnet50,a100,8,32,1281167,1,300,300
  fits "$idle"
  table $head,gpu_energy_j resnet50,a100,1,32,1281167,1,2400,300,720000
  fits ''
}

@test "rows of inference are single requests by default, as with --phase" {
  local sizes=(--prompt-tokens 512 --output-tokens 500)
  # 13.48 GB of weights in 16 bits, 0.53 of keys and values (2 x 2 B x 32 x 4096
  # a token, 1,012 tokens) and what 512 tokens need once; 256 times in a batch.
  table arch,gpu,phase,requests,request_rate llama-2-7b,a100,inference,100, \
    llama-2-7b,a100,inference,, llama-2-7b,a100,inference,100,0.5
  gives 0 '' predict --input runs.csv "${sizes[@]}" --method physical -f json -q
  check '.estimates[0].memory_need_gb | 14 < . and . < 14.3'
  near '.estimates[1].energy_j' '.estimates[0].energy_j / 100'
  cp out rows
  for o in '--requests 100' '' '--requests 100 --request-rate 0.5'; do
    gives 0 '' predict --arch llama-2-7b --gpu a100 --phase inference $o \
      "${sizes[@]}" --method physical --format json -q
    jq .estimates[0].energy_j out
  done >one
  jq '.estimates[].energy_j' rows | cmp - one
}
