#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What manual pages and docs say of methods, messages and keys is what the
# program does.

load ../common

PAGE=$TOP_SRCDIR/man/dlest-predict.h2m
JOB=(predict --arch resnet50 --gpu rtx-3090 --batch-size 64 -q -f json)

# order HEADING: the methods of that paragraph, one a line
order() {
  grep -A 1 -xF ".B $1" "$PAGE" | tail -n 1 | tr -d ' ' | tr , '\n'
}

# in_order OPTION...: of two methods the first in `methods` is recommended
in_order() {
  local first second
  [ "$(sort methods)" = "$("$DLEST" list methods -f csv | sed '1d; s/,.*//' |
    sort)" ]
  paste -d ' ' <(head -n -1 methods) <(tail -n +2 methods) >pairs
  [ "$(wc -l <pairs)" -eq 5 ]
  while read -r first second; do
    gives 0 '' "${JOB[@]}" --method "$second,$first" "$@"
    check ".recommended == \"$first\""
  done <pairs
}

@test "dlest-predict(1): the method that is recommended" {
  order 'Without a duration' >methods
  in_order
  gives 0 '' "${JOB[@]}"
  check ".recommended == \"$(head -n 1 methods)\""
  order 'With a duration' >methods
  in_order --duration 60h --epochs 90
  gives 0 '' "${JOB[@]}" --duration 10h
  check ".recommended == \"$(head -n 1 methods)\""
}

@test "dlest-predict(1): what the energy of each method includes" {
  awk '/^\.B [a-z]/ { method = $2; gsub(/\\/, "", method) }
    /^Boundary: / { sub(/[.,]$/, "", $2); print method, $2 }' "$PAGE" >told
  [ "$(wc -l <told)" -eq 6 ]
  gives 0 '' "${JOB[@]}"
  while read -r method boundary; do
    check "any(.estimates[]; .method == \"$method\" and
      .boundary == \"$boundary\")"
  done <told
  # "and gpu where T is given"
  gives 0 '' "${JOB[@]}" --duration 10h --method physical
  check '.estimates[0].boundary == "gpu"'
}

@test "--help names the default method of predict and recommend" {
  first=$(order 'Without a duration' | head -n 1)
  "$DLEST" recommend --help | tr -s ' \n' ' ' | grep -q "default $first"
}

quoted() {
  command -v python3 >/dev/null || skip 'no python3'
  python3 "$BATS_TEST_DIRNAME/quoted_in_docs.py" "$1" "$TOP_SRCDIR"
}

@test "messages quoted in README, docs and manual pages are the program's" {
  quoted messages
}

@test "keys in docs/json.md and in filters of jq are in the schemas" {
  quoted keys
}

@test "columns, fields and keys named in manual pages exist" {
  quoted terms
}

# seconds METHOD OPTION...: the duration of a training on 16 GPUs
seconds() {
  local method=$1
  shift
  "$DLEST" predict --arch resnet50 --gpu a100 --gpus 16 -q -f json \
    --method "$method" "$@" | jq '.estimates[0].duration_s'
}

@test "dlest-predict(1): physical has the all-reduce, flops has not" {
  slow=$(seconds physical --network 1)
  fast=$(seconds physical --network 400)
  jq -ne "$slow > 1.01 * $fast"
  [ "$(seconds flops --network 1)" = "$(seconds flops --network 400)" ]
}
