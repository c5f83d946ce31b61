#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times the commands that read millions of rows, and how times grow.

rows.py --dlest PATH [--quick] [--only COMMAND]

  predict --input       10,000,000 rows, by physical
  extract --files-from  100,000 logs of 20 samples
  compare               1,000,000 measured runs

each also with a hundredth and a tenth of that, in processor time, since the
clock depends on what else runs. README.md has the figures.
"""

import argparse
import math
import os
import random
import sys
import tempfile

import run
from fit import measure


def log_text(k):
    """20 samples; no two logs are the same, since a copy counts once."""
    head = "timestamp, name, power.draw [W], utilization.gpu [%]\n"
    day = "2024/%02d/%02d %02d:%02d" % (
        1 + k // 40320 % 12, 1 + k // 1440 % 28, k // 60 % 24, k % 60)
    return head + "".join(
        "%s:%02d.000, NVIDIA A100, %d.50 W, %d %%\n"
        % (day, i, 200 + (i + k) % 97, 50 + (i * k) % 50) for i in range(20))


def write_logs(folder, n):
    """Logs of nvidia-smi in folders of 1,000, and their list."""
    names = os.path.join(folder, "logs.txt")
    with open(names, "w", encoding="ascii") as f:
        for i in range(n):
            place = os.path.join(folder, "logs-%d" % (i // 1000))
            if i % 1000 == 0:
                os.mkdir(place)
            path = os.path.join(place, "log-%d.csv" % i)
            with open(path, "w", encoding="ascii") as log:
                log.write(log_text(i))
            f.write(path + "\n")
    return names


def repeat(path, n):
    """Writes the rows of a table again and again until there are n."""
    with open(path, encoding="ascii") as f:
        _, *rows = f.readlines()
    block = "".join(rows)
    with open(path, "a", encoding="ascii") as f:
        for _ in range(n // len(rows) - 1):
            f.write(block)
    return path


def write_measured(folder, n):
    """Runs with a measured energy, of 6 architectures on 6 GPUs."""
    path = os.path.join(folder, "measured.csv")
    rng = random.Random(6)
    archs = ("resnet50", "vgg16", "mobilenetv2_100", "inception_v3",
             "efficientnet_b0", "densenet121")
    gpus = ("a100", "v100", "rtx-3090", "t4", "h100", "rtx-2080-ti")
    with open(path, "w", encoding="ascii") as f:
        f.write("arch,gpu,batch_size,epochs,train_samples,energy_j,boundary\n")
        for i in range(min(n, 10000)):
            f.write("%s,%s,%d,10,50000,%.6g,gpu\n" % (
                archs[i % 6], gpus[i // 6 % 6], 16 << (i // 36 % 4),
                1e6 * math.exp(rng.gauss(0, 1))))
    return repeat(path, n)


def write_rows(folder, n):
    path = os.path.join(folder, "runs.csv")
    run.write_runs(path, min(n, 100000))
    return repeat(path, n)


# command, rows in full and when quick, the word for a row, the input, arguments
CASES = (("predict", 10000000, 20000, "rows", write_rows,
          ("predict", "--method", "physical", "--input")),
         ("extract", 100000, 2000, "logs", write_logs,
          ("extract", "--files-from")),
         ("compare", 1000000, 20000, "rows", write_measured, ("compare",)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=[c[0] for c in CASES])
    o, _ = parser.parse_known_args()
    for name, full, quick, word, write, arguments in CASES:
        if o.only and o.only != name:
            continue
        most, times = quick if o.quick else full, []
        for n in (most // 100, most // 10, most):
            with tempfile.TemporaryDirectory(prefix="dlest-bench.") as folder:
                path = write(folder, n)
                tail = [path] + (["-f", "csv"] if name != "compare" else [])
                wall, cpu, memory = measure([o.dlest, *arguments, *tail, "-q"])
            times.append(cpu)
            print("%s, %d %s: %s, %s of processors, %.0f %s/s of one, "
                  "%.0f MB resident" % (name, n, word, run.ms(wall),
                                        run.ms(cpu), n / cpu, word, memory),
                  flush=True)
        print("%s: exponent of growth from a tenth %.2f"
              % (name, math.log10(times[2] / times[1])), flush=True)


if __name__ == "__main__":
    main()
