#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a cmocka program and makes good TAP of its output: cmocka reports a
# skipped test as "not ok N # SKIP", and says nothing of a sanitizer's find at
# the end.
set -eu
{ s=0; "$@" || s=$?; echo "exit status $s"; } | awk '
  /^exit status / {
    if ($3 != 0 && !failed)
      print "Bail out! " $0
    next
  }
  /^not ok .*# SKIP/ { sub(/^not ok/, "ok") }
  /^not ok/ { failed = 1 }
  { print }'
