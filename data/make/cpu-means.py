#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/cpu-means.csv: how long a sample takes on CPUs.

usage: cpu-means.py FOLDER TIMM.csv > data/cpu-means.csv

FOLDER has mlperf_inference_cpu.csv (MLPerf Inference v0.5 to v5.1, closed
division, systems without accelerators, Offline; results not verified by
MLCommons once derived) and cpu_other.csv (tables of Intel Neural Compressor
and of OpenVINO 2024.1). TIMM.csv has networks of PyTorch Image Models,
compiled, at batch 1 on two desktop CPUs, of which each 14th is taken. A row is the median of what has the same CPU,
sockets, network, precision, software, batch and instances; request_s is the
time of the whole machine for a sample, 1 / samples per second.

Left out are detectors in plain frameworks, whose boxes are computed outside of
the network, networks whose work the catalogue does not know or
that changed between rounds (3D U-Net), cloud instances of a part of a CPU, tables that
contradict themselves, and rows that state FP32 and are faster than its peak.
Tuned submissions (stack mlperf) share a read of the weights between 32 samples,
streams of OpenVINO between none (batch_size). Their BERT drops padding from
v2.1 on: 177 of 384 tokens in the mean.
"""
import collections
import csv
import os
import re
import statistics
import sys

# Network of a table -> id in the catalogue, tokens. Names are compared in lower
# case, without blanks and punctuation.
NETWORKS = {
    "resnet18": ("resnet18", ""), "resnet50": ("resnet50", ""),
    "resnet101": ("resnet101", ""), "resnet152": ("resnet152", ""),
    "inceptionv3": ("inception_v3", ""), "inceptionv4": ("inception_v4", ""),
    "inceptionv1": ("googlenet", ""), "googlenet": ("googlenet", ""),
    "inceptionresnetv2": ("inception_resnet_v2", ""),
    "mobilenet": ("mobilenetv1_100", ""),
    "mobilenetv1": ("mobilenetv1_100", ""),
    "mobilenetv2": ("mobilenetv2_100", ""),
    "mobilenetv3mlperf": ("mobilenetv3_large_100", ""),
    "vgg16": ("vgg16", ""), "vgg19": ("vgg19", ""),
    "densenet121": ("densenet121", ""), "densenet161": ("densenet161", ""),
    "densenet169": ("densenet169", ""),
    "efficientnetb0": ("efficientnet_b0", ""),
    "resnext101_32x8d": ("resnext101_32x8d", ""),
    "bertlargesquad": ("bert-large-uncased", 384),
    "bertlargerte": ("bert-large-uncased", 128),
    "bertlargemrpc": ("bert-large-uncased", 128),
    "bertlargecola": ("bert-large-uncased", 128),
    "bertlargeqnli": ("bert-large-uncased", 128),
    "bertbasemrpc": ("bert-base-uncased", 128),
    "bertbasecola": ("bert-base-uncased", 128),
    "bertbaserte": ("bert-base-uncased", 128),
    "bertbasestsb": ("bert-base-uncased", 128),
    "distilbertbasemrpc": ("distilbert-base-uncased", 128),
    "robertabasemrpc": ("roberta-base", 128),
    "bert99": ("bert-large-uncased", 384),
    "retinanet": ("retinanet_resnext50_fpn", ""),
    "bertbasecased": ("bert-base-cased", 124),
    "bertlargeuncasedwholewordmaskingsquad0001": ("bert-large-uncased", 384),
}
# Networks that the catalogue lacks: GMAC, activations and parameters (1e6),
# kernels. Reddi et al. 2020 and the Open Model Zoo.
OTHERS = {
    "ssdresnet34": ("ssd-resnet34-1200", 216.5, 190, 36.3, 130),
    "ssdresnet341200": ("ssd-resnet34-1200", 216.5, 190, 36.3, 130),
    "unetcamvidonnx0001": ("unet-camvid", 130.05, 190, 31.03, 60),
    "yolov3tiny": ("yolov3-tiny", 2.79, 7, 8.85, 35),
    "ssdmobilenetv1": ("ssd-mobilenet-v1", 1.23, 10, 6.9, 90),
    "ssdmobilenet": ("ssd-mobilenet-v1", 1.23, 10, 6.9, 90),
    "ssdmobilenetv1coco": ("ssd-mobilenet-v1", 1.23, 10, 6.9, 90),
}
SUFFIXES = ("onnxmodelzoo", "mlperf", "huggingface", "slim", "v15", "v10",
            "v1", "fx", "qat", "ipex", "static", "v112")
TIMM_CPUS = {"Intel Core i9-10940X": "core-i9-10940x",
             "Intel Core i7-12700H": "core-i7-12700h"}
COLUMNS = ("config,arch,image_px,macs_g,acts_m,params_m,launches,gpu,n_gpus,phase,"
           "precision,stack,framework,batch_size,instances,seq_len,request_s,"
           "boundary,source,n").split(",")


def network(name):
    key = "".join(c for c in name.lower().replace("\xa0", "") if c.isalnum()
                  or c == "_")
    key = key if key in NETWORKS else key.replace("_", "")
    for _ in range(3):
        for table in (NETWORKS, OTHERS):
            if key in table:
                return key
        for end in SUFFIXES:
            if key.endswith(end):
                key = key[:-len(end)]
                break
    return None


def cpu_of(name):
    key = name.lower().replace(" ", "-")
    for vendor in ("intel-", "amd-"):
        key = key.removeprefix(vendor)
    return (key.replace("ryzen-threadripper", "threadripper")
            .replace("-cpu", ""))


def framework_of(text):
    text = text.lower()
    for word, name in (("onnx", "onnxruntime"), ("tensorflow", "tensorflow"),
                       ("tf ", "tensorflow"), ("torch", "pytorch"),
                       ("keras", "tensorflow"), ("openvino", "openvino")):
        if word in text:
            return name
    return None


def precision_of(text):
    return "bf16" if text == "bf16+fp16" else text


def mlperf(path):
    for r in csv.DictReader(open(path, encoding="utf-8")):
        wrong = "cloud" in r["note"] or "faster than" in r["note"]
        key = network(r["model"])
        wrong |= "pre-production" in r["cpu"]
        if r["scenario"] != "Offline" or wrong or not key or \
                not r["generation"] or "MXNet" in r["framework"]:
            continue
        precision = precision_of(r["precision"])
        plain = any(word in r["framework"] for word in
                    ("CM API", "C++", "NCNN", "v1.22.1", "tf v")) or \
            r["framework"] == "onnxruntime"
        if "Intel inference" in r["framework"]:
            plain = False
        if precision not in ("int8", "fp32", "bf16") or "NCNN" in \
                r["framework"] or not plain and precision == "fp32":
            continue
        tokens = NETWORKS.get(key, ("", ""))[1]
        dropped = key == "bert99" and not plain and r["round"] >= "v2.1" and \
            framework_of(r["framework"]) == "pytorch"
        if dropped:
            tokens = 177
        yield (key, tokens, cpu_of(r["cpu"]), int(r["sockets"]), "inference",
               precision, "" if plain else "mlperf",
               framework_of(r["framework"]) if plain else "",
               1 if plain else 32, 1 if plain else "",
               float(r["samples_per_s"]),
               "MLPerf Inference, closed division, Offline, Apache-2.0")


def tables(path):
    for r in csv.DictReader(open(path, encoding="utf-8")):
        key = network(r["model"])
        framework = framework_of(r["framework"])
        if not key or not framework or "do not fit" in r["note"]:
            continue
        if key.startswith("ssd") and framework != "openvino":
            continue
        if r["kind"] != "inference" or not r["samples_per_s"] or \
                "Atom" in r["cpu"]:
            continue
        tuned = framework == "openvino"
        source = "OpenVINO 2024.1 benchmark data" if tuned else \
            "Intel Neural Compressor, validated models"
        yield (key, NETWORKS.get(key, ("", ""))[1], cpu_of(r["cpu"]),
               int(float(r["sockets"])), "inference", r["precision"], "",
               framework,
               1 if tuned else int(float(r["batch"])),
               "" if tuned else int(float(r["instances"] or 1)),
               float(r["samples_per_s"]), source + ", Apache-2.0")


def timm(path):
    """each 14th network and size of a device, by the latest version"""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(top, "architectures.xml"), encoding="utf-8") as f:
        known = set(re.findall(r'<entry id="([^"]*)"', f.read()))
    speeds = {}
    for r in csv.DictReader(open(path, encoding="utf-8")):
        if r["device"] in TIMM_CPUS and r["model"].split(".")[0] in known:
            name = r["model"].split(".")[0]
            speeds[r["device"], name, int(r["img_size"]), r["torch"]] = (
                float(r["samples_per_sec"]))
    latest = {key[:3]: x for key, x in sorted(speeds.items())}
    for (device, name, px), speed in sorted(latest.items())[::14]:
        yield ((name, px), "", TIMM_CPUS[device], 1, "inference", "fp32",
               "compiled", "pytorch", 1, 1, speed,
               "PyTorch Image Models, results tables, Apache-2.0")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    cells = collections.defaultdict(list)
    for *key, speed, source in [
            *mlperf(os.path.join(sys.argv[1], "mlperf_inference_cpu.csv")),
            *tables(os.path.join(sys.argv[1], "cpu_other.csv")),
            *timm(sys.argv[2])]:
        name = key[0]
        if isinstance(name, tuple):
            key[0] = (*name, "", "", "", "")
        elif name in OTHERS:
            key[0] = (OTHERS[name][0], "", *OTHERS[name][1:])
        else:
            key[0] = (NETWORKS[name][0], "", "", "", "", "")
        cells[(*key, source)].append(1 / speed)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for cell, times in sorted(cells.items(), key=str):
        ((arch, px, *facts), tokens, cpu, sockets, phase, precision, stack,
         framework, batch, instances, source) = cell
        mean = statistics.median(times)
        out.writerow([
            f"{arch} {cpu} {sockets} {precision} {stack or framework} {batch}"
            + (f" {px}" if px else ""),
            "" if facts[0] else arch, px, *facts, cpu, sockets, phase, precision,
            stack, framework, batch, instances, tokens, f"{mean:.5g}", "gpu",
            source, len(times)])


if __name__ == "__main__":
    main()
