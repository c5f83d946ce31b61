# SPDX-License-Identifier: GPL-3.0-or-later
"""Grids of trainings of language models, and what must hold of neighbours.

  setups.py rows               a table of runs
  setups.py PROPERTY FOUND     whether it holds of the estimates of these rows
"""

import csv
import itertools
import math
import sys

ARCHS = ("pythia-1.4b llama-3-8b llama-2-70b llama-3.1-405b qwen3-30b-a3b "
         "mixtral-8x7b deepseek-v3").split()
GPUS = {"a100-sxm4-40gb": 40, "h100-sxm5-80gb": 80, "gb200": 186, "l40s": 48}
ECC = {"l40s": 1 / 16}
PCIE = ("l40s",)
MEMORY = [round(16 * 2 ** (i / 4), 1) for i in range(21)]
COLUMNS = ("memory,arch,gpu,n_gpus,global_batch,seq_len,fine_tune,tokens,chain,"
           "axis,has").split(",")
# Kinds of division that a set-up may have, each of which has to save a
# hundredth of the time, and what a fit and its priors differ by.
SLACK = 1.01 ** 4 * 1.01


def chains():
    """(axis, rows), where one setting grows."""
    for arch, gpu in itertools.product(ARCHS, GPUS):
        of = {"arch": arch, "gpu": gpu, "seq_len": 4096}
        for batch in 256, 1024:
            yield "gpus", [dict(of, n_gpus=2 ** i, global_batch=batch)
                           for i in range(11) if 2 ** i <= batch]
        for gpus in 8, 64, 256:
            of["n_gpus"] = gpus
            yield "batch", [dict(of, global_batch=gpus * 2 ** i)
                            for i in range(7)]
            yield "length", [dict(of, seq_len=2 ** i,
                                  global_batch=2 ** (22 - i))
                             for i in range(10, 17) if 2 ** (22 - i) >= gpus]
            for tune in "", "lora":
                yield "memory", [dict(of, memory=m, global_batch=512,
                                      fine_tune=tune) for m in MEMORY]


def print_rows():
    out = csv.DictWriter(sys.stdout, COLUMNS)
    out.writeheader()
    for i, (axis, rows) in enumerate(chains()):
        for row in rows:
            out.writerow(dict(row, chain=i, axis=axis,
                              tokens="1e8" if row.get("fine_tune") else "1e12",
                              has=row.get("memory") or GPUS[row["gpu"]]))


class Estimate:
    def __init__(self, row):
        self.row = row
        self.rate = float(row["tokens_per_s"])
        self.each = self.rate / float(row["n_gpus"])
        # CUDA reports .987 of the GiB, and a context takes half a GB.
        gib = float(row["has"]) * (1 - ECC.get(row["gpu"], 0))
        has = gib * 0.987 * 1.073741824 - 0.5
        self.fits = float(row["memory_need_gb"]) <= has
        self.axis = row["axis"]

    def __str__(self):
        return " ".join([self.row[c] for c in COLUMNS[:7]]
                        + ["%.4g" % self.rate, "fits" if self.fits else "-"])


def neighbours(found):
    with open(found, encoding="utf-8", newline="") as f:
        rows = [Estimate(r) for r in csv.DictReader(f)]
    rows.sort(key=lambda e: [float(e.row[c] or 0) for c in (
        "chain", "memory", "n_gpus", "seq_len", "global_batch")])
    return [(a, b) for a, b in itertools.pairwise(rows)
            if a.row["chain"] == b.row["chain"]]


def factor(a, b):
    return math.exp(abs(math.log(b / a)))


def rise(axis):
    """More of it never takes more time."""
    return lambda a, b: (a.axis == axis and a.fits and b.fits
                         and b.rate * SLACK < a.rate)


def jump(axis, nvlink, pcie):
    """With more of it a GPU is not more than that factor faster or slower, to a
    tenth, as docs/lab/language-models.md has the largest."""
    return lambda a, b: (a.axis == axis and a.fits and b.fits
                         and round(factor(a.each, b.each), 1)
                         > (pcie if a.row["gpu"] in PCIE else nvlink))


# Each says of two neighbours whether they break it.
PROPERTIES = {
    "gpus": rise("gpus"),
    "batch": rise("batch"),
    "memory": rise("memory"),
    # The work of attention grows with the tokens of a sequence.
    "length": lambda a, b: (a.axis == "length" and a.fits and b.fits
                            and b.rate > SLACK * a.rate),
    # What does not fit is not cheaper than with what would fit.
    "unfit": lambda a, b: (a.axis == "memory" and not a.fits and b.fits
                           and float(a.row["energy_j"]) * SLACK
                           < float(b.row["energy_j"])),
    # More memory fits for ever.
    "fits": lambda a, b: a.axis in ("memory", "gpus") and a.fits > b.fits,
    "jump in gpus": jump("gpus", 1.5, 2.5),
    "jump in batch": jump("batch", 1.2, 1.5),
    # Twice the work of attention
    "jump in length": jump("length", 2, 2),
    "jump in memory": jump("memory", 2, 2.8),
}


def main():
    if sys.argv[1] == "rows":
        print_rows()
        return 0
    pairs = neighbours(sys.argv[2])
    bad = [(a, b) for a, b in pairs if PROPERTIES[sys.argv[1]](a, b)]
    print("%d of %d pairs break '%s'" % (len(bad), len(pairs), sys.argv[1]))
    for a, b in bad[:20]:
        print(" %s | %s" % (a, b))
    return int(bool(bad) or len(pairs) < 2500)


if __name__ == "__main__":
    sys.exit(main())
