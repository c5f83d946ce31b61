# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the rate at which language models train is off for what a fit has not
seen: a configuration, a network, a GPU or a source left out of the table that
ships."""

import csv
import math
import os
import statistics

from generalisation_speeds import bounds_of_sources

COLUMNS = (("config", "configuration"), ("arch", "network"), ("gpu", "GPU"),
           ("source", "source"))
INTRO = (
    "Tokens per second by `physical`, of what `data/language-training-means.csv` "
    "holds: the median of the error, the share of rows within a factor and that "
    "inside the interval of 90 % of the fit, in % (aims: a source left out, "
    "median 12, 85 within 1.5; 85 to 95 inside). *As given*: inside the interval "
    "that `dlest predict` gives if `--stack` is given, which is wider by what "
    "laboratories differ ([designs.md](designs.md#intervals-of-a-new-source); "
    "aim: no group below 75). For a source it is that of a new GPU, a new "
    "network or both, by what the other sources lack, or of a configuration. "
    "The priors were chosen with these folds in view "
    "([language-models.md](language-models.md)).")


def left_out(run, dlest, table, column, folder):
    path = os.path.join(folder, "language.csv")
    run(dlest, "fit", table, "--method", "language", "--with", "none",
        "--target", "tokens_per_s", "--cv", "group:" + column, "--predictions",
        path, "-q", "--no-model", "--format", "json")
    with open(path, encoding="utf-8", newline="") as f:
        return [r for r in csv.DictReader(f) if r["predicted"]]


def error(row):
    return math.log(float(row["tokens_per_s"]) / float(row["predicted"]))


# Of src/estimate/methods/language_training.c: the standard deviation, and the
# half-width of 90 % that it makes.
SOURCE_SD, SOURCE_DOUBT = .08, .13


def key(row):
    """Of a row of the table."""
    return tuple(v for c, v in row.items() if c not in (
        "target", "fold", "predicted", "low", "high", "spread"))


def with_intervals(found):
    """The rows of sources left out, with the intervals that dlest gives another
    source: by what is new of network and GPU among the others' rows."""
    rows = {c: {key(r): (dict(r, pair=key(r)), -error(r))
                for r in found["config" if c == "pair" else c]}
            for c in ("gpu", "arch", "pair", "source")}
    return [dict(r, low=float(r["predicted"]) * math.exp(low),
                 high=float(r["predicted"]) * math.exp(high))
            for r, _, low, high in bounds_of_sources(rows, lambda _: SOURCE_SD)]


def is_inside(row, more):
    """Whether an interval that is wider by `more` in squares has the rate."""
    off, value = error(row), float(row["predicted"])
    low, high = (math.log(float(row[k]) / value) for k in ("low", "high"))
    return -math.hypot(low, more) <= off <= math.hypot(high, more)


def cells(name, rows, of_source):
    off = [abs(error(r)) for r in rows]
    fit = [] if of_source else [is_inside(r, 0) for r in rows if r["low"]]
    given = [is_inside(r, 0 if of_source else SOURCE_DOUBT)
             for r in rows if r["low"]]

    def share(ok):
        return "%.0f" % (100 * statistics.mean(ok)) if ok else "-"
    return [name, str(len(rows)),
            "%.1f" % (100 * math.expm1(statistics.median(off))),
            share([x <= math.log(1.25) for x in off]),
            share([x <= math.log(1.5) for x in off]), share(fit), share(given)]


def table_rows(run, dlest, table, folder):
    """A header and the cells of each row."""
    rows = [["left out", "rows", "median", "within 1.25", "within 1.5",
             "inside 90 %", "as given"]]
    found = {column: left_out(run, dlest, table, column, folder)
             for column, _ in COLUMNS}
    found["source"] = with_intervals(found)
    for column, name in COLUMNS:
        of_source = column == "source"
        rows.append(cells("a " + name, found[column], of_source))
        if column not in ("gpu", "source"):
            continue
        for group in sorted({r[column] for r in found[column]}):
            rows.append(cells("- " + group, [r for r in found[column]
                                             if r[column] == group],
                              of_source))
    return rows
