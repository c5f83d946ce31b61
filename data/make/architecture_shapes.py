#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of small image networks, from the shapes of their layers.

Walks a network layer by layer and counts, for one sample and one forward
pass, the multiply-accumulates (MACs) of its convolution and linear layers,
the elements those layers put out (activations, as timm counts them) and the
trainable parameters. Pooling, batch norm and addition cost nothing here.

It serves two kinds of entries of data/architectures.xml: networks that no
table lists with activations, and networks with unpadded convolutions
(Inception, Xception), whose cost does not follow the image area. --check
holds the walk against published figures.

usage: architecture_shapes.py [--check | NETWORK PX]
"""
import sys


class Count:
    """Sums over the layers walked; a feature map is (side, channels)."""

    def __init__(self):
        self.macs = self.acts = self.params = self.layers = 0
        self.head = None        # inputs and outputs of the last dense layer

    def conv(self, x, out, k=1, s=1, pad="same", groups=1, bias=0, bn=2):
        """Convolution k x k (or k = (height, width)), stride s, padding
        'same', 'valid' or a number of pixels; bn = 2 counts batch norm."""
        side, chan = x
        kh, kw = k if isinstance(k, tuple) else (k, k)
        if pad == "same":
            o = -(-side // s)
        else:
            o = (side + 2 * (0 if pad == "valid" else pad) - kh) // s + 1
        weights = kh * kw * (chan // groups) * out
        self.layers += 1
        self.macs += o * o * weights
        self.acts += o * o * out
        self.params += weights + out * (bias + bn)
        return (o, out)

    def dw(self, x, k, s=1, pad="same"):
        return self.conv(x, x[1], k, s, pad, groups=x[1])

    def sep(self, x, out, k, s=1):
        """Depthwise and pointwise convolution, one batch norm."""
        x = self.conv(x, x[1], k, s, groups=x[1], bn=0)
        return self.conv(x, out)

    def linear(self, n, out):
        self.layers += 1
        self.head = (n, out)
        self.macs += n * out
        self.acts += out
        self.params += (n + 1) * out
        return out


def pool(x, k=3, s=2, pad=0, ceil=False):
    span = x[0] + 2 * pad - k
    return ((-(-span // s) if ceil else span // s) + 1, x[1])


def join(*maps):
    assert len({m[0] for m in maps}) == 1, maps
    return (maps[0][0], sum(m[1] for m in maps))


def divisible(v, d=8):
    n = max(d, int(v + d / 2) // d * d)
    return n + d if n < 0.9 * v else n


def alexnet(n, px, classes=1000):
    x = pool(n.conv((px, 3), 64, 11, 4, 2, bias=1, bn=0))
    x = pool(n.conv(x, 192, 5, 1, 2, bias=1, bn=0))
    for c in (384, 256, 256):
        x = n.conv(x, c, 3, bias=1, bn=0)
    n.linear(n.linear(n.linear(256 * 36, 4096), 4096), classes)


def squeezenet(n, px, version, classes=1000):
    def fire(x, squeeze, expand):
        x = n.conv(x, squeeze, bias=1, bn=0)
        return join(n.conv(x, expand, 1, bias=1, bn=0),
                    n.conv(x, expand, 3, bias=1, bn=0))
    c, k, pools = (96, 7, (3, 7)) if version == "1_0" else (64, 3, (2, 4))
    x = pool(n.conv((px, 3), c, k, 2, "valid", bias=1, bn=0), ceil=True)
    for i, c in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        x = fire(x, c, 4 * c)
        if i + 1 in pools:
            x = pool(x, ceil=True)
    n.conv(x, classes, bias=1, bn=0)


def googlenet(n, px, classes=1000):
    def mixed(x, a, b1, b2, c1, c2, d):
        return join(n.conv(x, a), n.conv(n.conv(x, b1), b2, 3),
                    n.conv(n.conv(x, c1), c2, 3), n.conv(x, d))
    x = pool(n.conv((px, 3), 64, 7, 2, 3), ceil=True)
    x = pool(n.conv(n.conv(x, 64), 192, 3), ceil=True)
    x = mixed(x, 64, 96, 128, 16, 32, 32)
    x = pool(mixed(x, 128, 128, 192, 32, 96, 64), ceil=True)
    x = mixed(x, 192, 96, 208, 16, 48, 64)
    x = mixed(x, 160, 112, 224, 24, 64, 64)
    x = mixed(x, 128, 128, 256, 24, 64, 64)
    x = mixed(x, 112, 144, 288, 32, 64, 64)
    x = pool(mixed(x, 256, 160, 320, 32, 128, 128), 2, ceil=True)
    x = mixed(x, 256, 160, 320, 32, 128, 128)
    x = mixed(x, 384, 192, 384, 48, 128, 128)
    n.linear(x[1], classes)


def shufflenet_v2(n, px, widths, classes=1000):
    x = pool(n.conv((px, 3), 24, 3, 2, 1), pad=1)
    for c, repeats in zip(widths, (4, 8, 4)):
        half = c // 2
        left = n.conv(n.dw(x, 3, 2, 1), half)
        right = n.conv(n.dw(n.conv(x, half), 3, 2, 1), half)
        x = join(left, right)
        for _ in range(repeats - 1):
            n.conv(n.dw(n.conv((x[0], half), half), 3), half)
    n.linear(n.conv(x, widths[3])[1], classes)


def mbconv(n, x, t, out, k, s, squeeze=0):
    """Inverted bottleneck; squeeze: channels of squeeze-and-excite."""
    wide = x[1] if t == 1 else int(round(t * x[1]))
    if t != 1:
        x = n.conv(x, wide)
    x = n.dw(x, k, s)
    if squeeze:
        n.conv(n.conv((1, wide), squeeze, bias=1, bn=0), wide, bias=1, bn=0)
    return n.conv(x, out)


def mobilenet_v2(n, px, alpha, classes=1000):
    x = n.conv((px, 3), divisible(32 * alpha), 3, 2)
    for t, c, repeats, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                             (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                             (6, 320, 1, 1)):
        for i in range(repeats):
            x = mbconv(n, x, t, divisible(c * alpha), 3, s if i == 0 else 1)
    x = n.conv(x, divisible(1280 * max(1, alpha)))
    if classes:
        n.linear(x[1], classes)


def mnasnet(n, px, alpha, classes=1000):
    x = n.conv((px, 3), divisible(32 * alpha), 3, 2)
    x = n.conv(n.dw(x, 3), divisible(16 * alpha))
    for t, c, repeats, k, s in ((3, 24, 3, 3, 2), (3, 40, 3, 5, 2),
                                (6, 80, 3, 5, 2), (6, 96, 2, 3, 1),
                                (6, 192, 4, 5, 2), (6, 320, 1, 3, 1)):
        for i in range(repeats):
            x = mbconv(n, x, t, divisible(c * alpha), k, s if i == 0 else 1)
    n.linear(n.conv(x, 1280)[1], classes)


V3_LARGE = ((3, 16, 16, 0, 1), (3, 64, 24, 0, 2), (3, 72, 24, 0, 1),
            (5, 72, 40, 1, 2), (5, 120, 40, 1, 1), (5, 120, 40, 1, 1),
            (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 184, 80, 0, 1),
            (3, 184, 80, 0, 1), (3, 480, 112, 1, 1), (3, 672, 112, 1, 1),
            (5, 672, 160, 1, 2), (5, 960, 160, 1, 1), (5, 960, 160, 1, 1))
V3_SMALL = ((3, 16, 16, 1, 2), (3, 72, 24, 0, 2), (3, 88, 24, 0, 1),
            (5, 96, 40, 1, 2), (5, 240, 40, 1, 1), (5, 240, 40, 1, 1),
            (5, 120, 48, 1, 1), (5, 144, 48, 1, 1), (5, 288, 96, 1, 2),
            (5, 576, 96, 1, 1), (5, 576, 96, 1, 1))


def mobilenet_v3(n, px, rows, head, classes=1000):
    x = n.conv((px, 3), 16, 3, 2)
    for k, wide, out, se, s in rows:
        x = mbconv(n, x, wide / x[1], out, k, s,
                   divisible(wide / 4) if se else 0)
    x = n.conv(x, 6 * x[1])
    n.linear(n.linear(x[1], head), classes)


def inception_v3(n, px, classes=1000):
    def chain(x, *steps):
        for out, k in steps:
            x = n.conv(x, out, k)
        return x
    x = n.conv((px, 3), 32, 3, 2, "valid")
    x = n.conv(n.conv(x, 32, 3, 1, "valid"), 64, 3)
    x = pool(n.conv(n.conv(pool(x), 80), 192, 3, 1, "valid"))
    for c in (32, 64, 64):
        x = join(n.conv(x, 64), chain(x, (48, 1), (64, 5)),
                 chain(x, (64, 1), (96, 3), (96, 3)), n.conv(x, c))
    x = join(n.conv(x, 384, 3, 2, "valid"),
             n.conv(chain(x, (64, 1), (96, 3)), 96, 3, 2, "valid"), pool(x))
    row, col = (1, 7), (7, 1)
    for c in (128, 160, 160, 192):
        x = join(n.conv(x, 192), chain(x, (c, 1), (c, row), (192, col)),
                 chain(x, (c, 1), (c, col), (c, row), (c, col), (192, row)),
                 n.conv(x, 192))
    x = join(n.conv(n.conv(x, 192), 320, 3, 2, "valid"),
             n.conv(chain(x, (192, 1), (192, row), (192, col)), 192, 3, 2,
                    "valid"), pool(x))
    for _ in range(2):
        b, c = n.conv(x, 384), chain(x, (448, 1), (384, 3))
        x = join(n.conv(x, 320), *(n.conv(m, 384, k) for m in (b, c)
                                   for k in ((1, 3), (3, 1))), n.conv(x, 192))
    if classes:
        n.linear(x[1], classes)
    return x


def xception(n, px, classes=1000):
    x = n.conv(n.conv((px, 3), 32, 3, 2, "valid"), 64, 3, 1, "valid")
    for c in (128, 256, 728):
        skip = n.conv(x, c, 1, 2)
        n.sep(n.sep(x, c, 3), c, 3)
        x = skip
    for _ in range(24):
        x = n.sep(x, 728, 3)
    skip = n.conv(x, 1024, 1, 2)
    n.sep(n.sep(x, 728, 3), 1024, 3)
    x = n.sep(n.sep(skip, 1536, 3), 2048, 3)
    if classes:
        n.linear(x[1], classes)


def nasnet(n, px, penultimate, repeats, stem, skip_reduction, classes=1000):
    """NASNet-A (Zoph et al. 2018), as Keras and timm build it."""
    def sep2(x, out, k, s=1):
        return n.sep(n.sep(x, out, k, s), out, k)

    def adjust(p, x, f):
        if p is None:
            return x
        if p[0] != x[0]:
            half = [n.conv(p, f // 2, 1, 2, bn=0) for _ in "12"]
            n.params += 2 * f
            return join(*half)
        return n.conv(p, f) if p[1] != f else p

    def normal(x, p, f):
        p, h = adjust(p, x, f), n.conv(x, f)
        sep2(h, f, 5), sep2(p, f, 3)
        sep2(p, f, 5), sep2(p, f, 3)
        sep2(h, f, 3)
        return (h[0], p[1] + 5 * f), x

    def reduction(x, p, f):
        p, h = adjust(p, x, f), n.conv(x, f)
        x1 = sep2(h, f, 5, 2)
        sep2(p, f, 7, 2), sep2(p, f, 7, 2), sep2(p, f, 5, 2)
        sep2(x1, f, 3)
        return (x1[0], 4 * f), x

    f = penultimate // 24
    x = n.conv((px, 3), stem, 3, 2, "valid")
    x, p = reduction(x, None, f // 4)
    x, p = reduction(x, p, f // 2)
    for factor in (1, 2, 4):
        if factor > 1:
            x, before = reduction(x, p, f * factor)
            p = p if skip_reduction else before
        for _ in range(repeats):
            x, p = normal(x, p, f * factor)
    if classes:
        n.linear(x[1], classes)


def resnet50_v1(n, px, classes=0):
    """ResNet-50 as first published: the stride is in the 1 x 1 layer."""
    x = pool(n.conv((px, 3), 64, 7, 2, 3), pad=1)
    for i, (c, repeats) in enumerate(zip((64, 128, 256, 512), (3, 4, 6, 3))):
        for j in range(repeats):
            s = 2 if i > 0 and j == 0 else 1
            if j == 0:
                n.conv(x, 4 * c, 1, s)
            x = n.conv(n.conv(n.conv(x, c, 1, s), c, 3), 4 * c)
    if classes:
        n.linear(x[1], classes)


def vgg16(n, px, classes=0):
    x = (px, 3)
    for c, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            x = n.conv(x, c, 3, bias=1, bn=0)
        x = pool(x, 2)
    if classes:
        n.linear(n.linear(n.linear(512 * 49, 4096), 4096), classes)


SHUFFLE = {"0_5": (48, 96, 192, 1024), "1_0": (116, 232, 464, 1024),
           "1_5": (176, 352, 704, 1024), "2_0": (244, 488, 976, 2048)}
NETWORKS = {
    "alexnet": alexnet,
    "squeezenet1_0": lambda n, px: squeezenet(n, px, "1_0"),
    "squeezenet1_1": lambda n, px: squeezenet(n, px, "1_1"),
    "googlenet": googlenet,
    "inception_v3": inception_v3,
    "inception_v3_no_top": lambda n, px: inception_v3(n, px, 0),
    "xception": xception,
    "xception_no_top": lambda n, px: xception(n, px, 0),
    "nasnetmobile": lambda n, px: nasnet(n, px, 1056, 4, 32, False),
    "nasnetmobile_no_top": lambda n, px: nasnet(n, px, 1056, 4, 32, False, 0),
    "nasnetalarge": lambda n, px: nasnet(n, px, 4032, 6, 96, True),
    "resnet50_v1": lambda n, px: resnet50_v1(n, px, 1000),
    "resnet50_v1_no_top": resnet50_v1,
    "vgg16": lambda n, px: vgg16(n, px, 1000),
    "vgg16_no_top": vgg16,
    "mnasnet_100": lambda n, px: mnasnet(n, px, 1.0),
    "mnasnet1_3": lambda n, px: mnasnet(n, px, 1.3),
    "mobilenetv2_050_no_top": lambda n, px: mobilenet_v2(n, px, 0.5, 0),
    "mobilenetv3_large_100": lambda n, px: mobilenet_v3(n, px, V3_LARGE, 1280),
    "mobilenetv3_small_100": lambda n, px: mobilenet_v3(n, px, V3_SMALL, 1024),
}
for _name, _w in SHUFFLE.items():
    NETWORKS["shufflenet_v2_x" + _name] = (
        lambda n, px, w=_w: shufflenet_v2(n, px, w))
for _a in (35, 50, 75, 100, 140):
    NETWORKS["mobilenetv2_%03d" % _a] = (
        lambda n, px, a=_a / 100: mobilenet_v2(n, px, a))


def cost(name, px):
    """(MACs in G, activations in M, parameters in M) of one sample."""
    n = Count()
    NETWORKS[name](n, px)
    return n.macs / 1e9, n.acts / 1e6, n.params / 1e6


def layers_and_head(name):
    n = Count()
    NETWORKS[name](n, 224)
    return n.layers, n.head


# Published: timm results tables, torchvision's own figures, the NASNet
# paper, half the GFLOPs of arXiv 2307.05520 (whose heads add 0 to 8 %).
PUBLISHED = (
    ("alexnet", 224, 0.714, None, 61.10),
    ("squeezenet1_0", 224, 0.819, None, 1.248),
    ("squeezenet1_1", 224, 0.349, None, 1.235),
    ("googlenet", 224, 1.498, None, 6.625),
    ("shufflenet_v2_x0_5", 224, 0.040, None, 1.367),
    ("shufflenet_v2_x1_0", 224, 0.145, None, 2.279),
    ("inception_v3", 299, 5.73, 8.97, 23.83),
    ("xception", 299, 8.40, 35.83, 22.86),
    ("nasnetalarge", 331, 23.89, 90.56, 88.75),
    ("nasnetmobile", 224, 0.564, None, 5.3),
    ("vgg16", 224, 15.47, 13.56, 138.36),
    ("mnasnet_100", 224, 0.33, 5.46, 4.38),
    ("mobilenetv2_035", 224, 0.07, 2.86, 1.68),
    ("mobilenetv2_050", 224, 0.10, 3.64, 1.97),
    ("mobilenetv2_075", 224, 0.22, 5.86, 2.64),
    ("mobilenetv2_100", 224, 0.31, 6.68, 3.50),
    ("mobilenetv2_140", 224, 0.60, 9.57, 6.11),
    ("mobilenetv3_large_100", 224, 0.23, 4.41, 5.48),
    ("mobilenetv3_small_100", 224, 0.06, 1.42, 2.54),
    ("mobilenetv2_050_no_top", 128, 0.032015, None, None),
    ("nasnetmobile_no_top", 128, 0.185825, None, None),
    ("resnet50_v1_no_top", 128, 1.26219, None, None),
    ("xception_no_top", 128, 1.4792, None, None),
    ("vgg16_no_top", 128, 5.014385, None, None),
    ("inception_v3_no_top", 75, 0.208345, None, None),
    ("inception_v3_no_top", 128, 0.75128, None, None),
    ("inception_v3_no_top", 224, 2.949185, None, None),
)


def check():
    print("network px: computed / published: macs_g, acts_m, params_m")
    for name, px, *published in PUBLISHED:
        cells = ["%.5g/%s" % (c, "-" if p is None else p)
                 for c, p in zip(cost(name, px), published)]
        print("%s %d: %s" % (name, px, " ".join(cells)))


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    elif len(sys.argv) == 3 and sys.argv[1] in NETWORKS:
        print("macs_g %.6g acts_m %.5g params_m %.5g"
              % cost(sys.argv[1], int(sys.argv[2])))
    else:
        print(__doc__.strip(), "\nnetworks:", " ".join(sorted(NETWORKS)))
        sys.exit(2)
