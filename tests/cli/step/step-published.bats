#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest step on measured runs: FLUSS against an independent program, the
# published methods and carbontracker's rule against the formulas.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  cd "$BATS_TEST_TMPDIR"
}

@test 'FLUSS: the regime of every trace is that of an independent program' {
  oracle=$MEASURED_RUNS/../oracle/fluss_oracle.csv
  traces=$MEASURED_RUNS/seaa2023/traces
  [ -e "$oracle" ] && [ -d "$traces" ] ||
    skip "no ../oracle/fluss_oracle.csv or seaa2023/traces at $MEASURED_RUNS"
  cat >check.py <<'END'
import csv, json, subprocess, sys
dlest, traces, oracle = sys.argv[1:]
n = wrong = 0
for row in csv.DictReader(open(oracle)):
    path = "/".join((traces, row["environment"], row["architecture"],
                     row["trace"]))
    said = json.loads(subprocess.run(
        [dlest, "step", path, "--epochs", "1000", "--stabilise", "fluss",
         "--truncate-watts", "--drop-last", "3", "-f", "json", "-q"],
        capture_output=True, text=True).stdout)
    n += 1
    if (said["regime_sample"] != int(row["regime_sample"]) or
            abs(said["regime_cac"] - float(row["cac_at_regime"])) > 1e-8):
        wrong += 1
        print(path, said["regime_sample"], row["regime_sample"])
print(n, "traces,", wrong, "wrong")
sys.exit(n != 249 or wrong > 0)
END
  python3 check.py "$DLEST" "$traces" "$oracle"
}

@test 'three of 50 epochs: medians of the errors on measured runs' {
  runs=$MEASURED_RUNS/energydl/epochs.csv
  [ -e "$runs" ] || skip "no energydl/epochs.csv at $MEASURED_RUNS"
  cat >check.py <<'END'
import csv, json, statistics, subprocess, sys
dlest, path = sys.argv[1:]
runs = {}
for row in csv.DictReader(open(path)):
    if row["intervention"] == "0":
        runs.setdefault((row["dataset"], row["mode"]), []).append(
            (float(row["energy_consumed_kwh"]) * 3.6e6,
             float(row["duration_s"])))
runs = {key: run for key, run in runs.items() if len(run) == 50}
assert len(runs) == 36
error = {}
for (dataset, mode), run in runs.items():
    total = sum(e for e, _ in run)
    command = [dlest, "step", path, "--epochs", "50", "-f", "json", "-q"]
    for condition in ("dataset=" + dataset, "mode=" + mode, "intervention=0"):
        command += ["--where", condition]
    for seen in ("3", "20"):
        said = json.loads(subprocess.run(command + ["--seen", seen],
                                         capture_output=True, text=True).stdout)
        for e in said["estimates"]:
            x = e["energy_j"]
            if x is None:
                continue
            error.setdefault((seen, e["method"]), []).append(
                (mode, abs(x / total - 1)))
            if e["method"] == "step-energy":  # the formula, not dlest's code
                y = (sum(v for v, _ in run[:10]) +
                     40 / 5 * sum(v for v, _ in run[10:15]))
                assert abs(x / y - 1) < 1e-9, (dataset, mode, x, y)
            if e["method"] == "step-power":
                power = sum(v / s for v, s in run[10:15]) / 5
                time = (sum(s for _, s in run[:10]) +
                        40 / 5 * sum(s for _, s in run[10:15]))
                assert abs(x / (power * time) - 1) < 1e-9, (dataset, mode)
            if e["method"] == "carbontracker":
                assert abs(x / (50 * run[0][0]) - 1) < 1e-9
median = lambda method, mode: 100 * statistics.median(
    x for m, x in error["3", method] if mode in ("", m))
base, every = median("step", "base"), median("step", "")
rule, rule_every = median("carbontracker", "base"), median("carbontracker", "")
print("step %.2f %% (base), %.2f %% (all); carbontracker %.1f %%, %.1f %%" %
      (base, every, rule, rule_every))
assert abs(rule - 47.5) < 0.05 and abs(rule_every - 67.8) < 0.05
assert base < 3 and every < 5
END
  python3 check.py "$DLEST" "$runs"
}

@test 'the published methods on traces: the formulas on the epochs found' {
  traces=$MEASURED_RUNS/seaa2023/traces
  [ -d "$traces" ] || skip "no seaa2023/traces at $MEASURED_RUNS"
  cat >check.py <<'END'
import csv, glob, io, json, subprocess, sys
dlest, traces = sys.argv[1:]
n = 0
for path in sorted(glob.glob(traces + "/*/*/gpu*.csv"))[::25]:
    memory = path.replace("gpu-power", "cpu-mem-usage")
    table = subprocess.run([dlest, "extract", "--epochs", path, memory, "-f",
                            "csv", "-q"], capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    epochs = [r for r in rows if r["part"] == "epoch"]
    if len(epochs) < 15:
        continue
    head = sum(float(r["energy_j"]) for r in rows if r["part"] == "start")
    head_s = sum(float(r["duration_s"]) for r in rows if r["part"] == "start")
    total = len(epochs) + 7
    said = json.loads(subprocess.run(
        [dlest, "step", path, memory, "--epochs", str(total), "-f", "json",
         "-q"], capture_output=True, text=True).stdout)
    if said["epochs_seen"] != len(epochs):
        continue  # a training that goes on may be told otherwise
    e = [float(r["energy_j"]) for r in epochs]
    d = [float(r["duration_s"]) for r in epochs]
    p = [float(r["gpu_power_w"]) + float(r["ram_energy_j"]) /
         float(r["duration_s"]) for r in epochs]
    want = {"step-energy": head + sum(e[:10]) + (total - 10) / 5 * sum(e[10:15]),
            "step-power": sum(p[10:15]) / 5 * (head_s + sum(d[:10]) +
                                               (total - 10) / 5 * sum(d[10:15]))}
    for method, value in want.items():
        got = next(x["energy_j"] for x in said["estimates"]
                   if x["method"] == method)
        assert abs(got / value - 1) < 1e-9, (path, method, got, value)
    n += 1
print(n, "traces")
sys.exit(n < 5)
END
  python3 check.py "$DLEST" "$traces"
}
