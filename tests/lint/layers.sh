#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes go one way, and each library has its place. TAP.
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

# Lines in src/$1 that include a header of a folder not in $2.
beyond() {
  found=$(grep -nE '^ *# *include *"[a-z]+/' "src/$1"/*.[ch] |
    grep -vE "\"($1|$2)/" || true)
  ok "src/$1 includes nothing beyond itself and $2" "$found"
}

# Files that include header $1 but do not match $2.
only() {
  found=$(grep -rnE "^ *# *include *[<\"]$1" src |
    grep -vE "^src/($2):" || true)
  ok "$1 only in $2" "$found"
}

echo 1..18
beyond base base
beyond io 'base'
beyond onnx 'base|io'
beyond catalog 'base|io|onnx'
beyond trace 'base|io|math'
beyond math 'base'
beyond model 'base|io|catalog|trace|math'
beyond estimate 'base|io|catalog|trace|math|model'
# io for CSV cells alone: output/csv.c quotes as io/csv_write.c does.
beyond output 'base|io'
beyond plot 'base|io|math|trace|output'
ok 'src/output takes only io/csv.h from io' \
  "$(grep -nE '"io/' src/output/*.[ch] | grep -v '"io/csv\.h"' || true)"
only 'csv\.h' 'io/csv[a-z_]*\.[ch]'
only 'libxml/' 'io/xml[a-z_]*\.c'
only 'jansson\.h' 'output/json\.c'
only 'xxhash\.h' 'io/[a-z_]*\.[ch]'
only 'onnx\.pb-c\.h' 'onnx/graph\.h'
only 'gsl/' '(math|model)/[a-z_]*\.[ch]'
folders=$(cd src && echo */)
ok 'every folder of src has its rule' \
  "$(for f in $folders; do
       case $f in
         base/|io/|onnx/|catalog/|trace/|math/|model/|estimate/|output/|plot/|cli/) ;;
         *) echo "src/$f" ;;
       esac
     done)"
