#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/tuned-means.csv: speeds of inference by tuned software.

usage: tuned-means.py DIR

DIR holds mlperf-inference/gpu_means.csv, medians of the results of MLPerf
Inference, closed division, v0.5 to v4.0, per round, accelerator, number of
accelerators, network and scenario (MLCommons; Apache-2.0; results not verified
by MLCommons once derived), and mlperf-power/inference_v1.0-v3.0.csv, powers at
the wall of some of them.

One row is written for each accelerator of NVIDIA, network and precision: the
median of the rounds' and numbers' medians per accelerator in the Offline
scenario. Left out are Jetson boards, whose DLAs take part; the A16, whose
results do not say how many of its four GPUs took part; entries that mix
precisions; 3D U-Net, whose volumes differ in size; and DLRM v2, which its host
limits. BERT with 99.9 % accuracy runs in FP8 on Hopper.

A sample is what the catalogue's figures are for: a pair of a user and an item in
DLRM (270 a query in the mean), a pass of the network in Stable Diffusion XL (20
steps with 2 passes each; text encoders and decoder are 4 % of the work). The
batches are typical ones: results do not tell them. macs_g and acts_m are given
where the network of MLPerf is not the catalogue's: SSD-MobileNet at 300 px,
SSD-ResNet-34 at 1,200 px, utterances of 7.2 s (5.4 h in 2,703 of LibriSpeech's
dev-clean).

Powers of a board follow from the only system whose limit is known and was not
lowered (Dell XE8545, 4 A100 of 500 W, v1.1): (wall x .94 - rest) / 4. The rest of
the node, 967 W, is chosen such that boards draw .99 of their limit in the workload
that draws the most.
"""
import collections
import csv
import statistics
import sys

GPUS = {"A10": "a10", "A100-PCIe-40GB": "a100-pcie-40gb",
        "A100-PCIe-80GB": "a100-pcie-80gb", "A100-SXM-40GB": "a100-sxm4-40gb",
        "A100-SXM-80GB": "a100-sxm4-80gb", "A2": "a2", "A30": "a30",
        "A40": "a40", "GH200-96GB": "gh200", "H100-PCIe": "h100-pcie",
        "H100-SXM": "h100-sxm5-80gb", "H200-SXM": "h200",
        "H100-NVL": "h100-nvl", "L4": "l4", "L40": "l40", "L40S": "l40s",
        "Quadro RTX 8000": "quadro-rtx-8000", "RTX 4090": "rtx-4090",
        "RTX A5000": "rtx-a5000", "T4": "t4", "TITAN RTX": "titan-rtx"}
HOPPER = ("gh200", "h100-pcie", "h100-sxm5-80gb", "h200", "h100-nvl")
# Architecture, batch, samples of a result, and columns that differ from the
# catalogue's.
NETWORKS = {
    "resnet50": ("resnet50", 1024, 1, {}),
    "mobilenet": ("mobilenetv1_100", 1024, 1, {}),
    "ssd-mobilenet": ("mobilenetv1_100", 512, 1,
                      {"image_px": 300, "macs_g": 1.24, "acts_m": 9.1}),
    "ssd-resnet34": ("ssd300_resnet34", 32, 1,
                     {"macs_g": 216.6, "acts_m": 184.6}),
    "retinanet": ("retinanet_resnext50_fpn", 32, 1, {"image_px": 800}),
    "bert-99": ("bert-large-uncased", 512, 1, {"seq_len": 177}),
    "bert-99.9": ("bert-large-uncased", 512, 1, {"seq_len": 177}),
    "rnnt": ("rnnt", 2048, 1, {"macs_g": 10.2, "acts_m": 9.9}),
    "dlrm-99": ("dlrm", 65536, 270, {}),
    "stable-diffusion-xl": ("stable-diffusion-xl", 16, 20 * 2 * 1.04, {}),
}
# Software was another in these results, which are slower than a board's others
# by factors; plain ONNX Runtime.
OTHERS = {("rtx-4090", "resnet50"), ("rtx-4090", "bert-99"),
          ("rtx-4090", "bert-99.9"), ("rtx-4090", "retinanet"),
          ("rtx-4090", "rnnt"), ("rtx-4090", "stable-diffusion-xl"),
          ("rtx-a5000", "bert-99.9"), ("a2", "rnnt-int8")}
POWERS = {"ResNet": "resnet50", "SSD-Large": "ssd-resnet34", "RNN-T": "rnnt",
          "BERT-99.0": "bert-99", "BERT-99.9": "bert-99.9",
          "DLRM-99.0": "dlrm-99"}
COLUMNS = ("config,arch,gpu,n_gpus,phase,precision,batch_size,image_px,seq_len,"
           "macs_g,acts_m,power_limit_w,request_s,request_power_w,doubt,"
           "boundary,source,n").split(",")
SOURCE = "MLPerf Inference v0.5 to v4.0, MLCommons, Apache-2.0"
POWER_SOURCE = "MLPerf Inference v1.1 power, MLCommons, Apache-2.0"


def read(path):
    with open(path, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def speeds(rows):
    """Network, GPU and precision -> speeds per accelerator."""
    cells = collections.defaultdict(list)
    for r in rows:
        gpu, precision = GPUS.get(r["accelerator"]), r["precision"]
        if (r["scenario"] != "Offline" or r["model"] not in NETWORKS or not gpu
                or precision not in ("int8", "fp8", "fp16")
                or (gpu, r["model"]) in OTHERS
                or (r["model"] == "rnnt" and precision != "fp16")):
            continue
        if r["model"] == "bert-99.9" and gpu in HOPPER:
            precision = "fp8"
        cells[r["model"], gpu, precision].append(
            float(r["per_accelerator_median"]))
    return cells


def row(model, gpu, precision, values, source, more):
    arch, batch, samples, other = NETWORKS[model]
    cells = {"config": f"{model} {gpu} {precision}", "arch": arch, "gpu": gpu,
             "n_gpus": 1, "phase": "inference", "precision": precision,
             "batch_size": batch, "boundary": "gpu", "source": source,
             "request_s": f"{1 / samples / statistics.median(values):.5g}",
             "n": len(values)}
    cells.update(other)
    cells.update(more)
    return [cells.get(c, "") for c in COLUMNS]


def powers(rows):
    for r in rows:
        if (r["version"] == "v1.1" and r["scenario"] == "Offline"
                and r["system"] == "Dell EMC PowerEdge XE8545 "
                "(4x A100-SXM-80GB; TensorRT)" and r["model"] in POWERS):
            model = POWERS[r["model"]]
            watts = (.94 * float(r["system_power_W"]) - 967) / 4
            precision = "fp16" if model in ("rnnt", "bert-99.9") else "int8"
            yield (model, "a100-sxm4-80gb", precision, [float(r["perf"]) / 4],
                   POWER_SOURCE, {"request_power_w": f"{watts:.3g}",
                                  "power_limit_w": 500, "doubt": .05})


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    cells = speeds(read(f"{sys.argv[1]}/mlperf-inference/gpu_means.csv"))
    for (model, gpu, precision), values in sorted(cells.items()):
        out.writerow(row(model, gpu, precision, values, SOURCE, {}))
    for line in powers(read(
            f"{sys.argv[1]}/mlperf-power/inference_v1.0-v3.0.csv")):
        out.writerow(row(*line))


if __name__ == "__main__":
    main()
