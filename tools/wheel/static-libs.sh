#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A folder of static libraries, from which the program of the wheel is linked:
# libxml2 by tools/static-libraries.sh, the others as the machine has them. Their licences lie beside them.
#
#   static-libs.sh FOLDER [CC]
#
# Exit status 77: the sources of libxml2 cannot be had here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cc=${2:-gcc}

bash "$here/../static-libraries.sh" native "$folder/built" || {
  [ $? -ne 3 ] || exit 77
  exit 1
}
ln -sf built/lib/libxml2.a "$folder"
cp "$folder/built/source/libxml2/debian/copyright" "$folder/xml2.copyright"

for name in gsl gslcblas jansson csv xxhash protobuf-c gomp; do
  # The compiler knows where its libraries are.
  archive=$($cc -print-file-name="lib$name.a")
  case $archive in
    /*) ln -sf "$archive" "$folder/lib$name.a" ;;
    *)
      echo "make wheel: no lib$name.a (Debian has it in the -dev package)" >&2
      exit 1
      ;;
  esac
  package=$(dpkg-query -S "$(readlink -f "$archive")" 2>/dev/null |
    sed -n '1s/[:,].*//p') || package=
  [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ] ||
    cp -L "/usr/share/doc/$package/copyright" "$folder/$name.copyright"
done
