#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What dlest's estimates are worth for runs it has not seen.

  generalisation.py DLEST RUNS [--write FILE] [--methods LIST]
                    [--protocols LIST]

DLEST is the program, RUNS the folder with delrey2024/runs.csv (S. del Rey et
al., doi 10.5281/zenodo.11505891). Every regression of `dlest fit` and every
baseline of `dlest list methods` is scored on its 857 runs under four
protocols; the tables go to standard output, or with --write into FILE.
LIST takes some of the methods or protocols, separated by commas, as the
tables name them (P1,P4); tables of other data are left out then. All
estimates are dlest's.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import generalisation_sources as sources
import generalisation_speeds as speeds
import generalisation_tables as tables
import generalisation_intervals as intervals
import generalisation_language as language
import generalisation_unseen as unseen

TARGETS = ("gpu_power_w", "epoch_energy_j")
PROTOCOLS = {
    "P1": ("kfold-shuffled:5", None, "random fifths"),
    "P2": ("group:config", "config", "a configuration left out"),
    "P3": ("group:arch", "arch", "an architecture left out"),
    "P4": ("group:gpu", "gpu", "a GPU left out"),
}
AIMS = {"P1": "1.1 / 2", "P2": "5 / 7", "P3": "8 / 14", "P4": "10 / 17"}
GROUP_AIMS = {"P2": "", "P3": "- / 20", "P4": ""}
PUBLISHED = "krr as published"
# Features and constants of PRE as published (arXiv 2307.05520); height and
# width of the image are two of its features, and equal.
PUBLISHED_OPTIONS = (
    "--features batch_size,ram_gb,train_samples,val_samples,macs_g,image_px,"
    "image_px,gpu.cuda_cores,gpu.memory_gb,gpu.tdp_w --no-log --method krr "
    "--alpha 0.0006644681546141923 --gamma 0.04418856040375013").split()
# The MobileNetV2 of these runs has width 0.5.
ALIAS = ["--alias", "mobilenet_v2=mobilenetv2_050"]
# Their machines: the RTX 3090 stood in a server ("cloud" in the authors'
# tables), the others in desktops. A user can give it; the table does not have it.
HOSTS = {"rtx-3090": "server", "rtx-3070": "desktop", "gtx-750-ti": "desktop"}
CONFIGURATIONS = "data/delrey2024-configurations.csv"
OTHERS = "data/training-means.csv"
RAM_W = 5  # W, of the node's memory, where a duration has to be had


class Failure(Exception):
    pass


# --- dlest

def run(dlest, *args):
    env = dict(os.environ)
    env.setdefault("OMP_NUM_THREADS", "1")  # two run at a time
    done = subprocess.run([dlest, *args], env=env, text=True,
                          capture_output=True)
    if done.returncode not in (0, 3) or not done.stdout:
        raise Failure("dlest %s: %s" % (" ".join(args), done.stderr.strip()))
    return done.stdout


def regressions(dlest):
    """What --method of `dlest fit` takes, physics first."""
    text = run(dlest, "fit", "--help")
    found = re.search(r"--method=NAME\s+(.*?)\(", text, re.S)
    if not found:
        raise Failure("dlest fit --help names no --method")
    names = re.findall(r"[a-z]+", found.group(1).replace(" or ", " "))
    # Serving and language models are fitted on other tables.
    first = [n for n in ("physical", "krr", "ridge", "ols") if n in names]
    return first + sorted(set(names) - {*first, "serving", "language"})


def baselines(dlest, known):
    found = json.loads(run(dlest, "list", "methods", "--format", "json"))
    return [m["name"] for m in found["methods"]
            if m["name"] not in known and not m["name"].startswith("pre-")]


def fit(dlest, runs, method, scheme, model=None):
    """{target: cross-validation} under a scheme."""
    how = PUBLISHED_OPTIONS if method == PUBLISHED else ["--method", method]
    args = ["fit", runs, *ALIAS, *how, "--cv", scheme, "-q", "--format",
            "json", *(("-o", model) if model else ("--no-model",))]
    for target in TARGETS:
        args += ["--target", target]
    return {f["target"]: f["cv"] for f in json.loads(run(dlest, *args))["fits"]}


def baseline(dlest, runs, method, target, by):
    """[(runs, MAPE)] by groups; none where it gives no such figure."""
    args = ["compare", runs, *ALIAS, "--methods", method, "-q", "--format",
            "json", "--by", by]
    # The energy of one second is the mean power, whatever is done in it.
    args += ["--known", "duration", "--define", "duration_s=1", "--define",
             "gpu_energy_j=gpu_power_w"] if target == TARGETS[0] else \
        ["--define", "duration_s=energy_j/(gpu_power_w + %g)" % RAM_W]
    scores = json.loads(run(dlest, *args))["scores"]
    return [(s["n"], s["mape"]) for s in scores if s["mape"] is not None]


# What the baselines can be asked for: flops tells the duration itself, and
# green-algorithms has no figure of the GPU alone.
def gives_power(method):
    return method == "tdp"


# --- tables to score on

def with_hosts(rows):
    """host and host_class of the runs of del Rey et al., where not given. Their
    trainings drop the last batch (steps_per_epoch = samples // batch size)."""
    for row in rows:
        if row.get("source") == "delrey2024":
            row["drop_last"] = "yes"
        if row["gpu"] in HOSTS and not row.get("host"):
            row["host"] = "del-rey-" + row["gpu"]
            row["host_class"] = HOSTS[row["gpu"]]
    return rows


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return with_hosts(list(csv.DictReader(f)))


def write(folder, name, rows):
    columns = list(dict.fromkeys(c for row in rows for c in row))
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, columns, restval="")
        out.writeheader()
        out.writerows(rows)
    return path


def all_sources(folder, top):
    """One table of the means of all sources, their columns united; None
    where one is not there."""
    parts = [os.path.join(top, f) for f in (CONFIGURATIONS, OTHERS)]
    if not all(os.path.exists(p) for p in parts):
        return None
    rows = [r for p in parts for r in read(p)]
    for row in rows:
        row["source"] = row["source"].split(",")[0]
        if not row.get("epoch_s") and row.get("epoch_energy_j"):
            row["epoch_s"] = repr(float(row["epoch_energy_j"]) /
                                  (float(row["gpu_power_w"]) + RAM_W))
    return write(folder, "sources.csv", rows)


def source_out(dlest, table, method):
    how = ["--method", method] + (["--with", "none"] if method == "physical"
                                  else [])
    args = ["fit", table, *ALIAS, *how, "--target", TARGETS[0], "--cv",
            "group:source", "-q", "--no-model", "--format", "json"]
    return json.loads(run(dlest, *args))["fits"][0]["cv"]


# --- tables

exact = False  # percentages are not rounded, for tests that compare them


def percent(x):
    """A share as a percentage, three digits at most."""
    return "-" if x is None else ("%.9g" if exact else "%.2f" if x < .01 else
                                  "%.1f" if x < 1 else "%.0f") % (100 * x)


def pair(power, energy):
    return "%s / %s" % (percent(power), percent(energy))


def table(head, rows):
    """An aligned table of Markdown."""
    width = [max(len(str(r[i])) for r in [head, *rows])
             for i in range(len(head))]

    def line(cells):
        return "| " + " | ".join(str(c).ljust(w) for c, w in
                                 zip(cells, width)) + " |"
    return "\n".join([line(head), "|" + "|".join("-" * (w + 2) for w in width)
                      + "|", *(line(r) for r in rows)])


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def cell(cvs, of):
    return pair(*(of(cvs[t]) if cvs.get(t) else None for t in TARGETS))


def pooled(cv):
    return cv["pooled"]["mape"]


def by_group(cv):
    return cv["mean"]["mape"]


def labels(runs, column):
    """Names of groups, in the order of folds."""
    with open(runs, encoding="utf-8", newline="") as f:
        return list(dict.fromkeys(r[column] for r in csv.DictReader(f)))


def score(dlest, runs, methods, plain, protocols, folder):
    """All figures: {(method, protocol): ...}, and the model files."""
    fits, models, lines = {}, {}, {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {}
        for method in methods:
            for protocol in protocols:
                model = os.path.join(folder, method + ".xml") \
                    if method not in models and method != PUBLISHED else None
                if model:
                    models[method] = model
                jobs[method, protocol] = pool.submit(
                    fit, dlest, runs, method, PROTOCOLS[protocol][0], model)
        asked = {}
        for method in plain:
            for by in {PROTOCOLS[p][1] or "config" for p in protocols}:
                for target in TARGETS:
                    if target == TARGETS[0] and not gives_power(method):
                        continue
                    asked[method, by, target] = pool.submit(
                        baseline, dlest, runs, method, target, by)
        fits = {key: job.result() for key, job in jobs.items()}
        lines = {key: job.result() for key, job in asked.items()}
    return fits, models, lines


def baseline_cell(lines, method, protocol, grouped):
    by = PROTOCOLS[protocol][1] or "config"
    values = []
    for target in TARGETS:
        found = lines.get((method, by, target))
        if not found:
            values.append(None)
        elif grouped:
            values.append(mean(m for _, m in found))
        else:
            values.append(sum(n * m for n, m in found) /
                          sum(n for n, _ in found))
    return pair(*values)


def error_table(fits, lines, methods, plain, protocols, grouped):
    of = by_group if grouped else pooled
    aims = GROUP_AIMS if grouped else AIMS
    rows = [[m, *(cell(fits[m, p], of) for p in protocols)] for m in methods]
    rows += [[m, *(baseline_cell(lines, m, p, grouped) for p in protocols)]
             for m in plain]
    rows.append(["aim", *(aims[p] for p in protocols)])
    return table(["method", *protocols], rows)


def detail_table(fits, runs, method, protocol):
    column = PROTOCOLS[protocol][1]
    folds = fits[method, protocol]
    rows = [[name, folds[TARGETS[0]]["folds"][i]["n"],
             pair(*(folds[t]["folds"][i]["mape"] for t in TARGETS))]
            for i, name in enumerate(labels(runs, column))]
    return table(["left out", "runs", "power / energy"], rows)


def interval_table(models, methods, protocols):
    rows = []
    for method in methods:
        if method not in models:
            continue
        found = intervals.residuals(models[method])
        for protocol in protocols:
            column = PROTOCOLS[protocol][1]
            for target in TARGETS:
                groups = found.get((target, column), [])
                got = intervals.coverage(groups)
                if got:
                    rows.append([method, protocol, target, len(groups),
                                 percent(got[0]), percent(got[1]),
                                 "%.2f" % got[2], "%.2f" % got[3]])
    return table(["method", "protocol", "target", "groups", "runs inside",
                  "mean of groups", "width", "all groups"], rows) if rows else None


def source_table(dlest, path, methods):
    names = dict.fromkeys(r["source"] for r in read(path) if r["gpu_power_w"])
    rows = []
    for method in methods:
        folds = source_out(dlest, path, method)["folds"]
        rows.append([method, *("%s (%d)" % (percent(f["mape"]), f["n"])
                               for f in folds)])
    return table(["method", *names], rows) if rows else None


def physical_sources_table(dlest, path, model, folder):
    found = sources.source_rows(run, dlest, path, intervals.residuals(model), folder)
    return table(["left out", "quantity", "rows", "MAPE", "within 1.5",
                  "inside 90 %"],
                 [[name, what, n, *map(percent, figures)]
                  for name, what, n, *figures in found])


def physical_gpus_table(dlest, path, folder):
    return table(["left out", "powers", "power", "times", "time"],
                 [[gpu, n, percent(power), m, percent(time)]
                  for gpu, n, power, m, time in sources.gpu_rows(
                      run, dlest, path, folder, "zeus-nsdi23")])


def source_parts(o, methods, models, folder, top):
    path = all_sources(folder, top)
    if not path:
        return []
    parts = [(
        "A whole source left out",
        "Mean power of the GPU, on means of configurations (number in "
        "brackets): one of the two sources that have it is estimated by a fit "
        "of all others. Rows that lack what a method needs are not counted.",
        source_table(o.dlest, path, [m for m in methods if m != PUBLISHED]))]
    if "physical" in models:
        parts += [(
            "`physical`, a source left out, all quantities",
            "All rows of a source are estimated by a fit of the others, in %. "
            "Energy is power x time where a row has both. *Within 1.5*: share "
            "of rows that are off by that factor at most (aim: 90 % of "
            "energies). *Inside 90 %*: share of rows inside the interval that "
            "dlest gives for a network and a GPU which are both new, "
            "of times with what laboratories differ by.",
            physical_sources_table(o.dlest, path, models["physical"], folder)),
            ("`physical`, one of Zeus's GPUs left out",
             "Left out of every source (aims: power 9, time 30).",
             physical_gpus_table(o.dlest, path, folder))]
    return parts


def networks_part(o, folder):
    """Networks of other tables left out; none where those are absent."""
    rows, commands = tables.fit_rows(run, o.dlest, o.runs, folder)
    if not rows:
        return []
    body = table(["table", "left out", "quantity", "method", "groups", "rows",
                  "pooled", "mean of groups", "aim", "seconds"],
                 [[*names, percent(pooled_error), percent(mean_error), aim,
                   "%.0f" % seconds]
                  for *names, pooled_error, mean_error, aim, seconds in rows])
    return [("Networks of other tables left out, by one command each",
             tables.ABOUT, body + "\n\n```sh\n" + "\n".join(commands) +
             "\n```")]


HEAD = """# Errors on held-out data

Made by `make generalisation MEASURED_RUNS=DIR` with %s.

Mean absolute percentage errors of dlest on the 857 measured runs of S. del
Rey, L. Cruz, X. Franch and S. Martinez-Fernandez (arXiv 2307.05520; data doi
10.5281/zenodo.11505891, CC BY 4.0): three GPUs, six architectures, 45
configurations. Each cell is *mean GPU power / epoch energy*, in %%. No method is
fitted or scaled on the rows that it is scored on.

| protocol | held out                                             | groups |
|----------|------------------------------------------------------|--------|
| P1       | random fifths (configurations repeat: a look-up)     | 5      |
| P2       | a configuration                                      | 45     |
| P3       | an architecture                                      | 6      |
| P4       | a GPU with its machine                               | 3      |

**Optimistic**: the form of `physical`, its priors and the recipes of `krr`,
`ridge` and `ols` were chosen with the folds of P2, P3 and P4 in view
([designs.md](designs.md) lists them).
`%s` uses the features and hyper-parameters of that paper, which were
searched on random folds: its P1 is optimistic as well.

The baselines are not fitted, so that protocols differ only in the groups.
`tdp` has the power, and with the measured duration the energy;
`green-algorithms` the energy with that duration; `flops` the energy from the
settings. The table has no durations; energy / (GPU power + %g W for
the memory) is used instead. `carbontracker` is a rule for running trainings:
see [step.md](step.md).

The class of the host is given (a server for the RTX 3090), as a user can give it.
"""


def document(version, parts):
    head = "\n\n".join(
        p if p.startswith("|") else textwrap.fill(p, 80,
                                                  break_on_hyphens=False)
        for p in (HEAD % (version, PUBLISHED, RAM_W)).strip().split("\n\n"))
    return head + "\n" + "".join("\n## %s\n\n%s%s\n" % (
        title, textwrap.fill(text, 80, break_on_hyphens=False) + "\n\n"
        if text else "", body) for title, text, body in parts if body)


def make_parts(o, methods, plain, protocols, folder, top):
    runs = write(folder, "runs.csv",
                 read(os.path.join(o.runs, "delrey2024", "runs.csv")))
    fits, models, lines = score(o.dlest, runs, methods, plain, protocols,
                                folder)
    grouped = [p for p in protocols if PROTOCOLS[p][1]]
    best = methods[0] if methods else None
    parts = [("Pooled over the runs",
              "The aims of the project are in the last line. With the host "
              "known, or after one run on the new GPU, that of P4 is 9 / 12.",
              error_table(fits, lines, methods, plain, protocols, False))]
    if grouped:
        parts.append((
            "Mean over the groups", "Every held-out group has the same "
            "weight, independent of its number of runs.",
            error_table(fits, lines, methods, plain, grouped, True)))
    for p in ("P3", "P4"):
        if best and p in grouped:
            parts.append(("`%s`, %s" % (best, PROTOCOLS[p][2]), "",
                          detail_table(fits, runs, best, p)))
    parts.append((
        "Intervals of %g %%" % (100 * intervals.COVERAGE),
        "Coverage, pooled over the runs and as the mean over the groups, in %. "
        "Each group in turn is the new one, and its own residuals are not "
        "used (`docs/lab/make/generalisation_intervals.py`). *Width*: the interval "
        "reaches from the estimate divided by it to the estimate times it "
        "(geometric mean over groups); *all groups*: that of the interval of "
        "dlest. Groups of `physical` include those of the auxiliary training "
        "data with measured power and time. The others have three GPUs, of "
        "which two determine the width: coverage has little meaning there.",
        interval_table(models, methods, grouped)))
    if not o.methods and not o.protocols:
        new = lambda: unseen.by_column(sys.modules[__name__], o, folder, top)
        parts += intervals.part(models.get("physical"), TARGETS, table, pair, new)
        parts += source_parts(o, methods, models, folder, top)
        means = os.path.join(top, "data", "language-training-means.csv")
        head, *rows = language.table_rows(run, o.dlest, means, folder)
        parts.append(("Training of language models", language.INTRO,
                      table(head, rows)))
        parts.append(speeds.part(run, o.dlest, top, write, table,
                                 all_sources(folder, top)))
        parts += networks_part(o, folder)
    return parts


def chosen(given, all_of, what):
    names = given.split(",") if given else all_of
    for name in names:
        if name not in all_of:
            raise Failure("no %s '%s'; there are: %s" %
                          (what, name, ", ".join(all_of)))
    return [n for n in all_of if n in names]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("runs")
    p.add_argument("--write", metavar="FILE")
    p.add_argument("--methods", metavar="LIST")
    p.add_argument("--protocols", metavar="LIST")
    o = p.parse_args()
    runs = os.path.join(o.runs, "delrey2024", "runs.csv")
    if not os.access(runs, os.R_OK):
        raise Failure("%s is not there; set MEASURED_RUNS to the folder that "
                      "holds it" % runs)
    top = os.environ.get("DLEST_DATADIR") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    learnt = regressions(o.dlest) + [PUBLISHED]
    plain = baselines(o.dlest, learnt)
    names = chosen(o.methods, learnt + plain, "method")
    protocols = chosen(o.protocols, list(PROTOCOLS), "protocol")
    version = run(o.dlest, "--version").split("\n")[0]
    with tempfile.TemporaryDirectory() as folder:
        text = document(version, make_parts(
            o, [m for m in learnt if m in names],
            [m for m in plain if m in names], protocols, folder, top))
    if o.write:
        with open(o.write + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(o.write + ".new", o.write)
    sys.stdout.write(text)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("generalisation: %s" % e)
