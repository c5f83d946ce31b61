#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let single allocations fail, and judge what dlest does.

A run must report 'out of memory' and exit with 1, with whole files or none, or
do exactly what it does without the failure: the same output, messages, files
and exit status.

  malloc_failures.py DLEST LIBRARY SOURCE [--seed N] [--runs N] [--every]
                     [--all] [--only NAME]

LIBRARY is failing_malloc.so, SOURCE the source tree."""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

MOST = 2000  # allocations of a command that are tried

COMMANDS = {
    "predict": "predict --arch resnet50 --gpu a100",
    "predict-all": "predict --arch vgg16 --gpu v100,a100 --batch-size 32,64 "
                   "--method all --format json",
    "predict-table": "predict --input {data}/examples/runs.csv --format csv "
                     "-o out.csv",
    "list": "list gpus --format csv",
    "show": "show gpu a100 --format json",
    "fit": "fit {data}/examples/runs.csv --method ols --target gpu_power_w "
           "--features log(batch_size),log(macs_g) --cv kfold:3 -o m.xml",
    "compare": "compare {data}/examples/runs.csv --method tdp,flops,physical "
               "--format json",
    "extract": "extract {data}/examples/gpu-7.csv {data}/examples/memory-7.csv "
               "--format csv -o runs.csv",
    "report": "report {data}/examples/sacct.txt --by user --format json",
    "step": "step {data}/examples/epochs.csv --epochs 40 --format json",
    "recommend": "recommend --arch resnet50,vgg16 --gpu a100,v100 "
                 "--batch-size 32,64 --format csv",
    "check": "check {data}/examples/lab-card.xml",
    "describe": "describe {data}/examples/tiny-cnn.onnx",
}


class Runner:
    def __init__(self, options):
        self.dlest = os.path.abspath(options.dlest)
        self.library = os.path.abspath(options.library)
        self.source = os.path.abspath(options.source)
        self.all = options.all

    def run(self, name, fail_at):
        """Exit status, standard output, messages and files."""
        folder = tempfile.mkdtemp(prefix="dlest-malloc.")
        counter = os.path.join(folder, "..", os.path.basename(folder) + ".n")
        data = os.path.join(self.source, "data")
        env = {"PATH": os.environ["PATH"], "HOME": folder,
               "XDG_CONFIG_HOME": folder, "DLEST_DATADIR": self.source,
               "OMP_NUM_THREADS": "1", "LD_PRELOAD": self.library,
               "FAIL_MALLOC_AT": str(fail_at), "FAIL_MALLOC_COUNT": counter}
        if self.all:
            env["FAIL_MALLOC_ALL"] = "1"
        try:
            done = subprocess.run(
                [self.dlest] + COMMANDS[name].format(data=data).split(),
                cwd=folder, env=env, capture_output=True, timeout=60,
                check=False)
            files = {f: open(os.path.join(folder, f), "rb").read()
                     for f in sorted(os.listdir(folder))}
            count = 0
            if os.path.exists(counter):
                count = int(open(counter).read())
                os.unlink(counter)
            return (done.returncode, done.stdout, done.stderr, files), count
        except subprocess.TimeoutExpired:
            return ("timeout", b"", b"", {}), 0
        finally:
            shutil.rmtree(folder)


def judge(plain, got):
    """What is wrong with a run; None where nothing is."""
    if got == plain:
        return None
    if got[0] == 1 and b"out of memory" in got[2].lower():
        whole = all(plain[3].get(f) == text for f, text in got[3].items())
        return None if whole else "leaves another file"
    if got[0] != plain[0]:
        said = got[2].decode(errors="replace").strip().split("\n")[-1]
        return "exit status %s: %s" % (got[0], said)
    for i, what in ((1, "output"), (2, "messages"), (3, "files")):
        if got[i] != plain[i]:
            return "other " + what
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dlest")
    parser.add_argument("library")
    parser.add_argument("source")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--every", action="store_true",
                        help="each allocation of each command")
    parser.add_argument("--all", action="store_true",
                        help="those of libraries, too")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    runner = Runner(options)
    rng = random.Random(options.seed)
    names = [n for n in COMMANDS if options.only in n]
    tries, plain = [], {}
    for name in names:
        plain[name], count = runner.run(name, 0)
        if name == "describe" and b"without ONNX" in plain[name][2]:
            continue
        if plain[name][0] not in (0, 3) or count == 0:
            print("%s: does not run: %s" % (name, plain[name][2].decode()))
            return 1
        last = min(count, MOST)
        places = range(1, last + 1)
        if not options.every:
            places = sorted(rng.sample(places, min(
                last, options.runs // len(names))))
        tries += [(name, n) for n in places]
    bad = 0
    with ThreadPoolExecutor(2) as pool:
        for (name, n), (got, _) in zip(tries, pool.map(
                lambda t: runner.run(*t), tries)):
            fault = judge(plain[name], got)
            if fault:
                bad += 1
                print("%s: allocation %d fails: %s" % (name, n, fault))
    print("%d runs, %d faults (seed %d)" % (len(tries), bad, options.seed))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
