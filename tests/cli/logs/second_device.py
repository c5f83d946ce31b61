# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs to which a second device is added under the identifier of the first.

Each reading of power or energy is repeated at its time, `times` as large. The
energy of both is 1 + times that of the first; or dlest says that a device has two
powers at one time.
"""
import csv
import json
import re

FORMS = ("nvidia_smi nvidia_smi_dmon dcgmi_dmon rocm_smi psutil perf "
         "turbostat ptdaemon samples prometheus grafana").split()

# Names of columns of power, energy or memory in use.
POWERS = re.compile(
    r"^(power\.draw(\.\w+)?|pwr|POWER|TOTEC|Accumulated Energy.*|"
    r"gpu\d*_energy_\w+|.*TOTAL_ENERGY_CONSUMPTION.*|PkgWatt|CorWatt|RAMWatt|"
    r"SysWatt|power_usage|.*Package Power \(W\)|memory usage \(MB\)|"
    r"gpu\d*_power_\w+|node_power_w|.*DCGM_FI_DEV_POWER_USAGE.*|"
    r"ipmi_dcmi_power.*|.*__name__=.ipmi_dcmi_power.*)$")
NUMBER = re.compile(r"^\d+(\.\d+)?")

# Readings of a meter that tell two devices from power that changes.
FEW = 3

# What is said of several devices under one name.
SEVERAL = re.compile(r"several devices|series of one device differ|"
                     r"taken for one")


def more(text, times):
    """A number that a cell begins with, multiplied."""
    return NUMBER.sub(lambda m: f"{times * float(m[0]):.6g}", text.strip())


def columns_of(line):
    """The cells of a line, what separates them, and where columns of power are if
    it is a header."""
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


def perf_rows(line, times):
    """An energy, and the same of another machine."""
    cell = re.search(r"([\d.,]+)(;|,| )Joules", line)
    if cell is None:
        return [line]
    number, joint = cell[1], cell[2]
    if joint == ",":
        number = number.split(",")[-1]
    points = {" ": number.replace(",", ""), ",": number,
              ";": number.replace(",", ".")}[joint]
    other = more(points, times).replace(".", "," if joint == ";" else ".")
    return [line, line.replace(f"{number}{joint}Joules",
                               f"{other}{joint}Joules")]


def rows_with_more(text, column, times):
    """Each row again, with a column that distinguishes the two or without."""
    out, powers = [], []
    for line in text.splitlines():
        cells, joint, found = columns_of(line)
        if found:
            powers = [i - bool(column) for i in found]
            out.append(line + (joint + "box" if column else ""))
            continue
        if line.startswith("Time,"):  # PTDaemon
            out += [line, re.sub(r"(Watts,)(\d+(\.\d+)?)",
                                 lambda m: m[1] + more(m[2], times), line)]
            continue
        if "Joules" in line:
            out += perf_rows(line, times)
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
            cells[i] = more(cells[i], times)
        out.append(joint.join(cells))
    return "\n".join(out) + "\n"


def series_with_more(text, times):
    """Each series of power of a Prometheus answer again."""
    answer = json.loads(text)
    series = answer["data"]["result"]
    for one in list(series):
        if not POWERS.match(one["metric"]["__name__"]):
            continue
        other = dict(one, values=[[t, str(times * float(x))]
                                  for t, x in one["values"]])
        series.append(other)
    return json.dumps(answer)


# Columns by which turbostat distinguishes rows: without them those of an interval
# are a sum and its parts, or intervals of their own.
ROWS_OF_TURBOSTAT = re.compile(r"\b(Package|Core|CPU|Time_Of_Day_Seconds)\b")


def added(form, text, column=False, times=1.3):
    """The log of two devices; the same text where none could be added."""
    if form not in FORMS or (form == "turbostat" and
                             not ROWS_OF_TURBOSTAT.search(text)):
        return text
    try:
        return series_with_more(text, times) if form == "prometheus" else \
            rows_with_more(text, column, times)
    except (AttributeError, KeyError, TypeError, ValueError, csv.Error):
        return text


def energies(found):
    """Of all runs together."""
    keys = ["gpu_energy_j", "cpu_energy_j", "ram_energy_j", "node_energy_j"]
    return {key: sum(run[key] or 0 for run in found) for key in keys}


def faults(before, after, warnings, times=1.3):
    """What is wrong with the runs of two devices, which are a message where they
    were refused, after those of one."""
    if isinstance(after, str) or not after or \
            any(SEVERAL.search(w) for w in warnings):
        return []
    # Without times, the rows of two devices take twice the time.
    share = .05 if any("no times" in w for w in warnings) else .01
    both = 1 + times
    if any((run.get("samples") or FEW) < FEW for run in before):
        return []
    return [f"{key} {was} -> {energies(after)[key]}"
            for key, was in energies(before).items()
            if was and energies(after)[key] and
            abs(energies(after)[key] / was - both) > both * share]
