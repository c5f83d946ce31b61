# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the rate at which language models train is off for what a fit has not
seen: a configuration, a network, a GPU or a source left out of the table that
ships."""

import csv
import math
import os
import statistics

from generalisation_intervals import COVERAGE, interval
from generalisation_speeds import kept

COLUMNS = (("config", "configuration"), ("arch", "network"), ("gpu", "GPU"),
           ("source", "source"))
INTRO = (
    "Tokens per second by `physical`, of what `data/language-training-means.csv` "
    "holds: the median of the error, the share of rows within a factor and that "
    "inside the interval of 90 %, in % (aims: a source left out, median 12, 85 "
    "within 1.5; 85 to 95 inside). For a source the interval is the "
    "wider of those of a new GPU and a new network, at the spread of a run with "
    "both, as for published speeds below. The priors were chosen with these folds "
    "in view ([language-models.md](language-models.md)).")


def left_out(run, dlest, table, column, folder):
    path = os.path.join(folder, "language.csv")
    run(dlest, "fit", table, "--method", "language", "--with", "none",
        "--target", "tokens_per_s", "--cv", "group:" + column, "--predictions",
        path, "-q", "--no-model", "--format", "json")
    with open(path, encoding="utf-8", newline="") as f:
        return [r for r in csv.DictReader(f) if r["predicted"]]


def error(row):
    return math.log(float(row["tokens_per_s"]) / float(row["predicted"]))


def new_in_both(found):
    """Bounds of the error of a GPU and a network that are both new, in multiples
    of a run's spread."""
    ends = []
    for column in ("gpu", "arch"):
        groups = {}
        for r in found[column]:
            groups.setdefault(r[column], []).append(
                error(r) / float(r["spread"]))
        ends.append(interval([kept(g) for g in groups.values()], COVERAGE))
    return min(low for low, _ in ends), max(high for _, high in ends)


def cells(name, rows, bounds=None):
    """bounds: of the errors, in multiples of a run's spread; None: those of
    each row."""
    off = [abs(error(r)) for r in rows]
    inside = ([bounds[0] <= error(r) / float(r["spread"]) <= bounds[1]
               for r in rows] if bounds else
              [float(r["low"]) <= float(r["tokens_per_s"]) <= float(r["high"])
               for r in rows if r["low"]])

    def share(ok):
        return "%.0f" % (100 * statistics.mean(ok)) if ok else "-"
    return [name, str(len(rows)),
            "%.1f" % (100 * math.expm1(statistics.median(off))),
            share([x <= math.log(1.25) for x in off]),
            share([x <= math.log(1.5) for x in off]), share(inside)]


def table_rows(run, dlest, table, folder):
    """A header and the cells of each row."""
    rows = [["left out", "rows", "median", "within 1.25", "within 1.5",
             "inside 90 %"]]
    found = {column: left_out(run, dlest, table, column, folder)
             for column, _ in COLUMNS}
    for column, name in COLUMNS:
        bounds = new_in_both(found) if column == "source" else None
        rows.append(cells("a " + name, found[column], bounds))
        if column not in ("gpu", "source"):
            continue
        for group in sorted({r[column] for r in found[column]}):
            rows.append(cells("- " + group, [r for r in found[column]
                                             if r[column] == group], bounds))
    return rows
