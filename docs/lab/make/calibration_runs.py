# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits without a GPU, calibrations and estimates by dlest, for calibration.py.
"""

import csv
import json
import os

from generalisation import ALIAS, run, write

PUBLIC = 1  # doubts (sd of the logarithm) below it: facts are public
DOUBTS = ("doubt", "facts_doubt")


def without(rows, columns):
    return [{k: v for k, v in r.items() if k not in columns} for r in rows]


class Group:
    """A GPU that is left out: what is fitted, and its rows. `targets` are
    columns of the rows; `config` gives the configuration of a row."""

    def __init__(self, name, fitted, more, rows, targets, intervals=False):
        self.name, self.fitted, self.more = name, fitted, more
        self.intervals = intervals  # residuals of what is left out are kept
        self.language = False
        self.rows, self.targets = rows, targets
        self.configs = list(dict.fromkeys(r["config"] for r in rows))


def read_plain(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def network(row):
    """Its name, or where a table gives none its size."""
    return row["arch"] or (row["macs_g"], row["params_m"])


def fit(dlest, folder, group):
    model = os.path.join(folder, "model.xml")
    args = ["fit", write(folder, "fitted.csv", group.fitted), *ALIAS,
            "--method", "physical", "-q", "-o", model]
    if group.language:
        args = ["fit", write(folder, "fitted.csv", group.fitted), "--method",
                "language", "--with", "none", "--target", "tokens_per_s", "-q",
                "-o", model]
    if not group.intervals:
        args += ["--cv", "none"]
    if group.more:
        args += ["--with", write(folder, "more.csv", group.more)]
    run(dlest, *args)
    return model


def calibrate(dlest, folder, model, rows, name):
    out = os.path.join(folder, name + ".xml")
    run(dlest, "calibrate", write(folder, name + ".csv", rows), *ALIAS,
        "--model", model, "-q", "-o", out)
    return out


MEASURED = ("epoch_s", "gpu_power_w", "energy_j", "tokens_per_s")


def suggest(dlest, folder, model, rows):
    """The index of the row that is best to measure, and for each row the index
    of the best of another configuration, or None. What was measured is left out
    of the table."""
    told = json.loads(run(
        dlest, "calibrate", write(folder, "plan.csv", without(rows, MEASURED)),
        "--suggest", *ALIAS, "--model", model, "-q",
        "--format", "json"))
    line = [r and r - 2 for r in (w["run_line"] for w in told["wanted"])]
    return told["runs"][0]["line"] - 2, line


def predict(dlest, folder, model, rows, name, targets):
    """[{target: (estimate, low, high)}] of the rows."""
    found = [{} for _ in rows]
    for target in targets:
        asked = [dict(r) for r in without(rows, ("gpu_power_w",))]
        for r in asked:
            for other in ("energy_j", "epoch_s", "tokens_per_s",
                          "stable_epoch_energy_j"):
                r.pop(other, None)
            # The energy of one second is the mean power.
            if target == "gpu_power_w":
                r["duration_s"] = "1"
        text = run(dlest, "predict", "--input",
                   write(folder, name + "-rest.csv", asked), *ALIAS, "--model",
                   model, "--method", "physical", "--known", "duration", "-q",
                   "--format", "csv")
        for to, r in zip(found, csv.DictReader(text.splitlines())):
            column = "duration_s" if target == "epoch_s" else "energy_j"
            ends = [float(r[c]) if r[c] and column == "energy_j" else None
                    for c in ("low_j", "high_j")]
            to[target] = (float(r[column]), *ends)
    return found
