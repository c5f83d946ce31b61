#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/throughput-means.csv: training speeds that others published.

usage: throughput-means.py SOURCES > data/throughput-means.csv

SOURCES holds the tables below. A row is the median over the entries of one
accelerator, network, precision, number of accelerators, batch and software
stack: a submitter who tuned badly, or sent the same figures in twice, does not
decide.

  mlperf/training_entries.csv  MLCommons, MLPerf Training v0.7 to v4.0
      (Apache-2.0; results not verified by MLCommons once derived): samples/s
      of tuned code. Precision is not logged: amp, FP8 perhaps on H100 and
      later, stated as doubt.
  nvidia-dle/training_throughput.csv  NVIDIA DeepLearningExamples (Apache-2.0,
      BSD-3-Clause, MIT): V100 and A100 in FP32, TF32 and AMP.
  milabench/scaling.csv  Mila (MIT): H100 and L40S, PyTorch in eager mode;
      synthetic input alone, since the loader decides otherwise.

Language models are not here. Not taken: rows whose accelerator is not given
(A100 without memory, TPU without generation) or whose batch is not; TensorFlow's
GNMT and NCF, the columns or batches of which are damaged; DLRM, whose
speed is that of exchanging looked-up rows of tables; networks of which the
catalogue has no facts (nnU-Net, VNet); Transformer-XL; minigo and GNN.

macs_g and acts_m are given where samples are not those of the catalogue: NVIDIA's
benchmarks of speech pad every utterance to 16.7 s (scripts/train_benchmark.sh).

doubt is the standard deviation of the logarithm of a time by what is not known
of a row.
"""
import collections
import csv
import os
import re
import statistics
import sys
import xml.etree.ElementTree

COLUMNS = ("gpu,arch,framework,stack,precision,n_gpus,gpus_per_node,"
           "batch_size,image_px,macs_g,acts_m,power_limit_w,samples_per_s,"
           "source,first,n,"
           "doubt").split(",")

# Names of accelerators as submitters write them; the first that matches.
ACCELERATORS = [
    (r"v100-?s-?xm3", "v100-sxm3-32gb"),
    (r"v100s", "v100s-pcie-32gb"),
    (r"v100.*sxm2.*16", "v100-sxm2-16gb"),
    (r"v100.*sxm2.*32", "v100-sxm2-32gb"),
    (r"a100.*pcie.*40", "a100-pcie-40gb"),
    (r"a100.*pcie.*80", "a100-pcie-80gb"),
    (r"a100.*sxm.*40", "a100-sxm4-40gb"),
    (r"a100.*sxm.*80", "a100-sxm4-80gb"),
    (r"h100.*pcie", "h100-pcie"),
    (r"h100.*sxm.*80", "h100-sxm5-80gb"),
    (r"h200.*sxm", "h200"),
    (r"\ba30\b", "a30"),
    (r"\ba40\b", "a40"),
    (r"\ba10g\b", "a10g"),
    (r"a5000", "rtx-a5000"),
    (r"rtx 4090", "rtx-4090"),
    (r"7900 xtx", "rx-7900-xtx"),
    (r"\bl40s\b", "l40s"),
    (r"\bl40\b", "l40"),
    (r"\bl4\b", "l4"),
    (r"gaudi.?2|gaudi\(r\) 2", "gaudi2"),
    (r"gaudi", "gaudi"),
    (r"tpu.?v5p", "tpu-v5p"),
    (r"tpu.?v4", "tpu-v4"),
]

# What a benchmark trains: network and side of the image.
MLPERF = {
    "resnet": ("resnet50", 224),
    "ssd": ("ssd300_resnet34", ""),
    "retinanet": ("retinanet_resnext50_fpn", ""),
    "maskrcnn": ("maskrcnn_resnet50_fpn", ""),
    "unet3d": ("unet3d", ""),
    "rnnt": ("rnnt", ""),
    "stable_diffusion": ("stable-diffusion-v2", ""),
}

# The folder and variant of an example: network and side of the image.
EXAMPLES = {
    ("RN50v1.5", ""): ("resnet50", 224),
    ("ConvNets", "resnet50"): ("resnet50", 224),
    ("ConvNets", "resnext101-32x4d"): ("resnext101_32x4d", 224),
    ("ConvNets", "se-resnext101-32x4d"): ("seresnext101_32x4d", 224),
    ("efficientnet", "efficientnet-b0"): ("efficientnet_b0", 224),
    ("efficientnet", "efficientnet-b4"): ("efficientnet_b4", 380),
    ("resnet50v1.5", ""): ("resnet50", 224),
    ("resnext101-32x4d", ""): ("resnext101_32x4d", 224),
    ("se-resnext101-32x4d", ""): ("seresnext101_32x4d", 224),
    ("SSD", "PyTorch"): ("ssd300_resnet50", ""),
    ("MaskRCNN", ""): ("maskrcnn_resnet50_fpn", ""),
    ("Jasper", ""): ("jasper10x5dr", ""),
    ("QuartzNet", ""): ("quartznet15x5", ""),
}

BOARDS = {"V100-16GB": "v100-sxm2-16gb", "V100-32GB": "v100-sxm2-32gb",
          "V100-32GB(DGX-2H,450W)": "v100-sxm3-32gb",
          "A100-40GB": "a100-sxm4-40gb", "A100-80GB": "a100-sxm4-80gb"}
PRECISION = {"fp16-amp": "amp", "bf16-amp": "amp", "fp32": "fp32",
             "tf32": "tf32"}
PER_NODE = {"DGX-1": 8, "DGX-2": 16, "DGX-2H": 16, "DGX-A100": 8}

# Seconds of an utterance: of the catalogue, and as the benchmarks pad them.
UTTERANCE, PADDED = 12.3, 16.7
TASKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                     os.pardir, "data", "task-networks.xml")

MILABENCH = {
    "resnet50-noio": ("resnet50", "amp", 224),
}


def read(folder, path):
    with open(os.path.join(folder, path), newline="", encoding="utf-8") as f:
        yield from csv.DictReader(f)


def accelerator(name):
    """Its name in the catalogue, or None."""
    name = name.lower()
    for pattern, known in ACCELERATORS:
        if re.search(pattern, name):
            return known
    return None


def padded():
    """{network of speech: (MACs, activations) of a padded utterance}, 1e9 and
    1e6."""
    facts = {}
    for e in xml.etree.ElementTree.parse(TASKS).iter("entry"):
        if e.get("family") == "speech":
            v = {x.get("name"): float(x.text) for x in e.findall("value")}
            facts[e.get("id")] = tuple(v[n] * PADDED / UTTERANCE
                                       for n in ("macs_g", "acts_m"))
    return facts


def number(text):
    try:
        return float(text)
    except ValueError:
        return 0.0


def mlperf(folder):
    for r in read(folder, "mlperf/training_entries.csv"):
        version = r["round"].rpartition("v")[2]
        name = r["benchmark"]
        if name == "ssd" and version >= "2.0":  # replaced, the name was kept
            name = "retinanet"
        gpu, n = accelerator(r["gpu"]), number(r["n_gpus"])
        speed, batch = (number(r["train_samples_per_s"]),
                        number(r["global_batch"]))
        if (name not in MLPERF or not gpu or not n or not speed or not batch
                or r["division"] != "closed"):
            continue
        arch, px = MLPERF[name]
        watts = re.search(r"\((\d+)W\)", r["gpu"])
        new = gpu in ("h100-pcie", "h100-sxm5-80gb", "h200", "l40s", "l4",
                      "l40")
        unchecked = r["throughput_source"].startswith("tracked")
        yield {"gpu": gpu, "arch": arch, "image_px": px, "n_gpus": int(n),
               "gpus_per_node": int(min(n, number(r["gpus_per_node"]) or
                                        (n if n <= 8 else 8))),
               "framework": "", "stack": "mlperf", "precision": "amp",
               "batch_size": batch / n / max(1, number(r["grad_accum"])),
               "power_limit_w": watts.group(1) if watts else "",
               "source": "mlperf", "first": version,
               "doubt": .05 + .05 * new + .03 * unchecked}, speed


def examples(folder):
    speech = padded()
    for r in read(folder, "nvidia-dle/training_throughput.csv"):
        task, _, last = r["model"].rpartition("/")
        variant = r["variant"].partition("=")[2]
        key = (last, r["framework"] if last == "SSD" else variant)
        batch = number(r["batch_per_gpu"].split(" ")[0])
        if key not in EXAMPLES or not batch:
            continue
        arch, px = EXAMPLES[key]
        n = int(r["n_gpus"])
        macs, acts = speech.get(arch, (0, 0))
        yield {"macs_g": "%.5g" % macs if macs else "",
               "acts_m": "%.5g" % acts if acts else "",
               "gpu": BOARDS[r["gpu"]], "arch": arch, "image_px": px,
               "n_gpus": n, "gpus_per_node": min(n, PER_NODE.get(r["node"], 8)),
               "framework": r["framework"].lower(), "stack": "ngc",
               "precision": PRECISION[r["precision"]], "batch_size": batch,
               "power_limit_w": "", "source": "nvidia-dle", "first": "",
               "doubt": .05}, number(r["throughput"])


def milabench(folder):
    for r in read(folder, "milabench/scaling.csv"):
        if r["workload"] not in MILABENCH:
            continue
        arch, precision, px = MILABENCH[r["workload"]]
        yield {"gpu": {"H100": "h100-sxm5-80gb", "L40S": "l40s"}[r["gpu"]],
               "arch": arch, "image_px": px, "n_gpus": 1, "gpus_per_node": 1,
               "framework": "pytorch", "stack": "eager",
               "precision": precision,
               "batch_size": number(r["batch_per_gpu"]), "power_limit_w": "",
               "source": "milabench", "first": "",
               "doubt": .07}, number(r["items_per_s"])


def means(rows):
    groups = collections.OrderedDict()
    for r, speed in rows:
        if speed > 0:
            key = tuple(str(r[c]) for c in COLUMNS if c in r and
                        c not in ("first", "doubt", "power_limit_w"))
            key += (r["first"][:1],)
            groups.setdefault(key, []).append((r, speed))
    for group in groups.values():
        r = dict(group[0][0], n=len(group))
        r["first"] = min(str(g["first"]) for g, _ in group)
        r["doubt"] = statistics.median(g["doubt"] for g, _ in group)
        r["samples_per_s"] = statistics.median(s for _, s in group)
        for c in ("batch_size", "samples_per_s", "doubt"):
            r[c] = f"{r[c]:.5g}"
        yield r


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    for table in (mlperf, examples, milabench):
        for r in means(table(sys.argv[1])):
            out.writerow(r)


if __name__ == "__main__":
    main()
