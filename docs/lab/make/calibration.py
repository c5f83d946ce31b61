#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What measured runs on a new GPU are worth to `dlest calibrate`.

  calibration.py DLEST RUNS [--write FILE] [--counts LIST] [--gpu NAME]
                 [--told] [--exact]

DLEST is the program, RUNS the folder with delrey2024/runs.csv (S. del Rey et
al., doi 10.5281/zenodo.11505891). Each GPU in turn is left out of a fit, with
its machine; the fit is brought up to date by one run on it (or by one run each
of as many configurations as LIST says) and estimates its other configurations.
Every configuration is the one run once; sets of several are drawn, DRAWS of
them. Of the four GPUs of the table that ships (J. You et al., NSDI'23) the
networks with public facts are estimated, without their uncertainty.

With --told the runs of del Rey et al. alone are estimated, the class of the
host given; with --gpu of that GPU. With --exact percentages are not rounded.

Of the tables of speeds (MLPerf Training, NVIDIA DeepLearningExamples, milabench,
timm, pytorch-gpu-benchmark) each GPU of a source is left out of all sources, and
times are estimated after one run: of the same network, and of another.

All estimates are dlest's. The tables go to standard output, or with --write
into FILE.
"""

import argparse
import concurrent.futures
import math
import os
import random
import sys
import tempfile
import textwrap

import generalisation
from calibration_runs import (DOUBTS, PUBLIC, Group, calibrate, fit, network,
                              predict, read_plain, without)
from calibration_speeds import (LANGUAGE, SPEEDS_TEXT, groups_of_language,
                                groups_of_speeds, speed_errors, speeds_table)
from generalisation import (Failure, OTHERS, mean, pair, percent, read, run,
                            table)

DRAWS = 20
HOST = ("host", "host_class")


def groups_of_runs(path, others, told):
    """The GPU is left out of the table of other sources too."""
    rows, more = read(path), read_plain(others)
    if not told:
        rows = without(rows, HOST)
    for gpu in dict.fromkeys(r["gpu"] for r in rows):
        yield Group(gpu, [r for r in rows if r["gpu"] != gpu],
                    [r for r in more if r["gpu"] != gpu],
                    [r for r in rows if r["gpu"] == gpu],
                    ("gpu_power_w", "energy_j"), told)


def groups_of_others(path, runs):
    rows = read_plain(path)
    known = [r for r in rows if r["gpu_power_w"] and
             float(r["facts_doubt"]) < PUBLIC]
    for gpu in dict.fromkeys(r["gpu"] for r in known):
        mine = [r for r in known if r["gpu"] == gpu]
        # What is to be estimated has the usual precision of its network, unless
        # it is told; these trained in 32 bits.
        mine = [dict(r, config="%s/%d" % (gpu, i),
                     precision=r["precision"] or "tf32")
                for i, r in enumerate(without(mine, DOUBTS))]
        yield Group(gpu, runs, [r for r in rows if r["gpu"] != gpu], mine,
                    ("gpu_power_w", "epoch_s"))


# --- scores

class Scores:
    """Sums over runs."""

    def __init__(self, targets):
        self.targets = targets
        self.error = {t: [] for t in targets}
        self.inside = {t: [] for t in targets}
        self.width = {t: [] for t in targets}
        self.networks = {}  # those of a run, and others
        self.repeats = None  # other runs of the configuration of a run

    def add(self, rows, found, learnt=None):
        """learnt: networks of the runs, to keep intervals apart by them"""
        for same in (True, False) if learnt is not None else ():
            part = [(r, f) for r, f in zip(rows, found)
                    if (network(r) in learnt) == same]
            if part:
                self.networks.setdefault(same, Scores(self.targets)).add(
                    *zip(*part))
        for target in self.targets:
            errors, inside, width = [], [], []
            for row, estimate in zip(rows, found):
                value, low, high = estimate[target]
                measured = float(row[target])
                errors.append(abs(value / measured - 1))
                if low is not None:
                    inside.append(low <= measured <= high)
                    width.append(math.log(high / low) / 2)
            self.error[target].append(mean(errors))
            if len(inside) == len(rows):
                self.inside[target].append(mean(inside))
                self.width[target].append(mean(width))

    def errors(self):
        return [mean(self.error[t]) for t in self.targets]

    def worst(self):
        return [max(self.error[t]) for t in self.targets]

    def coverage(self):
        return [mean(self.inside[t]) if self.inside[t] else None
                for t in self.targets]

    def widths(self):
        return [math.exp(mean(self.width[t])) if self.width[t] else None
                for t in self.targets]


def choices(group, count):
    if count == 1:
        return [[c] for c in group.configs]
    if count >= len(group.configs):
        return []
    draw = random.Random(count)
    return [draw.sample(group.configs, count) for _ in range(DRAWS)]


def one_of(group, configs):
    """The first run of each configuration."""
    return [next(r for r in group.rows if r["config"] == c) for c in configs]


def score(dlest, folder, group, counts, settled):
    """(before, {count: after}, [movement of the others])"""
    os.mkdir(folder)
    model = fit(dlest, folder, group)
    before = Scores(group.targets)
    before.add(group.rows, predict(dlest, folder, model, group.rows, "all",
                                   group.targets))
    was = predict(dlest, folder, model, settled, "settled", group.targets[:1])
    after, moved = {}, []
    for count in counts:
        picked = choices(group, count)
        if not picked:
            continue
        after[count] = Scores(group.targets)
        for configs in picked:
            new = calibrate(dlest, folder, model, one_of(group, configs),
                            "mine")
            rest = [r for r in group.rows if r["config"] not in configs]
            learnt = {network(r) for r in group.rows
                      if r["config"] in configs} if count == 1 else None
            after[count].add(rest, predict(dlest, folder, new, rest, "mine",
                                           group.targets), learnt)
            again = [r for r in group.rows if r["config"] in configs][1:]
            if count == 1 and again:
                scores = after[count].repeats = after[count].repeats or Scores(
                    group.targets)
                scores.add(again, predict(dlest, folder, new, again, "again",
                                          group.targets))
            if count == 1:
                now = predict(dlest, folder, new, settled, "settled",
                              group.targets[:1])
                moved.append([abs(b[t][0] / a[t][0] - 1) for a, b in
                              zip(was, now) for t in a])
    return before, after, moved


# --- tables

def of(scores, what):
    return pair(*what(scores)) if scores else "-"


def errors_table(groups, found, counts):
    rows = [[g.name, len(g.configs), of(b, Scores.errors),
             *(of(a.get(c), Scores.errors) for c in counts),
             of(a.get(1), Scores.worst)]
            for g, (b, a, _) in zip(groups, found)]
    average = ["mean", ""]
    for pick in [lambda f: f[0], *(lambda f, c=c: f[1].get(c)
                                   for c in counts)]:
        scores = [pick(f) for f in found]
        average.append(pair(*(mean(s.errors()[t] for s in scores)
                              for t in range(2))) if all(scores) else "-")
    runs = [len(g.rows) for g in groups]
    pooled = ["pooled", ""]
    for pick in [lambda f: f[0], *(lambda f, c=c: f[1].get(c)
                                   for c in counts)]:
        scores = [pick(f) for f in found]
        pooled.append(pair(*(sum(n * s.errors()[t] for n, s in
                                 zip(runs, scores)) / sum(runs)
                             for t in range(2))) if all(scores) else "-")
    return table(["left out", "configurations", "before",
                  *("%d run%s" % (c, "s" if c > 1 else "") for c in counts),
                  "worst run"], [*rows, average + [""], pooled + [""]])


def intervals_table(groups, found, counts):
    def cell(scores):
        if not scores:
            return "-"
        return "%s (%s)" % (pair(*scores.coverage()), " / ".join(
            "-" if w is None else "%.2f" % w for w in scores.widths()))

    def cells(after):
        one = after.get(1)
        for count in counts:
            if count > 1:
                yield cell(after.get(count))
            else:
                yield cell(one.repeats if one else None)
                for same in (True, False):
                    yield cell(one.networks.get(same) if one else None)
    head = []
    for count in counts:
        head += ["%d runs" % count] if count > 1 else [
            "1 run: repeats", "1 run: its network", "1 run: others"]
    return table(["left out", "before", *head],
                 [[g.name, cell(b), *cells(a)]
                  for g, (b, a, _) in zip(groups, found)])


HEAD = """# Accuracy after calibration with your own runs

Made by `make calibration MEASURED_RUNS=DIR` with %s.

A GPU is left out of the fit of `physical`, with its machine; `dlest calibrate`
learns from one run on it (or three, or ten, of as many configurations); its
other configurations are estimated. Each configuration serves once as the
calibration run; larger sets are drawn %d times. Mean absolute percentage errors over the runs
estimated, in %%, means over the choices; *worst run*: with the choice that
helps least. [estimation.md](estimation.md) says how it works and what was
tried.
"""

INTERVALS = (
    "Share of runs inside in %, and in brackets half the width as a factor; "
    "class of the host given. After one run: of runs of its very configuration, "
    "of other runs of its network, and of other networks. Until five "
    "configurations are measured, the GPU keeps the interval of an unseen GPU "
    "(by two other GPUs here and four of You et al.), except for energies of the "
    "networks that were measured. From five configurations on, it gets the "
    "interval of a known GPU.")
OWN = ("Each cell is *mean power of the GPU / energy of an epoch*.%s Pooled: "
       "every GPU counts by its runs.")


def moved_text(found):
    every = [m for _, _, moved in found for one in moved for m in one]
    return ("After one run the power of the %d configurations of another GPU "
            "moved by %s %% in the mean, %s %% at most." % (
                len(found[0][2][0]), percent(mean(every)),
                percent(max(every))))


def settled(group, groups):
    """Runs on another GPU, one a configuration, which the fit has seen."""
    other = next(g for g in groups if g is not group and len(g.configs) > 2)
    return one_of(other, other.configs)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("runs")
    p.add_argument("--write", metavar="FILE")
    p.add_argument("--counts", metavar="LIST", default="1,3,10")
    p.add_argument("--gpu", metavar="NAME")
    p.add_argument("--told", action="store_true")
    p.add_argument("--exact", action="store_true")
    o = p.parse_args()
    generalisation.exact = o.exact
    counts = [int(c) for c in o.counts.split(",")]
    runs = os.path.join(o.runs, "delrey2024", "runs.csv")
    if not os.access(runs, os.R_OK):
        raise Failure("%s is not there; set MEASURED_RUNS to the folder that "
                      "holds it" % runs)
    top = os.environ.get("DLEST_DATADIR") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    others = os.path.join(top, OTHERS)
    sets = [("Runs of del Rey et al., class of the host given",
             OWN % " A user can specify whether a machine is a server.",
             list(groups_of_runs(runs, others, True))),
            ("The same, without that class", OWN % "",
             list(groups_of_runs(runs, others, False))),
            ("GPUs of You et al.",
             "Each cell is *mean power of the GPU / time of an epoch*.",
             list(groups_of_others(others, read(runs))))]
    if o.gpu or o.told:
        sets = sets[:1]
    wanted = [[g for g in groups if o.gpu in (None, g.name)]
              for _, _, groups in sets]
    if not wanted[0]:
        raise Failure("no GPU '%s' in %s" % (o.gpu, runs))
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [[pool.submit(score, o.dlest,
                             os.path.join(folder, "%d-%d" % (i, j)), g, counts,
                             settled(g, sets[i][2]))
                 for j, g in enumerate(groups)]
                for i, groups in enumerate(wanted)]
        speeds = [] if o.gpu or o.told else [
            *groups_of_speeds(others, read(runs)),
            *groups_of_language(os.path.join(top, LANGUAGE))]
        times = [pool.submit(speed_errors, o.dlest,
                             os.path.join(folder, "s%d" % i), g)
                 for i, (_, g) in enumerate(speeds)]
        found = [[j.result() for j in js] for js in jobs]
        times = [j.result() for j in times]
    text = HEAD % (run(o.dlest, "--version").split("\n")[0], DRAWS)
    for (title, about, _), groups, results in zip(sets, wanted, found):
        text += "\n## %s\n\n%s\n\n%s\n\n%s\n" % (
            title, textwrap.fill(about, 80),
            errors_table(groups, results, counts),
            textwrap.fill(moved_text(results), 80))
    if times:
        text += "\n## Speeds of other sources\n\n%s\n\n%s\n" % (
            textwrap.fill(SPEEDS_TEXT, 80), speeds_table(speeds, times))
    text += "\n## Intervals of 90 %%\n\n%s\n\n%s\n" % (
        textwrap.fill(INTERVALS, 80), intervals_table(wanted[0], found[0],
                                                      counts))
    if o.write:
        with open(o.write + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(o.write + ".new", o.write)
    sys.stdout.write(text)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("calibration: %s" % e)
