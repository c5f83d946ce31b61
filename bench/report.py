#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times dlest report on made-up accounting of Slurm, beside pandas.

report.py --dlest PATH [--against PATH] [--repeats N] [--quick]

Both sides read the same 1,000,000 lines of sacct: pandas parses them and does
nothing else; dlest finds the jobs, their energy and its sums. The programs take
turns; a ratio is that of medians. --against names another dlest to compare
with. 10,000,000 jobs (1.6 GB) show the memory. See README.md.
"""

import argparse
import datetime
import os
import random
import statistics
import subprocess
import tempfile
import time

import run

COLUMNS = ("JobID|JobName|User|Account|Partition|State|ElapsedRaw|Start|NNodes|"
           "AllocCPUS|TotalCPU|ConsumedEnergyRaw|AllocTRES|NTasks|"
           "TRESUsageInAve")
PARTITIONS = (("gpu", "a100"), ("gpu-long", "h100"), ("dev", "v100"),
              ("cpu", None))
STATES = ("COMPLETED",) * 8 + ("FAILED", "CANCELLED by 1000", "TIMEOUT")


def write_accounting(path, lines, with_steps):
    """Writes jobs of sacct, and after four of five jobs their .batch, .extern
    and first step. Every other job has an energy."""
    rng = random.Random(1)
    start = datetime.datetime(2024, 1, 1)
    with open(path, "w", encoding="ascii") as f:
        f.write(COLUMNS + "\n")
        n, job = 0, 1000000
        while n < lines:
            job += 1
            start += datetime.timedelta(seconds=rng.randrange(60))
            seconds = rng.randrange(30, 172800)
            partition, gpu = PARTITIONS[rng.randrange(len(PARTITIONS))]
            gpus = rng.choice((1, 2, 4, 8)) if gpu else 0
            cpus = rng.choice((8, 16, 64, 128))
            joules = seconds * (300 * gpus + 3 * cpus) if job % 2 else 0
            tres = "billing=%d,cpu=%d,energy=%d,mem=%dG,node=1" % (
                cpus, cpus, joules, cpus * 4)
            if gpu:
                tres += ",gres/gpu:%s=%d,gres/gpu=%d" % (gpu, gpus, gpus)
            use = "cpu=%02d:00:00,gres/gpuutil=%d,mem=%dK" % (
                rng.randrange(24), rng.randrange(100 * max(gpus, 1)),
                rng.randrange(1 << 24))
            rest = "%d|%s|1|%d|%02d:%02d:%02d|%d|%s" % (
                seconds, start.isoformat(), cpus, rng.randrange(24),
                rng.randrange(60), rng.randrange(60), joules, tres)
            state = rng.choice(STATES)
            f.write("%d|train-%d|user%02d|group%d|%s|%s|%s||\n" % (
                job, job % 997, job * 7 % 90, job % 12, partition, state, rest))
            n += 1
            if job % 5 == 0 or not with_steps:
                continue
            for step in (".batch", ".extern", ".0")[:max(0, lines - n)]:
                f.write("%d%s|%s||group%d|||%s|1|%s\n" % (
                    job, step, step[1:], job % 12, rest, use))
                n += 1


def timed(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(o, path, what, form):
    ours, peers, others = [], [], []
    tail = ["report", path, "-q", "-f", form]
    for _ in range(o.repeats):
        ours.append(timed([o.dlest] + tail))
        if o.against:
            others.append(timed([o.against] + tail))
        if run.PYTHON and form == "csv":
            peers.append(run.peer("accounting", path)[1]["work"])
    run.report(what, ours, peers, "-")
    if others:
        print("  %s: %.2f s, %.2f x" % (
            o.against, statistics.median(others),
            statistics.median(others) / statistics.median(ours)))


def memory(o, path, jobs):
    """Most resident memory with sums by user and month alone."""
    write_accounting(path, jobs, False)
    seconds, most, _ = run.run([o.dlest, "report", path, "-q", "--by",
                                "user,month"])
    print("report, %d jobs by user and month: %s, %.0f jobs/s, %.1f MB "
          "resident (aim 64 MB)" % (jobs, run.ms(seconds), jobs / seconds, most),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--against")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    o = parser.parse_args()
    run.PYTHON = run.find_python()
    with tempfile.TemporaryDirectory(prefix="dlest-bench.") as folder:
        path = os.path.join(folder, "sacct.txt")
        for jobs in (10000, 100000) if o.quick else (1000000, 10000000):
            memory(o, path, jobs)
        for steps, form in (True, "csv"), (False, "csv"), (False, "text"):
            write_accounting(path, 100000 if o.quick else 1000000, steps)
            compare(o, path, "report, %s, %s" % (
                "jobs and steps" if steps else "jobs", form), form)


if __name__ == "__main__":
    main()
