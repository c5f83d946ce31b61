#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the catalogues that ship, beyond what their schemas can say.

usage: check-catalog.py [FILE.xml...]

Without a file: accelerators, architectures, datasets, grids and transformers in ../data,
those that are there. Problems go to stdout, one a line; the exit status is 1
if there are any, 2 if a file cannot be read.

In every file: names and aliases are unique once folded (as the program folds
them), an alias is not the id again, no value occurs twice, every value has a
declared source, every declared source is used. Accelerators: powers are
plausible, tensor rates are at least the FP32 rate, and cores x 2 x boost
clock is the FP32 rate within 3 % unless a note explains it. The others: see
CHECKS.
"""

import os
import re
import sys
import xml.etree.ElementTree as ET

SHIPPED = ("accelerators", "architectures", "datasets", "grids",
           "transformers")
NOISE = frozenset("nvidia amd intel geforce tesla radeon instinct "
                  "graphics".split())
CORES_TOLERANCE = 0.03


def fold(name):
    """A name as the lookup compares it: lower case, letters, digits and
    decimal points, without the words that say only who made it."""
    words = re.findall(r"(?:[a-z0-9]|(?<=[0-9])[.](?=[0-9]))+", name.lower())
    return "".join(word for word in words if word not in NOISE)


def values(element):
    return {v.get("name"): float(v.text) for v in element.findall("value")}


def has_note(entry, name):
    return any(v.get("name") == name and v.get("note")
               for v in entry.findall("value"))


def within(found, name, low, high):
    if name in found and not low <= found[name] <= high:
        yield f"{name} {found[name]:g} is not in {low:g} to {high:g}"


def check_accelerator(entry):
    v = values(entry)
    if "tdp_w" not in v:
        yield "no tdp_w"
    yield from within(v, "tdp_w", 1, 2000)
    yield from within(v, "power_limit_w", 1, 2000)
    yield from within(v, "memory_gb", 0.5, 1000)
    yield from within(v, "bandwidth_gb_s", 1, 20000)
    yield from within(v, "boost_mhz", 100, 4000)
    yield from within(v, "year", 2006, 2100)
    fp32 = v.get("peak_fp32_tflops", 0.0)
    for name in ("peak_tf32_tflops", "peak_fp16_tensor_tflops"):
        # The rates are rounded: 90.5 and 90.51 are the same.
        if name in v and v[name] < 0.99 * fp32:
            yield f"{name} {v[name]:g} is below peak_fp32_tflops {fp32:g}"
    if (v.get("peak_fp16_tensor_tflops", float("inf"))
            < v.get("peak_tf32_tflops", 0.0)):
        yield "peak_fp16_tensor_tflops is below peak_tf32_tflops"
    if fp32 and "cuda_cores" in v and "boost_mhz" in v:
        peak = v["cuda_cores"] * 2.0 * v["boost_mhz"] / 1e6
        if (abs(peak / fp32 - 1.0) > CORES_TOLERANCE
                and not has_note(entry, "peak_fp32_tflops")):
            yield (f"cores x 2 x boost is {peak:.4g} TFLOPS, "
                   f"peak_fp32_tflops is {fp32:g}, and no note says why")


def check_architecture(entry):
    v = values(entry)
    sizes = [int(i.get("image_px")) for i in entry.findall("input")]
    if len(set(sizes)) != len(sizes):
        yield "an image_px occurs twice"
    for i in entry.findall("input"):
        if values(i).get("macs_g", 1.0) <= 0.0:
            yield f"macs_g is 0 at {i.get('image_px')} px"
    yield from within(v, "params_m", 1e-6, 1e7)


def check_dataset(entry):
    v = values(entry)
    for name in v:
        if v[name] != int(v[name]) or v[name] < 1:
            yield f"{name} {v[name]:g} is not a positive whole number"
    if "train_samples" not in v:
        yield "no train_samples"


def check_grid(entry):
    v = values(entry)
    ident = entry.get("id")
    if ident != "world":
        if not re.fullmatch("[a-z]{2}", ident):
            yield "the id is not an ISO 3166 alpha-2 code"
        codes = [a.text for a in entry.findall("alias")
                 if re.fullmatch("[a-z]{3}", a.text or "")]
        if len(codes) != 1:
            yield "not one ISO 3166 alpha-3 code among the aliases"
    if not {"carbon_g_kwh", "year"} <= v.keys():
        yield "carbon_g_kwh or year is missing"
    yield from within(v, "carbon_g_kwh", 1, 1500)
    yield from within(v, "year", 2000, 2100)


CHECKS = {
    "accelerator": check_accelerator,
    "architecture": check_architecture,
    "dataset": check_dataset,
    "grid": check_grid,
}


def check_names(entries):
    owner = {}
    for entry in entries:
        ident = entry.get("id")
        own = {fold(ident)}
        for alias in entry.findall("alias"):
            key = fold(alias.text or "")
            if key in own:
                yield f"{ident}: alias '{alias.text}' adds nothing"
            own.add(key)
        for key in sorted(own | {fold(entry.get("name"))}):
            if not key:
                yield f"{ident}: a name folds to nothing"
            elif key in owner:
                yield f"{ident}: '{key}' is also {owner[key]}"
            owner[key] = ident


def check_sources(root):
    declared = [s.get("id") for s in root.findall("sources/source")]
    used = set()
    for entry in root.findall("entry"):
        for v in entry.iter("value"):
            source = v.get("source")
            used.add(source)
            if source is None:
                yield f"{entry.get('id')}: {v.get('name')} has no source"
            elif source not in declared:
                yield (f"{entry.get('id')}: {v.get('name')}: source "
                       f"'{source}' is not declared")
        for shape in entry.findall("transformer"):
            used.add(shape.get("source"))
            if shape.get("source") not in declared:
                yield f"{entry.get('id')}: the shape has no declared source"
    for ident in declared:
        if ident not in used:
            yield f"source '{ident}' is not used"
        if declared.count(ident) > 1:
            yield f"source '{ident}' is declared more than once"


def check_values(entry):
    """The rules of a kind, and that no value occurs twice."""
    for holder in [entry] + entry.findall("input"):
        names = [v.get("name") for v in holder.findall("value")]
        for name in sorted(set(names)):
            if names.count(name) > 1:
                yield f"{name} occurs twice"


def check_file(path):
    root = ET.parse(path).getroot()
    entries = root.findall("entry")
    yield from check_names(entries)
    yield from check_sources(root)
    rules = CHECKS.get(root.get("kind"))
    if rules is None:
        yield f"kind '{root.get('kind')}' is not known"
        return
    for entry in entries:
        for check in (check_values, rules):
            for problem in check(entry):
                yield f"{entry.get('id')}: {problem}"


def shipped():
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        os.pardir, "data")
    paths = [os.path.join(data, name + ".xml") for name in SHIPPED]
    return [os.path.normpath(p) for p in paths if os.path.exists(p)]


def main():
    if any(a.startswith("-") for a in sys.argv[1:]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    found = False
    for path in sys.argv[1:] or shipped():
        try:
            for problem in check_file(path):
                print(f"{path}: {problem}")
                found = True
        except (OSError, ET.ParseError, TypeError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
