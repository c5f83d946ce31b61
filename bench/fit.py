#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times dlest fit on tables made from a formula, and how times grow.

fit.py --dlest PATH [--quick] [--method NAME]

A row is a training of an architecture of the catalogue on one of its GPUs:

  compute = 3 * 2 * MACs * samples / (0.4 peak)      s an epoch
  host    = 0.02 s a step,  time = sqrt(compute^2 + host^2) + 1 s
  power   = TDP * (0.3 + 0.6 compute / time)

times exp(e) of a GPU (sd 0.1), an architecture (0.1), both together (0.05)
and a run (0.02), from a fixed seed. README.md has the aims.
"""

import argparse
import csv
import io
import math
import os
import random
import subprocess
import sys
import tempfile
import time

# rows, GPUs, architectures, batch sizes: their product is the number of
# configurations; and the aim, s
TABLES = ((857, 3, 3, 5, 2.0), (2500, 5, 20, 5, 3.0), (10000, 10, 40, 5, 10.0),
          (90000, 3, 3, 5, 2.0))
QUICK = ((100, 3, 3, 3, 10.0), (200, 3, 4, 4, 10.0))


def catalogue(dlest, kind, needs):
    """Entries of the catalogue that have numbers for `needs`."""
    text = subprocess.run([dlest, "list", kind, "--format", "csv"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    rows = csv.DictReader(io.StringIO(text))
    return [r for r in rows if all(r[n] for n in needs)]


def spread(entries, n):
    """n of the entries, evenly spaced."""
    return [entries[i * len(entries) // n] for i in range(n)]


def make(dlest, path, n, shape):
    gpus = spread([g for g in catalogue(dlest, "gpus", (
        "tdp_w", "peak_fp32_tflops", "bandwidth_gb_s"))
        if g["vendor"] == "nvidia" and float(g["peak_fp32_tflops"]) > 5],
        shape[0])
    archs = spread([a for a in catalogue(dlest, "archs", (
        "macs_g", "acts_m", "params_m", "image_px"))
        if a["image_px"] == "224" and float(a["macs_g"]) > 0.2], shape[1])
    rng = random.Random(1)
    settings = [(g, a, 8 << b) for g in gpus for a in archs
                for b in range(shape[2])]
    off = {}
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow("gpu arch batch_size image_px train_samples epochs "
                     "gpu_power_w epoch_s epoch_energy_j boundary".split())
        for i in range(n):
            g, a, batch = settings[i % len(settings)]
            samples = 50000
            compute = (6e9 * float(a["macs_g"]) * samples
                       / (0.4e12 * float(g["peak_fp32_tflops"])))
            seconds = math.hypot(compute, 0.02 * samples / batch) + 1
            power = float(g["tdp_w"]) * (0.3 + 0.6 * compute / seconds)
            for key, sd in ((g["id"], 0.1), (a["id"], 0.1),
                            (g["id"] + a["id"], 0.05)):
                if key not in off:
                    off[key] = rng.gauss(0, sd), rng.gauss(0, sd / 3)
                seconds *= math.exp(off[key][0])
                power *= math.exp(off[key][1])
            seconds *= math.exp(rng.gauss(0, 0.02))
            power *= math.exp(rng.gauss(0, 0.02))
            out.writerow([g["id"], a["id"], batch, 224, samples, 1,
                          "%.6g" % power, "%.6g" % seconds,
                          "%.8g" % (power * seconds), "gpu"])


def fit(dlest, path, method):
    """Seconds by the clock and of processors, and most memory, MB."""
    command = [dlest, "fit", path, "--no-model", "--quiet", "--format", "json"]
    if method:
        command += ["--method", method]
    start = time.perf_counter()
    with open(os.devnull, "wb") as null:
        with subprocess.Popen(command, stdout=null,
                              stderr=subprocess.PIPE) as process:
            err = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("fit.py: %s" % err.decode())
    return (time.perf_counter() - start, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024 / 1e6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--method", default="physical")
    options, _ = parser.parse_known_args()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for n, *shape, aim in QUICK if options.quick else TABLES:
            path = os.path.join(folder, "runs.csv")
            make(options.dlest, path, n, shape)
            wall, cpu, memory = fit(options.dlest, path, options.method)
            configs = min(n, shape[0] * shape[1] * shape[2])
            times[n, configs] = cpu
            print("fit %6d rows of %4d configurations: %6.2f s (aim %g), "
                  "%6.2f s of processors, %4.0f MB"
                  % (n, configs, wall, aim, cpu, memory), flush=True)
    for what, of in (("rows", 0), ("configurations", 1)):
        by = sorted((key[of], cpu) for key, cpu in times.items()
                    if of == 1 or key[1] == min(k[1] for k in times))
        if len(by) > 1:
            print("exponent of growth with %s: %.2f"
                  % (what, math.log(by[-1][1] / by[0][1])
                     / math.log(by[-1][0] / by[0][0])))


if __name__ == "__main__":
    main()
