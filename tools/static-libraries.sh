#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries that dlest needs, static and for another C library, from Debian's
# source packages:
#   tools/static-libraries.sh emscripten|musl|native FOLDER
# native is for this machine: libxml2 without ICU, which Debian's static library needs.
# Exits with 3 if the sources cannot be fetched. FOLDER/source keeps the sources,
# FOLDER/lib and FOLDER/include what is built. What is there already is neither
# fetched nor built again.
set -euo pipefail
kind=$1
mkdir -p "$2/source" "$2/lib" "$2/include"
to=$(cd "$2" && pwd)
export CFLAGS="-O2 -w" PKG_CONFIG_LIBDIR=$to/lib/pkgconfig
packages=(jansson libcsv libxml2 protobuf-c xxhash gsl cmocka)
more_xml=()
case $kind in
emscripten)
  # Debian's compiler loads its JavaScript parser from there.
  export NODE_PATH=/usr/share/nodejs NODE_OPTIONS=--no-experimental-fetch
  export CC=emcc AR=emar RANLIB=emranlib
  host=wasm32-unknown-linux
  ;;
musl)
  export CC=musl-gcc AR=ar RANLIB=ranlib
  host=$(uname -m)-linux-musl
  # Without libcsv: here dlest's own parser is tried.
  packages=(jansson libxml2 protobuf-c xxhash gsl cmocka)
  # The kernel's headers, which musl has none of.
  ln -sfn /usr/include/linux "$to/include/linux"
  ln -sfn /usr/include/asm-generic "$to/include/asm-generic"
  ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$to/include/asm"
  ;;
native)
  export CC=gcc AR=ar RANLIB=ranlib CFLAGS="-O2 -w -fPIC"
  host=$(gcc -dumpmachine)
  packages=(libxml2) more_xml=(--with-iconv --with-threads)
  ;;
*)
  echo "static-libraries.sh: no compiler for $kind" >&2
  exit 2
  ;;
esac

configured() {
  [ -x configure ] || autoreconf -fi
  [ -e Makefile ] ||
    ./configure --quiet --host="$host" --prefix="$to" --disable-shared "$@"
}

# small FILE HEADER LIBRARY: a library of one file.
small() {
  "$CC" $CFLAGS -c "$1" -o small.o
  "$AR" rc "$to/lib/lib$3.a" small.o
  mkdir -p "$to/include/$(dirname "$2")"
  cp "$(basename "$2")" "$to/include/$2"
}

# described NAME LIBRARY: a file for pkg-config, with the version of the package.
described() {
  mkdir -p "$to/lib/pkgconfig"
  printf '%s\n' "Name: $1" "Description: $1" \
    "Version: $(dpkg-parsechangelog -S Version | sed 's/[-+].*//')" \
    "Cflags: -I$to/include" "Libs: -L$to/lib -l$2" >"$to/lib/pkgconfig/$1.pc"
}

build_jansson() {
  configured
  make -s -j2 -C src install
  make -s install-pkgconfigDATA
}

build_libcsv() {
  small libcsv.c csv.h csv
}

# For unit tests; its own way to be built is CMake.
build_cmocka() {
  described cmocka cmocka
  # Else it defines uintptr_t by itself, to another type than wasm's.
  grep -q '^#define _UINTPTR_T$' include/cmocka.h ||
    sed -i '1i #define _UINTPTR_T' include/cmocka.h
  "$CC" $CFLAGS -Iinclude -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_STRINGS_H \
    -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_REALTIME -DHAVE_CLOCK_GETTIME \
    -c src/cmocka.c -o small.o
  "$AR" rc "$to/lib/libcmocka.a" small.o
  cp include/cmocka.h "$to/include/"
}

build_xxhash() {
  small xxhash.c xxhash.h xxhash
  described libxxhash xxhash
}

build_protobuf-c() {
  described libprotobuf-c protobuf-c
  cd protobuf-c
  small protobuf-c.c protobuf-c/protobuf-c.h protobuf-c
}

# Trees, SAX, writing, RELAX NG: no network, no compression, no tables of
# characters but UTF-8 and Latin-1.
build_libxml2() {
  # Its configure was made by another automake than its Makefile.in.
  [ -e Makefile ] || autoreconf -fi
  configured --with-minimum --with-tree --with-sax1 --with-output --with-push \
    --with-valid --with-pattern --with-regexps --with-schemas --with-xpath \
    --with-reader --without-zlib --without-lzma "${more_xml[@]}"
  make -s -j2 libxml2.la
  make -s install-libLTLIBRARIES install-pkgconfigDATA
  make -s -C include install
}

# The folders behind the functions that dlest and its tests call, in one library.
build_gsl() {
  local folder folders=(sys err complex block vector matrix permutation cblas
    blas linalg sort statistics cdf specfunc randist rng interpolation poly
    multifit utils)
  described gsl gsl
  configured
  make -s -C gsl
  mkdir -p "$to/include/gsl"
  cp -L gsl/*.h "$to/include/gsl/"
  for folder in "${folders[@]}"; do
    case $folder in
    utils) make -s -j2 -C "$folder" libutils.la ;;
    err) make -s -j2 -C "$folder" libgslerr.la ;;
    *) make -s -j2 -C "$folder" "libgsl$folder.la" ;;
    esac
  done
  "$CC" $CFLAGS -I. -c version.c -o version.o
  # Members of several folders have one name: they are appended.
  rm -f "$to/lib/libgsl.a"
  find "${folders[@]}" version.o -name '*.o' ! -path '*/.libs/*' -print0 |
    xargs -0 "$AR" qc "$to/lib/libgsl.a"
  "$RANLIB" "$to/lib/libgsl.a"
}

"$(dirname "$0")/debian-source.sh" "$to/source" "${packages[@]}" || exit 3
for package in "${packages[@]}"; do
  [ ! -e "$to/$package.built" ] || continue
  # In the background: bash would ignore errors within a command before ||.
  (cd "$to/source/$package" && "build_$package") >>"$to/$package.log" 2>&1 &
  wait $! || {
    tail -n 20 "$to/$package.log" >&2
    echo "static-libraries.sh: $package cannot be built: $to/$package.log" >&2
    exit 1
  }
  touch "$to/$package.built"
done
