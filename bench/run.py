#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times dlest, and where they are installed scikit-learn and pandas beside it.

run.py --dlest PATH --krr PATH [--repeats N] [--quick]

Every comparison is a ratio of medians of runs that alternate, with both
absolute times. See README.md.
"""

import argparse
import datetime
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = os.path.join(HERE, "peer.py")
FEATURES = ["x%d" % i for i in range(1, 11)]


def run(command):
    """Seconds and most resident memory (MB) of a command, and its output."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        out = process.stdout.read()
        err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit("run.py: %s: %s" % (" ".join(command), err.decode()))
    return seconds, usage.ru_maxrss * 1024 / 1e6, out


def peer(*task):
    """The same for a task of peer.py; the output as an object."""
    seconds, _, out = run([PYTHON, PEER, *task])
    return seconds, json.loads(out)


def find_python():
    """A Python that has scikit-learn and pandas, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import sklearn, pandas"],
                          stderr=subprocess.DEVNULL, check=False
                          ).returncode == 0:
            return python
    return None


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        lines = info.read().splitlines()
    model = next((x.split(":", 1)[1].strip() for x in lines
                  if x.startswith("model name")), platform.processor())
    flags = next((x for x in lines if x.startswith("flags")), "").split()
    vectors = [f for f in ("avx2", "avx512f") if f in flags]
    return "%s, %d cores, %s" % (model, len(os.sched_getaffinity(0)),
                                 " ".join(vectors) or "no AVX2")


def write_ols(path, rows):
    """y = 1 x1 + ... + 10 x10 + noise."""
    rng = random.Random(1)
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(FEATURES) + ",y\n")
        for _ in range(rows):
            x = [rng.gauss(0, 1) for _ in FEATURES]
            y = sum((i + 1) * v for i, v in enumerate(x)) + rng.gauss(0, 1)
            f.write(",".join("%.6f" % v for v in x) + ",%.6f\n" % y)


def write_krr(path, rows, target):
    rng = random.Random(2 if target else 3)
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(FEATURES) + (",y\n" if target else "\n"))
        for _ in range(rows):
            x = ["%.6f" % rng.gauss(0, 1) for _ in FEATURES]
            f.write(",".join(x) + (",%.6f\n" % rng.gauss(0, 1) if target
                                   else "\n"))


def write_runs(path, rows):
    """Settings of runs for dlest predict --input."""
    rng = random.Random(4)
    archs = ["resnet50", "vgg16", "mobilenetv2_100", "inception_v3",
             "efficientnet_b0", "densenet121"]
    gpus = ["a100", "v100", "rtx-3090", "t4", "h100", "rtx-2080-ti"]
    with open(path, "w", encoding="ascii") as f:
        f.write("run_id,arch,gpu,batch_size,epochs,train_samples,val_samples,"
                "image_px\n")
        for i in range(rows):
            f.write("run%d,%s,%s,%d,%d,%d,%d,%d\n" %
                    (i, rng.choice(archs), rng.choice(gpus),
                     2 ** rng.randint(4, 9), rng.randint(1, 100),
                     rng.randint(1000, 100000), rng.randint(0, 10000),
                     rng.choice((128, 160, 224, 256))))


def write_measured(path):
    """A table like pre-runs.csv: 857 runs of 49 configurations."""
    rng = random.Random(5)
    names = ["z_%d" % i for i in range(10)]
    configs = [[rng.gauss(0, 1) for _ in names] for _ in range(49)]
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(names) + ",y_avg_gpu_power_W\n")
        for i in range(857):
            z = configs[i % 49]
            y = 200 + 50 * z[0] + 20 * z[1] * z[2] + rng.gauss(0, 3)
            f.write(",".join("%.9f" % v for v in z) + ",%.9f\n" % y)


def measured(folder):
    """The 857-row table, its name for people, and its features."""
    top = os.environ.get("MEASURED_RUNS",
                         os.path.join(HERE, "..", "..", "shared", "data"))
    path = os.path.join(top, "delrey2024", "pre-runs.csv")
    name = "delrey2024/pre-runs.csv"
    if not os.path.exists(path):
        path = os.path.join(folder, "measured.csv")
        write_measured(path)
        name = "a synthetic table of its shape"
    with open(path, encoding="utf-8") as f:
        columns = f.readline().strip().split(",")
    return path, name, [c for c in columns if c.startswith("z_")]


def ms(seconds):
    return "%.2f ms" % (1000 * seconds) if seconds < 1 else "%.2f s" % seconds


def report(what, ours, theirs, target):
    """One line a comparison; ours and theirs are lists of seconds."""
    a = statistics.median(ours)
    line = "%-58s dlest %10s" % (what, ms(a))
    if theirs:
        b = statistics.median(theirs)
        line += "  peer %10s  ratio %6.1f  (aim %s)" % (ms(b), b / a, target)
    else:
        line += "  (aim %s)" % target
    print(line, flush=True)


def bench_cold(o, _folder):
    """The second architecture stands at the end of the catalogue."""
    for arch in ("resnet50", "xcit_tiny_24_p8_384"):
        command = [o.dlest, "predict", "--arch", arch, "--gpu", "a100", "-q"]
        times = [run(command)[0] for _ in range(10 * o.repeats)]
        report("cold predict --arch %s --gpu a100" % arch, times, [], "10 ms")


def bench_search(o, folder):
    path, name, features = measured(folder)
    command = [o.dlest, "fit", path, "--target", "y_avg_gpu_power_W",
               "--features", ",".join(features), "--no-scale", "--method",
               "krr", "--cv", "kfold:5", "--search", "random:100",
               "--no-model", "-q"]
    ours, whole, work, work2 = [], [], [], []
    for _ in range(o.repeats):
        ours += [run(command)[0] for _ in range(5)]
        if PYTHON:
            seconds, said = peer("search", path, "1")
            whole.append(seconds)
            work.append(said["work"])
            work2.append(peer("search", path, "2")[1]["work"])
    print("  (on %s; dlest also cross-validates and scores the best)" % name)
    what = "random search, krr, 100 x 5 folds: "
    report(what + "n_jobs=1, process", ours, whole, "50")
    if PYTHON:
        report(what + "n_jobs=1, no imports", ours, work, "50")
        report(what + "n_jobs=2, no imports", ours, work2, "-")


def write_repeats(path, rows):
    """Five runs of each of rows / 5 configurations."""
    rng = random.Random(6)
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(FEATURES) + ",y\n")
        for _ in range(rows // 5):
            x = [round(rng.gauss(0, 1), 6) for _ in FEATURES]
            mean = sum(x) + x[0] * x[1]
            for _ in range(5):
                f.write(",".join("%.6f" % v for v in x) +
                        ",%.6f\n" % (mean + rng.gauss(0, 0.1)))


def spread(low, high, n):
    """n numbers at equal ratios."""
    return ",".join("%.17g" % (low * (high / low) ** (i / (n - 1)))
                    for i in range(n))


def bench_grid(o, folder):
    """Grids of 13 and of 7 x 7; scikit-learn's kernel ridge takes a 49th of its
    grid, since all of it takes a quarter of an hour."""
    rows = 1000 if o.quick else 10000
    path = os.path.join(folder, "repeats.csv")
    write_repeats(path, rows)
    peers = {"ridge": (13, spread(1e-6, 1e4, 13), "0", 1),
             "krr": (7, "0.01", "0.1", 49)}
    for method, (n, alphas, gammas, parts) in peers.items():
        command = [o.dlest, "fit", path, "--target", "y", "--features",
                   ",".join(FEATURES), "--no-scale", "--method", method, "--cv",
                   "kfold:5", "--search", "grid:%d" % n, "--no-model", "-q"]
        ours, theirs = [], []
        for _ in range(1 if parts > 1 else o.repeats):
            ours.append(run(command)[0])
            if PYTHON:
                theirs.append(parts * peer("grid", path, method, alphas,
                                           gammas)[1]["work"])
        report("%s, grid of %d, 5 folds, %d rows, no imports" % (
            method, n ** (1 + (method == "krr")), rows), ours, theirs, "-")


def bench_ols(o, folder):
    rows = 100000 if o.quick else 1000000
    path = os.path.join(folder, "ols.csv")
    write_ols(path, rows)
    command = [o.dlest, "fit", path, "--target", "y", "--features",
               ",".join(FEATURES), "--method", "ols", "--cv", "none",
               "--no-model", "-q"]
    ours, whole, work = [], [], []
    for _ in range(o.repeats):
        ours.append(run(command)[0])
        if PYTHON:
            seconds, said = peer("ols", path)
            whole.append(seconds)
            work.append(said["work"])
    what = "ols from CSV, %d x 10: " % rows
    report(what + "process", ours, whole, "3")
    if PYTHON:
        report(what + "no imports", ours, work, "3")
    os.unlink(path)


def bench_krr(o, folder):
    rows = 10000 if o.quick else 100000
    support = os.path.join(folder, "support.csv")
    path = os.path.join(folder, "rows.csv")
    write_krr(support, 857, True)
    write_krr(path, rows, False)
    ours, theirs = [], []
    for _ in range(o.repeats):
        *times, total = run([o.krr, support, path, "3"])[2].split(b"\n")[:-1]
        ours += [float(t) for t in times]
        if PYTHON:
            said = peer("krr", support, path, "3")[1]
            theirs += said["times"]
            if abs(float(total.split()[1]) - said["sum"]) > 1e-6 * rows:
                sys.exit("run.py: the predictions differ")
    report("krr predict, %d rows on 857, library call" % rows, ours, theirs,
           "10")


def bench_batch(o, folder):
    rows = 100000 if o.quick else 1000000
    path = os.path.join(folder, "runs.csv")
    out = os.path.join(folder, "estimates.csv")
    write_runs(path, rows)
    times, memory = [], 0
    for _ in range(o.repeats):
        seconds, most, _ = run([o.dlest, "predict", "--input", path,
                                "--format", "csv", "-o", out, "-q"])
        times.append(seconds)
        memory = max(memory, most)
    median = statistics.median(times)
    with open(out, "rb") as f:
        estimates = sum(1 for _ in f) - 1
    print("batch predict, %d rows: %s, %.0f rows/s, %.0f estimates/s, "
          "%.1f MB resident (aim 500000 estimates/s, 50 MB)" %
          (rows, ms(median), rows / median, estimates / median, memory))
    os.unlink(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--krr", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true",
                        help="smaller tables, to see that all of it runs")
    parser.add_argument("--only", help="one line: cold, search, grid, ...")
    o = parser.parse_args()
    version = run([o.dlest, "--version"])[2].decode().split("\n")[0]
    print("%s, %s" % (datetime.date.today(), version))
    print(processor())
    if PYTHON:
        said = json.loads(run([PYTHON, PEER, "versions"])[2])
        print(", ".join("%s %s" % x for x in said.items()))
    else:
        print("scikit-learn or pandas is not installed: dlest's own times "
              "only (Debian: python3-sklearn, python3-pandas)")
    print("load %.2f; medians of %d repetitions" %
          (os.getloadavg()[0], o.repeats), flush=True)
    with tempfile.TemporaryDirectory(prefix="dlest-bench.") as folder:
        for bench in (bench_cold, bench_search, bench_grid, bench_ols,
                      bench_krr, bench_batch):
            if not o.only or bench.__name__ == "bench_" + o.only:
                bench(o, folder)


PYTHON = find_python()
if __name__ == "__main__":
    main()
