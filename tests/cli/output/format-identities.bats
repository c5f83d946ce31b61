#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Output formats against each other: each has the numbers of JSON.

load ../common
load ../arithmetic

# csv_of_json ARG...: the CSV is a table of the JSON, cell by cell, or its
# values at the top.
csv_of_json() {
  try "$@" -f csv -q
  [ "$status" -eq 0 ]
  mv out table.csv
  try "$@" -f json -q
  [ "$status" -eq 0 ]
  holds '
import csv
with open("table.csv", newline="") as f:
    header, *rows = csv.reader(f)

def cell(v):
    if isinstance(v, list):
        return ";".join(x or "" for x in v)
    if isinstance(v, bool):
        return "true" if v else "false"
    return "" if v is None else v

def tables(x):
    if isinstance(x, dict):
        for v in x.values():
            yield from tables(v)
    elif isinstance(x, list) and x and all(isinstance(r, dict) for r in x):
        yield x
        for r in x:
            yield from tables(r)

def equal(row, values):
    return all(a == b if isinstance(b, str) else float(a) == b
               for a, b in zip(row, map(cell, values)))

# Values at the top stand in front of the columns of a table.
found = []
for t in tables(j):
    n = len(header) - len(t[0])
    if n >= 0 and header[n:] == list(t[0]) and all(k in j for k in header[:n]):
        found.append([{**{k: j[k] for k in header[:n]}, **r} for r in t])
if not found:
    assert len(rows) == 1 and equal(rows[0], [j[key] for key in header])
else:
    assert any(len(t) == len(rows) and all(
        equal(r, t_row.values()) for r, t_row in zip(rows, t))
        for t in found), header
'
}

@test 'CSV is the main table of JSON, exactly' {
  local examples=$DLEST_DATADIR/data/examples
  local gpu='--arch resnet50 --gpu a100'
  measured >runs.csv
  # shellcheck disable=SC2086
  csv_of_json predict $gpu --pue 1.2 --intensity 300
  # shellcheck disable=SC2086
  csv_of_json predict $gpu,v100 --batch-size 64,128
  csv_of_json predict --arch resnet50 --node xeon-8368-4xa100 --parts
  csv_of_json predict --input "$examples/plan.csv"
  csv_of_json recommend --arch resnet50,vgg16 --gpu a100,t4 --batch-size 64
  csv_of_json compare runs.csv --methods tdp,flops
  csv_of_json extract "$examples/gpu-7.csv" "$examples/memory-7.csv"
  csv_of_json step "$examples/epochs.csv" --epochs 90
  csv_of_json report "$examples/sacct.txt" --gpu v100
  csv_of_json report "$examples/sacct.txt" --gpu v100 --by user
  csv_of_json list nodes
  csv_of_json list archs
  csv_of_json show gpu a100
  csv_of_json describe "$examples/tiny-cnn.onnx"
}

@test 'Prometheus has each number of JSON; of a fit those of CSV' {
  local examples=$DLEST_DATADIR/data/examples
  local has_all='
import re
def numbers(x, key=""):
    if isinstance(x, dict):
        for name, v in x.items():
            yield from numbers(v, name)
    elif isinstance(x, list):
        for v in x:
            yield from numbers(v, key)
    elif isinstance(x, (int, float)) and not re.search(
            "^schema$|energy_kwh$|gpu_h$", key):
        yield x
metrics = [line for line in open("metrics")
           if not re.match("#|dlest_([a-z]+_)?info", line)]
assert len(metrics) == len(list(numbers(j))) > 0, (metrics, j)
'
  local command
  for command in "predict --arch resnet50 --gpu a100 --pue 1.2 --price 0.3" \
    "predict --arch vgg16 --node xeon-8368-4xa100 --embodied" \
    "recommend --arch resnet50,vgg16 --gpu a100,t4" \
    "step $examples/epochs.csv --epochs 90" \
    "report $examples/sacct.txt --gpu v100 --by user"; do
    # shellcheck disable=SC2086
    try $command -f prometheus -q
    [ "$status" -eq 0 ]
    mv out metrics
    # shellcheck disable=SC2086
    try $command -f json -q
    holds "$has_all"
  done
  measured >runs.csv
  local fit=(fit runs.csv --target energy_j --method ols --features duration_s -q)
  gives 0 '' "${fit[@]}" -f prometheus
  mv out metrics
  gives 0 '' "${fit[@]}" -f json
  holds '
scores = {}
for line in open("metrics"):
    if line.startswith("dlest_fit_"):
        scores[line[10:line.index("{")]] = float(line.split()[-1])
pooled = j["fits"][0]["cv"]["pooled"]
for key in ("r2", "rmse", "mae", "mape", "median_ape", "bias"):
    same(scores[key], pooled[key])
assert scores["n"] == 9
'
}
