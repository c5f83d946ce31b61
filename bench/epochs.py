#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores `dlest extract --find-epochs` on traces with a known epoch count.

  epochs.py DLEST DATA [OPTION...]

DLEST is the binary, DATA the folder with runs.csv and traces/ (doi
10.5281/zenodo.7828518 as described in docs/lab/epochs.md); further options go to
dlest. Prints, by environment and architecture and for both halves (every other
trace), the share of answers within two epochs or 2 % of the known count,
within two epochs or 5 %, refused (verdict none), and wrong; how many answers
are sure, how many of those are wrong, and how often epochs_low ... epochs_high
holds the known count. Then lists the wrong ones.
"""

import csv
import io
import os
import subprocess
import sys


def known_runs(data):
    """(environment, architecture, path, epochs) of each run."""
    with open(os.path.join(data, "runs.csv"), newline="") as f:
        for row in csv.DictReader(f):
            place = (row["environment"], row["architecture"])
            path = os.path.join(data, "traces", *place, row["trace"])
            yield place, path, int(row["epochs"])


def found_epochs(dlest, paths, options):
    """What dlest finds: path -> row."""
    call = [dlest, "extract", "--find-epochs", "-f", "csv", *options, *paths]
    # A trace with a cut-off line ends with 3; its row is there.
    done = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{dlest}: exit status {done.returncode}")
    return {row["file"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


def number(text):
    return float(text) if text else float("nan")


def judge(row, known):
    """One answer, as a dictionary of 0 and 1."""
    verdict = row["epochs_verdict"]
    off = abs(number(row["epochs"]) - known)
    answered = verdict != "none" and off == off
    right = answered and off <= max(2, 0.02 * known)
    low, high = number(row["epochs_low"]), number(row["epochs_high"])
    return {
        "n": 1,
        "right": right,
        "near": answered and off <= max(2, 0.05 * known),
        "refused": not answered,
        "wrong": answered and not right,
        "sure": verdict == "sure",
        "sure_wrong": verdict == "sure" and not right,
        "held": answered and low <= known <= high,
    }


def line(name, answers):
    n = len(answers)

    def share(key):
        return 100 * sum(a[key] for a in answers) / n

    def count(key):
        return sum(a[key] for a in answers)

    return (f"{name:24} {n:4} {share('right'):9.1f} {share('near'):8.1f} "
            f"{share('refused'):8.1f} {share('wrong'):8.1f} "
            f"{count('sure'):6} {count('sure_wrong'):11} {share('held'):8.1f}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not os.path.exists(os.path.join(sys.argv[2], "runs.csv")):
        print("skipped: no runs.csv in %s" % sys.argv[2])
        return
    dlest, data, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    runs = list(known_runs(data))
    rows = found_epochs(dlest, [path for _, path, _ in runs], options)
    answers, wrong = [], []
    for i, (place, path, known) in enumerate(runs):
        row = rows.get(path)
        if row is None:
            row = {"epochs": "", "epochs_low": "", "epochs_high": "",
                   "epochs_verdict": "none"}
        answer = judge(row, known)
        answers.append((place, i % 2, answer))
        if answer["wrong"]:
            wrong.append(f"{'/'.join(place)}/{os.path.basename(path)}: known "
                         f"{known}, found {row['epochs']} "
                         f"({row['epochs_low']} to {row['epochs_high']}), "
                         f"{row['epochs_verdict']}")
    print(f"{'traces':24} {'n':>4} {'2 or 2 %':>9} {'or 5 %':>8} "
          f"{'refused':>8} {'wrong':>8} {'sure':>6} {'sure, wrong':>11} "
          f"{'interval':>8}")
    for place in sorted({p for p, _, _ in answers}):
        print(line("/".join(place), [a for p, _, a in answers if p == place]))
    for half, name in enumerate(("even rows", "odd rows")):
        print(line(name, [a for _, h, a in answers if h == half]))
    print(line("all", [a for _, _, a in answers]))
    print("(% of traces, but for n and the counts under 'sure')\n")
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
