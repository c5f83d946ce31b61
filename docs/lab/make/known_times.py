#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What it is worth to know the time, or the power, of a training.

  known_times.py DLEST RUNS [--write FILE]

DLEST is the program, RUNS the folder with delrey2024/runs.csv (S. del Rey et
al., doi 10.5281/zenodo.11505891). Each GPU in turn is left out of the fit of `physical`, with its machine, as in
calibration.py; its energies over an epoch, those of the GPU alone, are then
estimated with nothing known, as the predicted power times the known time, and
given the time or the power. A second table has runs made longer by waiting: to
a measured run, one of each configuration, a time is added in which the GPU draws
the static power that the models that ship, which have seen it, give it. All
estimates are dlest's. The tables go to standard output; with --write they also
replace those in FILE that begin with the same headings.
"""

import argparse
import csv
import json
import math
import os
import sys
import tempfile

from calibration import fit, groups_of_others, groups_of_runs
from generalisation import ALIAS, Failure, OTHERS, RAM_W, read, run, table, \
    write

# What `dlest predict --known` takes, and what the table calls it.
KNOWN = (("none", "nothing known"), ("duration", "P T"), ("time", "time"),
         ("gpu_power", "power"))


# Times of runs that wait, by the time of their work.
LONGER = (1, 1.5, 2, 3, 5)


class Score:
    """Errors of one GPU, and how often and how wide its intervals are."""

    def __init__(self, estimates, measured):
        self.n = len(measured)
        self.error = sum(abs(e / m - 1) for (e, _, _), m in
                         zip(estimates, measured)) / self.n
        self.inside = sum(low <= m <= high for (_, low, high), m in
                          zip(estimates, measured)) / self.n
        self.width = sum(math.log(high / low) / 2 for _, low, high in
                         estimates) / self.n

    def text(self):
        return "%.1f (%.0f, %.2f)" % (100 * self.error, 100 * self.inside,
                                      math.exp(self.width))


def pooled(scores):
    """Of several GPUs, each run counting the same."""
    total = Score.__new__(Score)
    total.n = sum(s.n for s in scores)
    for name in ("error", "inside", "width"):
        setattr(total, name, sum(s.n * getattr(s, name) for s in scores) /
                total.n)
    return total


def of_runs(rows):
    """The runs of del Rey et al.: the time is their energy by their power."""
    return [dict(r, epoch_s=float(r["energy_j"]) / float(r["epochs"]) /
                 (float(r["gpu_power_w"]) + RAM_W)) for r in rows]


def estimates(dlest, folder, model, rows, known):
    """[(energy, low, high)] of an epoch, J."""
    drop = ("energy_j", "gpu_energy_j", "epoch_energy_j",
            "stable_epoch_energy_j", "epochs")
    asked = [dict({k: v for k, v in r.items() if k not in drop}, epochs=1,
                  boundary="gpu") for r in rows]
    text = run(dlest, "predict", "--input",
               write(folder, "known.csv", asked), *ALIAS, "--model", model,
               "--method", "physical", "--known", known, "-q", "--format",
               "csv")
    return [tuple(float(r[c]) for c in ("energy_j", "low_j", "high_j"))
            for r in csv.DictReader(text.splitlines())]


def static_w(dlest, gpu):
    """Of a GPU that waits, by the models that ship."""
    text = run(dlest, "predict", "--arch", "resnet50", "--gpu", gpu, "--method",
               "physical", "--gpu-util", "50", "-q", "--format", "json")
    return json.loads(text)["static_power_w"]


def waiting_scores(dlest, folder, model, rows, gpu):
    """{how much longer: Score} given the time, a run of each configuration."""
    rows = list({r["config"]: r for r in reversed(rows)}.values())
    static, found = static_w(dlest, gpu), {}
    for longer in LONGER:
        asked = [dict(r, epoch_s=longer * float(r["epoch_s"])) for r in rows]
        measured = [(float(r["gpu_power_w"]) + (longer - 1) * static) *
                    float(r["epoch_s"]) for r in rows]
        found[longer] = Score(estimates(dlest, folder, model, asked, "time"),
                              measured)
    return found


def scores(dlest, folder, group):
    """{what is known, or how much longer: Score} of a GPU that is left out.
    """
    folder = os.path.join(folder, group.name)
    os.mkdir(folder)
    group.intervals = True
    model = fit(dlest, folder, group)
    rows = group.rows
    if "epoch_s" not in rows[0]:
        rows = of_runs(rows)
    measured = [float(r["gpu_power_w"]) * float(r["epoch_s"]) for r in rows]
    known = {word: Score(estimates(dlest, folder, model, rows, word), measured)
             for word, _ in KNOWN}
    return known | waiting_scores(dlest, folder, model, rows, group.name)


def table_of(found, columns):
    """Of [(name of the set, [(GPU, {key: Score})])] and [(key, heading)]."""
    rows = []
    for name, gpus in found:
        rows += [[gpu, s[columns[0][0]].n, *(s[w].text() for w, _ in columns)]
                 for gpu, s in gpus]
        total = {w: pooled([s[w] for _, s in gpus]) for w, _ in columns}
        rows.append(["%s, all" % name, total[columns[0][0]].n,
                     *(total[w].text() for w, _ in columns)])
    return table(["left out", "rows", *(text for _, text in columns)], rows)


def replace(path, new):
    """Puts a table in the place of the one that begins like it."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    heading = [c.strip() for c in new.split("\n")[0].split("|")]
    first = next((i for i, line in enumerate(lines)
                  if [c.strip() for c in line.split("|")] == heading), None)
    if first is None:
        raise Failure("%s has no table '%s'" % (path, heading))
    last = first
    while lines[last].startswith("|"):
        last += 1
    text = "\n".join([*lines[:first], new, *lines[last:]])
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("runs")
    p.add_argument("--write", metavar="FILE")
    o = p.parse_args()
    runs = os.path.join(o.runs, "delrey2024", "runs.csv")
    if not os.access(runs, os.R_OK):
        raise Failure("%s is not there; set MEASURED_RUNS to the folder that "
                      "holds it" % runs)
    top = os.environ.get("DLEST_DATADIR") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    others = os.path.join(top, OTHERS)
    sets = [("del Rey et al.", groups_of_runs(runs, others, True)),
            ("You et al.", groups_of_others(others, read(runs)))]
    with tempfile.TemporaryDirectory() as folder:
        found = [(name, [(g.name, scores(o.dlest, folder, g))
                         for g in groups]) for name, groups in sets]
    for columns in (KNOWN, [(k, "%g x the time" % k) for k in LONGER]):
        new = table_of(found, columns)
        if o.write:
            replace(o.write, new)
        sys.stdout.write(new + "\n\n")


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("known-times: %s" % e)
