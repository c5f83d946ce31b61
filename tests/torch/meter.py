#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A made power meter that follows the CPU time of a program.

    meter.py FOLDER NAME

Writes power1_average, uW, of a made chip of hwmon: 50 W, and 100 W for each CPU
that a process with "NAME" among its arguments keeps busy. Runs until it is
killed.
"""

import os
import sys
import time


def cpu_seconds(pid):
    """CPU time of a process; None: it has gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            field = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(field[11]) + int(field[12])) / os.sysconf("SC_CLK_TCK")


def find(name):
    """The newest python process with that argument, or None."""
    for pid in sorted((int(p) for p in os.listdir("/proc") if p.isdigit()),
                      reverse=True):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if b"python" in words[0] and name.encode() in words[1:] and \
                b"meter.py" not in words[1]:
            return pid
    return None


def main():
    """Writes the power ten times a second."""
    path, name = os.path.join(sys.argv[1], "power1_average"), sys.argv[2]
    pid, before, then = None, None, time.monotonic()
    while True:
        time.sleep(0.1)
        if pid is None:
            pid = find(name)
            before, then = pid and cpu_seconds(pid), time.monotonic()
            continue
        now, used = time.monotonic(), cpu_seconds(pid)
        if used is None:
            pid = None
            continue
        watts = 50 + 100 * (used - before) / (now - then)
        before, then = used, now
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(f"{watts * 1e6:.0f}\n")
        os.replace(path + ".new", path)


main()
