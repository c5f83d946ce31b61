# SPDX-License-Identifier: GPL-3.0-or-later
"""Intervals of `physical` as a user meets them who has a GPU, or a network,
that no row of the fit has.

Each GPU and each network with measured powers and times is left out of every
source. dlest fits what remains, finds its intervals from the groups that are
left, and estimates the rows that were left out: neither the residuals of the
other groups nor the posterior have seen them, and variables beyond the range of
the fit widen the interval as they do for a user.
"""
import concurrent.futures
import csv
import os

COLUMNS = ("arch", "gpu")
PUBLIC = 1  # doubts (sd of the logarithm) below it: facts are public
DOUBTS = ("doubt", "facts_doubt")
MEASURED = ("gpu_power_w", "energy_j", "gpu_energy_j", "epoch_s", "duration_s",
            "epoch_energy_j", "stable_epoch_energy_j", "epochs")


class Unseen:
    """A GPU or a network: what is fitted, and its rows."""

    def __init__(self, column, name, runs, others, rows):
        self.column, self.name, self.rows = column, name, rows
        self.runs = [r for r in runs if r[column] != name]
        self.others = [r for r in others if r[column] != name]


def of_runs(row, ram_w):
    """The time of a run of del Rey et al. is its energy by its power."""
    power = float(row["gpu_power_w"])
    return dict(row, epoch_s=float(row["energy_j"]) / float(row["epochs"]) /
                (power + ram_w))


def groups(runs, others, ram_w):
    known = [r for r in others if r["gpu_power_w"] and r["epoch_s"] and
             float(r["facts_doubt"]) < PUBLIC]
    for column in COLUMNS:
        own = list(dict.fromkeys(r[column] for r in runs))
        for name in own:
            yield Unseen(column, name, runs, others,
                         [of_runs(r, ram_w) for r in runs
                          if r[column] == name])
        for name in dict.fromkeys(r[column] for r in known):
            if name not in own:  # these trained in 32 bits
                yield Unseen(column, name, runs, others, [
                    dict({k: v for k, v in r.items() if k not in DOUBTS},
                         precision=r["precision"] or "tf32")
                    for r in known if r[column] == name])


def share_inside(tools, dlest, folder, model, rows, power):
    """Of powers, or of energies of an epoch."""
    asked = [dict({k: v for k, v in r.items() if k not in MEASURED},
                  epochs=1, boundary="gpu") for r in rows]
    if power:  # the energy of one second is the mean power
        asked = [dict(r, duration_s=1) for r in asked]
    text = tools.run(dlest, "predict", "--input",
                     tools.write(folder, "asked.csv", asked), *tools.ALIAS,
                     "--model", model, "--method", "physical", "--known",
                     "duration" if power else "none", "-q", "--format", "csv")
    inside = 0
    for row, found in zip(rows, csv.DictReader(text.splitlines()),
                          strict=True):
        measured = float(row["gpu_power_w"]) * \
            (1 if power else float(row["epoch_s"]))
        inside += float(found["low_j"]) <= measured <= float(found["high_j"])
    return inside / len(rows)


def shares(tools, dlest, folder, group):
    """Inside, of powers and of energies."""
    folder = os.path.join(folder, "unseen-" + group.column + "-" + group.name)
    os.mkdir(folder)
    model = os.path.join(folder, "model.xml")
    tools.run(dlest, "fit", tools.write(folder, "runs.csv", group.runs),
              *tools.ALIAS, "--method", "physical", "--with",
              tools.write(folder, "others.csv", group.others), "-q", "-o",
              model)
    return [share_inside(tools, dlest, folder, model, group.rows, power)
            for power in (True, False)]


def by_column(tools, options, folder, top):
    """{column: [(rows, [powers inside, energies inside])]}. tools: the module
    generalisation, which runs dlest."""
    runs = tools.read(os.path.join(options.runs, "delrey2024", "runs.csv"))
    with open(os.path.join(top, tools.OTHERS), encoding="utf-8",
              newline="") as f:
        every = list(groups(runs, list(csv.DictReader(f)), tools.RAM_W))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(
            lambda g: shares(tools, options.dlest, folder, g), every))
    return {column: [(len(g.rows), both) for g, both in zip(every, found)
                     if g.column == column] for column in COLUMNS}
