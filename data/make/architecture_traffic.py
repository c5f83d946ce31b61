#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels and memory traffic of the six networks of del Rey et al., without heads.

facts(entry) gives (launches, traffic_ratio) of an entry of the catalogue, or
None, and path(entry) the kernels on its longest path where some lie beside it.
Every layer of the Keras definition is one kernel that reads its input
and writes its output: convolution (with its bias), depthwise convolution,
batch norm, activation, sum, concatenation, pooling, padding. The ratio is of
the elements read and written to those that convolutions put out (acts_m).

usage: architecture_traffic.py       prints all
"""
import sys

SAME, VALID = True, False


class Layers:
    """A feature map is (side, channels)."""

    def __init__(self):
        self.kernels = self.moved = self.outputs = 0

    def run(self, read, out):
        self.kernels += 1
        self.moved += read + out[0] ** 2 * out[1]
        return out

    def side(self, x, k, s, same):
        return -(-x[0] // s) if same else (x[0] - k) // s + 1

    def conv(self, x, channels, k=1, s=1, same=SAME):
        out = self.run(size(x), (self.side(x, k, s, same), channels))
        self.outputs += size(out)
        return out

    def depthwise(self, x, k, s=1):
        return self.conv(x, x[1], k, s)

    def each(self, x, times=1):
        """Batch norm, an activation: as many elements out as in."""
        for _ in range(times):
            self.run(size(x), x)
        return x

    def plus(self, x):
        return self.run(2 * size(x), x)

    def concat(self, *maps):
        out = (maps[0][0], sum(m[1] for m in maps))
        return self.run(size(out), out)

    def pool(self, x, k, s, same=VALID):
        return self.run(size(x), (self.side(x, k, s, same), x[1]))

    def pad(self, x, by):
        return self.run(size(x), (x[0] + by, x[1]))

    def mean(self, x):
        self.run(size(x), (1, x[1]))

    # Compositions.
    def unit(self, x, channels, k=1, s=1, same=SAME):
        """Convolution, batch norm, activation."""
        return self.each(self.conv(x, channels, k, s, same), 2)

    def separable(self, x, channels, k, s=1):
        """Depthwise and pointwise convolution, batch norm."""
        return self.each(self.conv(self.depthwise(x, k, s), channels))


def size(x):
    return x[0] ** 2 * x[1]


def vgg16(net, px):
    x = (px, 3)
    for channels, n in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(n):
            x = net.each(net.conv(x, channels, 3))
        x = net.pool(x, 2, 2)
    net.mean(x)


def resnet50(net, px):
    x = net.each(net.conv(net.pad((px, 3), 6), 64, 7, 2, VALID), 2)
    x = net.pool(net.pad(x, 2), 3, 2)
    for stage, n in enumerate((3, 4, 6, 3)):
        narrow = 64 << stage
        for block in range(n):
            s = 2 if stage and not block else 1
            if not block:
                net.each(net.conv(x, 4 * narrow, 1, s))
            y = net.unit(net.unit(x, narrow, 1, s), narrow, 3)
            x = net.each(net.plus(net.each(net.conv(y, 4 * narrow))))
    net.mean(x)


def mobilenet_v2(net, px, width):
    def channels(n):
        wide = max(8, int(n * width + 4) // 8 * 8)
        return wide + 8 if wide < .9 * n * width else wide
    x = net.unit((px, 3), channels(32), 3, 2)
    for expand, out, n, first in (
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
            (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(n):
            s, y = (1 if i else first), x
            if expand > 1:
                y = net.unit(y, expand * x[1])
            if s == 2:
                net.pad(y, 1)
            y = net.each(net.depthwise(y, 3, s), 2)
            y = net.each(net.conv(y, channels(out)))
            if i:
                net.plus(y)
            x = y
    net.mean(net.unit(x, 1280))


def xception(net, px):
    x = net.unit(net.unit((px, 3), 32, 3, 2, VALID), 64, 3, 1, VALID)

    def shrink(x, middle, out, active):
        net.each(net.conv(x, out, 1, 2))
        if active:
            net.each(x)
        y = net.each(net.separable(x, middle, 3))
        return net.plus(net.pool(net.separable(y, out, 3), 3, 2, SAME))
    for out in (128, 256, 728):
        x = shrink(x, out, out, out > 128)
    for _ in range(8):
        for _ in range(3):
            net.separable(net.each(x), 728, 3)
        net.plus(x)
    x = shrink(x, 728, 1024, True)
    for out in (1536, 2048):
        x = net.each(net.separable(x, out, 3))
    net.mean(x)


def inception_v3(net, px):
    def path(x, *layers):
        for channels, k in layers:
            x = net.unit(x, channels, k)
        return x

    def pooled(x, channels):
        return net.unit(net.pool(x, 3, 1, SAME), channels)
    x = net.unit(net.unit((px, 3), 32, 3, 2, VALID), 32, 3, 1, VALID)
    x = net.unit(net.pool(net.unit(x, 64, 3), 3, 2), 80)
    x = net.pool(net.unit(x, 192, 3, 1, VALID), 3, 2)
    for channels in (32, 64, 64):
        x = net.concat(path(x, (64, 1)), path(x, (48, 1), (64, 5)),
                       path(x, (64, 1), (96, 3), (96, 3)),
                       pooled(x, channels))
    x = net.concat(net.unit(x, 384, 3, 2, VALID),
                   net.unit(path(x, (64, 1), (96, 3)), 96, 3, 2, VALID),
                   net.pool(x, 3, 2))
    for c in (128, 160, 160, 192):   # 7 x 1 and 1 x 7 count alike
        x = net.concat(path(x, (192, 1)), path(x, (c, 1), (c, 7), (192, 7)),
                       path(x, (c, 1), (c, 7), (c, 7), (c, 7), (192, 7)),
                       pooled(x, 192))
    x = net.concat(net.unit(path(x, (192, 1)), 320, 3, 2, VALID),
                   net.unit(path(x, (192, 1), (192, 7), (192, 7)), 192, 3, 2,
                            VALID), net.pool(x, 3, 2))
    for _ in range(2):
        parts = [path(x, (320, 1)), pooled(x, 192)]
        for y in (path(x, (384, 1)), path(x, (448, 1), (384, 3))):
            parts.append(net.concat(path(y, (384, 3)), path(y, (384, 3))))
        x = net.concat(*parts)


def nasnet_mobile(net, px):
    def twice(x, channels, k, s=1):
        """Activation and separable convolution, twice."""
        net.each(x)
        if s == 2:
            net.pad(x, k - 1)
        y = net.each(net.separable(x, channels, k, s))
        return net.separable(y, channels, k)

    def adjusted(p, x, channels):
        if p is None:
            return x
        if p[0] != x[0]:
            net.each(p)
            halves = [net.conv(net.pool(p, 1, 2, SAME), channels // 2)
                      for _ in range(2)]
            net.pad(p, 1)
            return net.each(net.concat(*halves))
        if p[1] != channels:
            return net.each(net.conv(net.each(p), channels))
        return p

    def squeezed(x, channels):
        return net.each(net.conv(net.each(x), channels))

    def normal(x, p, channels):
        p, h = adjusted(p, x, channels), squeezed(x, channels)
        for y, k in ((h, 5), (p, 3), (p, 5), (p, 3), (h, 3)):
            twice(y, channels, k)
        for y in (h, p, p):
            net.pool(y, 3, 1, SAME)
        for _ in range(5):
            net.plus(h)
        return net.concat(p, h, h, h, h, h), x

    def reduction(x, p, channels):
        p, h = adjusted(p, x, channels), squeezed(x, channels)
        net.pad(h, 2)
        y = twice(h, channels, 5, 2)
        for k in (7, 7, 5):
            twice(p, channels, k, 2)
        twice(y, channels, 3)
        for _ in range(3):
            net.pool(h, 3, 2, SAME)
        net.pool(y, 3, 1, SAME)
        for _ in range(5):
            net.plus(y)
        return net.concat(y, y, y, y), x
    base = 1056 // 24
    x, p = net.each(net.conv((px, 3), 32, 3, 2, VALID)), None
    x, p = reduction(x, p, base // 4)
    x, p = reduction(x, p, base // 2)
    for factor in (1, 2, 4):
        if factor > 1:
            x, p = reduction(x, p, base * factor)
        for _ in range(4):
            x, p = normal(x, p, base * factor)
    net.mean(net.each(x))


NETWORKS = {
    "inception_v3": inception_v3,
    "mobilenetv2_050": lambda net, px: mobilenet_v2(net, px, .5),
    "mobilenetv2_100": lambda net, px: mobilenet_v2(net, px, 1),
    "nasnetmobile": nasnet_mobile,
    "resnet50": resnet50,
    "vgg16": vgg16,
    "xception": xception,
}


def facts(entry, px=128):
    if entry not in NETWORKS:
        return None
    net = Layers()
    NETWORKS[entry](net, px)
    return net.kernels, net.moved / net.outputs


def path(entry):
    unit = 3                            # convolution, batch norm, activation
    twice = 2 * 4                       # of NASNet: activation and separable
    if entry == "inception_v3":         # a concatenation in each block
        return (5 * unit + 2 + 3 * (3 * unit + 1) + 3 * unit + 1 +
                4 * (5 * unit + 1) + 4 * unit + 1 + 2 * (3 * unit + 2))
    if entry == "nasnetmobile":         # squeezed, twice, sum, concatenated
        return 2 + 12 * (3 + twice + 2) + 4 * (3 + 2 * twice + 1 + 3) + 2
    # Shortcuts of a convolution and batch norm.
    if entry in ("resnet50", "xception"):
        return facts(entry)[0] - 4 * 2
    return None


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(2)
    for name in sorted(NETWORKS):
        print("%s launches %d traffic_ratio %.4g" % ((name,) + facts(name)))
