#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python package: the commands, their errors, its types and its program.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  command -v python3 >/dev/null || skip "no python3"
  export PYTHONPATH=$TOP_SRCDIR/python PYTHONDONTWRITEBYTECODE=1
  export DLEST_PROGRAM=$DLEST
}

@test "the version is the program's" {
  [ "$(python3 -c 'import dlest; print(dlest.__version__)')" = \
    "$("$DLEST" --version | sed -n '1s/.* //p')" ]
}

@test "types: mypy --strict" {
  command -v mypy >/dev/null || skip "no mypy"
  cat >use.py <<'EOF'
import dlest


@dlest.measure(country="FR", report=print)
def train(epochs: int) -> float:
    return 1.0


with dlest.measure(log_to=["mlflow", "trackio"]) as meter:
    loss: float = train(3)
energy: "float | None" = meter.energy_j
answer: "dict[str, object]" = dlest.predict("resnet50", gpu="a100")
grams: "float | None" = dlest.record(["true"]).co2e_g
EOF
  (cd "$TOP_SRCDIR/python" && mypy --strict --cache-dir="$BATS_TEST_TMPDIR/mypy" dlest)
  export MYPYPATH=$TOP_SRCDIR/python
  mypy --strict --cache-dir=mypy use.py
  echo 'train("three")' >>use.py
  run -1 mypy --strict --cache-dir=mypy use.py
}

@test "predict: the document of the command, its words and its errors" {
  "$DLEST" predict --arch resnet50 --gpu a100 --batch-size 64 --format json -q |
    jq '.estimates[0].energy_j' >want
  python3 -c 'import dlest
x = dlest.predict(arch="resnet50", gpu="a100", batch_size=64, quiet=True,
                  explain=None)
print(x["estimates"][0]["energy_j"])
y = dlest.predict("resnet50", "a100", batch_size=64)
assert y["estimates"] == x["estimates"]
try: dlest.predict(arch="resnet50", gpu="nothing")
except dlest.Error as e: assert e.status == 3 and "nothing" in str(e), e
else: raise SystemExit("no error")
try: dlest.predict("resnet50", "a100", budget_kwh=10)
except dlest.OverBudget as e:
    assert e.status == 4 and "over the budget of 10 kWh" in str(e)
    assert "note" not in str(e)
    assert e.document["estimates"][0]["energy_kwh"] > 10
else: raise SystemExit("no error")
try: dlest.predict("resnet50", "a100", format="csv")
except TypeError: pass
else: raise SystemExit("no error")' >got
  awk 'NR == FNR { w = $1; next } { exit !($1 == w) }' want got
}

@test "recommend and extract" {
  cp "$TOP_SRCDIR/data/examples/gpu-7.csv" ./-7.csv
  python3 -c 'import dlest
x = dlest.recommend(arch="resnet50", gpu=["a100", "h100"], batch_size=64)
assert {c["gpu"][:4] for c in x["choices"]} == {"a100", "h100"}
x = dlest.extract("-7.csv", set={"arch": "resnet50", "batch_size": 32})
assert x["runs"][0]["arch"] == "resnet50" and x["runs"][0]["batch_size"] == 32
try: dlest.extract("-7.csv", "/none")
except dlest.Error as e:
    assert e.status == 3 and "1 row skipped" in str(e), e
    assert e.document["runs"] and "/none" in str(e.document["warnings"]), e
else: raise SystemExit("no error")'
}

@test "the program: of DLEST_PROGRAM, on PATH, or none" {
  mkdir bin
  ln -s "$DLEST" bin/dlest
  python3 -m dlest --version >got
  "$DLEST" --version | diff - got
  unset DLEST_PROGRAM
  python=$(command -v python3)
  [ "$(PATH=$PWD/bin:$PATH python3 -c 'import dlest; print(dlest.program())')" = \
    "$PWD/bin/dlest" ] || skip "another dlest is installed"
  run -1 env PATH=/nowhere "$python" -m dlest --version
  [[ $output == *"set DLEST_PROGRAM"* ]]
}
