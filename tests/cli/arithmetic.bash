# SPDX-License-Identifier: GPL-3.0-or-later
# Loaded by tests that compute expected values of JSON documents in Python.

# holds CODE [FILE]...: no assertion of the Python code fails. j is the document
# in out, k the list of those in FILE...; same(a, b) means equal to 1e-9.
holds() {
  local code=$1
  shift
  CODE=$code python3 - out "$@" <<'PY'
import json, math, os, sys

KWH = 3.6e6

def same(a, b, to=1e-9):
    if a is None or b is None:
        assert a is None and b is None, (a, b)
        return
    assert abs(a - b) <= to * max(abs(a), abs(b)), (a, b)

def load(path):
    with open(path) as f:
        return json.load(f)

j, k = load(sys.argv[1]), [load(p) for p in sys.argv[2:]]
exec(os.environ['CODE'])
PY
}

# measured rows whose energy is not what tdp says
measured() {
  echo arch,gpu,batch_size,train_samples,epochs,duration_s,energy_j,boundary
  for i in 1 2 3 4 5 6 7 8 9; do
    echo "resnet50,a100,$((i * 16)),10000,2,$((i * 100)),\
$((i * 28000 + i * i * 900)),gpu"
  done
}
