#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the fuzzers with clang and runs them, as many at a time as there are
# cores. Prints a line for each; fails where one has found something, which is
# kept in BUILD/fuzz/NAME/found.
#
#   tools/fuzz.sh BUILD SECONDS [NAME...]
#
# NAME is an importer of power logs, `any` (recognised by content), `follow` (a
# log that arrives in pieces), `report` (sacct to totals), `plan` (predict
# --input), `catalog`, `config` (of model hubs), `csv`, `model`, `shape` or `onnx`; all without any. CLANG
# names the compiler, FUZZ_JOBS the number of fuzzers at a time.
set -eu

usage() {
  echo "usage: tools/fuzz.sh BUILD SECONDS [NAME...]" >&2
  exit 2
}

# --one NAME: what runs of each fuzzer, in a process of its own.
if [ "${1-}" = --one ]; then
  name=$2
  own=$FUZZ_DIR/$name
  mkdir -p "$own/corpus" "$own/found"
  # What was found before is tried again.
  find "$own/found" -type f -exec mv {} "$own/corpus" \;
  case $name in
    catalog | config | csv | follow | model | onnx | plan | report | shape)
      binary=fuzz_$name importer= ;;
    any) binary=fuzz_import importer= ;;
    *) binary=fuzz_import importer=$name ;;
  esac
  longest=4096
  if [ "$name" = onnx ]; then longest=16384; fi
  set -- "$own/corpus"
  case $name in
    any | follow) set -- "$@" tests/fuzz/corpus ;;
    report) set -- "$@" tests/fuzz/corpus/sacct ;;
  esac
  if [ -d "tests/fuzz/corpus/$name" ]; then
    set -- "$@" "tests/fuzz/corpus/$name"
  fi
  if [ "$name" = model ]; then set -- "$@" models; fi
  if [ -e "tests/fuzz/$name.dict" ]; then
    set -- "-dict=tests/fuzz/$name.dict" "$@"
  elif [ "$binary" = fuzz_import ] || [ "$name" = follow ] ||
    [ "$name" = report ]; then
    set -- -dict=tests/fuzz/import.dict "$@"
  fi
  failed=
  IMPORTER=$importer DLEST_DATADIR=. XDG_CONFIG_HOME=/nowhere \
    "$FUZZ_DIR/$binary" -max_total_time="$FUZZ_SECONDS" \
    -timeout=60 -report_slow_units=60 -rss_limit_mb=2048 \
    -max_len="$longest" -print_final_stats=1 -artifact_prefix="$own/found/" \
    "$@" >"$own/log" 2>&1 || failed=1
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$own/log")
  covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$own/log" | tail -n 1)
  found=$(find "$own/found" -type f | wc -l)
  printf '%-18s %10s inputs %6s covered %3s found\n' "$name" "${runs:-?}" \
    "${covered:-?}" "$found"
  if [ -n "$failed" ] || [ "$found" -gt 0 ]; then
    grep -E '^SUMMARY|runtime error|ERROR: |^no importer' "$own/log" |
      head -n 5 | sed "s/^/$name: /" >&2 || true
    echo "$name" >>"$FUZZ_DIR/failed"
  fi
  exit 0
fi

[ $# -ge 2 ] || usage
mkdir -p "$1"
FUZZ_DIR=$(cd "$1" && pwd)/fuzz
FUZZ_SECONDS=$2
shift 2
case $FUZZ_SECONDS in '' | *[!0-9]*) usage ;; esac
jobs=${FUZZ_JOBS:-$(nproc)}
export FUZZ_DIR FUZZ_SECONDS
cd "$(dirname "$0")/.."
self=$PWD/tools/fuzz.sh
mkdir -p "$FUZZ_DIR/objects"
rm -f "$FUZZ_DIR/failed"
echo '#define PACKAGE_VERSION "0"' >"$FUZZ_DIR/config.h"
echo '#define PKGDATADIR ""' >"$FUZZ_DIR/installed.h"

# What protoc-c makes of ONNX's schema.
proto=${ONNX_PROTO:-/usr/include/onnx/onnx.proto}
mkdir -p "$FUZZ_DIR/onnx-proto"
cp "$proto" "$FUZZ_DIR/onnx-proto/onnx.proto"
protoc-c --proto_path="$FUZZ_DIR/onnx-proto" --c_out="$FUZZ_DIR/onnx-proto" \
  "$FUZZ_DIR/onnx-proto/onnx.proto"

# Everything is compiled each time: it takes less than a minute.
flags="-std=gnu17 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -Isrc \
  -I$FUZZ_DIR -isystem $FUZZ_DIR/onnx-proto -include config.h $(pkg-config --cflags libxml-2.0) \
  -fno-sanitize-recover=all"
FUZZ_COMPILE="${CLANG:-clang} $flags -c \
  -fsanitize=fuzzer-no-link,address,undefined"
export FUZZ_COMPILE
rm -f "$FUZZ_DIR"/objects/*.o
# shellcheck disable=SC2016
{
  find src/base src/io src/onnx src/catalog src/quantities src/run src/logs \
    src/math src/physics src/model src/estimate -name '*.c' ! -name onnx_absent.c | sort
  echo "$FUZZ_DIR/onnx-proto/onnx.pb-c.c"
} |
  xargs -n 1 -P "$jobs" sh -c '
    object=$(echo "${1#src/}" | tr / _ | sed "s/.*onnx-proto_//")
    $FUZZ_COMPILE "$1" -o "$FUZZ_DIR/objects/${object%.c}.o"' compile
rm -f "$FUZZ_DIR/libfuzzed.a"
ar rc "$FUZZ_DIR/libfuzzed.a" "$FUZZ_DIR"/objects/*.o
for harness in tests/fuzz/fuzz_*.c; do
  # shellcheck disable=SC2046,SC2086
  ${CLANG:-clang} $flags -fsanitize=fuzzer,address,undefined "$harness" \
    "$FUZZ_DIR/libfuzzed.a" -lcsv -lxxhash -lgsl -lgslcblas \
    $(pkg-config --libs libxml-2.0 libprotobuf-c jansson) -lm \
    -o "$FUZZ_DIR/$(basename "$harness" .c)"
done

if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046
  set -- $("$FUZZ_DIR/fuzz_import" --names) any catalog config csv \
    follow model onnx plan report shape
fi
printf '%s\n' "$@" | xargs -n 1 -P "$jobs" "$self" --one
if [ -e "$FUZZ_DIR/failed" ]; then
  echo "found something: $(sort "$FUZZ_DIR/failed" | tr '\n' ' ')" >&2
  exit 1
fi
