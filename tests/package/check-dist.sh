#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `make distcheck`: the tarball builds out of sources that cannot be written, passes
# tests, installs, uninstalls and is made once more. TAP: each file of tests.
#
#   check-dist.sh TOP_BUILDDIR TEST...
set -euo pipefail
build=$(realpath "$1")
shift
log=$build/check-dist.log
status=0
make -j "$(nproc)" -C "$build" distcheck TESTS="$*" >"$log" 2>&1 || status=$?
n=0
while read -r word name; do
  n=$((n + 1))
  case $word in
  PASS:) echo "ok $n - $name" ;;
  SKIP:) echo "ok $n - $name # SKIP" ;;
  *) echo "not ok $n - $name" ;;
  esac
done < <(grep -E '^(PASS|FAIL|XPASS|SKIP|ERROR): ' "$log")
n=$((n + 1))
if [ "$status" -eq 0 ] && [ "$n" -gt "$#" ] &&
  grep -q 'archives ready for distribution' "$log"; then
  echo "ok $n - make distcheck"
else
  tail -n 30 "$log" | sed 's/^/# /'
  echo "not ok $n - make distcheck"
fi
echo "1..$n"
exit "$status"
