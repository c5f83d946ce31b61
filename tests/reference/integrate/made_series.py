# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates what monitoring systems export, for made_logs.py."""

import csv
import io
import json

from made_logs import Device, stamp


def series(r):
    """Of the GPUs of one or two nodes, and of the nodes: labels and values by
    time. Some GPUs have no UUID, and some a slice that repeats their values."""
    times = [15 * i for i in range(r.randint(30, 120))]
    gap, pause = r.randrange(5, len(times) - 5), r.choice([0, 300])
    times = times[:gap] + [t + pause for t in times[gap:]]
    uuids, counter, sliced = (r.random() < 0.5 for _ in range(3))
    found = []
    for host in range(r.randint(1, 2)):
        for k in range(r.choice([1, 2, 4])):
            gpu = Device(r)
            labels = {"gpu": str(k), "Hostname": f"n{host}",
                      "modelName": "NVIDIA A100-SXM4-80GB"}
            if uuids:
                labels["UUID"] = f"GPU-{host}{k:07x}"
            watts = [str(gpu.at(t)) for t in times]
            for i in range(3, len(times) - 3):
                watts[i] = watts[i] if r.random() > 0.03 else "NaN"
            power = {"__name__": "DCGM_FI_DEV_POWER_USAGE", **labels}
            found.append((power, watts))
            if sliced:
                found.append(({**power, "GPU_I_ID": "7"}, watts))
            if counter:
                joules = r.uniform(0, 1e6)
                found.append(({"__name__":
                               "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
                               **labels},
                              [str(round(joules * 1e3 + 2e5 * t))
                               for t in times]))
        wall = Device(r, 3000)
        found.append(({"__name__": "ipmi_dcmi_power_consumption_watts",
                       "instance": f"n{host}:9290"},
                      [str(wall.at(t)) for t in times]))
    found.append(({"__name__": "DCGM_FI_DEV_GPU_TEMP", "gpu": "0"},
                  ["41"] * len(times)))
    return times, found


def prometheus(r):
    times, found = series(r)
    text = json.dumps({"status": "success", "data": {
        "resultType": "matrix", "result": [
            {"metric": labels, "values": [[1709629200 + t, value]
                                          for t, value in zip(times, values)]}
            for labels, values in found]}}, indent=r.choice([None, 2]))
    return text.splitlines()


def grafana(r):
    times, found = series(r)
    dated, inside = (r.random() < 0.5 for _ in range(2))
    names = ["Time"]
    for labels, _ in found:
        metric = "" if inside else labels["__name__"]
        names.append(metric + "{" + ", ".join(
            f'{key}="{value}"' for key, value in labels.items()
            if inside or key != "__name__") + "}")
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    table.writerow(names)
    table = csv.writer(out, lineterminator="\n")
    for i, t in enumerate(times):
        when = stamp(t, digits=0) if dated else 1709629200000 + 1000 * t
        table.writerow([when] + [values[i] if values[i] != "NaN" else ""
                                 for _, values in found])
    return out.getvalue().splitlines()
