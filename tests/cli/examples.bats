#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of README.md and of --help (which are those of the manual
# pages) run, and README shows what they print.

bats_require_minimum_version 1.5.0

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  tool=$TOP_SRCDIR/tools/docs/readme-examples.py
}

@test 'examples of README.md print what it shows' {
  command -v jq >/dev/null || skip 'no jq'
  run python3 "$tool" "$DLEST" "$TOP_SRCDIR/README.md"
  echo "$output" | grep -v '^ok' || true
  [ "$status" -eq 0 ]
}

@test 'examples of --help and the manual pages work' {
  # GPUs for dlest record.
  export LD_LIBRARY_PATH=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  commands=$("$DLEST" --help |
    awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
  run python3 "$tool" --help-of "$DLEST" $commands
  echo "$output" | grep -v '^ok' || true
  [ "$status" -eq 0 ]
}

@test 'every command has an example in its help' {
  for c in $("$DLEST" --help |
      awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'); do
    "$DLEST" "$c" --help | grep -A1 '^Examples:' | grep "^  dlest $c"
  done
}

@test 'the comparison of outputs notices a wrong number' {
  command -v jq >/dev/null || skip 'no jq'
  sed -n '1,/^This is ResNet/s/Energy  */&9/p' \
    "$TOP_SRCDIR/README.md" | grep -q . # the line is there
  sed '1,/^This is ResNet/s/Energy  */&9/' \
    "$TOP_SRCDIR/README.md" >"$BATS_TEST_TMPDIR/wrong.md"
  run python3 "$tool" "$DLEST" "$BATS_TEST_TMPDIR/wrong.md"
  [ "$status" -eq 1 ]
  [[ $output == *'not ok 1 '* ]]
}
