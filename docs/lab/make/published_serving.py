#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far `physical` is off for serving speeds that others published.

  published_serving.py DLEST [--rows] [--write FILE]

The speeds are those of data/published-serving.csv, which no fit reads: output
tokens per second of a server at a stated number of concurrent requests. Tables
and options are those of published_speeds.py.
"""

import csv
import math
import sys

from generalisation import Failure, run, write
from published_speeds import (by, halves, main, parameters, refused,
                              size, SIZES, sources)

# Columns that are no setting of a run.
NOTES = ("output_tokens_per_s", "engine", "citation")
REQUESTS = 1e6


class Row:
    """A published speed and its estimate."""

    def __init__(self, settings, found):
        self.settings = settings
        tokens = REQUESTS * float(settings["output_tokens"])
        published = float(settings["output_tokens_per_s"])
        self.error = math.log(tokens / float(found["duration_s"]) / published)
        self.inside = (float(found["duration_low_s"]) <= tokens / published
                       <= float(found["duration_high_s"]))

    def __getitem__(self, column):
        return self.settings[column]


def estimates(dlest, rows, folder):
    """(rows with an estimate, rows without)."""
    asked = [dict({c: v for c, v in r.items() if c not in NOTES}, run_id=i,
                  phase="inference", tensor_parallel=r["n_gpus"], requests="%.0f" % REQUESTS)
             for i, r in enumerate(rows)]
    text = run(dlest, "predict", "--input",
               write(folder, "published.csv", asked), "--method", "physical",
               "-q", "--format", "csv")
    found = {int(f["run_id"]): f for f in csv.DictReader(text.splitlines())
             if f["duration_s"]}
    return ([Row(r, found[i]) for i, r in enumerate(rows) if i in found],
            [r for i, r in enumerate(rows) if i not in found])


def steps(column, names, limits):
    """Key of a row: the name of the range that its column falls into."""
    return lambda row: names[sum(float(row[column]) > most
                                 for most in limits)]


CONCURRENCY = ("1", "2 to 16", "17 to 64", "65 to 256", "more")
PROMPTS = ("up to 128", "129 to 1,024", "1,025 to 8,192", "more")
GPUS = ("1", "2 to 4", "8")


def weights(row):
    return ("4 bits" if row["weight_bytes"] else
            "8 bits" if row["precision"] == "fp8" else "16 bits")


def all_tables(dlest, rows, skipped):
    params = parameters(dlest, rows)
    return [halves(rows), sources(rows),
            by(rows, "engine", lambda r: r["engine"].split(" ")[0]),
            by(rows, "GPU", lambda r: r["gpu"]),
            by(rows, "model", lambda r: r["arch"]),
            by(rows, "parameters, 1e9",
               lambda r: size(params[r["arch"]][0]), SIZES),
            by(rows, "weights", weights),
            by(rows, "GPUs", steps("n_gpus", GPUS, (1, 4)), GPUS),
            by(rows, "concurrent requests",
               steps("batch_size", CONCURRENCY, (1, 16, 64, 256)),
               CONCURRENCY),
            by(rows, "prompt tokens",
               steps("prompt_tokens", PROMPTS, (128, 1024, 8192)), PROMPTS),
            refused(skipped)]


if __name__ == "__main__":
    try:
        main(__doc__, "published-serving.csv", estimates, all_tables)
    except Failure as e:
        sys.exit("published-serving: %s" % e)
