#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the power of computers without accelerators is off, at the wall.

  cpu_power.py DLEST [--write FILE]

Two tables of data/cpu-power.csv. In the first the shares of the TDP, the power
of the memory and of the rest are fitted to the other vendors, or kinds of
computers of other vendors, of each row. The second has dlest's estimates, whose
constants are rounded from the fit to all rows, with the intervals of 90 %. They
go to standard output; with --write each also replaces the one in FILE that
begins with the same heading.
"""

import argparse
import csv
import json
import math
import os
import statistics
import sys

import numpy as np
from scipy.optimize import least_squares

from generalisation import Failure, run, table
from known_times import replace

KINDS = {"server": "Xeon Scalable", "epyc": "EPYC",
         "entry": "Xeon E, one socket", "desktop": "Ryzen 9 7950X",
         "mobile": "Ryzen 5 5560U"}
# A CPU of each kind; its TDP is that of the row. And a node, and its supply.
CPU = {"server": "xeon-platinum-8280", "epyc": "epyc-7742",
       "entry": "xeon-e-2124g", "desktop": "ryzen-9-7950x",
       "mobile": "ryzen-5-5560u"}
NODE = {"desktop": "cpu-desktop", "mobile": "cpu-mini", "entry": "cpu-mini"}
FITTED = ("server", "epyc", "entry")
EFFICIENCY = 0.94
LOADS = {"idle": 0, "half": 0.5, "full": 1}


def read():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "..", "data", "cpu-power.csv")
    with open(top, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        for name in ("sockets", "tdp_w", "memory_gb", "servers", "idle_w",
                     "half_w", "full_w"):
            r[name] = float(r[name]) if r[name] else math.nan
    return rows


def law(x, r, load):
    """idle and full by the TDP of three kinds, W/GB, rest of two kinds"""
    k = FITTED.index(r["kind"])
    idle, full, rest = x[k], x[3 + k], x[8] if r["kind"] == "entry" else x[7]
    packages = r["sockets"] * r["tdp_w"] * (idle + load * (full - idle))
    return (packages + x[6] * r["memory_gb"] + rest) / EFFICIENCY


def fit(rows):
    def off(x):
        return [w * math.log(law(x, r, LOADS[load]) / r[load + "_w"])
                for r in rows for load, w in (("idle", 1), ("half", .5),
                                              ("full", 1))]
    first = [.05, .1, .1, .95, .75, .7, .14, 25, 5]
    low = [.01, .01, .01, .3, .3, .3, .02, 2, 1]
    high = [.4, .4, .4, 1.3, 1.3, 1.3, .5, 80, 20]
    return least_squares(off, first, loss="soft_l1", f_scale=.15,
                         bounds=(low, high)).x


def within(errors, factor):
    return f"{100 * statistics.mean(abs(e) < math.log(factor) for e in errors):.0f} %"


def middle(errors):
    return f"{100 * math.expm1(statistics.median(map(abs, errors))):.1f} %"


def bias(errors):
    return f"{math.exp(statistics.median(errors)):.2f}"


def left_out(rows, group):
    """errors by kind and load"""
    found = {}
    for name in sorted({group(r) for r in rows}):
        x = fit([r for r in rows if group(r) != name])
        for r in rows:
            if group(r) == name:
                for load, u in LOADS.items():
                    found.setdefault((r["kind"], load), []).append(
                        math.log(law(x, r, u) / r[load + "_w"]))
    return found


def fitted_table(rows):
    rows = [r for r in rows if r["kind"] in FITTED]
    x = fit(rows)
    print("all rows:", np.round(x, 3), file=sys.stderr)
    lines = []
    for what, group in (("vendor", lambda r: r["vendor"]),
                        ("CPU", lambda r: r["cpu"])):
        found = left_out(rows, group)
        for load in ("full", "half", "idle"):
            errors = {k: found[k, load] for k in FITTED}
            errors["all"] = sum(errors.values(), [])
            lines += [[what, load, KINDS.get(k, k), len(e), middle(e),
                       within(e, 1.25), bias(e)] for k, e in errors.items()
                      if k == "all" or load == "full"]
    return table(["held out", "load", "computers", "rows", "median error",
                  "within 1.25", "bias"], lines)


def estimate(dlest, r):
    """power at the plug, low and high, of inference"""
    kind = r["kind"]
    words = ["--arch", "resnet50", "--phase", "inference", "--requests", "1e8",
             "--batch-size", "64", "--cpu", CPU[kind], "--sockets", f"{r['sockets']:g}",
             "--node", NODE.get(kind, "cpu-server"),
             "--set", f"gpu.tdp_w={r['tdp_w']:g}",
             "--set", f"node.memory_gb={r['memory_gb']:g}"]
    out = json.loads(run(dlest, "predict", *words, "-q", "--method",
                         "physical", "--format", "json"))
    at = next(b for b in out["node"]["boundaries"] if b["boundary"] == "node")
    return at["power_w"], at["power_low_w"], at["power_high_w"]


def dlest_table(dlest, rows):
    found, lines = {}, []
    for r in rows:
        x, low, high = estimate(dlest, r)
        found.setdefault(r["kind"], []).append(
            (math.log(x / r["full_w"]), low <= r["full_w"] <= high))
    found["all"] = sum(found.values(), [])
    for kind in (*KINDS, "all"):
        errors = [e for e, _ in found[kind]]
        held = [h for _, h in found[kind]]
        lines.append([KINDS.get(kind, kind), len(errors), middle(errors),
                      within(errors, 1.25), bias(errors),
                      f"{100 * statistics.mean(held):.0f} %"])
    return table(["estimates", "rows", "median error", "within 1.25", "bias",
                  "held"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("dlest")
    parser.add_argument("--write", metavar="FILE")
    o = parser.parse_args()
    rows = read()
    parts = [fitted_table(rows), dlest_table(o.dlest, rows)]
    print("\n\n".join(parts))
    for part in parts if o.write else []:
        replace(o.write, part)


try:
    main()
except Failure as e:
    sys.exit("cpu_power.py: %s" % e)
