#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Texts of messages stand in the tests once: in tests/messages. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
tab=$(printf '\t')
list=$(mktemp)
trap 'rm -f "$list"' EXIT
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | sed 's/^/# /'; fi
}

# Parts of the texts between arguments, without punctuation at their ends;
# those of at least $1 characters.
parts() {
  sed "s/^[^$tab]*$tab//; s/%%/%/g" tests/messages |
    awk -v least="$1" '{ n = split($0, part, "%s")
      for (i = 1; i <= n; i++) {
        gsub(/^[^A-Za-z]+|[^A-Za-z]+$/, "", part[i])
        if (length(part[i]) >= least) print part[i]
      } }' | sort -u
}

echo 1..4
ok 'each text has one key' "$(cut -f 1 tests/messages | sort | uniq -d
  cut -f 2 tests/messages | sort | uniq -d)"

cat tests/cli/*.bash tests/cli/*/*.ba* tests/cli/*/*.test tests/unit/*.[ch] |
  grep -oE '(\(message |MSG_)[a-z0-9_]+' |
  sed 's/^(message //; s/^MSG_//' | sort -u >"$list"
ok 'each key is used' \
  "$(cut -f 1 tests/messages | grep -vxF -f "$list" || true)"

# The program's literals, pieces of one text joined, and the same with columns
# without their marks.
source=$(find src -name '*.[ch]' -exec cat {} + | tr '\n' ' ' |
  sed 's/" *"//g; s/\\"/"/g; h; s/{\([a-z_]*\)}/\1/g; H; x')
parts 4 >"$list"
ok 'each text is one of the program' "$(printf '%s\n' "$source" |
  awk 'FNR == NR { part[++n] = $0; next } { text = text $0 }
    END { for (i = 1; i <= n; i++) if (!index(text, part[i])) print part[i] }' \
    "$list" -)"

# Pieces long enough not to be found by chance.
parts 24 >"$list"
ok 'no text stands in a test' \
  "$(grep -nF -f "$list" tests/cli/*/*.bats tests/cli/*/*.test tests/unit/*.[ch] || true)"
