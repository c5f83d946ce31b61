#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relations that estimates keep, whatever their figures are.

  relations.py --dlest _build/dlest --rows 50000 --seed 7

Draws trainings and inferences over the catalogue from the seed, and from each
some that differ from it in one setting; estimates all of them as a table and
checks each estimate (energy = power x time, intervals, limits, MFU) and the
relations between them. Few of them are tried in other ways too: as a command
line, in another order, with one thread, at other coverages.
"""

import argparse
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from served import check_groups, check_parts, serving  # noqa: E402
from set_ups import (PCIE_3_X16_GB_S, batch_of, gradients_s,  # noqa: E402
                     most_power, number)

PUE, INTENSITY = 1.37, 412.0
COLUMNS = ("run_id", "arch", "gpu", "n_gpus", "phase", "batch_size",
           "precision", "stack", "framework", "train_samples", "val_samples",
           "epochs", "tokens", "seq_len", "checkpointing", "prompt_tokens",
           "output_tokens", "requests", "duration_s", "gpu_util",
           "power_limit_w", "drop_last", "global_batch", "replicas", "kv_bytes")
OPTIONS = {"arch": "arch", "gpu": "gpu", "n_gpus": "gpus", "phase": "phase",
           "batch_size": "batch-size", "precision": "precision",
           "stack": "stack", "framework": "framework",
           "train_samples": "train-samples", "val_samples": "val-samples",
           "epochs": "epochs", "tokens": "tokens", "seq_len": "seq-len",
           "checkpointing": "checkpointing", "prompt_tokens": "prompt-tokens",
           "output_tokens": "output-tokens", "requests": "requests",
           "global_batch": "global-batch", "replicas": "replicas",
           "kv_bytes": "kv-bytes"}
IMAGES = ("resnet50", "vgg16", "mobilenetv2_100", "vit_large_patch16_224",
          "efficientnet_b0", "alexnet", "convnext_base", "densenet121",
          "swin_base_patch4_window7_224", "inception_v3")
CONVOLUTIONS = tuple(a for a in IMAGES if not a.startswith(("vit", "swin")))
LARGE = ("resnet50", "vit_large_patch16_224", "convnext_base",
         "swin_base_patch4_window7_224")
TOKENS = ("gpt2", "bert-large-uncased", "t5-base", "pythia-1.4b", "llama-2-7b")
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "amp")
STACKS = ("", "eager", "compiled", "ngc", "mlperf")
TRAINERS = ("", "transformers", "tuned", "compiled", "ngc", "mlperf")
# Memory of the node that a boundary includes, at most: 32 GB at .3725 W each,
# and by pre-epoch that of a run on each GPU.
MEMORY_W = 12


def arguments():
    p = argparse.ArgumentParser(description="Relations between estimates.")
    p.add_argument("--dlest", required=True)
    p.add_argument("--rows", type=int, default=2000)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--catalogue", action="store_true",
                   help="rates of all GPUs instead")
    return p.parse_args()


class Rows:
    """The rows of a table, and what is asked of them."""

    def __init__(self):
        self.rows, self.pairs, self.known = [], [], set()

    def add(self, base, **changes):
        """Adds a row, which is `base` but for the changes; its number."""
        row = dict(base, **changes)
        row["run_id"] = "r%d" % len(self.rows)
        self.rows.append(row)
        return row["run_id"]

    def compare(self, what, a, b, low, high, of="energy_j", memory=None,
                exchange=None, one_batch=False):
        """low <= a / b <= high of a figure by the physical method, if both fit
        into that memory (of a language model), GB. With the parameters, M, and
        the link, GB/s, a is b on twice the GPUs (gradients_s). In one_batch
        their optimizer steps have to be of as many sequences."""
        self.pairs.append((what, a, b, low, high, of, memory, exchange,
                           one_batch))


def log_uniform(rng, low, high):
    """A number of three digits."""
    return float("%.3g" % (low * (high / low) ** rng.random()))


def training(rng, gpus):
    """A training on images or of a language model."""
    tokens = rng.random() < 0.4
    row = {"arch": rng.choice(TOKENS if tokens else IMAGES),
           "gpu": rng.choice(gpus), "n_gpus": rng.choice((1, 1, 2, 4, 8, 32)),
           "precision": rng.choice(PRECISIONS),
           "stack": rng.choice(TRAINERS if tokens else STACKS),
           "phase": "training"}
    if tokens:
        row.update(batch_size=rng.choice((1, 2, 8)), seq_len=512,
                   tokens=log_uniform(rng, 1e8, 1e11), checkpointing="none",
                   epochs=1)
    else:
        row.update(batch_size=rng.choice((8, 16, 32, 64, 128)),
                   train_samples=round(log_uniform(rng, 1e3, 1e6)),
                   val_samples=rng.choice((0, 500, 10000)),
                   epochs=rng.choice((1, 3, 90)),
                   framework=rng.choice(("", "pytorch", "tensorflow")))
    return row, tokens


def of_images(rng, rows, row, first):
    """Relations of a training on images."""
    batch = row["batch_size"] * row["n_gpus"]
    steps = rng.randint(1, 40)
    rows.compare("energy of twice the epochs", rows.add(
        row, epochs=2 * row["epochs"]), first, 2 * (1 - 1e-9), 2 * (1 + 1e-9))
    more = rows.add(row, train_samples=round(1.3 * row["train_samples"]))
    rows.compare("energy of more samples", more, first, 1, 1.4)
    few, some = (rows.add(row, train_samples=max(round(s * batch), 1))
                 for s in (0.3, 0.6))
    rows.compare("energy of more samples below a batch", some, few, 1 - 1e-9,
                 2.1 + 1 / (0.3 * batch))
    if row["n_gpus"] == 1 and row["val_samples"] == 0:
        rows.compare("time of more samples", more, first, 1, 1.4,
                     "duration_s")
    whole_samples = steps * batch
    whole = rows.add(row, train_samples=whole_samples)
    less = rows.add(row, train_samples=whole_samples - 1)
    # Of one GPU the last batch is smaller by a sample, and at the peak all count.
    rows.compare("a sample less than a full batch", less, whole,
                 1 - 1.01 / whole_samples if row["n_gpus"] > 1
                 else 1 - 2 / row["batch_size"],
                 1 + 1e-6, "duration_s")
    rows.compare("drop_last", rows.add(
        row, val_samples=0, drop_last="yes",
        train_samples=steps * batch + rng.randint(0, batch - 1)),
        rows.add(row, val_samples=0, train_samples=steps * batch),
        1 - 1e-9, 1 + 1e-9)


def of_any(rng, rows, row, first, tdp):
    """Relations of any training. The set-up that is assumed for several GPUs
    may be 5 % slower than the fastest (setup_scan.py)."""
    slack = 0.05 if "tokens" in row and row["n_gpus"] > 1 else 1e-9
    base = {**row, "precision": "fp32"}
    times = {p: rows.add(base, precision=p)
             for p in ("fp32", "tf32", "fp16", "bf16")}
    for a, b in (("tf32", "fp32"), ("fp16", "tf32"), ("bf16", "tf32")):
        rows.compare("time in %s against %s" % (a, b), times[a], times[b],
                     0, 1 + slack, "duration_s", one_batch=True)
    rows.compare("time at a limit of 0.6 times the TDP", rows.add(
        row, power_limit_w=max(round(0.6 * tdp), 1)), first, 1 - slack, 1e9,
        "duration_s")
    seconds = log_uniform(rng, 1e3, 1e7)
    before = None
    for util in (0.2, 0.5, 0.8, 1):
        at = rows.add(row, duration_s=seconds, gpu_util=util)
        rows.known.add(at)
        if before:
            rows.compare("energy of a busier GPU", at, before, 1 - 1e-6, 1e9)
        before = at
    rows.known.add(rows.add(row, duration_s=seconds))


def inference(rng, rows, gpus):
    """Requests, and twice as many."""
    tokens = rng.random() < 0.4
    row = {"arch": rng.choice(("gpt2", "llama-2-7b") if tokens else IMAGES),
           "gpu": rng.choice(gpus), "n_gpus": rng.choice((1, 2)),
           "phase": "inference", "batch_size": rng.choice((1, 4, 16)),
           "precision": rng.choice(("", "fp16"))}
    row["requests"] = 64 * rng.randint(1, 100)
    if tokens:
        row.update(prompt_tokens=rng.randint(8, 600),
                   output_tokens=rng.randint(0, 300))
    rows.compare("energy of twice the requests",
                 rows.add(row, requests=2 * row["requests"]), rows.add(row),
                 2 * (1 - 1e-9), 2 * (1 + 1e-9))


def several(rng, rows, gpus, memory, link, params):
    """GPUs of one node that share a global batch. Images are shared in one way:
    each GPU has its own copy of the network. Where exchanging its gradients,
    which takes the longer the more GPUs there are, or launching its kernels
    takes longer than the work, more GPUs are slower in fact, and no choice could
    mend it (AlexNet over PCIe: by half). So these are networks of much work, and
    a tenth is left for the exchange. Language models may be divided in another
    way: 5 %, where the memory of the GPU is known and enough. Twice the GPUs can
    have twice the copies of the network with half the sequences each, which take
    no longer, however the rest is bound, and add up their gradients."""
    row = {"arch": rng.choice(LARGE), "gpu": rng.choice(gpus), "epochs": 1,
           "train_samples": 1024 * rng.randint(8, 500), "val_samples": 0,
           "phase": "training", "precision": rng.choice(PRECISIONS),
           "stack": rng.choice(STACKS)}
    before = None
    for n in (1, 2, 4, 8):
        at = rows.add(row, n_gpus=n, batch_size=512 // n)
        if before:
            rows.compare("time of more GPUs at one global batch", at, before,
                         0, 1.1, "duration_s")
        before = at
    row = {"arch": rng.choice(TOKENS), "gpu": row["gpu"], "tokens": 1e11,
           "phase": "training", "precision": rng.choice(PRECISIONS),
           "stack": rng.choice(TRAINERS), "seq_len": 512,
           "global_batch": 8 * 2 ** rng.randint(0, 7)}
    first = None
    for n in (1, 2, 4, 8, 16):
        at = rows.add(row, n_gpus=n, global_batch=max(row["global_batch"], 16))
        if first:
            rows.compare("time of more GPUs on tokens", at, first, 0, 1.05,
                         "duration_s", memory[row["gpu"]],
                         (params[row["arch"]], link[row["gpu"]]))
        first = at


def drawn(n, seed, tdp, memory, link, params):
    """At least n rows."""
    rng, rows, gpus = random.Random(seed), Rows(), sorted(tdp)
    while len(rows.rows) < n:
        row, tokens = training(rng, gpus)
        first = rows.add(row)
        of_any(rng, rows, row, first, tdp[row["gpu"]])
        if not tokens:
            of_images(rng, rows, row, first)
        inference(rng, rows, gpus)
        serving(rng, rows, gpus, memory)
        several(rng, rows, gpus, memory, link, params)
    return rows


class Program:
    """dlest, and the folder in which it runs."""

    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def run(self, *words, **env):
        """Standard output of `dlest predict`."""
        p = subprocess.run([self.path, "predict", *words, "-q"],
                           cwd=self.folder, env=dict(os.environ, **env),
                           capture_output=True, text=True, check=False)
        if p.returncode not in (0, 3):
            sys.exit("dlest predict %s: %s" % (" ".join(words), p.stderr))
        return p.stdout

    def parameters(self, arch):
        """Of a network, M."""
        out = subprocess.run([self.path, "show", "arch", arch, "--format",
                              "json"], capture_output=True, text=True,
                             check=True).stdout
        return next(v["value"] for v in json.loads(out)["values"]
                    if v["field"] == "params_m")

    def table(self, rows, *words, **env):
        """Estimates of rows, by their names and the method."""
        path = os.path.join(self.folder, "rows.csv")
        with open(path, "w", newline="", encoding="utf-8") as f:
            table = csv.DictWriter(f, COLUMNS, restval="")
            table.writeheader()
            table.writerows(rows)
        out = self.run("--input", path, "--all", "--format", "csv", "--pue",
                       str(PUE), "--intensity", str(INTENSITY), *words, **env)
        return {(r["run_id"], r["method"]): r
                for r in csv.DictReader(io.StringIO(out))}


class Findings:
    """What does not hold."""

    def __init__(self):
        self.checked, self.faults = {}, []

    def check(self, what, holds, *about):
        """Counts a relation; `holds` may be a comparison with NaN, false."""
        self.checked[what] = self.checked.get(what, 0) + 1
        if not holds:
            self.faults.append("%s: %s" % (what, " ".join(map(str, about))))


def contains(found, what, row, names):
    """low <= value <= high, where there is an interval."""
    low, x, high = (number(row, n) for n in names)
    if low == low and high == high:
        slack = 1e-12 * abs(x)
        found.check(what, low - slack <= x <= high + slack and low >= 0, low,
                    x, high, about(row))


def about(row):
    """A row in words."""
    return " ".join("%s=%s" % (k, row[k]) for k in ("method", *COLUMNS)
                    if row.get(k))


def check_rate(found, row):
    """No estimate is above the peak, nor the lower end of its time; fast
    convolutions may save products up to 2.25 times (src/base/constants.h)."""
    mfu = number(row, "mfu")
    found.check("no rate above the peak", mfu <= 1, row["mfu"], about(row))
    if row["duration_low_s"]:
        steps_s = (number(row, "tokens") / number(row, "tokens_per_s")
                   if row.get("tokens") else number(row, "duration_s"))
        most = mfu * steps_s / number(row, "duration_low_s")
        found.check("no time below that of the peak", most <=
                    (2.25 if row["arch"] in CONVOLUTIONS else 1) * (1 + 1e-9),
                    most, about(row))


def check_estimate(found, row, tdp, idle, known):
    """What one estimate must keep."""
    energy, power = number(row, "energy_j"), number(row, "power_w")
    time = number(row, "duration_s")
    if energy != energy:
        return
    found.check("energy is power x time",
                abs(power * time - energy) <= 1e-9 * energy, about(row))
    contains(found, "energy within its interval", row,
             ("low_j", "energy_j", "high_j"))
    contains(found, "time within its interval", row,
             ("duration_low_s", "duration_s", "duration_high_s"))
    contains(found, "power within its interval", row,
             ("power_low_w", "power_w", "power_high_w"))
    limit = number(row, "power_limit_w")
    most = (limit if limit == limit else tdp[row["gpu"]]) * number(row,
                                                                   "n_gpus")
    if row["boundary"] == "gpu+ram":
        gpus = number(row, "n_gpus") if row["method"] == "pre-epoch" else 1
        most += MEMORY_W * gpus
    for name in ("power_w", "power_high_w"):
        if row["method"] != "flops" and row[name]:
            found.check("power within the limit of the boards",
                        number(row, name) <= most * (1 + 1e-9), row[name],
                        most, about(row))
    if row["method"] == "physical" and row["phase"] == "inference":
        least = idle[row["gpu"]] * number(row, "n_gpus")
        found.check("power of busy boards above that of idle ones",
                    power >= least * (1 - 1e-9), power, least, about(row))
    if row["mfu"] and not known:
        check_rate(found, row)
    facility = number(row, "facility_energy_j")
    found.check("facility is IT x PUE",
                abs(facility - PUE * energy) <= 1e-9 * facility, about(row))
    found.check("CO2e is energy x intensity",
                abs(number(row, "co2e_g") - facility / 3.6e6 * INTENSITY)
                <= 1e-9 * number(row, "co2e_g"), about(row))


def check_pairs(found, rows, got):
    """Relations between estimates by the physical method."""
    for what, a, b, low, high, of, memory, exchange, one_batch in \
            rows.pairs:
        x, y = (got.get((i, "physical")) for i in (a, b))
        if not x or not y or not x[of] or not y[of]:
            continue
        if memory is not None and not all(number(r, "memory_need_gb") <= memory
                                          for r in (x, y)):
            continue
        if one_batch and batch_of(x) != batch_of(y):
            continue
        ratio = number(x, of) / number(y, of)
        if exchange is not None:
            high = max(high, 1 + gradients_s(y, *exchange) /
                       number(y, "duration_s"))
        found.check(what, low <= ratio <= high, ratio, "of", low, high,
                    about(x), "|", about(y))


FIGURES = ("energy_j", "low_j", "high_j", "power_w", "duration_s", "mfu")


def same(a, b):
    """Whether two estimates agree in all figures."""
    return all(x == y or abs(x - y) <= 1e-9 * abs(y) or (x != x and y != y)
               for x, y in ((number(a, n), number(b, n)) for n in FIGURES))


def check_lines(found, program, rows, got, n):
    """Rows against command lines."""
    lines = [r for r in rows.rows if not r.get("duration_s") and
             not r.get("power_limit_w")]
    for row in lines[::max(len(lines) // n, 1)][:n]:
        words = ["--" + OPTIONS[k] + "=" + str(v) for k, v in row.items()
                 if k in OPTIONS and str(v)]
        words += ["--drop-last"] if row.get("drop_last") else []
        out = program.run(*words, "--all", "--format", "json")
        if not out:
            continue
        for e in json.loads(out)["estimates"]:
            of_row = got.get((row["run_id"], e["method"]))
            if e["energy_j"] is not None and of_row:
                cells = {k: "" if e[k] is None else str(e[k])
                         for k in FIGURES}
                found.check("a row is its command line", same(of_row, cells),
                            about(of_row))


def check_again(found, program, rows, got, n):
    """Other coverages, another order, one thread."""
    some = rows.rows[:n]
    wide, narrow = (program.table(some, "--coverage", c) for c in ("99", "50"))
    reverse = program.table(some[::-1], OMP_NUM_THREADS="1")
    for key, row in reverse.items():
        found.check("order and threads", same(row, got[key]), about(row))
    for key, row in wide.items():
        ends = [number(t[key], e) for e in ("low_j", "high_j")
                for t in (wide, got, narrow)]
        if ends[0] == ends[0]:
            found.check("coverages nest", ends[0] <= ends[1] <= ends[2] and
                        ends[5] <= ends[4] <= ends[3], ends, about(row))


def conclude(found, what, rows, got):
    """Prints what was found; the exit status."""
    for fault in found.faults[:20]:
        print(fault)
    print("%s: %d rows, %d estimates, %d relations checked, %d do not hold" %
          (what, len(rows.rows), len(got), sum(found.checked.values()),
           len(found.faults)))
    counts = {}
    for fault in found.faults:
        relation = fault.split(":")[0]
        counts[relation] = counts.get(relation, 0) + 1
    for relation, n in sorted(counts.items()):
        print("  %s: %d of %d" % (relation, n, found.checked[relation]))
    return 1 if found.faults else 0


def of_catalogue(program, tdp):
    """Every GPU in each format with each software: none is above its peak, and
    no format slower than a plainer one."""
    rows, found = Rows(), Findings()
    for gpu in tdp:
        for arch in ("vit_large_patch16_224", "vgg16", "mobilenetv2_100",
                     "gpt2"):
            for stack in TRAINERS if arch == "gpt2" else STACKS:
                row = {"arch": arch, "gpu": gpu, "stack": stack}
                row.update({"tokens": 1e9, "seq_len": 512, "batch_size": 2,
                            "checkpointing": "none"} if arch == "gpt2" else
                           {"train_samples": 1e6, "batch_size": 64})
                at = {p: rows.add(row, precision=p) for p in PRECISIONS}
                for a, b in (("tf32", "fp32"), ("fp16", "tf32"),
                             ("bf16", "tf32"), ("amp", "tf32")):
                    rows.compare("time in %s against %s" % (a, b), at[a],
                                 at[b], 0, 1 + 1e-9, "duration_s")
    got = program.table(rows.rows)
    for row in got.values():
        if row["mfu"]:
            check_rate(found, row)
    check_pairs(found, rows, got)
    return conclude(found, "catalogue", rows, got)


def main():
    """Exits with 1 where a relation does not hold."""
    o = arguments()
    found = Findings()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(o.dlest, folder)
        listed = subprocess.run([program.path, "list", "gpus", "--format",
                                 "csv"], capture_output=True, text=True,
                                check=True).stdout
        table = [g for g in csv.DictReader(io.StringIO(listed)) if g["tdp_w"]]
        tdp = {g["id"]: most_power(g) for g in table}
        idle = {g["id"]: float(g["idle_w"] or 0) for g in table}
        boards = [g["id"] for g in table if g["form"] != "socket"]
        memory = {g["id"]: number(g, "memory_gb") for g in table}
        link = {g["id"]: float(g["link_gb_s"] or PCIE_3_X16_GB_S)
                for g in table}
        params = {a: program.parameters(a) for a in TOKENS}
        if o.catalogue:
            return of_catalogue(program, tdp)
        rows = drawn(o.rows, o.seed, tdp, memory, link, params)
        got = program.table(rows.rows)
        for key, row in got.items():
            check_estimate(found, row, tdp, idle, key[0] in rows.known)
        check_pairs(found, rows, got)
        check_lines(found, program, rows, got, max(o.rows // 200, 8))
        check_parts(found, program)
        check_groups(random.Random(o.seed), found, program, boards,
                     max(o.rows // 100, 8))
        check_again(found, program, rows, got, min(o.rows, 3000) // 4)
    return conclude(found, "seed %d" % o.seed, rows, got)


if __name__ == "__main__":
    sys.exit(main())
