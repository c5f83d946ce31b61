#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Published projections of a training from its epochs, on numpy alone.

usage: step_reference.py EPOCHS.csv --epochs N [--seen n] [--stable s]
           [--window w] [-k k] [--duration T] [--head-s t] [--head-j e]

EPOCHS.csv has one row an epoch: duration_s, energy_j and, where known,
power_w (mean power of the epoch's samples, GPU + RAM); the first `seen` rows
count (all by default). Prints method,energy_j,duration_s with all digits.

STEP-P: E = mean(P over W) T, STEP-E: E = sum(E before s) + (N - s)/w sum(E in
W), W = epochs s ... s+w-1 counted from 0; T is given or t(s) + (N - s) mean(d
in W) (del Rey et al., arXiv 2307.05520). carbontracker: N mean(E_1 ... E_k),
without power usage effectiveness (Anthony et al., arXiv 2007.03051). What lies
before the first epoch is added where it is given.
"""

import argparse
import csv

import numpy as np


def step_power(duration_s, power_w, n, s=10, w=5, total_s=None, head_s=0.0):
    """Energy and duration by STEP-P."""
    window = slice(s, s + w)
    if total_s is None:
        total_s = (head_s + np.sum(duration_s[:s])
                   + (n - s) * np.mean(duration_s[window]))
    return np.mean(power_w[window]) * total_s, total_s


def step_energy(energy_j, n, s=10, w=5, head_j=0.0):
    """Energy by STEP-E."""
    return (head_j + np.sum(energy_j[:s])
            + (n - s) / w * np.sum(energy_j[s:s + w]))


def carbontracker(energy_j, n, k=1):
    return n * np.mean(energy_j[:k])


def column(rows, name):
    return np.array([float(r[name]) for r in rows])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("table")
    p.add_argument("--epochs", type=float, required=True)
    p.add_argument("--seen", type=int)
    p.add_argument("--stable", type=int, default=10)
    p.add_argument("--window", type=int, default=5)
    p.add_argument("-k", type=int, default=1)
    p.add_argument("--duration", type=float)
    p.add_argument("--head-s", type=float, default=0.0)
    p.add_argument("--head-j", type=float, default=0.0)
    a = p.parse_args()
    with open(a.table, newline="") as f:
        rows = list(csv.DictReader(f))[:a.seen]
    duration, energy = column(rows, "duration_s"), column(rows, "energy_j")
    power = (column(rows, "power_w") if "power_w" in rows[0]
             else energy / duration)
    print("method,energy_j,duration_s")
    if len(rows) >= a.stable + a.window:
        e, t = step_power(duration, power, a.epochs, a.stable, a.window,
                          a.duration, a.head_s)
        print("step-power,%.17g,%.17g" % (e, t))
        e = step_energy(energy, a.epochs, a.stable, a.window, a.head_j)
        print("step-energy,%.17g,%.17g" % (e, t))
    if len(rows) >= a.k:
        e = carbontracker(energy, a.epochs, a.k)
        t = a.duration or a.epochs * np.mean(duration[:a.k])
        print("carbontracker,%.17g,%.17g" % (e, t))


if __name__ == "__main__":
    main()
