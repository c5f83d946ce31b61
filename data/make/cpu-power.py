#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Medians of the power of computers without accelerators in use, at the wall.

  cpu-power.py DIR

reads cpu_power_specpower.csv and cpu_other.csv of DIR and writes a table to
standard output: servers of SPECpower_ssj2008 since 2017 at idle, at half and
at full load, by vendor, CPU, sockets and memory; and inference on desktops and
small computers (MLPerf Inference), by CPU, round and software.
"""

import collections
import csv
import os
import re
import statistics
import sys

COLUMNS = ("vendor", "cpu", "kind", "sockets", "tdp_w", "memory_gb", "servers",
           "idle_w", "half_w", "full_w", "source")
SPEC = "SPECpower_ssj2008, spec.org"
# Memory of the computers of MLPerf's results.
MEMORY = {"AMD Ryzen 9 7950X": 64, "AMD Ryzen 5 5560U": 16}
VENDORS = {"Hewlett": "HPE", "Supermicro": "Supermicro", "Super": "Supermicro",
           "LTechKorea,": "LTechKorea"}


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def name_of(cpu):
    """'Intel(R) Xeon(R) Platinum 8280 @ 2.70GHz' without what is no name."""
    cpu = re.sub(r"\(R\)|\(Intel Tu.*|,.*|@.*| CPU.*| Proces.*", "", cpu)
    return re.sub(r"\s+[\d.]+\s*[GM]hz.*", "", cpu, flags=re.I).strip()


def kind_of(cpu, sockets, tdp):
    if "EPYC" in cpu:
        return "epyc"
    return "entry" if sockets == 1 and tdp <= 100 else "server"


def servers(folder):
    groups = collections.defaultdict(list)
    for r in read(folder, "cpu_power_specpower.csv"):
        if not (r["year"] and int(r["year"]) >= 2017 and r["tdp_w_per_chip"]):
            continue
        first = r["vendor"].split()[0]
        cpu = name_of(r["cpu"])
        groups[VENDORS.get(first, first), cpu, float(r["chips"]),
               float(r["tdp_w_per_chip"]), float(r["memory_gb"])].append(r)
    for (vendor, cpu, n, tdp, memory), rows in sorted(groups.items()):
        watts = [statistics.median(float(r[c]) for r in rows)
                 for c in ("idle_w", "w_50", "w_100")]
        yield (vendor, cpu, kind_of(cpu, n, tdp), n, tdp, memory, len(rows),
               *watts, SPEC)


def inference(folder):
    groups = collections.defaultdict(list)
    for r in read(folder, "cpu_other.csv"):
        if r["kind"] == "power" and r["cpu"] in MEMORY:
            makes = "NeuralMagic" if "NeuralMagic" in r["note"] else "cTuning"
            if "GATE" in r["note"]:
                makes = "GATEOverflow"
            software = r["framework"].split(",")[0].split(" v")[0].lower()
            groups[makes, r["cpu"], r["date"], software,
                   float(r["tdp_w"])].append(float(r["power_busy_w"]))
    for (makes, cpu, date, software, tdp), watts in sorted(groups.items()):
        yield (makes, cpu, "desktop" if tdp > 60 else "mobile", 1, tdp,
               MEMORY[cpu], len(watts), "", "", statistics.median(watts),
               f"MLPerf Inference {date}, {software}, Apache-2.0")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for row in (*servers(sys.argv[1]), *inference(sys.argv[1])):
        out.writerow(f"{x:g}" if isinstance(x, float) else x for x in row)


main()
