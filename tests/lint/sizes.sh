#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of at most 500 lines, functions of at most 60, of tests 80, and of at
# most 6 parameters. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
status() { if [ -z "$2" ]; then echo "ok $1 - $3"; else
  echo "not ok $1 - $3"; printf '%s\n' "$2" | sed 's/^/# /'; fi; }

echo 1..3
sources=$(find src tests tools bench bootstrap -type f \
  \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.bats' -o -name '*.test' \
     -o -name bootstrap \) | sort)
status 1 "$(for f in $sources; do
  awk -v f="$f" 'END { if (NR > 500) print f ": " NR " lines" }' "$f"
done)" 'files have at most 500 lines'

# A function begins with a line at column 0 that opens a brace and is no
# declaration of data, and ends with a brace at column 0.
status 2 "$(find src tests -name '*.[ch]' | sort | xargs awk '
  FNR == 1 { start = 0 }
  /^[A-Za-z_].*\(/ { name = $0; at = FNR }
  /^}/ { if (start && FNR - start + 1 > (FILENAME ~ /^src/ ? 60 : 80))
           print FILENAME ":" start ": " FNR - start + 1 " lines: " name
         start = 0 }
  /\{$/ && /\)/ && !/=/ && (/^[A-Za-z_]/ || /^  /) && !start && at &&
    FNR - at < 8 { start = at; at = 0 }')" 'functions have at most 60 lines, of tests 80'

name='functions have at most 6 parameters'
if command -v python3 >/dev/null; then
  many=$(python3 -B tools/shape.py --sizes-only --list params)
  status 3 "${many#none}" "$name"
else
  echo "ok 3 - $name # SKIP no python3"
fi
