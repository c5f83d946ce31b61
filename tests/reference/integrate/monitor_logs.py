# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of what monitoring systems export."""

import csv
import json
import re

from readings import SECOND, number, time_ns

METRICS = {"DCGM_FI_DEV_POWER_USAGE": ("gpu", 0, 1),
           "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": ("gpu", 1, 1e-3),
           "nvidia_smi_power_draw_watts": ("gpu", 0, 1),
           "ipmi_dcmi_power_consumption_watts": ("node", 0, 1)}


def _device(labels):
    host = labels.get("Hostname") or labels.get("instance")
    return labels.get("UUID") or labels.get("uuid") or (host,
                                                        labels.get("gpu"))


def _readings(values):
    """values: (ns, labels, value). A device's first value of a moment counts."""
    found = {}
    for ns, labels, value in values:
        if labels.get("__name__") not in METRICS:
            continue
        kind, is_energy, scale = METRICS[labels["__name__"]]
        pair = found.setdefault((ns, kind, _device(labels)), [None, None])
        if pair[is_energy] is None and value is not None:
            pair[is_energy] = value * scale
    for (ns, kind, device), (watts, joules) in found.items():
        if watts is not None or joules is not None:
            yield ns, kind, str(device), watts, joules


def json_lines(lines, _interval=1):
    """Weights & Biases, history of the stream "events": an object a line."""
    for line in lines:
        event = json.loads(line)
        for key, watts in event.items():
            gpu = re.fullmatch(r"system\.gpu\.(\d+)\.powerWatts", key)
            if gpu:
                yield (time_ns(str(event["_timestamp"])), "gpu", gpu[1], watts,
                       None)


def json_array(lines, interval=1):
    """What the API of Weights & Biases gives: these objects in an array."""
    return json_lines((line.rstrip(",") for line in lines[1:-1]), interval)


def mlflow(lines, _interval=1):
    """A file of the file store: ms since 1970, a value, a step."""
    for line in lines:
        milliseconds, watts, _ = line.split()
        yield int(milliseconds) * 1000000, "gpu", "0", float(watts), None


def wandb_panel(lines):
    """Columns "RUN - METRIC": the trapezoids of each run's powers."""
    rows = list(csv.reader(lines))
    for i, name in enumerate(rows[0]):
        run, _, metric = name.rpartition(" - ")
        if metric != "system/gpu.0.powerWatts":
            continue
        points = [(float(row[0]), float(row[i])) for row in rows[1:] if row[i]]
        joules = sum((b[0] - a[0]) * (a[1] + b[1]) / 2
                     for a, b in zip(points, points[1:]))
        yield {"run_id": run, "energy_j": joules, "gpu_energy_j": joules,
               "duration_s": points[-1][0] - points[0][0], "n_gpus": 1}


def prometheus(lines, _interval=1):
    """Prometheus' documentation, "HTTP API": a matrix has a list of pairs of a
    time (s since 1970) and a value, a text, for each series."""
    series = json.loads("\n".join(lines))["data"]["result"]
    return _readings((round(time * 1000) * SECOND // 1000, one["metric"],
                      float(value) if value != "NaN" else None)
                     for one in series for time, value in one["values"])


def _labels(name):
    labels = dict(re.findall(r'(\w+)="([^"]*)"', name))
    return {"__name__": name.partition("{")[0], **labels}


def grafana(lines, _interval=1):
    """A column Time, and one per series with its metric and labels."""
    rows = csv.reader(lines)
    names = next(rows)
    values = []
    for cells in rows:
        if cells == names:
            continue
        time = cells[0]
        ns = (int(time) * SECOND // 1000 if time.isdigit() else time_ns(time))
        values += [(ns, _labels(name), number(cell) if cell else None)
                   for name, cell in zip(names[1:], cells[1:])]
    return _readings(values)
