# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# For checks in chroots of a bare Debian (root, debootstrap), sourced with the
# arguments of the script: TAP, a mount namespace, a folder $work and a root $bare.
#
# DLEST_BARE_ROOT: such a root, made before

# skip_all REASON: nothing is checked.
skip_all() {
  echo "1..0 # SKIP $*"
  exit 0
}

# own_mounts ARGUMENT...: runs the script again where its mounts end with it.
own_mounts() {
  if [ "${DLEST_OWN_MOUNTS-}" != "$PPID" ]; then
    local program
    [ "$(id -u)" -eq 0 ] || skip_all 'needs root'
    for program in debootstrap unshare chroot; do
      command -v $program >/dev/null || skip_all "not installed: $program"
    done
    unshare --mount true 2>/dev/null || skip_all 'no mount namespace can be made'
    DLEST_OWN_MOUNTS=$PPID exec unshare --mount bash "$0" "$@"
  fi
  unset DLEST_OWN_MOUNTS
  mount --make-rprivate / 2>/dev/null || skip_all 'mounts cannot be made private'
  work=$(mktemp -d "${TMPDIR:-/var/tmp}/dlest-root.XXXXXX")
  trap remove_roots EXIT
}

remove_roots() {
  umount -l "$work"/*/proc "$work"/*/dev 2>/dev/null || true
  # Nothing below a mount that is still there is removed.
  grep -q " $work/" /proc/self/mounts || rm -rf "$work"
}

# bare_root CONTAINERFILE: a root in $bare of the release that its image has.
bare_root() {
  local mirror release
  bare=${DLEST_BARE_ROOT-}
  [ -z "$bare" ] || return 0
  bare=$work/bare
  mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' \
    'Created-By: Packages' 2>/dev/null | awk '$2 == "Debian" { print $1; exit }')
  [ -n "$mirror" ] || skip_all 'apt knows no repository of Debian'
  release=$(sed -n 's/^FROM .*debian:\([a-z]*\)-slim.*/\1/p' "$1" | head -n 1)
  debootstrap --variant=minbase --include=ca-certificates "$release" "$bare" \
    "$mirror" >"$work/log" 2>&1 || {
    tail -n 3 "$work/log" | sed 's/^/# /'
    skip_all 'debootstrap failed'
  }
}

# ok WHAT COMMAND...: one test, with the last lines of what the command said.
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

# done_testing: the plan, and the exit status.
done_testing() {
  echo "1..$n"
  exit "$failed"
}
