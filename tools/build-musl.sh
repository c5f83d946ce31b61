#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds dlest with musl in place of the GNU C library, by Debian's musl-tools and
# libraries from Debian's source packages, but without libcsv:
#   tools/build-musl.sh FOLDER
# FOLDER/musl/dlest is configured as any build folder.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/musl/dlest"
libraries=$(cd "$1/musl" && pwd)
"$top/tools/static-libraries.sh" musl "$libraries"

export PKG_CONFIG_LIBDIR=$libraries/lib/pkgconfig
cd "$libraries/dlest"
[ -e config.status ] ||
  CC=musl-gcc CPPFLAGS=-I$libraries/include LDFLAGS=-L$libraries/lib \
    "$top/configure" --quiet --with-onnx --without-openblas --without-libcsv \
    --disable-hardening --disable-openmp --enable-werror CFLAGS=-O2
make -s -j2 dlest libdlest.a
