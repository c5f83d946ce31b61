#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a table of one row with the same settings as options.

    row_as_options.py DLEST [SEED [N]]

Every option of `dlest predict` whose setting is a column too is given, alone
and in N random sets, to a network of images, a language model (of samples and
of tokens) and a recommendation network: as options, and in a table of one row.
Both must give the same estimates, or both be refused. Prints what differs; the
exit status is 1 then. Runs in an empty folder.
"""

import csv
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Column: option and value.
SETTINGS = {
    "n_gpus": ("gpus", "8"),
    "batch_size": ("batch-size", "16"),
    "image_px": ("image-px", "160"),
    "seq_len": ("seq-len", "512"),
    "tokens": ("tokens", "2e9"),
    "train_tokens": ("train-tokens", "1e8"),
    "classes": ("classes", "10"),
    "fine_tune": ("fine-tune", "head"),
    "lora_rank": ("set", "lora_rank=8"),
    "dataset": ("dataset", "cifar10"),
    "train_samples": ("train-samples", "200000"),
    "val_samples": ("val-samples", "30000"),
    "drop_last": ("set", "drop_last=yes"),
    "loader": ("loader", "disk"),
    "augmentation": ("augmentation", "mosaic"),
    "loader_workers": ("loader-workers", "2"),
    "epochs": ("epochs", "3"),
    "startup_s": ("startup", "30s"),
    "idle_tail_s": ("idle-tail", "30s"),
    "duration_s": ("duration", "50000s"),
    "epoch_s": ("epoch-time", "4000s"),
    "step_s": ("step-time", "0.40s"),
    "samples_per_s": ("throughput", "60"),
    "gpu_util": ("gpu-util", "0.5"),
    "gpu_power_w": ("gpu-power", "300"),
    "utilisation": ("utilisation", "0.7"),
    "ram_gb": ("ram-gb", "64"),
    "precision": ("precision", "bf16"),
    "optimizer": ("optimizer", "sgd"),
    "checkpointing": ("checkpointing", "full"),
    "attention": ("attention", "eager"),
    "sharding": ("sharding", "zero1"),
    "tensor_parallel": ("tensor-parallel", "2"),
    "pipeline_parallel": ("pipeline-parallel", "2"),
    "context_parallel": ("context-parallel", "2"),
    "grad_accum": ("grad-accum", "2"),
    "global_batch": ("global-batch", "256"),
    "stack": ("stack", "ngc"),
    "network_gbps": ("network", "100"),
    "gpus_per_node": ("gpus-per-node", "4"),
    "framework": ("framework", "tensorflow"),
    "phase": ("phase", "inference"),
    "requests": ("requests", "5000"),
    "prompt_tokens": ("prompt-tokens", "300"),
    "output_tokens": ("output-tokens", "100"),
    "request_rate": ("request-rate", "2"),
    "power_limit_w": ("set", "power_limit_w=300"),
}
# Percent as an option, a share as a column.
PERCENT = {"gpu_util"}
# A setting that both forms need.
SUBJECTS = (("resnet50", ()), ("dlrm", ("train_samples",)),
            ("gpt2", ("train_samples",)), ("gpt2", ("tokens",)))
# Refused as options, but not in a row: what has no effect on the row (a table
# may hold trainings and inference), and a data set beside tokens, which names it.
LENIENT = ("has no effect here", "does not go with --dataset",
           "does not go with --train-samples")
KEYS = ("method", "energy_j", "low_j", "high_j", "power_w", "duration_s")


def run(dlest, words):
    p = subprocess.run([dlest, "predict", *words, "--format", "json"],
                       capture_output=True, text=True)
    if p.returncode not in (0, 3):
        return (p.returncode, None, p.stderr)
    try:
        found = json.loads(p.stdout)["estimates"]
    except (ValueError, KeyError):
        return (3, None, p.stderr)
    return (0, [[e.get(k) for k in KEYS] for e in found], p.stderr)


def as_options(arch, names):
    words = ["--arch", arch, "--gpu", "a100"]
    for name in names:
        option, value = SETTINGS[name]
        if name in PERCENT:
            value = str(100 * float(value))
        words += ["--" + option, value]
    if "phase" not in names:  # words alone may imply inference
        words += ["--phase", "training"]
    return words


def write_row(path, arch, names):
    cells = {"arch": arch, "gpu": "a100"}
    for name in names:
        # Of language models --throughput is one of tokens.
        column = ("tokens_per_s" if arch == "gpt2" and name == "samples_per_s"
                  else name)
        cells[column] = SETTINGS[name][1].split("=")[-1]
        if cells[column].endswith("0s"):
            cells[column] = cells[column][:-1]
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, cells)
        table.writeheader()
        table.writerow(cells)


def close(a, b):
    if a is None or b is None or isinstance(a, str):
        return a == b
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def compare(dlest, i, arch, names):
    """What differs, or None."""
    path = "row-%d.csv" % i
    write_row(path, arch, names)
    status, options, why = run(dlest, as_options(arch, names))
    _, row, said = run(dlest, ["--input", path])
    if not options or not row:
        if bool(options) == bool(row) or any(t in why for t in LENIENT):
            return None
        return "options: %s\nrow: %s" % (why.strip(), said.strip())
    by_method = {e[0]: e for e in row if e[1] is not None}
    for e in options:
        if e[1] is None and e[0] not in by_method:
            continue
        if not all(map(close, e, by_method.get(e[0], [None] * len(KEYS)))):
            return "options: %s\nrow: %s" % (e, by_method.get(e[0]))
    return None


def main():
    dlest = sys.argv[1]
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    sets = [(name,) for name in SETTINGS]
    for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 24):
        sets.append(tuple(draw.sample(sorted(SETTINGS), draw.randint(2, 5))))
    cases = [(arch, tuple(dict.fromkeys(base + names)))
             for arch, base in SUBJECTS for names in sets]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda c: compare(dlest, c[0], *c[1]), enumerate(cases))
    wrong = 0
    for (arch, names), what in zip(cases, found):
        if what:
            wrong += 1
            print(arch, *names)
            print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
