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
          .price_per_kwh, .currency, .memory_need_gb,
          .memory_need_low_gb, .memory_need_high_gb, .assumed))" sweep.json >part.json
        jq -S .estimates out | diff - part.json
      fi
      ((++i))
    done; done; done
  done; done
}

@test "formulas of the batch follow the default that fits, in every order" {
  # 128 fit the T4 and 256 the MI300X
  local job=(predict --arch resnet50 --epochs 3 --method pre-epoch -q -f json)
  for gpu in t4:128 mi300x:256; do
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
