# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates logs of trackers, as made_logs does."""

import json

from made_logs import Device


def json_lines(r):
    gpus = [Device(r) for _ in range(r.randint(1, 4))]
    lines = []
    for t in range(r.randint(60, 600)):
        event = {f"system.gpu.{i}.powerWatts": gpu.at(t)
                 for i, gpu in enumerate(gpus)}
        event |= {"system.cpu": 12.5, "_timestamp": 1700000000.5 + 15 * t}
        lines.append(json.dumps(event))
    return lines


def json_array(r):
    lines = json_lines(r)
    return ["["] + [line + "," for line in lines[:-1]] + [lines[-1], "]"]


def mlflow(r):
    gpu = Device(r)
    return [f"{1700000000123 + 10000 * t} {gpu.at(t)} {t}"
            for t in range(r.randint(60, 300))]


def wandb_panel(r):
    runs = [(f"run - {i}", Device(r)) for i in range(r.randint(1, 4))]
    names = ["Relative Time (Process)"] + [
        f"{run} - system/gpu.0.powerWatts{end}"
        for run, _ in runs for end in ("", "__MIN", "__MAX")]
    lines = [",".join(f'"{name}"' for name in names)]
    for t in range(r.randint(60, 200)):
        cells = [str(15.5 * t)]
        for _, gpu in runs:
            w = gpu.at(t)
            cells += [f"{w}", f"{w - 1}", f"{w + 1}"] if r.random() < 0.8 \
                else ["", "", ""]
        lines.append(",".join(cells))
    return lines
