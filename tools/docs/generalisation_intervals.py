# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the intervals of a model file hold.

Of what was left out dlest keeps up to 21 residuals r = log(y / estimate) of
each group. Each group in turn is taken for the new one, and the interval found
from the others by the rule of src/model/interval.c. With G groups and coverage
c it is

  c <= (G - 1) / (G + 1): the (1 - c)/2 and (1 + c)/2 quantiles of all r,
      where each group weighs 1/(G + 1) and the new one lies beyond the end
      (Lee, Barber, Willett, arXiv 2306.06342)
  else: 0 -+ t((1 + c)/2, G - 1) sqrt((b + w) (1 + 1/G)), where b is the mean
      of the groups' squared mean r and w that of their variances

The residuals of the others come from fits that did see the new group, so that
the shares are somewhat too good.
"""

import math
import xml.etree.ElementTree as ET

COVERAGE = 0.9


def student(p, df):
    """Quantile p >= 1/2 of Student's t, df a whole number (Abramowitz and
    Stegun 26.7.3, 26.7.4, solved by bisection)."""
    def between(t):
        angle = math.atan2(t, math.sqrt(df))
        c = math.cos(angle)
        odd = df % 2
        term = total = (c if odd else 1) if df > 1 else 0
        for k in range(2 + odd, df - 1, 2):
            term *= c * c * (k - 1) / k
            total += term
        total *= math.sin(angle)
        return 2 / math.pi * (angle + total) if odd else total

    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if between(middle) < 2 * p - 1 else \
            (low, middle)
    return low


def interval(groups, coverage):
    """Bounds of a new group's residual; groups: lists of residuals."""
    n = len(groups)
    if coverage <= (n - 1) / (n + 1):
        every = sorted((x, 1 / len(g)) for g in groups for x in g)
        tail = (1 - coverage) / 2 * (n + 1) + 1e-9 * n

        def end(ordered):
            total = 0
            for x, weight in ordered:
                total += weight
                if total > tail - 1:
                    return x
            return ordered[-1][0]
        return end(every), end(every[::-1])
    means = [sum(g) / len(g) for g in groups]
    between = sum(m * m for m in means) / n
    within = sum(sum((x - m) ** 2 for x in g) / len(g)
                 for g, m in zip(groups, means)) / n
    high = student((1 + coverage) / 2, n - 1) * \
        math.sqrt((between + within) * (1 + 1 / n))
    return -high, high


def coverage(groups):
    """groups: [(runs, residuals)]. Share of runs inside, mean share of the
    groups, mean width as a factor either way, and that of the interval from
    all groups, which dlest gives."""
    if len(groups) < 3:
        return None
    inside = widths = 0
    shares = []
    for i, (runs, values) in enumerate(groups):
        low, high = interval([g for j, (_, g) in enumerate(groups) if j != i],
                             COVERAGE)
        share = sum(low <= x <= high for x in values) / len(values)
        shares.append(share)
        inside += share * runs
        widths += (high - low) / 2
    low, high = interval([g for _, g in groups], COVERAGE)
    return (inside / sum(r for r, _ in groups), sum(shares) / len(shares),
            math.exp(widths / len(groups)), math.exp((high - low) / 2))


def coverage_of_each(groups):
    """Share of each group's residuals inside the interval from the others."""
    ends = [interval([g for j, (_, g) in enumerate(groups) if j != i], COVERAGE)
            for i in range(len(groups))]
    return [sum(low <= x <= high for x in values) / len(values)
            for (low, high), (_, values) in zip(ends, groups)]


def group_names(model):
    """{(target, column): [name]} of a model file, as `residuals`."""
    return {(f.get("target"), r.get("left_out")):
            [g.get("name") for g in r.iter("group")]
            for f in ET.parse(model).getroot().iter("fit")
            if f.get("log") == "true" for r in f.findall("residuals")}


BY_GROUP = (
    "Share of the runs of each group inside the interval of `physical` from the "
    "other groups, in % (aim: no group below 75). By source: below; with the "
    "time known: [known-times.md](known-times.md). The GTX 750 Ti is farther "
    "from the estimate than the six other GPUs differ among themselves: an "
    "interval of their width cannot hold it. Widths by distance: "
    "[designs.md](designs.md#widths-of-intervals-by-group).")


def part(model, targets, table, pair):
    """[(title, text, table)] of the coverage of each network and GPU; [] without
    a model."""
    if not model:
        return []
    found, names, rows = residuals(model), group_names(model), []
    for column in ("arch", "gpu"):
        inside = [dict(zip(names.get((t, column), []),
                           coverage_of_each(found.get((t, column), []))))
                  for t in targets]
        rows += [[column, name, n, pair(*(by.get(name) for by in inside))]
                 for name, (n, _) in zip(names.get((targets[0], column), []),
                                         found.get((targets[0], column), []))]
    return [("Intervals of 90 % by network and GPU", BY_GROUP,
             table(["left out", "", "runs", "power / energy"], rows))]


def residuals(model):
    """{(target, column): [(runs, residuals)]} of a model file."""
    found = {}
    for f in ET.parse(model).getroot().iter("fit"):
        if f.get("log") != "true":
            continue
        for r in f.findall("residuals"):  # those of times stand deeper
            found[f.get("target"), r.get("left_out")] = [
                (int(g.get("n")), [float(x) for x in (g.text or "").split()])
                for g in r.iter("group")]
    return found
