#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Descriptors and models that ship are valid and keep to the rules. TAP.
set -eu
dlest=${DLEST:-${TOP_BUILDDIR:-$(pwd)}/dlest}
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
set -- data/*.xml models/*.xml
echo 1..$(($# + 2))
n=0
for file; do
  n=$((n + 1))
  case $file in
    models/*) schema=models/model.rng ;;
    data/cpus.xml) schema=data/accelerators.rng ;;
    data/task-networks.xml | data/transformers.xml) schema=data/architectures.rng ;;
    *) schema=${file%.xml}.rng ;;
  esac
  if [ ! -e "$file" ]; then
    echo "ok $n - $file # SKIP not there"
  elif ! command -v xmllint >/dev/null 2>&1; then
    echo "ok $n - $file is valid # SKIP no xmllint (Debian: libxml2-utils)"
  elif out=$(xmllint --nonet --noout --relaxng "$schema" "$file" 2>&1); then
    echo "ok $n - $file is valid against $schema"
  else
    echo "not ok $n - $file is valid against $schema"
    printf '%s\n' "$out" | head -n 20 | sed 's/^/# /'
  fi
done
n=$((n + 1))
if ! command -v python3 >/dev/null 2>&1; then
  echo "ok $n - data/make/check-catalog.py # SKIP no python3"
elif out=$(python3 data/make/check-catalog.py 2>&1); then
  echo "ok $n - data/make/check-catalog.py finds nothing"
else
  echo "not ok $n - data/make/check-catalog.py finds nothing"
  printf '%s\n' "$out" | head -n 20 | sed 's/^/# /'
fi
n=$((n + 1))
if [ ! -x "$dlest" ]; then
  echo "ok $n - dlest check # SKIP no dlest"
elif out=$(DLEST_DATADIR=. DLEST_PATH= XDG_CONFIG_HOME=/nowhere \
  "$dlest" check --strict --format csv "$@" 2>&1) &&
  [ "$out" = file,line,level,entry,message ]; then
  echo "ok $n - dlest check finds nothing"
else
  echo "not ok $n - dlest check finds nothing"
  printf '%s\n' "$out" | head -n 20 | sed 's/^/# /'
fi
