# SPDX-License-Identifier: GPL-3.0-or-later
"""What one run on a new GPU is worth for the speeds of tables that have no
energies: networks of other sources, and language models.
"""

import math
import os
import random

from calibration_runs import (DOUBTS, MEASURED, PUBLIC, Group, calibrate, fit,
                              network, predict, read_plain, suggest, without)
from generalisation import percent, table

SPEEDS = ("mlperf", "nvidia-dle", "milabench", "timm",
          "pytorch-gpu-benchmark")
STEPS = 1000  # an epoch of tables of speeds is longer than what begins it
MOST_CHOICES = 15


def groups_of_speeds(path, runs):
    """GPUs of a source with three rows or more."""
    rows = [r for r in read_plain(path) if r["source"] in SPEEDS and
            float(r["facts_doubt"] or 0) < PUBLIC]
    for source in SPEEDS:
        mine = [r for r in rows if r["source"] == source]
        for gpu in dict.fromkeys(r["gpu"] for r in mine):
            own = [speed_row(r, i) for i, r in enumerate(mine)
                   if r["gpu"] == gpu]
            if len(own) > 2:
                yield source, Group(gpu, [r for r in runs if r["gpu"] != gpu],
                                    [r for r in read_plain(path)
                                     if r["gpu"] != gpu], own, ("epoch_s",))


TOKENS = 1e12  # of a whole training
LANGUAGE = "data/language-training-means.csv"


def language_row(row, i):
    """A mean of the table as a run, whose time is that of all its tokens."""
    dropped = ("doubt", "power_doubt", "gpu_power_w", "source", "n")
    return dict({k: v for k, v in row.items() if k not in dropped},
                config=str(i), tokens=TOKENS, overhead="0", startup_s="0",
                epoch_s=TOKENS / float(row["tokens_per_s"]))


def groups_of_language(path):
    """GPUs of a source with three rows or more, of language models."""
    rows = read_plain(path)
    for source in dict.fromkeys(r["source"] for r in rows):
        mine = [r for r in rows if r["source"] == source]
        for gpu in dict.fromkeys(r["gpu"] for r in mine):
            own = [language_row(r, i) for i, r in enumerate(mine)
                   if r["gpu"] == gpu]
            if len(own) > 2:
                group = Group(gpu, [r for r in rows if r["gpu"] != gpu], None,
                              own, ("epoch_s",))
                group.language = True
                yield source, group


def speed_row(row, i):
    samples = float(row["train_samples"])
    seconds = float(row["epoch_s"]) if row["epoch_s"] else \
        samples / float(row["samples_per_s"])
    more = max(1, math.ceil(STEPS * float(row["batch_size"]) *
                            float(row["n_gpus"] or 1) / samples))
    dropped = DOUBTS + ("samples_per_s", "gpu_power_w", "source", "n")
    return dict({k: v for k, v in row.items() if k not in dropped},
                config=str(i), epochs="1", loader="synthetic",
                train_samples=samples * more, epoch_s=seconds * more)


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2 if values else None


class SpeedErrors:
    """Errors of times of one GPU of a source."""

    def __init__(self):
        self.before = []
        self.same, self.other = [], []  # networks, after one run
        self.suggested = []
        self.nearest = []  # each after the nearest run of its network
        self.own = []      # each after the run suggested for it


def nearest(rows, j):
    """The row whose settings are the nearest to those of row j, of its network
    if there is one; None where all are the same."""
    def distance(i):
        sizes = [abs(math.log(float(rows[i].get(c) or 1) /
                              float(rows[j].get(c) or 1)))
                 for c in ("batch_size", "n_gpus")]
        return (network(rows[i]) != network(rows[j]),
                rows[i]["precision"] != rows[j]["precision"], sum(sizes))
    mine, *all_of = without([rows[j], *rows], MEASURED + ("config",))
    others = [i for i, r in enumerate(all_of) if r != mine]
    return min(others, key=distance) if others else None


def speed_errors(dlest, folder, group):
    os.mkdir(folder)
    model = fit(dlest, folder, group)
    rows = group.rows
    to = SpeedErrors()

    def errors(model, name, asked):
        found = predict(dlest, folder, model, [rows[j] for j in asked], name,
                        group.targets)
        return [abs(f["epoch_s"][0] / float(rows[j]["epoch_s"]) - 1)
                for f, j in zip(found, asked)]

    def after(runs, asked):
        return errors(calibrate(dlest, folder, model, [rows[i] for i in runs],
                                "mine"), "mine", asked)

    def others(*runs):
        return [j for j in range(len(rows)) if j not in runs]
    to.before = errors(model, "all", others())
    draw = random.Random(1)
    for i in sorted(draw.sample(range(len(rows)),
                                min(MOST_CHOICES, len(rows)))):
        for j, e in zip(others(i), after([i], others(i))):
            (to.same if network(rows[j]) == network(rows[i]) else
             to.other).append(e)
    best, own = suggest(dlest, folder, model, rows)
    if others(best):
        to.suggested += after([best], others(best))
    near = [nearest(rows, j) for j in range(len(rows))]
    for errors_of, of in ((to.nearest, near), (to.own, own)):
        for i in sorted({i for i in of if i is not None}):
            errors_of += after([i], [j for j, run in enumerate(of)
                                     if run == i])
    return to


def speeds_row(name, of):
    columns = [lambda f: f.before, lambda f: f.same, lambda f: f.other,
               lambda f: f.same + f.other,
               lambda f: f.suggested,
               lambda f: f.nearest, lambda f: f.own]
    errors = [sum((column(f) for f in of), []) for column in columns]
    return [name, len(of), len(errors[0]),
            *(percent(median(x)) if x else "-" for x in errors)]


def speeds_table(groups, found):
    both = list(zip(groups, found))
    language = [b for b in both if b[0][1].language]
    rest = [b for b in both if not b[0][1].language]
    rows = [speeds_row(s, [f for (name, _), f in rest if name == s])
            for s in SPEEDS]
    rows.append(speeds_row("all of these", [f for _, f in rest]))
    rows += [speeds_row("language models, " + s,
                        [f for (name, _), f in language if name == s])
             for s in dict.fromkeys(name for (name, _), _ in language)]
    rows.append(speeds_row("all language models", [f for _, f in language]))
    return table(["source", "GPUs", "rows", "before", "same network",
                  "another", "any", "suggested", "nearest", "its own"],
                 rows)


SPEEDS_TEXT = (
    "Median error of the time in %%. A GPU is left out of all sources; one row "
    "of it in a source is the run (up to %d are), the others of that source are "
    "estimated: by whether their network is that of the run, and all. "
    "*Suggested*: after the run that `dlest calibrate --suggest` chooses of "
    "that source without seeing a measurement. The last "
    "columns have a run for each row, of other settings: *nearest*, of its "
    "network, precision, batch size and number of GPUs as far as there is one; "
    "*its own*, the one suggested for it. Of language models the GPU is left "
    "out of the sources of `data/language-training-means.csv`."
    % MOST_CHOICES)
