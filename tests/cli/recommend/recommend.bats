#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest recommend: choices, limits, the front, measured tables, what is refused.

load ../common

# Energies and times by hand: b beats c and e; d is fast; a is dear and slow
# but the most accurate.
measured() {
  table arch,gpu,batch_size,energy_j,duration_s,accuracy,boundary \
    net_a,x,1,1000,100,0.9,gpu net_b,x,1,400,90,0.8,gpu \
    net_c,x,1,600,90,0.8,gpu net_d,x,1,2000,10,0.8,gpu \
    net_e,x,1,450,95,0.8,gpu
}

# usage TEXT ARG...: refused as wrong usage, with that first line
usage() {
  local text=$1
  shift
  try recommend "$@"
  [ "$status" -eq 2 ]
  [ "$(head -n 1 err)" = "dlest: $text" ]
  [ ! -s out ]
}

@test "CSV has the documented columns, the front first" {
  measured
  try recommend --table runs.csv --format csv
  [ "$(head -n 1 out)" = arch,gpu,batch_size,image_px,accuracy,energy_j,energy_low_j,energy_high_j,duration_s,bound_by,pareto,overlaps,n_gpus,seq_len,saving,memory_need_gb,runs,excluded,boundary,node,precision,region,co2e_g,co2e_low_g,co2e_high_g,cost,response_s ]
  [ "$(tail -n +2 out | cut -d, -f11 | paste -sd ' ')" = '1 1 1 0 0' ]
}

@test "a table with durations: choices by estimates given these" {
  # ResNet-50 on an A100, one epoch in 20 minutes, VGG16 in 60: the estimates are
  # those of predict, recommended ones alone, with their intervals.
  table arch,gpu,batch_size,dataset,epochs,epoch_s \
    resnet50,a100,64,imagenet,1,1200 vgg16,a100,64,imagenet,1,3600
  gives 0 '' predict --input runs.csv -f csv -q
  mv out all.csv
  gives 0 '' predict --input runs.csv -f json -q -m physical
  jq -c '.estimates | sort_by(.energy_j)[] | [.energy_j, .low_j, .high_j,
    .duration_s]' out >estimates
  gives 0 '' recommend --table all.csv -f json
  jq -c '.choices[] | [.energy_j, .energy_low_j, .energy_high_j, .duration_s]' \
    out | diff estimates -
  check '[.choices[] | .duration_s, .runs] == [1200, null, 3600, null]'
  # the same without the detour
  gives 0 '' recommend --table runs.csv -f json
  jq -c '.choices[] | [.energy_j, .energy_low_j, .energy_high_j, .duration_s]' \
    out | diff estimates -
  check '.method == "physical" and .boundary == "gpu" and .dataset == null'
  gives 0 '' recommend --table all.csv
  grep -q '90 % interval' out
  ! grep -q measured out || false
  # spreadsheets and other programs write true in their own ways
  jq -c '.choices' <("$DLEST" recommend --table all.csv -f json) >choices
  for truth in 'TRUE FALSE' 'True False' '1 0'; do
    sed "s/,true,/,${truth% *},/; s/,false,/,${truth#* },/" all.csv >their.csv
    ! cmp -s all.csv their.csv || false
    gives 0 '' recommend --table their.csv -f json
    jq -c '.choices' out | diff choices -
  done
  # intervals of another coverage are none of 90 %
  "$DLEST" predict --input runs.csv -f csv -q --coverage 50 >half.csv
  try recommend --table half.csv
  [ "$status" = 3 ]
  grep -qF "half.csv:2: $(message interval_covers_give 50 50 90)" err
  gives 0 '' recommend --table half.csv --coverage 50
}

@test "a table without energies: repeats, options, faults" {
  # Two runs of one configuration are one choice, with the mean of what predict
  # says of each.
  table arch,gpu,batch_size,dataset,epochs,epoch_s,accuracy \
    resnet50,a100,64,imagenet,1,1200,76 resnet50,a100,64,imagenet,1,1400,78 \
    resnet18,a100,64,imagenet,1,900,70
  gives 0 '' predict --input runs.csv -f json -q -m physical
  jq '[.estimates[0:2][].energy_j] | add / 2' out >mean
  gives 0 '' recommend --table runs.csv -f json
  jq --slurpfile mean mean -e '.choices | length == 2 and (map(
    select(.arch == "resnet50"))[0] | .energy_j / $mean[0] - 1 < 1e-12
    and .energy_j / $mean[0] - 1 > -1e-12 and .duration_s == 1300
    and .accuracy == 77)' out
  # an option gives what the table lacks, and selects where it does not
  cut -d, -f1,3- runs.csv >no-gpu.csv
  gives 0 '' recommend --table no-gpu.csv --gpu a100 --arch resnet50 -f json
  check '.choices | length == 1 and .[0].gpu == "a100"'
  jq --slurpfile mean mean -e '.choices[0].energy_j / $mean[0]
    | . > 0.999999 and . < 1.000001' out
  try recommend --table no-gpu.csv --gpu a100,v100
  [ "$status" = 3 ]
  grep -qF "no-gpu.csv:2: $(message no_estimate_needs physical gpu)" err
  gives 0 '' recommend --table runs.csv -m tdp -f json -q
  check '.method == "tdp"'
  # rows that contradict themselves are no choices
  table arch,gpu,batch_size,dataset,epochs,epoch_s,accuracy \
    resnet50,a100,64,imagenet,1,1,76 resnet18,a100,64,imagenet,1,900,high \
    vgg16,a100,64,imagenet,1,3600,71
  try recommend --table runs.csv -f csv
  [ "$status" = 3 ]
  [ "$(cut -d, -f1 out)" = $'arch\nvgg16' ]
  grep -qF "runs.csv:2: " err
  grep -qF "runs.csv:3: $(message column_accuracy_invalid_number high)" err
  # what only estimates need is refused for runs that have energies
  table arch,gpu,energy_j net_a,x,5
  refuses 2 "dlest: $(message has_no_effect method \
    'with --table: its runs have energies')" \
    recommend --table runs.csv --method tdp
}

@test "a table of runs of different work is warned about" {
  # 1,281,167 images x 20 and x 90; energies by epoch compare
  table arch,gpu,dataset,batch_size,epochs,duration_s \
    resnet50,a100,imagenet,64,90,133200 resnet50,rtx-3090,imagenet,64,20,60000
  gives 0 "dlest: warning: runs.csv: $(message runs_of_different_work 2.56e+07 \
    1.15e+08)" recommend --table runs.csv
  gives 0 '' recommend --table runs.csv --gpu a100
  table arch,gpu,epochs,train_samples,energy_j,duration_s \
    net_a,x,90,1000,900,90 net_b,x,20,1000,300,30
  gives 0 "dlest: warning: runs.csv: $(message runs_of_different_work 20000 \
    90000)" recommend --table runs.csv
  gives 0 '' recommend --table runs.csv --define 'energy_j=energy_j/epochs' \
    --define 'duration_s=duration_s/epochs'
}

@test "runs that differ in what they are given are choices of their own" {
  # 1e9 tokens and 2e9 are no repeats: their mean would be neither's energy
  table arch,gpu,n_gpus,tokens,batch_size llama-2-7b,h100,8,1e9,2 \
    llama-2-7b,a100-sxm4-80gb,8,1e9,2 llama-2-7b,h100,8,2e9,2
  gives 0 '' recommend --table runs.csv -q -f json
  check '.choices | length == 3 and .[0].gpu == "h100" and
    (.[2].energy_j / .[0].energy_j | . > 1.99 and . < 2.01)'
  table arch,gpu,batch_size,loader_workers,epochs,dataset \
    resnet50,a100,64,1,1,imagenet resnet50,a100,64,8,1,imagenet \
    resnet50,a100,64,8,2,imagenet
  gives 0 '' recommend --table runs.csv -q -f json
  check '.choices | length == 3'
  # measured runs that end at convergence are repeats
  table arch,gpu,epochs,energy_j net_a,x,80,700 net_a,x,90,900
  gives 0 '' recommend --table runs.csv -q -f json
  check '.choices | length == 1 and .[0].energy_j == 800'
}

@test "a table: memory, boundaries, definitions, other columns of energies" {
  table arch,gpu,batch_size,dataset,epochs resnet50,a100,4096,imagenet,2 \
    resnet50,t4,64,imagenet,2
  gives 0 '' recommend --table runs.csv -q -f json
  check '.n_memory == 1 and .choices[0].gpu == "t4"'
  table arch,gpu,batch_size,dataset,epochs,epoch_s \
    resnet50,a100,4096,imagenet,2,1590 resnet50,t4,64,imagenet,2,
  gives 0 '' recommend --table runs.csv -q -f json # it ran
  check '.n_memory == 0 and (.warnings | length == 2)'
  jq -r '.warnings[1]' out | grep -qF \
    "$(message energies_of_different_boundaries gpu gpu+ram)"
  table arch,card,bs,dataset,epochs resnet50,a100,64,imagenet,2 \
    resnet50,t4,64,imagenet,2 resnet50,t4,32,imagenet,2
  gives 0 '' recommend --table runs.csv --define gpu=card \
    --define batch_size=bs -g a100 -q -f json
  check '.choices | length == 1 and .[0].gpu == "a100"'
  table arch,gpu,gpu_energy_j net_a,x,5
  refuses 2 "dlest: runs.csv: $(message no_energy_but gpu_energy_j)" \
    recommend --table runs.csv
}

@test "where no measured generation meets the limits, that is said" {
  try recommend --arch resnet50 --where "vendor = 'google'" --loader synthetic \
    -f json
  [ "$status" -eq 0 ]
  check ".warnings == [\"$(message no_measured_generation)\"]"
  try recommend --arch resnet50 --where "vendor = 'nvidia'" --loader synthetic \
    -f json
  check '.warnings == []'
  # named ones are not searched for
  gives 0 '' recommend --arch resnet50 --gpu tpu-v7 --loader synthetic
}

# Eight processes that decode bound an H100 in BF16, not a T4.
@test "choices by the input of a loader that is assumed" {
  local text
  text=$(message choices_of_assumed_loaders 1 1 'on the Pareto front')
  try recommend --arch resnet50 --gpu h100-sxm5-80gb --batch-size 256 \
    --precision bf16 -f json
  [ "$status" -eq 0 ]
  check ".warnings == [\"$text\"] and .choices[0].bound_by == \"input\""
  gives 0 '' recommend --arch resnet50 --gpu t4 --batch-size 64
  gives 0 '' recommend --arch resnet50 --gpu h100-sxm5-80gb --batch-size 256 \
    --precision bf16 --loader-workers 8
  gives 0 '' recommend --arch resnet50 --gpu h100-sxm5-80gb --batch-size 256 \
    --precision bf16 --loader synthetic
  # a deadline that none meets for it
  try recommend --arch resnet50 --gpu h100-sxm5-80gb --batch-size 256 \
    --precision bf16 --deadline 10h
  [ "$status" -eq 4 ]
  text=$(message choices_of_assumed_loaders 1 1 'past the deadline')
  [ "$(head -n 1 err)" = "dlest: warning: $text" ]
  gives 0 '' recommend --arch resnet50 --gpu h100-sxm5-80gb --batch-size 256 \
    --precision bf16 --deadline 10h --loader synthetic
}

@test "text names a lower estimate of a generation that was not measured" {
  gives 0 '' recommend --arch resnet50 --loader synthetic --precision fp32 -q
  grep -qE '^Lower +mi300a, [0-9.]+ kWh, but its generation was not measured \(--extrapolate\)$' out
  gives 0 '' recommend --arch resnet50 --extrapolate -q
  ! grep -q 'was measured' out || false
  usage "$(message does_not_go_with extrapolate gpu)" --arch resnet50 \
    --gpu a100 --extrapolate
  usage "$(message has_no_effect_without extrapolate 'node all')" \
    --arch resnet50 --node dgx-a100 --extrapolate
}

@test "the same for any number of threads" {
  for n in 1 2 3; do
    OMP_NUM_THREADS=$n "$DLEST" recommend --arch resnet50,vgg16 --gpu t4,a100 \
      --batch-size 1..3000 --image-px 64,96,128 -q --format csv -o $n.csv
  done
  cmp 1.csv 2.csv
  cmp 1.csv 3.csv
}

@test "nothing meets the limits: exit 4, and the nearest is printed" {
  try recommend --arch resnet50 --gpu t4 --batch-size 32 --deadline 1h --budget-kwh 1
  [ "$status" -eq 4 ]
  grep -qE "^dlest: $(message no_choice_meets \
    'deadline and the budget; the fastest takes [0-9.]+ h \(resnet50, t4, batch size 32\); the lowest-energy one takes [0-9.]+ kWh \(resnet50, t4, batch size 32\)')$" err
  [ ! -s out ]
  try recommend --arch resnet50 --gpu t4 --batch-size 32 --deadline 1h
  grep -q "^dlest: $(message no_choice_meets 'deadline; the fastest')" err
  try recommend --arch resnet50 --gpu t4 --batch-size 32 --budget-kwh 1
  grep -q "^dlest: $(message no_choice_meets 'budget; the lowest-energy one')" err
}

@test "refused input" {
  refuses 2 "dlest: $(message which_architecture_give_arch)" recommend
  refuses 3 "dlest: $(message no_choice_fits_memory)" \
    recommend --arch vgg16 --gpu t4 --batch-size 4096
  refuses 3 "dlest: $(message no_choice_has_estimate pre-epoch \
    'measured runs of inference')" \
    recommend --arch vgg16 --gpu t4 --phase inference --method pre-epoch
  refuses 2 "dlest: $(message combinations_more_than_predict 8000000 1000000)" \
    recommend --arch vgg16 --gpu t4 --batch-size 1..4000 --image-px 1..1000
  usage "$(message invalid_value method tdp,flops \
    'one method, so that choices compare')" --method tdp,flops
  usage "$(message invalid_value deadline -1 "$(message expected_time)")" \
    --deadline=-1
  usage "$(message invalid_value budget-kwh 0 "$(message expected_above 0)")" \
    --budget-kwh 0
  usage "$(message more_prices 64)" --arch resnet50 \
    --gpu-price "$(printf 't4=1USD/h,%.0s' {1..64})t4=1USD/h"
  invalid recommend coverage=100
}

@test "tables with faults" {
  table arch,gpu net_a,x # no energies, and none can be estimated
  try recommend --table runs.csv
  [ "$status" -eq 3 ]
  grep -qF "runs.csv:2: unknown gpu 'x'" err
  grep -q "runs.csv: $(message no_usable_row)" err
  table arch,gpu,energy_j,accuracy net_a,x,5,high net_b,x,abc,1 net_c,x,7,1
  try recommend --table runs.csv
  [ "$status" -eq 3 ]
  grep -q "runs.csv:2: $(message column_accuracy_invalid_number high)" err
  grep -q "runs.csv:3: $(message column_invalid_number energy_j abc)" err
  grep -q net_c out
  table arch,gpu,energy_j net_a,x,0 net_b,x,7 # 0 J: a meter that was not read
  gives 3 "dlest: warning: runs.csv:2: $(message column_is_not_above energy_j 0)
dlest: $(message row_skipped 1 '')" recommend --table runs.csv -f csv
  [ "$(cut -d, -f1,6 out)" = $'arch,energy_j\nnet_b,7' ]
  table arch,gpu,energy_j net_a,x,abc
  try recommend --table runs.csv
  [ "$status" -eq 3 ]
  grep -q "runs.csv: $(message no_usable_row)" err
  refuses 1 "dlest: none.csv: $(message cannot_open \
    'No such file or directory')" \
    recommend --table none.csv
}

@test "text: the whole catalogue fits a screen, with how much is not shown" {
  gives 0 '' recommend --arch resnet50 -q
  [ "$(wc -l <out)" -le 10 ]
  grep -qE '^As good +[0-9]+ others within the intervals; next GPU ' out
  gives 0 '' recommend --arch resnet50 -q -f json
  excluded=$(jq '.n_silent + .n_memory + .n_outside' out)
  gives 0 '' recommend --arch resnet50 -q
  [ "$(sed -n '1s/.* \([0-9,]*\) left out .*/\1/p' out | tr -d ,)" = "$excluded" ]
  gives 0 '' recommend -q --gpu a100,v100 \
    --arch resnet18,resnet34,resnet50,resnet101,resnet152,vgg16,vgg19
  [ "$(wc -l <out)" -le 10 ]
  head -n 1 out | grep -q '^Best 3 of 7 networks: '
  gives 0 '' recommend --arch resnet50 -q --all
  grep -qE "^Left out .* without an estimate, .* beyond the GPU's memory" out
}

@test "text: the front first, marks, parts that are not shown" {
  measured
  try recommend --table runs.csv
  grep -qE '^  net_b  +x' out
  try recommend --table runs.csv --all
  grep -qE '^  \* net_b' out
  grep -qx 'Pareto front' out
  job=(recommend --arch resnet50 --gpu a100,t4,v100 --batch-size 1..64 -q)
  gives 0 '' "${job[@]}" -f json
  mv out json
  try "${job[@]}"
  [ "$(wc -l <out)" -le 23 ]
  x=$(jq '.choices[0].energy_j / 3.6e6' json | LC_ALL=C xargs printf %.2g)
  jq -e '.choices[0] | .energy_high_j > 1.5 * .energy_low_j' json
  grep -qE "^  Least energy .* +$x kWh +[0-9.]+ to [0-9.]+ kWh " out
  grep -qE '^Covers +GPU and memory' out
  grep -q '^Pareto front and all choices: --all\. Settings: --explain\.$' out
  ! grep -q '^training samples' out || false
  try "${job[@]}" --explain
  grep -qE '^training samples +1281167$' out
  try recommend --arch resnet50 --gpu a100,t4,v100 --batch-size 1..64 -q --all
  [ "$(grep -c resnet50 out)" -ge 192 ]
}

# No GPU of the training data draws near the 1,200 W of a GB200.
@test "quantities beyond the range of the measured boards are named once" {
  gives 0 '' recommend -a resnet50 -g gb200 -b 64 --loader synthetic
  [ "$(grep -c '^Covers .*outside the measured range: .*TDP' out)" -eq 1 ]
  gives 0 '' recommend -a resnet50 -g v100-sxm2-32gb,a40 -b 64
  ! grep 'Outside the measured range' out || false
}

# choose ARG...: all choices for ResNet-50 in inference, in out
choose() {
  try recommend --arch resnet50 --phase inference --requests 1e6 \
    --batch-size 64 --format json -q "$@"
  [ "$status" -eq 0 ]
}

@test 'choices across GPUs and CPUs: lists, and all' {
  choose --gpu t4,a100 --cpu epyc-9654,xeon-platinum-8480+
  check '[.choices[].gpu] | sort == ["a100-sxm4-40gb", "epyc-9654", "t4",
    "xeon-platinum-8480+"]'
  check '.choices | all(.energy_low_j < .energy_j and .energy_j < .energy_high_j
    and .duration_s > 0)'
  check '[.choices[] | select(.boundary == "cpu") | .gpu] | sort ==
    ["epyc-9654", "xeon-platinum-8480+"]'
  choose
  cp out gpus
  choose --gpu all
  diff <(jq .choices gpus) <(jq .choices out)
  choose --cpu all
  check '.choices | length > 40 and length < 400 and all(.boundary == "cpu")'
  cp out cpus
  choose --gpu all --cpu all
  check ".choices | length == $(jq -s '[.[].choices | length] | add' gpus cpus)"
}

@test 'a single CPU with its sockets, and what does not go together' {
  choose --cpu '2 x epyc-9654'
  check '.choices[0] | .gpu == "epyc-9654" and .n_gpus == 2'
  misused recommend "$(message does_not_go_with sockets gpu)" -a resnet50 \
    --gpu a100 --cpu epyc-9654 --sockets 2
  misused recommend "$(message does_not_go_with extrapolate cpu)" -a resnet50 \
    --cpu all --extrapolate
  refuses 3 "dlest: $(message cpu_is_none a100)" recommend -a resnet50 \
    --cpu a100
}

@test 'nodes of CPUs are choices of inference' {
  choose --node all
  check '[.choices[] | select(.node == "xeon-8368")] | length == 1 and
    .[0].excluded == null'
}
