#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The steps of contrib/container/Containerfile in chroots of a bare Debian (root,
# debootstrap), and the program as the container starts it. TAP.
#
#   check-container.sh TOP_SRCDIR
# shellcheck disable=SC2317 # functions that others call
set -euo pipefail
top=$(realpath "$1")
file=$top/contrib/container/Containerfile
# shellcheck source=tests/container/roots.bash
source "$top/tests/container/roots.bash"
own_mounts "$@"
bare_root "$file"
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
[ "$failed" -eq 0 ] || done_testing

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
done_testing
