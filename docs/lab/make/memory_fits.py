#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often dlest says rightly whether a training fits the memory of its GPU,
and how far its peak memory is off.

  memory_fits.py DLEST RUNS [--write FILE]

RUNS is the folder of measured data. Trainings that ran must be called fitting,
others must not: timm's benchmark takes the largest batch of its list that runs
on 24 GB (timm/timm_train_rtx3090.csv; mixed precision, PyTorch 1.12, whose
attention stores its scores), so that the next larger one failed; the other
trainings (llm-foundry, and tables of data/) ran. A peak that was measured is of
pepr (Selvan et al., arXiv 2403.12562: 131 networks for images) or of
data/published-speeds.csv. "Not refused" counts trainings that ran whose lower
bound fits, or batches that failed whose upper bound does not. The table goes to
standard output; with --write it also replaces the one in FILE that begins with
the same heading.
"""

import argparse
import csv
import json
import math
import os
import statistics
import sys
import tempfile

from generalisation import Failure, run, table, write
from known_times import replace

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../data")
HEAD = ["memory of", "ran", "called fitting", "not refused", "failed",
        "called failing", "not accepted", "peaks", "ratio", "median error",
        "inside 90 %"]
GIB = 1.073741824
# Trainings whose length plays no part.
LENGTH = {"train_samples": "1e6", "val_samples": "0", "epochs": "1"}
TOKENS = {"tokens": "1e9"}
MPT = {"125m": (768, 12, 12), "350m": (1024, 16, 24), "760m": (1536, 12, 24),
       "1b": (2048, 16, 24), "3b": (2560, 20, 32), "7b": (4096, 32, 32),
       "13b": (5120, 40, 40), "30b": (7168, 56, 48), "70b": (8192, 64, 80)}
BOARDS = {"a100_40gb": "a100-sxm4-40gb", "a100_80gb": "a100-sxm4-80gb",
          "h100_80gb": "h100-sxm5-80gb"}


def rows_of(path):
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Case:
    """A training: `failed` None where only its peak (GB) is known."""

    def __init__(self, source, settings, failed=None, peak=None):
        self.source, self.settings = source, settings
        self.failed, self.peak = failed, peak

    def take(self, found, has):
        self.need, self.low, self.high = (
            float(found["memory_need%s_gb" % b]) for b in ("", "_low", "_high"))
        self.has = has


def of_timm(runs, layout):
    rows = [r for r in rows_of(runs + "/timm/timm_train_rtx3090.csv")
            if r["layout"] == layout]
    sizes = sorted({int(float(r["train_batch_size"])) for r in rows})
    for r in rows:
        at = sizes.index(int(float(r["train_batch_size"])))
        for i, size in enumerate(sizes[at:at + 2]):
            yield Case("timm, %s, AMP" % layout.upper(), {
                "arch": r["model"], "gpu": "rtx-3090", "batch_size": size,
                "image_px": r["train_img_size"], "precision": "amp",
                "optimizer": "sgd", "attention": "eager", **LENGTH}, i == 1)


def of_mpt(runs):
    for r in rows_of(runs + "/llm-foundry/training_throughput.csv"):
        hidden, heads, layers = MPT[r["Model"].lower()]
        shape = "transformer:layers=%d,hidden=%d,heads=%d,vocab=50368,seq=%s" \
            % (layers, hidden, heads, r["SeqLen (T)"])
        yield Case("MPT, llm-foundry", {
            "arch": shape, "gpu": BOARDS[r["GPU"]], "n_gpus": r["# GPUs"],
            "batch_size": r["MicroBatchSize"], "seq_len": r["SeqLen (T)"],
            "precision": "bf16", "attention": "flash", **TOKENS,
            "sharding": "zero3" if r["Sharding Strategy"] == "FULL_SHARD"
            else "ddp", "checkpointing": "full"
            if r["Activation Checkpointing"] == "True" else "none"}, False)


def of_pepr(runs):
    seen = {}
    for r in rows_of(runs + "/pepr/pepr_rtx3090_energy.csv"):
        if r["dataset"] in ("derma", "derma_pt", "lidc"):
            seen.setdefault(r["model"], []).append(r)
    for model, rows in sorted(seen.items()):
        middle = {key: statistics.median(float(r[key]) for r in rows)
                  for key in ("num_param", "memM")}
        yield Case("Selvan et al., FP32", {
            "arch": model, "gpu": "rtx-3090", "batch_size": "32",
            "image_px": "224", "precision": "fp32", "attention": "eager",
            "params_m": middle["num_param"] / 1e6, **LENGTH},
            None, middle["memM"])


def of_table(name, source):
    """Trainings of a table that ships: they ran."""
    drop = {"samples_per_s", "tokens_per_s", "peak_memory_gib", "citation",
            "source", "first", "n", "doubt", "power_doubt", "gpu_power_w"}
    for r in rows_of(os.path.join(DATA, name)):
        peak = r.get("peak_memory_gib")
        kept = {c: v for c, v in r.items() if c not in drop}
        length = TOKENS if r.get("tokens_per_s") else LENGTH
        yield Case(source, {**kept, **length}, False,
                   float(peak) * GIB if peak else None)


def usable(dlest, gpu):
    """What programs can use of the memory of a GPU, GB."""
    text = run(dlest, "predict", "--arch", "resnet50", "--gpu", gpu, "-q",
               "--format", "json")
    return float(json.loads(text)["memory_usable_gb"] or "nan")


def estimate(dlest, cases, folder):
    """The cases with an estimate of memory; each table has columns alike."""
    columns = {}
    for i, c in enumerate(cases):
        columns.setdefault(tuple(c.settings), []).append(i)
    has = {gpu: usable(dlest, gpu)
           for gpu in {c.settings["gpu"] for c in cases}}
    done = []
    for n, which in enumerate(columns.values()):
        path = write(folder, "%d.csv" % n,
                     [dict(cases[i].settings, run_id=i) for i in which])
        text = run(dlest, "predict", "--input", path, "--method", "flops",
                   "-q", "--format", "csv")
        for r in csv.DictReader(text.splitlines()):
            if r["memory_need_gb"]:
                case = cases[int(r["run_id"])]
                case.take(r, has[case.settings["gpu"]])
                done.append(case)
    return done


def share(right):
    return "%.0f %%" % (100 * statistics.mean(right)) if right else "-"


def line(name, cases):
    ran = [c for c in cases if c.failed is False]
    failed = [c for c in cases if c.failed]
    peaks = [c for c in cases if c.peak]
    off = [math.log(c.need / c.peak) for c in peaks]
    return [name, len(ran) or "-", share([c.need <= c.has for c in ran]),
            share([c.low <= c.has for c in ran]), len(failed) or "-",
            share([c.need > c.has for c in failed]),
            share([c.high > c.has for c in failed]), len(peaks) or "-",
            "%.2f" % math.exp(statistics.median(off)) if off else "-",
            "%.0f %%" % (100 * statistics.median(
                abs(math.expm1(x)) for x in off)) if off else "-",
            share([c.low <= c.peak <= c.high for c in peaks])]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dlest")
    p.add_argument("runs")
    p.add_argument("--write", metavar="FILE")
    o = p.parse_args()
    if not os.path.exists(o.runs + "/timm/timm_train_rtx3090.csv"):
        print("memory: skipped: no table of measured batches: "
              "'%s/timm/timm_train_rtx3090.csv'" % o.runs)
        return 0
    cases = [*of_timm(o.runs, "nchw"), *of_timm(o.runs, "nhwc"),
             *of_mpt(o.runs), *of_pepr(o.runs),
             *of_table("throughput-means.csv", "MLPerf, NVIDIA, milabench"),
             *of_table("language-training-means.csv", "language models, fit"),
             *of_table("published-speeds.csv", "published speeds")]
    with tempfile.TemporaryDirectory() as folder:
        done = estimate(o.dlest, cases, folder)
    names = list(dict.fromkeys(c.source for c in done))
    text = table(HEAD, [*(line(n, [c for c in done if c.source == n])
                          for n in names), line("all", done)])
    print(text)
    if o.write:
        replace(o.write, text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as e:
        sys.exit("memory: %s" % e)
