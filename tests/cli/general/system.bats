#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What the system may do: locales, files, signals.

load ../common

# Turkish has two pairs of I: its strcasecmp("INFERENCE", "inference") is not 0.
@test "a locale with Turkish letters" {
  printf '%s\n' arch,gpu,phase,requests,batch_size,train_samples,precision \
    INCEPTION_V3,a100,INFERENCE,1000,64,1000,INT8 >runs.csv
  run=(predict --input runs.csv --method flops --format csv -q)
  show=(show arch INCEPTION_V3)
  LC_ALL=C
  gives 0 '' "${run[@]}"
  cp out run.C
  gives 0 '' "${show[@]}"
  cp out show.C
  needs_turkish_case
  gives 0 '' "${run[@]}"
  cmp out run.C
  gives 0 '' "${show[@]}"
  cmp out show.C
}

# Each name was once compared with all others: 100,000 columns took 98 s.
@test "tables with many columns" {
  seq -f c%g -s , 60000 >names
  yes 1 | head -n 60000 | paste -sd , >ones
  { printf 'arch,gpu,batch_size,train_samples,epochs,'; cat names; } >runs.csv
  { printf 'resnet50,a100,64,1000,2,'; cat ones; } >>runs.csv
  run timeout 10 "$DLEST" predict --input runs.csv --method tdp --format csv
  [ "$status" -eq 0 ]
  { printf 'log,gpu,'; cat names; } >settings.csv
  { printf 'smi.csv,a100,'; cat ones; } >>settings.csv
  for second in 01 02 03 04; do
    echo "2022/12/05 09:00:$second.000, 0, 100.00 W, 90 %"
  done | sed '1i timestamp, index, power.draw [W], utilization.gpu [%]' >smi.csv
  run timeout 10 "$DLEST" extract smi.csv --settings settings.csv
  [ "$status" -eq 0 ]
}

# Output files

LIST=(list grids -q)

@test "-o: a file keeps its permissions, a new one has those of umask" {
  "$DLEST" "${LIST[@]}" >expected
  for mode in 600 640 666; do
    echo old >out.txt
    chmod "$mode" out.txt
    gives 0 '' "${LIST[@]}" -o out.txt
    [ "$(stat -c %a out.txt)" = "$mode" ]
    cmp out.txt expected
  done
  (umask 027 && "$DLEST" "${LIST[@]}" -o new.txt)
  [ "$(stat -c %a new.txt)" = 640 ]
}

@test "-o: symbolic links are followed" {
  "$DLEST" "${LIST[@]}" >expected
  mkdir there
  echo old >there/target
  ln -s there/target link
  ln -s ../link there/second
  ln -s there/none dangling
  gives 0 '' "${LIST[@]}" -o there/second
  cmp there/target expected
  [ -L link ]
  [ -L there/second ]
  gives 0 '' "${LIST[@]}" -o dangling
  cmp there/none expected
  ln -s round round
  refuses 1 "dlest: round: $(message cannot_write \
    'Too many levels of symbolic links')" "${LIST[@]}" -o round
}

@test "-o: names as long as a file system takes" {
  for n in 248 249 255; do
    name=$(printf 'n%.0s' $(seq "$n"))
    gives 0 '' "${LIST[@]}" -o "$name"
    [ -s "$name" ]
    rm "$name"
  done
  [ -z "$(find . -name 'nnn*')" ]
  refuses 1 "dlest: n$name: $(message cannot_write 'File name too long')" \
    "${LIST[@]}" -o "n$name"
}

# Waits in the middle of a table (blocks are 1 MiB), with a temporary file beside
# the output.
@test "-o: a signal leaves the old file and nothing else" {
  mkfifo pipe
  mkdir there
  for signal in INT TERM HUP QUIT PIPE XCPU; do
    echo old >there/out.csv
    { echo arch,gpu,epochs; yes resnet50,a100,1 | head -n 100000
      exec sleep 60; } >pipe &
    try_status=0
    timeout --preserve-status -s "$signal" 0.7 "$DLEST" predict --input pipe \
      --method tdp --duration 1h -q -o there/out.csv --format csv ||
      try_status=$?
    kill $! && wait || true
    [ "$try_status" -eq $((128 + $(kill -l "$signal"))) ]
    [ "$(ls there)" = out.csv ]
    [ "$(cat there/out.csv)" = old ]
  done
}

@test "-o: a limit on the size of files leaves the old file" {
  mkdir there
  echo old >there/out
  try_status=0
  (ulimit -f 2 && exec "$DLEST" list archs -q -o there/out) || try_status=$?
  [ "$try_status" -eq $((128 + $(kill -l XFSZ))) ]
  [ "$(ls there)" = out ]
  [ "$(cat there/out)" = old ]
}

# The program as built

@test "hardening: what the compiler offered is in the program" {
  makefile=${TOP_BUILDDIR-$(dirname "$DLEST")}/Makefile
  [ -f "$makefile" ] && command -v readelf >/dev/null || skip "no build folder"
  flags=$(grep -E '^HARDENING_(C|LD)FLAGS =' "$makefile")
  readelf -hlWd "$DLEST" >elf
  nm -D "$DLEST" >symbols
  found=
  has() { case $flags in *"$1"*) found=yes ;; *) return 1 ;; esac; }
  if has -pie; then grep -q 'Type: *DYN' elf; fi
  if has -z,now; then grep -q GNU_RELRO elf && grep -qw NOW elf; fi
  if has -fstack-protector; then grep -q __stack_chk_fail symbols; fi
  if has _FORTIFY_SOURCE; then grep -q '__[a-z]*printf_chk' symbols; fi
  # The linker drops the mark where the C library's own start files lack it.
  if has -fcf-protection && [ "$(uname -m)" = x86_64 ]; then
    readelf -nW "${makefile%/*}/libdlest.a" >notes
    [ "$(grep -c 'IBT, SHSTK' notes)" -eq "$(grep -c '^File: ' notes)" ]
  fi
  [ -n "$found" ] || skip "built without hardening"
}

# dlest record --serve listens on an address that is given in figures; nothing
# is connected to, and no name is looked up.
@test "no function of the network is linked, beyond those that listen" {
  ! nm -D --undefined-only "$DLEST" | sed 's/.* //; s/@.*//' | grep -qxE \
    'socketpair|connect|accept4?|getaddrinfo|gethostby.*|send(to|msg|mmsg)?|recv(from|msg|mmsg)?|res_.*'
}

# OpenBLAS tries for ever to get memory that a limit denies.
@test "fits end under a limit of memory" {
  awk 'BEGIN { srand(1); print "a,b,y"
    for (i = 0; i < 300; i++) {
      a = rand(); b = rand(); print a "," b "," a + 2 * b } }' >runs.csv
  for kib in 100000 200000 400000; do
    (ulimit -v "$kib" && exec timeout 20 "$DLEST" fit runs.csv --target y \
      --features a,b --method krr --search random:4 --cv kfold:5 -q --no-model \
      >out)
    grep -q '^Basis  krr on 300 runs' out
  done
}

# Memory

# malloc_failures.py --every tries each allocation of each command.
@test "an allocation that fails: out of memory, or the same result" {
  library=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/faults/failing_malloc.so
  [ -f "$library" ] && command -v python3 >/dev/null || skip "no python3"
  ! nm -D "$DLEST" | grep -q __asan_init || skip "sanitizers have their own"
  for libraries in '' --all; do
    python3 -B "$TOP_SRCDIR/tests/faults/malloc_failures.py" "$DLEST" \
      "$library" "$TOP_SRCDIR" --seed 1 --runs 130 $libraries
  done
}

# Files that are read

# data_without FILE...: a data folder that lacks these, in $DLEST_DATADIR
data_without() {
  local lacking
  rm -rf data
  mkdir -p data/data data/models
  ln -s "$DLEST_DATADIR"/data/* data/data
  ln -s "$DLEST_DATADIR"/models/* data/models
  for lacking; do rm "data/$lacking"; done
  DLEST_DATADIR=$PWD/data
}

@test "fit reads auxiliary data only for a physical fit" {
  head -21 "$DLEST_DATADIR/data/examples/runs.csv" >runs.csv
  data_without data/training-means.csv
  for method in krr ridge ols; do
    gives 0 '' fit runs.csv --method "$method" --no-model -q
  done
  gives 0 '' fit runs.csv --target gpu_power_w --features gpu.tdp_w \
    --no-model -q
  try fit runs.csv --method physical --no-model -q
  [ "$status" -eq 1 ]
  grep -qF training-means.csv err
}

# without FILE... -- ARG...: the answer is the same where these files are absent
without() {
  local lacking=()
  while [ "$1" != -- ]; do lacking+=("$1"); shift; done
  shift
  (data_without && try "$@" && [ "$status" -eq 0 ] && mv out all && mv err errors)
  (data_without "${lacking[@]}" && gives 0 "$(cat errors)" "$@" && diff all out)
}

@test "predict and recommend load the models of their jobs alone" {
  images=models/physical.xml
  serving=models/inference.xml
  language=models/language.xml
  requests=(--phase inference --prompt-tokens 100 --output-tokens 100)
  for command in 'predict --gpu a100' 'predict --gpu a100,h100' recommend; do
    without "$serving" "$language" -- $command --arch resnet50 -f json
    without "$serving" "$images" -- $command --arch llama-2-7b \
      --tokens 1e9 -f json
    without "$language" "$images" -- $command --arch llama-2-7b \
      "${requests[@]}" -f json
  done
  without "$serving" "$language" -- predict --gpu a100 --arch resnet50 \
    --phase inference --requests 1000 -f json
  # Rows without a phase are trainings.
  table arch,gpu,tokens resnet50,a100, llama-2-7b,a100,1e9
  without "$serving" -- predict --input runs.csv -f json
  # Not so where a name may be another network's, and in fp64.
  data_without "$language"
  try predict --arch mine --alias mine=llama-2-7b --gpu a100 --tokens 1e9
  [ "$status" -eq 1 ]
}
