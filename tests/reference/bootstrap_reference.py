#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expected values for tests/unit/test_bootstrap.c.

  bootstrap_reference.py              the table of the unit test
  bootstrap_reference.py TABLE.csv    MAPE intervals and ranks of the methods
      of a table with the columns group, y and one a method

scipy.stats.bootstrap (method 'percentile') resamples the groups, from the
draws of the Mersenne Twister of numpy: both take 32-bit words of MT19937 and,
for one of n, the quotient by 2^32 / n, words beyond n times it left out.
"""
import sys

import numpy as np
from scipy import stats


class Draws(np.random.RandomState):
    """What scipy asks for its resamples."""

    def __init__(self, seed):
        super().__init__(np.random.MT19937())
        self._bit_generator._legacy_seeding(seed)

    def randint(self, low, high=None, size=None, **_):
        n = high - low
        scale = 0xFFFFFFFF // n
        out = []
        while len(out) < int(np.prod(size)):
            k = int(self._bit_generator.random_raw()) // scale
            if k < n:
                out.append(low + k)
        return np.array(out).reshape(size)


def scores(y, f):
    keep = ~np.isnan(f)
    y, f = y[keep], f[keep]
    ape = abs(y - f) / abs(y)
    return {"rmse": np.sqrt(np.mean((f - y) ** 2)), "mae": np.mean(abs(f - y)),
            "mape": ape.mean(), "median_ape": np.median(ape),
            "r2": 1 - ((f - y) ** 2).sum() / ((y - y.mean()) ** 2).sum(),
            "bias": np.mean(f - y)}


def interval(group, statistic, resamples, confidence, seed):
    """Of statistic(rows), over draws of whole groups."""
    names = list(dict.fromkeys(group))
    rows = [np.flatnonzero(group == g) for g in names]

    def of(drawn):
        return statistic(np.concatenate([rows[int(g)] for g in drawn]))

    r = stats.bootstrap((np.arange(len(names)),), of, n_resamples=resamples,
                        vectorized=False, confidence_level=confidence,
                        method="percentile", random_state=Draws(seed))
    return r.confidence_interval


def better(group, y, a, b, resamples, confidence, seed):
    """Whether a has the lower MAPE, on the rows that both predict."""
    both = ~np.isnan(a) & ~np.isnan(b)
    d = abs(y - a) / abs(y) - abs(y - b) / abs(y)
    with np.errstate(all="ignore"):
        return interval(group, lambda i: d[i][both[i]].mean(), resamples,
                        confidence, seed).high < 0


def report(group, y, methods, resamples, confidence, seed, names):
    for m, f in methods.items():
        rank = 1 + sum(better(group, y, g, f, resamples, confidence, seed)
                       for o, g in methods.items() if o != m)
        print(m, "rank", rank)
        for s in names:
            i = interval(group, lambda r: scores(y[r], f[r])[s], resamples,
                         confidence, seed)
            print(f"  {s:10} {scores(y, f)[s]:.15g} {i.low:.15g} {i.high:.15g}")


def unit():
    group = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 5])
    y = np.array([10, 12, 30, 31, 33, 8, 50, 52, 20, 41, 40, 44.0])
    nan = np.nan
    methods = {
        "near": np.array([11, 12.5, 28, 30, 33, 9, 48, 55, 21, 42, 38, 43.0]),
        "far": np.array([14, 15, 40, 38, 45, 10, 60, 70, 27, 33, 35, 60.0]),
        "some": np.array([nan, 13, 28.5, nan, 32, 9, 46, 53, nan, 43, 37, 42]),
    }
    report(group, y, methods, 200, 0.9, 7,
           ["rmse", "mae", "mape", "median_ape", "r2", "bias"])


def table(path):
    import pandas
    t = pandas.read_csv(path)
    methods = {c: t[c].to_numpy() for c in t.columns[2:]}
    report(t.group.to_numpy(), t.y.to_numpy(), methods, 2000, 0.95, 1, ["mape"])


if len(sys.argv) > 1:
    table(sys.argv[1])
else:
    unit()
