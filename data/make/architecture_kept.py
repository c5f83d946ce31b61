#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Activations that the backward pass of an image network needs, from the block
that the network repeats (architecture_elementwise.py).

ratio(model, mixed) gives the elements that PyTorch's operators keep, by output
of a convolution or dense layer, or None. A map counts once, whichever operators
read it. Layers, norms and learned factors keep their inputs, a gate the map that
it scales, sums and copies nothing. An activation function in place that is
computed backward from its output (ReLU, leaky ReLU) needs that alone, others
(SiLU, GELU, hard swish, ReLU6) keep a copy of their input. A norm with the
activation in place (InPlace-ABN) keeps nothing beside its output. Weights of
attention are no part of it.

mixed: in units of 16 bits, under autocast, which computes layer norm and group
norm in FP32: what they read and put out has 32 bits, and so have sums with it;
what layers read is a copy in 16 bits.

usage: architecture_kept.py       prints both ratios of each block
"""
import re
import sys

import architecture_elementwise as elementwise

# Names that begin like this have functions of which the input is kept.
SMOOTH = re.compile(
    r"\w*efficientnet(?!_e[sml])|regnet[zv]|nf_regnet|(dm_|eca_)?nfnet|cs3|"
    r"mobilenetv2|mobilenetv3(?!\w*_minimal)|hardcorenas|lcnet|fbnetv3|"
    r"tinynet|mixnet|rexnet|(se)?mobilevit|vit|deit|beit|swin|xcit|cait|"
    r"convit|nest|volo|tnt|pit|crossvit|twins|levit|coat|visformer|edgenext|"
    r"convnext|g?mixer|gmlp|resmlp|poolformer|convmixer|sequencer|\w*\d+ts\b")
# Layer norms and group norms.
WIDE = re.compile(
    r"vit|deit|beit|swin|xcit|cait|convit|nest|volo|tnt|pit|crossvit|twins|"
    r"coat|convnext|edgenext|g?mixer|gmlp|poolformer|sequencer|mobilevitv2|"
    r"resnetv2_\w*(bit|gn|x\d)")
# Factors that are constants.
CONSTANT = re.compile(r"nf_|(dm_|eca_)?nfnet")
FUSED = re.compile(r"tresnet")
# Elements that the operators of a norm keep, by element (Liu et al. 2020).
MANY = {"e": 5, "f": 5}


class Walk:
    """The map that a block has come to: its width, the units of an element,
    and whether it is counted among what is kept."""

    def __init__(self, wide):
        self.wide = 2 if wide else 1
        self.width, self.size, self.counted = 1.0, self.wide, True
        self.kept, self.outputs = float(self.size), 0.0

    def keep(self, size):
        if not self.counted:
            self.kept += self.width * size
        self.counted = True

    def put(self, size):
        self.size, self.counted = size, False

    def layer(self, word):
        self.keep(1)
        if word != "d":
            self.width = float(word[1:])
        self.outputs += self.width
        self.put(1)

    def operator(self, letter, smooth, constant, fused):
        if letter in "n*g" and not (letter == "*" and constant):
            if not (letter == "n" and fused):
                self.keep(self.size)
            self.put(self.wide if letter == "n" else self.size)
        elif letter == "a":
            self.keep(self.size)
            if smooth:
                self.put(self.size)
        elif letter in MANY:
            self.kept += self.width * MANY[letter]
            self.put(self.size)
        elif letter == "+":
            self.put(self.wide)
        elif letter == "m":
            self.counted = False


def of_block(block, model, mixed):
    walk = Walk(mixed and WIDE.match(model))
    for word in block.split():
        if word[0] in "cd":
            walk.layer(word)
        elif word[0] in "=r":
            walk.width = float(word[1:])
            walk.counted |= word[0] == "r"
        elif word[0] == "p":  # keys, queries and values, and what it puts out
            walk.keep(2)
            walk.outputs += walk.width
            walk.put(1)
        elif word[0] not in "bt":
            for letter in word:
                walk.operator(letter, SMOOTH.match(model),
                              CONSTANT.match(model), FUSED.match(model))
    # The next block counts what it reads.
    if walk.counted:
        walk.kept -= walk.width * walk.size
    return walk.kept / walk.outputs


def ratio(model, mixed):
    block = elementwise.block_of(model)
    return (of_block(block, elementwise.plain(model), mixed)
            if isinstance(block, str) else None)


def values(model):
    """[(name, value, source, note)] of an entry of the catalogue."""
    note = "derived: what operators of the block that it repeats keep"
    found = [("kept_ratio", ratio(model, False), "timm", note),
             ("mixed_kept_ratio", ratio(model, True), "timm", note)]
    return [row for row in found if row[1]]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(2)
    for pattern, block in elementwise.BLOCKS:
        if isinstance(block, str):
            name = re.sub(r"\W.*", "", pattern)
            print("%-40s %.3g %.3g" % (pattern, of_block(block, name, False),
                                       of_block(block, name, True)))
