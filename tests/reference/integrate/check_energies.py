#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the energies of dlest extract with those of the readers here.

  check_energies.py DLEST FORMAT [FIRST_SEED [N_SEEDS]]
    on generated logs, which stay in the current folder; FORMAT may also be
    `companions` (a GPU log with a log of the wall power)
  check_energies.py DLEST --traces FOLDER
    on nvidia-smi logs and the memory logs next to them

Prints each figure that differs by more than 1e-6, with the seed.
"""

import bisect
import glob
import json
import os
import random
import re
import subprocess
import sys

import gpu_logs
import host_logs
import made_logs
import made_trackers
import monitor_logs
import slurm_logs
import table_logs
import tracker_logs
from host_logs import W_PER_MB
from readings import SECOND, integrate, number, time_ns

KEYS = "energy_j", "gpu_energy_j", "duration_s", "n_gpus"
READERS = {name.replace("_", "-"): getattr(module, name)
           for module, names in (
               (gpu_logs, "nvidia_smi nvidia_smi_dmon dcgmi_dmon rocm_smi"),
               (host_logs, "psutil turbostat ptdaemon powerjoular "
                           "mlperf_training"),
               (slurm_logs, "sstat"), (table_logs, "samples"),
               (monitor_logs, "prometheus grafana json_lines "
                              "json_array mlflow"))
           for name in names.split()}
RUNS = {name.replace("_", "-"): getattr(module, name)
        for module, names in (
            (host_logs, "perf"), (slurm_logs, "sacct"), (table_logs, "runs"),
            (monitor_logs, "wandb_panel"),
            (tracker_logs, "codecarbon eco2ai zeus carbontracker "
                           "carbontracker_output"))
        for name in names.split()}


def close(a, b):
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def extract(dlest, arguments):
    done = subprocess.run([dlest, "extract", "-f", "json", "-q", *arguments],
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}: dlest extract "
                 f"{' '.join(arguments)}\n{done.stderr.decode()}")
    runs, report = {}, json.loads(done.stdout)
    for run in report.get("epochs") or report["runs"]:
        runs.setdefault(run["file"], []).append(run)
    return runs


def read_lines(name):
    """The lines that have an end, and a last one without that has as many cells
    as the one above it, the last of them of the same form: others may be cut
    off."""
    with open(name, encoding="utf-8") as log:
        ended, _, last = log.read().rpartition("\n")
    lines = ended.splitlines()
    form = [re.sub(r"\d", "0", line.rpartition(",")[2])
            for line in (*lines[-1:], last)]
    if last.count(",") == lines[-1].count(",") and form[0] == form[1]:
        lines.append(last)
    return lines


def compare(found, expected, where):
    """The number of runs that differ; each is printed."""
    bad = []
    if len(found) != len(expected):
        bad.append(f"{where}: {len(found)} runs, expected {len(expected)}")
    for i, (run, want) in enumerate(zip(found, expected)):
        bad += [f"{where}, run {i}: {key} {run.get(key)}, expected {want[key]}"
                for key in KEYS if not close(run.get(key), want[key])]
    print(*bad[:5], sep="\n", end="\n" if bad else "")
    return len(bad)


def expected_runs(form, lines, **rules):
    if form in RUNS:
        return list(RUNS[form](lines))
    lines = [line for line in lines if line.strip()]
    return [integrate(READERS[form](lines), means=form == "turbostat", **rules)]


def check_made(dlest, form, first, n):
    """Each log as it is, with gaps cut, and with gaps above a length cut."""
    logs = {}
    for seed in range(first, first + n):
        made = form.replace("-", "_")
        make = getattr(made_logs, made, None) or getattr(made_trackers, made)
        lines = make(random.Random(f"{form} {seed}"))
        name = f"{form}-{seed}.log"
        if form == "mlflow":
            name = f"mlflow-{seed}/metrics/system/gpu_0_power_usage_watts"
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        logs[name] = read_lines(name)
    bad = n_runs = 0
    variants = [([], {})]
    if form in READERS:
        variants += [(["--gaps", "cut"], {"cut": True}),
                     (["--gaps", "cut", "--max-gap", "5s", "--from", form],
                      {"cut": True, "max_gap_s": 5})]
    for options, rules in variants:
        found = extract(dlest, ["--no-join", *options, *logs])
        for name, lines in logs.items():
            want = expected_runs(form, lines, **rules)
            n_runs += len(want)
            bad += compare(found.get(name, []), want,
                           f"{name} {' '.join(options)}")
    print(f"{form}: {n} logs, {n_runs} runs, {bad} differ")
    return bad


def check_epochs(dlest, first, n):
    """A trace of one GPU and a log of the ends of its epochs."""
    bad = 0
    for seed in range(first, first + n):
        r = random.Random(f"epochs {seed}")
        device = made_logs.Device(r)
        times = made_logs.moments(r, n=200, gaps=False)
        trace = ["timestamp, power.draw [W]"] + [
            f"{made_logs.stamp(t)}, {device.at(t)} W" for t in times]
        ends, at = ["epoch,end_time"], 0
        while at < len(times) - 60:
            at += r.randint(10, 50)
            ends.append(f"{len(ends) - 1},"
                        f"{made_logs.stamp(times[at] + r.uniform(0, 0.1))}")
        for name, lines in (("gpu-1.csv", trace), ("epochs-1.csv", ends)):
            with open(name, "w", encoding="utf-8") as out:
                out.write("\n".join(lines) + "\n")
        parts = extract(dlest, ["--epochs", "gpu-1.csv", "epochs-1.csv"])
        found = [part["gpu_energy_j"] for part in parts["gpu-1.csv"]
                 if part["part"] == "epoch"]
        want = list(table_logs.epochs(gpu_logs.nvidia_smi(trace), ends))
        if len(found) != len(want) or not all(map(close, found, want)):
            print(f"epochs, seed {seed}: {found}, expected {want}")
            bad += 1
    print(f"epochs: {n} logs, {bad} differ")
    return bad


def check_companions(dlest, first, n):
    """GPUs, the wall power and RAPL of a run in logs of their own: only what
    lies within the GPU log counts, and the node's energy is the total."""
    bad = 0
    for seed in range(first, first + n):
        r = random.Random(f"companions {seed}")
        devices = [made_logs.Device(r) for _ in range(r.choice([1, 2, 4]))]
        wall = made_logs.Device(r, 3000)
        trace = ["timestamp, index, power.draw [W]"]
        for t in made_logs.moments(r, n=200, gaps=False):
            trace += [f"{made_logs.stamp(t)}, {k}, {device.at(t)} W"
                      for k, device in enumerate(devices)]
        node = [f"Time,{made_logs.stamp(t, '%m-%d-%Y %H:%M:%S')},Watts,"
                f"{wall.at(t):.6f},Volts,229.1,Amps,1,PF,1,Mark,notset"
                for t in range(-3, 500)]
        for name, lines in (("gpu-1.csv", trace), ("spl-1.txt", node)):
            with open(name, "w", encoding="utf-8") as out:
                out.write("\n".join(lines) + "\n")
        samples = list(gpu_logs.nvidia_smi(trace))
        start, end = samples[0][0], samples[-1][0]
        samples += [sample for sample in host_logs.ptdaemon(node)
                    if start <= sample[0] <= end]
        want = integrate(samples)
        want["duration_s"] = (end - start) / SECOND
        found = extract(dlest, ["gpu-1.csv", "spl-1.txt"])["gpu-1.csv"]
        bad += compare(found, [want], f"companions, seed {seed}")
    print(f"companions: {n} runs, {bad} differ")
    return bad


def joined(trace, memory):
    """A GPU log with the memory log beside it: the nearest value within 1 s,
    else the last one; GPU samples over 1 s before the first one are left out.
    """
    rows = sorted(memory)
    times = [row[0] for row in rows]
    for sample in trace:
        ns = sample[0]
        if ns < times[0] - SECOND:
            continue
        at = bisect.bisect_right(times, ns) - 1
        near = min((i for i in (at, at + 1) if 0 <= i < len(times)),
                   key=lambda i: abs(times[i] - ns))
        if abs(times[near] - ns) > SECOND:
            near = at
        yield sample
        yield ns, "ram", "0", rows[near][3], None


def check_traces(dlest, folder):
    traces = sorted(glob.glob(f"{folder}/*/*/gpu-power-*.csv"))
    memory = [re.sub("gpu-power", "cpu-mem-usage", name) for name in traces]
    memory = [name for name in memory if os.path.exists(name)]
    alone = extract(dlest, traces)
    both = extract(dlest, traces + memory)
    bad = 0
    for name in traces:
        trace = list(gpu_logs.nvidia_smi(read_lines(name)))
        bad += compare(alone[name], [integrate(trace)], name)
        beside = name.replace("gpu-power", "cpu-mem-usage")
        if beside in memory:
            used = list(host_logs.psutil(read_lines(beside)))
            bad += compare(both[name], [integrate(joined(trace, used))],
                           f"{name} with its memory log")
    print(f"{len(traces)} traces, {len(memory)} memory logs, {bad} differ")
    return bad


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    dlest, what, *rest = sys.argv[1:]
    if what == "--traces":
        bad = check_traces(dlest, rest[0])
    else:
        first, n = [*map(int, rest), *(1, 12)[len(rest):]]
        special = {"epochs": check_epochs, "companions": check_companions}
        bad = special[what](dlest, first, n) if what in special else \
            check_made(dlest, what, first, n)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
