#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of the physics of CPUs on what its fit has not seen.

usage: cpu-left-out.py DLEST TOP generation|network

For each generation of CPUs (or network) of data/cpu-means.csv, a model is
fitted to the rows of the others (networks that were compiled alone are five
groups), and predict estimates the time and its interval of the rows left out. A line a group and one for all: rows, median
error in %, share within 1.25 and 1.5, share inside the interval of 90 %, median
of high / low.
"""
import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile


def families(top):
    path = os.path.join(top, "data", "cpus.xml")
    text = open(path, encoding="utf-8").read()
    return dict(re.findall(r'<entry id="([^"]*)"[^>]* family="([^"]*)"', text))


def write(path, rows, columns):
    with open(path, "w", newline="", encoding="utf-8") as table:
        out = csv.DictWriter(table, columns, lineterminator="\n",
                             extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)


def estimates(dlest, rows, left, folder):
    columns = list(rows[0])
    known, held, model = (os.path.join(folder, name) for name in
                          ("known.csv", "held.csv", "model.xml"))
    write(known, [r for r in rows if r not in left], columns)
    # A sample of every socket: the time of a request is that of the machine.
    write(held, [dict(r, requests="1e9") for r in left],
          [c for c in columns if c != "request_s"] + ["requests"])
    subprocess.run([dlest, "fit", known, "--method", "cpu", "--with", "none",
                    "--target", "request_s", "-o", model, "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    out = subprocess.run([dlest, "predict", "--input", held, "--model", model, "--method",
                          "physical", "--format", "csv", "-q"], check=True,
                         stdout=subprocess.PIPE, text=True)
    return list(csv.DictReader(out.stdout.splitlines()))


def say(name, found):
    errors = [abs(x) for x, _, _ in found]
    print(name, len(found), f"{100 * math.expm1(statistics.median(errors)):.1f}",
          *(f"{sum(e <= math.log(by) for e in errors) / len(errors):.2f}"
            for by in (1.25, 1.5)),
          f"{sum(low <= 0 <= high for _, low, high in found) / len(found):.2f}",
          f"{math.exp(statistics.median(h - l for _, l, h in found)):.2f}")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    dlest, top, what = sys.argv[1:]
    rows = list(csv.DictReader(open(os.path.join(top, "data", "cpu-means.csv"),
                                    encoding="utf-8")))
    family = families(top)
    several = {r["config"].split()[0] for r in rows if r["stack"] != "compiled"}

    def key(r):
        name = r["config"].split()[0]
        if what == "generation":
            return family[r["gpu"]]
        return name if name in several else f"others-{len(name) % 5}"
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for group in sorted({key(r) for r in rows}):
            left = [r for r in rows if key(r) == group]
            here = []
            for r, e in zip(left, estimates(dlest, rows, left, folder)):
                measured = float(r["request_s"]) * 1e9
                bounds = [math.log(float(e[c]) / measured) for c in
                          ("duration_s", "duration_low_s", "duration_high_s")]
                here.append((r["framework"] or r["stack"], *bounds))
            say(group, [x[1:] for x in here])
            found += here
    for software in sorted({x[0] for x in found}):
        say(software, [x[1:] for x in found if x[0] == software])
    say("all", [x[1:] for x in found])


if __name__ == "__main__":
    main()
