#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds dlest with another C library, or as WebAssembly for a page and for Node.js,
# and runs tests with what was built. TAP. Skips what cannot be installed.
#
#   check-port.sh musl|wasm TOP_BUILDDIR
set -euo pipefail
kind=$1
build=$(realpath "$2")
top=$(cd "$(dirname "$0")/../.." && pwd)

skip_all() { echo "1..0 # SKIP $1"; exit 0; }
needs() {
  local program
  for program in "${@:2}"; do
    command -v "$program" >/dev/null || skip_all "no $program (Debian: $1)"
  done
}
all_unit_tests() {
  sed -n '/^UNIT_TESTS = /,/[^\\]$/p' "$top/tests/local.mk" |
    sed 's/^UNIT_TESTS =//; s/\\$//' | xargs
}
needs 'apt dpkg-dev' apt-get dpkg-source
cli='tests/cli/predict/predict-table.test tests/cli/predict/known-table.test
  tests/cli/recommend/recommend-table.test tests/cli/logs/extract-table.test
  tests/cli/fit/fit-table.test'
case $kind in
musl)
  needs musl-tools musl-gcc
  script=build-musl.sh
  cli="$cli tests/cli/predict/predict.bats tests/cli/predict/input.bats
    tests/cli/recommend/recommend.bats tests/cli/logs/extract-logs.bats
    tests/cli/fit/means.bats"
  unit=$(all_unit_tests)
  links=()
  ;;
wasm)
  needs 'emscripten nodejs' emcc node
  script=build-web.sh
  # All but those of pipes, child processes and terminals, which it has none of.
  unit=$(all_unit_tests | xargs -n 1 | grep -vE \
    'test_(file|lines|plot_kinds|process_tree|render)$' | xargs)
  export NODE_PATH=/usr/share/nodejs NODE_OPTIONS=--no-experimental-fetch
  # Without optimization of what is linked, which takes 20 s a program.
  flags="-sNODERAWFS -sEXIT_RUNTIME -sALLOW_MEMORY_GROWTH"
  links=(CFLAGS=-O0 LOG_COMPILER="bash $top/tests/run-unit.sh node"
    AM_LDFLAGS="$flags --pre-js $top/tests/ports/node.js")
  ;;
*)
  echo "usage: check-port.sh musl|wasm TOP_BUILDDIR" >&2
  exit 2
  ;;
esac

log=$build/check-$kind.log
status=0
"$top/tools/$script" "$build" >"$log" 2>&1 || status=$?
[ "$status" -ne 3 ] || skip_all "$(tail -n 1 "$log")"
if [ "$status" -ne 0 ]; then
  tail -n 30 "$log" | sed 's/^/# /'
  echo "not ok 1 - $script"
  echo 1..1
  exit 1
fi
echo "ok 1 - $script"

cli=$(xargs <<<"$cli")
# No libraries to preload (check_DATA): they are for the C library of the system.
cd "$build/$kind/dlest"
rm -f dlest dlest.wasm
make -s -k -j2 dlest "${links[@]}" >>"$log" 2>&1 || :
if [ "$kind" = wasm ] && [ -s dlest ]; then
  sed -i '1i #!/usr/bin/env node' dlest
  chmod +x dlest
fi
make -s -k -j2 check TESTS="$unit $cli" check_PROGRAMS="$unit" check_DATA= \
  "${links[@]}" >>"$log" 2>&1 || status=1
n=1
for test in $unit $cli; do
  n=$((n + 1))
  found=$(sed 's/\.[a-z]*$//' <<<"$test").log
  if [ -s "$found" ] && grep -q '^ok ' "$found" &&
    ! grep -qE '^(not ok|Bail out)' "$found"; then
    echo "ok $n - $test: $(grep -c '^ok ' "$found")"
  else
    echo "not ok $n - $test"
    { grep -A 12 -E '^(not ok|Bail out)' "$found" 2>&1 || :; } |
      head -n 60 | sed 's/^/# /'
    status=1
  fi
done
[ "$status" -eq 0 ] || tail -n 20 "$log" | sed 's/^/# /'
echo "1..$n"
exit "$status"
