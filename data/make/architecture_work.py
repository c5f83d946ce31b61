#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traffic, padded and depthwise work of residual and mobile networks for
classification, layer by layer (task_layers.py).

facts(entry) gives (traffic_ratio, padding_ratio, depthwise_share) of an entry
of the catalogue, or None; values(entry) those and what architecture_traffic.py
counts, each with its name, source and note.

usage: architecture_work.py       prints all, with MACs and outputs at 224 px
"""
import math
import sys

import architecture_shapes as shapes
import architecture_traffic as traffic
from task_layers import TILE_IN, TILE_OUT, Net, up_to

DEPTHS = {"18": (2, 2, 2, 2), "34": (3, 4, 6, 3), "50": (3, 4, 6, 3),
          "101": (3, 4, 23, 3), "152": (3, 8, 36, 3)}


def elements(x):
    return x[0] * math.prod(x[1])


def gate(n, x, squeezed):
    """Squeeze and excitation: mean, two dense layers, product."""
    n.op(1, 0, elements(x) // 2)
    n.dense(1, x[0], squeezed)
    n.op()
    n.dense(1, squeezed, x[0])
    n.op()
    n.op(1, 0, elements(x))


def stem(n, px):
    x = n.conv((3, (px, px)), 64, 7, 2)
    x = (x[0], tuple(-(-v // 2) for v in x[1]))
    n.op()
    return x


def classifier(n, x, classes=1000):
    n.op(1, 0, elements(x) // 2)
    n.dense(1, x[0], classes)


def resnet(n, px, depths, basic=False, groups=1, base=64, gated=False):
    """He et al. 2016, Xie et al. 2017, Hu et al. 2018: `groups` of base / 32
    channels in the first stage."""
    x = stem(n, px)
    for i, depth in enumerate(depths):
        width = base * groups // (32 if groups > 1 else 1) * 2 ** i
        out = width if basic else 256 * 2 ** i
        for j in range(depth):
            s = 2 if i and not j else 1
            if basic:
                h = n.conv(n.conv(x, width, 3, s), width, 3, act=0)
            else:
                h = n.conv(n.conv(x, width, 1), width, 3, s, groups=groups)
                h = n.conv(h, out, 1, act=0)
            if gated:
                gate(n, h, out // 16)
            if x[0] != out or s > 1:
                n.conv(x, out, 1, s, act=0)
            n.op(2, 0, elements(h))
            x = h
    classifier(n, x)


def channels(c, factor):
    """Rounded to eights, by no more than a tenth down."""
    c *= factor
    rounded = max(8, int(c + 4) // 8 * 8)
    return rounded + 8 if rounded < .9 * c else rounded


def inverted(n, x, out, k, s, widen, gated):
    """Inverted bottleneck of Sandler et al. 2018 and Tan and Le 2019."""
    h = n.conv(x, x[0] * widen, 1) if widen > 1 else x
    h = n.conv(h, h[0], k, s, groups=h[0])
    if gated:
        gate(n, h, max(1, x[0] // 4))
    y = n.conv(h, out, 1, act=0)
    if y == x:
        n.op()
    return y


def efficientnet_stages(n, px, width, depth):
    """Tan and Le 2019: the maps of the seven stages."""
    x, maps = n.conv((3, (px, px)), channels(32, width), 3, 2), []
    for widen, c, layers, k, s in (
            (1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2),
            (6, 80, 3, 3, 2), (6, 112, 3, 5, 1), (6, 192, 4, 5, 2),
            (6, 320, 1, 3, 1)):
        for j in range(math.ceil(layers * depth)):
            x = inverted(n, x, channels(c, width), k, 1 if j else s, widen,
                         True)
        maps.append(x)
    return maps


def efficientnet(n, px, width, depth):
    x = efficientnet_stages(n, px, width, depth)[-1]
    classifier(n, n.conv(x, channels(1280, width), 1))


def mobilenet_v2(n, px, width):
    """Sandler et al. 2018."""
    x = n.conv((3, (px, px)), channels(32, width), 3, 2)
    for widen, c, layers, s in (
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
            (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for j in range(layers):
            x = inverted(n, x, channels(c, width), 3, 1 if j else s, widen,
                         False)
    classifier(n, n.conv(x, max(1280, channels(1280, width)), 1))


def of(function, *args, **named):
    return lambda n, px: function(n, px, *args, **named)


NETWORKS = {"resnet%s" % d: of(resnet, DEPTHS[d], d in ("18", "34"))
            for d in DEPTHS}
for _d, _g, _b in (("50", 32, 128), ("101", 32, 128), ("101", 32, 256)):
    _name = "resnext%s_%dx%dd" % (_d, _g, _b // 32)
    NETWORKS[_name] = of(resnet, DEPTHS[_d], groups=_g, base=_b)
    NETWORKS["se" + _name] = of(resnet, DEPTHS[_d], groups=_g, base=_b,
                                gated=True)
for _i, _scale in enumerate(((1, 1), (1, 1.1), (1.1, 1.2), (1.2, 1.4),
                             (1.4, 1.8), (1.6, 2.2), (1.8, 2.6), (2, 3.1))):
    NETWORKS["efficientnet_b%d" % _i] = of(efficientnet, *_scale)
for _w in (50, 75, 100, 140):
    NETWORKS["mobilenetv2_%03d" % _w] = of(mobilenet_v2, _w / 100)


def count(entry, px=224):
    n = Net()
    NETWORKS[entry](n, px)
    return n


class Padded(shapes.Count):
    """Tiles and depthwise layers of networks without other groups."""

    padded = depthwise = 0

    def conv(self, x, out, k=1, s=1, pad="same", groups=1, **more):
        before = self.macs
        y = super().conv(x, out, k, s, pad, groups, **more)
        if groups > 1:
            self.depthwise += self.macs - before
        else:
            ran = x[1] * (k[0] * k[1] if isinstance(k, tuple) else k * k)
            self.padded += y[0] ** 2 * up_to(out, TILE_OUT) * \
                up_to(ran, TILE_IN)
        return y

    def linear(self, n, out):
        self.padded += n * out
        return super().linear(n, out)


# Networks that models were learnt on and that Net does not walk: their inputs
# and sources.
SHAPES = {"inception_v3": (299, "timm"), "nasnetmobile": (224, "zoph2018"),
          "shufflenet_v2_x1_0": (224, "torchvision"), "vgg16": (224, "timm"),
          "xception": (299, "timm")}


def split(entry):
    """(padding_ratio, depthwise_share) by the shapes of layers, or None."""
    if entry not in SHAPES:
        return None
    n = Padded()
    shapes.NETWORKS[entry](n, SHAPES[entry][0])
    return n.padded / n.macs, n.depthwise / n.macs


def facts(entry):
    if entry not in NETWORKS:
        return None
    n = count(entry)
    return n.moved / n.acts, n.padded / n.macs, n.depthwise / n.macs


def values(entry):
    """[(name, value, source, note)]: kernels and traffic of the networks that
    models were learnt on are those of Keras."""
    found = {n: (v, "timm", "derived: counted layer by layer")
             for n, v in zip(("traffic_ratio", "padding_ratio",
                              "depthwise_share"), facts(entry) or ())}
    found.update((n, (v, SHAPES[entry][1], "derived: from the layer shapes"))
                 for n, v in zip(("padding_ratio", "depthwise_share"),
                                 split(entry) or ()))
    keras = "derived: layers of the Keras network without its head, one " \
        "kernel each"
    found.update((n, (v, "delrey2024", keras))
                 for n, v in zip(("launches", "traffic_ratio"),
                                 traffic.facts(entry) or ()))
    if traffic.path(entry):
        found["launch_path"] = (
            traffic.path(entry), "delrey2024",
            "derived: longest path through those layers")
    order = ("launches", "launch_path", "traffic_ratio", "padding_ratio", "depthwise_share")
    return [(n, *found[n]) for n in order if n in found]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(2)
    for name in NETWORKS:
        counted = count(name)
        print("%s %.4g GMAC %.4g M outputs %.5g M parameters; traffic %.4g, "
              "padding %.4g, depthwise %.3g" % (
                  name, counted.macs / 1e9, counted.acts / 1e6,
                  counted.params / 1e6, *facts(name)))
