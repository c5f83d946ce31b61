#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python package: marks of epochs, measurements, callbacks, trackers.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  command -v python3 >/dev/null || skip "no python3"
  export PYTHONPATH=$TOP_SRCDIR/python:$PWD:$TOP_SRCDIR/tests/cli/record/frameworks
  export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$PWD/tmp
  export DLEST_PROGRAM=$DLEST DLEST_SYSFS=$PWD/sys
  mkdir tmp
  unset LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID \
    PALS_LOCAL_RANKID DLEST_MARKS CUDA_VISIBLE_DEVICES
}

# with_gpus: two GPUs, of 200 and 250 W
with_gpus() {
  library=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  [ -f "$library/libnvidia-ml.so.1" ] || skip "no made driver"
  ! nm -D "$DLEST" | grep -q __asan_init || export ASAN_OPTIONS=detect_leaks=0
  export LD_LIBRARY_PATH=$library
}

# marks_of PROGRAM: what a program marks, with a reader that is there
marks_of() {
  [ -p marks ] || mkfifo marks
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
  mkfifo marks
  python3 -c 'import dlest; assert not dlest.epoch()'
  DLEST_MARKS=$PWD/none python3 -c 'import dlest; assert not dlest.epoch()'
  DLEST_MARKS=$PWD/marks timeout 10 python3 -c \
    'import dlest; assert not dlest.epoch()' # a FIFO that nobody reads
  LOCAL_RANK=1 marks_of 'import dlest; assert not dlest.epoch()' >got
  [ ! -s got ]
}

@test "importing it imports no framework and no tracker" {
  python3 -c 'import sys, dlest
assert not {"torch", "keras", "transformers", "lightning", "mlflow",
            "trackio"} & set(sys.modules)'
}

@test "a block: joules, CO2e, epochs and phases" {
  with_gpus
  python3 -c '
import dlest, os, time
with dlest.measure(country="FR", interval="50ms") as meter:
    begun = time.monotonic()
    for number in dlest.epochs(3):
        time.sleep(0.2)
        with dlest.phase("validation"):
            time.sleep(0.1)
    seconds = time.monotonic() - begun
assert "DLEST_MARKS" not in os.environ
# 450 W, as long as the block and the start and end of the recorder
assert 450 * seconds - 5 < meter.energy_j < 450 * (seconds + 0.5), meter
grams = meter.co2e_g / meter.energy_kwh
assert 20 < grams < 100, grams  # France
assert meter.epochs == 3 and meter.boundary == "gpu"
assert "validation" in [p["phase"] for p in meter.phases]'
  [ -z "$(ls tmp)" ] # nothing is left
}

@test "figures before the end, a second start, a recorder that is killed" {
  with_gpus
  python3 -W error::RuntimeWarning -c '
import dlest, os, signal, time, warnings
meter = dlest.measure(interval="50ms")
try: meter.energy_j
except RuntimeError: pass
else: raise SystemExit("a figure before the start")
with meter:
    try: meter.start()
    except RuntimeError: pass
    else: raise SystemExit("two starts")
    time.sleep(0.2)
assert meter.energy_j > 0
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    with meter:
        os.kill(meter._recorder._process.pid, signal.SIGKILL)
assert "nothing was measured" in str(said[0].message), said
try: meter.energy_j
except dlest.Error: pass
else: raise SystemExit("a figure of a killed recorder")'
  [ -z "$(ls tmp | grep -v '^dlest-record-')" ]
}

@test "a function: its result, its measurement, its errors" {
  with_gpus
  python3 -c '
import dlest, time
seen = []
meter = dlest.measure(interval="50ms", report=seen.append)
@meter
def train(x, fail=False):
    "Trains."
    time.sleep(0.3)
    if fail: raise ValueError
    return x + 1
assert train(2) == 3 and train.__doc__ == "Trains."
assert 130 < meter.energy_j < 400 and train.measurement.energy_j == meter.energy_j
try: train(2, fail=True)
except ValueError: pass
else: raise SystemExit("no error")
assert len(seen) == 2 and all(130 < m.energy_j < 400 for m in seen), seen
@dlest.measure
def other():
    time.sleep(0.2)
    return 5
assert other() == 5 and other.measurement.energy_j > 0
async def later(): pass
def several(): yield
for f in later, several:
    try: dlest.measure(f)
    except TypeError as e: assert "returns before it has run" in str(e)
    else: raise SystemExit("measured a call that does nothing")'
}

@test "a program: its status, its streams, its measurement" {
  with_gpus
  python3 -c '
import dlest
m = dlest.record(["sh", "-c", "echo out; echo err >&2; sleep 0.3; exit 5"],
                 interval="50ms", country="FR", set={"batch_size": 32})
assert m.exit_status == 5 and 130 < m.energy_j < 400 and m.co2e_g > 0, m
m = dlest.record(["sleep", "0.3"], interval="50ms", budget_kwh=1e-9)
assert m.over_budget and m.energy_j > 100
try: dlest.record(["./none"])
except dlest.Error as e: print(e, e.status)
else: raise SystemExit("no error")' >out 2>err
  diff out - <<'EOF'
out
dlest: ./none: cannot be started: No such file or directory 2
EOF
  [ "$(cat err)" = err ]
  [ -z "$(ls tmp)" ]
}

@test "within another recording its marks go there" {
  with_gpus
  marks_of 'import dlest, time
with dlest.measure(interval="50ms") as meter:
    dlest.epoch()
    time.sleep(0.2)
assert meter.energy_j > 0' >got
  [ "$(cat got)" = 'epoch 0' ]
}

@test "another rank measures nothing" {
  with_gpus
  for rank in LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK; do
    env $rank=3 python3 -c 'import dlest
with dlest.measure() as meter: pass
assert meter.energy_j is None'
    env $rank=0 python3 -c 'import dlest, time
with dlest.measure(interval="50ms") as meter: time.sleep(0.2)
assert meter.energy_j > 0'
  done
}

@test "refused options, and nothing that can be measured" {
  python3 -c 'import dlest
for wrong in ({"format": "csv"}, {"stop_over_budget": True}, {"pid": 1}):
    try: dlest.measure(**wrong)
    except TypeError: pass
    else: raise SystemExit(wrong)
try:
    with dlest.measure(frobnicate=1): raise SystemExit("it began")
except dlest.Error as e: assert e.status == 2 and "--frobnicate" in str(e), e
with dlest.measure(allow_none=True) as meter: pass
assert not meter.energy_j
m = dlest.record(["sh", "-c", "exit 3"], allow_none=True)
assert not m.energy_j and m.exit_status == 3, m'
  [ -z "$(ls tmp)" ]
}

# The modules in tests/cli/record/frameworks have the interfaces that the
# callbacks use, and trainings that call them in the frameworks' order.
@test "callbacks of Keras, Lightning and Transformers measure and mark" {
  with_gpus
  python3 -c '
import dlest, keras.callbacks, lightning.pytorch, time, transformers
train = lambda: time.sleep(0.15)
options = dict(interval="50ms", country="FR")
def check(m):
    assert m.epochs == 2 and 130 < m.energy_j < 400 and m.co2e_g > 0, m
c = dlest.keras_callback(**options)
keras.callbacks.fit(c, 2, train)
check(c.measurement)
c = dlest.lightning_callback(**options)
trainer = lightning.pytorch.Trainer([c])
trainer.fit(2, train)
check(c.measurement)
[(metrics, step)] = trainer.loggers[0].logged
assert step == 20 and metrics["dlest/energy_j"] == c.measurement.energy_j
c = dlest.lightning_callback(**options)
try: lightning.pytorch.Trainer([c]).fit(1, lambda: train() or 1 / 0)
except ZeroDivisionError: pass
assert c.measurement.epochs is None and c.measurement.energy_j > 0
c = dlest.transformers_callback(**options)
trainer = transformers.Trainer([c])
trainer.train(2, train)
check(c.measurement)
assert trainer.state.log_history[-1]["dlest/co2e_g"] == c.measurement.co2e_g
try: dlest.keras_callback(log_to="nothing")
except ValueError: pass
else: raise SystemExit("no error")'
  [ -z "$(ls tmp)" ]
}

@test "callbacks under dlest record mark only" {
  marks_of 'import dlest, keras.callbacks, lightning.pytorch, transformers
nothing = lambda: None
c = dlest.keras_callback()
keras.callbacks.fit(c, 1, nothing)
assert c.measurement is None
lightning.pytorch.Trainer([dlest.lightning_callback()]).fit(2, nothing)
transformers.Trainer([dlest.transformers_callback()]).train(3, nothing)' >got
  [ "$(tr '\n' ' ' <got)" = 'epoch 0 epoch 0 epoch 1 epoch 0 epoch 1 epoch 2 ' ]
}

@test "energy in MLflow and trackio" {
  with_gpus
  python3 -c '
import sys, time, warnings, dlest
with dlest.measure(interval="50ms", log_to="mlflow") as meter: time.sleep(0.2)
assert "trackio" not in sys.modules
import mlflow, trackio
[(metrics, step)] = mlflow.logged
assert metrics["dlest/energy_j"] == meter.energy_j and step is None
trackio.init("p")
m = dlest.record(["sleep", "0.2"], log_to=["mlflow", "trackio"], interval="50ms")
assert len(mlflow.logged) == 2 and len(trackio.logged) == 1
m.log_to("trackio", step=4)
assert trackio.logged[1][1] == 4
trackio.run = None
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    with dlest.measure(interval="50ms", log_to="trackio") as meter:
        time.sleep(0.2)
assert "trackio.init" in str(said[0].message) and meter.energy_j > 0'
  "$DLEST" record --interval 50ms --duration 200ms --no-trace -f json -q \
    -o run.json
  python3 -c 'import dlest, mlflow
dlest.Measurement.read("run.json").log_to("mlflow")
assert 70 < mlflow.logged[0][0]["dlest/energy_j"] < 200, mlflow.logged'
}

@test "a program under dlest record" {
  with_gpus
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
