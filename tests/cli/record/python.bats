#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# contrib/python/dlest.py: marks of epochs, and predict.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  command -v python3 >/dev/null || skip "no python3"
  export PYTHONPATH=$TOP_SRCDIR/contrib/python:$PWD PYTHONDONTWRITEBYTECODE=1
  mkfifo marks
}

# marks_of PROGRAM: what a program marks, with a reader that is there
marks_of() {
  exec 5<>marks
  DLEST_MARKS=$PWD/marks python3 -c "$1"
  echo end >&5
  while read -r -u 5 line && [ "$line" != end ]; do
    echo "$line"
  done
  exec 5>&-
}

@test "epochs, by hand and around blocks" {
  marks_of 'import dlest
for i in dlest.epochs(2): pass
assert dlest.epoch()
with dlest.measure_epoch(7): pass
try:
    with dlest.measure_epoch(): raise ValueError
except ValueError: pass
dlest.epoch()' >got
  diff got - <<'EOF'
epoch 0
epoch 1
epoch 2
epoch 7
epoch 8
EOF
}

@test "phases and samples" {
  marks_of 'import dlest
with dlest.phase("validation"):
    with dlest.phase("checkpoint"): pass
try:
    with dlest.phase("test"): raise ValueError
except ValueError: pass
assert dlest.samples(50000)' >got
  diff got - <<'EOF'
phase validation
phase checkpoint
phase validation
phase training
phase test
phase training
samples 50000
EOF
}

@test "without a recorder, or of another rank, nothing happens" {
  python3 -c 'import dlest; assert not dlest.epoch()'
  DLEST_MARKS=$PWD/none python3 -c 'import dlest; assert not dlest.epoch()'
  DLEST_MARKS=$PWD/marks timeout 10 python3 -c \
    'import dlest; assert not dlest.epoch()' # a FIFO that nobody reads
  LOCAL_RANK=1 marks_of 'import dlest; assert not dlest.epoch()' >got
  [ ! -s got ]
}

@test "importing it imports no framework" {
  python3 -c 'import sys, dlest
assert not {"torch", "keras", "transformers", "lightning"} & set(sys.modules)'
}

# Modules with the interfaces that the callbacks use.
@test "callbacks of Keras, Lightning and Transformers" {
  mkdir -p keras lightning
  touch keras/__init__.py lightning/__init__.py
  echo 'class Callback: pass' | tee keras/callbacks.py >lightning/pytorch.py
  echo 'class TrainerCallback: pass' >transformers.py
  marks_of 'import dlest, types
dlest.keras_callback().on_epoch_end(0, {})
dlest.lightning_callback().on_train_epoch_end(
    types.SimpleNamespace(current_epoch=1), None)
dlest.transformers_callback().on_epoch_end(
    None, types.SimpleNamespace(epoch=2.9999), None, model=None)' >got
  diff got - <<'EOF'
epoch 0
epoch 1
epoch 2
EOF
}

@test "predict: the document of the command, and its errors" {
  "$DLEST" predict --arch resnet50 --gpu a100 --batch-size 64 --format json -q |
    jq '.estimates[0].energy_j' >want
  DLEST=$DLEST python3 -c 'import dlest, os
x = dlest.predict(os.environ["DLEST"], arch="resnet50", gpu="a100",
                  batch_size=64, quiet=True, explain=None)
print(x["estimates"][0]["energy_j"])
try: dlest.predict(os.environ["DLEST"], arch="resnet50", gpu="nothing")
except dlest.Error as e: assert e.status == 3 or e.status == 2, e.status
else: raise SystemExit("no error")' >got
  awk 'NR == FNR { w = $1; next } { exit !($1 == w) }' want got
}

@test "a program under dlest record" {
  export LD_LIBRARY_PATH=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  [ -f "$LD_LIBRARY_PATH/libnvidia-ml.so.1" ] || skip "no made driver"
  cat >train.py <<'EOF'
import time, dlest
for number in dlest.epochs(3):
    time.sleep(0.3)
    with dlest.phase("validation"):
        time.sleep(0.1)
EOF
  "$DLEST" record --interval 50ms --trace t.csv --details -- \
    python3 train.py 2>err
  grep -q '^  validation  *[0-9]' err
  [ "$(tail -n +2 t-epochs.csv | cut -d, -f1 | tr '\n' ' ')" = '0 1 2 ' ]
}
