#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Spelling, names in backquotes, and the grammar of comments, docs and
# conditions. Their measures have ceilings in prose-ceilings, which only fall.
# TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
ceilings=tests/lint/prose-ceilings
measures=$(mktemp)
words=$(mktemp)
trap 'rm -f "$measures" "$words"' EXIT
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | sed 's/^/# /'; fi
}
echo 1..8

# Names of variables and of a program that look like misspelt words.
if command -v codespell >/dev/null 2>&1; then
  ok 'spelling' "$(codespell -L ane,inout,mape,ptd,upto README.md HACKING.md \
    AGENTS.md CHANGELOG.md NEWS.md SECURITY.md docs/*.md docs/lab/*.md man/*.h2m tests/messages \
    schemas contrib completions bootstrap python src 2>&1 || true)"
else
  n=$((n + 1))
  echo "ok $n - spelling # SKIP no codespell"
fi

# Prints a line per measure of the sources, "name value". Strings and character
# constants are emptied first, since they may hold the signs of comments. Each
# record ends where a comment does.
find src -name '*.[ch]' | sort | xargs cat |
  sed -E "s/'(\\\\.|[^'\\\\])'/0/g; s/\"([^\"\\\\]|\\\\.)*\"/\"\"/g" |
  awk '
  BEGIN {
    RS = "[*]/"
    split("What Of That Those So As By Where With", list, " ")
    for (i in list) opens[list[i]] = 1
  }
  { lines += gsub(/\n/, "\n") }
  {
    at = index($0, "/*")
    code = code (at ? substr($0, 1, at - 1) : $0)
    if (at) comment(substr($0, at + 2))
    while (match(code, /[;{}]/)) {
      statement(substr(code, 1, RSTART - 1), substr(code, RSTART, 1))
      code = substr(code, RSTART + 1)
    }
  }
  function comment(text,    word, first, k, i, all) {
    gsub(/\n *[*]?/, " ", text)
    k = split(text, word, " ")
    if (k < 3 || word[1] ~ /^SPDX/) return
    comments++
    words += k
    first = word[1]
    gsub(/[^A-Za-z]+$/, "", first)
    opened += first in opens || (first == "The" && word[2] == "same")
    for (i = 1; i <= k; i++) all = all " " tolower(word[i]) " "
    ellipses += gsub(/ (that|those)  of /, " & ", all)
    ellipses += gsub(/ the  same[ .,:;)]/, "", all)
  }
  function statement(text, end,    n) {
    n = gsub(/\?/, "?", text)
    nested += end == ";" && n > 1
    literal += gsub(/str(case)?cmp\([^"]*, *""\)[ \n]*[!=]=[ \n]*0/, "", text)
  }
  END {
    printf "openers_percent %.2f\n", 100 * opened / comments
    printf "ellipses_in_comments %.2f\n", 1000 * ellipses / words
    printf "nested_conditions %.2f\n", 1000 * nested / lines
    printf "literal_comparisons %d\n", literal
  }' >"$measures"
cat docs/*.md | awk '
  /^```/ { example = !example; next }
  example { next }
  { text = text " " tolower($0); words += NF }
  END {
    gsub(/[^a-z]+/, "  ", text)
    n = gsub(/ (that|those)  of /, " ", text) + gsub(/ the  same /, " ", text)
    printf "ellipses_in_docs %.2f\n", 1000 * n / words
  }' >>"$measures"

# judge NAME TEXT: the measure is not above its ceiling
judge() {
  value=$(awk -v name="$1" '$1 == name { print $2 }' "$measures")
  most=$(awk -v name="$1" '$1 == name { print $2 }' "$ceilings")
  ok "$2: $value, at most $most" "$(awk -v x="$value" -v most="$most" \
    'BEGIN { if (x > most) print "above its ceiling by " x - most }')"
  awk -v x="$value" -v most="$most" -v name="$1" 'BEGIN { if (x < most)
    print "# " name " may be lowered by " most - x " to " x }'
}
judge openers_percent '% of comments that open in ellipsis (What, Of, So, ...)'
judge ellipses_in_comments '"that of", "the same" per 1,000 words of comments'
judge ellipses_in_docs '"that of", "the same" per 1,000 words of docs'
judge nested_conditions 'statements with several ?: per 1,000 lines'
judge literal_comparisons 'comparisons of a text with a literal'
ok 'no ceiling rose since the last commit' "$(
  git show "HEAD:$ceilings" 2>/dev/null | awk '
    NR == FNR { before[$1] = $2; next }
    $1 in before && $2 > before[$1] { print $1 ": " before[$1] " to " $2 }' \
    - "$ceilings" || true)"

# Names in backquotes with an underscore: columns, fields, keys, files.
cat schemas/*.json src/quantities/quantities.def \
  src/catalog/descriptor_fields_body.h data/*.rng tests/cli/*/*.bats tests/cli/*/*.test \
  $(find src tools contrib data/make docs/lab -name '*.[chp]' -o -name '*.py') |
  tr -c 'A-Za-z0-9_' '\n' | sort -u >"$words"
find . -name .git -prune -o -name '_build*' -prune -o -type f -print |
  sed 's:.*/::; s:\..*::' | sort -u >>"$words"
ok 'names in README and docs exist' "$(
  grep -oh '`[a-z][a-z0-9]*\(_[a-z0-9]*\)\{1,\}`' README.md docs/*.md \
    docs/lab/*.md | tr -d '`' | sort -u | grep -vxF -f "$words" || true)"
