#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expected values for tests/unit/test_bootstrap.c.

  bootstrap_reference.py              the table of the unit test
  bootstrap_reference.py TABLE.csv    MAPE intervals and ranks of the methods
      of a table with the columns group, y and one a method

scipy.stats.bootstrap resamples the groups of each way, from the
draws of the Mersenne Twister of numpy: both take 32-bit words of MT19937 and,
for one of n, the quotient by 2^32 / n, words beyond n times it left out. The rest is the formulas of bootstrap.h.
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


def standard_error(group, statistic, resamples, seed):
    """Of statistic(rows), over draws of whole groups."""
    names = list(dict.fromkeys(group))
    rows = [np.flatnonzero(group == g) for g in names]

    def of(drawn):
        return statistic(np.concatenate([rows[int(g)] for g in drawn]))

    r = stats.bootstrap((np.arange(len(names)),), of, n_resamples=resamples,
                        vectorized=False, method="percentile",
                        random_state=Draws(seed))
    return r.standard_error * np.sqrt(len(names) / (len(names) - 1))


def half_width(ways, statistic, resamples, confidence, seed):
    """t standard errors, of all ways together."""
    squares = sum(standard_error(g, statistic, resamples, seed) ** 2
                  for g in ways)
    fewest = min(len(g) ** 2 / sum(np.unique(g, return_counts=True)[1] ** 2)
                 for g in ways)
    return stats.t.ppf((1 + confidence) / 2, fewest - 1) * np.sqrt(squares)


def interval(name, x, half):
    if name == "bias":
        return x - half, x + half
    if name == "r2":
        return (1 - (1 - x) * np.exp(half / (1 - x)),
                1 - (1 - x) * np.exp(-half / (1 - x)))
    return x * np.exp(-half / x), x * np.exp(half / x)


def better(ways, y, a, b, resamples, confidence, seed):
    """Whether a has the lower MAPE, on the rows that both predict."""
    both = ~np.isnan(a) & ~np.isnan(b)
    d = abs(y - a) / abs(y) - abs(y - b) / abs(y)
    half = half_width(ways, lambda i: d[i][both[i]].mean(), resamples,
                      confidence, seed)
    return d[both].mean() < -half


def report(ways, y, methods, resamples, confidence, seed, names):
    for m, f in methods.items():
        rank = 1 + sum(better(ways, y, g, f, resamples, confidence, seed)
                       for o, g in methods.items() if o != m)
        print(m, "rank", rank)
        for s in names:
            x = scores(y, f)[s]
            half = half_width(ways, lambda r: scores(y[r], f[r])[s],
                              resamples, confidence, seed)
            low, high = interval(s, x, half)
            print(f"  {s:10} {x:.15g} {low:.15g} {high:.15g}")


def unit():
    group = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 5])
    y = np.array([10, 12, 30, 31, 33, 8, 50, 52, 20, 41, 40, 44.0])
    nan = np.nan
    methods = {
        "near": np.array([11, 12.5, 28, 30, 33, 9, 48, 55, 21, 42, 38, 43.0]),
        "far": np.array([14, 15, 40, 38, 45, 10, 60, 70, 27, 33, 35, 60.0]),
        "some": np.array([nan, 13, 28.5, nan, 32, 9, 46, 53, nan, 43, 37, 42]),
    }
    other = np.array([0, 1, 0, 1, 2, 2, 3, 0, 1, 2, 3, 3])
    for ways in [group], [group, other]:
        report(ways, y, methods, 200, 0.9, 7,
               ["rmse", "mae", "mape", "median_ape", "r2", "bias"])


def table(path):
    import pandas
    t = pandas.read_csv(path)
    methods = {c: t[c].to_numpy() for c in t.columns[2:]}
    report([t.group.to_numpy()], t.y.to_numpy(), methods, 2000, 0.95, 1, ["mape"])


if len(sys.argv) > 1:
    table(sys.argv[1])
else:
    unit()
