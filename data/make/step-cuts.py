#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where traces are cut for bench/step.py: writes data/step-cuts.csv.

  step-cuts.py DATA > data/step-cuts.csv

DATA is the folder with runs.csv and traces/ (doi 10.5281/zenodo.7828518). Of
each training the number of epochs is known, and that the first 10 have a
frozen base. All is taken from the whole trace, and nothing from dlest:

1. Epoch length p of the fine-tuning: the lag near duration / epochs at which
   power and utilisations of the last 70 % of the trace correlate best with
   themselves, as a mean over one to six times the lag.
2. Switch by the count: the end less (epochs - 10) p. The end is the last
   sample whose power is that of work.
3. Switch by the trace: within five epochs of that, where the utilisation's
   median over p before and after differs the most, divided by 1 + (distance
   from the switch by the count / 2 p)^2; there the training is
   compiled anew, and the switch is the end of that pause (deepest dip of the
   power within half an epoch).

The cuts are 5 p after the switch by the trace, and a quarter of the samples.
Columns: file, epochs, samples (data lines with a power), epoch_s (p),
switch_sample, switch_count (the switch by the count; the two differ by the
error of the known count, of p, and of what lies behind the last epoch),
cut_five, cut_quarter: samples from 0; the part shown is those before.
"""

import csv
import os
import sys
from datetime import datetime

import numpy as np

FROZEN = 10


def number(text):
    text = text.split()
    try:
        return float(text[0]) if text else float("nan")
    except ValueError:
        return float("nan")


def read_trace(path):
    """Seconds, and a row each of power, utilisation, memory utilisation."""
    with open(path, newline="", errors="replace") as f:
        rows = list(csv.reader(f))
    head = [c.strip() for c in rows[0]]
    names = (("timestamp",), ("gpu_power_draw", "power.draw [W]"),
             ("gpu_usage", "utilization.gpu [%]"),
             ("gpu_memory_usage", "utilization.memory [%]"))
    at = [next(head.index(n) for n in name if n in head) for name in names]
    time, values = [], []
    for row in rows[1:]:
        if len(row) <= max(at) or np.isnan(number(row[at[1]])):
            break  # the last line, cut off
        stamp = row[at[0]].strip().replace("/", "-")
        time.append(datetime.fromisoformat(stamp).timestamp())
        values.append([number(row[i]) for i in at[1:]])
    return np.array(time) - time[0], np.array(values).T


def even(t, x):
    """Onto a grid of one second; the ranks make all channels alike."""
    grid = np.arange(0, t[-1], 1.0)
    rows = []
    for row in x:
        row = np.interp(grid, t, row)
        spread = np.median(abs(row - np.median(row))) * 1.4826 + 1e-9
        rows.append(np.arcsinh((row - np.median(row)) / spread))
    return grid, np.array(rows)


def correlation(z, lag):
    """Mean correlation of the channels at a lag (a fraction is interpolated),
    less their moving mean over the lag."""
    low, best = int(lag), 0.0
    sums = np.cumsum(np.pad(z, ((0, 0), (1, 0))), axis=1)
    y = z[:, low:] - (sums[:, low + 1:] - sums[:, 1:-low]) / low
    for share, j in ((1 - (lag - low), low), (lag - low, low + 1)):
        a, b = y[:, :-j], y[:, j:]
        best += share * np.mean(np.sum(a * b, axis=1)
                                / (np.sqrt(np.sum(a * a, axis=1)
                                           * np.sum(b * b, axis=1)) + 1e-9))
    return best


def epoch_length(z, duration, epochs):
    low, high = 0.93 * duration / epochs, 1.03 * duration / (epochs - 8)
    late = z[:, int(0.3 * z.shape[1]):]
    times = [k for k in range(1, 7) if k * high * 2 < late.shape[1]]
    lags = np.arange(low, high, max(0.05, low / 2000))
    # Moving means over the lag itself differ little between multiples.
    score = [np.mean([correlation(late, k * p) for k in times]) for p in lags]
    best = int(np.argmax(score))
    return lags[best], score[best]


def switch_near(power, util, guess, p):
    """The end of the pause near guess at which the utilisation's level
    changes."""
    width = int(round(p))
    start = int(np.nonzero(util > 0.5 * np.median(util))[0][0])
    low = max(start + width, int(guess - 5 * p))
    high = min(len(util) - width, int(guess + 5 * p))
    level = [abs(np.median(util[i:i + width]) - np.median(util[i - width:i]))
             / (1 + ((i - guess) / (2 * p)) ** 2) for i in range(low, high)]
    change = low + int(np.argmax(level))
    first = max(start + width, change - width // 2)
    # Of equal changes (medians move in steps) the one at the deepest dip.
    near = np.array(power[first:change + width // 2])
    lowest = first + int(np.argmin(near))
    usual = np.median(near)
    while lowest + 1 < len(power) and power[lowest] < 0.9 * usual:
        lowest += 1
    return lowest


def cut(path, epochs):
    t, x = read_trace(path)
    grid, z = even(t, x)
    power = np.interp(grid, t, x[0])
    at_work = np.nonzero(power > 0.5 * np.median(power))[0]
    end = grid[at_work[-1]] + 1
    p, _ = epoch_length(z, end, epochs)
    by_count = end - (epochs - FROZEN) * p
    switch = switch_near(power, np.interp(grid, t, x[1]), by_count, p)
    return {"epochs": epochs, "samples": len(t), "epoch_s": f"{p:.2f}",
            "switch_sample": int(np.searchsorted(t, switch)),
            "switch_count": int(np.searchsorted(t, by_count)),
            "cut_five": int(np.searchsorted(t, switch + 5 * p)),
            "cut_quarter": (len(t) + 2) // 4}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = None
    with open(os.path.join(sys.argv[1], "runs.csv"), newline="") as f:
        for row in csv.DictReader(f):
            name = "/".join((row["environment"], row["architecture"],
                             row["trace"]))
            path = os.path.join(sys.argv[1], "traces", name)
            line = {"file": name, **cut(path, int(row["epochs"]))}
            if out is None:
                out = csv.DictWriter(sys.stdout, line, lineterminator="\n")
                out.writeheader()
            out.writerow(line)


if __name__ == "__main__":
    main()
