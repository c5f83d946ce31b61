#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/language-training-means.csv: how fast language models train.

usage: language-means.py [--all] DATA TRAINING-MEANS

DATA is a folder with llm-foundry/training_throughput.csv (MosaicML, Apache-2.0),
nvidia-dle/training_throughput.csv (NVIDIA DeepLearningExamples, the licences of
its folders) and mlperf/training_entries.csv (MLPerf Training v2.0 to v4.0,
Apache-2.0; results not verified by MLCommons once derived), and
power/training.csv (powers of trainings, each with its source). TRAINING-MEANS is
data/training-means.csv, of whose BERT fine-tuning (You et al., Zeus, NSDI 2023)
the powers are taken.

One row is written for each network, accelerator, number of them, length and
batch: the median over submitters, of each the median of its entries (the same
result is entered in several rounds), and over containers. Of llm-foundry every second
length of a sequence is left out, as neighbours say the same (--all: none is).

The column doubt (standard deviation of the logarithm) has two parts. One is that
of a rate by itself. The other is an error that all rows of a network on a GPU
have in common in a source (its data, its code, its machines), GROUP: rows of a
group say no more of the constants than one row with that error, so of n rows each
has GROUP sqrt(n).

What the tables do not tell, and is assumed here:
- half of what BERT's sequences of 512 hold is padding (Krell et al., arXiv
  2107.02027): MLPerf's submissions leave it out, so 256 tokens; NVIDIA's and
  Paddle's containers cut a batch at the longest of a bin of 64, so 288;
- without packing (all but Hopper, as the table of MLPerf says) the sequences of
  a GPU differ in number of tokens from those of another, and a step takes as
  long as that of the GPU with the most. Lengths from 0 to 512, all as likely,
  have a standard deviation of .58 of their mean, and the mean of b of them .58 /
  sqrt(b). The most of n GPUs is so many more than 256 as the largest of n normal
  numbers is expected to be (Blom 1958);
- submissions of MLPerf use FP8 on H100 and H200, on L40S for LoRA, and on Gaudi 2
  since v3.1; LoRA is of rank 16 on sequences of 8,192 tokens;
- accelerators among which GPT-3 is divided are those that batch and accumulation
  of the submission state, with two sequences in a micro-batch where that is 16;
  tensor parallelism is 8 on Gaudi 2 and 4 on GPUs, whose stages are interleaved,
  6 virtual stages each, 8 on 11,616 and 4 in micro-batches of two (names and
  contents of the configurations that NVIDIA and Intel published with v3.0 to
  v4.0; 6 stands in later ones alone);
- LoRA is divided as the configurations published with v4.0 say. NVIDIA's
  software has tensor parallelism of 4, of 2 on H200, and the accumulation of the
  table; where there are more GPUs than these for a sequence, two share it
  (context parallelism). DeepSpeed (of Juniper; of Intel on Gaudi 2) has a
  sequence on each accelerator and ZeRO-3, computes activations again, and is in
  bf16 on GPUs;
- rates of LoRA are those that submissions tell themselves, where they do: runs of
  one or two minutes, less their evaluation, are up to a third longer than their
  steps;
- activations are computed again in llm-foundry, whose table tells it, and there;
- powers of power/training.csv are those of boards: of rows at the wall .955
  of the AC power pass the supplies, and the rest of a node takes 1650 W (1536
  idle, without its GPUs, and what load adds), uncertain by 150 W. They stand in
  the rows of MLPerf with their set-up, but for runs of a few minutes on 8 and
  64 nodes, whose GPUs wait for evaluations and each other. Rows of a source on a GPU have an error
  of POWER_GROUP in common;
- networks: 200 Gbit/s a GPU beside an A100, 400 beside an H100, 100 beside
  others, as their nodes are sold.
"""
import collections
import csv
import math
import re
import statistics
import sys

COLUMNS = ("arch gpu n_gpus precision batch_size grad_accum seq_len fine_tune"
           " lora_rank checkpointing attention sharding tensor_parallel"
           " pipeline_parallel virtual_stages context_parallel stack framework network_gbps power_limit_w"
           " tokens_per_s gpu_power_w source doubt power_doubt n").split()
GROUP = .3
SPREAD = 1 / math.sqrt(3)
LENGTHS = (512, 2048, 8192, 32768)
FOUNDRY_GPU = {"a100_40gb": "a100-sxm4-40gb", "a100_80gb": "a100-sxm4-80gb",
               "h100_80gb": "h100-sxm5-80gb"}
DLE_GPU = {"A100-80GB": "a100-sxm4-80gb", "V100-32GB": "v100-sxm2-32gb",
           "V100-16GB": "v100-sxm2-16gb",
           "V100-32GB(DGX-2H,450W)": "v100-sxm3-32gb"}
# Spelling of a submitter -> id; the first that fits.
MLPERF_GPU = (("A100.*PCI.*80", "a100-pcie-80gb"), ("A100.*PCI", "a100-pcie-40gb"),
              ("A100-SXM4?-?80|A100-SXM-80", "a100-sxm4-80gb"),
              ("A100-SXM", "a100-sxm4-40gb"), ("H200", "h200"),
              ("H100-PCIe", "h100-pcie"), ("H100-SXM", "h100-sxm5-80gb"),
              ("A30", "a30"), ("L40S", "l40s"), ("L40$", "l40"), ("L4$", "l4"),
              ("A5000", "rtx-a5000"), ("[Gg]audi.*2", "gaudi2"))
NETWORK = {"a100-sxm4-40gb": 200, "a100-sxm4-80gb": 200, "h100-sxm5-80gb": 400,
           "h200": 400, "h100-pcie": 400, "l40s": 200, "v100-sxm2-16gb": 50,
           "v100-sxm2-32gb": 50, "v100-sxm3-32gb": 50}
# Rows of power/training.csv, and the set-ups that they tell.
SUPPLY, REST_W, REST_DOUBT_W, POWER_GROUP = .955, 1650, 150, .08
H100 = {"gpu": "h100-sxm5-80gb"}
LORA = {"arch": "llama-2-70b", "tensor_parallel": 4, **H100}
TUCANO = ("transformer:layers=14,hidden=2048,heads=16,kv_heads=4,ffn=4096,"
          "vocab=32000,tied=0,bias=0,positions=0,seq=2048")
POWERS = {
    "r119": {"arch": "bert-large-uncased", **H100, "batch_size": 96.},
    "r121": LORA,
    "r129": {"arch": "gpt3-175b", **H100, "batch_size": 2., "grad_accum": 64},
    "r082": {"arch": TUCANO, "gpu": "a100-sxm4-80gb", "seq_len": 2048,
             "batch_size": 32., "power_limit_w": 500, "source": "tucano"}}
HOPPER = ("h100-sxm5-80gb", "h100-pcie", "h200")


def table(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def foundry(path, everything):
    for r in table(path):
        if int(r["SeqLen (T)"]) not in LENGTHS and not everything:
            continue
        yield {"arch": f"mpt-{r['Model']}", "gpu": FOUNDRY_GPU[r["GPU"]],
               "n_gpus": r["# GPUs"], "seq_len": r["SeqLen (T)"],
               "precision": "fp8" if "fp8" in r["Precision"] else "bf16",
               "batch_size": float(r["MicroBatchSize"]),
               "grad_accum": float(r["GradAccum"]), "attention": "flash",
               "checkpointing":
               "full" if r["Activation Checkpointing"] == "True" else "none",
               "sharding": "zero3", "stack": "tuned", "framework": "pytorch",
               "tokens_per_s": float(r["Throughput (T/s)"]),
               "source": "llm-foundry", "doubt": .03}


def pretraining_batch(r, half):
    """Sequences of a micro-batch, and how many are added up, of BERT-Large."""
    long = r["seq_len"] == "512"
    if r["gpu"] == "V100-32GB":
        steps = (512 if half else 256) if long else (128 if half else 64)
        return float(r["batch_per_gpu"]) / steps, steps
    batch = (32 if half else 16) if long else (256 if half else 128)
    if "Multi-node" not in r["heading"]:
        steps = (128 if half else 256) if long else (32 if half else 64)
        return batch, steps
    return batch, max(1, (32768 if long else 65536) / batch / int(r["n_gpus"]))


def deep_learning_examples(path):
    for r in table(path):
        base = "biobert" in r["model"]
        tuning = not r["seq_len"]
        if "LanguageModeling/BERT" not in r["model"] or (base and tuning):
            continue
        half = r["precision"] == "fp16-amp"
        length = float(r["seq_len"] or 384)
        batch, steps = float(r["batch_per_gpu"]), 1
        if not base and not tuning:
            batch, steps = pretraining_batch(r, half)
        if length == 512 and not base:
            length = 288
        framework = r["framework"].lower()
        yield {"arch": "bert-base-uncased" if base else "bert-large-uncased",
               "gpu": DLE_GPU[r["gpu"]], "n_gpus": r["n_gpus"],
               "seq_len": length, "batch_size": batch, "grad_accum": steps,
               "precision": "fp16" if half else r["precision"],
               "attention": "eager", "sharding": "ddp", "stack": "ngc",
               "framework": framework.replace("paddlepaddle", ""),
               "power_limit_w": 450 if "450W" in r["gpu"] else "",
               "tokens_per_s": float(r["throughput"]) * length,
               "source": "nvidia-dle", "doubt": .05}


def longest(n, batch):
    """Tokens of a sequence on the one of n GPUs that has the most."""
    largest = statistics.NormalDist().inv_cdf((n - .375) / (n + .25))
    return round(256 * (1 + SPREAD * largest / math.sqrt(batch))) if n > 1 else 256


def division(r, gpu, n, batch):
    """How GPT-3 is divided: tensor x pipeline parallelism, virtual stages and
    sequences of a micro-batch."""
    each = float(r["grad_accum"]) * n / batch
    sequences = 2 if each == 16 else 1
    tensor = 8 if gpu == "gaudi2" else 4
    virtual = ("" if gpu == "gaudi2" else 4 if sequences == 2 else
               8 if each == 24 else 6)
    return {"tensor_parallel": tensor, "virtual_stages": virtual,
            "pipeline_parallel": round(each * sequences / tensor),
            "batch_size": float(sequences), "grad_accum": float(r["grad_accum"])}


def adapters(r, gpu, n, batch):
    """How Llama 2 with adapters is divided, and its software."""
    if gpu == "gaudi2" or "deepspeed" in r["system"]:
        return {"sharding": "zero3", "checkpointing": "full", "batch_size": 1.,
                "grad_accum": 1.,
                "precision": "fp8" if gpu == "gaudi2" else "bf16"}
    tensor, steps = 2 if gpu == "h200" else 4, float(r["grad_accum"])
    told = float(r["tracked_over_used"])
    return {"tensor_parallel": tensor, "pipeline_parallel": 1,
            "context_parallel": round(n * steps / batch / tensor),
            "sharding": "zero1", "grad_accum": steps, "batch_size": 1.,
            "tokens_per_s": float(r["train_samples_per_s"]) * told * 8192}


def submissions(path):
    for r in table(path):
        kind = r["benchmark"]
        gpu = next((i for p, i in MLPERF_GPU if re.search(p, r["gpu"])), None)
        if (kind not in ("bert", "gpt3", "llama2_70b_lora") or not gpu or
                r["division"] != "closed" or not r["n_gpus"] or
                not r["train_samples_per_s"]):
            continue
        fp8 = (gpu in HOPPER or (gpu == "gaudi2" and r["round"][9:] > "v3.0") or
               (gpu == "l40s" and kind != "bert"))
        n, batch = int(r["n_gpus"]), float(r["global_batch"])
        length, steps = 256, float(r["grad_accum"] or 1)
        row = {"gpu": gpu, "n_gpus": n, "attention": "flash", "stack": "mlperf",
               "precision": "fp8" if fp8 and (kind != "bert" or gpu in HOPPER)
               else "bf16", "source": "mlperf", "lab": r["submitter"]}
        if kind == "bert":
            length = 256 if gpu in HOPPER else longest(n, batch / n)
            row |= {"arch": "bert-large-uncased", "sharding": "zero1",
                    "grad_accum": steps, "batch_size": batch / n / steps}
        elif kind == "gpt3":
            length = 2048
            row |= {"arch": "gpt3-175b", "sharding": "zero1",
                    **division(r, gpu, n, batch)}
        else:
            length = 8192
            row |= {"arch": "llama-2-70b", "fine_tune": "lora", "lora_rank": 16,
                    **adapters(r, gpu, n, batch)}
        row["seq_len"] = length
        row.setdefault("tokens_per_s", float(r["train_samples_per_s"]) * length)
        yield row


def powers(path):
    for r in table(path):
        if r["arch"].startswith("bert") and not r["dataset"]:
            yield {"arch": "bert-base-uncased", "gpu": r["gpu"], "n_gpus": 1,
                   "precision": "tf32" if r["gpu"] == "a40" else "fp32",
                   "batch_size": float(r["batch_size"]),
                   "grad_accum": 1, "seq_len": 384, "attention": "eager",
                   "sharding": "ddp", "stack": "transformers", "framework": "pytorch",
                   "power_limit_w": r["power_limit_w"],
                   "gpu_power_w": float(r["gpu_power_w"]),
                   "tokens_per_s":
                   384 * float(r["train_samples"]) / float(r["epoch_s"]),
                   "source": r["source"], "power_doubt": .1, "doubt": .3,
                   "n": r["n"]}


def add_powers(path, rows):
    """Powers of the set-ups that they were measured in."""
    used = []
    for r in table(path):
        setup = dict(POWERS.get(r["id"], ()))
        watts, doubt = float(r["power_w_per_gpu"]), .03
        if not setup:
            continue
        if r["boundary"].startswith("wall"):
            watts = watts * SUPPLY - REST_W / 8
            doubt = REST_DOUBT_W / 8 / watts
        setup["n_gpus"] = int(r["gpus"])
        found = [x for x in rows if x["source"] == "mlperf" and
                 all(x.get(c) == v for c, v in setup.items())]
        if not found:
            rate = (float(r["samples"]) * setup["seq_len"] /
                    float(r["duration_s"]))
            found = [{"n_gpus": 1, "precision": "bf16", "attention": "flash",
                      "sharding": "ddp", "grad_accum": 1, "stack": "tuned",
                      "framework": "pytorch", "doubt": GROUP, "n": 1,
                      "tokens_per_s": rate, **setup}]
            rows += found
        assert len(found) == 1, r["id"]
        found[0] |= {"gpu_power_w": watts * setup["n_gpus"],
                     "power_doubt": doubt}
        used += found
    size = collections.Counter((r["source"], r["gpu"]) for r in used)
    for r in used:
        common = POWER_GROUP * math.sqrt(size[r["source"], r["gpu"]])
        r["power_doubt"] = math.hypot(r["power_doubt"], common)


def medians(rows):
    """One row for each set-up; a rate that one laboratory alone tells is
    uncertain."""
    groups = collections.OrderedDict()
    for r in rows:
        skip = ("tokens_per_s", "lab", "grad_accum", "batch_size", "doubt")
        per_step = r["batch_size"] * r["grad_accum"]
        key = tuple(r.get(c, "") for c in COLUMNS if c not in skip)
        if r["source"] == "llm-foundry":
            key += (r["batch_size"], r["checkpointing"])
        groups.setdefault(key + (round(per_step, 4),), []).append(r)
    for same in groups.values():
        row = dict(same[len(same) // 2])
        rates = collections.defaultdict(list)
        for r in same:
            rates[r.get("lab")].append(r["tokens_per_s"])
        row["tokens_per_s"] = statistics.median(
            statistics.median(of_one) for of_one in rates.values())
        row["grad_accum"] = statistics.median_low(r["grad_accum"] for r in same)
        per_step = same[0]["batch_size"] * same[0]["grad_accum"]
        row["batch_size"] = per_step / row["grad_accum"]
        row.setdefault("doubt", .05 if len(rates) > 2 else .15)
        if row["arch"] == "llama-2-70b":
            row["doubt"] = .2
        row["n"] = len(same)
        yield row


def add_common_error(rows):
    """Widen doubt by what the rows of a group have in common."""
    def key(r):
        return tuple(r.get(c, "") for c in ("source", "arch", "gpu", "precision",
                                            "framework", "fine_tune"))
    size = collections.Counter(key(r) for r in rows)
    for r in rows:
        r["doubt"] = math.hypot(r["doubt"], GROUP * math.sqrt(size[key(r)]))


def main():
    args = [a for a in sys.argv[1:] if a != "--all"]
    if len(args) != 2:
        sys.exit(__doc__)
    data, means = args
    rows = list(medians(list(foundry(f"{data}/llm-foundry/training_throughput.csv",
                                     "--all" in sys.argv))))
    rows += medians(list(deep_learning_examples(
        f"{data}/nvidia-dle/training_throughput.csv")))
    rows += medians(list(submissions(f"{data}/mlperf/training_entries.csv")))
    rows += powers(means)
    add_common_error(rows)
    add_powers(f"{data}/power/training.csv", rows)
    out = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore",
                         lineterminator="\n")
    out.writeheader()
    for r in rows:
        if r["n_gpus"] != 1:
            r["network_gbps"] = NETWORK.get(r["gpu"], 100)
        r.setdefault("checkpointing", "none")
        for c in COLUMNS:
            if isinstance(r.get(c), float) and not math.isnan(r[c]):
                r[c] = f"{r[c]:.5g}"
        out.writerow(r)


if __name__ == "__main__":
    main()
