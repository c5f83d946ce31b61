#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a log and a table of runs off after each of their bytes.

usage: cut_logs.py DLEST log|table

dlest extract must count what is whole, and report the part of a line that
follows. The log has 4 samples of 100 W, one a second. Runs in an empty folder.
"""
import csv
import subprocess
import sys

LOG = "timestamp, index, name, power.draw [W], utilization.gpu [%]\n" + "".join(
    "2024-03-05 10:00:0%d.000, 0, A100, 100.00 W, 50 %%\n" % i for i in range(4))
TABLE = """\
timestamp,project_name,run_id,duration,energy_consumed,emissions,country_name
2024-03-05T10:00:00,p,"a, b",10,0.001,0.1,Spain
2024-03-05T10:00:00,p,c,10,0.00123,0.1,France
"""


def extract(dlest, text, *options):
    """Exit status, standard output and standard error of dlest extract."""
    with open("a.csv", "w") as f:
        f.write(text)
    done = subprocess.run([dlest, "extract", *options, "a.csv", "-f", "csv"],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    return done.returncode, done.stdout, done.stderr


def is_refused(status, out, err):
    return status == 3 and not out and any(
        line.startswith("dlest: ") for line in err.split("\n"))


def log_fits(dlest, text):
    """Whether the samples of the log are counted that have an end."""
    got, part = text.count("\n") - 1, not text.endswith("\n")
    # A sample without the end of its line alone counts.
    if text.endswith("%") and got > 0 and part:
        got, part = got + 1, False
    status, out, err = extract(dlest, text)
    if got < 2:
        return is_refused(status, out, err)
    rows = list(csv.DictReader(out.splitlines()))
    skipped = [line for line in err.split("\n") if "last line skipped" in line]
    return (status == 0 and len(skipped) == part and
            rows[0]["gpu_energy_j"] == str(got * 100 - 100))


def table_fits(dlest, text):
    """Whether the rows of the table are counted that are whole."""
    part = not text.endswith("\n")
    rows = text.count("\n") - 1
    # A row with all fields counts; the last of them may be cut.
    if ",0.1," in text.rstrip("\n").split("\n")[-1]:
        rows += part
    status, out, err = extract(dlest, text, "--from", "codecarbon")
    if rows < 1:
        return is_refused(status, out, err)
    return (status == 0 and out.count("\n") == rows + 1 and
            err.count("\n") == part)


def main():
    dlest, kind = sys.argv[1:3]
    whole, fits = {"log": (LOG, log_fits), "table": (TABLE, table_fits)}[kind]
    wrong = [n for n in range(len(whole) + 1) if not fits(dlest, whole[:n])]
    for n in wrong:
        print("%d bytes: %r" % (n, extract(dlest, whole[:n])))
    print("%d lengths" % (len(whole) + 1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
