#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest --version: itself, its licence, and the libraries it runs with.

load ../common

# told NAME: the version of a library as dlest tells it
told() {
  "$DLEST" --version | sed -n '/^Libraries:/,$p' | tr '\n' ' ' |
    sed 's/^Libraries: //' | sed 's/, /\n/g' | sed -n "s/^$1 //p" | tr -d ' '
}

# agrees NAME MODULE: with what pkg-config knows of it
agrees() {
  pkg-config --exists "$2" || skip "pkg-config does not know $2"
  [ "$(told "$1")" = "$(pkg-config --modversion "$2")" ]
}

@test "program, copyright, licence, libraries" {
  gives 0 '' --version
  [ "$(sed -n 1p out)" = "dlest $(sed -n \
    's/^AC_INIT(\[dlest\], \[\([^]]*\)\].*/\1/p' "$TOP_SRCDIR/configure.ac")" ]
  [[ $(sed -n 2p out) == 'Copyright (C) '20??' the dlest authors' ]]
  [[ $(sed -n 3p out) == 'License GPLv3+: '* ]]
  grep -qx 'There is NO WARRANTY, to the extent permitted by law.' out
  grep -q '^Libraries: GSL ' out
  awk 'length($0) > 79 { exit 1 }' out
}

@test "the same with -V and of every command" {
  "$DLEST" --version >whole
  for words in -V 'predict --version' 'list -V' 'fit --version'; do
    # shellcheck disable=SC2086
    gives 0 '' $words
    cmp whole out
  done
}

@test "GSL as pkg-config prints it" {
  agrees GSL gsl
}

@test "libxml2 as pkg-config prints it" {
  agrees libxml2 libxml-2.0
}

@test "jansson as pkg-config prints it" {
  agrees jansson jansson
}

@test "xxHash as pkg-config prints it" {
  agrees xxHash libxxhash
}

@test "protobuf-c as pkg-config prints it" {
  [ -n "$(told protobuf-c)" ] || skip 'built without ONNX'
  agrees protobuf-c libprotobuf-c
}

@test "OpenBLAS as pkg-config prints it" {
  [ -n "$(told OpenBLAS)" ] || skip 'built without OpenBLAS'
  agrees OpenBLAS openblas
}

@test "the version says when OpenBLAS is not used" {
  ! ldd "$DLEST" | grep -q libasan || skip 'a sanitizer takes its own memory'
  (
    ulimit -v 8000000 # under a limit it is not
    "$DLEST" --version >out
  )
  [ "$(tr '\n' ' ' <out | grep -c 'BLAS of GSL (no threaded libopenblas.so.0')" \
    -eq 1 ]
  ! grep -q 'OpenBLAS [0-9]' out || false
}

@test "libcsv as its header states it" {
  command -v cc >/dev/null || skip 'no cc'
  [ -n "$(told libcsv)" ] || skip 'built without libcsv'
  printf '#include <csv.h>\nCSV_MAJOR.CSV_MINOR.CSV_RELEASE\n' >version.c
  [ "$(told libcsv)" = "$(cc -E -P version.c | tail -n 1 | tr -d ' ')" ]
}
