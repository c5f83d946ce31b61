#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores `dlest step` on the first part of traces with a known epoch count.

  step.py DLEST DATA [OPTION...]

DLEST is the binary, DATA the folder with runs.csv and traces/ (doi
10.5281/zenodo.7828518); further options go to `dlest step`. Each trace is cut
at the two samples of data/step-cuts.csv (data/make/step-cuts.py), and projected
with the known number of epochs. The truth is the whole trace, integrated by
trapezoids. Prints for each cut and estimator, by environment and architecture
and for all: traces, answers, median and 90th percentile of |error| in %,
where no answer counts as wrong by more than any other; coverage of the
interval, and its median width in % of the truth. Then the 10 worst answers of
the recommended estimator.
"""

import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data",
                     "step-cuts.csv")
CUTS = (("cut_five", "five epochs after the switch"),
        ("cut_quarter", "a quarter of the samples"))
POWER = ("gpu_power_draw", "power.draw [W]")


def whole_energy(lines):
    """Trapezoids over the lines of a log that are complete."""
    head = [c.strip() for c in lines[0].split(",")]
    at = next(head.index(name) for name in POWER if name in head)
    energy, last = 0.0, None
    for line in lines[1:]:
        cells = line.split(",")
        try:
            stamp = cells[0].strip().replace("/", "-")
            time = datetime.fromisoformat(stamp).timestamp()
            power = float(cells[at].split()[0])
        except (IndexError, ValueError):
            continue
        if last and time > last[0]:
            energy += (time - last[0]) * (power + last[1]) / 2
        if last is None or time > last[0]:
            last = (time, power)
    return energy


def project(dlest, path, epochs, options):
    """The answer in JSON, or None."""
    call = [dlest, "step", path, "--epochs", str(epochs), "-f", "json",
            *options]
    done = subprocess.run(call, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def estimates_of(answer):
    """The objects that hold estimates, wherever they are in the answer."""
    if isinstance(answer, dict):
        if isinstance(answer.get("estimates"), list):
            return answer["estimates"], answer.get("recommended")
        answer = list(answer.values())
    for part in answer if isinstance(answer, list) else []:
        found = estimates_of(part)
        if found:
            return found
    return None


def number(x):
    return float(x) if isinstance(x, (int, float)) else math.nan


def scores(answer, truth):
    """method -> (error, covered, width); error and width as shares."""
    found, recommended = estimates_of(answer) or ([], None)
    out = {}
    for e in found:
        low, high = number(e.get("low_j")), number(e.get("high_j"))
        held = low <= truth <= high if low == low and high == high else None
        out[e.get("method", "?")] = (number(e.get("energy_j")) / truth - 1,
                                     held, (high - low) / truth)
    return out, recommended


def percentile(values, share):
    """As numpy's, linear between values."""
    values = sorted(values)
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    if values[low] == values[high]:
        return values[low]
    return values[low] + (place - low) * (values[high] - values[low])


def print_line(name, results):
    """results: one (error, covered, width) or None a trace."""
    error = [abs(r[0]) if r and r[0] == r[0] else math.inf for r in results]
    answers = sum(e < math.inf for e in error)
    held = [r[1] for r in results if r and r[1] is not None]
    width = [r[2] for r in results if r and r[2] == r[2]]
    cover = f"{100 * sum(held) / len(held):8.1f}" if held else f"{'-':>8}"
    wide = f"{100 * statistics.median(width):8.2f}" if width else f"{'-':>8}"
    print(f"  {name:24} {len(results):5} {answers:8} "
          f"{100 * percentile(error, 0.5):8.2f} "
          f"{100 * percentile(error, 0.9):8.2f} {cover} {wide}")


def report(title, rows):
    """rows: (file, scores, recommended) of each trace."""
    methods = list(dict.fromkeys(m for _, s, _ in rows for m in s))
    groups = sorted({os.path.dirname(f) for f, _, _ in rows})
    print(f"\n{title}")
    for method in methods or ["no estimator"]:
        print(f"\n  {method:24} {'n':>5} {'answers':>8} {'median':>8} "
              f"{'90th':>8} {'covered':>8} {'width':>8}")
        for group in groups:
            print_line(group, [s.get(method) for f, s, _ in rows
                               if os.path.dirname(f) == group])
        print_line("all", [s.get(method) for _, s, _ in rows])
    worst = sorted(((abs(s[r][0]), f, s[r][0]) for f, s, r in rows
                    if r in s and s[r][0] == s[r][0]), reverse=True)
    for _, file, error in worst[:10]:
        print(f"    {file}: {100 * error:+.1f} %")
    lost = sum(r not in s for _, s, r in rows)
    print(f"    without a recommended answer: {lost}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not os.path.exists(os.path.join(sys.argv[2], "runs.csv")):
        print("skipped: no runs.csv in %s" % sys.argv[2])
        return
    dlest, data, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(TABLE, newline="") as f:
        table = list(csv.DictReader(f))
    results = {key: [] for key, _ in CUTS}
    with tempfile.TemporaryDirectory() as folder:
        part = os.path.join(folder, "part.csv")
        for row in table:
            path = os.path.join(data, "traces", row["file"])
            with open(path, errors="replace") as f:
                lines = f.readlines()
            truth = whole_energy(lines)
            for key, _ in CUTS:
                with open(part, "w") as f:
                    f.writelines(lines[:1 + int(row[key])])
                answer = project(dlest, part, row["epochs"], options)
                results[key].append((row["file"], *scores(answer, truth)))
    for key, title in CUTS:
        report(title, results[key])


if __name__ == "__main__":
    main()
