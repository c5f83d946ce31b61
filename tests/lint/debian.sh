#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# debian/ says the same as the rest of the tree. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | sed 's/^/# /'; fi
}

echo 1..5
version=$(sed -n 's/^AC_INIT(\[dlest\], \[\([^]]*\)\].*/\1/p' configure.ac)
packaged=$(sed -n '1s/^dlest (\([^)]*\)-[0-9]*).*/\1/p' debian/changelog)
ok 'the package has the version of configure.ac' \
  "$([ "$version" = "$packaged" ] || echo "$packaged, not $version")"

# What bootstrap installs, but for what every Debian package is built with and
# what debhelper brings.
given=' autoconf automake gcc make libc6-dev '
needs=$(awk "/^needs='/ { on = 1; sub(/^needs='/, \"\") }
  on { for (i = 1; i <= NF; i++) { split(\$i, part, \":\"); print part[1] } }
  on && /'\$/ { exit }" bootstrap)
built=$(awk '/^Build-Depends:/ { on = 1; next } /^[^ ]/ { on = 0 }
  on { sub(/,.*/, ""); print $1 }' debian/control)
ok 'bootstrap tells its packages' \
  "$([ "$(echo "$needs" | wc -l)" -ge 15 ] || echo "$needs")"
ok 'what bootstrap installs is in Build-Depends' "$(for p in $needs; do
  case $given in *" $p "*) continue ;; esac
  echo "$built" | grep -qxF -e "$p" || echo "$p"; done)"

ok 'debian/copyright speaks of files that are there' \
  "$(sed -n 's/^Files: //p' debian/copyright | while read -r pattern; do
    # shellcheck disable=SC2086
    ls -d $pattern >/dev/null 2>&1 || echo "$pattern"; done)"
ok 'the scripts of the package are executable and stop at errors' \
  "$(for f in debian/rules debian/tests/estimate debian/tests/python; do
    [ -x "$f" ] || echo "$f: not executable"; done
  grep -q '^set -euo pipefail$' debian/tests/estimate || echo 'no set -e')"
