#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Options of all commands: none is without effect; hostile ones do no harm.

bats_require_minimum_version 1.5.0
load ../common

EXAMPLES=$TOP_SRCDIR/data/examples

@test "every option changes the result, is refused, or is warned about" {
  command -v python3 >/dev/null || skip 'no python3'
  # Sensors of dlest record: GPUs of a made driver.
  ! nm -D "$DLEST" | grep -q __asan_init || export ASAN_OPTIONS=detect_leaks=0
  export LD_LIBRARY_PATH=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  export DLEST_SYSFS=$PWD/none
  python3 "$BATS_TEST_DIRNAME/option_effects.py" "$DLEST" "$EXAMPLES"
}

@test "fit without --features: options of a formula" {
  cp "$EXAMPLES/runs.csv" .
  for option in '--offset zzz((' --log --no-log; do
    name=${option%% *}
    # shellcheck disable=SC2086
    misused fit "$(message has_no_effect_without "${name#--}" features)" \
      runs.csv --method krr $option
  done
  # Without a method either, there is no model that they would belong to.
  for option in alpha gamma lambda; do
    misused fit "$(message has_no_effect_without $option \
      'features or --method')" runs.csv --$option 1
  done
  misused fit "$(message does_not_go_with with features)" runs.csv \
    --target gpu_power_w --features 'log(macs_g)' --with runs.csv
  misused fit "$(message does_not_go_with means target)" runs.csv \
    --target gpu_power_w --means m.csv
  [ ! -e m.csv ]
}

@test "durations are taken as people write them, and never without a unit" {
  job=(predict --arch resnet50 --gpu a100 --method tdp -f json -q)
  while IFS='|' read -r text seconds; do
    try "${job[@]}" --duration "$text"
    check ".estimates[0].duration_s == $seconds"
  done <<'END'
90s|90
90m|5400
1h30m|5400
1:30:00|5400
2 days|172800
1.5 h|5400
1d12h|129600
END
  misused predict "--duration: $(message has_no_unit 90 90 90 90 90)" \
    --arch resnet50 --gpu a100 --duration 90
  misused predict "$(message invalid_value duration 1:30 \
    "$(message expected_time_at_most 1e+12)")" \
    --arch resnet50 --gpu a100 --duration 1:30
  misused recommend "--deadline: $(message has_no_unit 12 12 12 12 12)" \
    --arch resnet50 --deadline 12
  cp "$EXAMPLES/epochs.csv" .
  misused step "--duration: $(message has_no_unit 3 3 3 3 3)" epochs.csv \
    --epochs 50 --duration 3
  try step epochs.csv --epochs 50 --duration 3h --format json
  check '.estimates[0].duration_s == 3 * 3600'
  misused step "$(message invalid_value every 1e10s \
    "$(message expected_time_at_most 1e+06)")" epochs.csv --epochs 50 --follow \
    --every 1e10s
}

@test "closed standard streams: no file takes their numbers" {
  cp "$EXAMPLES/runs.csv" .
  printf 'arch,gpu\nresnet50,a100\nnot_there,a100\n' >two.csv
  "$DLEST" predict --input two.csv --method flops -f csv -o want.csv 2>err ||
    true
  grep -q not_there err
  "$DLEST" predict --input two.csv --method flops -f csv -o out.csv 2>&- || true
  cmp want.csv out.csv
  "$DLEST" predict --input two.csv --method flops -f csv -o out.csv \
    <&- >&- 2>&- || true
  cmp want.csv out.csv
  status=0
  "$DLEST" list methods >&- 2>err || status=$?
  [ "$status" -eq 1 ]
}

@test "control characters and bidirectional marks in options" {
  for word in --arch --no --epochs=; do
    try predict "$word"$'\e[31m\u202e'
    [ "$status" -ne 0 ]
    ! grep -qE $'\e|\u202e' err || false
  done
  try predict -q$'\e'
  ! grep -q $'\e' err || false
}

@test "a result never overwrites an input" {
  cp "$EXAMPLES"/{runs.csv,gpu-7.csv,lab-card.xml} .
  ln -s gpu-7.csv link
  ln gpu-7.csv hard
  for out in gpu-7.csv ./gpu-7.csv link hard; do
    misused extract "$(message also_read "$out")" gpu-7.csv -f csv -o "$out"
  done
  cmp gpu-7.csv "$EXAMPLES/gpu-7.csv"
  echo gpu-7.csv >names
  misused extract "$(message also_read gpu-7.csv)" --files-from names \
    -o gpu-7.csv
  misused fit "$(message also_read runs.csv)" runs.csv -o runs.csv
  misused fit "$(message also_read runs.csv)" runs.csv --means runs.csv
  misused fit "$(message also_read runs.csv)" runs.csv --predictions runs.csv
  misused predict "$(message also_read lab-card.xml)" --arch resnet50 \
    --gpu lab-card.xml -o lab-card.xml
  misused predict "$(message also_read runs.csv)" --input runs.csv -o runs.csv
  cmp runs.csv "$EXAMPLES/runs.csv"
  gives 0 '' extract gpu-7.csv -f csv -q -o new.csv
}

@test "two results are never written to one file" {
  cp "$EXAMPLES/runs.csv" .
  misused fit "$(message same_output predictions output p.xml)" runs.csv \
    --predictions p.xml -o p.xml
  echo >old.xml
  ln -s old.xml link.xml
  misused fit "$(message same_output output predictions link.xml)" runs.csv \
    -o old.xml --predictions link.xml
  misused record "$(message same_output trace output a.csv)" --trace a.csv \
    -o a.csv -- touch started
  [ ! -e started ]
  [ ! -e p.xml ]
  [ "$(wc -c <old.xml)" -eq 1 ]
}

@test "a model is not written to a file of another kind" {
  cp "$EXAMPLES/runs.csv" .
  for format in csv json html; do
    for command in fit calibrate; do
      misused "$command" "$(message output_is_model "m.$format" "$format")" \
        runs.csv -o "m.$format"
      [ ! -e "m.$format" ]
    done
  done
}

@test "pipes in the place of files that are read several times" {
  cp "$EXAMPLES"/{runs.csv,epochs.csv,lab-card.xml} .
  try step epochs.csv --epochs 50 --format json -q
  jq 'del(.. | .file?, .input?) | .summary.title |= sub("^epochs.csv: "; "")' \
    out >want
  try step <(cat epochs.csv) --epochs 50 --format json -q
  jq 'del(.. | .file?, .input?)' out | diff want -
  try calibrate runs.csv -q -o want.xml
  try calibrate <(cat runs.csv) -q -o got.xml
  [ "$status" -eq 0 ]
  diff <(grep '<value\|<vector' want.xml) <(grep '<value\|<vector' got.xml)
  try predict --arch resnet50 --gpu <(cat lab-card.xml) --duration 1h \
    --method tdp --format csv -q
  [ "$status" -eq 0 ]
}

@test "step --follow: a FIFO, before and after it has a writer" {
  mkfifo fifo
  "$DLEST" step fifo --epochs 50 --follow --every 0.2s >out 2>err &
  pid=$!
  sleep 0.5
  kill -INT $pid
  timeout 10 tail --pid=$pid -f /dev/null
  ! kill -0 $pid 2>/dev/null || false
  "$DLEST" step fifo --epochs 50 --follow --every 0.2s --format json >out 2>err &
  pid=$!
  cat "$EXAMPLES/epochs.csv" >fifo
  wait $pid
  check '.epochs_seen == 6'
}

# Epochs of 10 J; after six of them the log is cut off and begins anew.
@test "step --follow: a truncated log keeps the epochs seen" {
  { echo epoch,duration_s,energy_j; for i in 0 1 2 3 4 5; do
    echo "$i,10,1000"; done; } >log.csv
  "$DLEST" step log.csv --epochs 9 --follow --every 0.2s --format json \
    >out 2>err &
  pid=$!
  sleep 1
  head -n 3 log.csv >short
  cat short >log.csv
  timeout 20 tail --pid=$pid -f /dev/null
  wait $pid
  check '.epochs_seen == 6'
  grep -qF "$(message truncated_or_replaced 6)" err
}
