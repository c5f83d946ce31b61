#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What people type without reading a manual: help, names, numbers, filters.

load ../common

commands() {
  "$DLEST" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

@test "-h and --help are the same, of each command" {
  [ "$(commands | wc -l)" -ge 14 ]
  for command in $(commands); do
    gives 0 '' "$command" --help
    mv out want
    gives 0 '' "$command" -h
    cmp out want
    gives 0 '' "$command" '-?'
    cmp out want
  done
}

@test "help fits 80 columns, without lines of blanks" {
  for command in $(commands); do
    gives 0 '' "$command" --help
    ! grep -nE ' $|^.{80}' out || false
  done
}

@test "a short option means one long option, in all commands" {
  for command in $(commands); do
    "$DLEST" "$command" --help |
      sed -n 's/^  -\([^-]\)[^-]*\(--[a-z-]*\).*/\1 \2/p'
  done | sort -u >letters
  [ "$(wc -l <letters)" -ge 20 ]
  [ -z "$(cut -d ' ' -f 1 letters | uniq -d)" ]
}

@test "did you mean: commands and options" {
  refuses 2 "dlest: $(message unknown_command predikt "$(meant predict)")" predikt
  refuses 2 "dlest: $(message unknown_command comapre "$(meant compare)")" \
    comapre runs.csv
  refuses 2 "dlest: $(message unknown_command frobnicate '')" frobnicate
  misused predict \
    "$(message unknown_option --batch-siez "$(meant --batch-size)" predict)" \
    --batch-siez 3
  misused predict "$(message unknown_option --deadline \
    "$(message it_is_one_of "'dlest recommend'")" predict)" --deadline 3h
  misused fit "$(message unknown_option --dataset \
    "$(message it_is_one_of "'dlest predict', 'recommend', 'record', 'compare'"
    )$(message write_set_value dataset)" fit)" runs.csv --dataset imagenet
  for command in report step; do
    misused $command "$(message unknown_option --boundary \
      "$(message it_is_one_of "'dlest predict', 'recommend', 'compare'"
      )$(message measured_energies_have_the)" $command)" x --boundary node
  done
  cp "$DLEST_DATADIR/data/examples/runs.csv" .
  try calibrate runs.csv --dataset imagenet -o m.xml
  [ "$status" -eq 0 ]
  grep -qxF "dlest: note: read '--dataset' as --set dataset=imagenet" err
}

@test "singular and plural: of options, of kinds" {
  job=(predict --arch resnet50 --gpu a100 -q -f json)
  gives 0 '' "${job[@]}" --method tdp --duration 1h
  mv out want
  gives 0 '' "${job[@]}" --methods tdp --durations 1h
  cmp out want
  gives 0 '' "${job[@]}" --epoch 3
  check '.epochs == 3'
  for pair in gpu:gpus arch:archs dataset:datasets grid:grids site:sites \
    node:nodes model:models method:methods format:formats \
    importer:importers accelerator:gpus architectures:archs; do
    gives 0 '' list "${pair#*:}" -f csv
    mv out want
    gives 0 '' list "${pair%:*}" -f csv
    cmp out want
  done
  gives 0 '' show gpus a100 -f json
  check '.id == "a100-sxm4-40gb"'
}

@test "--where: = is ==, and ~ finds a text" {
  gives 0 '' list gpus --where "vendor == 'amd'" -f csv
  mv out want
  gives 0 '' list gpus --where "vendor = 'amd'" -f csv
  cmp out want
  gives 0 '' list gpus --where "vendor ~ 'MD'" -f csv
  cmp out want
  gives 0 '' list gpus --where 'vendor ~ md' -f csv
  cmp out want
  refuses 2 "dlest: formula 'vendor ~ ': column 10: $(message expected_a_text)" \
    list gpus --where 'vendor ~ '
  gives 0 '' list gpus --where "year = 2020 && name ~ 'rtx'" -f json
  check '.gpus | length > 3 and
    all(.year == 2020 and (.name | ascii_downcase | contains("rtx")))'
}

@test "--output without --format: the format of the file's extension" {
  for pair in csv:csv json:json md:markdown tex:latex html:html prom:prometheus; do
    gives 0 '' list gpus --limit 3 -o "gpus.${pair%:*}"
    gives 0 '' list gpus --limit 3 -f "${pair#*:}"
    cmp "gpus.${pair%:*}" out
  done
  gives 0 '' list gpus --limit 3
  mv out want
  gives 0 '' list gpus --limit 3 -o gpus.txt
  cmp gpus.txt want
  gives 0 '' list gpus --limit 3 -f text -o text.csv
  cmp text.csv want
}

@test "did you mean: columns that state the quantity otherwise" {
  table model,gpu,energy_j resnet50,a100,1
  refuses 2 "dlest: runs.csv: $(message no_column_nearest arch \
    "$(meant model)")" fit runs.csv --target energy_j --features arch
}

@test "recommend: GPUs by --where or one's own, none that was never sold" {
  gives 0 '' recommend --arch resnet50 --batch-size 64 -f json -q
  check '[.choices[].gpu] | index("b100") == null and index("b200") != null'
  gives 0 '' recommend --arch resnet50 --batch-size 64 -q -f json \
    --where "vendor = 'amd' && memory_gb >= 64"
  "$DLEST" list gpus --where "vendor = 'amd' && memory_gb >= 64" -f csv |
    sed '1d; s/,.*//' | sort >want
  jq -r '.choices[].gpu' out | sort -u | diff want -
  gives 0 '' recommend --arch resnet50 --batch-size 64 -q -f json \
    --gpu rtx-3090,b100
  check '[.choices[].gpu] | unique == ["b100", "rtx-3090"]'
  refuses 3 "dlest: $(message where_is_true_for_none 'tdp_w < 0')" \
    recommend --arch resnet50 --where 'tdp_w < 0'
  misused recommend "$(message does_not_go_with where gpu)" \
    --arch resnet50 --where 'tdp_w < 0' --gpu a100
}

@test "a table without train_samples: one line with what helps" {
  {
    echo arch,gpu,batch_size,epochs,energy_j,duration_s
    for i in $(seq 25); do
      echo "resnet50,a100,$((8 * i)),90,$((i + 20))000000,$((180000 - 100 * i))"
    done
  } >runs.csv
  refuses 3 "dlest: runs.csv: $(message no_recipe_without epoch_s \
    train_samples train_samples)" fit runs.csv
  refuses 2 "dlest: runs.csv: $(message no_column_nearest train_samples \
    "$(message add_it_or_define train_samples)")" calibrate runs.csv
  try compare runs.csv --bootstrap 0
  [ "$status" -eq 0 ]
  grep -qxF "dlest: warning: $(message silent_add_the_column 'physical, pre-epoch, pre-power, flops' \
    train_samples 25 25 train_samples)" err
  gives 0 '' compare runs.csv --method flops,tdp --bootstrap 0 -f json \
    --define train_samples=1281167 --define val_samples=50000
}

@test "an empty column, as extract writes it, reads as a missing one" {
  {
    echo arch,gpu,batch_size,train_samples,epochs,energy_j,duration_s
    for i in $(seq 25); do
      echo "resnet50,a100,$((8 * i)),,90,$((i + 20))000000,$((180000 - 100 * i))"
    done
  } >runs.csv
  refuses 3 "dlest: runs.csv: $(message no_recipe_without epoch_s \
    train_samples train_samples)" fit runs.csv
  refuses 2 "dlest: runs.csv: $(message column_is_empty_fill_it train_samples \
    train_samples)" calibrate runs.csv
  try compare runs.csv --bootstrap 0
  [ "$status" -eq 0 ]
  grep -qxF "dlest: warning: $(message silent_add_the_column 'physical, pre-epoch, pre-power, flops' \
    train_samples 25 25 train_samples)" err
  cut -d, -f1-3,5- runs.csv >missing.csv
  for table in runs missing; do
    gives 0 '' fit $table.csv -q -f json -o m.xml --method ols \
      --target epoch_s --define train_samples=50000 \
      --features 'train_samples / batch_size'
    jq 'del(.. | .source?, .digest?)' out >$table.json
  done
  diff missing.json runs.json
}

@test "an empty column of a table longer than 1 MiB is one line, too" {
  {
    echo arch,gpu,batch_size,train_samples,epochs,energy_j,duration_s,note
    for i in $(seq 4000); do
      echo "resnet50,a100,$((8 * i)),,90,$((i + 20))000000,$((5000 * (i + 20))),"
    done | sed "s/\$/$(printf '%0300d' 0)/"
  } >runs.csv
  [ "$(stat -c %s runs.csv)" -gt 1100000 ]
  refuses 3 "dlest: runs.csv: $(message no_recipe_without epoch_s \
    train_samples train_samples)" fit runs.csv
  refuses 3 "dlest: <stdin>: $(message no_recipe_without epoch_s \
    train_samples train_samples)" fit - <runs.csv
  refuses 2 "dlest: runs.csv: $(message column_is_empty_fill_it train_samples \
    train_samples)" calibrate runs.csv
}

@test "nvidia-smi without a header and units: --columns names its columns" {
  for i in 0 1 2 3; do
    echo "2023/11/05 10:00:0$i.000, NVIDIA T4, 120.50, 45"
  done >log.csv
  refuses 3 "dlest: log.csv:1: $(message no_columns_and_no_units)" \
    extract --from nvidia-smi log.csv
  # 3 s at 120.5 W
  gives 0 '' extract --from nvidia-smi log.csv -f json \
    --columns timestamp,name,power.draw,utilization.gpu
  check '.runs[0] | .gpu_energy_j == 361.5 and .gpu_util == 0.45 and
    .samples == 4'
  { echo timestamp, name, power.draw, utilization.gpu; cat log.csv; } >header.csv
  gives 0 '' extract --from nvidia-smi header.csv -f json
  check '.runs[0].gpu_energy_j == 361.5'
  misused extract "$(message expected_columns_of_query name)" log.csv \
    --from nvidia-smi --columns name
  misused extract "$(message has_no_effect columns 'without --from nvidia-smi')" \
    log.csv --from perf --columns timestamp,power.draw
}

@test "tables with other separators, in UTF-16, compressed: what to do" {
  printf 'arch|gpu|energy_j\nresnet50|a100|12.5\n' >bars.csv
  for command in compare 'predict --input' fit; do
    # shellcheck disable=SC2086
    refuses 3 "dlest: bars.csv:1: $(message columns_are_separated "'|'")" \
      $command bars.csv
  done
  printf 'arch,gpu,energy_j\nresnet50,a100,12.5\n' >t.csv
  iconv -t utf-16 t.csv >wide.csv
  gzip -k t.csv
  refuses 3 "dlest: wide.csv: $(message utf_16_text_pass)" compare wide.csv
  refuses 3 "dlest: t.csv.gz: $(message compressed_pass_through zcat)" \
    compare t.csv.gz
}
