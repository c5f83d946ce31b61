# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks for detection and segmentation, from the layers that their papers
and definitions state. Each function takes (Net, side in px or sides)."""
import math

from architecture_work import efficientnet_stages
from task_layers import bottlenecks


def square(px):
    return px if isinstance(px, tuple) else (px, px)


def cells(x):
    return math.prod(x[1])


def pyramid(n, maps):
    """Feature pyramid (Lin et al. 2017): maps of 256 channels."""
    for m in maps:
        n.conv(m, 256, 1, norm=0, act=0)
    n.op(2 * (len(maps) - 1))
    return [n.conv((256, m[1]), 256, 3, norm=0, act=0) for m in maps]


def shared(n, maps, head):
    """A head whose weights all maps share."""
    for i, m in enumerate(maps):
        before = n.params
        head(m)
        if i:
            n.params = before


def retinanet(n, px, classes, depths=(3, 4, 6, 3), groups=1, base=64):
    """Lin et al. 2017 (focal loss); P6 from P5 as in torchvision."""
    maps = bottlenecks(n, (3, square(px)), depths, groups, base,
                       frozen=True)[1:]
    levels = pyramid(n, maps)
    levels.append(n.conv(levels[-1], 256, 3, 2, norm=0))
    levels.append(n.conv(levels[-1], 256, 3, 2, norm=0, act=0))

    def head(m):
        for out in (9 * classes, 36):
            x = m
            for _ in range(4):
                x = n.conv(x, 256, 3, norm=0)
            n.conv(x, out, 3, norm=0, act=0)
    shared(n, levels, head)


def rcnn(n, px, classes, mask, boxes, positives):
    """Ren et al. 2015 and He et al. 2017 with a feature pyramid: `boxes`
    regions for the classes, `positives` of them for masks."""
    maps = bottlenecks(n, (3, square(px)), (3, 4, 6, 3), frozen=True)
    levels = pyramid(n, maps)
    levels.append((256, tuple(-(-v // 2) for v in levels[-1][1])))
    n.op()

    def proposals(m):
        x = n.conv(m, 256, 3, norm=0)
        n.conv(x, 3, 1, norm=0, act=0)
        n.conv(x, 12, 1, norm=0, act=0)
    shared(n, levels, proposals)
    before = n.macs
    n.op(4)
    n.dense(boxes, 256 * 49, 1024)
    n.dense(boxes, 1024, 1024)
    n.op(2)
    n.dense(boxes, 1024, classes)
    n.dense(boxes, 1024, 4 * classes)
    if mask:
        n.op(4)
        x = (256, (positives, 14, 14))
        for _ in range(4):
            x = n.conv(x, 256, (1, 3, 3), norm=0)
        weights = 4 * 256 * 256
        n.add(cells(x) * weights, 4 * cells(x) * 256, weights + 256)
        n.layer(cells(x) * weights, (256, cells(x)), (256, 4 * cells(x)))
        n.op()
        n.conv((256, (positives, 28, 28)), classes, (1, 1, 1), norm=0, act=0)
    n.fixed = n.macs - before
    n.regions = boxes


def ssd_vgg(n, px, classes):
    """Liu et al. 2016: VGG-16 whose dense layers are convolutions, 300 px."""
    x, maps = (3, square(px)), []
    for i, (c, depth) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3),
                                    (512, 3))):
        for _ in range(depth):
            x = n.conv(x, c, 3, norm=0)
        if i == 3:
            maps.append(x)
            n.op(3, 512)
        if i < 4:
            x = (c, tuple(-(-v // 2) for v in x[1]))
        n.op()
    x = n.conv(n.conv(x, 1024, 3, norm=0), 1024, 1, norm=0)
    maps.append(x)
    for c, s, pad in ((256, 2, 1), (128, 2, 1), (128, 1, 0), (128, 1, 0)):
        x = n.conv(n.conv(x, c, 1, norm=0), 2 * c, 3, s, norm=0, pad=pad)
        maps.append(x)
    for m, boxes in zip(maps, (4, 6, 6, 6, 4, 4)):
        n.conv(m, boxes * classes, 3, norm=0, act=0)
        n.conv(m, boxes * 4, 3, norm=0, act=0)
    n.op(2)


def ssd_resnet(n, px, classes, depth):
    """SSD on a ResNet whose third stage keeps stride 8 (MLPerf: 34 layers;
    NVIDIA: 50), 300 px."""
    x = n.conv((3, square(px)), 64, 7, 2)
    x = (64, tuple(-(-v // 2) for v in x[1]))
    n.op()
    if depth == 50:
        def stage(x, width, blocks, s):
            for j in range(blocks):
                h = n.conv(n.conv(x, width, 1), width, 3, s if not j else 1)
                h = n.conv(h, 4 * width, 1, act=0)
                if not j:
                    n.conv(x, 4 * width, 1, s, act=0)
                n.op(2)
                x = h
            return x
        for width, blocks, s in ((64, 3, 1), (128, 4, 2), (256, 6, 1)):
            x = stage(x, width, blocks, s)
        inner = (256, 256, 128, 128, 128)
        outer = (512, 512, 256, 256, 256)
    else:
        for width, blocks, s in ((64, 3, 1), (128, 4, 2), (256, 6, 1)):
            for j in range(blocks):
                step = s if not j else 1
                h = n.conv(n.conv(x, width, 3, step), width, 3, act=0)
                if x[0] != width:
                    n.conv(x, width, 1, step, act=0)
                n.op(2)
                x = h
        inner = (256, 256, 128, 128, 128)
        outer = (512, 512, 256, 256, 256)
    maps, norm = [x], 2 if depth == 50 else 0
    for i, (a, b) in enumerate(zip(inner, outer)):
        x = n.conv(x, a, 1, norm=norm, bias=not norm)
        x = n.conv(x, b, 3, 2 if i < 3 else 1, norm=norm, bias=not norm,
                   pad=1 if i < 3 else 0)
        maps.append(x)
    for m, boxes in zip(maps, (4, 6, 6, 6, 4, 4)):
        n.conv(m, boxes * classes, 3, norm=0, act=0)
        n.conv(m, boxes * 4, 3, norm=0, act=0)
    n.op(2)


def separable(n, x, out, norm=2):
    """Depthwise 3 x 3, then all channels with a bias."""
    x = n.conv(x, x[0], 3, norm=0, bias=0, act=0, groups=x[0])
    return n.conv(x, out, 1, norm=norm, bias=1, act=0)


def fused(n, x, inputs, weighted):
    """A node of a weighted pyramid: `inputs` maps resized, weighted and added,
    an activation, a separable convolution."""
    n.op(1 + 2 * (inputs - 1), weighted * inputs, cells(x) * x[0])
    n.op(2, 0, cells(x) * x[0])
    return separable(n, x, x[0])


def weighted_pyramid(n, maps, width, repeats, weighted, levels):
    """BiFPN (Tan et al. 2020): `repeats` times down and up again, on `levels`
    maps; those of the backbone get `width` channels for each use."""
    for m, uses in zip(maps, (1, 2, 3)):
        for _ in range(uses):
            n.conv(m, width, 1, act=0, bias=1)
    maps = [(width, m[1]) for m in maps]
    while len(maps) < levels:
        maps.append((width, tuple(-(-v // 2) for v in maps[-1][1])))
        n.op(1, 0, cells(maps[-1]) * width)
    for _ in range(repeats):
        for m in reversed(maps[:-1]):
            fused(n, m, 2, weighted)
        for m in maps[1:-1]:
            fused(n, m, 3, weighted)
        fused(n, maps[-1], 2, weighted)
    return maps


def efficientdet(n, px, backbone, width, repeats, depth, weighted=1, levels=5):
    """Tan et al. 2020: an EfficientNet, a weighted pyramid, two heads of
    `depth` separable layers with norms for each map, 90 classes."""
    stages = efficientnet_stages(n, px, *backbone)
    maps = weighted_pyramid(n, [stages[i] for i in (2, 4, 6)], width, repeats,
                            weighted, levels)

    def head(m):
        for out in (9 * 90, 9 * 4):
            x = m
            for _ in range(depth):
                x = separable(n, x, width, 0)
                n.op(2)
            separable(n, x, out, 0)
    shared(n, maps, head)
    n.params += levels * 2 * depth * 2 * width


def width_of(v, factor, most=1 << 20):
    return int(math.ceil(min(v, most) * factor / 8) * 8)


def depth_of(v, factor):
    return max(round(v * factor), 1)


def sppf(n, x, out):
    h = n.conv(x, x[0] // 2, 1)
    n.op(4)
    return n.conv((4 * h[0], h[1]), out, 1)


def yolo5(n, px, depth, width):
    """YOLOv5, release 6: cross-stage partial blocks, three scales, 80
    classes."""
    def c3(x, out, blocks, shortcut=True):
        half = out // 2
        a = n.conv(x, half, 1)
        n.conv(x, half, 1)
        for _ in range(blocks):
            a = n.conv(n.conv(a, half, 1), half, 3)
            n.op(1 if shortcut else 0)
        n.op()
        return n.conv((2 * half, a[1]), out, 1)
    w = [width_of(v, width) for v in (64, 128, 256, 512, 1024)]
    x = n.conv((3, square(px)), w[0], 6, 2)
    maps = []
    for c, blocks in zip(w[1:], (3, 6, 9, 3)):
        x = c3(n.conv(x, c, 3, 2), c, depth_of(blocks, depth))
        maps.append(x)
    p5 = sppf(n, x, w[4])
    few = depth_of(3, depth)
    a5 = n.conv(p5, w[3], 1)
    n.op(2)
    b4 = c3((a5[0] + maps[2][0], maps[2][1]), w[3], few, False)
    a4 = n.conv(b4, w[2], 1)
    n.op(2)
    o3 = c3((a4[0] + maps[1][0], maps[1][1]), w[2], few, False)
    d = n.conv(o3, w[2], 3, 2)
    n.op()
    o4 = c3((d[0] + a4[0], d[1]), w[3], few, False)
    d = n.conv(o4, w[3], 3, 2)
    n.op()
    o5 = c3((d[0] + a5[0], d[1]), w[4], few, False)
    for o in (o3, o4, o5):
        n.conv(o, 255, 1, norm=0, act=0)


def detect(n, outs, classes, light):
    """Heads of YOLOv8 and 11: boxes as distributions of 16, classes apart."""
    c2 = max(16, outs[0][0] // 4, 64)
    c3 = max(outs[0][0], min(classes, 100))
    for o in outs:
        n.conv(n.conv(n.conv(o, c2, 3), c2, 3), 64, 1, norm=0, act=0)
        x = o
        for _ in range(2):
            if light:
                x = n.conv(n.conv(x, x[0], 3, groups=x[0]), c3, 1)
            else:
                x = n.conv(x, c3, 3)
        n.conv(x, classes, 1, norm=0, act=0)
    n.op(6, 16)


def neck(n, maps, block, w, few):
    """Pyramid down and up again, of YOLOv8 and 11."""
    p3, p4, p5 = maps
    n.op(2)
    b4 = block((p5[0] + p4[0], p4[1]), w[0], few)
    n.op(2)
    o3 = block((b4[0] + p3[0], p3[1]), w[1], few)
    d = n.conv(o3, w[1], 3, 2)
    n.op()
    o4 = block((d[0] + b4[0], d[1]), w[0], few)
    d = n.conv(o4, w[0], 3, 2)
    n.op()
    return o3, o4, (d[0] + p5[0], d[1])


def yolo8(n, px, depth, width, most):
    """YOLOv8: C2f blocks."""
    def c2f(x, out, blocks, shortcut=False):
        half = out // 2
        a = n.conv(x, out, 1)
        for _ in range(blocks):
            n.conv(n.conv((half, a[1]), half, 3), half, 3)
            n.op(1 if shortcut else 0)
        n.op(2)
        return n.conv(((2 + blocks) * half, a[1]), out, 1)
    w = [width_of(v, width, most) for v in (64, 128, 256, 512, 1024)]
    x = n.conv((3, square(px)), w[0], 3, 2)
    maps = []
    for c, blocks in zip(w[1:], (3, 6, 6, 3)):
        x = c2f(n.conv(x, c, 3, 2), c, depth_of(blocks, depth), True)
        maps.append(x)
    maps[3] = sppf(n, x, w[4])
    few = depth_of(3, depth)
    o3, o4, last = neck(n, maps[1:], c2f, (w[3], w[2]), few)
    detect(n, (o3, o4, c2f(last, w[4], few)), 80, False)


def yolo11(n, px, depth, width, most, nested):
    """YOLO11: C3k2 blocks, nested ones in the larger networks, and attention
    on the coarsest map."""
    def inner(x, c, e):
        h = n.conv(x, int(c * e), 3)
        n.conv(h, c, 3)
        n.op()

    def c3k(x, c):
        half = c // 2
        a = n.conv(x, half, 1)
        n.conv(x, half, 1)
        for _ in range(2):
            inner(a, half, 1)
        n.op()
        n.conv((2 * half, a[1]), c, 1)

    def c3k2(x, out, blocks, deep=None, e=.5):
        deep = nested if deep is None else deep
        c = int(out * e)
        a = n.conv(x, 2 * c, 1)
        for _ in range(blocks):
            if deep:
                c3k((c, a[1]), c)
            else:
                inner((c, a[1]), c, .5)
        n.op(2)
        return n.conv(((2 + blocks) * c, a[1]), out, 1)

    def c2psa(x, blocks):
        c = x[0] // 2
        n.conv(x, 2 * c, 1)
        h, tokens = (c, x[1]), cells(x)
        for _ in range(blocks):
            heads = max(c // 64, 1)
            key = c // heads // 2 * heads
            n.conv(h, c + 2 * key, 1, act=0)
            n.product(tokens * tokens * (key + c),
                      tokens * (tokens * heads + c))
            n.conv(h, c, 3, groups=c, act=0)
            n.conv(h, c, 1, act=0)
            n.conv(n.conv(h, 2 * c, 1), c, 1, act=0)
            n.op(3)
        n.op(2)
        return n.conv((2 * c, x[1]), x[0], 1)
    w = [width_of(v, width, most) for v in (64, 128, 256, 512, 1024)]
    two = depth_of(2, depth)
    x = n.conv((3, square(px)), w[0], 3, 2)
    x = c3k2(n.conv(x, w[1], 3, 2), w[2], two, nested, .25)
    p3 = c3k2(n.conv(x, w[2], 3, 2), w[3], two, nested, .25)
    p4 = c3k2(n.conv(p3, w[3], 3, 2), w[3], two, True)
    x = c3k2(n.conv(p4, w[4], 3, 2), w[4], two, True)
    p5 = c2psa(sppf(n, x, w[4]), two)
    o3, o4, last = neck(n, (p3, p4, p5), c3k2, (w[3], w[2]), two)
    detect(n, (o3, o4, c3k2(last, w[4], two, True)), 80, True)


def unet(n, px, classes=2, channels=3):
    """Ronneberger et al. 2015, padded, batch norm, transposed convolutions."""
    def double(x, c):
        return n.conv(n.conv(x, c, 3), c, 3)
    x, skips = double((channels, square(px)), 64), []
    for c in (128, 256, 512, 1024):
        skips.append(x)
        n.op()
        x = double((x[0], tuple(v // 2 for v in x[1])), c)
    for skip in reversed(skips):
        x = n.up(x, skip[0])
        n.op()
        x = double((2 * skip[0], skip[1]), skip[0])
    n.conv(x, classes, 1, norm=0, act=0)


def unet3d_paper(n, size=(132, 132, 116)):
    """Cicek et al. 2016: unpadded; sizes are rounded up here, parameters are
    theirs."""
    x, skips = (3, size), []
    for i, c in enumerate((32, 64, 128, 256)):
        x = n.conv(n.conv(x, c, 3), 2 * c, 3)
        if i < 3:
            skips.append(x)
            x = (x[0], tuple(-(-v // 2) for v in x[1]))
            n.op()
    for skip in reversed(skips):
        x = n.up(x, x[0])
        n.op()
        x = (x[0] + skip[0], skip[1])
        x = n.conv(n.conv(x, skip[0], 3), skip[0], 3)
    n.conv(x, 3, 1, norm=0, act=0)


def unet3d(n, size=(128, 128, 128), classes=3):
    """MLPerf's 3D U-Net on KiTS19: instance norms, strided convolutions."""
    x, skips = (1, size), []
    for i, c in enumerate((32, 64, 128, 256, 320, 320)):
        x = n.conv(x, c, 3, 2 if i else 1)
        x = n.conv(x, c, 3)
        skips.append(x)
    for skip in reversed(skips[:-1]):
        x = n.up(x, skip[0], bias=1)
        n.op()
        x = n.conv(n.conv((2 * skip[0], skip[1]), skip[0], 3), skip[0], 3)
    n.conv(x, classes, 1, norm=0, act=0)


def segformer(n, px, widths, depths, decoder, classes=150):
    """Xie et al. 2021: overlapping patches, keys and values at reduced sides,
    a decoder of dense layers."""
    x, maps = (3, square(px)), []
    for i, (c, depth, sr, heads) in enumerate(
            zip(widths, depths, (8, 4, 2, 1), (1, 2, 5, 8))):
        x = n.conv(x, c, 7 if not i else 3, 4 if not i else 2, norm=0, act=0)
        n.op(1, 2 * c)
        tokens = cells(x)
        for _ in range(depth):
            n.op(1, 2 * c)
            kv = x
            if sr > 1:
                kv = n.conv(x, c, sr, sr, norm=0, act=0)
                n.op(1, 2 * c)
            n.attention(tokens, cells(kv), c, heads)
            n.op(2, 2 * c)
            n.dense(tokens, c, 4 * c)
            n.conv((4 * c, x[1]), 4 * c, 3, groups=4 * c, norm=0)
            n.dense(tokens, 4 * c, c)
            n.op()
        n.op(1, 2 * c)
        maps.append(x)
    for m in maps:
        n.dense(cells(m), m[0], decoder)
    n.op(4)
    x = n.conv((4 * decoder, maps[0][1]), decoder, 1, bias=0)
    n.conv(x, classes, 1, norm=0, act=0)
