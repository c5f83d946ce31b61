#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The steps of contrib/container/Containerfile in chroots of a bare Debian (root,
# debootstrap), and the program as the container starts it. TAP.
#
#   check-container.sh TOP_SRCDIR
#
# DLEST_BARE_ROOT: such a root, made before
# shellcheck disable=SC2317 # functions that others call
set -euo pipefail
top=$(realpath "$1")
file=$top/contrib/container/Containerfile
skip() {
  echo "1..0 # SKIP $*"
  exit 0
}
if [ "${2-}" != inside ]; then
  [ "$(id -u)" -eq 0 ] || skip 'needs root'
  for program in debootstrap unshare chroot; do
    command -v $program >/dev/null || skip "not installed: $program"
  done
  unshare --mount true 2>/dev/null || skip 'no mount namespace can be made'
  exec unshare --mount bash "$0" "$1" inside
fi

mount --make-rprivate / 2>/dev/null || skip 'mounts cannot be made private'
work=$(mktemp -d "${TMPDIR:-/var/tmp}/dlest-container.XXXXXX")
cleanup() {
  umount -l "$work"/*/proc "$work"/*/dev 2>/dev/null || true
  # Nothing below a mount that is still there is removed.
  grep -q " $work/" /proc/self/mounts || rm -rf "$work"
}
trap cleanup EXIT

bare=${DLEST_BARE_ROOT-}
if [ -z "$bare" ]; then
  bare=$work/bare
  mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' \
    'Created-By: Packages' 2>/dev/null | awk '$2 == "Debian" { print $1; exit }')
  [ -n "$mirror" ] || skip 'apt knows no repository of Debian'
  # The release that the file names.
  release=$(sed -n '1,/^FROM/s/^FROM .*debian:\([a-z]*\)-slim.*/\1/p' "$file")
  debootstrap --variant=minbase --include=ca-certificates "$release" "$bare" \
    "$mirror" >"$work/log" 2>&1 || {
    tail -n 3 "$work/log" | sed 's/^/# /'
    skip 'debootstrap failed'
  }
fi

n=0 failed=0
ok() {
  local what=$1
  shift
  n=$((n + 1))
  if "$@" >"$work/said" 2>&1; then
    echo "ok $n - $what"
  else
    failed=1
    echo "not ok $n - $what"
    tail -n 20 "$work/said" | sed 's/^/# /'
  fi
}
steps() {
  python3 -B "$top/tests/container/build_in_chroot.py" "$@"
}
# The context: files under version control, or a tarball's.
mkdir "$work/context"
if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
  git -C "$top" ls-files -z | (cd "$top" && xargs -0 cp -a --parents -t "$work/context")
else
  (cd "$top" && tar cf - --exclude='./_*' .) | tar xf - -C "$work/context"
fi
ok 'its steps' steps "$file" "$work/context" "$bare" "$work"
[ $failed -eq 0 ] || { echo "1..$n"; exit 1; }

container() {
  steps --run "$work" "$@"
}
answers() {
  container predict resnet50 a100 -q -f json >"$work/answer" &&
    python3 -c 'import json, sys
x = json.load(open(sys.argv[1]))
assert len(x["estimates"]) >= 5 and x["recommended"] == "physical"
assert all(1e7 < e["energy_j"] < 1e9 for e in x["estimates"])' "$work/answer"
}
ok 'without arguments it prints help' \
  bash -c '[[ $("$@") == "Usage: dlest "* ]]' - python3 -B \
  "$top/tests/container/build_in_chroot.py" --run "$work"
ok 'an estimate' answers
root=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0])' \
  "$work/last.json")
cp "$top/data/examples/gpu-7.csv" "$top/data/examples/tiny-cnn.onnx" "$root/work"
ok 'a log of the folder' container extract gpu-7.csv
ok 'an ONNX file' container describe tiny-cnn.onnx
not_root() {
  local user
  user=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[1]["user"])' \
    "$work/last.json")
  [ "$(chroot --userspec="$user" "$root" id -u)" -ne 0 ] &&
    ! container predict resnet50 a100 -o /usr/share/dlest/x 2>/dev/null
}
ok 'not as root: it writes nothing outside' not_root
alone() {
  ! find "$root/source" "$root/build" "$root/usr/bin/gcc" 2>/dev/null | grep .
}
ok 'without compiler and sources' alone
echo "1..$n"
exit $failed
