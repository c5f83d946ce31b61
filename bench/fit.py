#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times dlest fit on tables made from a formula, and how times grow.

fit.py --dlest PATH [--quick] [--method NAME] [--calibrate]

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

# rows; GPUs, architectures, batch sizes, whose product is the number of
# configurations; rows, GPUs and architectures of a background in place of the
# one that ships; the aim, s
TABLES = ((857, (3, 3, 5), None, 2.0), (2500, (5, 20, 5), None, 3.0),
          (10000, (10, 40, 5), None, 10.0), (90000, (3, 3, 5), None, 2.0),
          (857, (3, 3, 5), (3000, 80, 120), 5.0),
          (1000000, (20, 100, 5), None, 60.0))
# of calibrate, in processor time
CALIBRATED = ((100, (4, 5, 5), None, 1.0), (800, (4, 40, 5), None, 3.0),
              (10000, (20, 100, 5), None, 60.0))
QUICK = ((100, (3, 3, 3), None, 10.0), (200, (3, 4, 4), None, 10.0),
         (100, (3, 3, 3), (100, 8, 10), 10.0))


def catalogue(dlest, kind, needs):
    """Entries of the catalogue that have numbers for `needs`."""
    text = subprocess.run([dlest, "list", kind, "--format", "csv"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    rows = csv.DictReader(io.StringIO(text))
    return [r for r in rows if all(r[n] for n in needs)]


def spread(entries, n):
    """n of the entries, evenly spaced."""
    return [entries[i * len(entries) // n] for i in range(n)]


class Made:
    """Trainings by the formula, with effects from a fixed seed."""

    def __init__(self, dlest, n_gpus, n_archs, seed):
        gpus = [g for g in catalogue(dlest, "gpus", (
            "tdp_w", "peak_fp32_tflops", "bandwidth_gb_s"))
            if float(g["peak_fp32_tflops"]) > 5]
        archs = [a for a in catalogue(dlest, "archs", (
            "macs_g", "acts_m", "params_m", "image_px"))
            if a["image_px"] == "224" and float(a["macs_g"]) > 0.2]
        nvidia = [g for g in gpus if g["vendor"] == "nvidia"]
        self.gpus = spread(nvidia if n_gpus <= len(nvidia) else gpus, n_gpus)
        self.archs = spread(archs, n_archs)
        self.rng = random.Random(seed)
        self.off = {}

    def run(self, gpu, arch, batch, samples):
        """Power, W, and seconds of an epoch."""
        compute = (6e9 * float(arch["macs_g"]) * samples
                   / (0.4e12 * float(gpu["peak_fp32_tflops"])))
        seconds = math.hypot(compute, 0.02 * samples / batch) + 1
        power = float(gpu["tdp_w"]) * (0.3 + 0.6 * compute / seconds)
        gauss = self.rng.gauss
        for key, sd in ((gpu["id"], 0.1), (arch["id"], 0.1),
                        (gpu["id"] + arch["id"], 0.05)):
            if key not in self.off:
                self.off[key] = gauss(0, sd), gauss(0, sd / 3)
            seconds *= math.exp(self.off[key][0])
            power *= math.exp(self.off[key][1])
        return (power * math.exp(gauss(0, 0.02)),
                seconds * math.exp(gauss(0, 0.02)))


def make(dlest, path, n, shape):
    """Runs: n of them, repeats of the configurations of a shape."""
    made = Made(dlest, shape[0], shape[1], 1)
    settings = [(g, a, 8 << b) for g in made.gpus for a in made.archs
                for b in range(shape[2])]
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow("gpu arch batch_size image_px train_samples epochs "
                     "gpu_power_w epoch_s epoch_energy_j boundary".split())
        for i in range(n):
            g, a, batch = settings[i % len(settings)]
            power, seconds = made.run(g, a, batch, 50000)
            out.writerow([g["id"], a["id"], batch, 224, 50000, 1,
                          "%.6g" % power, "%.6g" % seconds,
                          "%.8g" % (power * seconds), "gpu"])


def make_background(dlest, path, n, n_gpus, n_archs):
    """Means of other sources, as data/training-means.csv: each GPU with its
    share of the architectures in three batches."""
    made = Made(dlest, n_gpus, n_archs, 2)
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow("gpu arch framework batch_size image_px train_samples "
                     "epochs gpu_power_w epoch_s boundary source host doubt "
                     "n".split())
        for i in range(n):
            k = i % n_gpus
            g = made.gpus[k]
            a = made.archs[(7 * k + i // (3 * n_gpus)) % n_archs]
            batch = 32 << (i // n_gpus) % 3
            power, seconds = made.run(g, a, batch, 100000)
            out.writerow([g["id"], a["id"], "pytorch", batch, 224, 100000, 1,
                          "%.6g" % power if k % 2 else "", "%.6g" % seconds,
                          "gpu", "source%d" % (k % 5), "host-" + g["id"],
                          0.15, 3])


def measure(command):
    """Seconds by the clock and of processors, and most memory, MB."""
    start = time.perf_counter()
    with open(os.devnull, "wb") as null:
        with subprocess.Popen(command, stdout=null,
                              stderr=subprocess.PIPE) as process:
            err = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(err.decode())
    return (time.perf_counter() - start, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024 / 1e6)


def fit(dlest, path, method, background):
    command = [dlest, "fit", path, "--no-model", "--quiet", "--format", "json"]
    if method == "calibrate":
        model = path + ".xml"
        if os.path.exists(model):
            os.remove(model)
        return measure([dlest, method, path, "-o", model, "-q"])
    if method:
        command += ["--method", method]
    if background:
        command += ["--with", background]
    return measure(command)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--method", default="physical")
    parser.add_argument("--calibrate", action="store_const", dest="method",
                        const="calibrate")
    options, _ = parser.parse_known_args()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        tables = CALIBRATED if options.method == "calibrate" else TABLES
        for n, shape, more, aim in QUICK if options.quick else tables:
            path = os.path.join(folder, "runs.csv")
            make(options.dlest, path, n, shape)
            background = more and os.path.join(folder, "background.csv")
            if more:
                make_background(options.dlest, background, *more)
            wall, cpu, memory = fit(options.dlest, path, options.method,
                                    background)
            configs = min(n, shape[0] * shape[1] * shape[2])
            if not more:
                times[n, configs] = cpu
            print("%s %7d rows of %5d configurations%s: %6.2f s (aim %g), "
                  "%6.2f s of processors, %4.0f MB"
                  % (options.method, n, configs,
                     ", background of %d rows" % more[0]
                     if more else "", wall, aim, cpu, memory), flush=True)
    for what, of in (("rows", 0), ("configurations", 1)):
        by = sorted((key[of], cpu) for key, cpu in times.items()
                    if of == 1 or key[1] == min(k[1] for k in times))
        if len(by) > 1:
            print("exponent of growth with %s: %.2f"
                  % (what, math.log(by[-1][1] / by[0][1])
                     / math.log(by[-1][0] / by[0][0])))


if __name__ == "__main__":
    main()
