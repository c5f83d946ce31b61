#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Help, manual pages, README and docs tell of the same commands, options and
# columns. TAP.
set -eu
top=${TOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
built=${TOP_BUILDDIR:-$top}
dlest=${DLEST:-$built/dlest}
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | sed 's/^/# /'; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }

page() {
  for dir in "$built" "$top"; do
    [ ! -f "$dir/man/$1.1" ] || { echo "$dir/man/$1.1"; return; }
  done
}

# Lines of the first list that the second does not have.
lacking() {
  printf '%s\n' "$1" | while read -r word; do
    printf '%s\n' "$2" | grep -qxF -e "$word" || echo "$word"
  done
}

commands=$("$dlest" --help | awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 }
  on { print $1 }')
echo 1..$((3 * $(echo "$commands" | wc -w) + 4))
ok 'there are commands' "$([ -n "$commands" ] || echo none)"

main=$(page dlest)
for c in $commands; do
  man=$(page "dlest-$c")
  if [ -z "$man" ]; then
    skip "dlest $c --help is in its page" 'no page (built by help2man)'
    skip "the page of dlest $c is in --help" 'no page (built by help2man)'
  else
    # Options as both define them: indented in --help, in bold in the page.
    help=$("$dlest" "$c" --help | grep -E '^ +(-.,)? *--' |
      grep -oE -e '--[a-z][a-z0-9-]*' | sort -u)
    told=$(awk '/^\.SH/ { on = /OPTIONS/ } on && /^\\fB|^\\-/' "$man" |
      sed 's/\\-/-/g' | grep -oE -e '--[a-z][a-z0-9-]*' | sort -u)
    ok "dlest $c --help is in its page" "$(lacking "$help" "$told")"
    ok "the page of dlest $c is in --help" "$(lacking "$told" "$help")"
  fi
  ok "README or a page of docs tells of dlest $c" \
    "$(grep -q "dlest $c" "$top/README.md" "$top"/docs/*.md || echo "$c")"
done

if [ -z "$main" ]; then
  skip 'dlest(1) names every command' 'no page (built by help2man)'
  skip 'dlest(1) names every column of the runs table' 'no page'
else
  ok 'dlest(1) names every command' "$(for c in $commands; do
    grep -q "dlest-$c\|dlest.-$c" "$main" || echo "$c"; done)"
  columns=$(sed -nE -e '/Assumptions of an estimate/q' \
    -e 's/^(NUMBER|WHOLE|TEXT|OPEN|WORD)\(([a-z0-9_]+),.*/\2/p' \
    "$top/src/quantities/quantities.def")
  ok 'dlest(1) names every column of the runs table' "$(for c in $columns; do
    grep -qw "$c" "$main" || echo "$c"; done)"
fi

# Long options in README and docs exist.
known=$(for c in $commands; do "$dlest" "$c" --help; done |
  grep -oE -e '--[a-z][a-z0-9-]*' | sort -u)
used=$(grep -hE '^(\$ )?(dlest|\./bootstrap run) ' "$top/README.md" \
  "$top"/docs/*.md "$top"/docs/lab/*.md | sed 's/ -- .*//' | grep -oE -e ' --[a-z][a-z0-9-]*' |
  tr -d ' ' | sort -u)
ok 'options in README and docs exist' "$(lacking "$used" "$known" | sed '/^$/d')"
