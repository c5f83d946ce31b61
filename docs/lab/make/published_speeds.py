#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far `physical` is off for speeds that others published.

  published_speeds.py DLEST [--rows] [--write FILE]

The speeds are those of data/published-speeds.csv, which no fit reads. Each row
is estimated from its set-up alone. The tables go to standard output; with
--write each also replaces the one in FILE that begins with the same heading.
--rows prints a line for each row instead: source, its half, network, GPU,
estimated over published speed, whether the interval of 90 % holds it.
"""

import argparse
import csv
import math
import os
import statistics
import sys
import tempfile
import zlib

from generalisation import Failure, run, table, write
from known_times import replace

PUBLISHED = ("tokens_per_s", "samples_per_s")
# Columns that are no setting of a run.
NOTES = ("peak_memory_gib", "citation")
GIB = 1.073741824  # GB
# Tokens of the whole training, where a row has none: the estimate is per token,
# and a step's batch is assumed by it.
PRE_TRAINING, FINE_TUNING = "1e12", "1e8"

HEAD = ["rows", "ratio", "median error", "within 1.25", "within 1.5",
        "inside 90 %"]


class Row:
    """A published speed and its estimate."""

    def __init__(self, settings, found):
        self.settings = settings
        key = next(c for c in PUBLISHED if settings[c])
        self.error = math.log(float(found[key]) / float(settings[key]))
        time = float(found["duration_s"])
        self.inside = (float(found["duration_low_s"]) / time
                       <= math.exp(self.error)
                       <= float(found["duration_high_s"]) / time)
        published, need = settings["peak_memory_gib"], found["memory_need_gb"]
        self.memory = (math.log(float(need) / GIB / float(published))
                       if published and need else None)
        self.inside_memory = (
            self.memory is not None
            and float(found["memory_need_low_gb"]) <= float(published) * GIB
            <= float(found["memory_need_high_gb"]))
        self.params_m = found.get("params_m")

    def __getitem__(self, column):
        return self.settings[column]


def half(source):
    """The sources whose rows were read before the mendings, chosen by their
    names before any error was known; the others are the check."""
    return "check" if zlib.crc32(source.encode()) % 2 else "examined"


def estimates(dlest, rows, folder):
    """(rows with an estimate, rows without)."""
    asked = []
    for i, r in enumerate(rows):
        r = {c: v for c, v in r.items() if c not in PUBLISHED + NOTES}
        tokens = FINE_TUNING if r["fine_tune"] else PRE_TRAINING
        asked.append(dict(r, run_id=i, tokens=tokens if rows[i]["tokens_per_s"]
                          else ""))
    text = run(dlest, "predict", "--input",
               write(folder, "published.csv", asked), "--method", "physical",
               "-q", "--format", "csv")
    found = {int(f["run_id"]): f for f in csv.DictReader(text.splitlines())
             if f["energy_j"]}
    return ([Row(r, found[i]) for i, r in enumerate(rows) if i in found],
            [r for i, r in enumerate(rows) if i not in found])


def percent(shares):
    return "%.0f" % (100 * statistics.mean(shares))


def cells(name, rows):
    size = [abs(r.error) for r in rows]
    return [name, len(rows),
            "%.2f" % math.exp(statistics.median(r.error for r in rows)),
            "%.0f %%" % (100 * math.expm1(statistics.median(size))),
            *(percent([s <= math.log(f) for s in size]) for f in (1.25, 1.5)),
            percent([r.inside for r in rows])]


def by(rows, name, key, order=None):
    """Table of the rows grouped by key(row)."""
    groups = {}
    for r in rows:
        groups.setdefault(key(r), []).append(r)
    names = [n for n in order if n in groups] if order else sorted(groups)
    return table([name, *HEAD], [cells(n, groups[n]) for n in names])


def halves(rows):
    found = [cells(h, [r for r in rows if half(r["source"]) == h])
             for h in ("examined", "check")]
    return table(["sources", *HEAD], [*found, cells("all", rows)])


def sources(rows):
    names = list(dict.fromkeys(r["source"] for r in rows))
    lines = []
    for name in sorted(names, key=lambda n: (half(n), n)):
        line = cells(name, [r for r in rows if r["source"] == name])
        lines.append([line[0], half(name), *line[1:]])
    return table(["source", "half", *HEAD], lines)


KINDS = ("pre-training", "fine-tuning", "LoRA", "QLoRA", "whole training",
         "vision")
GPUS = ("1", "2 to 8", "9 to 64", "65 to 256", "257 to 1,024", "more")
SIZES = ("up to 2", "2 to 10", "10 to 50", "50 to 200", "more")


def kind(row):
    if row["samples_per_s"]:
        return "vision"
    if not row["stack"]:
        return "whole training"
    return {"": "pre-training", "full": "fine-tuning", "lora": "LoRA",
            "qlora": "QLoRA"}[row["fine_tune"]]


def count(row):
    n = int(row["n_gpus"])
    return GPUS[sum(n > most for most in (1, 8, 64, 256, 1024))]


def size(params_m):
    return SIZES[sum(params_m > most for most in (2e3, 1e4, 5e4, 2e5))]


def parameters(dlest, rows):
    """{network: (millions of parameters, of those that a token goes through)}"""
    found = {}
    for arch in {r["arch"] for r in rows}:
        text = run(dlest, "show", "arch", arch, "--format", "csv")
        values = {f["field"]: f["value"]
                  for f in csv.DictReader(text.splitlines())}
        params = float(values["params_m"])
        found[arch] = params, float(values.get("active_params_m") or params)
    return found


def memory(rows):
    """Peak memory: estimated over published, by source."""
    rows = [r for r in rows if r.memory is not None]
    lines = []
    for name in [*sorted({r["source"] for r in rows}), "all"]:
        of = [r for r in rows if name in (r["source"], "all")]
        off = [r.memory for r in of]
        lines.append([name, len(off), "%.2f" % math.exp(min(off)),
                      "%.2f" % math.exp(statistics.median(off)),
                      "%.2f" % math.exp(max(off)),
                      "%.0f %%" % (100 * statistics.median(
                          abs(math.expm1(x)) for x in off)),
                      percent([r.inside_memory for r in of])])
    return table(["peak memory of", "rows", "least ratio", "median",
                  "largest", "median error", "inside 90 %"], lines)


NEWEST = ("b200", "gb200", "gb300")
HOPPER = ("a100", "h100", "h200")


def group(row, params, active):
    """What users ask about: a kind of training on a kind of GPU."""
    if row["samples_per_s"]:
        return "networks for images"
    if row["fine_tune"]:
        return "fine-tuning of language models"
    if active < .9 * params:
        return "mixtures of experts"
    if row["gpu"].startswith("tpu"):
        return "dense language models on TPU v4 to v7"
    if row["gpu"] in NEWEST:
        return "dense language models on B200, GB200, GB300"
    if row["gpu"].startswith(HOPPER) and row["framework"] != "jax":
        return "dense language models on A100, H100, H200 in PyTorch"
    return "other language models"


def refused(skipped):
    none = [[r["source"], r["arch"], r["gpu"], r["n_gpus"]] for r in skipped]
    return table(["refused", "network", "GPU", "GPUs"], none or [["-"] * 4])


def all_tables(dlest, rows, skipped):
    params = parameters(dlest, rows)
    language = [r for r in rows if r["tokens_per_s"]]
    return [by(rows, "what", lambda r: group(r, *params[r["arch"]])),
            halves(rows), sources(rows),
            by(rows, "training", kind, KINDS),
            by(rows, "GPU", lambda r: r["gpu"]),
            by(rows, "precision", lambda r: r["precision"]),
            by(rows, "GPUs", count, GPUS),
            by(language, "parameters, 1e9",
               lambda r: size(params[r["arch"]][0]), SIZES),
            memory(rows), refused(skipped)]


def print_rows(rows):
    for r in rows:
        print(r["source"], half(r["source"]), r["arch"], r["gpu"],
              "%.4f" % math.exp(r.error), int(r.inside))


def main(doc, name, estimates, all_tables):
    """Estimates the rows of the table `name` of data and prints."""
    p = argparse.ArgumentParser(description=doc.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("--rows", action="store_true")
    p.add_argument("--write", metavar="FILE")
    o = p.parse_args()
    top = os.environ.get("DLEST_DATADIR") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    with open(os.path.join(top, "data", name), encoding="utf-8",
              newline="") as f:
        rows = list(csv.DictReader(f))
    with tempfile.TemporaryDirectory() as folder:
        rows, skipped = estimates(o.dlest, rows, folder)
    if o.rows:
        print_rows(rows)
        return
    for new in all_tables(o.dlest, rows, skipped):
        if o.write:
            replace(o.write, new)
        sys.stdout.write(new + "\n\n")


if __name__ == "__main__":
    try:
        main(__doc__, "published-speeds.csv", estimates, all_tables)
    except Failure as e:
        sys.exit("published-speeds: %s" % e)
