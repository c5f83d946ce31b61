# SPDX-License-Identifier: GPL-3.0-or-later
"""Relations between requests to a language model, for relations.py."""

import json

SERVED = ("gpt2", "qwen2.5-0.5b", "llama-3.2-1b", "phi-3-mini", "mistral-7b",
          "llama-3-8b", "gemma-2-9b", "gemma-3-27b", "qwen2.5-32b",
          "falcon-40b", "llama-3-70b", "llama-3.1-405b", "deepseek-v2-lite",
          "gpt-oss-20b", "qwen3-30b-a3b", "mixtral-8x7b", "gpt-oss-120b",
          "qwen3-235b-a22b", "deepseek-v3")
# The second is the same GPU or the next generation with more memory, a higher
# bandwidth or more power, and none of these lower.
FASTER = (("a100-pcie-40gb", "a100-pcie-80gb"),
          ("a100-sxm4-40gb", "a100-sxm4-80gb"),
          ("a100-pcie-80gb", "a100-sxm4-80gb"),
          ("a100-sxm4-80gb", "h100-sxm5-80gb"),
          ("h100-pcie", "h100-sxm5-80gb"), ("h100-sxm5-80gb", "h200"),
          ("h200", "b200"), ("v100-pcie-16gb", "v100-sxm2-32gb"),
          ("mi300x", "mi325x"), ("l4", "l40s"), ("rtx-3090", "rtx-3090-ti"),
          ("rtx-4080", "rtx-4090"))
QUANTIZED = ("fp8", "int8", "fp4", "nvfp4", "q4_k_m", "q8_0")
EXACT = 1e-9
# A GPU that was measured has deviations of its own from its figures.
MEASURED = 0.05


def request(rng, gpus):
    """Requests in groups that are given, or else assumed, mostly on GPUs of
    servers: most of the catalogue are CPUs."""
    row = {"arch": rng.choice(SERVED),
           "gpu": rng.choice(rng.choice((gpus, *FASTER, *FASTER))),
           "phase": "inference", "n_gpus": rng.choice((1, 2, 4, 8)),
           "precision": rng.choice(("", "fp16", "bf16", "fp8", "int8", "fp4")),
           "batch_size": rng.choice((1, 4, 16, 64, 256)), "requests": 65536,
           "stack": rng.choice(("", "mlperf", "transformers")),
           "kv_bytes": rng.choice(("", "", 1, 2)),
           "prompt_tokens": rng.randint(8, 4000),
           "output_tokens": rng.randint(1, 1000)}
    groups = rng.choice((None, 1, row["n_gpus"]))
    if groups:
        row["replicas"] = groups
    return row


def of_batches(rng, rows, row, first):
    """Whatever the memory holds, more requests at once serve no fewer a second,
    with no more energy for each."""
    for what, batch in (
            ("more", row["batch_size"] + rng.randint(1, row["batch_size"])),
            ("twice the", 2 * row["batch_size"]),
            ("many more", 32 * row["batch_size"])):
        more = rows.add(row, batch_size=batch)
        for name, of in (("time", "duration_s"), ("energy", "energy_j")):
            rows.compare("%s of %s requests at once" % (name, what), more,
                         first, 0, 1 + EXACT, of)


def serving(rng, rows, gpus, memory):
    """Requests to a language model. Longer ones take no less, where their
    memory is there, and a copy on each of twice the GPUs, with twice the
    requests at once, takes half the time, so that its requests are answered as
    soon. Keys in fewer bits, quantized weights on one GPU and faster GPUs are no
    slower: GPUs compute layers of GGUF files one after another."""
    row = request(rng, gpus)
    first, held = rows.add(row), memory[row["gpu"]]
    of_batches(rng, rows, row, first)
    for what, changes in (
            ("prompts", {"prompt_tokens": 2 * row["prompt_tokens"]}),
            ("answers", {"output_tokens": 2 * row["output_tokens"]})):
        longer = rows.add(row, **changes)
        for name, of in (("time", "duration_s"), ("energy", "energy_j")):
            rows.compare("%s of longer %s" % (name, what), longer, first,
                         1 - EXACT, 1e9, of, held)
    one = dict(row, replicas=1)
    rows.compare("time of copies on twice the GPUs", rows.add(
        one, n_gpus=2 * row["n_gpus"], replicas=2,
        batch_size=2 * row["batch_size"]), rows.add(one), .5 * (1 - EXACT),
        .5 * (1 + EXACT), "duration_s")
    rows.compare("time of keys in 8 bits", rows.add(row, kv_bytes=1),
                 rows.add(row, kv_bytes=2), 0, 1 + EXACT, "duration_s", held)
    single = dict(one, n_gpus=1, batch_size=1, kv_bytes="")
    rows.compare("time of quantized weights", rows.add(
        single, precision=rng.choice(QUANTIZED)),
        rows.add(single, precision="fp16"), 0, 1 + EXACT, "duration_s")
    slow, fast = rng.choice(FASTER)
    rows.compare("time on a faster GPU", rows.add(one, gpu=fast), rows.add(
        one, gpu=slow), 0, 1 + MEASURED, "duration_s", memory[slow])


def rest_s(out):
    """Seconds but for what groups of GPUs exchange and the host tells them, or
    NaN."""
    parts = {p["part"]: p["seconds"] for p in out["served"]["parts"]}
    return sum(s for p, s in parts.items() if p not in ("exchange", "host"))


def check_groups(rng, found, program, gpus, n):
    """Twice the GPUs, in one group or as is assumed, make requests that fit take
    longer by no more than their exchange. Prompts, which have a part of it
    that is not stated, are of one token."""
    for _ in range(n):
        row = request(rng, gpus)
        row.update(prompt_tokens=1, n_gpus=rng.choice((1, 2, 4)))
        if row.get("replicas"):
            row["replicas"] = 1
        words = ["--" + k.replace("_", "-") + "=" + str(v)
                 for k, v in row.items() if str(v) and k != "n_gpus"]
        of = [program.run(*words, "--gpus=%d" % g, "--format", "json")
              for g in (row["n_gpus"], 2 * row["n_gpus"])]
        if not all(of):
            continue
        less, more = (json.loads(o) for o in of)
        if less["served"] and more["served"] and \
                less["memory_need_gb"] <= less["memory_usable_gb"]:
            found.check("time of twice the GPUs but for their exchange",
                        rest_s(more) <= rest_s(less) * (1 + EXACT),
                        rest_s(more), rest_s(less), *words, row["n_gpus"])


def check_parts(found, program):
    """Parts of requests and of a node."""
    out = json.loads(program.run(
        "--arch=llama-2-7b", "--gpu=h100", "--phase=inference", "--format",
        "json", "--prompt-tokens=200", "--output-tokens=100",
        "--requests=1000"))
    work = {p["part"]: p["energy_j"] for p in out["served"]["work"]}
    found.check("parts of requests",
                abs(sum(work.values()) / 2 / work["all"] - 1) < 1e-9, work)
    out = json.loads(program.run(
        "--arch=resnet50", "--gpu=a100", "--gpus=8", "--format", "json",
        "--node=epyc-7742-8xa100", "--pue=1.2"))
    parts = [p for p in out["node"]["parts"] if p["estimate"] == "physical"]
    found.check("shares of a node",
                abs(sum(p["share"] for p in parts) - 1) < 1e-9, parts)
