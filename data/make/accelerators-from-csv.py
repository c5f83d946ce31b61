#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the catalogue of accelerators against public tables.

usage: accelerators-from-csv.py [--compare|--propose] DATA
         EPOCH.csv GPUINFO.csv MLCO2.csv GA.csv BUTTER.csv CODECARBON.csv

DATA has accelerators.xml and cpus.xml. The tables: Epoch AI's Machine Learning Hardware, a flat export of gpu-info-api,
ML CO2 Impact's and Green Algorithms' GPUs, the list of NVIDIA GPUs of BUTTER-E,
CodeCarbon's AMD server processors, or its TDPs of processors.

--compare (default): a line an entry with the sources that give its TDP, memory
and bandwidth, those that agree with the catalogue and those that do not, and
whether a note explains it. Two sources agree where both are within the
tolerances below; the vendor's document that the catalogue names is one, unless
it is the table itself. A difference is explained where the note of the value
begins with "disputed:" or "exception:" or names the other figure. The last
lines are the counts.

--propose: entries, as XML, for accelerators since 2012 that Epoch AI's table
has and the catalogue lacks, for a person to check.
"""

import csv
import os
import re
import sys
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

TABLES = ("epoch", "gpuinfo", "mlco2", "ga", "butter", "codecarbon")
# Relative: TDP to the watt, memory up to GB taken for GiB, bandwidth up to
# rounding and memory clocks of a revision.
TOLERANCE = {"tdp_w": 0.005, "memory_gb": 0.08, "bandwidth_gb_s": 0.03}
NOISE = frozenset("nvidia amd intel geforce tesla radeon instinct graphics "
                  "google quadro gpu accelerator card generation edition "
                  "processor core workstation".split())
# How the tables call what the catalogue calls otherwise.
ALSO = {
    "a100-pcie-40gb": ("A100 40GB PCIe", "A100 PCIe 40/80GB"),
    "a100-pcie-80gb": ("A100 80GB PCIe",),
    "a100-sxm4-40gb": ("A100 SXM4 40 GB",),
    "a100-sxm4-80gb": ("A100 SXM4 80 GB",),
    "h100-pcie": ("H100 PCIe", "H100 (PCIe)", "H100 (PCIe card)"),
    "h100-sxm5-80gb": ("H100 SXM5 80GB", "H100 SXM"),
    "h200": ("H200 SXM", "H200 (SXM card)"),
    "h200-nvl": ("H200 (PCIe card)",),
    "h800-sxm5-80gb": ("H800 SXM5", "H800 (SXM card)"),
    "b300": ("B300 (Blackwell Ultra)",),
    "gb300": ("GB300 (Blackwell Ultra)",),
    "v100-pcie-16gb": ("V100 PCIe 16 GB",),
    "v100-pcie-32gb": ("V100 PCIe 32 GB",),
    "v100-sxm2-16gb": ("V100 SXM2 16 GB", "V100 SXM2"),
    "v100-sxm2-32gb": ("V100 SXM2 32 GB",),
    "v100s-pcie-32gb": ("V100S PCIe 32 GB", "V100S"),
    "p100-pcie-12gb": ("P100 (12 GB card)",),
    "p100-pcie-16gb": ("P100 PCIe 16GB", "P100 (16 GB card)", "P100 PCIe"),
    "p100-sxm2-16gb": ("P100 (mezzanine)", "P100 SXM2"),
    "t4": ("T4 (PCIe card)",),
    "l20": ("L20 PCle",),
    "a10": ("A10 PCIe",),
    "a40": ("A40 PCIe",),
    "k20": ("K20c",),
    "k40": ("K40t",),
    "titan-x-pascal": ("TITAN X Pascal",),
    "a800-pcie-80gb": ("A800 PCIe 80 GB",),
    "a800-sxm4-80gb": ("A800 SXM",),
    "h20": ("HGX H20",),
    "quadro-m6000-24gb": ("M6000",),
    "rtx-pro-6000": ("RTX PRO 6000 Blackwell Workstation Edition",),
    "rtx-pro-6000-max-q": ("RTX PRO 6000 Blackwell Max-Q Workstation Edition",),
    "rtx-pro-5000": ("RTX PRO 5000 Blackwell",),
    "rtx-pro-4500": ("RTX PRO 4500 Blackwell",),
    "rtx-pro-4000": ("RTX PRO 4000 Blackwell",),
    "gaudi": ("Habana GAUDI HL-205",),
    "gaudi2": ("Habana Gaudi2",),
    "gaudi3": ("Habana Gaudi3",),
    "titan-rtx": ("Nvidia Titan RTX",),
    "wx-7100": ("Pro WX 7100",), "wx-8200": ("Pro WX 8200",),
    "wx-9100": ("Pro WX 9100",), "w5700": ("Pro W5700",),
    "w6800": ("Pro W6800",), "w7600": ("Pro W7600",),
    "w7800": ("Pro W7800",), "w7900": ("Pro W7900",),
    "arc-a770": ("Arc A770 16GB",),
}


def fold(name):
    name = re.sub(r"\(([A-Z][a-z0-9 ?]+|.*TFLOPS)\)", " ", name)
    words = re.findall(r"(?:[a-z0-9]|(?<=[0-9])[.](?=[0-9]))+",
                       name.lower().replace("tm", " ").replace("™", " "))
    return "".join(w for w in words if w not in NOISE)


def number(text):
    """All numbers that a cell may mean ("64 or 80 or 96"); '2 x 12' is 24."""
    if "://" in (text or ""):  # a row that lacks a cell
        return []
    text = (text or "").replace("×", "x").replace(",", "")
    found = []
    for m in re.finditer(r"(?:(\d+) ?x ?)?(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)", text):
        found.append(float(m.group(1) or 1) * float(m.group(2)))
    return found


def scaled(text, scale):
    return [x / scale for x in number(text)]


def rows_of(path, skip=0):
    with open(path, encoding="utf-8-sig", newline="") as f:
        for _ in range(skip):
            f.readline()
        yield from csv.DictReader(f)


def read_epoch(path):
    for r in rows_of(path):
        yield r["Hardware name"], {
            "tdp_w": number(r["TDP (W)"]),
            "memory_gb": scaled(r["Memory size per board (Byte)"], 1e9),
            "bandwidth_gb_s": scaled(r["Memory bandwidth (byte/s)"], 1e9)}


def read_gpuinfo(path):
    for r in rows_of(path):
        memory = number(r["mem_GiB_raw"])
        if "MiB" in (r["mem_field"] or ""):
            memory = [x / 1024 for x in memory]
        yield r["model"], {
            "tdp_w": number(r["tdp_W"]), "memory_gb": memory,
            "bandwidth_gb_s": number(r["bw_GBs"]), "year": r["year"]}


def read_mlco2(path):
    for r in rows_of(path):
        yield r["name"], {"tdp_w": number(r["tdp_watts"]),
                          "memory_gb": number(r["memory"])}


def read_ga(path):
    for r in rows_of(path, skip=1):
        yield r["model"], {"tdp_w": number(r["TDP"])}


def read_butter(path):
    for r in rows_of(path):
        yield r["Model"], {"tdp_w": number(r["TDP (Watts)"])}


def read_codecarbon(path):
    for r in rows_of(path):
        yield r["Name"], {"tdp_w": number(r.get("Default TDP", r.get("TDP"))),
                          "bandwidth_gb_s": number(r.get("Per Socket Mem BW"))}


READERS = (read_epoch, read_gpuinfo, read_mlco2, read_ga, read_butter,
           read_codecarbon)


class Entry:
    def __init__(self, node, titles):
        self.id = node.get("id")
        self.form = node.get("form")
        self.names = {fold(n) for n in
                      [self.id, node.get("name")] + list(ALSO.get(self.id, ()))
                      + [a.text for a in node.findall("alias")]}
        self.value, self.note, self.source = {}, {}, {}
        self.devices = 1.0
        for v in node.findall("value"):
            self.value[v.get("name")] = float(v.text)
            self.note[v.get("name")] = v.get("note") or ""
            self.source[v.get("name")] = titles.get(v.get("source"), "")
        self.devices = self.value.get("devices", 1.0)

    def agrees(self, field, figures):
        mine = self.value[field]
        ways = [mine]
        if field != "tdp_w":  # a board with several GPUs, told by the GPU
            ways.append(mine / self.devices)
        return any(abs(x - w) <= TOLERANCE[field] * w
                   for x in figures for w in ways)

    def explains(self, field, figures):
        note = self.note[field]
        if note.startswith(("disputed:", "exception:")):
            return True
        told = number(note)
        return any(abs(x - t) <= 0.01 * t for x in figures for t in told if t)


def load(folder):
    entries = []
    for name in "accelerators.xml", "cpus.xml":
        root = ET.parse(os.path.join(folder, name)).getroot()
        titles = {s.get("id"): s.get("id") for s in root.iter("source")}
        entries += [Entry(e, titles) for e in root.findall("entry")]
    return entries


def gather(paths):
    """By table, by folded name: the figures of all rows of that name."""
    tables = {}
    for name, reader, path in zip(TABLES, READERS, paths):
        rows = tables.setdefault(name, {})
        for model, figures in reader(path):
            rows.setdefault(fold(model), []).append(figures)
    return tables


def best_row(entry, rows):
    """Of rows with the name of an entry, the one that is most like it: one
    name may stand for several boards."""
    def likeness(row):
        return sum(1 for f in TOLERANCE if row.get(f) and f in entry.value and
                   entry.agrees(f, row[f]))
    return max(rows, key=likeness)


def compare_entry(entry, tables):
    """For each field: tables that agree, that differ (with figures)."""
    said = {f: ([], []) for f in TOLERANCE}
    for table, by_name in tables.items():
        if table == "codecarbon" and entry.form != "socket":
            continue  # processors alone: its A100 is not the board
        rows = [r for n in sorted(entry.names) for r in by_name.get(n, [])]
        if not rows:
            continue
        row = best_row(entry, rows)
        for field, (yes, no) in said.items():
            figures = row.get(field) or []
            if not figures or field not in entry.value:
                continue
            if entry.agrees(field, figures):
                yes.append(table)
            else:
                no.append((table, figures))
    return said


def settled(entry, field, yes, no):
    """Two sources, or the difference is explained."""
    if any(not entry.explains(field, figures) for _, figures in no):
        return False
    own = entry.source[field]
    independent = set(yes) - ({"epoch"} if own.startswith("epoch") else set())
    return bool(independent) or bool(no)


def compare(entries, tables):
    good = strict = unexplained = 0
    for entry in entries:
        said = compare_entry(entry, tables)
        parts, ok, doubly = [], True, True
        for field, (yes, no) in said.items():
            if field not in entry.value:
                ok = doubly = False
                continue
            ok = ok and settled(entry, field, yes, no)
            doubly = doubly and len(yes) >= 2
            text = f"{field} {entry.value[field]:g}: {'+'.join(yes) or '-'}"
            for table, figures in no:
                how = ("explained" if entry.explains(field, figures)
                       else "UNEXPLAINED")
                unexplained += how == "UNEXPLAINED"
                text += (f" ({table} has "
                         f"{'/'.join(f'{x:g}' for x in figures)}, {how})")
            parts.append(text)
        good += ok
        strict += doubly
        print(f"{entry.id}: {'settled' if ok else 'open'}; {'; '.join(parts)}")
    print("tolerances: " + ", ".join(f"{f} {100 * t:g} %"
                                     for f, t in TOLERANCE.items()))
    print(f"{len(entries)} entries")
    print(f"{good} with two independent sources that agree on TDP, memory and "
          "bandwidth, or with the difference explained")
    print(f"{strict} with two tables that agree beside the source named")
    print(f"{unexplained} differences that no note explains")


FIELDS = (("tdp_w", "TDP (W)", 1), ("peak_fp64_tflops",
          "FP64 (double precision) performance (FLOP/s)", 1e12),
          ("peak_fp32_tflops",
           "FP32 (single precision) performance (FLOP/s)", 1e12),
          ("memory_gb", "Memory size per board (Byte)", 1e9),
          ("bandwidth_gb_s", "Memory bandwidth (byte/s)", 1e9),
          ("base_mhz", "Base clock (MHz)", 1),
          ("boost_mhz", "Boost clock (MHz)", 1))


def propose(entries, paths):
    known = {n for e in entries for n in e.names}
    print('<catalog kind="accelerator" version="1">')
    print("  <sources>\n    <source id=\"epoch-ml-hardware\" "
          "title=\"Epoch AI, Machine Learning Hardware (CC BY 4.0)\"/>\n"
          "  </sources>")
    for r in rows_of(paths[0]):
        name, year = r["Hardware name"], (r["Release date"] or "")[:4]
        if fold(name) in known or not year.isdigit() or int(year) < 2012:
            continue
        known.add(fold(name))
        ident = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        vendor = re.sub(r"[^a-z0-9]+", "-",
                        (r["Manufacturer"] or "").lower()).strip("-")
        found = [(field, r[column], scale) for field, column, scale in FIELDS
                 if r[column]]
        if not found:
            continue
        print(f'  <entry id="{ident}" name={quoteattr(name)}'
              + (f' vendor="{vendor}"' if vendor else "") + ">")
        for field, text, scale in found + [("year", year, 1)]:
            print(f'    <value name="{field}" source="epoch-ml-hardware" '
                  f'note="not checked">{escape(f"{float(text) / scale:.10g}")}'
                  "</value>")
        print("  </entry>")
    print("</catalog>")


def main():
    args = sys.argv[1:]
    mode = args.pop(0) if args and args[0].startswith("--") else "--compare"
    if mode not in ("--compare", "--propose") or len(args) != 1 + len(TABLES):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        entries = load(args[0])
        if mode == "--propose":
            propose(entries, args[1:])
        else:
            compare(entries, gather(args[1:]))
    except (OSError, KeyError, ValueError, ET.ParseError) as error:
        print(f"accelerators-from-csv.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
