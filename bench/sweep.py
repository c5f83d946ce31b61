#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times sweeps of dlest predict: a million combinations on the command line.

sweep.py --dlest PATH [--repeats N] [--quick]

Rates are combinations a second by the clock, and by processor time on as many
cores as the sweep ran threads: on a machine that does something else too, only
the second says what dlest needs. Memory is the most resident, for a tenth of
the combinations and for all. See README.md.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

METHODS = ("physical", "flops", "tdp")
GPUS = "rtx-3090,a100,v100,t4,rtx-3070"


def sweep(dlest, method, sizes, threads):
    """Seconds by the clock and of processors, and most memory, MB."""
    command = [dlest, "predict", "--arch", "resnet50,vgg16", "--gpu", GPUS,
               "--image-px", "128..326+2", "--batch-size", "1..%d" % sizes,
               "--method", method, "--format", "csv", "--quiet"]
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    start = time.perf_counter()
    with open(os.devnull, "wb") as null:
        with subprocess.Popen(command, stdout=null, stderr=subprocess.PIPE,
                              env=env) as process:
            err = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("sweep.py: %s" % err.decode())
    return (time.perf_counter() - start, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024 / 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true",
                        help="a tenth of the combinations")
    o = parser.parse_args()
    sizes = 100 if o.quick else 1000
    n = 1000 * sizes
    cores = len(os.sched_getaffinity(0))
    for method in METHODS:
        for threads in sorted({1, min(2, cores)}):
            few = sweep(o.dlest, method, sizes // 10, threads)
            runs = [sweep(o.dlest, method, sizes, threads)
                    for _ in range(o.repeats)]
            wall = statistics.median(r[0] for r in runs)
            used = statistics.median(r[1] for r in runs)
            print("sweep by %s, %d combinations, %d thread%s: %.2f s, %.0f/s; "
                  "%.2f s of processors, %.0f/s at that; %.1f MB (%.1f MB for "
                  "a tenth)" %
                  (method, n, threads, "s"[:threads - 1], wall, n / wall, used,
                   n / used * threads, max(r[2] for r in runs), few[2]))
    print("(aim 500000 combinations/s on two cores; load %.2f)" %
          os.getloadavg()[0])


if __name__ == "__main__":
    main()
