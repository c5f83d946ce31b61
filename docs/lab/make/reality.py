#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far estimates are off for energies, times and powers that others measured.

  reality.py DLEST RUNS [--rows] [--kind REGEX] [--write FILE]

RUNS is the folder of measured data; its table reality/cases.csv has a command
for each published figure. No fit reads these figures. Each command is run as it
is. A figure is compared with the recommended method and with three rules:
`tdp` (power limit times the estimated time), `green-algorithms`, and 6 N D at 40 %
of the peak rate times the TDP (N parameters, D tokens; of images 3 times the
FLOPs of a forward pass; of inference a third of it). The table goes to standard
output; with --write it also replaces the one in FILE that begins with the same
heading. --rows prints a line for each case instead.

The commands of nodes that serve in MLPerf Inference do not say that power limits
were lowered (Max-Q). "Limit given" runs them once more with the limits that the
submissions state: power_limit of the Max-Q classes for 8 H100 SXM in
closed/NVIDIA/configs of github.com/mlcommons/inference_results_v4.0, and the 275 W
of the system notes of PRIMERGY GX2570M6 (v1.1, v2.0).
"""

import argparse
import csv
import json
import math
import os
import re
import shlex
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

from generalisation import Failure, run, table
from known_times import replace

J_PER_KWH = 3.6e6
GPUS_OF_NODE = 8
MFU = 0.4
RULES = ("tdp", "green-algorithms", "6nd")
HEAD = ["quantity", "cases", "ratio", "median error", "within 1.25 / 1.5 / 2",
        "inside 90 %", "width", "TDP x time", "Green Algorithms", "6 N D"]
# Kinds of cases in the order of the table, and their names there.
KINDS = {"train-energy": "energy of a training",
         "train-energy-duration": "energy of a training, duration given",
         "train-time": "time of a training",
         "train-speed": "speed of a training",
         "infer-energy": "energy of inference",
         "infer-energy-duration": "energy of inference, time given",
         "infer-latency": "time of a request, batch 1",
         "infer-speed": "speed of inference",
         "infer-power": "power of a node at inference",
         "memory": "peak GPU memory"}
LIMITED = {k + "-limit": KINDS[k] + ", limit given"
           for k in ("infer-energy", "infer-speed", "infer-power")}
# Watts by what source and set-up have in them.
LIMITS = {("4.0-0033", "gptj"): 350, ("4.0-0033", "llama2"): 450,
          ("4.0-0033", "resnet"): 300, ("4.0-0033", "stable-diff"): 350,
          ("2.1-0019", ""): 275}


def number(x):
    return math.nan if x is None else float(x)


def scaled(bounds, factor):
    return tuple(x * factor for x in bounds)


class Estimate:
    """What one method says of a case: (estimate, low, high) of a quantity."""

    def __init__(self, document, command, method):
        self.doc, self.method = document, method
        self.row = next(e for e in document["estimates"]
                        if e["method"] == method)
        # A share of a node is charged; published figures are of all of it.
        share = "--charge share" in command
        self.whole = GPUS_OF_NODE / number(document["n_gpus"]) if share else 1

    def of(self, key, low, high):
        return tuple(number(self.row.get(k)) for k in (key, low, high))

    def energy(self):
        return self.of("energy_j", "low_j", "high_j")

    def time(self):
        return self.of("duration_s", "duration_low_s", "duration_high_s")

    def at_wall(self):
        return next(b for b in self.doc["node"]["boundaries"]
                    if b["estimate"] == self.method
                    and b["boundary"] == "node")

    def wall_energy(self):
        b = self.at_wall()
        return tuple(number(b[k]) for k in ("energy_j", "low_j", "high_j"))

    def wall_power(self):
        b = self.at_wall()
        mean = number(b["energy_j"]) / self.time()[0]
        return (mean, number(b.get("power_low_w")),
                number(b.get("power_high_w")))

    def boards_of_node(self):
        """Energy of busy boards, and of those that wait as long."""
        parts = {p["part"]: p for p in self.doc["node"]["parts"]
                 if p["estimate"] == self.method}
        busy = parts["gpu_busy"]
        idle = number(parts["gpu_idle"]["energy_j"] or 0)
        time, low, high = self.time()
        if math.isnan(low):  # a given time has no error
            low = high = time
        return (number(busy["energy_j"]) + idle,
                number(busy["low_j"]) + idle * (low / time),
                number(busy["high_j"]) + idle * (high / time))

    def outputs(self, unit):
        """Requests, images or tokens of a run of inference."""
        n = number(self.doc["requests"])
        return n * number(self.doc["output_tokens"]) if "token" in unit else n

    def speed(self, unit):
        time = self.time()
        if self.doc["phase"] == "training":
            rate = number(self.row["tokens_per_s"])
            return tuple(rate * time[0] / time[i] for i in (0, 2, 1))
        n = self.outputs(unit) * self.whole
        return tuple(n / time[i] for i in (0, 2, 1))

    def value(self, quantity, unit):
        if quantity.startswith("speed"):
            return self.speed(unit)
        if quantity.startswith("mean power"):
            return scaled(self.wall_power(), self.whole)
        if quantity.startswith("time per"):
            return scaled(self.time(), 1 / self.outputs(""))
        if quantity.startswith("time"):
            n = number(self.doc["n_gpus"])
            return scaled(self.time(), n / 3600 if unit == "GPU-hours" else 1)
        if "8 GPUs" in quantity:
            return scaled(self.boards_of_node(), 1 / self.outputs(quantity))
        if "energy per" in quantity:
            return scaled(self.wall_energy(), 1 / self.outputs(quantity))
        return scaled(self.energy(), 1 / J_PER_KWH)


def memory(document):
    return tuple(number(document.get("memory_need_%sgb" % part))
                 for part in ("", "low_", "high_"))


def flops(document):
    """By the rule of 6 N D; a forward pass takes 2 N D."""
    d = {k: number(v) for k, v in document.items()
         if v is None or isinstance(v, (int, float))}
    passes = 6 if document["phase"] == "training" else 2
    params = 1e6 * (d["params_m"] if math.isnan(d["active_params_m"])
                    else d["active_params_m"])
    if document["phase"] == "training":
        samples = d["train_samples"] * d["epochs"]
        tokens = samples * d["seq_len"]
    else:
        samples = d["requests"]
        tokens = samples * (d["prompt_tokens"] + d["output_tokens"])
        if not math.isnan(d["denoising_steps"]):
            samples *= d["denoising_steps"]
    if not math.isnan(tokens):
        return passes * params * tokens
    return passes * 1e9 * d["macs_g"] * samples


def by_6nd(document, quantity, unit):
    """The time of these FLOPs at 40 % of the peak, and TDP for so long."""
    n = number(document["n_gpus"])
    tdp = next((number(e["power_w"]) for e in document["estimates"]
                if e["method"] == "tdp"), math.nan)
    time = flops(document) / (MFU * 1e12 * number(document["peak_tflops"]) * n)
    share = Estimate.__new__(Estimate)
    share.doc, share.whole = document, 1
    if quantity.startswith("speed"):
        work = share.outputs(unit) if document["phase"] != "training" else \
            number(document["train_samples"]) * number(document["seq_len"]) \
            * number(document["epochs"])
        return work / time
    if quantity.startswith("time per"):
        return time / share.outputs("")
    if quantity.startswith("time"):
        return time * (n / 3600 if unit == "GPU-hours" else 1)
    if "energy per" in quantity:
        return tdp * time / share.outputs(quantity)
    if quantity.startswith("energy"):
        return tdp * time / J_PER_KWH
    return math.nan


class Case:
    """A published figure, and estimates over it."""

    def __init__(self, row, document):
        published = float(row["published"])
        quantity, unit = row["quantity"], row["unit"]
        self.row, self.rules = row, {}
        if row["kind"] == "memory":
            found = memory(document)
        else:
            found = Estimate(document, row["command"],
                             document["recommended"]).value(quantity, unit)
            # Rules of energy take the time that dlest estimates.
            of_time = quantity.startswith(("time", "speed"))
            for rule in RULES[2:] if of_time else RULES:
                try:
                    x = (by_6nd(document, quantity, unit) if rule == "6nd" else
                         Estimate(document, row["command"],
                                  rule).value(quantity, unit)[0])
                except (StopIteration, KeyError):
                    continue
                if x > 0:
                    self.rules[rule] = x / published
        self.ratio, self.low, self.high = scaled(found, 1 / published)
        if not self.ratio > 0:
            raise ValueError("no estimate")

    def inside(self):
        if math.isnan(self.low) or math.isnan(self.high):
            return None
        return self.low <= 1 <= self.high


def estimate(dlest, row):
    """A case, or the reason why there is none."""
    try:
        text = run(dlest, *shlex.split(row["command"])[1:], "--format", "json",
                   "-q")
        return Case(row, json.loads(text))
    except (Failure, StopIteration, KeyError, ValueError, TypeError) as e:
        return "%s: %r" % (row["command"], e)


def limited(rows):
    """The cases whose limit is known, once more with it."""
    for row in rows:
        watts = next((w for (source, of), w in LIMITS.items()
                      if source in row["source"]
                      and of in row["setup"].lower()), None)
        if row["kind"] + "-limit" in LIMITED and watts:
            yield dict(row, kind=row["kind"] + "-limit", command=row["command"]
                       + " --power-limit %d" % watts)


def percent(x):
    return "%.0f %%" % (100 * x)


def median_error(ratios):
    return percent(statistics.median(abs(r - 1) for r in ratios)) \
        if ratios else "-"


def cells(kind, cases):
    ratios = [c.ratio for c in cases]
    size = [abs(math.log(r)) for r in ratios]
    inside = [c.inside() for c in cases if c.inside() is not None]
    widths = [c.high / c.low for c in cases if c.inside() is not None]
    return [{**KINDS, **LIMITED}[kind], len(cases),
            "%.2f" % statistics.median(ratios), median_error(ratios),
            " / ".join("%.0f" % (100 * statistics.mean(
                s <= math.log(f) for s in size)) for f in (1.25, 1.5, 2)),
            percent(statistics.mean(inside)) if inside else "-",
            "%.1f" % statistics.median(widths) if widths else "-",
            *(median_error([c.rules[rule] for c in cases if rule in c.rules])
              for rule in RULES)]


def print_rows(cases):
    for c in cases:
        print(c.row["kind"], "%.3f" % c.ratio,
              {None: "-", True: "inside", False: "outside"}[c.inside()],
              *("%s=%.2f" % x for x in c.rules.items()), c.row["command"])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("runs")
    p.add_argument("--rows", action="store_true")
    p.add_argument("--kind", default="", metavar="REGEX")
    p.add_argument("--write", metavar="FILE")
    o = p.parse_args()
    path = os.path.join(o.runs, "reality", "cases.csv")
    if not os.path.exists(path):
        print("reality: skipped: no table of published figures: '%s'" % path)
        return
    with open(path, encoding="utf-8", newline="") as f:
        rows = [r for r in csv.DictReader(f)
                if r["kind"] in KINDS]
    rows = [r for r in [*rows, *limited(rows)] if re.search(o.kind, r["kind"])]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda r: estimate(o.dlest, r), rows))
    cases = [c for c in found if isinstance(c, Case)]
    for reason in (c for c in found if not isinstance(c, Case)):
        print("reality: no estimate: " + reason, file=sys.stderr)
    if o.rows:
        print_rows(cases)
        return
    of = {k: [c for c in cases if c.row["kind"] == k]
          for k in [*KINDS, *LIMITED]}
    text = table(HEAD, [cells(k, of[k]) for k in of if of[k]])
    if o.write:
        replace(o.write, text)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("reality: %s" % e)
