#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/training-means.csv: what a fit learns from besides its own runs.

usage: training-means.py SOURCES > data/training-means.csv

SOURCES holds the tables below, each of another laboratory, framework and
boundary. A row is a mean over many measurements, so that the sets tell how
powers and times change with the work, and none decides.

  zeus/zeus_nsdi23_train_power.csv  You, Chung, Chowdhury, "Zeus", NSDI 2023
      (Apache-2.0): power and time on four GPUs, by power limit. A row is an
      octave pair of batch sizes and a third of the limits.
  pytorch-gpu-benchmark/pytorch_gpu_benchmark.csv (MIT): time of a step of 32
      networks of torchvision on six GPUs. A row is a family of them.
  timm/timm_train_rtx3090.csv  Wightman, PyTorch Image Models (Apache-2.0):
      time of a step in mixed precision of 1,672 networks on an RTX 3090. A
      row is an octave of MACs and one of activations.
  ecnas/ecnas_quadro_rtx6000_runs.csv  Bakhtiarifard, Igel, Selvan (MIT):
      times of 2,532 networks on CIFAR-10. A row is an octave of MACs and one
      of kernels.
  data/throughput-means.csv (throughput-means.py): speeds of tuned software on
      many accelerators, MLPerf and NVIDIA's examples, and of PyTorch (Mila).
  pepr/pepr_rtx3090_energy.csv  Selvan et al. (MIT): times of 131 networks of
      timm on images of DermaMNIST. A row is as those of timm.

Times alone are taken of ecnas and pepr: their energies hold what comes before
and after the steps, and of pepr other parts of the node. Not taken: DeepSpeech
2 and NCF of zeus (their size is not given, and look-ups and recurrent steps are
not what the physical method describes); of pepr the sets in which energies
repeat; EnergyDL (neither the size nor the number of its images is told, and
sets of 50,000 and 75,750 images take the same time); Perseus (the sequences
are not given).

The networks behind a mean count as one, which is named after its source: each is
left out by itself, and has effects of its own.

doubt is the standard deviation of the logarithm by which a power may be off
for what is not known of a row, four times that for a time; facts_doubt that of
the facts of its network.
"""
import collections
import csv
import math
import os
import sys
import xml.etree.ElementTree

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                   os.pardir)
COLUMNS = ("gpu,arch,dataset,phase,framework,precision,batch_size,image_px,"
           "seq_len,train_samples,val_samples,epochs,macs_g,acts_m,launches,params_m,"
           "power_limit_w,gpu_power_w,epoch_s,boundary,source,host,host_class,"
           "doubt,facts_doubt,n,stack,n_gpus,gpus_per_node,"
           "samples_per_s").split(",")

# The networks of data/delrey2024-configurations.csv: never part of a mean, so
# that leaving one out of a fit on them leaves it out of all that it starts
# from. Prefixes of names.
HELD_OUT = ("vgg16", "resnet50", "inception_v3", "xception", "mobilenet_v2",
            "mobilenetv2", "nasnet")


def mean(values):
    return sum(values) / len(values)


def geometric(values):
    return math.exp(mean([math.log(v) for v in values]))


def read(folder, path):
    with open(os.path.join(folder, path), newline="", encoding="utf-8") as f:
        yield from csv.DictReader(f)


def row(values, count):
    """A row out of lists of equal length, and of what all have in common."""
    out = {"phase": "training", "epochs": 1, "boundary": "gpu", "n": count}
    for name, v in values.items():
        if isinstance(v, (list, tuple)):
            v = mean(v) if name == "power_limit_w" else geometric(v)
        out[name] = f"{v:.5g}" if isinstance(v, float) else v
    return out


def held_out(name):
    for prefix in ("tf_", "gluon_", "legacy_", "adv_", "ens_", "swsl_",
                   "ssl_", "ig_", "tv_"):
        name = name.removeprefix(prefix)
    return name.startswith(HELD_OUT)


# --- zeus

ZEUS_GPUS = {"NVIDIA A40": ("a40", 300),
             "NVIDIA Quadro RTX 6000": ("quadro-rtx-6000", 260),
             "NVIDIA Tesla P100": ("p100-pcie-16gb", 250),
             "NVIDIA Tesla V100": ("v100-pcie-32gb", 250)}
COUNTED, GUESSED = .3, 1.5

# The fit keeps the effects of a network on a data set that is named apart from
# those of the network elsewhere: here where sizes are guessed, and of ResNet-50,
# which other sources train without reading ImageNet.
APART = ("imagenet", "sentiment140")


def bert(tokens, layers=12, width=768, heads=12):
    """Encoder of BERT base on one sequence: MACs, outputs of dense layers and
    attention products, kernels, parameters (Devlin et al. 2018; those of the
    embedding, which are hardly touched, are left out)."""
    macs = layers * (12 * width ** 2 * tokens + 2 * tokens ** 2 * width)
    acts = layers * (9 * width * tokens + 2 * heads * tokens ** 2)
    return macs, acts, 250, 85e6


# network, data set -> MACs, activations, kernels, parameters of one forward
# pass of one sample; training and validation samples; doubt.
# ResNet-50: its paper. ShuffleNet V2 x1.0 without the stem's pooling at 32 px:
# the maps of the ImageNet network at 128 px. SQuAD is read at 384 tokens.
# Sentiment140 has 1,600,000 tweets of up to 140 characters (Go, Bhayani, Huang
# 2009), the longest of a batch about 45 tokens, of which the trace says nothing.
# With a third of the samples, steps of 8 tweets would take longer than those of 8
# parts of SQuAD.
TOKENS = {"squad": 384, "sentiment140": 45}
ZEUS_NETWORKS = {
    ("resnet50", "imagenet"):
        ((4.09e9, 11.11e6, 174, 25.6e6), 1281167, 50000, COUNTED),
    ("shufflenetv2", "cifar100"):
        ((47e6, .68e6, 184, 1.36e6), 50000, 10000, COUNTED),
    ("bert_base_uncased", "squad"): (bert(TOKENS["squad"]), 88524, 0, COUNTED),
    ("bert_base_uncased", "sentiment140"):
        (bert(TOKENS["sentiment140"]), 1600000, 0, GUESSED),
}
# With it the rows of zeus are worth as much as half as many that are off by
# 12 %; those of the other sets together as ten that are off by a fifth.
ZEUS_DOUBT = .164
TIMES_DOUBT = .2


def third(limit, tdp):
    share = limit / tdp
    return 0 if share < .55 else 1 if share <= .8 else 2


def zeus_precision(gpu, network):
    """What PyTorch did by default. Of language models it is given, since 16 bits
    are assumed for these."""
    return "" if network[0][:4] != "bert" else "tf32" if gpu == "a40" else "fp32"


def zeus(folder):
    cells = collections.defaultdict(list)
    for r in read(folder, "zeus/zeus_nsdi23_train_power.csv"):
        gpu, tdp = ZEUS_GPUS[r["gpu"]]
        network = r["network"], r["dataset"]
        if network not in ZEUS_NETWORKS:
            continue
        batch, limit = float(r["batch_size"]), float(r["power_limit"])
        pair = int((math.log2(batch) - 3) // 2)
        cells[gpu, network, pair, third(limit, tdp)].append(
            (batch, limit, float(r["average_power"]),
             float(r["time_per_epoch"])))
    for (gpu, network, _, _), rows in sorted(cells.items()):
        (macs, acts, kernels, params), train, val, off = ZEUS_NETWORKS[network]
        batch, limit, power, time = zip(*rows)
        yield row({
            "gpu": gpu, "arch": network[0],
            "dataset": network[1] if network[1] in APART else "",
            "framework": "pytorch", "precision": zeus_precision(gpu, network),
            "batch_size": batch, "seq_len": TOKENS.get(network[1], ""),
            "train_samples": train, "val_samples": val, "macs_g": macs / 1e9,
            "acts_m": acts / 1e6, "launches": kernels,
            "params_m": params / 1e6, "power_limit_w": limit,
            "gpu_power_w": mean(power), "epoch_s": time,
            "source": "zeus-nsdi23", "host": "zeus-" + gpu,
            "host_class": "server", "doubt": ZEUS_DOUBT, "facts_doubt": off},
            len(rows))


# --- pytorch-gpu-benchmark

PGB_GPUS = {"A100-SXM4-40GB": ("a100-sxm4-40gb", "server"),
            "GeForce GTX 1080 Ti": ("gtx-1080-ti", "desktop"),
            "GeForce RTX 2080 Ti": ("rtx-2080-ti", "desktop"),
            "TITAN RTX": ("titan-rtx", "desktop"),
            "TITAN V": ("titan-v", "desktop"),
            "TITAN Xp": ("titan-xp", "desktop")}
PGB_BATCH = 12
NO_TENSOR_CORES = ("gtx-1080-ti", "titan-xp")
# Names that the catalogue has under others.
RENAMED = {"mnasnet0_5": "mnasnet_050", "mnasnet0_75": "mnasnet_075",
           "mnasnet1_0": "mnasnet_100", "mnasnet1_3": "mnasnet1_3"}


def catalogue():
    """name -> MACs, activations, launches, parameters at 224 px."""
    tree = xml.etree.ElementTree.parse(
        os.path.join(TOP, "data", "architectures.xml"))
    facts = {}
    for e in tree.iter("entry"):
        for at in e.findall("input"):
            if at.get("image_px") == "224":
                v = {x.get("name"): float(x.text)
                     for x in [*e.findall("value"), *at.findall("value")]}
                for name in [e.get("id"), *(a.text
                                            for a in e.findall("alias"))]:
                    facts[name] = v
    return facts


def family(name):
    for f in ("wide_resnet", "resnext", "resnet", "densenet", "mnasnet",
              "shufflenet", "squeezenet", "mobilenet"):
        if name.startswith(f):
            return f
    return "vgg_bn" if name.endswith("_bn") else "vgg"


def benchmark(folder):
    facts = catalogue()
    cells = collections.defaultdict(list)
    for r in read(folder, "pytorch-gpu-benchmark/pytorch_gpu_benchmark.csv"):
        name = r["model"]
        if r["phase"] != "train" or r["n_gpu"] != "1" or held_out(name) or \
                r["precision"] == "fp64" or not r["ms_per_batch_mean"]:
            continue
        gpu, host = PGB_GPUS[r["gpu"]]
        if r["precision"] == "fp16" and gpu in NO_TENSOR_CORES:
            continue
        f = facts.get(RENAMED.get(name, name))
        if not f or "launches" not in f:
            continue
        cells[gpu, host, r["precision"], family(name)].append(
            (f["macs_g"], f["acts_m"], f["launches"], f["params_m"],
             float(r["ms_per_batch_mean"]) / 1e3))
    for (gpu, host, precision, name), rows in sorted(cells.items()):
        macs, acts, launches, params, time = zip(*rows)
        yield row({
            "gpu": gpu, "arch": "pgb-" + name,
            "framework": "pytorch",
            "precision": "fp16" if precision == "fp16" else "",
            "batch_size": PGB_BATCH, "image_px": 224,
            "train_samples": PGB_BATCH, "val_samples": 0, "macs_g": macs,
            "acts_m": acts, "launches": launches, "params_m": params,
            "epoch_s": time, "source": "pytorch-gpu-benchmark",
            "host": "pgb-" + gpu, "host_class": host, "doubt": TIMES_DOUBT,
            "facts_doubt": 0}, len(rows))


# --- timm and pepr

PEPR_SAMPLES = 7007  # of DermaMNIST's training part
FEWEST = 4  # networks behind a mean


def octaves(*values):
    return tuple(math.floor(math.log2(v)) for v in values)


def timm(folder):
    cells = collections.defaultdict(list)
    for r in read(folder, "timm/timm_train_rtx3090.csv"):
        if held_out(r["model"]) or not r["gmacs"] or not float(r["gmacs"]):
            continue
        macs, acts = float(r["gmacs"]), float(r["macts"])
        cells[octaves(macs, acts)].append(
            (float(r["train_batch_size"]), float(r["train_img_size"]), macs,
             acts, float(r["param_count"]), float(r["train_step_time"]) / 1e3))
    yield from by_work(cells, "timm", {"precision": "amp",
                                       "doubt": TIMES_DOUBT})


def pepr(folder):
    facts = catalogue()
    cells = collections.defaultdict(list)
    for r in read(folder, "pepr/pepr_rtx3090_energy.csv"):
        f = facts.get(r["model"])
        if r["dataset"] not in ("derma", "derma_pt") or held_out(r["model"]) \
                or not f:
            continue
        cells[octaves(f["macs_g"], f["acts_m"])].append(
            (32., 224., f["macs_g"], f["acts_m"], f["params_m"],
             float(r["train_time"]) * 32 / PEPR_SAMPLES))
    yield from by_work(cells, "pepr", {"doubt": TIMES_DOUBT})


def by_work(cells, source, common):
    """Rows of one step each: batch, pixels, MACs, activations, parameters and
    time of the networks in a cell."""
    for i, (_, rows) in enumerate(sorted(cells.items())):
        if len(rows) < FEWEST:
            continue
        batch, px, macs, acts, params, time = zip(*rows)
        yield row({
            "gpu": "rtx-3090", "arch": f"{source}-{i}",
            "framework": "pytorch", "batch_size": batch,
            "image_px": round(geometric(px)), "train_samples": batch,
            "val_samples": 0, "macs_g": macs, "acts_m": acts,
            "params_m": params, "epoch_s": time, "source": source,
            "host": source, "facts_doubt": 0, **common}, len(rows))


# --- ecnas

CELLS = 9


def kernels(ops, adjacency):
    """Launches of a forward pass: nine cells of convolutions, each with a
    normalisation and a ReLU, poolings, a projection for every edge from the
    cell's input, sums and a concatenation; stem and head."""
    inside = [list(map(int, line)) for line in adjacency.split(";")]
    convolutions = sum(op in ("0", "1") for op in ops.split("|"))
    poolings = sum(op == "2" for op in ops.split("|"))
    projections = sum(inside[0])
    sums = sum(max(0, sum(line[j] for line in inside) - 1)
               for j in range(1, len(inside) - 1))
    return CELLS * (3 * convolutions + poolings + 3 * projections + sums +
                    1) + 8


def ecnas(folder):
    cells = collections.defaultdict(list)
    for r in read(folder, "ecnas/ecnas_quadro_rtx6000_runs.csv"):
        macs, k = float(r["macs_per_image"]), kernels(r["ops"], r["adj"])
        cells[octaves(macs, k)].append(
            (macs / 1e9, float(r["acts_per_image"]) / 1e6, k,
             float(r["params"]) / 1e6,
             float(r["train_time_s"]) / float(r["train_steps"])))
    for i, (_, rows) in enumerate(sorted(cells.items())):
        if len(rows) < FEWEST:
            continue
        macs, acts, launches, params, time = zip(*rows)
        yield row({
            "gpu": "quadro-rtx-6000", "arch": f"ecnas-{i}",
            "dataset": "cifar10", "framework": "tensorflow",
            "precision": "fp32", "batch_size": 256, "image_px": 32,
            "train_samples": 256, "val_samples": 0, "macs_g": macs,
            "acts_m": acts, "launches": launches, "params_m": params,
            "epoch_s": time, "source": "ecnas", "host": "ecnas",
            "host_class": "server", "doubt": TIMES_DOUBT, "facts_doubt": 0},
            len(rows))


# --- throughput-means.py

# Any, that a batch is no part of it.
SAMPLES = 100000000

# How far the work, traffic and kernels of a network may be off what its
# description says: all are counted layer by layer, but those that are no
# classifiers also hold steps that are no layers (anchors, losses, beams).
KNOWN_DOUBT, FACTS_DOUBT = .15, .25
CLASSIFIERS = ("resnet50", "resnext101_32x4d", "seresnext101_32x4d",
               "efficientnet_b0", "efficientnet_b4")

# Not those of other vendors: each laboratory has software of its own there.
GPUS = ("v100", "a10", "a30", "a40", "h100", "h200", "l4", "rtx-a")


def speeds(_):
    """Rows of data/throughput-means.csv for GPUs and networks that physics
    describes: a batch of each GPU, and no unusual laboratory."""
    path = os.path.join(TOP, "data")
    for r in read(path, "throughput-means.csv"):
        if (float(r["batch_size"]) < 1 or not r["gpu"].startswith(GPUS) or
                r["gpu"] == "v100-sxm3-32gb"):
            continue
        r.update(phase="training", epochs=1, train_samples=SAMPLES,
                 val_samples=0, boundary="gpu", framework="",
                 facts_doubt=KNOWN_DOUBT)
        if r["arch"] not in CLASSIFIERS:
            r["facts_doubt"] = FACTS_DOUBT
        yield {c: r[c] for c in COLUMNS if c in r}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    out = csv.DictWriter(sys.stdout, COLUMNS, restval="",
                         lineterminator="\n")
    out.writeheader()
    for source in (zeus, benchmark, timm, ecnas, pepr, speeds):
        out.writerows(source(sys.argv[1]))


if __name__ == "__main__":
    main()
