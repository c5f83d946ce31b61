# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of YOLOv9 (arXiv 2402.13616) and YOLOv10 (arXiv 2405.14458), as they
are trained: with the branches that are merged only afterwards."""
from task_vision import (cells, depth_of, detect, neck, sppf, square,
                         width_of)


def elan(n, x, out, width, last, inner):
    """Half of the input's channels go through two blocks, one after the
    other; all that comes out is joined."""
    n.conv(x, width, 1)
    a = inner(inner((width // 2, x[1]), last), last)
    n.op(2)
    return n.conv((width + 2 * last, a[1]), out, 1)


def yolo9(n, px, stem, stages, down, neck_down, repeats, adown=False):
    """YOLOv9-T, S, M and C. stages: of the backbone, (outputs, width, inner
    width); down: outputs of the layers between them; neck_down: of those on
    the way up of the neck."""
    def rep_csp(x, out):
        half = out // 2
        a = n.conv(x, half, 1)
        n.conv(x, half, 1)
        for _ in range(repeats):
            n.conv(a, half, 3, act=0)
            b = n.conv(a, half, 1, act=0)
            n.op(2)
            a = n.conv(b, half, 3)
            n.op()
        n.op()
        return n.conv((2 * half, a[1]), out, 1)

    def block(x, c):
        return elan(n, x, c[0], c[1], c[2],
                    lambda a, w: n.conv(rep_csp(a, w), w, 3))

    def coarser(x, out):
        n.op(1)
        if not adown:
            return n.conv(x, out, 3, 2)
        half = (x[0] // 2, x[1])
        n.op(2)
        a = n.conv(half, out // 2, 3, 2)
        n.conv((half[0], a[1]), out // 2, 1)
        n.op()
        return out, a[1]

    x = n.conv(n.conv((3, square(px)), stem, 3, 2), 2 * stem, 3, 2)
    if repeats > 1:  # T and S begin plainly
        x = elan(n, x, *stages[0], lambda a, w: n.conv(a, w, 3))
    else:
        x = block(x, stages[0])
    maps = []
    for width, stage in zip(down, stages[1:]):
        x = block(coarser(x, width), stage)
        maps.append(x)
    last = stages[-1]
    h = n.conv(x, last[0] // 2, 1)
    n.op(4)
    p5 = n.conv((4 * h[0], h[1]), last[0], 1)
    n.op(2)
    b4 = block((p5[0] + maps[1][0], maps[1][1]), stages[2])
    n.op(2)
    o3 = block((b4[0] + maps[0][0], maps[0][1]), neck_down[0])
    d = coarser(o3, neck_down[1])
    n.op()
    o4 = block((d[0] + b4[0], d[1]), stages[2])
    d = coarser(o4, neck_down[2])
    n.op()
    o5 = block((d[0] + p5[0], d[1]), stages[3])
    detect(n, (o3, o4, o5), 80, False)


def yolo10(n, px, depth, width, most, compact, heads=2):
    """YOLOv10. compact: which blocks are compact inverted ones, by their place
    of the configuration (6, 8, 13, 19, 22), and of these the ones with large
    kernels."""
    w = [width_of(v, width, most) for v in (64, 128, 256, 512, 1024)]
    at, large = compact

    def depthwise(x, size, act=1):
        return n.conv(x, x[0], size, groups=x[0], act=act)

    def inverted(x, c, kernel):
        x = n.conv(depthwise(x, 3), 2 * c, 1)
        if kernel:
            depthwise(x, 7, 0)
            depthwise(x, 3, 0)
            n.op(2)
        else:
            depthwise(x, 3)
        depthwise(n.conv(x, c, 1), 3)

    def block(place):
        def c2f(x, out, blocks, shortcut=False):
            half = out // 2
            n.conv(x, out, 1)
            for _ in range(blocks):
                if place in at:
                    inverted((half, x[1]), half, place in large)
                else:
                    n.conv(n.conv((half, x[1]), half, 3), half, 3)
                n.op(1 if shortcut else 0)
            n.op(2)
            return n.conv(((2 + blocks) * half, x[1]), out, 1)
        return c2f

    def separate(x, out):
        x = n.conv(x, out, 1)
        return n.conv(x, out, 3, 2, groups=out, act=0)

    def attention(x):
        c, tokens = x[0] // 2, cells(x)
        heads = max(c // 64, 1)
        key = c // heads // 2 * heads
        h = (c, x[1])
        n.conv(x, 2 * c, 1)
        n.conv(h, c + 2 * key, 1, act=0)
        n.product(tokens * tokens * (key + c), tokens * (tokens * heads + c))
        depthwise(h, 3, 0)
        n.conv(h, c, 1, act=0)
        n.conv(n.conv(h, 2 * c, 1), c, 1, act=0)
        n.op(5)
        return n.conv((2 * c, x[1]), x[0], 1)

    few, more = depth_of(3, depth), depth_of(6, depth)
    x = n.conv(n.conv((3, square(px)), w[0], 3, 2), w[1], 3, 2)
    x = block(2)(x, w[1], few, True)
    p3 = block(4)(n.conv(x, w[2], 3, 2), w[2], more, True)
    p4 = block(6)(separate(p3, w[3]), w[3], more, True)
    x = block(8)(separate(p4, w[4]), w[4], few, True)
    p5 = attention(sppf(n, x, w[4]))
    n.op(2)
    b4 = block(13)((p5[0] + p4[0], p4[1]), w[3], few)
    n.op(2)
    o3 = block(16)((b4[0] + p3[0], p3[1]), w[2], few)
    d = n.conv(o3, w[2], 3, 2)
    n.op()
    o4 = block(19)((d[0] + b4[0], d[1]), w[3], few)
    d = separate(o4, w[3])
    n.op()
    o5 = block(22)((d[0] + p5[0], d[1]), w[4], few)
    for _ in range(heads):  # for many boxes of an object, and for one
        detect10(n, (o3, o4, o5), 80)


def detect10(n, outs, classes):
    """Heads of YOLOv10: classes by separable convolutions."""
    c2 = max(16, outs[0][0] // 4, 64)
    c3 = max(outs[0][0], min(classes, 100))
    for o in outs:
        n.conv(n.conv(n.conv(o, c2, 3), c2, 3), 64, 1, norm=0, act=0)
        x = o
        for _ in range(2):
            x = n.conv(n.conv(x, x[0], 3, groups=x[0]), c3, 1)
        n.conv(x, classes, 1, norm=0, act=0)
    n.op(6, 16)
