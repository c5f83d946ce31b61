#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work of the depthwise layers of image networks, from the blocks they consist
of (architecture_elementwise.py).

share(model, macs_g, acts_m) gives the part of a network's multiply-accumulates
that depthwise layers have, or None where the block has no such layer. An output
of such a layer takes as many as its kernel has weights:

    COUNTED x outputs / activations of the block x weights x activations / MACs

where the weights are the mean over the network's depthwise layers, by its paper.
Stem, head and the strides between have less of them than the block: MobileNetV2
and EfficientNet-B0, which are counted layer by layer, have .75 of it.

usage: architecture_depthwise.py     compares with networks that are counted
"""
import os
import re
import sys
import xml.etree.ElementTree

import architecture_elementwise as elementwise

COUNTED = .75

# Pattern at the beginning of a name, weights of a kernel: 3 x 3, 5 x 5, or a mean
# of both and of larger ones. The first that fits is used.
KERNELS = (
    (r"mobilenetv3_\w+_minimal|efficientnetv2", 9),
    # Howard et al. 2019, Tan et al. 2019, Tan and Le 2019, Wu et al. 2019,
    # Nayman et al. 2021, Cui et al. 2021
    (r"mobilenetv3|efficientnet|(sem|m|sp)nasnet|fbnet|hardcorenas|tinynet|lcnet",
     15),
    (r"mixnet", 41),            # 3, 5, 7, 9, 11 (Tan and Le 2019b)
    (r"nasnet", 25), (r"pnasnet", 33),      # Zoph et al. 2018, Liu et al. 2018
    (r"convnext", 49),          # Liu et al. 2022b
    (r"edgenext", 30),          # 3, 5, 7, 9 (Maaz et al. 2022)
    (r"coat", 18),              # 3, and 3, 5, 7 (Xu et al. 2021)
    (r"mobilenet|rexnet|ghostnet|xception|\w*vovnet|xcit|(se)?mobilevit", 9),
)


def weights(model):
    model = elementwise.plain(model)
    side = re.search(r"convmixer_\w*ks(\d+)", model)  # Trockman and Kolter 2022
    if side:
        return int(side[1]) ** 2
    return next((n for pattern, n in KERNELS if re.match(pattern, model)), None)


def outputs(block):
    """Those of depthwise layers, by activation."""
    width, of = 1.0, 0
    for word in block.split():
        if word[0] in "cd=":
            width = float(word[1:]) if word[1:] else width
            of += width if word[0] == "d" else 0
    return of / elementwise.count(block)[1]


def share(model, macs_g, acts_m):
    block = elementwise.block_of(model)
    if not isinstance(block, str) or not outputs(block) or not weights(model):
        return None
    return COUNTED * outputs(block) * weights(model) * acts_m / macs_g / 1e3


def values(model, figures):
    """[(name, value, source, note)] of an entry of the catalogue; figures:
    (name, source, text, ...) of MACs and activations at one input."""
    size = {name: float(text) for name, _, text, *_ in figures}
    known = "acts_m" in size and share(model, size["macs_g"], size["acts_m"])
    return [("depthwise_share", known, "timm", "derived: depthwise layers of the "
             "block that it repeats")] if known else []


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                        os.pardir, "data", "architectures.xml")
    for e in xml.etree.ElementTree.parse(path).getroot().iter("entry"):
        known = {v.get("name"): v for v in e.findall("value")}
        size = {v.get("name"): float(v.text) for v in e.find("input")}
        counted = known.get("depthwise_share")
        if counted is None or "block" in (counted.get("note") or ""):
            continue
        found = share(e.get("id"), size["macs_g"], size["acts_m"])
        if found:
            print("%-24s %.4f, counted %s" % (e.get("id"), found, counted.text))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(2)
    main()
