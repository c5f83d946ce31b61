#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the web page's engine: dlest as WebAssembly with its data, by Debian's
# emscripten and libraries from Debian's source packages:
#   tools/build-web.sh FOLDER
# FOLDER/wasm is where it is built. FOLDER/web has the page: the files of web/,
# dlest.wasm and dlest-data.txt, and engine.js with Emscripten's part before it.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/wasm/dlest" "$1/web"
libraries=$(cd "$1/wasm" && pwd)
web=$(cd "$1/web" && pwd)
"$top/tools/static-libraries.sh" emscripten "$libraries"

# Debian's compiler loads its JavaScript parser from there.
export NODE_PATH=/usr/share/nodejs NODE_OPTIONS=--no-experimental-fetch
export PKG_CONFIG_LIBDIR=$libraries/lib/pkgconfig
cd "$libraries/dlest"
[ -e config.status ] ||
  CC=emcc AR=emar RANLIB=emranlib CPPFLAGS=-I$libraries/include \
    LDFLAGS=-L$libraries/lib "$top/configure" --quiet --prefix=/usr \
    --host=wasm32-unknown-linux --with-onnx --without-openblas \
    --disable-hardening --disable-openmp CFLAGS=-Os

# No threads and no shared memory, which servers would have to allow by headers.
rm -f dlest dlest.js dlest.wasm
make -s -j2 dlest.js EXEEXT=.js AM_LDFLAGS="-Os -sMODULARIZE -sEXPORT_ES6 \
  -sEXPORT_NAME=createDlest -sENVIRONMENT=web,worker -sINVOKE_RUN=0 \
  -sEXIT_RUNTIME -sFORCE_FILESYSTEM -sALLOW_MEMORY_GROWTH \
  -sEXPORTED_RUNTIME_METHODS=FS,callMain --extern-post-js $top/web/engine.js"
cp "$top"/web/* dlest.wasm "$web"
cp dlest.js "$web/engine.js"
node "$top/tools/pack-data.js" "$top" "$web/dlest-data.txt"
node "$top/tools/web-offline.js" "$web"
node "$top/tools/sizes.js" "$web"
