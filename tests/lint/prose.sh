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
echo 1..6

# Names of variables and of a program that look like misspelt words.
if command -v codespell >/dev/null 2>&1; then
  ok 'spelling' "$(codespell -L mape,upto,ptd,inout README.md HACKING.md \
    CHANGELOG.md SECURITY.md docs/*.md man/*.h2m tests/messages schemas \
    contrib completions bootstrap src 2>&1 || true)"
else
  n=$((n + 1))
  echo "ok $n - spelling # SKIP no codespell"
fi

# Terms for which the glossary has another: "term>what to write". $1: texts.
private_terms() {
  while IFS='>' read -r term better; do
    grep -nwiE -e "$term" "$1" | sed "s/\$/ <- $better/" || true
  done <<'END'
left-out>held-out
what nothing beats>Pareto front
goes over>overrides
asked for>requested
besides>also
rests? on>is based on
thriftiest>lowest-energy
dearest>highest-energy
costliest>highest-energy
awake>static power
in the midst>steady state
frozen bases?>frozen backbone
deviation in percent>MAPE
nobody>name the actor
bearer>level
told apart>distinguished
surer>more reliable
END
}
tell='tells?|told|knows'

{
  cut -f 2 tests/messages
  cat man/*.h2m schemas/*.json
  "$dlest" --help
  for command in $("$dlest" --help |
    sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    "$dlest" "$command" --help
  done
} >"$texts"
ok 'messages, --help, manual pages and schemas use the terms of the glossary' \
  "$(private_terms "$texts"
  grep -nwiE "$tell" "$texts" | sed 's/$/ <- print, report, specify, have/')"

# Text of README and docs without examples.
for page in README.md SECURITY.md HACKING.md contrib/README.md bench/README.md \
  docs/*.md; do
  awk '/^```/ { example = !example; next }
    !example { print FILENAME ":" FNR ": " $0 }' "$page"
done >"$texts"
ok 'README and docs use the terms of the glossary' "$(private_terms "$texts"
  grep -nwiE "$tell|where it falls short|what was tried" "$texts" |
    sed 's/$/ <- print, report, have; name the content/')"

# Comments and texts of the sources; names may have such words.
find src -name '*.[ch]' -exec grep -H -n '' {} + >"$texts"
ok 'comments use the terms of the glossary' "$(private_terms "$texts"
  grep -E '/\*|^[^:]*:[0-9]*: \*' "$texts" | grep -wE "$tell" || true)"

# Names of tests, and identifiers with an underscore.
{
  grep -H -n '^@test ' tests/cli/*/*.bats
  grep -H -n '^== ' tests/cli/*/*.test
  grep -H -nwoE '[a-z0-9]+(_[a-z0-9]+)+' $(find src tests -name '*.[ch]') |
    tr _ ' '
} >"$texts"
ok 'names of tests and of code use the terms of the glossary' \
  "$(grep -nwiE "$tell|besides|nobody|surer|awake|thriftiest|dearest" "$texts" ||
    true)"

# Names in backquotes with an underscore: columns, fields, keys, files.
cat schemas/*.json src/run/run_columns_body.h \
  src/catalog/descriptor_fields_body.h data/*.rng tests/cli/*/*.bats tests/cli/*/*.test \
  $(find src tools contrib -name '*.[chp]' -o -name '*.py') |
  tr -c 'A-Za-z0-9_' '\n' | sort -u >"$words"
find . -name .git -prune -o -name '_build*' -prune -o -type f -print |
  sed 's:.*/::; s:\..*::' | sort -u >>"$words"
ok 'names in README and docs exist' "$(
  grep -oh '`[a-z][a-z0-9]*\(_[a-z0-9]*\)\{1,\}`' README.md docs/*.md |
    tr -d '`' | sort -u | grep -vxF -f "$words" || true)"
