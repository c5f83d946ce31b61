#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# House rules that a search can check. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | head -n 20 | sed 's/^/# /'; fi
}

code=$(find src tests bench tools -name '*.[ch]' | sort)
scripts=$(find tests bench tools -name '*.sh' -o -name '*.py' -o \
  -name '*.bats' -o -name '*.bash' -o -name '*.test' | sort)
texts=$(find . -path './_build*' -prune -o -path './.git' -prune -o \
  -path ./autom4te.cache -prune -o -path ./build-aux -prune -o \
  -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.md' \
  -o -name '*.am' -o -name '*.ac' -o -name '*.xml' -o -name '*.rng' \
  -o -name '*.h2m' -o -name '*.bats' -o -name '*.test' -o -name '*.json' -o -name '*.cff' \
  -o -name bootstrap \) -print | grep -v tests/lint/names.sh | sort)

echo 1..12
tab=$(printf '\t')
ok 'no tabs in C' "$(grep -ln "$tab" $code || true)"
ok 'no blanks at the end of a line' "$(grep -nE '[[:space:]]+$' \
  $code $scripts bootstrap || true)"
ok 'C has at most 80 columns' "$(LC_ALL=C.UTF-8 grep -nE '^.{81,}' $code |
  cut -c 1-60 || true)"
ok 'every C file names its licence in line 1' "$(for f in $code; do
  head -n 1 "$f" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
    echo "$f"; done)"
ok 'every script names its licence' "$(for f in $scripts bootstrap; do
  head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
    echo "$f"; done)"
ok 'nothing left to do in the sources' \
  "$(grep -nE '(TO''DO|FIX''ME)' $code $scripts || true)"
ok 'no path of one machine' "$(grep -nE \
  '(^|[^A-Za-z0-9_.])/(work|home/[a-z]|root)/' $texts || true)"
ok 'header guards follow the path' "$(for f in $(find src -name '*.h' ! -name '*_body.h'); do
  g=DL_$(echo "${f#src/}" | tr 'a-z/.' 'A-Z__')
  grep -q "^#ifndef $g\$" "$f" || echo "$f: expected $g"; done)"
# In a Turkish locale strcasecmp("INFERENCE", "inference") is not 0.
ok 'no locale is set' "$(grep -nE 'setlocale|newlocale' \
  $(find src -name '*.[ch]') || true)"
# bats passes over a negated command that fails before the last line.
ok 'negated commands of a test end it' "$(awk '
  FNR == 1 { held = ""; joined = 0 }
  joined { text = text " " $0 }
  !joined {
    if (held != "" && $0 !~ /^}/) print held
    held = ""; text = $0; at = FILENAME ":" FNR
  }
  { joined = /(\\|\||&&)$/ }
  !joined && text ~ /^ *! / && text !~ /\|\| / { held = at ": add || false" }
  ' tests/cli/*/*.bats)"
# It passes over all commands of a && b but the last, too.
ok 'checks of a test are lines of their own' "$(awk '
  FNR == 1 { test = joined = 0 }
  /^@test / { test = 1 }
  /^}/ { test = 0 }
  joined { text = text " " $0 }
  !joined { text = $0; at = FILENAME ":" FNR }
  { joined = /(\\|\||&&)$/ }
  !joined && test && text ~ / && / && text !~ /\|\| |&& (break|continue)$/ &&
    text ~ /^ +(\[|\[\[|grep|cmp|is|check|within|energy) / { print at }
  ' tests/cli/*/*.bats)"
# make keeps one log of tests/a/b.bats and tests/a/b.test, and runs one of them.
ok 'names of tests differ before their suffix' "$(
  find tests -name '*.bats' -o -name '*.test' | sed 's/\.[a-z]*$//' | sort |
    uniq -d)"
