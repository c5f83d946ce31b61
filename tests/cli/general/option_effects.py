#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries every option of every command where it may have no effect.

    option_effects.py DLEST EXAMPLES

BASES are command lines that work. To each, every option of its command is
added, with a valid value that is not the default. It must change what is
printed or written, be refused, or be warned about. Prints the options that do
none of these and are not in EXPECTED; the exit status is 1 then. Runs in an
empty folder.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# They act on warnings or on where results go; --follow waits.
SKIPPED = {"quiet", "strict", "help", "usage", "version", "output", "follow",
           "spreadsheet-safe"}

# A valid value of each option, or of COMMAND --OPTION; None: a flag.
VALUES = {
    "accuracy": "accuracy.csv", "account": "nobody", "alias": "x=vgg16",
    "all": None, "alpha": "3", "arch": "vgg16", "as": "svg", "batch": "2",
    "batch-size": "32", "bootstrap": "500", "bootstrap-by": "gpu",
    "budget-kwh": "1e-9", "cached-latents": None, "by": "arch", "charge": "share", "cite": "a paper",
    "classes": "10", "cloud": "aws:eu-west-1", "columns": "name",
    "confidence": "80", "cooling": "liquid", "core-power": "11", "country": "FR", "coverage": "70",
    "cv": "group:gpu", "dataset": "cifar10", "deadline": "1s", "details": None,
    "define": "zz=batch_size*2", "device": "cpu", "drop-last": "3", "duration": "3h",
    "efficiency": "0.5", "embodied": None, "energy-column": "other_kwh",
    "boundary": "gpu", "epoch-length": "20", "epochs": "77", "every": "3", "explain": None,
    "features": "log(macs_g)", "files-from": "names", "find-epochs": None,
    "format": "json", "framework": "tensorflow", "from": "nvidia-smi",
    "frozen": None, "gamma": "2", "gaps": "cut", "gpu": "v100",
    "gpu-share": "0.5", "gpus": "2", "height": "30", "idle-s": "2",
    "image-px": "128", "in-use": "0.5", "input": "runs.csv",
    "input-shape": "image=1x3x64x64", "intensity": "100",
    "intensity-hours": "hours.csv", "interval": "3",
    "device": "cpu", "k": "2", "lambda": "5", "lifetime": "7", "limit": "2", "loader": "synthetic",
    "loader-workers": "2", "augmentation": "mosaic", "log": None,
    "max-gap": "3", "means": "means.csv", "method": "tdp", "methods": "tdp",
    "model": "m.xml", "no-join": None, "no-log": None, "no-model": None,
    "no-scale": None, "node": "dgx-a100", "node-power": "700",
    "denoising-steps": "4", "offset": "epochs", "output-tokens": "30", "parts": None,
    "path-pattern": "{run_id}-{x}.csv", "per": "arch", "phase": "inference",
    "gpu-clock": "900", "power-limit": "150", "overhead": "0.3", "phases": "2,5", "precision": "fp64", "predictions": "out.csv",
    "price": "0.3EUR", "gpu-price": "2USD/h", "recommend --by": "time", "prompt-tokens": "400", "pue": "1.5", "wue": "1.8",
    "equivalents": None, "ram-gb": "64",
    "request-rate": "3", "requests": "9", "samples": "9",
    "scaling": "strong", "score": "rmse_j", "script": None,
    "search": "random:5", "seed": "5", "seen": "3", "seq-len": "64",
    "set": "gpu.tdp_w=99", "settings": "settings.csv", "shape": "gpu",
    "shard": "2/9", "share": "mig:1g.5gb",
    "epoch-time": "9h", "step-time": "250ms", "throughput": "700/s",
    "gpu-util": "40", "gpu-power": "200", "known": "none",
    "since": "2030-01", "site": "hpc", "sort": "-id", "startup": "9h", "idle-tail": "9h", "isa": "avx2", "stabilise": "regime",
    "split-idle": "2s", "stable": "3",
    "start": "2024-03-05", "start-within": "24h", "suggest": None, "table": "runs.csv", "target": "epoch_energy_j",
    "title": "x", "tokens": "1e9", "top": "1", "totals": "totals.csv", "train-samples": "1000",
    "truncate-watts": None, "until": "2001-01", "use-gpus": "1",
    "user": "nobody", "utilisation": "0.5",
    "utilization": "0.5", "val-samples": "77777",
    "fine-tune": "head", "train-tokens": "1e9", "optimizer": "sgd",
    "checkpointing": "full", "attention": "eager", "sharding": "zero2",
    "replicas": "1", "beams": "2", "weight-bytes": "0.6",
    "kv-bytes": "1.5", "tensor-parallel": "1", "pipeline-parallel": "1", "virtual-stages": "1",
    "expert-parallel": "1", "context-parallel": "1", "grad-accum": "2",
    "global-batch": "48", "stack": "compiled", "network": "200",
    "gpus-per-node": "4", "weight": "gpu_power_w", "where": "zz=1", "width": "60", "window": "2",
    "with": "runs.csv", "cores": "4", "cpu": "epyc-7742", "sockets": "2", "threads-per-core": "2",
    "allow-none": None, "cpu-tdp": "100", "extrapolate": None,
    "force": None, "serve": "0", "join": None, "no-trace": None,
    "pid": "1", "stop-over-budget": None, "record --gpus": "0",
    "record --interval": "50ms", "compare --boundary": "node", "record --set": "lr=3",
    "list --where": "id=='a100'", "recommend --where": "memory_gb>40",
    "extract --columns": "timestamp,power.draw", "extract --epochs": None,
    "extract --set": "lr=3", "plot --by": "n_gpus", "report --by": "account",
    "report --gpu": "a100", "report --from": "sacct",
    "step --method": "step-power", "step --from": "epochs",
    "fit --method": "krr", "plot --score": "median_ape",
}

TRAINING = "predict -a resnet50 -g a100"
INFERENCE = ("predict -a llama-2-7b -g a100 --phase inference "
             "--prompt-tokens 500 --output-tokens 50")
FIT = "fit runs.csv --target gpu_power_w"
RECORD = "record --duration 300ms --trace t.csv"
BASES = [
    TRAINING, TRAINING + " --method tdp --duration 1h",
    "predict -a sdxl -g a100 --phase inference",
    TRAINING + " --method flops", TRAINING + " -f csv",
    TRAINING + " --node dgx-a100", TRAINING + " -b 16,64",
    "predict -a gpt2 -g a100 --tokens 1e9", INFERENCE,
    "predict --input runs.csv",
    "recommend -a resnet50 -g a100,t4", "recommend --table runs.csv",
    "recommend -a resnet50 --node dgx-a100",
    "compare runs.csv --bootstrap 200",
    "compare runs.csv --methods flops --bootstrap 0",
    FIT + " --method ridge --with none",
    FIT + " --features log(macs_g),gpu.tdp_w --method ols --cv kfold:3",
    FIT + " --features log(macs_g) --no-model",
    "fit runs.csv --means table.csv", "calibrate runs.csv",
    "calibrate runs.csv --suggest",
    "extract gpu-7.csv memory-7.csv -f csv", "extract --epochs gpu-7.csv",
    "step epochs.csv --epochs 50", "step gpu-7.csv --epochs 50",
    "step epochs.csv --epochs 50 --method carbontracker",
    "report sacct.txt", "report sacct.txt --by user",
    "list gpus", "list methods", "show gpu a100", "show arch gpt2",
    RECORD, RECORD + " -o row.csv",
    "check lab-card.xml", "describe tiny-cnn.onnx",
    "describe tiny-cnn.onnx -f csv", "plot trace gpu-7.csv --script",
    "plot pareto front.csv --script", "plot errors scores.csv --script",
]

# BASE-START --OPTION where the option says what holds anyway: the value is the
# default, or the data have nothing that it applies to (gaps, a second run of
# the same kind, logs without times, jobs without energy, a name to replace).
# CNNs on one GPU do not depend on what trains a large model; energies do not
# depend on what changes the memory alone.
OF_LARGE = {"attention", "gpus-per-node", "grad-accum", "network", "optimizer",
            "pipeline-parallel", "sharding", "stack", "tensor-parallel",
            "replicas", "virtual-stages", "expert-parallel",
            "context-parallel"}
EXPECTED = {
    "predict -a resnet50 -g a100 -b 16,64": {"batch-size", "alias", "optimizer",
                                            "stack", "grad-accum",
                                            "global-batch"},
    # measured power times time is the energy
    "predict --input": {"scaling", "seq-len", "alias", "framework", "loader",
                        "loader-workers", "augmentation"} | OF_LARGE,
    "predict -a resnet50 -g a100 -f csv": {"optimizer", "stack", "grad-accum"},
    "predict -a llama": {"budget-kwh"},
    "recommend -a": {"all", "gpu", "alias", "checkpointing"} | OF_LARGE,
    "recommend --table": {"image-px", "seq-len", "coverage", "all", "alias",
                          "set"},
    "compare": {"scaling", "seq-len", "alias", "precision",
                "loader", "loader-workers", "augmentation"} | OF_LARGE,
    "fit": {"no-log", "weight", "alias", "set"},
    "extract": {"join", "from", "gaps", "interval", "max-gap", "no-join", "set", "split-idle",
                "settings", "epoch-length"},
    # The process 1 outlives a recording, epochs are projected later, and there
    # is no file to replace.
    "record --duration 300ms --trace t.csv -o": {
        "pid", "allow-none", "epochs", "force"},
    "record --duration 300ms --trace t.csv": {
        "pid", "allow-none", "epochs", "force", "set"},
    "step": {"window", "epoch-length", "interval", "k"},
    "report": {"from", "gpu", "cpu", "threads-per-core", "core-power",
               "node-power"},
    "plot": {"as", "from", "epoch-length"},
}


def options_of(dlest, command):
    env = dict(os.environ, COLUMNS="400")
    text = subprocess.run([dlest, command, "--help"], capture_output=True,
                          text=True, env=env, check=True).stdout
    names = []
    for line in text.split("\nExamples:\n")[0].splitlines():
        line = line.strip()
        if not line.startswith("-"):
            continue
        for word in line.split("   ")[0].replace(",", " ").split():
            if word.startswith("--"):
                names.append(word[2:].split("=")[0])
    return [n for n in names if n not in SKIPPED]


def full(words):
    """With all that text leaves out."""
    if {"-f", "--means"} & set(words):
        return words
    if {"--input", "16,64"} & set(words):
        return words + ["--all"]
    return words + {"predict": ["--all", "--explain"], "fit": ["--details"],
                    "step": ["--details"], "compare": ["--details"],
                    "recommend": ["--all", "--explain"],
                    "report": ["--all", "--explain"]}.get(words[0], [])


def plain(text):
    """What of a recording does not depend on time: texts without numbers, of a
    table its header and whether there are more than four samples."""
    lines = text.splitlines()
    samples = [line for line in lines if re.match(rb"\d{4}-\d\d-", line)]
    return ([re.sub(rb"[0-9.e+-]*[0-9]", b"#", re.sub(rb" +", b" ", line))
             for line in lines if line not in samples], len(samples) > 4)


def run(dlest, words, folder):
    """Exit status, stdout, stderr and files written, without provenance."""
    shutil.copytree("inputs", folder)
    before = set(os.listdir(folder))
    done = subprocess.run([dlest] + words, cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=300, check=False)
    written = {}
    for name in sorted(set(os.listdir(folder)) - before):
        with open(os.path.join(folder, name), "rb") as f:
            written[name] = [line for line in f if b"options=" not in line
                             or b"citation" in line]
    shutil.rmtree(folder)
    if words[0] == "record":
        return (done.returncode, plain(done.stdout), plain(done.stderr),
                {n: plain(b"".join(t)) for n, t in written.items()})
    return done.returncode, done.stdout, done.stderr, written


def make_inputs(dlest, examples):
    shutil.copytree(examples, "inputs")
    for name, words in (
            ("scores.csv", "compare runs.csv --methods tdp,flops -f csv"),
            ("front.csv", "recommend -a resnet50 -g a100,t4 -f csv")):
        with open(os.path.join("inputs", name), "wb") as f:
            subprocess.run([dlest] + words.split() + ["-q"], cwd="inputs",
                           stdout=f, check=True)
    subprocess.run([dlest] + (FIT + " --method ridge --with none -q -o m.xml")
                   .split(), cwd="inputs", stdout=subprocess.DEVNULL,
                   check=True)
    for name, text in (("names", "memory-7.csv\n"),
                       ("accuracy.csv", "arch,accuracy\nresnet50,0.8\n"),
                       ("hours.csv", "timestamp,g_per_kwh\n"
                        + "".join("%d-01-01T00:00Z,%d\n" % (y, y - 1900)
                                  for y in range(2000, 2060))),
                       ("settings.csv", "file,lr\ngpu-7.csv,3\n")):
        with open(os.path.join("inputs", name), "w", encoding="ascii") as f:
            f.write(text)


def is_expected(base, name):
    return any(base.startswith(start) and name in names
               for start, names in EXPECTED.items())


def main():
    dlest, examples = sys.argv[1:3]
    os.environ["OMP_NUM_THREADS"] = "1"  # each core has a process
    make_inputs(dlest, examples)
    silent, tried = [], []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for base in BASES:
            words = base.split()
            plains = {}
            for shown in (words, full(words)):
                plains[len(shown)] = pool.submit(run, dlest, shown,
                                                 "run-%d" % len(tried))
                tried.append(None)
            for name in options_of(dlest, words[0]):
                if "--" + name in words:
                    continue
                key = "%s --%s" % (words[0], name)
                value = VALUES[key] if key in VALUES else VALUES[name]
                more = ["--" + name] + ([] if value is None else [value])
                shown = (words if name in ("all", "explain", "details")
                         else full(words))
                tried.append((base, name, plains[len(shown)], pool.submit(
                    run, dlest, shown + more, "run-%d" % len(tried))))
        for base, name, plain, job in filter(None, tried):
            if plain.result()[0] not in (0, 3):
                sys.exit("dlest %s fails: %s" % (base, plain.result()[2]))
            if plain.result() == job.result() and not is_expected(base, name):
                silent.append("dlest %s --%s" % (base, name))
    print("\n".join(sorted(set(silent))))
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
