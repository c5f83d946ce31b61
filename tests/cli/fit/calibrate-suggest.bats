# SPDX-License-Identifier: GPL-3.0-or-later
# dlest calibrate --suggest: which run to measure. What it promises of a run is
# compared with calibrations by runs that were measured.

load ../common

columns=arch,gpu,batch_size,image_px,train_samples,precision,framework
first=resnet50,rtx-4090,64,224,1281167,amp,pytorch
second=vgg16,rtx-4090,32,224,1281167,amp,pytorch
third=mobilenetv2_100,rtx-4090,128,224,1281167,fp32,pytorch

plan() { # ROW...: plan.csv
  printf '%s\n' "$columns" "$@" >plan.csv
}

# seconds MODEL ROW: of the steps of an epoch, which epoch_s holds
seconds() {
  printf '%s\n' "$columns,epochs" "$2,1" >row.csv
  "$DLEST" predict --input row.csv --model "$1" --method physical -q \
    --set startup_s=0 --set overhead=0 --format json |
    jq '.estimates[0].duration_s'
}

# learn MODEL FACTOR ROW NEW: NEW is MODEL calibrated by a run of ROW that took
# FACTOR times as long as estimated
learn() {
  local time
  time=$(seconds "$1" "$3" | awk -v f="$2" '{ printf "%.17g", $1 * f }')
  printf '%s\n' "$columns,epochs,epoch_s" "$3,1,$time" >run.csv
  "$DLEST" calibrate run.csv --model "$1" -o "$4" -q >/dev/null
}

# follows MODEL RUN OTHER: by how much the logarithm of the time of OTHER moves
# for each unit by that RUN is measured above its estimate
follows() {
  learn "$1" 1.02 "$2" above.xml
  learn "$1" 0.98 "$2" below.xml
  awk -v a="$(seconds above.xml "$3")" -v b="$(seconds below.xml "$3")" \
    'BEGIN { print log(a / b) / log(1.02 / 0.98) }'
}

# left MODEL RUN OTHER: the share of the variance of OTHER that RUN leaves. With
# variances v and w against a measurement, and their covariance c, OTHER follows
# RUN by c / v and RUN follows OTHER by c / w, and c^2 / v of w go.
left() {
  awk -v x="$(follows "$1" "$2" "$3")" -v y="$(follows "$1" "$3" "$2")" \
    'BEGIN { print 1 - x * y }'
}

# promised FILE LINE: the share that --suggest says the best other run leaves
promised() {
  jq "def log1p: (1 + .) | log; .wanted[] | select(.line == $2) |
    pow((.time_error | log1p) / (.time_error_before | log1p); 2)" "$1"
}

# close A B SHARE: they differ by at most that
close() {
  awk -v a="$1" -v b="$2" -v s="$3" \
    'BEGIN { d = a / b - 1; exit !((d < 0 ? -d : d) <= s) }'
}

@test "a calibration leaves what was promised" {
  local physical=$DLEST_DATADIR/models/physical.xml
  plan "$first" "$second"
  gives 0 '' calibrate plan.csv --suggest --format json
  close "$(promised out 2)" "$(left "$physical" "$first" "$second")" 1e-4
  # Either leaves the same share of the other.
  close "$(promised out 3)" "$(promised out 2)" 1e-9
  check '.wanted | (.[0].run_line == 3 and .[1].run_line == 2)'
  check '.runs | length == 2 and .[0].time_error <= .[1].time_error'
}

@test "so does one of language models" {
  local language=$DLEST_DATADIR/models/language.xml
  columns=arch,gpu,batch_size,seq_len,precision
  first=gpt2,b200,8,1024,bf16 second=gpt2-xl,b200,8,1024,bf16
  plan "$first" "$second"
  gives 0 '' calibrate plan.csv --suggest --format json
  columns+=,train_samples first+=,100000 second+=,100000
  close "$(promised out 2)" "$(left "$language" "$first" "$second")" 1e-4
  # The error before is half the width of the interval of the speed.
  plan "$first"
  gives 0 '' calibrate plan.csv --suggest --format json
  cp out error.json
  gives 0 '' predict --model "$language" --arch gpt2 --gpu b200 -b 8 \
    --seq-len 1024 --precision bf16 --tokens 1e9 --coverage 50 -q --format json
  close "$(jq .time_error_before error.json)" "$(jq '.predictions[0] |
    (.high / .low | log) / 2 | exp - 1' out)" 1e-9
}

@test "what a model was calibrated with counts" {
  local physical=$DLEST_DATADIR/models/physical.xml
  learn "$physical" 1 "$third" mine.xml
  plan "$first" "$second"
  gives 0 '' calibrate plan.csv --suggest --model mine.xml --format json
  close "$(promised out 2)" "$(left mine.xml "$first" "$second")" 1e-4
  # It left what that run was to leave of each.
  jq '.wanted[0].time_error_before' out >after
  plan "$first" "$third"
  gives 0 '' calibrate plan.csv --suggest --format json
  close "$(jq '.wanted[0].time_error' out)" "$(cat after)" 1e-9
  awk -v a="$(cat after)" -v b="$(jq '.wanted[0].time_error_before' out)" \
    'BEGIN { exit !(a < b) }'
}

@test "the errors are means of what half of all estimates are off by" {
  local low high
  plan "$first" "$third"
  printf '%s\n' "$columns,epochs" "$first,1" "$third,1" >rows.csv
  gives 0 '' predict --input rows.csv --method physical --coverage 50 -q \
    --format json
  # The root of the mean square of half-widths of logarithms
  jq '[.estimates[] | (.duration_high_s / .duration_low_s | log) / 2 | . * .] |
    add / length | sqrt | exp - 1' out >time
  jq '[.estimates[] | (.high_j / .low_j | log) / 2 | . * .] |
    add / length | sqrt | exp - 1' out >energy
  gives 0 '' calibrate plan.csv --suggest --format json
  close "$(jq .time_error_before out)" "$(cat time)" 1e-9
  close "$(jq .energy_error_before out)" "$(cat energy)" 1e-9
}

@test "the error before is that of the row, whatever else is wanted" {
  # Of ResNet-50 on ImageNet with a loader that is not described, too: of what a
  # calibration says nothing is not counted.
  local rows=("${columns},epochs,dataset" "$first,1,imagenet"
    "$third,1,imagenet") before
  printf '%s\n' "${rows[@]}" >plan.csv
  printf '%s\n' "${rows[@]:0:2}" >one.csv
  gives 0 '' predict --input one.csv --method physical --coverage 50 -q \
    --format json --loader synthetic
  before=$(jq '.estimates[0] | (.duration_high_s / .duration_low_s | log) / 2 |
    exp - 1' out)
  gives 0 '' calibrate one.csv --suggest --format json
  close "$(jq .time_error_before out)" "$before" 1e-9
  gives 0 '' calibrate plan.csv --suggest --format json
  close "$(jq '.wanted[0].time_error_before' out)" "$before" 1e-9
}

@test "what was measured does not count" {
  plan "$first" "$second" "$third"
  gives 0 '' calibrate plan.csv --suggest --format json
  cp out unknown.json
  paste -d , plan.csv <(printf '%s\n' epoch_s,gpu_power_w 900,400 2000,350 \
    700,300) >measured.csv
  gives 0 '' calibrate measured.csv --suggest --format json
  diff unknown.json out
}

@test "the best run for others is looked for among those of the table" {
  plan "$first" "$second" "$first"
  gives 0 '' calibrate plan.csv --suggest --format json
  check '.configurations == 3 and (.runs | length) == 3'
  # not a run of the very configuration
  check '[.wanted[].run_line] == [3, 2, 3]'
  plan "$first" "$second"
  gives 0 '' calibrate plan.csv --suggest --format csv
  head -n 1 out | grep -qx 'line,arch,gpu,n_gpus,precision,batch_size,image_px,seq_len,time_error,energy_error'
  [ "$(wc -l <out)" -eq 3 ]
}

@test "people get the first runs, --all prints the rest" {
  local batch rows=()
  for batch in {16..35}; do rows+=("resnet50,rtx-4090,$batch,224,1000000,amp,"); done
  plan "${rows[@]}"
  gives 0 '' calibrate plan.csv --suggest
  grep -q '^Measure line [0-9]* of plan.csv: resnet50 on rtx-4090, batch size' out
  [ "$(grep -c 'line [0-9]*.*: resnet50 on rtx-4090, batch size' out)" -eq 3 ]
  [ "$(grep -c '^ *[0-9]* *resnet50' out)" -eq 0 ]
  gives 0 '' calibrate plan.csv --suggest --all
  [ "$(grep -c '^ *[0-9]* *resnet50' out)" -eq 40 ]
}

@test "the report goes into a file" {
  plan "$first" "$second"
  gives 0 '' calibrate plan.csv --suggest -o best.csv
  [ ! -s out ]
  [ "$(wc -l <best.csv)" -eq 3 ]
  gives 0 '' calibrate - --suggest --format csv <plan.csv
  cmp out best.csv
}

@test "a suggested run that needs more memory than there is is warned about" {
  plan resnet50,rtx-4090,4096,224,1281167,amp,
  local need
  "$DLEST" predict -a resnet50 -g rtx-4090 -b 4096 --precision amp -q \
    --format json >need.json
  need=$(jq '.memory_need_gb - .memory_usable_gb' need.json)
  try calibrate plan.csv --suggest
  [ "$status" -eq 0 ]
  grep -q "plan.csv:2: $(message run_may_not_fit "$(printf %.0f "$need")")" err
  [ "$(grep -c 'may not fit' err)" -eq 1 ]
  try calibrate plan.csv --suggest --strict
  [ "$status" -eq 3 ]
  [ ! -s out ]
}

@test "misuse is refused" {
  plan "$first"
  misused calibrate "$(message has_no_effect_without all suggest)" plan.csv \
    --all
  misused calibrate "$(message suggest_makes_no_model mine.xml)" plan.csv \
    --suggest -o mine.xml
  [ ! -e mine.xml ]
  refuses 3 "dlest: $DLEST_DATADIR/data/examples/gpu-7.csv: $(message a_log_of_a_run)" calibrate \
    "$DLEST_DATADIR/data/examples/gpu-7.csv" --suggest
  refuses 3 "dlest: plan.csv:2: $(message no_fit_this_run)" calibrate plan.csv \
    --suggest --model "$DLEST_DATADIR/models/pre.xml"
  learn "$DLEST_DATADIR/models/physical.xml" 1 "$first" new.xml
  sed '/<calibration>/,/<\/calibration>/d; /<uncalibrated /,/<\/uncalibrated>/d' \
    new.xml >old.xml
  refuses 3 "dlest: $(message earlier_version_kept)" calibrate plan.csv \
    --suggest --model old.xml
  grep -v 'name="factor"' "$DLEST_DATADIR/models/physical.xml" >none.xml
  refuses 3 "dlest: $(message model_does_not_say)" calibrate plan.csv --suggest \
    --model none.xml
}
