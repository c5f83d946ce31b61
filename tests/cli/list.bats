#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest list, and the program's own help.

load common

@test "gpus: at least 40, each with an identifier and a TDP" {
  gives 0 '' list gpus --format json
  check '.gpus | length >= 40 and all(.id and .name and .tdp_w > 0)'
  check '[.gpus[].id] | (unique | length) == length'
}

@test "archs: at least 1300, each with MACs and parameters" {
  gives 0 '' list archs --format json
  check '.archs | length >= 1300 and
    (map(select(.image_px)) | all(.id and .macs_g > 0 and .params_m > 0))'
  check '[.archs[].id] | (unique | length) == length'
}

@test "every name that is listed can be shown" {
  try list gpus --format csv
  cut -d, -f1 out | sed 1d | sed -n '1p;$p' >some
  while read -r id; do
    gives 0 '' show gpu "$id" --format json
    check ".id == \"$id\""
  done <some
}

@test "every list in every format" {
  for what in gpus archs datasets grids models methods formats importers; do
    gives 0 '' list $what
    [ -s out ]
    gives 0 '' list $what --format json
    check ".schema == 1 and (.$what | length > 0) and .warnings == []"
    n=$(jq ".$what | length" out)
    gives 0 '' list $what --format csv
    [ "$(wc -l <out)" -eq $((n + 1)) ]
  done
}

@test "methods: the five of predict" {
  gives 0 '' list methods --format json
  check '[.methods[].name] | sort ==
    ["flops", "green-algorithms", "pre-epoch", "pre-power", "tdp"]'
}

@test "what it refuses" {
  kinds='gpus, archs, datasets, grids, models, methods, formats or importers'
  misused list "what? $kinds"
  misused list 'one kind at a time' gpus archs
  refuses 2 "dlest: cannot list 'cpus'; use $kinds" list cpus
}

@test "no data directory" {
  DLEST_DATADIR=$PWD/nowhere try list gpus
  [ "$status" -eq 1 ]
  [ ! -s out ]
  [ "$(wc -l <err)" -eq 1 ]
  grep -q "^dlest: .*/nowhere/data/accelerators.xml: cannot open: No such file" err
}

@test "help and version" {
  for help in --help -h help; do
    gives 0 '' $help
    grep -q '^Usage: dlest COMMAND' out
  done
  for command in predict fit compare list show; do
    gives 0 '' help $command
    cp out help
    gives 0 '' $command --help
    cmp out help
    grep -q "^Usage: dlest $command " out
    awk 'length($0) > 79 { exit 1 }' out
  done
  gives 0 '' --version
  grep -q '^dlest [0-9]' out
}

@test "no command, an unknown one" {
  try
  [ "$status" -eq 2 ]
  [ ! -s out ]
  head -1 err | grep -q '^Usage: dlest COMMAND'
  try estimate
  [ "$status" -eq 2 ]
  [ "$(head -1 err)" = "dlest: unknown command 'estimate'" ]
}
