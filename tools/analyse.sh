#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Static analysis of src/: cppcheck, and clang-tidy with .clang-tidy. Prints
# nothing where there is nothing to say.
#
#   tools/analyse.sh BUILD      (the folder with config.h and installed.h)
set -eu
cd "$(dirname "$0")/.."
build=$1
cppcheck --quiet --enable=warning,style,performance,portability \
  --suppressions-list=tools/cppcheck-suppressions --std=c11 \
  --error-exitcode=1 -Isrc "-I$build" src
find src -name '*.c' | sort | while read -r f; do
  # shellcheck disable=SC2046
  clang-tidy --quiet "$f" -- -std=gnu17 -D_GNU_SOURCE -DHAVE_INLINE \
    -Isrc "-I$build" \
    -isystem "$build/onnx-proto" $(pkg-config --cflags libxml-2.0) \
    -fopenmp
done 2>/dev/null
