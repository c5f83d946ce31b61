#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the power of nodes is off.

  node_power.py DLEST [--write FILE]

Two tables, of data/node-power.csv and data/node-trainings.csv. The first has
nodes whose accelerators' power is known, with the shares of the rest fitted to
the other systems. The second has estimates by dlest of MLPerf's trainings with
their durations given. They go to standard output; with --write each also
replaces the one in FILE that begins with the same heading. Language models are
estimated by a fit without MLPerf's rows, which have powers of these nodes.
"""

import argparse
import csv
import json
import os
import statistics
import sys
import tempfile

from generalisation import Failure, run, table
from known_times import replace
from training_power import model_without

# As in src/estimate/node/node.h and data/nodes.xml.
EFFICIENCY, FIXED = 0.967, 0.77
LOAD, LOAD_LEAST, LOAD_MOST = 0.1, 0, 0.5
SPREAD_IDLE, SPREAD_MEMORY, SPREAD_REST = 0.25, 0.5, 0.25
NUMBERS = ("gpus", "tdp_w", "cpus", "cpu_idle_w", "cpu_tdp_w", "memory_w",
           "supply_w", "gpu_w", "node_w")
HEAD = ["system", "state", "measured W", "left out W", "error", "held"]

# Networks of dlest and settings of the benchmarks.
NETWORKS = {
    "bert": "--arch bert-large-uncased --precision fp8",
    "llama2_70b_lora": "--arch llama-2-70b --fine-tune lora --precision fp8",
    "gpt3": "--arch gpt3-175b --precision fp8",
    "resnet": "--arch resnet50 --precision fp16",
    "ssd": "--arch retinanet_resnext50_fpn --image-px 800 --precision amp",
    "unet3d": "--arch unet3d --precision amp",
    "dlrm_dcnv2": "--arch dlrm-dcnv2",
}


class Node:
    """A reading at the plug of a node whose accelerators' power is known."""

    def __init__(self, row):
        self.row = row
        x = {name: float(row[name]) for name in NUMBERS}
        self.watts, self.supply = x["node_w"], x["supply_w"]
        self.tdp = x["gpus"] * x["tdp_w"]
        self.boards = x["gpus"] * x["gpu_w"]
        self.fan = 0 if row["cooling"] == "liquid" else (self.boards /
                                                        self.tdp) ** 3
        self.idle = row["state"] == "idle"
        self.memory = x["memory_w"]
        self.cpu = lambda load: x["cpus"] * (
            x["cpu_idle_w"] + load * (x["cpu_tdp_w"] - x["cpu_idle_w"]))

    def load(self):
        return 0 if self.idle else LOAD

    def loss(self, dc):
        """Of the supplies at a power that they put out."""
        half = self.supply / 2
        return (1 / EFFICIENCY - 1) * (FIXED * half + (1 - FIXED) * dc)

    def share(self):
        """The rest of the node, by the TDP of its accelerators."""
        most = (self.watts - self.loss(self.watts))
        return (most - self.boards - self.cpu(self.load()) -
                self.memory) / self.tdp

    def power(self, base, fans):
        rest = self.tdp * (base + fans * self.fan)
        dc = self.boards + self.cpu(self.load()) + self.memory + rest
        parts = (rest * SPREAD_REST, self.memory * SPREAD_MEMORY,
                 self.boards * SPREAD_IDLE if self.idle else 0)
        above = (*parts, self.cpu(LOAD_MOST) - self.cpu(self.load()))
        below = (*parts, self.cpu(self.load()) - self.cpu(LOAD_LEAST))
        scale = (dc + self.loss(dc)) / dc
        return (dc * scale, (dc - norm(below)) * scale,
                (dc + norm(above)) * scale)


def norm(values):
    return sum(v * v for v in values) ** 0.5


def shares(nodes):
    """Least squares of base + fans x^3, each system with a weight of 1."""
    count = {}
    for n in nodes:
        count[n.row["system"]] = count.get(n.row["system"], 0) + 1
    s = sx = sxx = sy = sxy = 0
    for n in nodes:
        w = 1 / count[n.row["system"]]
        s, sx, sxx = s + w, sx + w * n.fan, sxx + w * n.fan ** 2
        sy, sxy = sy + w * n.share(), sxy + w * n.fan * n.share()
    fans = (s * sxy - sx * sy) / (s * sxx - sx * sx)
    return (sy - fans * sx) / s, fans


TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def read(name):
    with open(os.path.join(TOP, "data", name), encoding="utf-8",
              newline="") as f:
        return list(csv.DictReader(f))


def summary(label, found):
    errors = [abs(f[0] / f[1] - 1) for f in found]
    held = sum(f[2] for f in found)
    return [label, "", "", "", f"{100 * statistics.median(errors):.0f} %",
            f"{held} of {len(found)}"]


def nodes_table():
    nodes = [Node(r) for r in read("node-power.csv")]
    base, fans = shares(nodes)
    print(f"all systems: base {base:.3f}, fans {fans:.3f} of the TDP",
          file=sys.stderr)
    rows, kinds = [], {}
    for n in nodes:
        others = [m for m in nodes if m.row["system"] != n.row["system"]]
        x, low, high = n.power(*shares(others))
        held = low <= n.watts <= high
        state = n.row["state"]
        rows.append([n.row["system"], state, f"{n.watts:.0f}", f"{x:.0f}",
                     f"{100 * (x / n.watts - 1):+.0f} %",
                     "yes" if held else "no"])
        kind = ("training" if state.startswith("training") else
                state if state in ("idle", "highest") else "inference")
        kinds.setdefault(kind, []).append((x, n.watts, held))
    rows += [summary("median of " + k, v) for k, v in kinds.items()]
    rows.append(summary("median of all", sum(kinds.values(), [])))
    return table(HEAD, rows)


def command(row):
    gpus = int(row["gpus"])
    words = NETWORKS[row["benchmark"]].split() + [
        "--stack", "mlperf", "--node", "dgx-h100", "--cooling", "liquid",
        "--gpus", str(gpus),
        "--duration", "%gs" % (60 * float(row["minutes"]))]
    samples = float(row["samples"])
    if row["seq_len"]:
        return words + ["--seq-len", row["seq_len"], "--tokens",
                        "%g" % (samples * float(row["seq_len"])),
                        "--global-batch", row["global_batch"]]
    batch = max(float(row["global_batch"]) / gpus, 1)
    return words + ["--train-samples", "%.0f" % samples, "--val-samples", "0",
                    "--epochs", "1", "--batch-size", "%.0f" % batch]


def scored(out, boundary, measured):
    """Estimate, kWh, its error as a text, and whether the interval holds."""
    at = next(b for b in out["node"]["boundaries"]
              if (b["estimate"], b["boundary"]) ==
              (out["recommended"], boundary))
    kwh = at["energy_j"] / 3.6e6
    held = (at["low_j"] / 3.6e6 <= measured <= at["high_j"] / 3.6e6
            if at["low_j"] else None)
    return (kwh, measured, bool(held), held is not None), [
        f"{measured:.3g}", f"{kwh:.3g}", f"{100 * (kwh / measured - 1):+.0f} %",
        {True: "yes", False: "no", None: "-"}[held]]


def medians(label, found):
    """Of [(found at the plug, found behind the supplies)]."""
    cells = [label, ""]
    for some in zip(*found):
        error = statistics.median(abs(f[0] / f[1] - 1) for f in some)
        cells += ["", "", f"{100 * error:.0f} %",
                  f"{sum(f[2] for f in some)} of {sum(f[3] for f in some)}"]
    return cells


def trainings_table(dlest, language):
    """language: the model of language models."""
    rows, found = [], []
    for r in read("node-trainings.csv"):
        words = command(r)
        if r["seq_len"]:
            words += ["--model", language]
        try:
            out = json.loads(run(dlest, "predict", *words, "-q", "--format",
                                 "json"))
        except Failure as failure:
            print(failure, file=sys.stderr)
            continue
        plug, cells = scored(out, "node", float(r["energy_kwh"]))
        dc, more = scored(out, "node-dc", float(r["energy_dc_kwh"]))
        rows.append([r["benchmark"], r["nodes"], *cells, *more])
        found.append((plug, dc))
    alone = [f for f, r in zip(found, rows) if r[1] == "1"]
    rows += [medians("median, one node", alone), medians("median", found)]
    return table(["benchmark", "nodes", "measured kWh", "estimate kWh",
                  "error", "held", "DC", "estimate DC", "error DC",
                  "held DC"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("dlest")
    parser.add_argument("--write", metavar="FILE")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        language = model_without(o.dlest, folder, TOP, "mlperf")
        parts = nodes_table(), trainings_table(o.dlest, language)
    for part in parts:
        print(part, end="\n\n")
        if o.write:
            replace(o.write, part)


try:
    main()
except Failure as e:
    sys.exit("node_power.py: %s" % e)
