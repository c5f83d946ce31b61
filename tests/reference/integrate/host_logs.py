# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of the logs of processors, memory and power meters."""

import json
import re

from readings import SECOND, number, run_of, time_ns

W_PER_MB = 3.75e-4  # del Rey et al., arXiv 2307.05520


def psutil(lines, _interval=1):
    """The memory log of del Rey et al.: MB in use."""
    for line in lines:
        cells = line.split(",")
        if "timestamp" in cells:
            time = cells.index("timestamp")
            used = cells.index("memory usage (MB)")
        else:
            yield (time_ns(cells[time]), "ram", "0",
                   float(cells[used]) * W_PER_MB, None)


PERF = {"power/energy-pkg/": "cpu", "power/energy-ram/": "ram",
        "power/energy-psys/": "node"}


def perf(lines):
    """perf-stat(1), -x CSV FORMAT: [time,][socket,cpus,]value,unit,event. With
    -I each value is the energy of the interval that ends at `time`, and the
    run lasts from 0 to the last one; without, values are those of a command,
    whose time follows. --append: another command."""
    runs, totals, last_s = [], {}, 0
    for line in lines:
        if "seconds time elapsed" in line:
            runs.append(run_of(totals, number(line)))
            totals = {}
        if "Joules" not in line or line.startswith("#"):
            continue
        separator = ";" if ";" in line else "," if ",Joules" in line else None
        cells = [cell.strip() for cell in line.split(separator)]
        at = cells.index("Joules")
        kind = PERF.get(cells[at + 1])
        text = cells[at - 1]
        if separator is None:
            text = text.replace(",", "")
        elif separator == ";":
            text = text.replace(",", ".")
        if kind and "<" not in text and not text.endswith(">"):
            totals[kind] = totals.get(kind, 0) + float(text)
            if at > 1 and re.match(r"\d+[.,]\d+$", cells[0]):
                last_s = max(last_s, float(cells[0].replace(",", ".")))
    return runs or [run_of(totals, last_s)]


TURBOSTAT = {"PkgWatt": "cpu", "RAMWatt": "ram", "SysWatt": "node"}


def turbostat(lines, interval=1):
    """turbostat(8): powers of packages end the row of a package's first CPU;
    the row of "-" is the sum over packages. The platform is in each row."""
    names, rows, at = [], [], -1
    for line in lines:
        cells = line.split("\t")
        if set(cells) & set(TURBOSTAT):
            names, per_package = cells, "Package" in cells
            continue
        row = dict(zip(names, cells))
        package = row.get("Package", "-")
        total = package == "-"
        at += total
        ns = (time_ns(row["Time_Of_Day_Seconds"])
              if "Time_Of_Day_Seconds" in row else at * interval * SECOND)
        for name, kind in TURBOSTAT.items():
            if row.get(name) and total == (not per_package or kind == "node"):
                rows.append((ns, kind, package, float(row[name]), None))
    return rows


def powerjoular(lines, _interval=1):
    """Columns of a machine: CPUs and GPUs; their sum is not a meter."""
    for line in lines:
        date, _, _, cpu, gpu = line.split(",")
        if date != "Date":
            yield time_ns(date), "cpu", "0", float(cpu), None
            yield time_ns(date), "gpu", "0", float(gpu), None


def mlperf_training(lines, _interval=1):
    """:::MLLOG and JSON: the power_reading of a node."""
    for line in lines:
        entry = json.loads(line.split(":::MLLOG", 1)[1])
        if entry["key"] == "power_reading":
            yield (entry["time_ms"] * 1000000, "node",
                   entry["metadata"]["host"], entry["value"], None)


def ptdaemon(lines, _interval=1):
    """SPEC PTDaemon: names and values in turn; the first Watts is the sum over
    analysers or channels; -1: not measured. Dates are month-day-year."""
    for line in lines:
        cells = line.split(",")
        month, day, year = cells[1].split(" ")[0].split("-")
        watts = float(cells[cells.index("Watts") + 1])
        yield (time_ns(f"{year}-{month}-{day} {cells[1].split(' ')[1]}"),
               "node", "0", None if watts == -1 else watts, None)
