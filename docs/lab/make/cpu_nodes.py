#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies of jobs on a node of CPUs and on nodes of GPUs, side by side.

  cpu_nodes.py DLEST [--write FILE]

Trainings and inference of VGG-19 and U-Net on two Xeon Platinum 8368, on a node
with the same and four A100, of which one or all work, and on two Xeon Platinum
8480+, at the plug. Jobs begin with START. The table goes to standard output;
with --write it also replaces the one in FILE that begins with the same heading.
"""

import argparse
import json
import sys

from generalisation import Failure, run, table
from known_times import replace

START = "20s"
NODES = (
    ("2 x 8368", "--node xeon-8368"),
    ("2 x 8480+", "--cpu xeon-platinum-8480+ --sockets 2 --node cpu-server "
                  "--precision bf16"),
    ("same node, its CPUs", "--node xeon-8368-4xa100 --device cpu"),
    ("1 of 4 A100", "--node xeon-8368-4xa100 --use-gpus 1"),
    ("4 A100", "--node xeon-8368-4xa100"),
)
TRAIN = "--train-samples {n} --val-samples 0 --epochs {e} --batch-size {b}"
INFER = "--phase inference --samples {n} --batch-size {b}"
JOBS = [(f"{name}, {what}", f"--arch {arch} " + form.format(**of))
        for name, arch in (("VGG-19", "vgg19"), ("U-Net", "unet"))
        for what, form, of in (
            ("one image", INFER, {"n": 1, "b": 1}),
            ("1,000 images, one at a time", INFER, {"n": 1000, "b": 1}),
            ("1,000 images, by 32", INFER, {"n": 1000, "b": 32}),
            ("1e6 images, by 32", INFER, {"n": 1000000, "b": 32}),
            ("training, 1,000 x 1", TRAIN, {"n": 1000, "e": 1, "b": 8}),
            ("training, 10,000 x 10", TRAIN, {"n": 10000, "e": 10, "b": 8}))]


def energy(dlest, job, node):
    words = (job + " " + node + " --method physical --startup " + START).split()
    out = json.loads(run(dlest, "predict", *words, "-q", "--format", "json"))
    at = next(b for b in out["node"]["boundaries"] if b["boundary"] == "node")
    return [at[k] / 3600 for k in ("energy_j", "low_j", "high_j")]


def text(x):
    digits = f"{x:.3g}"
    return f"{float(digits):,.0f}" if x >= 100 else f"{x:.2g}"


def energies(dlest):
    lines = []
    for name, job in JOBS:
        found = [energy(dlest, job, node) for _, node in NODES]
        cells = [f"{text(x)} ({text(low)} .. {text(high)})"
                 for x, low, high in found]
        gpus = min(x for x, *_ in found[3:])
        lines.append([name, *cells, *(f"{x / gpus:.2g}"
                                      for x, *_ in found[:2])])
    return table(["job, Wh at the plug", *(n for n, _ in NODES),
                  "8368 / GPUs", "8480+ / GPUs"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("dlest")
    parser.add_argument("--write", metavar="FILE")
    o = parser.parse_args()
    part = energies(o.dlest)
    print(part)
    if o.write:
        replace(o.write, part)


try:
    main()
except Failure as e:
    sys.exit("cpu_nodes.py: %s" % e)
