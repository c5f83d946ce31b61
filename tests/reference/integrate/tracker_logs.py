# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of the logs of energy trackers: each gives runs, not samples."""

import csv
import re

from readings import run_of

J_PER_KWH = 3.6e6


def _float(row, name):
    return float(row[name]) if row.get(name) else None


def codecarbon(lines):
    """CodeCarbon's documentation, "Output": kWh and s. Rows of one run_id are
    states of a run, and the last one counts. All energies include the PUE."""
    runs = {}
    for row in csv.DictReader(lines):
        pue = _float(row, "pue") or 1
        energy, gpu = (_float(row, name) for name in ("energy_consumed",
                                                      "gpu_energy"))
        n_gpus = _float(row, "gpu_count")
        if not row.get("gpu_model") and not n_gpus and not gpu:
            gpu = None  # 0 where there is no GPU
        runs[row["run_id"]] = {
            "energy_j": energy * J_PER_KWH / pue,
            "gpu_energy_j": None if gpu is None else gpu * J_PER_KWH / pue,
            "duration_s": _float(row, "duration"), "n_gpus": n_gpus}
    return list(runs.values())


def eco2ai(lines):
    """Eco2AI: kWh and s; of a training a row per epoch, which add up."""
    runs = []
    former = None
    for row in csv.DictReader(lines):
        m = re.search(r"(\d+) device\(s\)", row["GPU_name"])
        n_gpus = int(m.group(1)) if m and m.group(1) != "0" else None
        run = {"energy_j": float(row["power_consumption(kWh)"]) * J_PER_KWH,
               "gpu_energy_j": None, "duration_s": float(row["duration(s)"]),
               "n_gpus": n_gpus}
        gpu = _float(row, "GPU_consumption(kWh)")
        if gpu is not None and (n_gpus or gpu > 0):
            run["gpu_energy_j"] = gpu * J_PER_KWH
        if row["epoch"].startswith("epoch:") and row["id"] == former:
            for key in ("energy_j", "gpu_energy_j", "duration_s"):
                if run[key] is not None:
                    runs[-1][key] += run[key]
        else:
            runs.append(run)
        former = row["id"] if row["epoch"].startswith("epoch:") else None
    return runs


def zeus(lines):
    """ZeusMonitor's log file: J of each GPU by window; 0 is a window that was
    shorter than the counter takes to move."""
    for row in csv.DictReader(lines):
        gpus, host = [], []
        for name, cell in row.items():
            if re.match(r"gpu\d+_energy$", name):
                gpus.append(float(cell))
            elif re.match(r"(cpu|dram)\d+_energy$", name):
                host.append(float(cell))
        gpu = None if 0 in gpus else sum(gpus)
        yield {"energy_j": None if gpu is None else gpu + sum(host),
               "gpu_energy_j": gpu, "n_gpus": len(gpus),
               "duration_s": float(row["elapsed_time"])}


def _clock_s(text):
    days = re.match(r"(\d+) days?, ", text)
    hours, minutes, seconds = text.split(", ")[-1].split(":")
    return (int(days.group(1)) * 86400 if days else 0) + \
        int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def carbontracker(lines):
    """carbontracker's standard log: duration and mean power of the devices of
    each epoch. numpy breaks long lists into lines."""
    text = re.sub(r"\n (?=[\d\s.e+-]*\])", " ", "\n".join(lines))
    runs = []
    for part in re.split(r".* - carbontracker version .*\n", text)[1:]:
        energies, total_s, n_gpus = {}, 0, None
        for epoch in re.split(r".* - Epoch \d+:", part)[1:]:
            seconds = _clock_s(re.search(r"Duration: (.*)", epoch).group(1))
            total_s += seconds
            for kind, watts in re.findall(
                    r"power usage \(W\) for (\w+): \[([^]]*)\]", epoch):
                watts = [float(w) for w in watts.split()]
                energies[kind] = energies.get(kind, 0) + seconds * sum(watts)
                if kind == "gpu":
                    n_gpus = len(watts)
        runs.append(run_of(energies, total_s, n_gpus))
    return runs


def carbontracker_output(lines):
    """carbontracker's output log: what it measured is below "Actual"."""
    for part in "\n".join(lines).split("Actual consumption")[1:]:
        yield {"energy_j": J_PER_KWH * float(
                   re.search(r"Energy:\s*(\S+) kWh", part).group(1)),
               "duration_s": _clock_s(
                   re.search(r"Time:\s*(.*)", part).group(1)),
               "gpu_energy_j": None, "n_gpus": None}
