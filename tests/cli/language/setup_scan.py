# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the set-up that is assumed for a language model is the fastest that fits.

  setup_scan.py DLEST N [SEED]

Draws N trainings (network, GPU, number, batch, length of sequences, kind of training),
estimates each with what is assumed, and beside it other set-ups of the space of
docs/lab/language-models.md with the same global batch, all by `dlest predict --input`:
each division alone, with batch and recomputation open, and some that say everything.
More GPUs with the same global batch are tried, too. Fails where more than 1 % have
another set-up that is faster by more than 5 %, or one by 20 %, or where something
that is called unfit fits, or more GPUs are slower by more than 5 %.
"""

import csv
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile

ARCHS = """gpt2-xl pythia-1.4b pythia-2.8b pythia-6.9b pythia-12b gpt-neox-20b llama-2-7b
llama-2-13b llama-3-8b llama-2-70b llama-3-70b llama-3.2-1b llama-3.1-405b mistral-7b
gpt3-13b gpt3-175b mixtral-8x7b qwen3-30b-a3b deepseek-v3 bert-large-uncased""".split()
GPUS = """rtx-3090 rtx-4090 rtx-5090 l40s a40 a10 l4 t4 a100-pcie-80gb h100-pcie-80gb
a100-sxm4-40gb a100-sxm4-80gb h100-sxm5-80gb h200 b200 gb200 v100-sxm2-32gb mi300x
""".split()
NUMBERS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 100, 128, 192, 256, 512, 768,
           1024, 1536, 2048]
STAGES = [1, 2, 3, 4, 6, 8, 12, 16]
SHARDING = ["ddp", "zero1", "zero3"]
GIVEN = "arch,gpu,n_gpus,global_batch,batch_size,seq_len,fine_tune,tokens".split(",")
SAID = ("tensor_parallel,pipeline_parallel,virtual_stages,expert_parallel,sharding,"
        "checkpointing,grad_accum").split(",")
EXPLICIT = 24  # set-ups of each training that say everything


def dlest(*args):
    done = subprocess.run([sys.argv[1], *args], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit("dlest %s: %s" % (" ".join(args), done.stderr))
    return done.stdout


def field(text, name):
    found = re.search(r'"field": "%s", "value": ([0-9.]+)' % name, text)
    return float(found[1]) if found else None


def gpu_of(name):
    text = dlest("show", "gpu", name, "--format", "json")
    # CUDA reports .987 of the GiB without ECC, and a context takes half a GB.
    gib = field(text, "memory_gb") * (1 - (field(text, "ecc_share") or 0))
    return {"memory": gib * 0.987 * 1.073741824 - 0.5,
            "node": int(field(text, "link_domain") or 8)}


def arch_of(name):
    shape = json.loads(dlest("show", "arch", name, "--format", "json"))["shape"]
    words = dict(re.findall(r"(\w+) ([0-9.]+)", shape))
    return {"layers": int(words["layers"]) + int(words.get("decoder_layers", 0)),
            "heads": int(words["heads"]), "experts": int(words.get("experts", 0))}


def estimates(rows):
    """Of rows, in their order: (duration, GB needed, assumed settings)."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as f:
        out = csv.DictWriter(f, GIVEN + SAID, restval="", extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)
        f.flush()
        text = dlest("predict", "--input", f.name, "--method", "physical",
                     "--format", "csv")
    return [(float(r["duration_s"]), float(r["memory_need_gb"]),
             dict(a.split("=", 1) for a in r["assumed"].split(";") if a))
            for r in csv.DictReader(text.splitlines())]


def draw(rng):
    n = rng.choice(NUMBERS)
    row = {"arch": rng.choice(ARCHS), "gpu": rng.choice(GPUS), "n_gpus": n,
           "seq_len": rng.choice([512, 2048, 2048, 4096, 8192]),
           "fine_tune": rng.choice(["", "", "", "", "lora:16", "qlora:16"]),
           "tokens": rng.choice([1e8, 1e10, 1e12])}
    if row["arch"] == "bert-large-uncased":
        row["seq_len"] = 512
    elif row["arch"].startswith(("gpt2", "pythia", "gpt-neox", "gpt3")):
        row["seq_len"] = min(row["seq_len"], 1024 if "gpt2" in row["arch"] else 2048)
    kind = rng.choice(["", "global", "global", "batch"])
    if kind == "global":
        row["global_batch"] = n * 2 ** rng.randrange(7)
    elif kind == "batch":
        row["batch_size"] = 2 ** rng.randrange(4)
    step = row["seq_len"] * (row.get("global_batch") or n * row.get("batch_size", 0))
    row["tokens"] = max(row["tokens"], 8.0 * step)
    return row


def batch_of(row, assumed):
    """Of all GPUs."""
    if row.get("global_batch"):
        return row["global_batch"]
    of = dict(assumed, **{k: v for k, v in row.items() if v})
    split = int(of.get("tensor_parallel", 1)) * int(of.get("pipeline_parallel", 1))
    return int(int(of["batch_size"]) * int(of.get("grad_accum", 1)) * row["n_gpus"]
               // split)


def divisions(row, arch, gpu, batch):
    for t, p in itertools.product([1, 2, 4, 8], STAGES):
        if (row["n_gpus"] % (t * p) or arch["heads"] % t or t > gpu["node"]
                or (p > 1 and all((arch["layers"] + i) % p for i in range(4)))):
            continue
        data = row["n_gpus"] // (t * p)
        if batch % data or (row.get("batch_size")
                            and batch // data % row["batch_size"]):
            continue
        for sharding in SHARDING if data > 1 else [""]:
            yield {"tensor_parallel": t, "pipeline_parallel": p, "sharding": sharding,
                   "global_batch": batch}, batch // data


def others(rng, row, arch, gpu, assumed):
    """Other set-ups with the same global batch."""
    batch = batch_of(row, assumed)
    every = list(divisions(row, arch, gpu, batch))
    rows = [dict(row, **d) for d, _ in every]
    for d, each in rng.choices(every, k=EXPLICIT if every else 0):
        p, data = d["pipeline_parallel"], batch // each
        micro = row.get("batch_size") or rng.choice(
            [b for b in (2 ** i for i in range(9)) if each % b == 0])
        stages = [v for v in range(1, 9) if p > 1 and any(
            (arch["layers"] + i) % (v * p) == 0 for i in range(3))]
        experts = [e for e in (1, 2, 4, 8, 16, 32, 64)
                   if arch["experts"] and d["sharding"] != "zero3"
                   and arch["experts"] % e == 0 and data % e == 0]
        rows.append(dict(row, **d, batch_size=micro, grad_accum=each // micro,
                         virtual_stages=rng.choice(stages or [""]),
                         expert_parallel=rng.choice(experts or [""]),
                         checkpointing=rng.choice(["", "none", "full"])))
    return rows


def words(row):
    return " ".join("%s=%s" % (k, row[k]) for k in GIVEN + SAID if row.get(k))


def main():
    n, rng = int(sys.argv[2]), random.Random(int((sys.argv + [1])[3]))
    gpus = {g: gpu_of(g) for g in GPUS}
    archs = {a: arch_of(a) for a in ARCHS}
    rows = [draw(rng) for _ in range(n)]
    found = estimates(rows)
    tried, of = [], []
    for i, (row, (_, _, assumed)) in enumerate(zip(rows, found)):
        more = others(rng, row, archs[row["arch"]], gpus[row["gpu"]], assumed)
        batch = batch_of(row, assumed)
        more += [dict(row, n_gpus=k * row["n_gpus"], global_batch=batch)
                 for k in (2, 3) if not row.get("batch_size")
                 and batch % (k * row["n_gpus"]) == 0]
        tried += more
        of += [i] * len(more)
    best = {}  # of a training: how much faster another is, by kind
    for i, row, (s, gb, _) in zip(of, tried, estimates(tried)):
        has, fits = gpus[row["gpu"]]["memory"], found[i][1]
        grown = row["n_gpus"] != rows[i]["n_gpus"]
        if grown:
            kind = "slower" if fits <= has and (gb > has or s > found[i][0]) else None
            by = float("inf") if gb > has else s / found[i][0] - 1
        else:
            kind = None if gb > has else "unfit" if fits > has else "faster"
            by = found[i][0] / s - 1
        if kind and by > best.get((i, kind), (0.05,))[0]:
            best[i, kind] = (by, row)
        elif kind == "unfit":
            best.setdefault((i, kind), (by, row))
    return judge(rows, found, best, len(tried))


def judge(rows, found, best, tried):
    of_kind = {k: [(by, i, row) for (i, kind), (by, row) in best.items() if kind == k]
               for k in ("faster", "unfit", "slower")}
    print("%d trainings, %d other set-ups: another is faster by 5 %% in %d, by 20 %% in "
          "%d; called unfit where one fits: %d; slower on more GPUs: %d"
          % (len(rows), tried, len(of_kind["faster"]),
             sum(by > 0.2 for by, _, _ in of_kind["faster"]), len(of_kind["unfit"]),
             len(of_kind["slower"])))
    for kind, bad in of_kind.items():
        for by, i, row in sorted(bad, key=lambda b: -b[0])[:10]:
            print(" %s by %.0f %%: %s\n    assumed %s\n    other   %s" % (
                kind, 100 * min(by, 99), words(rows[i]),
                " ".join("%s=%s" % x for x in found[i][2].items()
                         if x[0] in SAID + ["batch_size"]), words(row)))
    return int(len(of_kind["faster"]) > max(0.01 * len(rows), 0)
               or any(by > 0.2 for by, _, _ in of_kind["faster"])
               or bool(of_kind["unfit"]) or bool(of_kind["slower"]))


if __name__ == "__main__":
    sys.exit(main())
