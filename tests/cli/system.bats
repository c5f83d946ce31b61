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
