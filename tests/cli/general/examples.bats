#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of README.md, of the pages in docs and of --help (which are
# those of the manual pages) run, and the pages show what they print.

bats_require_minimum_version 1.5.0

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  tool=$TOP_SRCDIR/tools/run-examples.py
}

@test 'examples of README.md and docs print what they show' {
  command -v jq >/dev/null || skip 'no jq'
  mapfile -t pages < <(grep -l '^```console' \
    "$TOP_SRCDIR"/docs/*.md "$TOP_SRCDIR"/docs/lab/*.md)
  [ "${#pages[@]}" -ge 8 ]
  run python3 "$tool" "$DLEST" "$TOP_SRCDIR/README.md" "${pages[@]}"
  echo "$output" | grep -v '^ok' || true
  [ "$status" -eq 0 ]
}

@test 'README is short' {
  [ "$(wc -c <"$TOP_SRCDIR/README.md")" -le 10240 ]
}

@test 'links between pages lead somewhere' {
  cd "$TOP_SRCDIR"
  for page in README.md docs/*.md docs/lab/*.md; do
    grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -v '^http' |
      while read -r to; do
        [ -e "$(dirname "$page")/$to" ] || { echo "$page: $to"; exit 1; }
      done
  done
}

@test 'the index names every page' {
  cd "$TOP_SRCDIR/docs"
  for page in *.md lab/*.md; do
    [ "$page" = index.md ] || grep -q "]($page)" index.md ||
      { echo "$page"; return 1; }
  done
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
  sed '0,/^  Energy  */s//&9/' "$TOP_SRCDIR/README.md" \
    >"$BATS_TEST_TMPDIR/wrong.md"
  ! cmp -s "$BATS_TEST_TMPDIR/wrong.md" "$TOP_SRCDIR/README.md" || false
  run python3 "$tool" "$DLEST" "$BATS_TEST_TMPDIR/wrong.md"
  [ "$status" -eq 1 ]
  [[ $output == *'not ok 1 '* ]]
}
