#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Unpacks the sources of Debian packages into FOLDER/PACKAGE, by lists of its own:
# the machine's settings stay as they are. What is there already stays, too.
#
#   debian-source.sh FOLDER PACKAGE...
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
for package; do
  shift
  [ -d "$folder/$package" ] || set -- "$@" "$package"
done
[ $# -gt 0 ] || exit 0
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
[ -s "$work/sources.list" ] || {
  echo "debian-source: apt knows no repository of Debian; run apt-get update" >&2
  exit 1
}
# Downloading as oneself: the folder may be closed to apt's own user.
own() {
  apt-get -q -o Dir::Etc::SourceList="$work/sources.list" \
    -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}
{ own update && cd "$work" && own source --download-only "$@"; } \
  </dev/null >"$work/log" 2>&1 || {
  tail -n 5 "$work/log" >&2
  echo "debian-source: no sources of $*" >&2
  exit 1
}
for package; do
  dpkg-source --no-check -x "$work/$package"_*.dsc "$work/$package" >>"$work/log"
  mv "$work/$package" "$folder/$package"
done
