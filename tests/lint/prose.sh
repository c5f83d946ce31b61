#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Spelling, and the terms of the glossary in what users read. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
dlest=${DLEST:-${TOP_BUILDDIR:-.}/dlest}
texts=$(mktemp)
words=$(mktemp)
trap 'rm -f "$texts" "$words"' EXIT
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | sed 's/^/# /'; fi
}
echo 1..3

# Names of variables and of a program that look like misspelt words.
if command -v codespell >/dev/null 2>&1; then
  ok 'spelling' "$(codespell -L mape,upto,ptd,inout README.md HACKING.md \
    CHANGELOG.md SECURITY.md docs/*.md man/*.h2m tests/messages schemas \
    contrib completions bootstrap src 2>&1 || true)"
else
  n=$((n + 1))
  echo "ok $n - spelling # SKIP no codespell"
fi

# Terms for which the glossary has another: "terms of people" (left), and what
# to write (right).
{
  cut -f 2 tests/messages
  cat man/*.h2m
  "$dlest" --help
  for command in $("$dlest" --help |
    sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    "$dlest" "$command" --help
  done
} >"$texts"
ok 'messages, --help and manual pages use the terms of the glossary' "$(
  while IFS='>' read -r term better; do
    grep -nwiE -e "$term" "$texts" | sed "s/\$/ <- $better/" || true
  done <<'END'
left-out (GPUs?|architectures?)>leave-one-GPU-out
what nothing beats>Pareto front
goes over>overrides
asked for>requested
besides>also
rests on>is based on
thriftiest>lowest-energy
dearest>highest-energy
awake>static power
in the midst>steady state
frozen base>frozen backbone
deviation in percent>MAPE
tells?>print, report, specify, state
nobody knows>is unknown
bearer>level
END
)"

# Names in backquotes with an underscore: columns, fields, keys, files.
cat schemas/*.json src/run/run_columns_body.h \
  src/catalog/descriptor_fields_body.h data/*.rng tests/cli/*.bats \
  $(find src tools contrib -name '*.[chp]' -o -name '*.py') |
  tr -c 'A-Za-z0-9_' '\n' | sort -u >"$words"
find . -name .git -prune -o -name '_build*' -prune -o -type f -print |
  sed 's:.*/::; s:\..*::' | sort -u >>"$words"
ok 'names in README and docs exist' "$(
  grep -oh '`[a-z][a-z0-9]*\(_[a-z0-9]*\)\{1,\}`' README.md docs/*.md |
    tr -d '`' | sort -u | grep -vxF -f "$words" || true)"
