#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the catalogues that ship, beyond what their schemas can say.

usage: check-catalog.py [FILE.xml...]

Without a file: all catalogues in ../data. Problems go to stdout, one a line;
the exit status is 1 if there are any, 2 if a file cannot be read.

In every file: names and aliases are unique once folded (as the program folds
them), an alias is not the id again, no value occurs twice, every value has a
declared source, every declared source is used. Grids are told by ISO 3166
codes. The rules between values are those of 'dlest check'.
"""

import os
import re
import sys
import xml.etree.ElementTree as ET

SHIPPED = ("accelerators", "architectures", "cpus", "datasets", "grids",
           "nodes", "sites", "transformers")
NOISE = frozenset("nvidia amd intel geforce tesla radeon instinct "
                  "graphics".split())


def fold(name):
    """A name as the lookup compares it: lower case, letters, digits and
    decimal points, without the words that say only who made it."""
    words = re.findall(r"(?:[a-z0-9]|(?<=[0-9])[.](?=[0-9]))+", name.lower())
    return "".join(word for word in words if word not in NOISE)


def values(element):
    return {v.get("name"): float(v.text) for v in element.findall("value")}


def within(found, name, low, high):
    if name in found and not low <= found[name] <= high:
        yield f"{name} {found[name]:g} is not in {low:g} to {high:g}"


def check_grid(entry):
    v = values(entry)
    ident = entry.get("id")
    region = re.fullmatch("[a-z]{2}-[a-z]+(-[a-z]+)?", ident)
    if ident != "world" and not region:
        if not re.fullmatch("[a-z]{2}", ident):
            yield "the id is not an ISO 3166 code"
        codes = [a.text for a in entry.findall("alias")
                 if re.fullmatch("[a-z]{3}", a.text or "")]
        if len(codes) != 1:
            yield "not one ISO 3166 alpha-3 code among the aliases"
    yield from within(v, "carbon_g_kwh", 1, 1500)
    yield from within(v, "year", 2000, 2100)


def check_site(entry):
    v = values(entry)
    ident = entry.get("id")
    if "pue" not in v and "carbon_g_kwh" not in v and not entry.get("grid"):
        yield "says neither pue nor carbon_g_kwh nor grid"
    if ":" in ident:
        if ident.split(":")[0] != entry.get("vendor"):
            yield "the id does not begin with the vendor"
        if not entry.get("grid"):
            yield "a cloud region without a grid"
        if not entry.get("place"):
            yield "a cloud region without a place"
    if v and "year" not in v:
        yield "no year"
    yield from within(v, "pue", 1, 3)
    yield from within(v, "carbon_g_kwh", 1, 1500)
    yield from within(v, "year", 2010, 2100)
def check_node(entry):
    v = values(entry)
    if ":" in entry.get("id") and \
            entry.get("id").split(":")[0] != entry.get("vendor"):
        yield "the id does not begin with the vendor"
    of_any_cpu = entry.get("cpu") is None and v.get("gpus") == 0
    for name in ("sockets", "gpus", "memory_gb", "memory_w_gb", "rest_w",
                 "supply_efficiency", "cpu_idle_w", "year"):
        own = name in ("sockets", "memory_gb", "cpu_idle_w")
        if name not in v and not (of_any_cpu and own):
            yield f"no {name}"
    if (v.get("gpus", 0) > 0) != (entry.get("gpu") is not None):
        yield "gpus and gpu do not agree"
    yield from within(v, "year", 2010, 2100)


def no_check(_entry):
    return ()


CHECKS = {
    "accelerator": no_check,
    "architecture": no_check,
    "dataset": no_check,
    "grid": check_grid,
    "node": check_node,
    "site": check_site,
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


# What entries of a kind name, and the file it is in.
REFERENCES = (("site", "grid", "grids.xml"),
              ("node", "cpu", "cpus.xml"),
              ("node", "gpu", "accelerators.xml"),
              ("node", "site", "sites.xml"))


def check_references(path, root):
    """That what entries name is in the file beside them."""
    for kind, attribute, other in REFERENCES:
        beside = os.path.join(os.path.dirname(path), other)
        if root.get("kind") != kind or not os.path.exists(beside):
            continue
        known = {e.get("id")
                 for e in ET.parse(beside).getroot().findall("entry")}
        for entry in root.findall("entry"):
            name = entry.get(attribute)
            if name is not None and name not in known:
                yield f"{entry.get('id')}: {attribute} '{name}' is not known"


def check_file(path):
    root = ET.parse(path).getroot()
    entries = root.findall("entry")
    yield from check_names(entries)
    yield from check_sources(root)
    yield from check_references(path, root)
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
                        os.pardir, os.pardir, "data")
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
