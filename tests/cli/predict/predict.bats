#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest predict: what it computes, prints and refuses. Expected energies are
# worked out by hand in the comments.

load ../common

RUN=(predict --arch resnet50 --gpu a100 -q --format json)
NEITHER=(predict --arch resnet50 --gpu a100)

@test "tdp: power x GPUs x time" {
  try "${RUN[@]}" --set gpu.tdp_w=300 --gpus 4 --duration 2h --method tdp
  # 300 W x 4 x 7200 s
  near '.estimates[0].energy_j' 8640000
  near '.estimates[0].energy_kwh' 2.4
  near '.estimates[0].power_w' 1200
  check '.estimates[0].duration_s == 7200'
  check '.estimates[0].duration_from == "given"'
}

@test "green-algorithms: utilisation and 0.3725 W per GB" {
  try "${RUN[@]}" --set gpu.tdp_w=300 --duration 3600s --utilisation 0.5 \
    --ram-gb 16 --method green-algorithms
  # (150 W + 16 x 0.3725 W) x 3600 s
  near '.estimates[0].energy_j' 561456
}

@test "flops: three forward passes, 2 operations a MAC" {
  try "${RUN[@]}" --set gpu.tdp_w=300 --set macs_g=4 --set peak_tflops=20 \
    --train-samples 1000 --epochs 10 --efficiency 0.25 --method flops
  # 6 x 4e9 x 10000 operations at 5e12 /s: 48 s
  near '.estimates[0].duration_s' 48
  near '.estimates[0].energy_j' 14400
}

@test "flops: validation costs one forward pass" {
  try "${RUN[@]}" --set gpu.tdp_w=300 --set macs_g=4 --set peak_tflops=20 \
    --train-samples 1000 --val-samples 600 --epochs 10 --efficiency 0.25 \
    --method flops
  # 48 s and 2 x 4e9 x 6000 / 5e12
  near '.estimates[0].duration_s' 57.6
}

@test "durations: s, m, h, d, and several of them" {
  for t in 1h30m 1:30:00 90m 5400s 1.5h 0.0625d; do
    try "${RUN[@]}" --duration "$t" --method tdp
    near '.estimates[0].duration_s' 5400
  done
}

@test "emissions: energy x PUE x intensity; PUE leaves energy_j alone" {
  try "${RUN[@]}" --set gpu.tdp_w=500 --duration 2h --method tdp \
    --intensity 300 --pue 1.5
  near '.estimates[0].energy_j' 3600000
  near '.estimates[0].facility_energy_j' 5400000
  near '.estimates[0].co2e_g' 450
}

@test "a country gives the intensity; --intensity goes before it" {
  try show grid es --format json
  grid=$(jq '.values[] | select(.field == "carbon_g_kwh").value' out)
  try "${RUN[@]}" --country ES
  near .intensity_g_kwh "$grid"
  try "${RUN[@]}" --country Spain
  near .intensity_g_kwh "$grid"
  try "${RUN[@]}" --country ES --intensity 7
  near .intensity_g_kwh 7
}

@test "without a country or intensity, without PUE: null, not 0" {
  try "${RUN[@]}"
  check '[.estimates[] | .co2e_g, .facility_energy_j] | all(. == null)'
}

@test "JSON: settings, the recommended method, estimates, warnings" {
  try predict --arch resnet50 --gpu a100 --format json
  check '.schema == 1 and (.dlest | test("^[0-9]+\\.[0-9]+"))'
  check '.arch == "resnet50" and .gpu == "a100-sxm4-40gb" and .n_gpus == 1'
  check '.dataset == "imagenet" and .epochs == 90 and .batch_size == 256'
  check '.image_px == 224 and .train_samples == 1281167'
  check '[.estimates[].method] | sort ==
    ["flops", "green-algorithms", "physical", "pre-epoch", "pre-power", "tdp"]'
  check '.recommended as $r | [.estimates[].method] | index($r) != null'
  check '["method", "boundary", "energy_j", "energy_kwh", "low_j", "high_j",
    "coverage", "power_w", "duration_s", "duration_from", "co2e_g", "model",
    "extrapolates"] as $keys | .estimates | all(($keys - keys) == [])'
  check '.estimates | all((.energy_j | type) == "number" and .energy_j > 0)'
  check '.estimates | all((.energy_kwh * 3600000 - .energy_j | fabs)
    <= 1e-9 * .energy_j)'
  check '.estimates[] | select(.method == "pre-power") |
    .low_j < .energy_j and .energy_j < .high_j and .coverage == 0.9'
  check '.estimates[] | select(.method == "tdp") |
    .low_j == null and .high_j == null and .coverage == null and
    .model == null and .extrapolates == []'
  check '.warnings | type == "array"'
}

@test "a run like the measured ones does not extrapolate" {
  try predict --arch resnet50 --gpu rtx-3090 --image-px 128 --batch-size 32 \
    --train-samples 23807 --val-samples 10203 --epochs 20 --format json
  check '[.estimates[].extrapolates] | all(. == [])'
  check '.warnings == []'
  gives 0 '' predict --arch resnet50 --gpu rtx-3090 --image-px 128 \
    --batch-size 32 --train-samples 23807 --val-samples 10203 --strict
}

@test "a wider interval for more coverage" {
  try "${RUN[@]}" --coverage 50
  half=$(jq '.estimates[0] | .high_j - .low_j' out)
  check '.estimates[0].coverage == 0.5'
  try "${RUN[@]}" --coverage 95
  check ".estimates[0] | .high_j - .low_j > $half"
}

@test "a data set sets the samples, unless they are given" {
  try "${RUN[@]}" --dataset cifar10
  check '.train_samples == 50000 and .val_samples == 10000'
  try "${RUN[@]}" --dataset cifar10 --train-samples 45000
  check '.train_samples == 45000 and .val_samples == 10000'
}

@test "validation samples alone leave the default data set" {
  try "${RUN[@]}" --val-samples 0
  check '.train_samples == 1281167 and .val_samples == 0'
}

@test "whole numbers may be written as 1e6" {
  try "${RUN[@]}" --train-samples 1e6
  check '.train_samples == 1000000'
}

@test "--method takes a list, in its order" {
  try "${RUN[@]}" --method 'flops, tdp'
  check '[.estimates[].method] == ["flops", "tdp"]'
}

@test "names in any spelling" {
  for name in a100 A100 'NVIDIA A100-SXM4-40GB' a100-sxm4-40gb; do
    try predict --arch ResNet-50 --gpu "$name" -q --format json
    check '.gpu == "a100-sxm4-40gb" and .arch == "resnet50"'
  done
}

@test "--set goes before all else; the catalogue stays as it is" {
  try "${RUN[@]}" --set gpu.tdp_w=123 --duration 1h --method tdp
  near '.estimates[0].power_w' 123
  try "${RUN[@]}" --batch-size 64 --set batch_size=32
  check '.batch_size == 32'
}

@test "--budget-kwh: 4 above it, with the estimates printed" {
  budget=(--set gpu.tdp_w=1000 --duration 2h --method tdp --budget-kwh)
  gives 4 "dlest: $(message over_budget_kwh 'tdp estimates' '2.00 kWh' 1.9)" \
    "${NEITHER[@]}" "${budget[@]}" 1.9 --format json
  check '.estimates[0].energy_kwh == 2'
  gives 0 '' "${NEITHER[@]}" "${budget[@]}" 2
}

@test "an own GPU from a file" {
  my_gpu "$(entry 123)"
  gives 0 '' predict --arch resnet50 --gpu my.xml --duration 1h --method tdp \
    --format json
  check '.gpu == "my" and .gpu_name == "My GPU"'
  near '.estimates[0].energy_j' 442800
  gives 0 '' predict --arch resnet50 --gpu "$PWD/my.xml" --duration 1h \
    --method tdp
}

@test "an own GPU: the first of several entries is taken, with a warning" {
  my_gpu "$(entry 123)" "$(entry 456 tdp_w other)"
  two=(predict --arch resnet50 --gpu my.xml --duration 1h --method tdp)
  text="dlest: warning: my.xml: $(message holds_entries_first_is 2 my)"
  gives 0 "$text" "${two[@]}" --format json
  near '.estimates[0].power_w' 123
  refuses 3 "$text
dlest: $(message warning_with_strict_nothing 1 "")" "${two[@]}" --strict
}

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

@test "CSV: one row an estimate" {
  try "${NEITHER[@]}" -q --format csv
  [ "$(wc -l <out)" -eq 7 ]
  head -1 out | grep -q '^method,boundary,energy_j,low_j,high_j,coverage,'
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

@test "--input: samples of a row's own are not validated on the default data set" {
  # 2 epochs of 10,000 images, 3 passes of 2 x 4.11e9 FLOPs, 0.3 of 78 TFLOP/s
  # at 400 W: 21.08 s and 8430.8 J. Of ImageNet: (1,281,167 + 50,000 / 3).
  table arch,gpu,batch_size,train_samples,epochs resnet50,a100,32,10000,2 \
    resnet50,a100,32,,2
  gives 0 '' predict --input runs.csv --method flops --format json -q
  check '.estimates | map(.energy_j | round) == [8431, 1094174]'
  gives 0 '' predict --arch resnet50 --gpu a100 --batch-size 32 --epochs 2 \
    --set train_samples=10000 --method flops --format json -q
  check '.val_samples == null and (.estimates[0].energy_j | round) == 8431'
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

@test "--input: columns that are missing take the defaults, with a warning" {
  table arch,gpu resnet50,a100
  gives 0 "dlest: warning: runs.csv: $(message no_column_default_is \
    train_samples 1281167)
dlest: warning: runs.csv: $(message no_column_default_is epochs 90)
dlest: warning: runs.csv: $(message no_column_default_is batch_size 256)" \
    predict --input runs.csv --method tdp --format json
  check '.warnings | length == 3'
}

@test "--input: a name that begins like a column does not stand for it" {
  table arch,gpu resnet50,a100
  try predict --input runs.csv --define epochs_x=3 --set batch_size_x=1 \
    --method tdp --format json
  check '[.warnings[] | select(contains("no column"))] | length == 3'
  try predict --input runs.csv --define epochs=3 --set batch_size=1 \
    --method tdp --format json
  check '[.warnings[] | select(contains("no column"))] | length == 1'
}

@test "--input: a measured column is not mixed up with an estimate" {
  table $HEADER,energy_j,duration_s 'x,resnet50,a100,64,1000,0,2,77,3600'
  try predict --input runs.csv --set gpu.tdp_w=300 --method tdp --format json
  check '.estimates[0].measured_energy_j == 77'
  near '.estimates[0].energy_j' 1080000
}

@test "--input: over the budget" {
  table $HEADER,duration_s 'x,resnet50,a100,64,1000,0,2,7200'
  gives 4 "dlest: $(message over_budget_kwh 'a run takes' '2.00 kWh' 1)" predict \
    --input runs.csv --set gpu.tdp_w=1000 --method tdp --budget-kwh 1
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

@test "an unknown architecture, GPU, data set, country, method" {
  refuses 3 "dlest: $(message unknown_nearest_or_export arch resnet51 \
    "$(meant resnet51q resnet50)" archs)" predict --arch resnet51 --gpu a100
  refuses 3 "dlest: $(message unknown_nearest_see_list gpu rtx3091 \
    "$(meant rtx-3090)" gpus)" predict --arch resnet50 --gpu rtx3091
  refuses 3 "dlest: $(message unknown_nearest_see_list dataset imgnet \
    "$(meant imagenet)" datasets)" \
    "${NEITHER[@]}" --dataset imgnet
  refuses 3 "dlest: $(message unknown_nearest_see_list grid Spian \
    "$(meant Spain)" grids)" "${NEITHER[@]}" --country Spian
  refuses 2 "dlest: $(message unknown_method_nearest tpd \
    "$(meant tdp)")" \
    "${NEITHER[@]}" --method tpd
  refuses 2 "dlest: $(message unknown_method_nearest "" \
    "")" \
    "${NEITHER[@]}" --method tdp,
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

@test "shares out of range" {
  for bad in 0 0.9 100 x; do
    misused predict "$(message invalid_value coverage "$bad" \
      "$(message expected_percent)")" --coverage=$bad
  done
  for bad in 1.5 -0.1 abc; do
    misused predict "$(message invalid_value utilisation "$bad" \
      "$(message expected_range 0 1)")" --utilisation=$bad
  done
  for bad in 0 2 x; do
    misused predict "$(message invalid_value efficiency "$bad" \
      "$(message expected_range 1e-06 1)")" --efficiency=$bad
  done
}

@test "wrong usage" {
  misused predict "$(message unexpected_argument resnet50 predict)" resnet50
  misused predict "$(message option_needs_a_value --arch)" --arch
  misused predict "$(message option_needs_a_value -a)" -qa
  misused predict "$(message option_takes_no_value --strict)" --strict=yes
  misused predict "$(message unknown_option --nope "$(meant --node)" predict)" \
    --nope=3
  misused predict "$(message unknown_letter -Q predict)" -qQ3
  misused predict "$(message option_is_ambiguous --ou \
    '--output-tokens, --output')" --ou 3
  misused predict "$(message unknown_format_use format xml \
    "text, json, csv, markdown, latex, html, boamps or prometheus")" --format xml
}

@test "--set: what it refuses" {
  refuses 2 "dlest: $(message expected_name_value foo)" "${NEITHER[@]}" --set foo
  refuses 2 "dlest: $(message expected_name_value =3)" "${NEITHER[@]}" --set =3
  refuses 2 "dlest: $(message has_no_field_nearest gpu tdp \
    "$(meant tdp_w)")" "${NEITHER[@]}" --set gpu.tdp=1
  refuses 2 "dlest: $(message has_no_field_nearest arch foo \
    "")" "${NEITHER[@]}" --set arch.foo=1
  refuses 2 "dlest: $(message invalid_number_3 gpu tdp_w abc)" \
    "${NEITHER[@]}" --set gpu.tdp_w=abc
  refuses 2 "dlest: $(message invalid_number_3 gpu tdp_w "")" \
    "${NEITHER[@]}" --set gpu.tdp_w=
  refuses 3 "dlest: $(message is_not_between_2 gpu tdp_w 1e9 1 2000)" \
    "${NEITHER[@]}" --set gpu.tdp_w=1e9
  refuses 2 "dlest: $(message invalid_number batch_size abc)" \
    "${NEITHER[@]}" --set batch_size=abc
  refuses 3 "dlest: $(message is_not_between batch_size 0 1 1e+09)" \
    "${NEITHER[@]}" --set batch_size=0
}

@test "--alias: a name that no row has" {
  printf 'arch,gpu,epochs,batch_size,train_samples\nvgg16,a100,1,8,1e6\nnet,a100,1,8,1e6\n' \
    >runs.csv
  for unused in zzz Net; do
    gives 0 "dlest: warning: $(message alias_nothing_uses "$unused")" \
      predict --input runs.csv --method tdp --duration 1h --format csv \
      --alias net=resnet50 --alias "$unused=resnet50"
  done
}

@test "--define and --alias: what they refuse" {
  refuses 2 "dlest: $(message expected_name_formula foo)" "${NEITHER[@]}" --define foo
  refuses 2 "dlest: $(message expected_name_formula a==b)" \
    "${NEITHER[@]}" --define a==b
  refuses 2 "dlest: formula '(': column 2: $(message ends_where_a_value)" \
    "${NEITHER[@]}" --define 'macs_g=('
  refuses 2 "$(message has_no_value_give dlest foo foo)" \
    "${NEITHER[@]}" --define macs_g=foo
  refuses 2 "dlest: $(message expected_name_id foo)" "${NEITHER[@]}" --alias foo
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

@test "--classes: another head" {
  try predict --arch mobilenet_v2 --gpu a100 --classes 10 -q --format json
  # Parameters of MobileNet v2 with ten classes: 2,236,682
  check '.classes == 10 and (.params_m | . > 2.23 and . < 2.245) and
    .trained_params_m == .params_m and .frozen == false'
  near '.macs_g' '0.3008 - 990 * 1280e-9'
  try predict --arch squeezenet1_0 --gpu a100 --classes 10
  grep -qx "dlest: warning: $(message classifier_is_not_known squeezenet1_0)" err
  invalid predict classes=0
}

@test "--frozen: the classifier alone is trained" {
  try predict -q --format json --arch resnet50 --gpu a100 --frozen --epochs 1 \
    --train-samples 1000 --val-samples 500 --method flops
  check '.frozen and .trained_params_m == 2.049'
  # 2e9 (4.11 (1000 + 500) + 2 * 0.002048 * 1000) / (78e12 * 0.3), 400 W
  near '.estimates[0].energy_j' \
    '2e9 * (4.11 * 1500 + 2 * 2.048) / (78e12 * 0.3) * 400'
  try predict --arch resnet50 --gpu a100 --frozen --classes 10 -q --format json
  near '.trained_params_m' '0.02049'
  try predict --arch resnet50 --gpu a100 --frozen --explain
  grep -q '^trained parameters  *2.05 M' out
  try predict --arch squeezenet1_0 --gpu a100 --frozen
  grep -qx "dlest: warning: $(message classifier_is_not_known_training \
    squeezenet1_0)" err
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
  grep -q 'Unknown for this network.*: activations and kernels;' out
  awk -v a="$bare" -v b="$half" 'BEGIN { exit !(a > b && b > 1) }'
}
