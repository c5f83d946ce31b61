#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The web page in a headless Chromium against the command line. TAP.
#
#   check-page.sh DLEST TOP_SRCDIR FOLDER
#
# FOLDER is the page that 'make web' builds. Where it is absent, the page of the
# sources is tested with the native program in the place of the engine. axe-core
# comes by npm unless AXE names axe.min.js.
set -euo pipefail
dlest=$(realpath "$1")
top=$(realpath "$2")
page=$3
skip() {
  echo "1..0 # SKIP $1"
  exit 0
}
command -v node >/dev/null || skip 'not installed: node (Debian: nodejs)'
command -v "${CHROMIUM:-chromium}" >/dev/null || skip 'not installed: chromium'
node -e 'process.exit(+(parseInt(process.versions.node) < 18))' ||
  skip 'node is older than version 18'

work=$(mktemp -d "${TMPDIR:-/tmp}/dlest-page.XXXXXX")
trap 'rm -rf "$work"' EXIT
if [ ! -e "$page/dlest.wasm" ]; then
  page=$work/page
  mkdir "$page"
  cp "$top"/web/* "$page"
  node "$top/tools/web-offline.js" "$page"
fi
axe=${AXE-$work/node_modules/axe-core/axe.min.js}
[ -e "$axe" ] || ! command -v npm >/dev/null ||
  timeout 120 npm install --silent --no-save --prefix "$work" axe-core@4.10.2 \
    >/dev/null 2>&1 || echo '# axe-core cannot be installed'
node "$top/tests/web/check-page.mjs" "$page" "$dlest" "$top" \
  "$top/tests/web/inputs" "$axe"
