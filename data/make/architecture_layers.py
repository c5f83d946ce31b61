#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers and kernel launches of image networks, from their depths.

count(model, vit) gives (layers, launches) of a network of timm's tables, or
None. The rule is that of architectures-from-torchvision.py: a convolution or
dense layer is a layer; an operator that computes or copies is a launch, in
inference mode; views and shapes are none; nothing is fused. Blocks of
transformers launch what torchvision's do.

usage: architecture_layers.py --check
Holds the formulas against architectures-torchvision.csv.
"""
import csv
import os
import re
import sys

RESNET = {"10": (1, 1, 1, 1), "14": (1, 1, 1, 1), "18": (2, 2, 2, 2),
          "26": (2, 2, 2, 2), "34": (3, 4, 6, 3), "50": (3, 4, 6, 3),
          "101": (3, 4, 23, 3), "152": (3, 8, 36, 3), "200": (3, 24, 36, 3),
          "269": (3, 30, 48, 8), "270": (4, 29, 53, 4), "350": (4, 36, 72, 4),
          "420": (4, 44, 87, 4)}
RESNET_NAME = re.compile(r"(wide_|eca|se)?(resnet|resnext|resnetrs)(\d+)"
                         r"([cdst]?)(?:_\d+x\d+d|_2)?$")
DENSENET = {"121": (6, 12, 24, 16), "161": (6, 12, 36, 24),
            "169": (6, 12, 32, 32), "201": (6, 12, 48, 32),
            "264": (6, 12, 64, 48)}
VGG = {"11": 8, "13": 10, "16": 13, "19": 16}
REGNET = {
    "x_002": 13, "x_004": 22, "x_006": 16, "x_008": 16, "x_016": 18,
    "x_032": 25, "x_040": 23, "x_064": 17, "x_080": 23, "x_120": 19,
    "x_160": 22, "x_320": 23,
    "y_002": 13, "y_004": 16, "y_006": 15, "y_008": 14, "y_016": 27,
    "y_032": 21, "y_040": 22, "y_064": 25, "y_080": 17, "y_120": 19,
    "y_160": 18, "y_320": 20, "y_640": 20, "y_1280": 27}
CONVNEXT = {"atto": 12, "femto": 12, "pico": 12, "nano": 14, "tiny": 18,
            "small": 36, "base": 36, "large": 36, "xlarge": 36}
# Inverted bottlenecks: blocks, those that do not widen, additions.
EFFICIENTNET = {"b0": (16, 1, 9), "b1": (23, 2, 16), "b2": (23, 2, 16),
                "b3": (26, 2, 19), "b4": (32, 2, 25), "b5": (39, 3, 32),
                "b6": (45, 3, 38), "b7": (55, 4, 48), "b8": (61, 4, 54)}
LITE = {"lite0": (16, 1, 9), "lite1": (23, 1, 16), "lite2": (23, 1, 16),
        "lite3": (26, 1, 19), "lite4": (32, 1, 25)}
SWIN = {"tiny": 12, "small": 24, "base": 24, "large": 24}


def resnet(model):
    m = RESNET_NAME.match(model)
    if not m or m[3] not in RESNET:
        return None
    gate, kind, number, variant = m.groups()
    if kind == "resnetrs":
        gate, variant = "se", "d"
    basic = number in ("10", "18", "34") and kind == "resnet"
    layers, launches = (2, 7) if basic else (3, 10)
    if gate == "se":        # mean, two convolutions, two activations, product
        layers, launches = layers + 2, launches + 6
    elif gate == "eca":     # mean, convolution, activation, product
        layers, launches = layers + 1, launches + 4
    blocks = sum(RESNET[number])
    skips = 3 if basic else 4
    deep = 3 if variant in ("c", "d", "s", "t") else 1
    total = blocks * launches + 2 * skips + 3 * deep + 1 + 2
    if variant in ("d", "t"):           # three shortcuts are pooled
        total += 3
    return blocks * layers + skips + deep + 1, total


def densenet(model):
    m = re.match(r"densenet(\d+)$", model)
    if not m or m[1] not in DENSENET:
        return None
    blocks = sum(DENSENET[m[1]])
    # A layer joins all maps before it, and norms, activates and convolves
    # twice; a block joins them once more.
    return 2 * blocks + 5, 7 * blocks + 4 + 3 * 4 + 4 + 4


def vgg(model):
    m = re.match(r"vgg(\d+)(_bn)?$", model)
    if not m:
        return None
    convs = VGG[m[1]]
    return convs + 3, convs * (3 if m[2] else 2) + 5 + 1 + 5


def regnet(model):
    m = re.match(r"regnet([xy])_?(\d+)$", model)
    if not m or m[1] + "_" + m[2] not in REGNET:
        return None
    blocks, gate = REGNET[m[1] + "_" + m[2]], m[1] == "y"
    layers, launches = (5, 16) if gate else (3, 10)
    return layers * blocks + 4 + 2, launches * blocks + 8 + 3 + 2


def convnext(model):
    m = re.match(r"convnext_([a-z]+)$", model)
    if not m or m[1] not in CONVNEXT:
        return None
    return 3 * CONVNEXT[m[1]] + 5, 9 * CONVNEXT[m[1]] + 12


def efficientnet(model):
    m = re.match(r"(?:tf_)?efficientnet_(b\d|lite\d)$", model)
    shape = m and (EFFICIENTNET.get(m[1]) or LITE.get(m[1]))
    if not shape:
        return None
    blocks, thin, adds = shape
    # Widening and depthwise with activations, narrowing without.
    layers, launches = 3 * blocks - thin, 8 * blocks - 3 * thin + adds
    if m[1][0] == "b":                  # gates
        layers, launches = layers + 2 * blocks, launches + 6 * blocks
    return layers + 3, launches + 3 + 3 + 2


def mobilenetv2(model):
    if not re.match(r"mobilenetv2_(?:\d\d\d|no_top)$", model):
        return None
    return 53, 8 * 17 - 3 + 10 + 3 + 3 + 2


def swin(model):
    m = re.match(r"swin_([a-z]+)_", model)
    if not m or m[1] not in SWIN:
        return None
    # Every other block shifts its windows and masks them; blocks whose map is
    # one window need not.
    return 4 * SWIN[m[1]] + 5, 69 * SWIN[m[1]] // 2 - 11


def transformer(vit):
    """Normalise, project, attend, project, add; and two dense layers."""
    return 4 * vit.depth + 2, 17 * vit.depth + 5


def count(model, vit=None):
    if vit:
        plain = re.match(r"(?:vit|deit)_(?:x?small|tiny|medium|base|large|huge|"
                         r"giant|gigantic|betwixt)_patch\d+(?:_clip)?_\d+$",
                         model)
        return transformer(vit) if plain else None
    for of in (resnet, densenet, vgg, regnet, convnext, efficientnet,
               mobilenetv2, swin):
        found = of(model)
        if found:
            return found
    return None


# torchvision's name -> name here
SAME = dict([(n, n) for n in (
    "resnet18", "resnet34", "resnet50", "resnet101", "resnet152",
    "wide_resnet50_2", "wide_resnet101_2", "resnext50_32x4d",
    "resnext101_32x8d", "resnext101_64x4d", "densenet121", "densenet161",
    "densenet169", "densenet201", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn",
    "vgg16", "vgg16_bn", "vgg19", "vgg19_bn", "convnext_tiny",
    "convnext_small", "convnext_base", "convnext_large")] + [
    ("efficientnet_b%d" % i, "efficientnet_b%d" % i) for i in range(8)] + [
    ("mobilenet_v2", "mobilenetv2_100"), ("regnet_x_1_6gf", "regnetx_016"),
    ("regnet_x_3_2gf", "regnetx_032"), ("regnet_x_8gf", "regnetx_080"),
    ("regnet_x_16gf", "regnetx_160"), ("regnet_x_32gf", "regnetx_320"),
    ("regnet_x_800mf", "regnetx_008"), ("regnet_y_400mf", "regnety_004"),
    ("regnet_y_1_6gf", "regnety_016"), ("regnet_y_3_2gf", "regnety_032"),
    ("regnet_y_16gf", "regnety_160"), ("regnet_y_32gf", "regnety_320"),
    ("regnet_y_128gf", "regnety_1280"),
    ("swin_t", "swin_tiny_x"), ("swin_s", "swin_small_x"),
    ("swin_b", "swin_base_x")])


def check():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "architectures-torchvision.csv")
    wrong = 0
    with open(path, newline="", encoding="utf-8") as table:
        for r in csv.DictReader(table):
            if r["model"] not in SAME or r["image_px"] != "224":
                continue
            ours = count(SAME[r["model"]])
            theirs = (int(r["layers"]), int(r["launches"]))
            if ours != theirs:
                print("%s: %s, counted %s" % (r["model"], ours, theirs))
                wrong += 1
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        sys.stderr.write(__doc__)
        sys.exit(2)
    sys.exit(check())
