# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the rate at which language models train is off for what a fit has not
seen: a network, a GPU or a source left out of the table that ships."""

import csv
import math
import os
import statistics

COLUMNS = (("arch", "network"), ("gpu", "GPU"), ("source", "source"))
INTRO = (
    "Tokens per second by `physical`, of what `data/language-training-means.csv` "
    "holds: the median of the error, the share of rows within a factor and that "
    "inside the interval of 90 %, in % (aims: a source left out, median 12, 85 "
    "within 1.5; 85 to 95 inside). The priors were chosen with these folds in "
    "view ([language-models.md](language-models.md)).")


def left_out(run, dlest, table, column, folder):
    path = os.path.join(folder, "language.csv")
    run(dlest, "fit", table, "--method", "language", "--with", "none",
        "--target", "tokens_per_s", "--cv", "group:" + column, "--predictions",
        path, "-q", "--no-model", "--format", "json")
    with open(path, encoding="utf-8", newline="") as f:
        return [r for r in csv.DictReader(f) if r["predicted"]]


def cells(name, rows):
    off = [abs(math.log(float(r["predicted"]) / float(r["tokens_per_s"])))
           for r in rows]
    inside = [float(r["low"]) <= float(r["tokens_per_s"]) <= float(r["high"])
              for r in rows if r["low"]]

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
    for column, name in COLUMNS:
        found = left_out(run, dlest, table, column, folder)
        rows.append(cells("a " + name, found))
        if column == "arch":
            continue
        for group in sorted({r[column] for r in found}):
            rows.append(cells("- " + group,
                              [r for r in found if r[column] == group]))
    return rows
