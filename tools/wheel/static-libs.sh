#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A folder of static libraries, from which the program of the wheel is linked:
# libxml2 built without ICU and compression from Debian's source package (or the
# unpacked sources in LIBXML2_SOURCE), the others as the machine has them.
#
#   static-libs.sh FOLDER [CC]
#
# Exit status 77: the sources of libxml2 cannot be had here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cc=${2:-gcc}
fail() {
  echo "make wheel: $*" >&2
  exit 1
}

if [ ! -f "$folder/libxml2.a" ]; then
  source=${LIBXML2_SOURCE:-$folder/source/libxml2}
  [ -d "$source" ] || "$here/../debian-source.sh" libxml2 "$folder/source" ||
    exit 77
  rm -rf "$folder/build" && mkdir "$folder/build" && cd "$folder/build"
  # Trees, validation by RELAX NG and encodings are all that src/io uses.
  { "$source/configure" CC="$cc" CFLAGS='-O2 -fPIC' --disable-shared --quiet \
      --with-minimum --with-tree --with-sax1 --with-output --with-push \
      --with-pattern --with-regexps --with-schemas --with-xpath --with-reader \
      --with-threads --with-iconv --without-lzma --without-zlib &&
    make -s -j "${JOBS:-2}" AUTOMAKE=: AUTOCONF=: ACLOCAL=: AUTOHEADER=: \
      libxml2.la
  } >"$folder/libxml2.log" 2>&1 </dev/null ||
    { tail -n 5 "$folder/libxml2.log" >&2; fail 'libxml2 was not built'; }
  cp "$source/Copyright" "$folder/libxml2.copyright" 2>/dev/null ||
    cp "$source/debian/copyright" "$folder/libxml2.copyright"
  cp .libs/libxml2.a "$folder"
fi

for name in gsl gslcblas jansson csv xxhash protobuf-c gomp; do
  # The compiler knows where its libraries are.
  archive=$($cc -print-file-name="lib$name.a")
  case $archive in
    /*) ln -sf "$archive" "$folder/lib$name.a" ;;
    *) fail "there is no lib$name.a (Debian has it in the -dev package)" ;;
  esac
  # Its licence comes along.
  package=$(dpkg-query -S "$(readlink -f "$archive")" 2>/dev/null |
    sed -n '1s/[:,].*//p') || package=
  [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ] ||
    cp -L "/usr/share/doc/$package/copyright" "$folder/$name.copyright"
done
