#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Unpacks the source package of a Debian package into FOLDER/PACKAGE, by lists of
# its own: the machine's settings stay as they are.
#
#   debian-source.sh PACKAGE FOLDER
set -eu
package=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
[ ! -d "$folder/$package" ] || exit 0
for program in apt-get dpkg-source; do
  command -v $program >/dev/null || {
    echo "debian-source: $program is missing; it needs Debian (dpkg-dev)" >&2
    exit 1
  }
done

work=$(mktemp -d "$folder/apt.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
# The repositories of Debian that the machine takes binary packages from.
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' \
  'Created-By: Packages' | awk '$4 == "Debian" && !seen[$0]++ {
    print "deb-src", $1, $2, $3 }' >"$work/sources.list"
if [ ! -s "$work/sources.list" ]; then
  # Never updated: the archive's usual address.
  . /etc/os-release
  echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" \
    >"$work/sources.list"
fi
# Downloading as oneself: the folder may be closed to apt's own user.
own() {
  apt-get -q -o Dir::Etc::SourceList="$work/sources.list" \
    -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}
{ own update && cd "$work" && own source "$package"; } \
  </dev/null >"$work/log" 2>&1 || {
  tail -n 5 "$work/log" >&2
  echo "debian-source: no source of $package" >&2
  exit 1
}
for unpacked in "$work"/*/; do
  [ ! -d "$unpacked/debian" ] || mv "$unpacked" "$folder/$package"
done
[ -d "$folder/$package" ]
