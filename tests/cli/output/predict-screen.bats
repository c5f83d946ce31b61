#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest predict on a screen: one answer, with the figures of JSON.

load ../common

# screen ARG...: lines of what predict prints on a screen of 80 columns, the
# messages included
screen() {
  "$DLEST" predict "$@" >out 2>&1
  fold -w 80 out | wc -l
}

# figure FILTER [DIGITS]: three digits of a number of the file json
figure() {
  jq -r "$1" json | python3 -c '
import sys
from decimal import Decimal, Context, ROUND_HALF_UP
n = int(sys.argv[1])
x = Decimal(sys.stdin.read().strip())
x = Context(prec=n, rounding=ROUND_HALF_UP).create_decimal(x)
print(format(x, ".%df" % max(0, n - 1 - x.adjusted())))' "${2:-3}"
}

# digits LOW HIGH: of an estimate with that interval in the file json; wide
# intervals leave two
digits() {
  jq -r "if $1 != null and $2 > 1.5 * $1 then 2 else 3 end" json
}

@test "text: one answer in at most 10 lines, each figure that of JSON" {
  while read -r most job; do
    # shellcheck disable=SC2086
    {
      [ "$(screen $job -q)" -le "$most" ]
      "$DLEST" predict $job -q --format json >json
    }
    best='.recommended as $r | .estimates[] | select(.method == $r)'
    # below 0.001 kWh in kJ
    unit=$(jq -r "$best | if .energy_j < 3600 then \"kJ\" else \"kWh\" end" json)
    j=$(jq -r "$best | if .energy_j < 3600 then 1e3 else 3.6e6 end" json)
    n=$(digits "($best | .low_j)" "($best | .high_j)")
    energy="  Energy *$(figure "$best | .energy_j / $j" "$n") $unit "
    low=$(figure "$best | .low_j / $j" "$n")
    high=$(figure "$best | .high_j / $j" "$n")
    grep -q "^$energy *$low to $high $unit (90 %)  .*GPU" out
    n=$(digits "($best | .power_low_w)" "($best | .power_high_w)")
    grep -q "^  Power *$(figure "$best | .power_w" "$n") W" out
    grep -q '^  CO2e  *-  *add --country DE or --cloud aws:us-east-1$' out
    grep -q '^  Other methods: --all. Settings and sources: --explain.$' out
    grep -q '^  Basis  *[0-9]* [a-z ]*' out
  done <<END
10 --arch resnet50 --gpu a100
11 --arch resnet50 --gpu a100 --gpus 4
10 --arch resnet50 --gpu v100 --duration 30h --batch-size 64
10 --arch vgg16 --gpu rtx-3090 --dataset cifar10 --image-px 32 --epochs 20
10 --arch vit_base_patch16_224 --gpu h100 --gpus 8 --precision bf16 --batch-size 64
12 --arch llama-3-8b --gpu a100-80gb --gpus 4 --fine-tune lora --tokens 1e8
11 --arch llama-2-7b --gpu h100 --phase inference --prompt-tokens 500 --output-tokens 200 --requests 1000
10 --arch resnet50 --gpu a100 --phase inference --requests 10000 --batch-size 32
END
}

@test "text: a job that needs more memory than the GPU has" {
  for batch in 64 128 256; do
    try predict --arch yolov8n --gpu rtx-4090 --batch-size $batch \
      --precision tf32
    [ "$status" -eq 0 ]
    over=$(grep -c 'more than the 24.9 GB' err || true)
    [ "$(grep -c 'of 25 GB usable: does not fit$' out || true)" -eq "$over" ]
    seen+=$over
  done
  [ "$seen" = 001 ]
}

@test "text: emissions and cost with their intervals" {
  job=(--arch resnet50 --gpu a100 --pue 1.5 --intensity 200 --price 0.25EUR)
  [ "$(screen "${job[@]}")" -le 12 ]
  "$DLEST" predict "${job[@]}" -q --format json >json
  best='.estimates[0] | 1.5 / 3.6e6 *'
  n=$(digits '.estimates[0].low_j' '.estimates[0].high_j')
  grep -q "^  Facility *$(figure "$best .energy_j" "$n") kWh *$(figure \
    "$best .low_j" "$n") to $(figure "$best .high_j" "$n") kWh  *PUE 1.50$" out
  grep -q "^  CO2e *$(figure "$best .2 * .energy_j" "$n") kg *$(figure \
    "$best .2 * .low_j" "$n") to $(figure "$best .2 * .high_j" "$n") kg  *200 g/kWh" out
  grep -q "^  Cost *$(figure "$best .25 * .energy_j" "$n") EUR *$(figure \
    "$best .25 * .low_j" "$n") to $(figure "$best .25 * .high_j" "$n") EUR$" out
}

@test "text: on several GPUs the epoch time is that of all of them" {
  job=(--arch resnet50 --gpu a100 --gpus 4 --epochs 6)
  "$DLEST" predict "${job[@]}" -q --format json >json
  check '(.epoch_s * 6 / .estimates[0].duration_s - 1 | fabs) < 1e-12' json
  "$DLEST" predict "${job[@]}" -q --explain >out
  epoch=$(sed -n 's/^epoch time  *//p' out)
  grep -q "^  Time .* to .*  $epoch per epoch$" out
}

@test "beyond the training data: said once, in words; by method in JSON" {
  try predict --arch resnet50 --gpu a100 --format json
  check '.estimates[] | select(.method == "pre-power") |
    .extrapolates | index("gpu.tdp_w") != null'
  check '.estimates[] | select(.method == "physical") |
    .extrapolates == ["gpu.bandwidth_gb_s", "gpu.tdp_w"]'
  # once, of the recommended method, in words
  outside=$(message outside_training_data 'memory bandwidth, TDP')
  [ "$(cat err)" = "dlest: warning: $outside" ]
  check ".warnings == [\"$outside\"]"
  # in text the answer says it; --strict prints the warning
  gives 0 '' predict --arch resnet50 --gpu a100
  grep -q '^  Basis .* other GPUs; outside their range: memory bandwidth, TDP$' out
  refuses 3 "dlest: warning: $outside
dlest: $(message warning_with_strict_nothing 1 "")" predict --arch resnet50 \
    --gpu a100 --strict
  gives 0 '' predict --arch resnet50 --gpu a100 --all
  grep -q '^pre-power: outside the measured range: TDP, training samples' out
}

@test "text: a GPU or network with rows in the tables of the fit is not called new" {
  means=$TOP_SRCDIR/data/language-training-means.csv
  grep -q '^mpt-7b,' "$means"
  grep -q '^[^,]*,a100-sxm4-80gb,' "$means"
  gives 0 '' predict --arch mpt-7b --gpu a100-sxm4-80gb --tokens 1e9 -q
  [ "$(grep -c '^  Basis .*other' out)" -eq 0 ]
  [ "$(grep -c '^[^,]*,rtx-3090,' "$means")" -eq 0 ]
  gives 0 '' predict --arch mpt-7b --gpu rtx3090 --tokens 1e9 -q
  grep -q '^  Basis  *[0-9]* other GPUs$' out
  # power and time of image networks
  grep -q '^a40,' "$TOP_SRCDIR/data/training-means.csv"
  gives 0 '' predict --arch resnet50 --gpu a40 -q
  [ "$(grep -c -e '^  Basis .*other' -e outside out)" -eq 0 ]
}

@test "text: epochs are named where they enter the answer" {
  gives 0 '' predict --arch resnet50 --gpu a100 --duration 12h -q
  grep -q '^  Assumed  imagenet, batch size 256, TF32$' out
  grep -q '^  Time     12 h 00 min  given$' out
  gives 0 '' predict --arch resnet50 --gpu a100 --duration 12h --epochs 90 -q
  head -n 1 out | grep -q ': 90 epochs$'
  grep -q '^  Assumed  imagenet,' out
  grep -q '^  Time     12 h 00 min  8 min 00 s per epoch, given$' out
}

@test "text: energies from 1000 kWh on are in MWh, powers from 10 kW on in kW" {
  job=(predict --method tdp --set gpu.tdp_w=1000 --arch resnet50 --gpu a100 -q)
  gives 0 '' "${job[@]}" --gpus 9 --duration 111h
  grep -q '^  Energy  *999 kWh ' out
  grep -q '^  Power  *9000 W ' out
  gives 0 '' "${job[@]}" --gpus 10 --duration 111h
  grep -q '^  Energy  *1.11 MWh ' out
  grep -q '^  Power  *10.0 kW ' out
  gives 0 '' "${job[@]}" --gpus 20000 --duration 111h
  grep -q '^  Energy  *2.22 GWh ' out
  grep -q '^  Power  *20.0 MW ' out
  # One unit for a column, whatever the rows; numbers for programs are J and W.
  gives 0 '' "${job[@]}" --gpus 1,10,1000 --duration 111h
  sed -n 2p out | grep -q ' MWh .* kW '
  gives 0 '' "${job[@]}" --gpus 20000 --duration 111h --format csv
  sed -n 2p out | grep -q 'tdp,gpu,7992000000000,.*,20000000,'
}

@test "text: the input size is named beside a data set" {
  gives 0 '' predict --arch resnet50 --gpu a100 --dataset cifar10 -q
  head -n 1 out | grep -q ': cifar10$'
  grep -q '^  Assumed  90 epochs, batch size 256, 224 px, TF32$' out
  gives 0 '' recommend --arch resnet50 --gpu a100 --dataset cifar10 -q
  head -n 1 out | grep -q ', cifar10: [0-9]* choices (assumed: 90 epochs, 224 px)$'
}

@test "text: what follows from given values is no default" {
  "$DLEST" predict --arch llama-2-7b --gpu a100 --gpus 8 --epochs 3 \
    --train-tokens 1e7 -q >out
  head -n 1 out | grep -q ': 30M tokens$'
  grep -q '^  Assumed  batch size 1, 4096 tokens' out
  "$DLEST" predict --arch resnet50 --gpu a100 --gpus 8 --global-batch 512 \
    -q >out
  head -n 1 out | grep -q ': global batch size 512, batch size 64$'
  grep -q '^  Assumed  imagenet' out
  # the batch of a pass is assumed, to fit the memory
  "$DLEST" predict --arch llama-2-7b --gpu a100 --gpus 8 --global-batch 512 \
    --tokens 1e9 -q >out
  head -n 1 out | grep -q 'global batch size 512$'
  grep -q '^  Assumed  batch size 1,' out
}

@test "text: the title has the size of what a pass takes" {
  "$DLEST" predict --arch flux.1-dev --gpu h100 --phase inference -q >out
  grep -q '^  Assumed  .*, batch size 1, 1024 px, ' out
  "$DLEST" predict --arch sdxl --gpu h100 --phase inference --image-px 512 \
    -q >out
  head -n 1 out | grep -q ': inference, 512 px$'
  "$DLEST" predict --arch bert-base --gpu t4 --phase inference -q >out
  grep -q '^  Assumed  .*, 512 tokens per sequence, ' out
  # the requests have lengths of their own
  "$DLEST" predict --arch llama-2-7b --gpu h100 --phase inference \
    --prompt-tokens 100 --output-tokens 10 -q >out
  ! grep -q 'per sequence' out || false
}

@test "JSON lists all that the text assumes" {
  "$DLEST" predict --arch resnet50 --gpu a100 -q --format json >json
  check '.assumed == ["dataset", "epochs", "batch_size", "precision"]' json
  "$DLEST" predict --arch resnet50 --gpu a100 --dataset cifar10 --epochs 3 \
    --batch-size 8 --precision amp -q --format json >json
  check '.assumed == ["image_px"]' json
  "$DLEST" predict --arch llama-3-8b --gpu h100 --gpus 8 --tokens 1e9 -q \
    --format json >json
  check '.assumed | contains(["batch_size", "seq_len", "precision",
    "checkpointing", "attention", "sharding"])' json
}

@test "text: a better set-up has the figures of its own estimate" {
  "$DLEST" predict --arch resnet50 --gpu a100 -q >out
  "$DLEST" predict --arch resnet50 --gpu a100 --precision amp -q --format json \
    >json
  amp=$(figure '.estimates[0].energy_j / 3.6e6' 2)
  "$DLEST" predict --arch resnet50 --gpu h100 -q --format json >json
  h100=$(figure '.estimates[0].energy_j / 3.6e6' 2)
  grep -q "^  Better   AMP in place of TF32: $amp kWh, .*; H100: $h100 kWh, " out
  # nothing to say of what is given, or where the time is
  for job in '--gpu h100 --precision amp' '--gpu a100 --duration 9h'; do
    # shellcheck disable=SC2086
    "$DLEST" predict --arch resnet50 $job -q >out
    ! grep -q '^  Better' out || false
  done
}

@test "text: the software stack is stated, and where it would matter" {
  # a whole training takes longer than its steps, unknown software widens
  # intervals in 16 bits
  llm=(predict --arch llama-3-8b --gpu h100 --gpus 8 --tokens 1e9 -q)
  cnn=(predict --arch resnet50 --gpu a100 -q)
  "$DLEST" "${llm[@]}" >out
  grep -q '^  Assumed  .*start-up 20 s, any software, 5 % overhead$' out
  "$DLEST" "${cnn[@]}" --precision amp >out
  grep -q '^  Assumed  .*, any software' out
  for known in "${cnn[*]} --precision fp32" \
    "${cnn[*]} --precision amp --duration 20h" \
    "${llm[*]} --duration 10h" \
    "${llm[*]} --method tdp"; do
    # shellcheck disable=SC2086
    "$DLEST" $known >out
    ! grep -q -e software out || false
  done
  "$DLEST" "${llm[@]}" --stack ngc >out
  head -n 1 out | grep -q ', software ngc$'
  ! grep -q 'any software' out || false
}

@test "a range that is left is said once, in words" {
  # Of the GPUs of the fit none has the bandwidth and TDP of an A100.
  gives 0 '' predict --arch resnet50 --gpu a100 -q --all
  [ "$(grep -c 'range: memory bandwidth, TDP' out)" = 1 ]
  ! grep -q '^physical: outside' out || false
  grep -q '^pre-epoch: outside .*: TDP, ' out
  printf '%s\n' arch,gpu resnet50,a100 resnet50,rtx-3090 resnet50,a100 >runs.csv
  gives 0 '' predict --input runs.csv -q
  [ "$(grep -i outside out)" = \
    'Outside the measured range in 2 of 3 rows: memory bandwidth, TDP.' ]
  gives 0 '' predict --arch resnet50 --gpu a100,rtx-3090 -q --all
  [ "$(grep -i outside out)" = \
    'Outside the measured range in 1 of 2 rows: memory bandwidth, TDP.' ]
  gives 0 '' predict --arch resnet50 --gpu rtx-3070,rtx-3090 -q
  ! grep -i outside out || false
  gives 0 '' predict --input runs.csv -q --format json
  check 'keys == ["dlest", "estimates", "schema", "warnings"]'
}
