#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a log that keep its meaning must keep what dlest extract makes of
it, in every log format.

usage: log_mutations.py DLEST SEED...   (in an empty folder; TOP_SRCDIR is set)

Generated logs (tests/reference/integrate/made_logs.py) are changed: line ends,
a byte order mark, blank lines, trailing blanks, quoted cells, columns in
reverse order, repeated rows. Two devices under one identifier must be counted
both or refused. Prints each difference.
"""
import csv
import io
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.environ["TOP_SRCDIR"] + "/tests/reference/integrate")
import made_logs  # noqa: E402
import made_trackers  # noqa: E402
import second_device  # noqa: E402

TIMED = "nvidia_smi psutil ptdaemon sacct"
COMMAS = "nvidia_smi psutil codecarbon eco2ai zeus runs powerjoular"
ALL = ("nvidia_smi nvidia_smi_dmon dcgmi_dmon rocm_smi psutil perf turbostat "
       "ptdaemon sacct sstat codecarbon eco2ai zeus carbontracker "
       "carbontracker_output runs samples prometheus grafana powerjoular "
       "mlperf_training json_lines json_array mlflow wandb_panel")

# Names of files by which their formats are recognized.
NAMES = {"mlflow": "gpu_0_power_usage_watts"}


def rows_of(text):
    return list(csv.reader(io.StringIO(text), skipinitialspace=True))


def written(rows, quoting):
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator="\n").writerows(rows)
    return out.getvalue()


def reversed_columns(text):
    rows = [row for row in rows_of(text) if row]
    widest = len(rows[0])
    # rows of another width are faults that must be reported as before
    return written([row[::-1] if len(row) == widest else row for row in rows],
                   csv.QUOTE_MINIMAL)


def repeated(text):
    lines = text.splitlines(True)
    return "".join(line * (2 if i % 7 == 3 else 1)
                   for i, line in enumerate(lines))


MUTATIONS = {
    "CRLF": (ALL, lambda text: text.replace("\n", "\r\n")),
    "byte order mark": (ALL, lambda text: "\ufeff" + text),
    "blank lines at the end": (ALL, lambda text: text + "\n\n"),
    "trailing blanks": (TIMED, lambda text: text.replace("\n", "  \n")),
    "quoted cells": (COMMAS, lambda text: written(
        rows_of(text), csv.QUOTE_ALL)),
    "columns reversed": (COMMAS, reversed_columns),
    "repeated rows": (TIMED, repeated),
}


def extracted(dlest, path, text, warnings=None):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    done = subprocess.run([dlest, "extract", path, "-f", "json"],
                          capture_output=True, text=True, check=False)
    if warnings is not None:
        warnings += done.stderr.splitlines()
    if done.returncode not in (0, 3):
        return done.stderr
    runs = json.loads(done.stdout)["runs"] if done.stdout else []
    for run in runs:
        for key in ("missing", "samples", "run_id"):  # of repeated rows
            del run[key]
    return runs


def same(a, b):
    if isinstance(a, float) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return a == b


def merged(dlest, form, seed, text, before):
    """What is wrong with the log of two devices under one identifier."""
    wrong = []
    for column in (False, True) if form in ("nvidia_smi", "samples") else \
            (False,):
        text2 = second_device.added(form, text, column)
        if text2 == text:
            wrong.append(f"{form}, seed {seed}: nothing is changed")
        warnings = []
        after = extracted(dlest, "log", text2, warnings)
        wrong += [f"{form}, seed {seed}, two devices"
                  f"{', distinguished' * column}: {fault}"
                  for fault in second_device.faults(before, after, warnings)]
    return wrong


def main():
    dlest, bad = sys.argv[1], 0
    for seed in sys.argv[2:]:
        for form in ALL.split():
            made = getattr(made_logs, form, None) or getattr(made_trackers, form)
            lines = made(random.Random(f"{form} {seed}"))
            name_of = NAMES.get(form, "log")
            text = "\n".join(lines) + "\n"
            before = extracted(dlest, name_of, text)
            if form in second_device.FORMS and not isinstance(before, str):
                wrong = merged(dlest, form, seed, text, before)
                print(*wrong, sep="\n", end="\n" * bool(wrong))
                bad += len(wrong)
            for name, (forms, change) in MUTATIONS.items():
                if form not in forms.split():
                    continue
                after = extracted(dlest, name_of, change(text))
                if isinstance(before, str) or isinstance(after, str) or \
                        len(before) != len(after):
                    print(f"{form}, seed {seed}, {name}: {len(before)} and "
                          f"{len(after)} runs; {str(after)[:200]}")
                    bad += 1
                    continue
                wrong = [f"{key} {a[key]} -> {b[key]}"
                         for a, b in zip(before, after) for key in a
                         if not same(a[key], b[key]) and
                         not (name == "repeated rows" and
                              key in ("gpu_power_w", "gpu_util", "gpu_idle_w",
                                      "node_power_w", "ram_power_w",
                                      "cpu_util", "interval_s"))]
                if wrong:
                    print(f"{form}, seed {seed}, {name}: {wrong[:4]}")
                    bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
