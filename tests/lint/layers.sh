#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes point one way, private headers stay in their folder, each library
# has its place, and no folder is crowded. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
n=0

# ok DESCRIPTION OFFENDERS
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then
    echo "ok $n - $1"
  else
    echo "not ok $n - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

# Lines in src/$1 that include a header of a room not in $2.
beyond() {
  found=$(grep -rnE '^ *# *include *"[a-z]+/' "src/$1" --include='*.[ch]' |
    grep -vE "\"($1|$2)/" || true)
  ok "src/$1 includes nothing beyond itself and $2" "$found"
}

# Files that include header $1 but do not match $2.
only() {
  found=$(grep -rnE "^ *# *include *[<\"]$1" src --include='*.[ch]' |
    grep -vE "^src/($2):" || true)
  ok "$1 only in $2" "$found"
}

rooms='base io math onnx catalog quantities run logs physics model estimate output plot sensors record'
echo 1..29
beyond base base
beyond io 'base'
beyond math 'base'
beyond onnx 'base|io'
beyond catalog 'base|io|onnx'
beyond quantities base
beyond run 'base|io|catalog|quantities'
beyond logs 'base|io|math|run|quantities'
beyond physics 'base|math|run|quantities|catalog'
beyond model 'base|io|catalog|run|quantities|math|physics'
beyond estimate 'base|io|catalog|run|quantities|logs|math|physics|model'
# io for CSV cells alone: csv_format.c quotes as io/csv.c does.
beyond output 'base|io'
beyond sensors 'base|logs'
beyond record 'base|sensors'
beyond plot 'base|io|math|run|quantities|logs|estimate|output'
ok 'src/output takes only io/csv.h from io' \
  "$(grep -rnE '"io/' src/output | grep -v '"io/csv\.h"' || true)"
only 'csv\.h' 'io/csv[a-z_]*\.[ch]'
only 'libxml/' 'io/xml[a-z_]*\.c'
only 'jansson\.h' '(io/json_read|output/formats/json)\.c'
only 'xxhash\.h' '(io/[a-z_]*|base/names/intern)\.[ch]'
only 'onnx\.pb-c\.h' 'onnx/graph/graph\.h'
only 'microhttpd\.h' 'record/http_server\.c'
only 'gsl/' '(math|physics|model|estimate/projection)/[a-z_/]*\.[ch]'
ok 'every room of src has its rule' \
  "$(for f in src/*/; do
       f=${f#src/}
       case " $rooms cli " in *" ${f%/} "*) ;; *) echo "src/$f" ;; esac
     done)"
ok 'private headers are included from their own folder alone' \
  "$(grep -rnE '^ *# *include *"[a-z_0-9/]+_private\.h"' src |
     awk -F: '{ folder = $1; sub("^src/", "", folder); sub("/[^/]*$", "", folder)
       header = $3; gsub(/^[^"]*"|".*$/, "", header); at = header
       sub("/[^/]*$", "", at); if (at != folder) print $1 ": " header }')"
ok 'no name of a file occurs twice' \
  "$(find src -name '*.[ch]' | sed 's:.*/::' | sort | uniq -d)"
ok 'folders have at most 20 files' \
  "$(find src -type d | while read -r f; do
       n=$(find "$f" -maxdepth 1 -name '*.[ch]' | wc -l)
       [ "$n" -le 20 ] || echo "$f: $n"
     done)"
ok 'each folder lists its files in its local.mk' \
  "$(find src -name '*.[ch]' | while read -r f; do
       grep -q "/$(basename "$f")\( \|$\)" "$(dirname "$f")/local.mk" \
         2>/dev/null || echo "$f"
     done)"

build=${TOP_BUILDDIR-}
name='no files call each other in a circle'
if [ -f "$build/libdlest.a" ] && command -v python3 >/dev/null 2>&1; then
  ok "$name" "$(python3 -B tools/shape.py --source . --objects "$build" \
    --sizes-only --list circles 2>&1 | grep -v '^none$' || true)"
else
  n=$((n + 1))
  echo "ok $n - $name # SKIP no objects or no python3"
fi
