#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest predict: what it computes, prints and refuses. Expected energies are
# worked out by hand in the comments.

load ../common

NEITHER=(predict --arch resnet50 --gpu a100)

@test "text: the settings, a table, what the mark means" {
  try "${NEITHER[@]}" -q --all --explain
  grep -q '^architecture  *resnet50$' out
  grep -q '^GPU  *NVIDIA A100-SXM4-40GB$' out
  grep -q '^data set  *imagenet (default)$' out
  grep -q '^batch size  *256 (default)$' out
  grep -q '^ *\* physical' out
  grep -q '90 % interval' out
  grep -q '^\* recommended' out
  ! grep -q $'\033' out || false
  try "${NEITHER[@]}" -q --explain --dataset imagenet --batch-size 256
  grep -q '^data set  *imagenet$' out
  grep -q '^batch size  *256$' out
  ! grep -q green-algorithms.*kWh out || false
}

@test "NO_COLOR, and no colour where there is no terminal" {
  env TERM=xterm "$DLEST" "${NEITHER[@]}" -q >out
  ! grep -q $'\033' out || false
  script -qec 'test -t 1' /dev/null </dev/null >/dev/null 2>&1 ||
    skip "no terminal can be made here"
  command="$DLEST predict --arch resnet50 --gpu a100 -q"
  TERM=xterm script -qec "$command" /dev/null </dev/null >out
  grep -q $'\033' out
  TERM=xterm NO_COLOR=1 script -qec "$command" /dev/null </dev/null >out
  ! grep -q $'\033' out || false
  TERM=dumb script -qec "$command" /dev/null </dev/null >out
  ! grep -q $'\033' out || false
}

@test "--output writes the file and nothing else" {
  gives 0 '' "${NEITHER[@]}" -q --format json -o estimate.json
  [ ! -s out ]
  check '.arch == "resnet50"' estimate.json
  [ "$(ls)" = "$(printf 'err\nestimate.json\njq.out\nout')" ]
}

# Tables of runs

HEADER=note,arch,gpu,batch_size,train_samples,val_samples,epochs

@test "--input: a row for each run and method, all columns kept" {
  table $HEADER 'x,resnet50,a100,64,1000,0,2' '"a ""b"", c",vgg16,v100,32,5,0,1'
  gives 0 '' predict --input runs.csv --method tdp,flops --format csv
  [ "$(wc -l <out)" -eq 5 ]
  head -1 out | grep -q "^$HEADER,method,boundary,energy_j,"
  sed -n 2p out | grep -q '^x,resnet50,a100,64,1000,0,2,tdp,gpu,'
  sed -n 5p out | grep -q '^"a ""b"", c",vgg16,v100,32,5,0,1,flops,gpu,'
}

@test "--input: each row is what the command line gives" {
  table $HEADER 'x,resnet50,a100,64,1000,0,2' 'y,vgg16,rtx-3090,32,5,3,1'
  try predict --input runs.csv --format json -q
  check '[.estimates[].recommended] | map(select(.)) | length == 2'
  jq '.estimates[] | select(.note == "y") | [.method, .energy_j, .high_j]' \
    out >batch
  try predict --arch vgg16 --gpu rtx-3090 --batch-size 32 --train-samples 5 \
    --val-samples 3 --epochs 1 --format json -q
  jq '.estimates[] | [.method, .energy_j, .high_j]' out | diff -u batch -
}

@test "--input -: from standard input" {
  table $HEADER 'x,resnet50,a100,64,1000,0,2'
  gives 0 '' predict --input - --method tdp --format csv <runs.csv
  [ "$(wc -l <out)" -eq 2 ]
  table $HEADER 'x,resnet50,nope,64,1000,0,2'
  try predict --input - --method tdp --format csv <runs.csv
  grep -q "^dlest: warning: <stdin>:2: unknown gpu 'nope'" err
  [ "$status" -eq 3 ]
}

@test "--input: the same bytes with 1, 2 and 3 threads" {
  { # more than one piece of the reader
    echo $HEADER
    seq 30000 | awk '{ print "r" $1 ",resnet50,a100," $1 % 64 + 1 "," $1 * 7 \
      ",0," $1 % 9 + 1 }'
  } >runs.csv
  for n in 1 2 3; do
    OMP_NUM_THREADS=$n "$DLEST" predict --input runs.csv -q --format csv \
      --method tdp,pre-epoch >"$n.csv"
  done
  [ "$(wc -l <1.csv)" -eq 60001 ]
  cmp 1.csv 2.csv
  cmp 1.csv 3.csv
}

# Refusals

@test "no architecture, no GPU" {
  lacks="dlest: warning: $(message no_estimate_without tdp --set\ gpu.tdp_w=VALUE)
dlest: $(message no_method_has_enough "; give --set gpu.tdp_w=VALUE")"
  # No word about quantities of the methods: an option is missing.
  refuses 2 "dlest: $(message no_method_has_enough "; give --arch and --gpu")" \
    predict --method tdp
  refuses 2 "dlest: $(message no_method_has_enough "; give --arch")" \
    predict --gpu a100 --method flops
  refuses 2 "dlest: $(message no_method_has_enough "; give --gpu")" \
    predict --arch resnet50
  my_gpu "$(entry 100 cuda_cores)"
  refuses 3 "$lacks" predict --arch resnet50 --gpu my.xml --duration 1h \
    --method tdp
}

@test "values out of range" {
  for bad in epochs=0 epochs=-3 epochs=abc epochs=nan epochs=inf epochs=1e300 \
    epochs= batch-size=-1 batch-size=0 batch-size=1.5 \
    batch-size=18446744073709551615 gpus=0 gpus=1e9 image-px=0 image-px=1e9 \
    train-samples=0 train-samples=-5 val-samples=-1 duration=0 duration=-1 \
    duration=abc duration=1x duration=1e400 duration=1e300h ram-gb=-1 \
    ram-gb=1e300 pue=0.9 intensity=-1 budget-kwh=0 \
    budget-kwh=-1; do
    invalid predict "$bad" --arch resnet50 --gpu a100
  done
}

@test "two names that stand for each other" {
  try "${NEITHER[@]}" --define macs_g=acts_m --define acts_m=macs_g
  [ "$status" -le 3 ]
}

@test "--strict: warnings are a refusal" {
  try "${NEITHER[@]}" --strict -o keep
  [ "$status" -eq 3 ]
  [ ! -e keep ]
  tail -1 err | grep -q "^dlest: $(message warning_with_strict_nothing \
    '[0-9]*' 's*')$"
}

@test "facts of a network that are not known widen the interval" {
  cat >own.xml <<'EOF'
<catalog kind="architecture" version="1">
  <sources>
    <source id="me" title="mine" year="2026" url="https://example.org"/>
  </sources>
  <entry id="own-net" name="own" scaling="area">
    <value name="params_m" source="me">25.56</value>
    <input image_px="224"><value name="macs_g" source="me">4.11</value></input>
  </entry>
</catalog>
EOF
  local width='.estimates[] | select(.method == "physical") |
    .high_j / .energy_j'
  gives 0 '' predict --arch own.xml --gpu h100-sxm5-80gb -q --format json
  check '.facts_assumed == "activations and kernels"'
  bare=$(jq "$width" out)
  gives 0 '' predict --arch own.xml --gpu h100-sxm5-80gb -q --format json \
    --set acts_m=11.1 --set launches=175
  check '.facts_assumed == "memory traffic"'
  half=$(jq "$width" out)
  gives 0 '' predict --arch resnet50 --gpu h100-sxm5-80gb -q --format json \
    --set arch.acts_m=11.1
  check '.facts_assumed == null'
  gives 0 '' predict --arch own.xml --gpu h100-sxm5-80gb -q
  grep -q "^  Assumed .* activations and kernels from the network's FLOPs$" out
  awk -v a="$bare" -v b="$half" 'BEGIN { exit !(a > b && b > 1) }'
}
