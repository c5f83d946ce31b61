#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Means of the power of nodes at the wall, from a folder of measured runs.

  node-power.py DIR OUT

reads mlperf-power/*.csv and power/facts.csv of DIR and writes, in the folder
OUT, node-power.csv (readings of nodes whose accelerators' power is known) and
node-trainings.csv (medians of the trainings of MLPerf v4.0, measured at the
plug, and behind the supplies: energy_dc_kwh).

The power of an accelerator is known where none works, where its power limit is
in force (MLPerf's submissions to maximise efficiency), and at the highest
power of a node. Tuned trainings are taken at .954 of the TDP, as a whole step
of training draws on a B300 of its limit.
"""

import collections
import csv
import os
import statistics
import sys

TUNED = 0.954
# CPUs: number, power of one at idle, TDP; power of the memory; rated power of
# the supplies or of the node. Assumed as in data/nodes.xml where not published.
SYSTEMS = {
    "DGX A100": ("a100-sxm4-80gb", 8, 400, "air", 2, 65, 225, 160, 6500),
    "PRIMERGY GX2570M6": ("a100-sxm4-40gb", 8, 400, "air", 2, 50, 195, 80,
                          6500),
    "AcmeTrace Seren": ("a100-sxm4-80gb", 8, 400, "air", 2, 60, 240, 80, 6500),
    "SMC, immersion": ("h100-sxm5-80gb", 8, 700, "liquid", 2, 100, 300, 160,
                       10200),
    "Cisco UCS C885A": ("h200", 8, 700, "air", 2, 110, 400, 120, 10200),
    "Dell XE9680": ("h100-sxm5-80gb", 8, 700, "air", 2, 100, 350, 160, 10200),
    "Brookhaven": ("h100-sxm5-80gb", 8, 700, "air", 2, 100, 350, 160, 10200),
    "Lenovo SR780a V3, water": ("b200", 8, 1000, "liquid", 2, 110, 350, 160,
                                14300),
}
# Power limits in the configurations of MLPerf Inference v2.0 and v2.1
# (closed/NVIDIA/configs/*/*/__init__.py, A100_SXM_80GBx8_MaxQ), W.
LIMITS = {("ResNet", "Server"): 225, ("3D-UNet-99.0", "Offline"): 225,
          ("BERT-99.0", "Server"): 275, ("BERT-99.0", "Offline"): 275}
CONFIGS = "mlcommons/inference_results_v2.0, v2.1: results and configurations"
# System, state, power of one accelerator and where it is from; and the row of
# facts.csv by device, condition.
FACTS = [
    ("SMC, immersion", "idle", 74, "no process: nvidia-smi",
     "8 x H100 SXM (Supermicro, SMC, 2 x 8462Y+, immersion: no fans), AC",
     "before the job starts"),
    ("Cisco UCS C885A", "idle", 74, "as H100, no process",
     "8 x H200 SXM (Cisco UCS C885A, air, 2 x EPYC 9575F)",
     "night of 6 May 2026, 00:00-07:00, no job"),
    ("Dell XE9680", "idle", 120, "a process, no kernel: nvidia-smi",
     "8 x H100 SXM (Dell XE9680), AC", "lowest reading of a run over 8 nodes"),
    ("AcmeTrace Seren", "idle", 66, "25th percentile of the GPUs",
     "server with 8 A100-SXM4-80GB (Seren)", "25th percentile of all samples"),
    ("AcmeTrace Seren", "highest", 400, "TDP; 407.7 W the 95th percentile",
     "server with 8 A100-SXM4-80GB (Seren)", "95th percentile of all samples"),
    ("Brookhaven", "highest", 700, "TDP",
     "8 x H100 HGX node (Brookhaven), rated 10.2 kW",
     "highest in trainings and gpu-burn"),
]
TRAININGS = "8 x B200 (Lenovo), AC"
# The logs of RetinaNet count no samples: five epochs of Open Images, where its
# reference converges with this batch.
RETINANET = 5 * 1170301
# Trainings whose steps take tokens.
SEQ_LEN = {"bert": 512, "llama2_70b_lora": 8192, "gpt3": 2048}


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def median(rows, column):
    values = [float(r[column]) for r in rows if r[column]]
    return statistics.median(values) if values else float("nan")


def grouped(rows, key):
    found = collections.defaultdict(list)
    for r in rows:
        found[key(r)].append(r)
    return found.items()


def reading(system, state, gpu_w, of, node_w, source):
    return dict(zip(
        ("system", "gpu", "gpus", "tdp_w", "cooling", "cpus", "cpu_idle_w",
         "cpu_tdp_w", "memory_w", "supply_w", "state", "gpu_w", "gpu_w_from",
         "node_w", "source"),
        (system, *SYSTEMS[system], state, f"{gpu_w:g}", of, f"{node_w:.0f}",
         source)))


def limited(folder):
    rows = read(folder, "mlperf-power/inference_v1.0-v3.0.csv")
    dgx = [r for r in rows if r["system"].startswith("NVIDIA DGX A100 (8x")
           and r["version"] in ("v2.0", "v2.1")
           and (r["model"], r["scenario"]) in LIMITS]
    for (model, scenario), group in grouped(
            dgx, lambda r: (r["model"], r["scenario"])):
        yield reading("DGX A100", f"{model} {scenario}",
                      LIMITS[model, scenario], "power limit",
                      median(group, "system_power_W"), CONFIGS)
    fujitsu = [r for r in rows if "limitted to 275W" in r["notes"]
               and "DLRM" not in r["model"]]
    yield reading("PRIMERGY GX2570M6", "inference", 275, "power limit",
                  median(fujitsu, "system_power_W"),
                  "mlcommons/inference_results_v2.0: results and notes")


def known(folder):
    facts = read(folder, "power/facts.csv")
    for system, state, gpu_w, of, device, condition in FACTS:
        r = next(r for r in facts
                 if (r["device"], r["condition"]) == (device, condition))
        yield reading(system, state, gpu_w, of, float(r["value"]), r["source"])
    for r in facts:
        if r["device"] == TRAININGS:
            yield reading("Lenovo SR780a V3, water",
                          "training, " + r["condition"].split(",")[0],
                          TUNED * 1000, "a step of training on a B300",
                          float(r["value"]), r["source"])


def trainings(folder):
    rows = read(folder, "mlperf-power/training_v4.0.csv")
    dc = dict(grouped([r for r in rows if r["measurement"] == "DC"],
                      lambda r: (r["benchmark"], int(r["nodes"]))))
    rows = [r for r in rows if r["measurement"] == "AC"]
    for (name, nodes), group in grouped(
            rows, lambda r: (r["benchmark"], int(r["nodes"]))):
        # Those of GPT-3 and DLRM count tokens and clicks.
        samples = statistics.median(
            float(r["throughput_samples_s"]) * 60 * float(r["minutes"]) /
            (SEQ_LEN["gpt3"] if name == "gpt3" else 1) for r in group)
        if name == "ssd":
            samples = RETINANET
        yield {"benchmark": name, "nodes": nodes, "gpus": 8 * nodes,
               "runs": len(group), "minutes": f"{median(group, 'minutes'):.4g}",
               "samples": f"{samples:.4g}", "seq_len": SEQ_LEN.get(name, ""),
               "global_batch": f"{median(group, 'global_batch_size'):.0f}",
               "energy_kwh": f"{median(group, 'energy_kwh'):.4g}",
               "energy_dc_kwh": f"{median(dc[name, nodes], 'energy_kwh'):.4g}",
               "node_w": f"{median(group, 'power_w_per_node'):.0f}",
               "source": "mlcommons/training_results_v4.0, smc-ac-power"}


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, rows[0], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, out = sys.argv[1:]
    rows = [*limited(folder), *known(folder)]
    for r in list(trainings(folder)):
        if r["nodes"] == 1 and r["benchmark"] != "dlrm_dcnv2":
            rows.append(reading(
                "SMC, immersion", "training, " + r["benchmark"], TUNED * 700,
                "a step of training on a B300", float(r["node_w"]),
                r["source"]))
    write(os.path.join(out, "node-power.csv"), rows)
    write(os.path.join(out, "node-trainings.csv"), list(trainings(folder)))


main()
