# SPDX-License-Identifier: GPL-3.0-or-later
# dlest calibrate: runs of language models.

load ../common

run=gpt2,a100,8,1024,150000,2,bf16

runs() { # COLUMN,... VALUE,...: runs.csv
  printf '%s\n' "arch,gpu,batch_size,seq_len,train_samples,epochs,precision,$1" \
    "$run,$2" >runs.csv
}

# estimate MODEL [ARG...]: seconds, power, half the width of the time
estimate() {
  "$DLEST" predict --model "$@" --arch gpt2 --gpu a100 --batch-size 8 \
    --seq-len 1024 --tokens 1e9 --overhead 0 --startup 0 --method physical -q --format json |
    jq -r '.estimates[0] | "\(.duration_s) \(.power_w) \(
      (.duration_high_s / .duration_low_s | log) / 2) \(.interval_from)"'
}

# close A B SHARE: they differ by at most that
close() {
  awk -v a="$1" -v b="$2" -v s="$3" \
    'BEGIN { d = a / b - 1; exit !((d < 0 ? -d : d) <= s) }'
}

@test "a speed, a step, an epoch and a duration teach the same" {
  # 150000 x 1024 tokens in 1000 s are 153600 a second; 8 x 1024 take 53.33 ms.
  runs tokens_per_s 153600
  gives 0 '' calibrate runs.csv -o tokens.xml -q
  local what
  for what in samples_per_s,150 step_s,0.0533333333333333333 epoch_s,1000 \
    duration_s,2000; do
    runs "${what%,*}" "${what#*,}"
    gives 0 '' calibrate runs.csv -o other.xml -q
    cmp <(estimate tokens.xml) <(estimate other.xml)
  done
  runs tokens_per_s,gpu_power_w 153600,300
  gives 0 '' calibrate runs.csv -o tokens.xml -q
  # 1e9 tokens in 6510 s. What is left of the misfits: .02^2 + .005^2 by that
  # and .07^2 + .1^2 + .2^2 (rate), and by that and .1^2 + 2 x .05^2 (power).
  read -r seconds power half from < <(estimate tokens.xml)
  close "$seconds" 6510.4 .01
  close "$power" 300 .01
  [ "$from" = repeat ]
  # Student's t with 3 degrees of freedom: 2.3534 sqrt(.02^2 + .005^2)
  close "$half" .048516 1e-4
}

@test "a run moves other work by what they have in common" {
  local shipped=$DLEST_DATADIR/models/language.xml
  read -r before _ < <(estimate "$shipped" --stack tuned)
  runs tokens_per_s,stack \
    "$(awk -v s="$before" 'BEGIN { print 1e9 / s * 1.3 }'),tuned"
  gives 0 '' calibrate runs.csv -o fast.xml -q
  moved() {
    local m
    for m in "$shipped" fast.xml; do
      "$DLEST" predict --model "$m" --tokens 1e9 --stack tuned -q \
        --method physical --format json "$@" | jq '.estimates[0].duration_s'
    done | awk 'NR == 1 { a = $1 } { b = $1 } END { print log(a / b) }'
  }
  moved --arch gpt2 --gpu a100 --batch-size 4 --seq-len 1024 >batch
  moved --arch llama-2-7b --gpu a100 --batch-size 1 >network
  moved --arch gpt2 --gpu v100 --batch-size 8 --seq-len 1024 >gpu
  moved --arch llama-2-7b --gpu v100 --batch-size 1 >neither
  # log(1.3) is .262: of other work less than half
  awk '{ x[FILENAME] = $1 } END {
    exit !(x["batch"] < .131 && x["batch"] > x["network"] &&
      x["batch"] > x["gpu"] && x["network"] > x["neither"] &&
      x["gpu"] > x["neither"] && x["neither"] > 0) }' batch network gpu neither
}

@test "a run whose GPUs waited teaches the speed of its work" {
  # 60 % of the time at 256000 tokens a second; the static power is below a
  # third of 300 W, so that 0.6 P + 0.4 s = 220 has P above 300.
  runs stack,tokens_per_s,gpu_util,gpu_power_w tuned,76800,0.6,220
  gives 0 '' calibrate runs.csv -o waited.xml -q
  read -r seconds power half from < <(estimate waited.xml --stack tuned)
  # 128000 a second; the utilization is uncertain by 5 %
  close "$seconds" 7812.5 .04
  # and so is a run that does not wait: a run repeated is off by .02 x sqrt 2,
  # half of that from its own, and .05 from the utilization:
  # 2.3534 sqrt(.02^2 + .05^2 + .005^2)
  [ "$from" = repeat ]
  close "$half" .127278 1e-4
  awk -v p="$power" 'BEGIN { exit !(p > 300 && p < 360) }'
}

@test "a table of images and language models calibrates both" {
  local head=arch,gpu,batch_size,seq_len,train_samples,val_samples,epochs
  head+=,precision,gpu_power_w,epoch_s
  local image=resnet50,a100,256,,1281167,50000,90,tf32,330,1300
  local language=gpt2,a100,8,1024,150000,0,1,bf16,300,1000
  printf '%s\n' "$head" "$image" "$language" >both.csv
  printf '%s\n' "$head" "$image" >image.csv
  printf '%s\n' "$head" "$language" >language.csv
  for runs in both image language; do
    gives 0 '' calibrate $runs.csv -o $runs.xml -q
  done
  arrays() { xmllint --xpath "//fit[@target='$2']//array" "$1.xml"; }
  cmp <(arrays both epoch_energy_j) <(arrays image epoch_energy_j)
  cmp <(arrays both tokens_per_s) <(arrays language tokens_per_s)
  ! arrays image tokens_per_s || false
  ! arrays language epoch_energy_j || false
  # Again, with runs of one kind.
  gives 0 '' calibrate image.csv --model both.xml -o again.xml -q
  cmp <(arrays both tokens_per_s) <(arrays again tokens_per_s)
  # A model without a fit of language models estimates them as others.
  gives 0 '' calibrate language.csv --model image.xml -o as-image.xml -q
  ! arrays as-image tokens_per_s || false
  # No warning of the other kind's fit.
  try predict --model both.xml --arch resnet50 --gpu a100
  [ ! -s err ]
  try predict --model both.xml --arch gpt2 --gpu a100 --tokens 1e9
  [ ! -s err ]
}

@test "installed models without a fit for the runs are refused" {
  mkdir here
  ln -s "$DLEST_DATADIR/data" here/data
  cp -r "$DLEST_DATADIR/models" here/models
  cp here/models/pre.xml here/models/language.xml
  printf '%s\n' arch,gpu,batch_size,seq_len,tokens,tokens_per_s \
    llama-3-8b,a100,1,2048,1e8,2500 >language.csv
  printf '%s\n' arch,gpu,batch_size,train_samples,epochs,epoch_s \
    resnet50,a100,32,100000,1,400 >images.csv
  export DLEST_DATADIR=$PWD/here
  refuses 3 "dlest: $(message no_installed_model_learns 'language models')" \
    calibrate language.csv -o m.xml
  printf '%s\n' arch,gpu,batch_size,seq_len,tokens,train_samples,epochs,epoch_s \
    llama-3-8b,a100,1,2048,1e8,,,40000 resnet50,a100,32,,,100000,1,400 >both.csv
  refuses 3 "dlest: $(message no_installed_model_learns 'language models')" \
    calibrate both.csv -o m.xml
  cp here/models/pre.xml here/models/physical.xml
  refuses 3 "dlest: $(message no_installed_model_learns \
    'other networks than language models')" calibrate images.csv -o m.xml
}

@test "a model that was calibrated with images alone has no language models" {
  printf '%s\n' arch,gpu,dataset,batch_size,epochs,epoch_s \
    resnet50,rtx-4090,imagenet,64,1,1600 >runs.csv
  sed '/<fit target="tokens_per_s"/,/<\/fit>/d' \
    "$DLEST_DATADIR/models/physical.xml" >images.xml
  gives 0 '' calibrate runs.csv --model images.xml -o mine.xml -q
  try predict --arch llama-2-7b --gpu rtx-4090 --tokens 1e9 \
    --fine-tune lora:16 --model mine.xml
  [ "$status" -eq 0 ]
  [ "$(grep -cF "$(message has_no_fit_language mine.xml)" err)" = 1 ]
  ! grep -q "$(message has_no_value_give '.*' '.*' '.*')" err || false
}
