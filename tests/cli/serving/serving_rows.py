#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements of the ML.ENERGY benchmark as a runs table, and scores on them.

usage: serving_rows.py table TOOL FOLDER GPU > table.csv
       serving_rows.py score TABLE ESTIMATES

`table` prints the rows of one GPU, read as TOOL (data/make/mlenergy-means.py)
reads them. `score` prints the mean absolute percentage errors of energy, time
and power, and the percentage of energies within a factor of 1.5.
"""
import csv
import importlib.util
import math
import sys

REQUESTS = 1e6


def table(tool, folder, gpu):
    spec = importlib.util.spec_from_file_location("means", tool)
    means = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(means)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("arch,gpu,n_gpus,tensor_parallel,phase,precision,"
                  "weight_bytes,kv_bytes,dataset,batch_size,prompt_tokens,"
                  "prompt_doubt,output_tokens,engine_2024,requests,request_s,"
                  "request_energy_j").split(","))
    older = means.read(folder + "/mlenergy_v2_inference.csv")
    newer = means.read(folder + "/mlenergy_v3_llm.csv")
    for row in means.rows_of(older, newer):
        kind, model, board, n, precision, at_once, tokens, time, joules, old = row
        arch = means.arch_of(model)
        if not arch or means.GPUS[board] != gpu:
            continue
        kind, prompt = means.PROMPTS[kind]
        precision, size = means.PRECISIONS[precision]
        out.writerow([arch, gpu, n, n, "inference", precision, size,
                      means.KV_BYTES, kind, at_once, prompt,
                      means.PROMPT_DOUBT, tokens, old,
                      REQUESTS, time, joules])


def score(measured, estimates):
    def read(path):
        with open(path, newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))
    pairs = []
    for m, e in zip(read(measured), read(estimates), strict=True):
        energy = float(e["energy_j"]) / REQUESTS / float(m["request_energy_j"])
        time = float(e["duration_s"]) / REQUESTS / float(m["request_s"])
        pairs.append((energy, time, energy / time))
    n = len(pairs)
    errors = [100 * sum(abs(p[i] - 1) for p in pairs) / n for i in range(3)]
    near = sum(abs(math.log(p[0])) < math.log(1.5) for p in pairs)
    print(n, *("%.1f" % e for e in errors), "%.0f" % (100 * near / n))


if __name__ == "__main__":
    {"table": table, "score": score}[sys.argv[1]](*sys.argv[2:])
