# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of the tables that scripts and dlest write."""

import csv
import re
from decimal import Decimal

from readings import SECOND, differences, integral, time_ns

UNITS = {"uw": 1e-6, "mw": 1e-3, "w": 1, "kw": 1e3, "uj": 1e-6, "mj": 1e-3,
         "j": 1, "kj": 1e3, "wh": 3600, "kwh": 3.6e6}
TIMES = {"timestamp": 1, "unix_time": 1, "timestamp_ms": 1000, "t_s": 1,
         "t_ms": 1000, "elapsed_s": 1}


def _columns(names):
    """(field, kind, device, is energy, scale) of the columns with a unit."""
    for field, name in enumerate(names):
        words = re.findall(r"[a-z]+|\d+", name.lower())
        unit = words[-1]
        if unit not in UNITS or name in TIMES:
            continue
        kind = next((k for k in ("gpu", "cpu", "ram", "node") if k in words),
                    "gpu")
        device = next((word for word in words if word.isdigit()), None)
        yield field, kind, device, unit.endswith(("j", "wh")), UNITS[unit]


def samples(lines, _interval=1):
    """A row per moment, or per moment and device (`index`): the columns' names
    say what they hold and in which unit. Times below 1e8 s count from the
    beginning. An energy is a counter."""
    lines = [line for line in lines if not line.startswith("#")]
    separator = next(c for c in ",;\t" if c in lines[0])
    names = lines[0].split(separator)
    columns = list(_columns(names))
    time = next(i for i, name in enumerate(names) if name in TIMES)
    index = names.index("index") if "index" in names else None
    for line in lines[1:]:
        cells = line.split(separator)
        if cells == names:
            continue
        if re.match(r"[\d.]+$", cells[time]):
            ns = int(Decimal(cells[time]) * SECOND / TIMES[names[time]])
        else:
            ns = time_ns(cells[time])
        values = {}
        for field, kind, device, is_energy, scale in columns:
            key = kind, cells[index] if index is not None else device
            value = float(cells[field]) * scale if cells[field] else None
            values.setdefault(key, [None, None])[is_energy] = value
        for (kind, device), (watts, joules) in values.items():
            yield ns, kind, device, watts, joules


def runs(lines):
    """The table of runs that dlest extract writes."""
    for row in csv.DictReader(lines):
        yield {key: float(row[key]) if row.get(key) else None
               for key in ("energy_j", "gpu_energy_j", "duration_s", "n_gpus")}


def epochs(trace, ends):
    """The GPU energies of the epochs of a trace of one GPU: each reaches from
    the end before to the last sample that is not later than its end."""
    rows = sorted((ns, watts, joules) for ns, _, _, watts, joules in trace)
    begin = 0
    for line in ends[1:]:
        end_ns = time_ns(line.split(",")[1])
        end = max(i for i, row in enumerate(rows) if row[0] <= end_ns)
        part = rows[begin:end + 1]
        counted = part[0][2] is not None
        yield differences(part) if counted else integral(part, 1e18, False)
        begin = end
