#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expected values of tests/unit/test_interval.c, from scipy and from the
definition of the weighted quantile, written out.

Run: python3 model_reference.py (Debian: python3-scipy)
"""

from fractions import Fraction

import numpy as np
from scipy.stats import t


def student(groups, coverage):
    """Spread of the groups' means about 0 and of the rows about their mean."""
    g = len(groups)
    between = np.mean([np.mean(x) ** 2 for x in groups])
    within = np.mean([np.var(x) for x in groups])
    return t.ppf((1 + coverage) / 2, g) * np.sqrt(between + within)


def conformal(groups, coverage):
    """Smallest x whose distribution reaches 1 - a/2, with one share of G + 1
    at plus infinity; the mirror image for the lower end. Exact fractions."""

    def upper(gs):
        share = Fraction(1, len(gs) + 1)
        points = sorted((x, share / len(g)) for g in gs for x in g)
        level, total = 1 - (1 - Fraction(str(coverage))) / 2, 0
        for x, w in points:
            total += w
            if total >= level:
                return x
        return float("inf")

    return -upper([[-x for x in g] for g in groups]), upper(groups)


def values(g, n):
    """Rows of group g, as test_interval.c makes them."""
    return [0.1 * np.sin(1.3 * g + 0.7) + 0.01 * np.cos(2.1 * j + g) for j in range(n)]


def scaled(groups):
    """Residuals in multiples of the spreads that test_interval.c gives them."""
    return [[x / (1 + 0.25 * (j % 3)) for j, x in enumerate(sorted(g))] for g in groups]


def interval(groups, coverage):
    """Student's t up to 19 groups, quantiles from 39 on, shares of both between;
    where less than two groups are outside at either end the quantiles move on
    as Student's t does."""
    g = len(groups)
    u = float(min(max(Fraction(g - 19, 20), 0), 1))
    s = student(groups, coverage)
    if u == 0:
        return -s, s
    inner = min(Fraction(str(coverage)), 1 - Fraction(4, g + 1))
    low, high = conformal(groups, inner)
    more = s - student(groups, float(inner))
    return -(1 - u) * s + u * (low - more), (1 - u) * s + u * (high + more)


two = [values(g, 3) for g in range(2)]
seven = [values(g, 1 + g % 3) for g in range(7)]
print("student 2 groups 0.9  %.15g" % student(two, 0.9))
print("student 7 groups 0.9  %.15g" % student(seven, 0.9))
print("student 7 groups 0.95 %.15g" % student(seven, 0.95))
print("student 7 scaled 0.9   %.15g" % student(scaled(seven), 0.9))
print("45 scaled              %.15g %.15g" % interval(
    scaled([values(g, 1 + g % 3) for g in range(45)]), 0.9))
for n, coverage in [(7, 0.5), (19, 0.9), (20, 0.9), (29, 0.9), (39, 0.9), (45, 0.9),
                    (45, 0.5), (45, 0.95), (45, 0.99)]:
    many = [values(g, 1 + g % 3) for g in range(n)]
    print("%d groups %g" % (n, coverage), "%.15g %.15g" % interval(many, coverage))
for n, coverage in [(39, 0.9), (99, 0.9), (39, 0.8), (199, 0.98)]:
    print("ranks %d %g" % (n, coverage),
          interval([[float(i)] for i in range(1, n + 1)], coverage))
