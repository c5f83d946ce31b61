#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian packages: built from the tarball, looked at by lintian, installed on a
# bare Debian and tried there (root, debootstrap). TAP.
#
#   check-deb.sh TOP_SRCDIR TOP_BUILDDIR
#
# DEB_BUILD_OPTIONS: nocheck unless given; empty, the tests run in the package too
# shellcheck disable=SC2317 # functions that others call
set -euo pipefail
top=$(realpath "$1") build=$(realpath "$2")
export DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-nocheck}
# shellcheck source=tests/container/roots.bash
source "$top/tests/container/roots.bash"
for program in dh lintian dpkg-buildpackage; do
  command -v $program >/dev/null || skip_all "not installed: $program"
done
missing=$(cd "$top" && sh tools/deb-needs.sh 2>&1) || skip_all "$missing"
own_mounts "$@"
bare_root "$top/tests/package/Containerfile"

steps() {
  python3 -B "$top/tests/container/build_in_chroot.py" "$@"
}
made() {
  make -s -C "$build" deb DEBFLAGS=-F
}
quiet() {
  cd "$build/deb" &&
    lintian --allow-root --fail-on error,warning -EviI --pedantic ./*.changes
}
installed() {
  mkdir -p "$work/context"
  cp -r "$top/debian/tests" "$work/context/tests"
  mkdir "$work/context/packages"
  cp "$build"/deb/*.deb "$work/context/packages"
  steps "$top/tests/package/Containerfile" "$work/context" "$bare" "$work"
}
ok 'packages of the program and of Python, and their source' made
[ "$failed" -eq 0 ] || done_testing
ok 'lintian finds nothing' quiet
ok 'they are installed on a bare Debian' installed
[ "$failed" -eq 0 ] || done_testing
ok 'the program as installed' steps --run "$work" /packages/estimate
ok 'the Python package as installed' steps --run "$work" /packages/python
done_testing
