#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the scaling rules against networks that timm lists at several sizes.

usage: scaling-pairs.py DLEST CATALOG TABLE.csv...
       scaling-pairs.py --counted COUNTS.csv DLEST CATALOG

A network is listed at several sizes under one name (resnet50 at 160 .. 288
px) or under names that differ in the size (vit_base_patch16_224 and _384; the
windows of Swin follow it). Of each, the entry of CATALOG goes into a file of
its own with its first input alone; DLEST scales it to every other size, and
its MACs and activations are compared with the table's. Prints, for networks of
convolutions and for those with attention, the share of the pairs that is
right, as the figures stand and allowing for their two decimals, and names the
others.

With --counted, against architectures-torchvision.csv: the ratio of the counts
at 384 px, and at 300 px, where maps are rounded, to those at 224 px, operator
by operator.

Exit status 1 unless 95 % of the pairs (with --counted 90 %: networks without
padding are rare in timm) are within 1 % (convolutions), 2 % (attention) and
5 % (300 px), allowing for the decimals.
"""
import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

LIMIT = {"convolution": .01, "attention": .02, "rounded": .05}
# Names that differ in the size and in more.
OTHER_NETWORK = {"samvit_base_patch16_224": "no windows"}


def fold(name):
    return "".join(re.findall(r"[a-z0-9]", name.lower()))


def read_tables(paths):
    """model -> {px: (GMACs, M activations)}: the largest, with the products of
    attention."""
    rows = collections.OrderedDict()
    for path in paths:
        with open(path, newline="", encoding="utf-8") as table:
            for r in csv.DictReader(table):
                px = r.get("img_size") or r.get("train_img_size")
                if not px or not r.get("gmacs"):
                    continue
                if r.get("gmacs_src", "exact") != "exact":
                    continue
                sizes = rows.setdefault(r["model"], {})
                figures = float(r["gmacs"]), float(r["macts"])
                sizes[int(px)] = max(figures, sizes.get(int(px), figures))
    return rows


def network(model, sizes):
    """The name without its size; a window as a share of the input."""
    w = re.search(r"_window(?:\d+to)?(\d+)(?:_\d+to\d+)?", model)
    if w:
        share = int(w[1]) * 32 / max(sizes)
        model = model.replace(w[0], "_window%g" % share)
    m = re.search(r"_(\d{3,4})(?=$|_)", model)
    if m and int(m[1]) in sizes:
        model = model.replace(m[0], "", 1)
    return model


def group(rows):
    groups = collections.OrderedDict()
    for model, sizes in rows.items():
        if model not in OTHER_NETWORK and not model.startswith("test_"):
            groups.setdefault(network(model, sizes), []).append(model)
    return {name: models for name, models in groups.items()
            if len({px for m in models for px in rows[m]}) > 1}


def entries(path):
    """folded name -> entry, and the sources."""
    root = ET.parse(path).getroot()
    found = {}
    for e in root.findall("entry"):
        for name in [e.get("id")] + [a.text for a in e.findall("alias")]:
            found.setdefault(fold(name), e)
    return found, root.find("sources")


def first_alone(entry, sources, path):
    """Writes the entry with its first input; that input's side and figures."""
    root = ET.Element("catalog", kind="architecture", version="1")
    root.append(sources)
    e = ET.fromstring(ET.tostring(entry))
    for old in e.findall("input")[1:]:
        e.remove(old)
    root.append(e)
    ET.ElementTree(root).write(path)
    first = e.find("input")
    return int(first.get("image_px")), {v.get("name"): float(v.text)
                                        for v in first.findall("value")}


def scaled(dlest, path, px):
    out = subprocess.run([dlest, "show", "arch", path, "--image-px", str(px),
                          "--format", "json"], capture_output=True, check=True)
    return {v["field"]: v["value"] for v in json.loads(out.stdout)["values"]}


def compare(dlest, rows, catalog, folder):
    found, sources = entries(catalog)
    path = os.path.join(folder, "one.xml")
    for models in group(rows).values():
        entry = min((found[fold(m)] for m in models),
                    key=lambda e: int(e.find("input").get("image_px")))
        px0, first = first_alone(entry, sources, path)
        kind = kind_of(entry)
        for model in models:
            for px, listed in sorted(rows[model].items()):
                if px == px0:
                    continue
                values = scaled(dlest, path, px)
                for name, figure in zip(("macs_g", "acts_m"), listed):
                    guess = values[name]
                    off = abs(guess - figure)
                    slack = .005 + .005 * guess / first[name]
                    yield (name, kind, entry.get("id"), px0, model, px, guess,
                           figure, off / figure, max(0, off - slack) / figure)


def kind_of(entry):
    fields = {v.get("name") for v in entry.findall("value")}
    return "attention" if fields & {"patch_px", "attention_macs_g"} \
        or entry.get("id").startswith("xcit_") else "convolution"


def compare_counts(dlest, counts, catalog, folder):
    """Ratios to the count at 224 px, in place of the counts."""
    found, sources = entries(catalog)
    path = os.path.join(folder, "one.xml")
    base = {}
    with open(counts, newline="", encoding="utf-8") as table:
        for r in csv.DictReader(table):
            total = {"macs_g": float(r["macs_g"]), "acts_m": float(r["acts_m"])
                     + float(r["attention_acts_m"])}
            entry = found.get(fold(r["model"]))
            if r["image_px"] == "224":
                base[r["model"]] = total
            if entry is None or r["image_px"] == "224" \
                    or r["model"] not in base or "swin" in r["model"]:
                continue        # windows of a fixed size: padded there
            first_alone(entry, sources, path)
            ours = [scaled(dlest, path, px) for px in (224, r["image_px"])]
            for name, counted in total.items():
                guess = ours[1][name] / ours[0][name]
                ratio = counted / base[r["model"]][name]
                off = abs(guess / ratio - 1)
                kind = "rounded" if r["image_px"] == "300" else kind_of(entry)
                yield (name, kind, entry.get("id"), 224, r["model"],
                       int(r["image_px"]), guess, ratio, off, off)


def report(pairs, share, fewest):
    bad = 0
    for name, kind in sorted({p[:2] for p in pairs}):
        limit = LIMIT[kind]
        these = [p for p in pairs if p[:2] == (name, kind)]
        plain = sum(p[8] <= limit for p in these) / len(these)
        net = sum(p[9] <= limit for p in these) / len(these)
        print("%s, %s: %d pairs, within %g %%: %.1f %% as listed, %.1f %% "
              "allowing for two decimals" % (name, kind, len(these),
                                             100 * limit, 100 * plain,
                                             100 * net))
        bad |= net < share or len(these) < fewest
        for p in sorted(these, key=lambda p: -p[9]):
            if p[9] > limit:
                print("  %s %d px -> %s %d px: %.4g, listed %.4g (%.1f %%)"
                      % (p[2:8] + (100 * p[8],)))
    return int(bad)


def main(argv):
    counted = argv[:1] == ["--counted"]
    if len(argv) < 3 or (counted and len(argv) != 4):
        sys.stderr.write(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if counted:
            pairs = list(compare_counts(argv[2], argv[1], argv[3], folder))
        else:
            pairs = list(compare(argv[0], read_tables(argv[2:]), argv[1],
                                 folder))
    return report(pairs, .90, 4) if counted else report(pairs, .95, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
