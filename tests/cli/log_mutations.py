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

TIMED = "nvidia_smi psutil ptdaemon sacct"
COMMAS = "nvidia_smi psutil codecarbon eco2ai zeus runs"
ALL = ("nvidia_smi nvidia_smi_dmon dcgmi_dmon rocm_smi psutil perf turbostat "
       "ptdaemon sacct sstat codecarbon eco2ai zeus carbontracker "
       "carbontracker_output runs samples prometheus grafana")


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


def extracted(dlest, path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    done = subprocess.run([dlest, "extract", path, "-q", "-f", "json"],
                          capture_output=True, text=True, check=False)
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


def two_devices(text, column):
    """Each row again, of 1.3 times its power, with a column that distinguishes
    the two or without."""
    lines, power, out = text.splitlines(), None, []
    for line in lines:
        comma = "," in line
        cells = line.lstrip("#").split(",") if comma else \
            line.lstrip("#").split()
        names = [cell.strip().split(" [")[0] for cell in cells]
        found = [i for i, name in enumerate(names)
                 if name in ("power.draw", "pwr", "gpu_power_w")]
        if found:
            power = found[0]
            out.append(line + (", box" if column else ""))
            continue
        if line.startswith("#") or power is None or power >= len(cells):
            out.append(line)
            continue
        out.append(line + (", n1" if column else ""))
        number = cells[power].split()[:1]
        try:
            watts = f"{1.3 * float(number[0]):.6g}"
        except (IndexError, ValueError):
            watts = number[0] if number else ""
        if number:
            cells[power] = cells[power].replace(number[0], watts, 1)
        out.append((",".join(cells) if comma else "  ".join(cells)) +
                   (", n2" if column else ""))
    return "\n".join(out) + "\n"


def merged(dlest, form, seed, text, before):
    """What is wrong with the log of two devices under one identifier."""
    wrong = []
    for column in (False, True) if form in ("nvidia_smi", "samples") else \
            (False,):
        text2 = two_devices(text, column)
        after = extracted(dlest, "log", text2)
        if text2 == text or isinstance(after, str) or not after:  # refused
            continue
        was, now = before[0]["gpu_energy_j"], after[0]["gpu_energy_j"]
        # counters are as before: twice
        if was and now and min(abs(now / was - 2.3), abs(now / was - 2)) > .01:
            wrong.append(f"{form}, seed {seed}, two devices"
                         f"{', distinguished' * column}: {was} -> {now}")
    return wrong


# Formats with times of their samples, not of whole seconds.
MERGED = "nvidia_smi samples"


def main():
    dlest, bad = sys.argv[1], 0
    for seed in sys.argv[2:]:
        for form in ALL.split():
            lines = getattr(made_logs, form)(random.Random(f"{form} {seed}"))
            text = "\n".join(lines) + "\n"
            before = extracted(dlest, "log", text)
            if form in MERGED.split() and not isinstance(before, str):
                wrong = merged(dlest, form, seed, text, before)
                print(*wrong, sep="\n", end="\n" * bool(wrong))
                bad += len(wrong)
            for name, (forms, change) in MUTATIONS.items():
                if form not in forms.split():
                    continue
                after = extracted(dlest, "log", change(text))
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
