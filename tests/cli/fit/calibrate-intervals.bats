# SPDX-License-Identifier: GPL-3.0-or-later
# dlest calibrate: intervals of what was measured.

load ../common

# close A B SHARE: they differ by at most that
close() {
  awk -v a="$1" -v b="$2" -v s="$3" \
    'BEGIN { d = a / b - 1; exit !((d < 0 ? -d : d) <= s) }'
}

# interval MODEL [ARG...]: what it comes from, and half its width in the logarithm
interval() {
  "$DLEST" predict --model "$@" --gpu a100 --arch resnet50 --method physical \
    -q --format json | jq -r '.estimates[0] | "\(.interval_from) \(
      (.high_j / .low_j | log) / 2) \((.power_high_w / .power_low_w | log) / 2) \(
      (.duration_high_s / .duration_low_s | log) / 2)"'
}

@test "the interval of a configuration that was measured is that of repeats" {
  # n runs: Student's t with 3 degrees of freedom, 2.3534 at 95 %, times
  # sqrt(.02^2 (1 + 1 / n) / 2 + .005^2); at 99 % 5.8409.
  printf '%s\n' arch,gpu,dataset,batch_size,gpu_power_w,epoch_s \
    resnet50,a100,imagenet,256,330,1300 >runs.csv
  gives 0 '' calibrate runs.csv -o one.xml -q
  echo resnet50,a100,imagenet,256,331,1301 >>runs.csv
  gives 0 '' calibrate runs.csv -o two.xml -q
  interval one.xml >one
  read -r from energy _ time < <(interval one.xml)
  [ "$from" = repeat ]
  close "$energy" .048516 1e-4
  close "$time" .048516 1e-4
  read -r from energy _ < <(interval two.xml)
  [ "$from" = repeat ]
  close "$energy" .042426 1e-4
  read -r from energy _ < <(interval one.xml --coverage 99)
  close "$energy" .120413 1e-4
  # In 10 epochs as in 90.
  read -r from energy power _ < <(interval one.xml --epochs 10)
  close "$energy" .048516 1e-4
  close "$power" .0478 1e-2 # with the 5 W of the memory, which are known
  # Anything else is another configuration.
  local other
  for other in "--batch-size 128" "--set power_limit_w=250" \
    "--set power_limit_w=390" "--gpus 2" "--precision fp16" "--val-samples 0" "--train-samples 100000" \
    "--image-px 192" "--set host_class=server" "--set framework=tensorflow"; do
    # shellcheck disable=SC2086
    interval one.xml $other >other
    grep -q '^gpu 0\.[2-9]' other
  done
  # Models of before do not say what was measured.
  sed '/name="measured_values"/d' one.xml >old.xml
  interval old.xml | grep -q '^gpu 0\.[2-9]'
}

@test "the work of a run that waited is as sure as its utilization" {
  # The logarithm of the share is uncertain by .05 and more: with that alone
  # 2.3534 sqrt(.02^2 + .05^2 + .005^2) = .1273.
  printf '%s\n' arch,gpu,dataset,batch_size,gpu_power_w,epoch_s,gpu_util \
    resnet50,a100,imagenet,256,140,5000,0.3 >runs.csv
  gives 0 '' calibrate runs.csv -o waited.xml -q
  read -r from _ _ time < <(interval waited.xml)
  [ "$from" = repeat ]
  awk -v t="$time" 'BEGIN { exit !(t > .1273 && t < .3) }'
}

@test "a run whose GPU would draw more than its limit while it works is refused" {
  # Busy for a tenth of the time at 140 W: (140 - 0.9 x 40 to 90 W of static power)
  # / 0.1 is 590 to 1,040 W, of a board of 400 W. At 75 W it is 340 W at most.
  table arch,gpu,dataset,batch_size,epochs,precision,duration_s,gpu_util,gpu_power_w \
    resnet50,a100,imagenet,256,1,amp,5000,0.1,140
  try calibrate runs.csv -o over.xml
  [ "$status" -eq 3 ]
  [ ! -e over.xml ]
  w=$(sed 's/.* draws \([0-9]*\) W .*/\1/' err)
  [ "$w" -ge 590 ]
  [ "$w" -le 1040 ] # static power is 40 W at least
  grep -qxF "dlest: runs.csv:2: $(message work_is_over_limit 0.1 "$w" 400)" err
  sed -i 's/140$/75/' runs.csv
  gives 0 '' calibrate runs.csv -o under.xml -q
  # The same by the energy: 5,000 s at 140 W and at 75 W.
  table arch,gpu,dataset,batch_size,epochs,precision,duration_s,gpu_util,energy_j \
    resnet50,a100,imagenet,256,1,amp,5000,0.1,700000
  try calibrate runs.csv -o over.xml
  [ "$status" -eq 3 ]
  [ ! -e over.xml ]
  sed -i 's/700000$/375000/' runs.csv
  gives 0 '' calibrate runs.csv -o under.xml -q
}

@test "runs that wait for a loader are not learnt as work" {
  # What predict says of a loader it would add again.
  local columns=arch,gpu,dataset,batch_size,epochs,loader,loader_workers,gpu_util
  printf '%s\n' "$columns,epoch_s" resnet50,a100,imagenet,64,1,disk,2,,2200 \
    resnet50,a100,imagenet,64,1,,1,,4300 >runs.csv
  refuses 3 "dlest: warning: runs.csv:2: $(message its_gpus_wait)
dlest: warning: runs.csv:3: $(message its_gpus_wait)
dlest: $(message row_skipped 2 s)
dlest: runs.csv: $(message no_run_that_could_be)" calibrate runs.csv -o m.xml
  # with their utilization, or a loader that keeps up, they say what they do
  printf '%s\n' "$columns,epoch_s" resnet50,a100,imagenet,64,1,disk,2,0.6,2200 \
    resnet50,a100,imagenet,128,1,synthetic,,,1600 >runs.csv
  gives 0 '' calibrate runs.csv -o m.xml -f json
  check '.calibrations | map(select(.target == "epoch_s"))[0].runs == 2'
  gives 0 '' calibrate runs.csv -o m.xml
  grep -qF 'The GPUs of 1 run waited, by gpu_util' out
}
