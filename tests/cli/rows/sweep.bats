#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest predict with lists and ranges: every combination is what it is alone,
# in order, for any number of threads.

load ../common

GRID=(--arch resnet50,vit_base_patch16_224 --gpu a100,t4 --gpus 1,2
  --image-px 224,288 --batch-size 16..64x2)

@test "every combination is the estimate of that one, the last axis fastest" {
  gives 0 '' predict "${GRID[@]}" -q --format json
  mv out sweep.json
  check '.estimates | length == 2 * 2 * 2 * 2 * 3 * 6' sweep.json
  local i=0 a g n p b
  for a in resnet50 vit_base_patch16_224; do for g in a100 t4; do
    for n in 1 2; do for p in 224 288; do for b in 16 32 64; do
      # one in five, all are 48
      if ((i % 5 == 0)); then
        gives 0 '' predict --arch $a --gpu $g --gpus $n --image-px $p \
          --batch-size $b -q --format json
        jq -S ".estimates[$((6 * i)):$((6 * i + 6))] | map(del(.arch, .gpu,
          .n_gpus, .image_px, .seq_len, .batch_size, .recommended,
          .intensity_g_kwh, .intensity_of, .pue, .pue_of,
          .price_per_kwh, .currency, .memory_need_gb, .assumed))" sweep.json >part.json
        jq -S .estimates out | diff - part.json
      fi
      ((++i))
    done; done; done
  done; done
}

@test "formulas of the batch follow the default that fits, in every order" {
  # 64 fit the T4 and 256 the MI300X
  local job=(predict --arch resnet50 --epochs 3 --method pre-epoch -q -f json)
  for gpu in t4:64 mi300x:256; do
    gives 0 '' "${job[@]}" --gpu "${gpu%:*}" --batch-size "${gpu#*:}"
    jq '.estimates[0].energy_j' out >"${gpu%:*}"
    gives 0 '' "${job[@]}" --gpu "${gpu%:*}"
    check ".batch_size == ${gpu#*:}"
    jq '.estimates[0].energy_j' out | diff "${gpu%:*}" -
  done
  gives 0 '' "${job[@]}" --gpu t4,mi300x
  jq '.estimates[].energy_j' out | diff <(cat t4 mi300x) -
  gives 0 '' "${job[@]}" --gpu mi300x,t4
  jq '.estimates[].energy_j' out | diff <(cat mi300x t4) -
  table arch,gpu,epochs resnet50,t4,3 resnet50,mi300x,3
  gives 0 '' predict --input runs.csv --method pre-epoch -q -f json
  jq '.estimates[].energy_j' out | diff <(cat t4 mi300x) -
}

@test "settings that do not go together leave the other combinations" {
  local tpu
  tpu="--$(message is_no_nvidia_gpu tpu-v4)"
  local job=(--arch resnet50 --epochs 1 --stack ngc --batch-size 64 -q -f json)
  gives 0 '' predict "${job[@]}" --gpu h100
  jq '.estimates | map(.energy_j)' out >alone
  for gpus in tpu-v4,h100 h100,tpu-v4; do
    try predict "${job[@]}" --gpu $gpus
    [ "$status" -eq 3 ]
    jq '.estimates | map(.energy_j)' out | diff alone -
    try predict --arch resnet50 --epochs 1 --stack ngc --gpu $gpus -f csv
    [ "$status" -eq 3 ]
    [ "$(wc -l <out)" -eq 7 ]
    grep -qF "dlest: warning: resnet50, tpu-v4, batch size 256: $tpu" err
    grep -qx "dlest: 1 row skipped" err
  done
  gives 0 '' recommend "${job[@]}" --gpu tpu-v4,h100
  check '.n_choices == 2 and .choices[0].gpu == "h100-sxm5-80gb" and
    .choices[1].excluded == "no estimate"'
  # of the whole catalogue those that can
  gives 0 '' recommend "${job[@]}"
  gives 0 '' recommend --arch llama-3-8b --tokens 1e8 --precision fp8 -q
  try recommend "${job[@]}" --gpu tpu-v4
  [ "$status" -eq 3 ]
  grep -qF "dlest: $tpu" err
}

@test "every row has the price, and the cost of its energy" {
  gives 0 '' predict --arch resnet50,vgg16 --gpu a100,t4 --method tdp \
    --duration 2h --price 0.5EUR --pue 1.2 -q --format json
  check '.estimates | length == 4'
  check 'all(.estimates[]; .price_per_kwh == 0.5 and .currency == "EUR" and
    ((.cost - 0.5 * 1.2 * .energy_kwh) | fabs) < 1e-12)'
}

@test "CSV is the same for any number of threads" {
  for n in 1 2 5; do
    OMP_NUM_THREADS=$n "$DLEST" predict --arch resnet50,vgg16 --gpu t4,a100 \
      --image-px 96..224+32 --batch-size 1..1500 --method physical,flops -q \
      --format csv -o $n.csv
  done
  cmp 1.csv 2.csv
  cmp 1.csv 5.csv
  [ "$(wc -l <1.csv)" -eq 60001 ]
  [ "$(sed -n 2p 1.csv | cut -d, -f1-6)" = resnet50,t4,1,96,,1 ]
  [ "$(tail -n 1 1.csv | cut -d, -f1-7)" = \
    vgg16,a100-sxm4-40gb,1,224,,1500,flops ]
}

@test "CSV and JSON have the same figures" {
  try predict "${GRID[@]}" -q --format csv
  tail -n +2 out | cut -d, -f1,6,7,9 >rows
  try predict "${GRID[@]}" -q --format json
  jq -r '.estimates[] | [.arch, .batch_size, .method] | map(tostring) |
    join(",")' out | diff - <(cut -d, -f1-3 rows)
  jq -n --slurpfile j out --rawfile c rows '[$j[0].estimates[].energy_j] as $x |
    [$c | split("\n")[] | select(. != "") | split(",")[3] | tonumber] as $y |
    [$x, $y] | transpose | all(.[0] == .[1])' | grep -qx true
}

@test "--set holds for every combination" {
  try predict --arch resnet50,vgg16 --gpu a100,t4 --method tdp \
    --set gpu.tdp_w=100 --duration 1h --format json -q
  check '[.estimates[].energy_j] == [360000, 360000, 360000, 360000]'
  try predict --arch resnet50,vgg16 --gpu a100 --method flops --set macs_g=1 \
    --format json -q
  check '.estimates[0].energy_j == .estimates[1].energy_j'
  try predict --arch resnet50,vgg16 --gpu a100 --method flops \
    --set arch.macs_g=1 --format json -q
  check '.estimates[0].energy_j == .estimates[1].energy_j'
}

@test "ranges" {
  local got want
  while read -r range want; do
    try predict --arch resnet50 --gpu t4 --batch-size "$range" --method flops \
      --format csv -q
    got=$(tail -n +2 out | cut -d, -f6 | paste -sd ' ')
    [ "$got" = "$want" ] || { echo "$range: $got"; return 1; }
  done <<'RANGES'
1..4 1 2 3 4
16..128x2 16 32 64 128
16..100x1.5 16 24 36 54 81
8..32+8,64 8 16 24 32 64
32,16,32 32 16
5..5 5
RANGES
}

@test "lists that are none" {
  misused predict "--batch-size: $(message range_has_no_end 64..16)" --batch-size 64..16
  misused predict "--batch-size: $(message range_has_no_end 1..8x1)" --batch-size 1..8x1
  misused predict "--batch-size: $(message range_has_no_end 1..8+0)" --batch-size 1..8+0
  misused predict "--batch-size: $(message range_has_no_end 0..8x2)" --batch-size 0..8x2
  misused predict "--batch-size: $(message invalid_range_expected_low 1..x)" --batch-size 1..x
  misused predict "--batch-size: $(message empty_value_in_list)" --batch-size 16,,32
  misused predict "$(message invalid_number_2 batch-size b)" --batch-size 16,b
  misused predict "$(message invalid_value batch-size 0 \
    "$(message expected_whole_range 1 1e+09)")" --batch-size 0..3
  misused predict "$(message invalid_value image-px 1.5 \
    "$(message expected_whole_range 1 100000)")" --image-px 1.5,2
  misused predict "--batch-size: $(message more_than_values 1000000)" --batch-size 1..2e6
  refuses 2 "dlest: $(message more_than_combinations 1e+12)" predict --arch resnet50 \
    --gpu a100 --batch-size 1..1000000 --image-px 1..99999 --gpus 1..1000
  refuses 2 "dlest: $(message input_has_rows_own)" \
    predict --input x.csv --arch a,b
  refuses 2 "dlest: $(message language_models_others_do resnet50 gpt2)" \
    predict --arch resnet50,gpt2 --gpu a100
  refuses 2 "dlest: $(message is_for_one_run --node 'a list')" \
    predict --arch resnet50,vgg16 --node xeon-8368-4xa100
  try predict --arch resnet50 --gpu a100,a101
  [ "$status" -eq 3 ]
  [ ! -s out ]
  grep -q "'a101'" err
}

@test "a shape's commas part no list; other commands take no lists" {
  try predict --arch transformer:layers=2,hidden=64,heads=2,vocab=100,seq=16,transformer:layers=4,hidden=64,heads=2,vocab=100,seq=16 \
    --gpu a100 --tokens 1e6 --method flops --format csv -q
  [ "$status" -eq 0 ]
  [ "$(wc -l <out)" -eq 3 ]
  invalid compare batch-size=16,32 x.csv
}

@test "what no method says anything of is skipped and counted" {
  try predict --arch resnet50 --gpu a100,t4 --phase inference --method pre-epoch
  [ "$status" -eq 3 ]
  grep -qx "dlest: $(message row_skipped 2 s)" err
  grep -q "resnet50, t4, batch size 1: $(message no_estimate_needs pre-epoch \
    'measured runs of inference')" err
}

@test "over the budget, over the memory, --strict" {
  try predict --arch resnet50 --gpu a100 --batch-size 16,32 --budget-kwh 1 -q
  [ "$status" -eq 4 ]
  try predict --arch resnet50 --gpu a100 --batch-size 256..2048x2 --method flops
  grep -q "the sweep: 3 rows: the batch needs more than the GPU's memory" err
  try predict --arch resnet50 --gpu a100 --batch-size 256..2048x2 --strict
  [ "$status" -eq 3 ]
  [ ! -s out ]
}

@test "a full disk is reported" {
  [ -c /dev/full ] || skip 'no /dev/full'
  status=0
  "$DLEST" predict --arch resnet50 --gpu a100 --batch-size 1..9999 -q \
    --format csv >/dev/full 2>err || status=$?
  [ "$status" -eq 1 ]
}

@test "a combination that breaks is skipped, whatever axis changed before" {
  # 1 / 0 with a batch of 16, on one GPU and on two
  try predict --arch resnet50 --gpu a100 --method tdp --batch-size 16,32 \
    --gpus 1,2 --duration 1h --define 'macs_g=1/(batch_size-16)' --format csv
  [ "$status" -eq 3 ]
  [ "$(grep -c 'batch size 16: column .macs_g.' err)" -eq 1 ]
  grep -q '^dlest: 2 rows skipped' err
  [ "$(cut -d, -f 6 <out | tail -n +2 | sort -u)" = 32 ]
}
