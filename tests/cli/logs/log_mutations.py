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
import re
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


# Names of columns of power, energy or memory in use.
POWERS = re.compile(
    r"^(power\.draw|pwr|POWER|TOTEC|Accumulated Energy.*|"
    r"gpu\d*_energy_\w+|.*TOTAL_ENERGY_CONSUMPTION.*|PkgWatt|CorWatt|RAMWatt|SysWatt|power_usage|"
    r".*Package Power \(W\)|memory usage \(MB\)|gpu\d*_power_\w+|"
    r"node_power_w|.*DCGM_FI_DEV_POWER_USAGE.*|ipmi_dcmi_power.*|"
    r".*__name__=.ipmi_dcmi_power.*)$")
NUMBER = re.compile(r"^\d+(\.\d+)?")
MERGED = ("nvidia_smi nvidia_smi_dmon dcgmi_dmon rocm_smi psutil perf "
          "turbostat ptdaemon samples prometheus grafana")


def more(text):
    """1.3 times the number that a cell begins with."""
    return NUMBER.sub(lambda m: f"{1.3 * float(m[0]):.6g}", text.strip())


def columns_of(line):
    """The cells of a line, what separates them, and whether it is a header."""
    joint = "," if '"' in line else "\t" if "\t" in line else ";" if ";" in line else \
        "," if "," in line else None
    if '"' in line:
        cells = next(csv.reader([line]))
    else:
        cells = line.split(joint)
    names = [c.strip(" #").split(" [")[0] for c in cells]
    found = [i - len(cells) for i, name in enumerate(names)
             if POWERS.match(name)]
    return cells, joint or "  ", found


def perf_rows(line):
    """An energy, and the same of another machine."""
    cell = re.search(r"([\d.,]+)(;|,| )Joules", line)
    if cell is None:
        return [line]
    number, joint = cell[1], cell[2]
    if joint == ",":
        number = number.split(",")[-1]
    points = {" ": number.replace(",", ""), ",": number,
              ";": number.replace(",", ".")}[joint]
    other = more(points).replace(".", "," if joint == ";" else ".")
    return [line, line.replace(f"{number}{joint}Joules",
                               f"{other}{joint}Joules")]


def rows_with_more(text, column):
    """Each row again, of 1.3 times its power and energy, with a column that distinguishes
    the two or without."""
    out, powers = [], []
    for line in text.splitlines():
        cells, joint, found = columns_of(line)
        if found:
            powers = [i - bool(column) for i in found]
            out.append(line + (joint + "box" if column else ""))
            continue
        if line.startswith("Time,"):  # PTDaemon
            out += [line, re.sub(r"(Watts,)(\d+(\.\d+)?)",
                                 lambda m: m[1] + more(m[2]), line)]
            continue
        if "Joules" in line:
            out += perf_rows(line)
            continue
        out.append(line)
        if not powers or not re.search(r"\d", line) or \
                any(-i > len(cells) for i in powers) or len(cells) < 2 or \
                re.match(r"\w{3} \w{3} ", line):
            continue
        if column:
            out[-1] += joint + "n1"
            cells.append("n2")
        for i in powers:
            cells[i] = more(cells[i])
        out.append(joint.join(cells))
    return "\n".join(out) + "\n"


def series_with_more(text):
    """Each series of a Prometheus answer again, of 1.3 times its power."""
    answer = json.loads(text)
    series = answer["data"]["result"]
    for one in list(series):
        if not POWERS.match(one["metric"]["__name__"]):
            continue
        other = dict(one, values=[[t, str(1.3 * float(x))]
                                  for t, x in one["values"]])
        series.append(other)
    return json.dumps(answer)


def energies(found):
    """Of all runs together."""
    keys = ["gpu_energy_j", "cpu_energy_j", "ram_energy_j", "node_energy_j"]
    return {key: sum(run[key] or 0 for run in found) for key in keys}


def merged(dlest, form, seed, text, before):
    """What is wrong with the log of two devices under one identifier."""
    wrong = []
    for column in (False, True) if form in ("nvidia_smi", "samples") else \
            (False,):
        try:
            text2 = series_with_more(text) if form == "prometheus" else \
                rows_with_more(text, column)
        except (KeyError, ValueError) as fault:
            text2 = text
            print(form, seed, repr(fault))
        warnings = []
        after = extracted(dlest, "log", text2, warnings)
        said = [w for w in warnings if SEVERAL.search(w)]
        if text2 == text:
            wrong.append(f"{form}, seed {seed}: nothing is changed")
        if isinstance(after, str) or not after or said:
            continue
        # without times, the rows of two devices take twice the time
        share = .05 if any("no times" in w for w in warnings) else .01
        for key, was in energies(before).items():
            now = energies(after)[key]
            if was and now and abs(now / was - 2.3) > 2.3 * share:
                wrong.append(f"{form}, seed {seed}, two devices"
                             f"{', distinguished' * column}: {key} "
                             f"{was} -> {now}")
    return wrong


# What is said of several devices under one name.
SEVERAL = re.compile(r"several devices|series of one device differ|"
                     r"taken for one")


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
