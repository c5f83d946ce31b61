# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies of power samples, by the rules of dlest-extract(1) and no others.

A sample is (ns, kind, device, watts, joules): a time, "gpu", "cpu", "ram" or
"node", the device of that kind, a power and an energy counter (None: not in
the log). The other modules of this folder read one log format each and were
written from the formats' own documentation, not from dlest.
"""

import re
from decimal import Decimal

from datetime import datetime, timezone

SECOND = 10**9
_minutes = {}
_DATE = re.compile(r"(\d{4})[-/]?(\d\d)[-/]?(\d\d)[T ](\d\d):(\d\d)")


def time_ns(text):
    """A date and time, or seconds since 1970; None for other texts."""
    minute = _minutes.get(text[:16])
    if minute is None:
        m = _DATE.match(text)
        if not m:
            try:
                return int(Decimal(text) * SECOND)
            except ArithmeticError:
                return None
        start = datetime(*map(int, m.groups()), tzinfo=timezone.utc)
        minute = int(start.timestamp()) * SECOND, m.end()
        _minutes[text[:16]] = minute
    rest = text[minute[1] + 1:].rstrip("Z")
    return minute[0] + int(rest[:2]) * SECOND + int((rest[3:] + "0" * 9)[:9])


def number(cell):
    """A number with or without a unit behind it; None if unknown."""
    m = re.match(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)", cell)
    return float(m.group(1)) if m else None


def power(cell, column=""):
    """W, of a cell with or without a unit; `column` may have one in brackets.
    """
    watts, unit = number(cell), re.search(r"(\S*W)", cell)
    unit = unit or re.search(r"\[(\S*W)\]", column)
    prefix = unit.group(1)[:-1] if unit else ""
    return watts and watts * {"": 1, "m": 1e-3, "k": 1e3}[prefix]


def integral(rows, limit_s, means):
    """sum (P_i + P_i-1) / 2 (t_i - t_i-1), of means since the row before
    sum P_i (t_i - t_i-1); gaps above the limit add nothing."""
    known = [(ns, w) for ns, w, _ in rows if w is not None]
    if len(known) < 2:
        return None
    return sum((w + (w if means else before_w)) / 2 * (ns - before_ns) / SECOND
               for (before_ns, before_w), (ns, w) in zip(known, known[1:])
               if ns - before_ns <= limit_s * SECOND)


def differences(rows):
    """What a counter counted. Where it falls, it was reset or wrapped around:
    the power of the interval before goes on, or the counter has more since.
    """
    total, power_w, before = 0, 0, None
    for ns, _, joules in rows:
        if joules is None:
            continue
        if before is not None:
            step, seconds = joules - before[1], (ns - before[0]) / SECOND
            if step < 0:
                step = max(joules, power_w * seconds)
            elif seconds > 0:
                power_w = step / seconds
            total += step
        before = ns, joules
    return total


def usual_gap_s(rows, least_s=10):
    """The default of --max-gap: ten usual intervals, at least 10 s."""
    steps = sorted(b[0] - a[0] for a, b in zip(rows, rows[1:]) if b[0] > a[0])
    median = steps[len(steps) // 2] / SECOND if steps else 0
    return max(10 * median, least_s)


def run_of(energies, duration_s, n_gpus=None):
    """The figures of a run from {kind: energy}: the node's energy if it was
    metered, otherwise the sum of its parts."""
    total = energies.get("node")
    if "node" not in energies and energies:
        parts = energies.values()
        total = None if None in parts else sum(parts)
    return {"energy_j": total, "gpu_energy_j": energies.get("gpu"),
            "duration_s": duration_s, "n_gpus": n_gpus}


def without_holes(samples):
    """Times without the holes between two parts of a log: steps of more than 10
    minutes and 100 usual intervals, in which no meter has a reading. They are no
    time of the run, unless the counter of the next reading went on at half of
    its former power or more."""
    meters, counters = {}, {}
    for ns, kind, device, _, _ in samples:
        meters.setdefault((kind, device), []).append((ns,))
    usual_s = min((usual_gap_s(rows, 0) / 10 for rows in meters.values()),
                  default=0)
    left_out, before = 0, None
    for ns, kind, device, watts, joules in samples:
        at, last_j, power_w = counters.get((kind, device), (ns, None, 0))
        seconds = (ns - at) / SECOND
        grown = joules - last_j if None not in (joules, last_j) else None
        if before is not None and \
                ns - before > max(600, 100 * usual_s) * SECOND:
            gap_s = (ns - before) / SECOND
            if not (grown and power_w > 0 and grown >= power_w * gap_s / 2):
                left_out += ns - before
        if joules is not None:
            if grown is not None and grown >= 0 and seconds > 0:
                power_w = grown / seconds
            counters[kind, device] = ns, joules, power_w
        before = ns
        yield ns - left_out, kind, device, watts, joules


def integrate(samples, cut=False, max_gap_s=None, means=False):
    """The run of these samples. `cut`: as with --gaps cut; `means`: powers are
    means since the sample before."""
    meters = {}
    samples = list(without_holes(sorted(samples, key=lambda s: s[0])))
    for ns, kind, device, watts, joules in samples:
        meters.setdefault((kind, device), []).append((ns, watts, joules))
    energies = {}
    for (kind, _), rows in meters.items():
        limit_s = (max_gap_s or usual_gap_s(rows)) if cut else 1e18
        counted = any(joules is not None for _, _, joules in rows)
        energy = differences(rows) if counted else integral(rows, limit_s, means)
        energies.setdefault(kind, []).append(energy)
    n_gpus = len(energies.get("gpu", [])) or None
    return run_of(
        {kind: None if None in each else sum(each)
         for kind, each in energies.items()},
        (samples[-1][0] - samples[0][0]) / SECOND, n_gpus)
