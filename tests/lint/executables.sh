#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Scripts stop at the first error, and those to be called are executable. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
status() { if [ -z "$2" ]; then echo "ok $1 - $3"; else
  echo "not ok $1 - $3"; printf '%s\n' "$2" | sed 's/^/# /'; fi; }

echo 1..3
shells=$(find bootstrap .ci tools tests bench -type f \
  \( -name '*.sh' -o -name bootstrap -o -name run -o -name package \) 2>/dev/null | sort)
status 1 "$(for f in $shells; do
  grep -qE '^set -(eu|euo pipefail)$' "$f" || echo "$f"; done)" \
  'shell scripts set -eu'
status 2 "$(for f in $shells; do
  shell=$(sed -n '1s/^#!.*[/ ]//p' "$f")
  "$shell" -n "$f" 2>&1; done)" 'shell scripts parse'
status 3 "$(find bootstrap .ci/run tools -type f ! -name '*.csv' ! -perm -u+x \
  2>/dev/null | while read -r f; do
    head -n 1 "$f" | grep -q '^#!' && echo "$f"; done)" \
  'scripts with an interpreter line are executable'
