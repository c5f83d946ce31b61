# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the intervals of a model file hold.

Of what was left out dlest keeps up to 21 residuals r = log(y / estimate) of
each group. Each group in turn is taken for the new one, and the interval found
from the others by the rule of src/model/interval.c. With G groups and coverage
c it is

  (1 - u) S(c) + u (Q(c') + S(c) - S(c')),  c' = min(c, 1 - 4 / (G + 1)),
      u = 0 up to 19 groups, 1 from 39 on and linear between
  Q(c): the (1 - c)/2 and (1 + c)/2 quantiles of all r, where each group weighs
      1/(G + 1) and the new one lies beyond the end (Lee, Barber, Willett,
      arXiv 2306.06342)
  S(c): 0 -+ t((1 + c)/2, G) sqrt(b + w), where b is the mean of the groups'
      squared mean r and w that of their variances

The r of a fit whose intervals depend on the run are divided by the run's spread
(src/physics/conditioning/joint_prediction.h), and the interval is multiplied by
it.

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


def quantiles(groups, coverage):
    n = len(groups)
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


def by_student(groups, coverage):
    """Reach of the interval about 0."""
    n = len(groups)
    means = [sum(g) / len(g) for g in groups]
    between = sum(m * m for m in means) / n
    within = sum(sum((x - m) ** 2 for x in g) / len(g)
                 for g, m in zip(groups, means)) / n
    return student((1 + coverage) / 2, n) * math.sqrt(between + within)


def interval(groups, coverage):
    """Bounds of a new group's residual; groups: lists of residuals."""
    n = len(groups)
    wide = by_student(groups, coverage)
    share = min(max((n - 19) / 20, 0), 1)
    if not share:
        return -wide, wide
    inner = min(coverage, 1 - 4 / (n + 1))
    low, high = quantiles(groups, inner)
    more = wide - by_student(groups, inner)
    return (share * (low - more) - (1 - share) * wide,
            share * (high + more) + (1 - share) * wide)


def scaled(group):
    """Residuals of (runs, residuals, spreads) in multiples of the spreads."""
    return [x / s for x, s in zip(group[1], group[2])]


def mean_spread(group):
    return sum(group[2]) / len(group[2])


def coverage(groups):
    """groups: [(runs, residuals, spreads)]. Share of runs inside, mean share of
    the groups, mean width as a factor either way, and that of the interval from
    all groups, which dlest gives."""
    if len(groups) < 3:
        return None
    every = [scaled(g) for g in groups]
    inside = widths = 0
    shares = []
    for i, (group, values) in enumerate(zip(groups, every)):
        low, high = interval(every[:i] + every[i + 1:], COVERAGE)
        share = sum(low <= x <= high for x in values) / len(values)
        shares.append(share)
        inside += share * group[0]
        widths += (high - low) / 2 * mean_spread(group)
    low, high = interval(every, COVERAGE)
    wide = sum(map(mean_spread, groups)) / len(groups)
    return (inside / sum(g[0] for g in groups), sum(shares) / len(shares),
            math.exp(widths / len(groups)), math.exp((high - low) / 2 * wide))


def coverage_of_each(groups):
    """Share of each group's residuals inside the interval from the others."""
    every = [scaled(g) for g in groups]
    ends = [interval(every[:i] + every[i + 1:], COVERAGE)
            for i in range(len(every))]
    return [sum(low <= x <= high for x in values) / len(values)
            for (low, high), values in zip(ends, every)]


def group_names(model):
    """{(target, column): [name]} of a model file, as `residuals`."""
    return {(f.get("target"), r.get("left_out")):
            [g.get("name") for g in r.iter("group")]
            for f in ET.parse(model).getroot().iter("fit")
            if f.get("log") == "true" for r in f.findall("residuals")}


BY_GROUP = (
    "Share of the runs of each group inside the interval of `physical`, power / "
    "energy in % (aim: no group below 75). *Fitted without it*: as users meet "
    "it whose GPU or network dlest has never seen, with every row of the group "
    "left out of the fit and of the residuals; the energy is that of the GPU "
    "over an epoch. *By the other groups*: as in the table above, from the "
    "residuals and the posterior of the fit of all rows, with 21 quantiles for "
    "the runs of a group. The residuals of the first are of fits without two "
    "groups, so that its intervals are wider than those of the model that "
    "ships, and the second has no widening beyond the range of the training "
    "data. By source: below; with the time known: "
    "[known-times.md](known-times.md). Other widths: "
    "[designs.md](designs.md#widths-of-intervals-by-run).")


def by_others(found, names, targets, column):
    """[(name, runs, shares inside by target)] from the residuals of a model."""
    groups = [found.get((t, column), []) for t in targets]
    shares = [coverage_of_each(g) for g in groups]
    return [(name, group[0], both) for name, group, *both in
            zip(names.get((targets[0], column), []), groups[0], *shares)]


def totals(rows):
    """Of [(runs, [share, ...])]: pooled over the runs, and mean of the groups."""
    n = sum(runs for runs, _ in rows)
    columns = list(zip(*(shares for _, shares in rows)))
    return [[sum(runs * share for (runs, _), share in zip(rows, column)) / n
             for column in columns],
            [sum(column) / len(column) for column in columns]]


def part(model, targets, table, pair, unseen):
    """[(title, text, table)] of the coverage of each network and GPU; [] without
    a model. unseen(): {column: [(runs, [share of each target])]} of fits
    without each group, in the order of the model's groups."""
    if not model:
        return []
    found, names, without_it = residuals(model), group_names(model), unseen()
    rows = []
    for column in ("arch", "gpu"):
        groups = by_others(found, names, targets, column)
        if [n for _, n, _ in groups] != [n for n, _ in without_it[column]]:
            raise ValueError("other groups than those of the model: " + column)
        both = [(n, [*without, *shares]) for (_, n, shares), (_, without) in
                zip(groups, without_it[column])]
        lines = [(name, *line) for (name, *_), line in zip(groups, both)]
        pooled, mean = totals(both)
        lines += [("all, pooled", sum(n for n, _ in both), pooled),
                  ("mean of groups", "", mean)]
        rows += [[column, name, n, pair(*shares[:2]), pair(*shares[2:])]
                 for name, n, shares in lines]
    return [("Intervals of 90 % by network and GPU", BY_GROUP,
             table(["left out", "", "runs", "fitted without it",
                    "by the other groups"], rows))]


def residual_group(element):
    """(runs, residuals, spreads) of a group of a model file."""
    values = [float(x) for x in (element.text or "").split()]
    if element.get("by_run") is None:
        return int(element.get("n")), values, [1.0] * len(values)
    half = len(values) // 2
    return int(element.get("n")), values[:half], values[half:]


def residuals(model):
    """{(target, column): [(runs, residuals, spreads)]} of a model file; those of
    the times of eager mode as of epoch_s."""
    found = {}
    for f in ET.parse(model).getroot().iter("fit"):
        if f.get("log") != "true":
            continue
        sets = [(f.get("target"), r) for r in f.findall("residuals")]
        sets += [("epoch_s", r) for times in f.findall("times")
                 if times.get("software") == "eager"
                 for r in times.findall("residuals")]
        for target, r in sets:
            found[target, r.get("left_out")] = [residual_group(g)
                                                for g in r.iter("group")]
    return found
