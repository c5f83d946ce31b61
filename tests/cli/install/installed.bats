#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Where dlest finds its data: DLEST_DATADIR, beside the program, and where
# configure was told to install them.

load ../common

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DLEST_DATADIR DLEST_PATH
}

# data FOLDER TDP: dlest's data with one GPU of that power
data() {
  mkdir -p "$1/data" "$1/models"
  my_gpu "$(entry "$2")"
  mv my.xml "$1/data/accelerators.xml"
  touch "$1/models/physical.xml"
}

# program FOLDER: a copy of dlest there
program() {
  mkdir -p "$1"
  cp "$DLEST" "$1/dlest"
}

# takes TDP PROGRAM: the program uses the data with that power.
takes() {
  local tdp
  "$2" show gpu my -f json >out 2>err || { cat err; return 1; }
  tdp=$(jq '.values[] | select(.field == "tdp_w").value' out)
  [ "$tdp" = "$1" ] || { echo "$2 took $tdp in place of $1"; return 1; }
}

# answers PROGRAM: it estimates with the data that ship.
answers() {
  "$1" predict --arch resnet50 --gpu a100 -q -f json >out
  check '.recommended == "physical" and (.estimates | length) >= 5'
}

@test 'a build folder in place' {
  [ -f "${TOP_BUILDDIR-$(dirname "$DLEST")}/Makefile" ] || skip 'no build folder'
  answers "$DLEST"
}

@test 'an installation, moved and unpacked elsewhere' {
  program prefix/bin
  data prefix/share/dlest 111
  takes 111 prefix/bin/dlest
  mv prefix moved
  takes 111 moved/bin/dlest
  mkdir 'root of a package'
  mv moved 'root of a package/usr'
  takes 111 'root of a package/usr/bin/dlest'
  cd 'root of a package/usr/bin'
  takes 111 ./dlest
}

@test 'symbolic links to the program' {
  program prefix/bin
  data prefix/share/dlest 111
  mkdir -p home/bin home/share
  data home/share/dlest 222
  ln -s ../../prefix/bin/dlest home/bin/dlest
  ln -s "$PWD/home/bin/dlest" twice
  takes 111 home/bin/dlest
  takes 111 ./twice
  ln -s prefix linked
  takes 111 linked/bin/dlest
  PATH=$PWD/home/bin:$PATH takes 111 dlest
}

@test 'the build folder within a source tree, and elsewhere' {
  data tree 111
  program tree/_build
  takes 111 tree/_build/dlest
  mv tree copied
  takes 111 copied/_build/dlest
  program copied
  takes 111 copied/dlest
  # within another tree, with links to its own
  data other 222
  program other/_build
  ln -s "$PWD/copied/data" "$PWD/copied/models" other/_build
  takes 111 other/_build/dlest
}

@test 'an installation goes before the build folder' {
  data prefix 222
  data prefix/bin 333
  data prefix/share/dlest 111
  program prefix/bin
  takes 111 prefix/bin/dlest
  rm prefix/share/dlest/models/physical.xml
  takes 333 prefix/bin/dlest
}

@test 'folders that are not those of dlest do not count' {
  mkdir -p prefix/share/dlest/data prefix/data prefix/models prefix/bin/data
  program prefix/bin
  touch prefix/data/accelerators.csv prefix/models/physical.xml \
    prefix/bin/data/accelerators.xml
  status=0
  prefix/bin/dlest show gpu my >out 2>err || status=$?
  [ "$status" -ne 0 ]
  ! grep -qF "$PWD" err
}

@test 'DLEST_DATADIR goes before all of them' {
  data prefix/share/dlest 111
  program prefix/bin
  data mine 222
  DLEST_DATADIR=$PWD/mine takes 222 prefix/bin/dlest
  DLEST_DATADIR=mine takes 222 prefix/bin/dlest
  DLEST_DATADIR='' takes 111 prefix/bin/dlest
  DLEST_DATADIR=$PWD/nowhere run prefix/bin/dlest show gpu my
  [ "$status" -eq 1 ]
  [[ $output == "dlest: $PWD/nowhere/data/accelerators.xml: "* ]]
}

# The objects that depend on the prefix are compiled again, and no others.
@test 'configured again with another prefix: make install, make installcheck' {
  local build=${TOP_BUILDDIR-$(dirname "$DLEST")} name srcdir
  srcdir=$(sed -n 's/^srcdir = //p' "$build/Makefile" 2>/dev/null)
  case $srcdir in
    /*) ;;
    ..) ln -s "$(cd "$build/.." && pwd)"/* . && rm -f "${build##*/}" ;;
    *) skip 'no build folder in the source tree, nor configured by a full path' ;;
  esac
  mkdir copy
  for name in "$build"/*; do
    case ${name##*/} in
      _* | coverage | deb | dlest-* | fuzz | tests) ;;
      *) cp -a "$name" copy ;;
    esac
  done
  mkdir copy/tests
  cp -a "$build/tests/unit" copy/tests
  cd copy
  "$srcdir/configure" CC="$(sed -n 's/^CC = //p' Makefile)" \
    --prefix="$PWD/inst" >configure.log 2>&1 || { tail configure.log; false; }
  touch started
  make -s install >make.log 2>&1 || { tail make.log; false; }
  find src -name '*.o' -newer started >rebuilt
  [ "$(cat rebuilt)" = src/catalog/datadir.o ] || { cat rebuilt; false; }
  make -s installcheck
  answers inst/bin/dlest
  # alone, it finds them where they were installed
  mv inst/bin/dlest .
  mkdir -p ../alone/bin
  mv dlest ../alone/bin
  answers ../alone/bin/dlest
  mv inst moved
  DLEST=../alone/bin/dlest refuses 1 \
    "dlest: $PWD/inst/share/dlest/data/accelerators.xml: $(message cannot_open_data \
      'No such file or directory')" list gpus
}
