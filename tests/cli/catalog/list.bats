#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest list, and the program's own help.

load ../common

@test "gpus: at least 150, but for a few each with a TDP" {
  gives 0 '' list gpus --format json
  check '.gpus | length >= 150 and all(.id and .name)'
  check '[.gpus[] | select(.tdp_w > 0)] | length >= 300'
  # Cloud providers and Apple do not publish it.
  check '[.gpus[] | select(.tdp_w | not).id] | all(test("^(tpu|train|inf|apple|ascend|ipu)"))'
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

@test "methods: the six of predict" {
  gives 0 '' list methods --format json
  check '[.methods[].name] | sort ==
    ["flops", "green-algorithms", "physical", "pre-epoch", "pre-power", "tdp"]'
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

@test "--sort: largest first, unknown last, by several, by text" {
  gives 0 '' list gpus --sort -tdp_w,id --format json
  check '[.gpus[].tdp_w] | . == (sort | reverse)'
  check '.gpus | . as $all | all(range(1; length); . as $i |
    $all[$i - 1].tdp_w > $all[$i].tdp_w or $all[$i - 1].id < $all[$i].id)'
  gives 0 '' list sites --sort carbon_g_kwh --format json
  check '[.sites[].carbon_g_kwh] | . as $c | map(values) as $known |
    $c[:($known | length)] == ($known | sort) and
    ($c[($known | length):] | length > 0 and all(. == null))'
  gives 0 '' list grids --sort name --format json
  check '[.grids[].name | ascii_downcase] | . == sort'
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

@test "what --where, --sort, --columns and --limit refuse" {
  refuses 2 "dlest: $(message have_no_nearest --where gpus tdp \
    "$(meant tdp_w)")" \
    list gpus --where 'tdp>3'
  refuses 2 "dlest: $(message have_no_nearest --sort grids intensity \
    "")" \
    list grids --sort -intensity
  refuses 2 "dlest: $(message have_no_nearest --columns sites pues \
    "$(meant pue)")" \
    list sites --columns id,pues
  refuses 2 "dlest: $(message columns_is_there_twice id)" list gpus --columns id,id
  refuses 2 "dlest: $(message formula_column "tdp_w >" 8 \
    "$(message ends_where_a_value)")" \
    list gpus --where 'tdp_w >'
  refuses 2 "dlest: $(message where_is_a_text vendor vendor)" \
    list gpus --where vendor
  refuses 2 "dlest: $(message where_is_a_number year)" \
    list gpus --where "year == '2020'"
  refuses 2 "dlest: $(message has_no_effect limit "$(message for_descriptors)")" list methods --limit 1
  for n in 0 -1 x 1.5; do
    invalid list limit=$n gpus
  done
}

@test "what it refuses" {
  kinds='gpus, archs, datasets, grids, sites, nodes, models, methods, formats, importers or sensors'
  misused list "$(message missing_argument KIND list)"
  misused list "$(message unexpected_argument archs list)" methods archs
  refuses 2 "dlest: cannot list 'cpus'; use $kinds" list cpus
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
