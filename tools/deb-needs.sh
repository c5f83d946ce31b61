#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Says which Debian packages `make deb` needs and this machine lacks: one line on
# standard error, and exit status 1. Run in the folder that holds debian/.
set -eu
missing=
if command -v dpkg-checkbuilddeps >/dev/null 2>&1; then
  missing=$(LC_ALL=C dpkg-checkbuilddeps 2>&1 |
    sed -n 's/([^)]*)//g; s/.*dependencies: *//p')
elif command -v dpkg-query >/dev/null 2>&1; then
  # Without dpkg-dev: the names that debian/control lists.
  for name in build-essential $(awk '
    /^[^ ]/ { on = /^Build-Depends:/; sub(/^[^:]*:/, "") }
    on { gsub(/<[^>]*>|\([^)]*\)|\|[^,]*/, ""); gsub(/[, ]+/, "\n"); print }
  ' debian/control); do
    case $name in debhelper-compat) name=debhelper ;; esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
      missing="$missing $name"
  done
else
  echo 'make deb: dpkg-buildpackage is missing: it needs Debian' >&2
  exit 1
fi
missing=$(echo $missing | sed 's/debhelper-compat/debhelper/')
[ -n "$missing" ] || exit 0
echo "make deb: missing packages: $missing; install them with:" \
  "apt-get install $missing" >&2
exit 1
