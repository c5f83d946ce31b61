#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks for CIFAR and those of Keras Applications, from their shapes.

NETWORKS holds functions of (Count, px) as architecture_shapes.py does. --check
holds their parameters against those that their papers, or Keras, state.

usage: architecture_small.py --check
"""
import sys

import architecture_shapes as shapes


def resnet_cifar(n, px, depth, classes=10):
    """He et al. 2016, section 4.2: 6 m + 2 layers, identity shortcuts."""
    x = n.conv((px, 3), 16, 3)
    for c, s in ((16, 1), (32, 2), (64, 2)):
        for i in range((depth - 2) // 6):
            x = n.conv(n.conv(x, c, 3, s if i == 0 else 1), c, 3)
    n.linear(x[1], classes)


def preact_cifar(n, px, depth, classes=10):
    """He et al. 2016 (identity mappings): bottlenecks, 9 m + 2 layers."""
    x = n.conv((px, 3), 16, 3, bn=0)
    for c, s in ((16, 1), (32, 2), (64, 2)):
        for i in range((depth - 2) // 9):
            stride = s if i == 0 else 1
            if i == 0:
                n.conv(x, 4 * c, 1, stride, bn=0)
            n.params += 2 * x[1]
            x = n.conv(n.conv(n.conv(x, c), c, 3, stride), 4 * c, bn=0)
    n.params += 2 * x[1]
    n.linear(x[1], classes)


def wide(n, px, depth, k, classes=10):
    """Zagoruyko and Komodakis 2016: 6 m + 4 layers, k times as wide."""
    x = n.conv((px, 3), 16, 3, bn=0)
    for c, s in ((16 * k, 1), (32 * k, 2), (64 * k, 2)):
        for i in range((depth - 4) // 6):
            stride = s if i == 0 else 1
            if x[1] != c:
                n.conv(x, c, 1, stride, bn=0)
            n.params += 2 * x[1]
            x = n.conv(n.conv(x, c, 3, stride), c, 3, bn=0)
    n.params += 2 * x[1]
    n.linear(x[1], classes)


def densenet_cifar(n, px, depth, k, bottleneck, classes=10):
    """Huang et al. 2017: three blocks of growth k; BC halves between them."""
    layers = (depth - 4) // (6 if bottleneck else 3)
    x = n.conv((px, 3), 2 * k if bottleneck else 16, 3, bn=0)
    for block in range(3):
        for _ in range(layers):
            n.params += 2 * x[1]
            h = n.conv(x, 4 * k) if bottleneck else x
            n.conv(h, k, 3, bn=0)
            x = (x[0], x[1] + k)
        if block < 2:
            n.params += 2 * x[1]
            x = n.conv(x, x[1] // (2 if bottleneck else 1), bn=0)
            x = shapes.pool(x, 2)
    n.params += 2 * x[1]
    n.linear(x[1], classes)


def resnext_cifar(n, px, groups, width, classes=10):
    """Xie et al. 2017, section 5.3: three blocks in each of three stages."""
    x = n.conv((px, 3), 64, 3)
    for c, s in ((64, 1), (128, 2), (256, 2)):
        inner = groups * width * c // 64
        for i in range(3):
            stride = s if i == 0 else 1
            if i == 0:
                n.conv(x, 4 * c, 1, stride)
            x = n.conv(n.conv(n.conv(x, inner), inner, 3, stride,
                              groups=groups), 4 * c)
    n.linear(x[1], classes)


def resnet_stem(n, px, depths, basic, classes=10):
    """ResNet with a first layer of 3 x 3, stride 1, and no pooling."""
    x = n.conv((px, 3), 64, 3)
    for i, (c, repeats) in enumerate(zip((64, 128, 256, 512), depths)):
        out = c if basic else 4 * c
        for j in range(repeats):
            s = 2 if i > 0 and j == 0 else 1
            if s > 1 or x[1] != out:
                n.conv(x, out, 1, s)
            if basic:
                x = n.conv(n.conv(x, c, 3, s), c, 3)
            else:
                x = n.conv(n.conv(n.conv(x, c), c, 3, s), out)
    n.linear(x[1], classes)


def vgg_cifar(n, px, repeats, classes=10):
    """VGG with batch norm and one dense layer."""
    x = (px, 3)
    for c, layers in zip((64, 128, 256, 512, 512), repeats):
        for _ in range(layers):
            x = n.conv(x, c, 3, bias=1)
        x = shapes.pool(x, 2)
    n.linear(x[1], classes)


def lenet5(n, px, classes=10):
    """LeCun et al. 1998, with full connections between the maps."""
    x = shapes.pool(n.conv((px, 1), 6, 5, 1, "valid", bias=1, bn=0), 2)
    x = shapes.pool(n.conv(x, 16, 5, 1, "valid", bias=1, bn=0), 2)
    n.linear(n.linear(n.linear(x[0] ** 2 * 16, 120), 84), classes)


def mobilenet_v1(n, px, alpha, classes=1000):
    """Howard et al. 2017, as Keras builds it."""
    x = n.conv((px, 3), int(32 * alpha), 3, 2, bn=4)
    for c, s in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                 (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2),
                 (1024, 1)):
        x = n.conv(x, x[1], 3, s, groups=x[1], bn=4)
        x = n.conv(x, int(c * alpha), bn=4)
    n.linear(x[1], classes)


def keras_resnet(n, px, depths, classes=1000):
    """The stride is in the first 1 x 1 layer, convolutions have biases."""
    x = shapes.pool(n.conv((px, 3), 64, 7, 2, 3, bias=1, bn=4), pad=1)
    for i, (c, repeats) in enumerate(zip((64, 128, 256, 512), depths)):
        for j in range(repeats):
            s = 2 if i > 0 and j == 0 else 1
            if j == 0:
                n.conv(x, 4 * c, 1, s, bias=1, bn=4)
            x = n.conv(x, c, 1, s, bias=1, bn=4)
            x = n.conv(n.conv(x, c, 3, bias=1, bn=4), 4 * c, bias=1, bn=4)
    n.linear(x[1], classes)


def keras_resnet_v2(n, px, depths, classes=1000):
    """Preactivation; a stage's last block has the stride."""
    x = shapes.pool(n.conv((px, 3), 64, 7, 2, 3, bias=1, bn=0), pad=1)
    for i, (c, repeats) in enumerate(zip((64, 128, 256, 512), depths)):
        for j in range(repeats):
            s = 2 if i < 3 and j == repeats - 1 else 1
            n.params += 4 * x[1]
            if j == 0:
                n.conv(x, 4 * c, 1, s, bias=1, bn=0)
            x = n.conv(x, c, 1, bn=4)
            x = n.conv(n.conv(x, c, 3, s, bn=4), 4 * c, bias=1, bn=0)
    n.params += 4 * x[1]
    n.linear(x[1], classes)


# name -> (function, published parameters in M)
NETWORKS = {"lenet5": (lenet5, None)}
for _d, _p in ((20, .27), (32, .46), (44, .66), (56, .85), (110, 1.7),
               (1202, 19.4)):
    NETWORKS["resnet%d_cifar" % _d] = (
        lambda n, px, d=_d: resnet_cifar(n, px, d), _p)
for _d, _p in ((164, 1.7), (1001, 10.2)):
    NETWORKS["preact_resnet%d_cifar" % _d] = (
        lambda n, px, d=_d: preact_cifar(n, px, d), _p)
for _d, _k, _p in ((40, 1, .6), (40, 2, 2.2), (40, 4, 8.9), (40, 8, 35.7),
                   (28, 10, 36.5), (28, 12, 52.5), (22, 8, 17.2),
                   (22, 10, 26.8), (16, 8, 11.0), (16, 10, 17.1), (16, 1, .2),
                (16, 2, .7), (16, 4, 2.7), (28, 2, 1.5), (28, 8, 23.4),
                (34, 10, 46.2)):
    NETWORKS["wrn_%d_%d" % (_d, _k)] = (
        lambda n, px, d=_d, k=_k: wide(n, px, d, k), _p)
for _d, _k, _bc, _p in ((40, 12, 0, 1.0), (100, 12, 0, 7.0),
                        (100, 24, 0, 27.2), (100, 12, 1, .8),
                        (250, 24, 1, 15.3), (190, 40, 1, 25.6)):
    NETWORKS["densenet%s_%d_%d_cifar" % ("_bc" if _bc else "", _d, _k)] = (
        lambda n, px, d=_d, k=_k, bc=_bc: densenet_cifar(n, px, d, k, bc), _p)
for _g, _p in ((8, 34.4), (16, 68.1)):
    NETWORKS["resnext29_%dx64d_cifar" % _g] = (
        lambda n, px, g=_g: resnext_cifar(n, px, g, 64), _p)
for _d, _r, _b, _p in ((18, (2, 2, 2, 2), 1, 11.17),
                       (34, (3, 4, 6, 3), 1, 21.28),
                       (50, (3, 4, 6, 3), 0, 23.52),
                       (101, (3, 4, 23, 3), 0, 42.51),
                       (152, (3, 8, 36, 3), 0, 58.16)):
    NETWORKS["resnet%d_cifar_stem" % _d] = (
        lambda n, px, r=_r, b=_b: resnet_stem(n, px, r, b), _p)
for _d, _r, _p in ((11, (1, 1, 2, 2, 2), 9.23), (13, (2, 2, 2, 2, 2), 9.42),
                   (16, (2, 2, 3, 3, 3), 14.73), (19, (2, 2, 4, 4, 4), 20.04)):
    NETWORKS["vgg%d_bn_cifar" % _d] = (
        lambda n, px, r=_r: vgg_cifar(n, px, r), _p)
NETWORKS["mobilenetv2_130"] = (
    lambda n, px: shapes.mobilenet_v2(n, px, 1.3), 5.4)
for _a, _p in ((.25, .5), (.5, 1.3), (.75, 2.6), (1, 4.2)):
    NETWORKS["mobilenetv1_%03d_keras" % int(100 * _a)] = (
        lambda n, px, a=_a: mobilenet_v1(n, px, a), _p)
for _d, _r, _p, _q in ((50, (3, 4, 6, 3), 25.636712, 25.613800),
                       (101, (3, 4, 23, 3), 44.707176, 44.675560),
                       (152, (3, 8, 36, 3), 60.419944, 60.380648)):
    NETWORKS["resnet%d_keras" % _d] = (
        lambda n, px, r=_r: keras_resnet(n, px, r), _p)
    NETWORKS["resnet%d_v2_keras" % _d] = (
        lambda n, px, r=_r: keras_resnet_v2(n, px, r), _q)


def check():
    wrong = 0
    for name, (network, published) in NETWORKS.items():
        n = shapes.Count()
        network(n, 32)
        if published and abs(n.params / 1e6 - published) > max(
                .06, .015 * published):
            print("%s: %.4f M, published %g M" % (name, n.params / 1e6,
                                                  published))
            wrong += 1
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        sys.stderr.write(__doc__)
        sys.exit(2)
    sys.exit(check())
