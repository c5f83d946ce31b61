#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether fits that begin near their optimum end where others do.

cold_fits.py --dlest PATH --runs FILE [--by LIST]

dlest begins the fits of eight groups left out or more at the solution for all
rows. Here each group of `runs` (delrey2024/runs.csv) is left out again beside
all others as the second group: of two groups, both fits begin at the prior. The
mean absolute percentage errors of power and energy over all runs are compared
by configuration, architecture and GPU.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile

TARGETS = ("gpu_power_w", "epoch_energy_j")
MOST = 0.05  # percentage points


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def out_of_fold(dlest, runs, column, folder):
    """Predictions of (target, row), and its fold and measured value."""
    path = os.path.join(folder, "predictions.csv")
    command = [dlest, "fit", runs, "--alias", "mobilenet_v2=mobilenetv2_050",
               "--method", "physical", "--set", "drop_last=yes",
               "--cv", "group:" + column, "--no-model",
               "--quiet", "--predictions", path]
    for target in TARGETS:
        command += ["--target", target]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found, count = {}, dict.fromkeys(TARGETS, 0)
    for row in read(path):
        target = row["target"]
        found[target, count[target]] = (row["fold"], float(row["measured"]),
                                        float(row["predicted"]))
        count[target] += 1
    return found


def leave_out(dlest, rows, column, group, folder):
    """The same of one group, beside all others."""
    path = os.path.join(folder, "two.csv")
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, [*rows[0], "cold"], lineterminator="\n")
        out.writeheader()
        for row in rows:
            out.writerow(dict(row, cold="%s" % (row[column] == group)))
    return {key: found for key, found in
            out_of_fold(dlest, path, "cold", folder).items()
            if found[0] == "True"}


def error(found, target):
    """Percent."""
    each = [abs(predicted / measured - 1) for key, (_, measured, predicted)
            in found.items() if key[0] == target]
    return 100 * sum(each) / len(each)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--runs", required=True)
    parser.add_argument("--by", default="config,arch,gpu")
    options = parser.parse_args()
    rows = read(options.runs)
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for column in options.by.split(","):
            warm = out_of_fold(options.dlest, options.runs, column, folder)
            cold = {}
            for group in dict.fromkeys(row[column] for row in rows):
                cold.update(leave_out(options.dlest, rows, column, group,
                                      folder))
            for target in TARGETS:
                pair = error(warm, target), error(cold, target)
                most = max(100 * abs(cold[k][2] / warm[k][2] - 1)
                           for k in warm if k[0] == target)
                worst = max(worst, abs(pair[0] - pair[1]))
                print("%-6s %-14s %8.4f %% as fitted, %8.4f %% from the prior; "
                      "predictions differ by %.4f %% at most"
                      % (column, target, *pair, most), flush=True)
    if worst > MOST:
        sys.exit("cold_fits.py: the errors differ by %.3f points, aim %g"
                 % (worst, MOST))


if __name__ == "__main__":
    main()
