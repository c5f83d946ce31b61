#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What the manual pages say of the methods is what the program does.

load common

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
  in_order --duration 10h
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
