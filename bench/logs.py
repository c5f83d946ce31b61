#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times dlest extract on power logs, beside pandas where it is installed.

logs.py --dlest PATH [--repeats N] [--quick]

Both sides read the same files. pandas parses them and does nothing else;
dlest recognises, parses, integrates and prints. The two take turns; a ratio is
that of medians. See README.md.
"""

import argparse
import glob
import os
import statistics
import subprocess
import tempfile
import time

import run

HERE = os.path.dirname(os.path.abspath(__file__))


def write_logs(folder, n, lines):
    """Logs as nvidia-smi writes them."""
    for i in range(n):
        with open(os.path.join(folder, "gpu-%03d.csv" % i), "w",
                  encoding="ascii") as f:
            f.write("timestamp, name, utilization.gpu [%], utilization.memory "
                    "[%], memory.total [MiB], memory.used [MiB], power.draw "
                    "[W], power.max_limit [W], temperature.gpu\n")
            for k in range(lines):
                f.write("2023/03/02 %02d:%02d:%02d.840, NVIDIA GeForce RTX "
                        "3070, %d %%, 5 %%, 8192 MiB, 7375 MiB, %.2f W, 240.00 "
                        "W, 40\n" % (k // 3600, k // 60 % 60, k % 60, k % 100,
                                     100 + k % 97 * 1.13))


def logs(folder, quick):
    top = os.environ.get("MEASURED_RUNS",
                         os.path.join(HERE, "..", "..", "shared", "data"))
    found = sorted(glob.glob(os.path.join(top, "seaa2023", "traces", "*", "*",
                                          "gpu*.csv")))
    if found:
        return found[:25] if quick else found, "seaa2023"
    write_logs(folder, 10 if quick else 250, 3000)
    return sorted(glob.glob(os.path.join(folder, "gpu*.csv"))), "made up"


def timed(command, threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    start = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def speed(o, folder):
    files, name = logs(folder, o.quick)
    size = sum(os.path.getsize(f) for f in files) / 1e6
    names = os.path.join(folder, "names")
    with open(names, "w", encoding="utf-8") as f:
        f.write("\n".join(files) + "\n")
    command = [o.dlest, "extract", "--files-from", names, "-f", "csv", "-q"]
    find = command + ["--find-epochs"]
    one, two, epochs, whole, work = [], [], [], [], []
    for _ in range(o.repeats):
        one.append(timed(command, 1))
        two.append(timed(command, 2))
        if run.PYTHON:
            seconds, said = run.peer("logs", names)
            whole.append(seconds)
            work.append(said["work"])
        epochs.append(timed(find, 2))
    what = "extract, %d logs, %.0f MB (%s): " % (len(files), size, name)
    run.report(what + "1 thread, process", one, whole, "3")
    if run.PYTHON:
        run.report(what + "1 thread, no imports", one, work, "3")
        run.report(what + "2 threads, no imports", two, work, "6")
    print("  2 threads against 1: %.2f x" %
          (statistics.median(one) / statistics.median(two)))
    run.report(what + "epochs found, 2 threads", epochs, [], "-")


def memory(o, folder):
    """A log from a pipe, larger than memory may be."""
    lines = 1000000 if o.quick else 10000000
    path = os.path.join(folder, "feed.py")
    with open(path, "w", encoding="ascii") as f:
        f.write("import sys\n"
                "print('timestamp, name, power.draw [W]')\n"
                "for i in range(%d):\n"
                "    print('%%d.%%03d, Tesla T4, %%d.25 W' %%\n"
                "          (1700000000 + i // 10, i %% 10 * 100, i %% 70))\n"
                % lines)
    with subprocess.Popen(["python3", path], stdout=subprocess.PIPE) as feed:
        with subprocess.Popen([o.dlest, "extract", "-", "-q"],
                              stdin=feed.stdout,
                              stdout=subprocess.DEVNULL) as process:
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
    print("extract, one log of %d lines through a pipe: %.1f MB resident "
          "(aim 16 MB)" % (lines, usage.ru_maxrss * 1024 / 1e6))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dlest-bench.") as folder:
        speed(o, folder)
        memory(o, folder)


if __name__ == "__main__":
    main()
