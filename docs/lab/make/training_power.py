#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the power of trainings of language models is off, a source left out.

  training_power.py DLEST RUNS [--rows] [--write FILE]

RUNS is the folder of measured data, with power/training.csv and
reality/cases.csv. The fit of data/language-training-means.csv is repeated
without the rows of each source in turn, and estimates the mean power of a board
in that source's trainings, of which no time is known. TDP and shares of the
limit in force are compared with the same. The width of dlest's interval was
chosen by all of these trainings; 'by others' are inside one that has it from the
errors of the other sources alone. The table goes to standard output; with
--write it also replaces the one in FILE that begins with the same heading.
--rows prints a line for each training instead.
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
import tempfile

from generalisation import Failure, run, table, write
from known_times import replace

MEANS = "data/language-training-means.csv"
HEAD = ["left out", "trainings", "dlest", "within 1.25", "inside 90 %",
        "by others", "TDP", "limit", ".87 limit"]
# Of a node of 8 at the plug (data/make/language-means.py), and processors of a
# GPU's share of a node (power/training.csv).
SUPPLY, REST_W, CPU_W = .955, 1650, 42
TUCANO = ("transformer:layers=%d,hidden=%d,heads=16,kv_heads=4,ffn=%d,"
          "vocab=32000,tied=0,bias=0,positions=0,seq=%d")
H100 = "--gpu h100-sxm5-80gb "
LORA = H100 + ("--arch llama-2-70b --fine-tune lora:16 --precision fp8"
               " --seq-len 8192 --stack mlperf --gpus ")
# Set-ups of rows of power/training.csv, and the source that fits call so.
TRAININGS = {
    "nlr": {"r021": LORA + "8", "r022": LORA + "16", "r023": LORA + "32",
            "r024": LORA + "64"},
    "mlperf": {
        "r119": H100 + "--arch bert-large-uncased --gpus 8 --precision fp8"
                " --seq-len 256 --batch-size 96 --stack mlperf",
        "r121": LORA + "8", "r125": LORA + "64", "r130": LORA + "512",
        "r129": H100 + "--arch gpt3-175b --gpus 512 --precision fp8 --seq-len"
                " 2048 --stack mlperf"},
    "tucano": {
        "r078": "--arch tinyllama-1.1b --gpu a40 --gpus 8 --seq-len 2048",
        "r080": "--arch %s --gpu a100-sxm4-80gb --gpus 4 --seq-len 4096"
                % (TUCANO % (24, 2560, 10240, 4096)),
        "r082": "--arch %s --gpu a100-sxm4-80gb --gpus 8 --seq-len 2048"
                " --batch-size 32" % (TUCANO % (14, 2048, 4096, 2048))},
    "gpu-power-lab": {
        "r136": "--arch llama-3-8b --gpu b300 --seq-len 4096 --stack compiled"}}
# Sources of reality/cases.csv that have powers of language models.
CASES = (("Tucano", "tucano"), ("TeenyTinyLlama", "teenytinyllama"),
         ("DIA lab", "dia"))
LIMIT_W = {"tucano": 500}  # of its A100 boards


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


class Training:
    """A measured mean power of a board, and the command that estimates it."""

    def __init__(self, source, name, options, watts):
        self.source, self.name, self.watts = source, name, watts
        self.options = options
        self.limit = None
        if "a100" in options and source in LIMIT_W:
            self.limit = LIMIT_W[source]
            self.options += " --set power_limit_w=%d" % self.limit

    def estimate(self, dlest, model):
        d = json.loads(run(dlest, "predict", *shlex.split(self.options),
                           "--model", model, "--method", "physical", "-q",
                           "--format", "json"))
        e, n = d["estimates"][0], d["n_gpus"]
        power = [e[k] / n for k in ("power_w", "power_low_w", "power_high_w")]
        gpu = json.loads(run(dlest, "list", "gpus", d["gpu"], "--format",
                             "json"))["gpus"][0]
        tdp = gpu["tdp_w"]
        return [x / self.watts for x in (*power, tdp, self.limit or tdp,
                                         .87 * (self.limit or tdp))]


def logged(path):
    rows = {r["id"]: r for r in read(path)}
    for source, of in TRAININGS.items():
        for name, options in of.items():
            r, watts = rows[name], float(rows[name]["power_w_per_gpu"])
            if r["boundary"].startswith("wall"):
                watts = SUPPLY * watts - REST_W / 8
            elif "cpu" in r["boundary"]:
                watts -= CPU_W
            yield Training(source, name, options + " --tokens 1e9", watts)


def published(path):
    for r in read(path):
        source = next((s for text, s in CASES if text in r["source"]), None)
        given = re.search(r" --duration (\d+)s", r["command"])
        if not source or not given or "--seq-len" not in r["command"]:
            continue
        options = r["command"].replace(given[0], "").split(" ", 2)[2]
        gpus = re.search(r"--gpus (\d+)", options)
        joules = 3.6e6 * float(r["published"])
        yield Training(source, r["setup"].split(",")[0], options,
                       joules / int(given[1]) / int(gpus[1] if gpus else 1))


def model_without(dlest, folder, top, source):
    """A fit of the means without a source's rows."""
    rows = [r for r in read(os.path.join(top, MEANS)) if r["source"] != source]
    path = os.path.join(folder, source + ".xml")
    run(dlest, "fit", write(folder, source + ".csv", rows), "--method",
        "language", "--with", "none", "--target", "tokens_per_s", "-o", path)
    return path


def error(ratios):
    return "%.1f %%" % (100 * statistics.median(abs(x - 1) for x in ratios))


def inside(powers, others):
    """How many of the powers are inside 90 % by the errors of others."""
    rms = math.sqrt(statistics.mean(math.log(x) ** 2 for x in others))
    return sum(abs(math.log(x)) <= 1.645 * rms for x in powers)


def line_of(name, found, by_others):
    """found: [(power, low, high, TDP, limit, .87 limit)], by the measured."""
    power, low, high, *rules = zip(*found)
    n = len(found)
    return [name, n, error(power),
            "%.0f %%" % (100 * sum(.8 <= x <= 1.25 for x in power) / n),
            "%d of %d" % (sum(a <= 1 <= b for a, b in zip(low, high)), n),
            "%d of %d" % (by_others, n),
            *(error(x) for x in rules)]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("runs")
    p.add_argument("--rows", action="store_true")
    p.add_argument("--write", metavar="FILE")
    o = p.parse_args()
    paths = [os.path.join(o.runs, *name) for name in
             (("power", "training.csv"), ("reality", "cases.csv"))]
    for path in paths:
        if not os.access(path, os.R_OK):
            print("training-power: skipped: no table of powers: '%s'" % path)
            return
    top = os.environ.get("DLEST_DATADIR") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    trainings = [*logged(paths[0]), *published(paths[1])]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in dict.fromkeys(t.source for t in trainings):
            model = model_without(o.dlest, folder, top, source)
            found[source] = [(t, t.estimate(o.dlest, model))
                             for t in trainings if t.source == source]
    if o.rows:
        for t, x in (pair for of in found.values() for pair in of):
            print("%-15s %-28s %4.0f W %.2f [%.2f, %.2f]" %
                  (t.source, t.name[:28], t.watts, *x[:3]))
        return
    ratios = {source: [x for _, x in of] for source, of in found.items()}
    count = {source: inside([x[0] for x in of], [
        x[0] for other, xs in ratios.items() if other != source for x in xs])
        for source, of in ratios.items()}
    rows = [line_of(source, of, count[source]) for source, of in ratios.items()]
    rows.append(line_of("all", sum(ratios.values(), []), sum(count.values())))
    new = table(HEAD, rows)
    if o.write:
        replace(o.write, new)
    print(new)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("training-power: %s" % e)
