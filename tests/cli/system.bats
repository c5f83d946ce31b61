#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What the system may do: locales, files, signals.

load common

# Turkish has two pairs of I: its strcasecmp("INFERENCE", "inference") is not 0.
@test "a locale with Turkish letters" {
  printf '%s\n' arch,gpu,phase,requests,batch_size,train_samples,precision \
    INCEPTION_V3,a100,INFERENCE,1000,64,1000,INT8 >runs.csv
  run=(predict --input runs.csv --method flops --format csv -q)
  show=(show arch INCEPTION_V3)
  LC_ALL=C
  gives 0 '' "${run[@]}"
  cp out run.C
  gives 0 '' "${show[@]}"
  cp out show.C
  needs_turkish_case
  gives 0 '' "${run[@]}"
  cmp out run.C
  gives 0 '' "${show[@]}"
  cmp out show.C
}

# Each name was once compared with all others: 100,000 columns took 98 s.
@test "tables with many columns" {
  seq -f c%g -s , 60000 >names
  yes 1 | head -n 60000 | paste -sd , >ones
  { printf 'arch,gpu,batch_size,train_samples,epochs,'; cat names; } >runs.csv
  { printf 'resnet50,a100,64,1000,2,'; cat ones; } >>runs.csv
  run timeout 10 "$DLEST" predict --input runs.csv --method tdp --format csv
  [ "$status" -eq 0 ]
  { printf 'log,gpu,'; cat names; } >settings.csv
  { printf 'smi.csv,a100,'; cat ones; } >>settings.csv
  for second in 01 02 03 04; do
    echo "2022/12/05 09:00:$second.000, 0, 100.00 W, 90 %"
  done | sed '1i timestamp, index, power.draw [W], utilization.gpu [%]' >smi.csv
  run timeout 10 "$DLEST" extract smi.csv --settings settings.csv
  [ "$status" -eq 0 ]
}
