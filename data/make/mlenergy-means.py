#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/mlenergy-means.csv: what language models draw while they serve.

usage: mlenergy-means.py mlenergy_v2_inference.csv mlenergy_v3_llm.csv

The tables are those of the ML.ENERGY benchmark (Chung et al., "The ML.ENERGY
Benchmark: Toward Automated Inference Energy Measurement and Optimization",
arXiv 2505.06371; Apache-2.0): requests of five kinds to servers under a full
load on A100, H100 and B200. One row is written for each kind of request, model,
precision, GPU, number of GPUs and octave pair of requests at once (8 and 16, 32
and 64, ...): geometric means over what falls together.

Left out are requests with images and videos (the length of what is read is not
told), models without a shape in the catalogue (DeepSeek keeps its keys
compressed, Nemotron is no transformer alone) and copies of a model side by side
(data parallel). Also left out are answers of Qwen3 to GPQA on one B200: a step takes 2
to 6.5 times what it takes in chats with the same model and as many requests (1.1
to 1.9 times on an H100), 32 to 44 ms for 8 requests whatever the model's size
from 8 to 32 billion parameters, as when kernels are launched one by one.

The length of the prompts is not published: prompt_tokens is a guess, prompt_doubt the
standard deviation of its logarithm. The older runs are with a server whose host
took longer (engine_2024).
"""
import collections
import csv
import math
import sys

PROMPTS = {"llm_text_generation/chat": ("chat-2024", 250),
           "llm_text_generation/code": ("code-2024", 150),
           "lm-arena-chat": ("chat-2025", 250),
           "gpqa": ("gpqa", 300),
           "sourcegraph-fim": ("code-2025", 800)}
PROMPT_DOUBT = .7
GPUS = {"NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
        "NVIDIA H100 80GB HBM3": "h100-sxm5-80gb",
        "H100": "h100-sxm5-80gb", "B200": "b200"}
# Beginning of the name -> id in the catalogue; the first that fits.
MODELS = (
    ("Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b"),
    ("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"),
    ("Qwen/Qwen3-Coder-30B-A3B", "qwen3-30b-a3b"),
    ("Qwen/Qwen3-Coder-480B", "qwen3-coder-480b"),
    ("Qwen/Qwen3-8B", "qwen3-8b"), ("Qwen/Qwen3-14B", "qwen3-14b"),
    ("Qwen/Qwen3-32B", "qwen3-32b"),
    ("bigcode/starcoder2-", None),
    ("codellama/CodeLlama-", None),
    ("google/codegemma-1.1-2b", "gemma-2b"),
    ("google/codegemma-7b", "gemma-7b"),
    ("google/gemma-2-", None), ("google/gemma-3-", None),
    ("meta-llama/Llama-3.1-405B", "llama-3.1-405b"),
    ("meta-llama/Llama-3.1-70B", "llama-3-70b"),
    ("meta-llama/Llama-3.1-8B", "llama-3-8b"),
    ("meta-llama/Llama-3.3-70B", "llama-3-70b"),
    ("meta-llama/Llama-4-Maverick", "llama-4-maverick"),
    ("meta-llama/Llama-4-Scout", "llama-4-scout"),
    ("meta-llama/Meta-Llama-3.1-405B", "llama-3.1-405b"),
    ("meta-llama/Meta-Llama-3.1-70B", "llama-3-70b"),
    ("meta-llama/Meta-Llama-3.1-8B", "llama-3-8b"),
    ("microsoft/Phi-3-medium", "phi-3-medium"),
    ("microsoft/Phi-3-mini", "phi-3-mini"),
    ("microsoft/Phi-3-small", "phi-3-small"),
    ("mistralai/Mistral-7B", "mistral-7b"),
    ("mistralai/Mistral-Large", "mistral-large-123b"),
    ("mistralai/Mistral-Nemo", "mistral-nemo-12b"),
    ("mistralai/Mixtral-8x22B", "mixtral-8x22b"),
    ("mistralai/Mixtral-8x7B", "mixtral-8x7b"),
    ("openai/gpt-oss-120b", "gpt-oss-120b"),
    ("openai/gpt-oss-20b", "gpt-oss-20b"),
)
# Weights in MXFP4 take 4.25 bits; they are multiplied in 16. The server of the
# benchmark keeps keys and values in 16 bits, whatever the weights have.
KV_BYTES = 2
PRECISIONS = {"bfloat16": ("bf16", ""), "fp8": ("fp8", ""),
              "mxfp4": ("bf16", .53125)}
COLUMNS = ("config,arch,gpu,n_gpus,phase,precision,weight_bytes,kv_bytes,dataset,"
           "batch_size,prompt_tokens,prompt_doubt,output_tokens,engine_2024,"
           "request_s,request_power_w,request_energy_j,boundary,source,n"
           ).split(",")


def arch_of(model):
    for begin, name in MODELS:
        if model.startswith(begin):
            if name:
                return name
            words = model.split("/")[1].lower().split("-")
            return "-".join(words[:3 if words[0] == "gemma" else 2])
    return None


def rows_of(older, newer):
    """kind, model, GPU, GPUs, precision, at once, tokens, seconds and joules a
    request, older"""
    for r in older:
        if r["category"] in PROMPTS:
            tokens = float(r["Avg Output Tokens"])
            yield (r["category"], r["Model"], r["GPU"],
                   int(float(r["TP"]) * float(r["PP"])), "bfloat16",
                   float(r["Avg BS (reqs)"]), tokens,
                   tokens / float(r["Token tput (tok/s)"]),
                   float(r["Energy/req (J)"]), 1)
    for r in newer:
        if r["task"] in PROMPTS and r["data_parallel"] == "1":
            tokens = float(r["avg_output_len"])
            time = tokens / float(r["output_throughput_tokens_per_sec"])
            yield (r["task"], r["model_id"], r["gpu_model"],
                   int(r["num_gpus"]), r["weight_precision"],
                   float(r["avg_batch_size"]), tokens, time,
                   time * float(r["avg_power_watts"]), 0)


def is_launched_singly(kind, arch, gpu, n):
    return (kind, gpu, n) == ("gpqa", "B200", 1) and arch.startswith("qwen3-")


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def read(path):
    with open(path, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    cells = collections.defaultdict(list)
    for kind, model, gpu, n, precision, at_once, *rest in rows_of(
            read(sys.argv[1]), read(sys.argv[2])):
        arch = arch_of(model)
        if arch and not is_launched_singly(kind, arch, gpu, n):
            pair = int((math.log2(at_once) - 2.5) // 2)
            cells[PROMPTS[kind], arch, GPUS[gpu], n, PRECISIONS[precision],
                  rest.pop(), pair].append((at_once, *rest))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for key, rows in sorted(cells.items(), key=str):
        (kind, prompt), arch, gpu, n, (precision, size), old, _ = key
        at_once, tokens, time, energy = map(geometric, zip(*rows))
        out.writerow([f"{arch} {gpu} {n} {precision} {kind}", arch, gpu, n,
                      "inference", precision, size, KV_BYTES, kind,
                      f"{at_once:.4g}",
                      prompt, PROMPT_DOUBT, f"{tokens:.5g}", old,
                      f"{time:.5g}", f"{energy / time / n:.5g}",
                      f"{energy:.5g}", "gpu",
                      "ML.ENERGY, arXiv 2505.06371, Apache-2.0", len(rows)])


if __name__ == "__main__":
    main()
