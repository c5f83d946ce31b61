#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/zeus-power-means.csv: mean power of trainings on four GPUs.

usage: zeus-power-means.py zeus_nsdi23_train_power.csv > zeus-power-means.csv

The table is the trace of You, Chung, Chowdhury, "Zeus: Understanding and
Optimizing GPU Energy Consumption of DNN Training", NSDI 2023 (Apache-2.0):
power by GPU, network, batch size, optimiser and power limit. One row is
written for each GPU, network and batch size: the mean over the optimisers and
over the limits that do not bind, which are those at 90 % of the thermal
design power and above.

Facts about the networks are those of their publications, counted here; a
network whose size was not published with the trace is left out.
"""
import collections
import csv
import sys

GPUS = {"NVIDIA A40": ("a40", 300),
        "NVIDIA Quadro RTX 6000": ("quadro-rtx-6000", 260),
        "NVIDIA Tesla P100": ("p100-pcie-16gb", 250),
        "NVIDIA Tesla V100": ("v100-pcie-32gb", 250)}


def bert(tokens, layers=12, width=768, heads=12):
    """Encoder of BERT base on one sequence: MACs, outputs of dense layers and
    attention products, kernels, parameters (Devlin et al. 2018)."""
    macs = layers * (12 * width ** 2 * tokens + 2 * tokens ** 2 * width)
    acts = layers * (9 * width * tokens + 2 * heads * tokens ** 2)
    return macs, acts, 250, 110e6


# network, data set -> MACs, activations, kernels, parameters of one forward
# pass of one sample; training and validation samples; image side.
# ResNet-50 and ShuffleNet V2 x1.0: their papers, the latter at 32 px; NCF: He
# et al. 2017, as in the MLPerf reference. SQuAD is read at 384 tokens.
NETWORKS = {
    ("resnet50", "imagenet"):
        ((4.09e9, 11.11e6, 175, 25.6e6), 1281167, 50000, 224),
    ("shufflenetv2", "cifar100"):
        ((45e6, 1.5e6, 184, 1.36e6), 50000, 10000, 32),
    ("bert_base_uncased", "squad"): (bert(384), 88524, 0, 0),
    ("ncf", "movielens-1m"): ((1e6, 1e3, 30, 3e6), 4970845, 0, 0),
}
# How far, as a standard deviation of the logarithm, a row may be off for what
# is not known of it: precision, the exact network, one measurement each.
DOUBT = 0.12
COLUMNS = ("gpu,arch,dataset,phase,batch_size,image_px,train_samples,"
           "val_samples,epochs,macs_g,acts_m,launches,params_m,gpu_power_w,"
           "boundary,source,host,doubt,n").split(",")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    powers = collections.defaultdict(list)
    with open(sys.argv[1], newline="", encoding="utf-8") as table:
        for r in csv.DictReader(table):
            gpu, tdp = GPUS[r["gpu"]]
            network = (r["network"], r["dataset"])
            if float(r["power_limit"]) >= 0.9 * tdp and network in NETWORKS:
                powers[gpu, network, int(r["batch_size"])].append(
                    float(r["average_power"]))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for (gpu, network, batch), values in sorted(powers.items()):
        (macs, acts, kernels, params), train, val, px = NETWORKS[network]
        out.writerow([gpu, network[0], network[1], "training", batch,
                      px or "", train, val, 1, f"{macs / 1e9:.6g}",
                      f"{acts / 1e6:.6g}", kernels, f"{params / 1e6:.6g}",
                      f"{sum(values) / len(values):.5g}", "gpu", "zeus-nsdi23",
                      "zeus-" + gpu, DOUBT, len(values)])


if __name__ == "__main__":
    main()
