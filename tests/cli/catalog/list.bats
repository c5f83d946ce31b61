#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest list, and the program's own help.

load ../common

@test "every name that is listed can be shown" {
  try list gpus --format csv
  cut -d, -f1 out | sed 1d | sed -n '1p;$p' >some
  while read -r id; do
    gives 0 '' show gpu "$id" --format json
    check ".id == \"$id\""
  done <some
}

@test "every list in every format" {
  for what in gpus archs datasets grids sites nodes models methods formats importers; do
    gives 0 '' list $what
    [ -s out ]
    gives 0 '' list $what --format json
    check ".schema == 1 and (.$what | length > 0) and .warnings == []"
    n=$(jq ".$what | length" out)
    gives 0 '' list $what --format csv
    [ "$(wc -l <out)" -eq $((n + 1)) ]
  done
}

@test "--where: a filter over fields and texts" {
  gives 0 '' list gpus --format json
  mv out all
  gives 0 '' list gpus --where 'memory_gb>=40 && year>=2020' --format json
  jq '[.gpus[] | select(.memory_gb >= 40 and .year >= 2020)]' all >want
  jq .gpus out | diff want -
  [ "$(jq length want)" -gt 5 ]
  gives 0 '' list gpus --where "vendor == 'amd' || !(year > 2016)" --format json
  jq '[.gpus[] | select(.vendor == "amd" or (.year != null and .year <= 2016))]' \
    all >want
  jq .gpus out | diff want -
  gives 0 '' list gpus --where 'tdp_w<0' --format json
  check '.gpus == []'
  gives 0 '' list gpus --where 'idle_w>=0' --format json
  check '.gpus | all(.idle_w != null)'
}

@test "--columns, --limit: the same in every format" {
  gives 0 '' list gpus --where 'memory_gb>=40 && year>=2020' --sort tdp_w \
    --columns id,tdp_w --limit 3 --format csv
  [ "$(head -1 out)" = id,tdp_w ]
  [ "$(wc -l <out)" -eq 4 ]
  sort -t, -k2 -n -c <(sed 1d out)
  gives 0 '' list archs --columns params_m,id --limit 1 --format json
  check '.archs == [{"params_m": .archs[0].params_m, "id": .archs[0].id}]'
  gives 0 '' list grids --columns id --limit 2
  [ "$(cat out)" = "$(printf 'id\nworld\nae')" ]
}

@test "text fits a terminal and shows the requested columns" {
  for what in gpus archs datasets grids sites nodes; do
    gives 0 '' list $what
    awk 'length($0) > 105 { exit 1 }' out
  done
  gives 0 '' list gpus --where 'bandwidth_gb_s>3000' --sort -l2_mb
  head -1 out | grep -q ' bandwidth_gb_s  *l2_mb\| l2_mb  *bandwidth_gb_s'
}

@test "no data directory" {
  DLEST_DATADIR=$PWD/nowhere try list gpus
  [ "$status" -eq 1 ]
  [ ! -s out ]
  [ "$(wc -l <err)" -eq 1 ]
  grep -q "^dlest: .*/nowhere/data/accelerators.xml: $(message cannot_open \
    "No such file")" err
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
  [ "$(head -1 err)" = "dlest: $(message unknown_command estimate "")" ]
}
