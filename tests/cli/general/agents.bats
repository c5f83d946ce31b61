#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# AGENTS.md: its calls give documents of their schemas, and what it says holds.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  mkdir data
  cp -r "$TOP_SRCDIR/data/examples" data
}

@test "each call gives a document, with the status of its comment" {
  local line want n=0
  mkdir bin
  ln -s "$DLEST" bin/dlest
  PATH=$PWD/bin:$PATH
  sed -n '/^```sh$/,/^```$/{ /^dlest /p }' "$TOP_SRCDIR/AGENTS.md" >calls
  while IFS= read -r line; do
    n=$((n + 1))
    case $line in *' record '*) continue ;; esac # needs sensors
    want=0
    [[ ! $line =~ \#\ status\ ([0-9]) ]] || want=${BASH_REMATCH[1]}
    status=0
    bash -c "$line" >"$n.json" 2>err </dev/null || status=$?
    [ "$status" -eq "$want" ] || { echo "$status: $line"; cat err; false; }
    command=$(echo "$line" | cut -d ' ' -f 2)
    check '.schema == 1' "$n.json"
    ! python3 -c 'import jsonschema' 2>/dev/null ||
      python3 "$TOP_SRCDIR/tests/check-schema.py" \
        "$TOP_SRCDIR/schemas/$command.json" <"$n.json"
  done <calls
  [ "$n" -ge 10 ]
}

@test "keys and statuses that it names" {
  "$DLEST" predict --arch resnet50 --gpu a100 --format json >out 2>err
  check '(.recommended as $m | .estimates | map(select(.method == $m)) | length) == 1'
  check '.estimates[0] | has("low_j") and has("boundary") and has("extrapolates")'
  check '(.assumed | length) > 0 and (.warnings | length) > 0'
  ! grep -v '^dlest: ' err || false
  try predict --arch resnet50 --gpu nothing --format json
  [ "$status" -eq 3 ]
  try predict --nothing
  [ "$status" -eq 2 ]
  try extract /nothing/at/all.csv data/examples/gpu-7.csv --format json
  [ "$status" -eq 3 ]
  check '.runs | length == 1'
}

@test "it has one page" {
  [ "$(wc -l <"$TOP_SRCDIR/AGENTS.md")" -le 75 ]
}
