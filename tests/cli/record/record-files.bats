#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of dlest record: no trace of two recorders, FIFOs, what a killed recorder
# leaves, marks. GPU 0 draws 200 W (tests/record/fake_nvml.c).

load ../common
load record

# short ARG...: half a second of samples of one GPU
short() {
  FAKE_NVML_GPUS=1 "$DLEST" record --interval 50ms -q "$@"
}

@test '--trace: a file that holds something is replaced with --force only' {
  echo kept >t.csv
  refuses 3 "dlest: t.csv: $(message record_file_exists)" record --trace t.csv \
    -- touch started
  [ "$(cat t.csv)" = kept ]
  [ ! -e started ]
  [ ! -e t-epochs.csv ]
  FAKE_NVML_GPUS=1 gives 0 '' record -q --trace t.csv --force -- true
  grep -q '^# dlest record' t.csv
  # its epochs as well
  rm t.csv
  echo kept >t-epochs.csv
  refuses 3 "dlest: t-epochs.csv: $(message record_file_exists)" record \
    --trace t.csv -- touch started
  [ "$(cat t-epochs.csv)" = kept ]
  [ ! -e t.csv ]
  [ ! -e started ]
  misused record "$(message has_no_effect_without force trace)" --force -- true
  # an empty file, as mktemp makes it, and a link to a new one
  : >empty.csv
  FAKE_NVML_GPUS=1 gives 0 '' record -q --trace empty.csv -- true
  ln -s new.csv link.csv
  FAKE_NVML_GPUS=1 gives 0 '' record -q --trace link.csv -- true
  grep -q '^# dlest record' empty.csv new.csv
}

# The first one measures 200 W, the second starts no program.
@test '--trace: two recorders, also with --force' {
  for force in '' --force; do
    rm -f t*.csv started
    # shellcheck disable=SC2086
    short --trace t.csv $force -f json -o a.json -- sleep 1.2 &
    first=$!
    for _ in {1..100}; do [ -s t.csv ] && break; sleep 0.02; done
    # shellcheck disable=SC2086
    refuses 3 "dlest: t.csv: $(message record_file_locked)" record -q \
      --trace t.csv $force -- touch started
    [ ! -e started ]
    wait "$first"
    within 190 "$(jq '.energy_j / .duration_s' a.json)" 210
    "$DLEST" extract t.csv -q -f json >out
    near .runs[0].energy_j "$(jq .energy_j a.json)"
  done
}

# once_read ARG...: short, once the reader of the FIFO has opened it; errors in err
once_read() {
  local status
  for _ in {1..100}; do
    status=0
    short "$@" 2>err || status=$?
    grep -qxF "dlest: pipe: $(message record_fifo_unread)" err || break
    sleep 0.05
  done
  return "$status"
}

@test '--trace: a FIFO without a reader, with one, and one that leaves' {
  mkfifo pipe
  refuses 3 "dlest: pipe: $(message record_fifo_unread)" record --trace pipe \
    -- touch started
  [ ! -e started ]
  [ -p pipe ]
  cat pipe >copy.csv 3>&- &
  once_read --trace pipe -f json -o a.json -- sleep 0.5
  wait $!
  within 190 "$(jq '.energy_j / .duration_s' a.json)" 210
  "$DLEST" extract copy.csv -q -f json >out
  near .runs[0].energy_j "$(jq .energy_j a.json)"
  [ -p pipe ]
  [ ! -e pipe-epochs.csv ]
  head -n 5 pipe >part.csv 3>&- &
  try_status=0
  once_read --trace pipe -- sh -c 'sleep 1; touch ended' || try_status=$?
  [ "$try_status" -eq 1 ]
  [ -e ended ]
  grep -q '^dlest: pipe: ' err
}

@test 'a killed recorder leaves a folder that the next one removes' {
  export TMPDIR=$PWD/tmp
  mkdir -p tmp/dlest-record-mine01 tmp/other
  echo mine >tmp/dlest-record-mine01/data
  export FAKE_NVML_GPUS=1
  "$DLEST" record -q --no-trace -- sleep 3 &
  killed=$!
  for _ in {1..100}; do [ -n "$(find tmp -name marks)" ] && break; sleep 0.02; done
  "$DLEST" record -q --no-trace -- sleep 3 &
  lives=$!
  for _ in {1..100}; do
    [ "$(find tmp -name marks | wc -l)" -eq 2 ] && break
    sleep 0.02
  done
  kill -9 "$killed"
  wait "$killed" 2>/dev/null || true
  short --no-trace -- true
  # the folder of the one that lives stays, and what others put into one
  [ "$(find tmp -name marks | wc -l)" -eq 1 ]
  [ "$(cat tmp/dlest-record-mine01/data)" = mine ]
  [ -d tmp/other ]
  wait "$lives"
  rm -r tmp/dlest-record-mine01
  [ "$(ls tmp)" = other ]
}

@test 'marks: appended to a file, without control characters' {
  : >marks
  DLEST_MARKS=$PWD/marks PYTHONPATH=$TOP_SRCDIR/python python3 -c '
import dlest
for i in range(3):
    assert dlest.epoch(i)
with dlest.phase("a\nepoch 7\x1b[2J"):
    pass'
  diff - marks <<'EOF'
epoch 0
epoch 1
epoch 2
phase a_epoch 7__2J
phase training
EOF
  # shellcheck disable=SC2016
  FAKE_NVML_GPUS=1 "$DLEST" record --interval 50ms --trace t.csv -f json \
    -o a.json -- bash -c 'printf "phase one\nphase x\033y\nphase z\000\n" >>"$DLEST_MARKS"
      printf "epoch 0\001\nepoch 1 %300s\nepoch 2\n" "" >>"$DLEST_MARKS"; sleep 0.4' 2>err
  check '[.phases[].phase] == ["before the first mark", "one"] or
    [.phases[].phase] == ["one"]' a.json
  cut -d , -f 1 t-epochs.csv >epochs
  printf 'epoch\n2\n' | diff - epochs
}
