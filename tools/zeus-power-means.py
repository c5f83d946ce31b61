#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/zeus-power-means.csv: mean power of trainings on four GPUs.

usage: zeus-power-means.py zeus_nsdi23_train_power.csv > zeus-power-means.csv

The table is the trace of You, Chung, Chowdhury, "Zeus: Understanding and
Optimizing GPU Energy Consumption of DNN Training", NSDI 2023 (Apache-2.0):
power and time by GPU, network, batch size, optimiser and power limit. One row
is written for each GPU, network, octave pair of batch sizes (8 and 16, 32 and
64, ...) and third of the power limits (below 55 %, to 80 %, above, of the
thermal design power): means over what falls together, geometric ones of batch
size and time.

Facts about the networks are those of their publications, counted here. They
may be off: facts_doubt is the standard deviation of the logarithm. DeepSpeech 2
and NCF are left out: the trace does not tell their size, and their time goes
into recurrent steps and look-ups, which the physical method does not know.
"""
import collections
import csv
import math
import sys

GPUS = {"NVIDIA A40": ("a40", 300),
        "NVIDIA Quadro RTX 6000": ("quadro-rtx-6000", 260),
        "NVIDIA Tesla P100": ("p100-pcie-16gb", 250),
        "NVIDIA Tesla V100": ("v100-pcie-32gb", 250)}
COUNTED, GUESSED = .3, 1.5


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
# the maps of the ImageNet network at 128 px. SQuAD is read at 384 tokens. Of
# the others the trace does not say the size or the length of a sample.
NETWORKS = {
    ("resnet50", "imagenet"):
        ((4.09e9, 11.11e6, 174, 25.6e6), 1281167, 50000, COUNTED),
    ("shufflenetv2", "cifar100"):
        ((47e6, .68e6, 184, 1.36e6), 50000, 10000, COUNTED),
    ("bert_base_uncased", "squad"): (bert(384), 88524, 0, COUNTED),
    ("bert_base_uncased", "sentiment140"): (bert(64), 500000, 0, GUESSED),
}
# How far, as a standard deviation of the logarithm, a row may be off for what
# is not known of it. With it 280 rows are worth 150 that are off by 12 %.
DOUBT = .164
COLUMNS = ("gpu,arch,dataset,phase,batch_size,train_samples,val_samples,"
           "epochs,macs_g,acts_m,launches,params_m,power_limit_w,gpu_power_w,"
           "epoch_s,boundary,source,host,host_class,doubt,facts_doubt,n"
           ).split(",")


def third(limit, tdp):
    share = limit / tdp
    return 0 if share < .55 else 1 if share <= .8 else 2


def mean(values):
    return sum(values) / len(values)


def geometric(values):
    return math.exp(mean([math.log(v) for v in values]))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    cells = collections.defaultdict(list)
    with open(sys.argv[1], newline="", encoding="utf-8") as table:
        for r in csv.DictReader(table):
            gpu, tdp = GPUS[r["gpu"]]
            if (r["network"], r["dataset"]) not in NETWORKS:
                continue
            batch, limit = float(r["batch_size"]), float(r["power_limit"])
            pair = int((math.log2(batch) - 3) // 2)
            cells[gpu, (r["network"], r["dataset"]), pair,
                  third(limit, tdp)].append(
                      (batch, limit, float(r["average_power"]),
                       float(r["time_per_epoch"])))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for (gpu, network, _, _), rows in sorted(cells.items()):
        (macs, acts, kernels, params), train, val, off = NETWORKS[network]
        batch, limit, power, time = zip(*rows)
        out.writerow([gpu, network[0], network[1], "training",
                      f"{geometric(batch):.4g}", train, val, 1,
                      f"{macs / 1e9:.6g}", f"{acts / 1e6:.6g}", kernels,
                      f"{params / 1e6:.6g}", f"{mean(limit):.4g}",
                      f"{mean(power):.5g}", f"{geometric(time):.5g}", "gpu",
                      "zeus-nsdi23", "zeus-" + gpu, "server", DOUBT,
                      off, len(rows)])


if __name__ == "__main__":
    main()
