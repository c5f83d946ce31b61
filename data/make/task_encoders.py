# SPDX-License-Identifier: GPL-3.0-or-later
"""Transformers that read images: pairs of images and texts, detection by
queries, segmentation by prompts. Layers as in task_layers.py."""
from task_layers import bottlenecks


def block(n, tokens, d, heads, hidden, run=None):
    """Norm, attention, norm, two dense layers; `run`: attention over tokens in
    place of that over all of them."""
    n.op(1, 2 * d)
    if run:
        run()
    else:
        n.attention(tokens, tokens, d, heads)
    n.op(2, 2 * d)
    n.dense(tokens, d, hidden)
    n.op()
    n.dense(tokens, hidden, d)
    n.op()


def clip(n, px, patch, width, layers, text, text_layers, common):
    """Radford et al. 2021: an encoder of the image and one of its text of 77
    tokens, both projected to `common` channels."""
    side = px // patch
    n.conv((3, (px, px)), width, patch, patch, norm=0, act=0, bias=0)
    tokens = side * side + 1
    n.op(2, width + tokens * width)
    n.op(1, 2 * width)
    for _ in range(layers):
        block(n, tokens, width, width // 64, 4 * width)
    n.op(1, 2 * width)
    n.dense(1, width, common, bias=0)
    n.op(2, (49408 + 77) * text, 77 * text)
    for _ in range(text_layers):
        block(n, 77, text, text // 64, 4 * text)
    n.op(1, 2 * text)
    n.dense(1, text, common, bias=0)
    n.op(2, 1, common)


def sam(n, px, d, layers, heads):
    """Kirillov et al. 2023: a transformer over patches of 16 px, all but four
    of its layers in windows of 14; one prompt of two points, three masks."""
    side = px // 16
    tokens, head = side * side, d // heads
    n.conv((3, (px, px)), d, 16, 16, norm=0, act=0)
    n.op(1, tokens * d)
    windows = -(-side // 14)

    def attend(edge, count):
        """`count` windows of that edge, with relative positions."""
        ran = count * edge * edge
        n.dense(ran, d, 3 * d)
        n.add(2 * ran * edge * d, 2 * ran * edge * heads,
              2 * (2 * edge - 1) * head, 0, 4)
        n.product(2 * ran * edge * edge * d, ran * (edge * edge * heads + d))
        n.dense(ran, d, d)

    for i in range(layers):
        whole = (i + 1) % (layers // 4) == 0
        block(n, tokens, d, heads, 4 * d,
              (lambda: attend(side, 1)) if whole else
              (lambda: attend(14, windows * windows)))
    x = n.conv((d, (side, side)), 256, 1, norm=0, act=0, bias=0)
    n.op(1, 512)
    n.conv(x, 256, 3, norm=0, act=0, bias=0)
    n.op(1, 512)
    n.op(2, 6220)           # embeddings of prompts, convolutions of masks
    sam_decoder(n, side)


def sam_decoder(n, side, queries=7, d=256):
    """Two layers of attention both ways between queries and the image."""
    image = side * side

    def between(q, kv):
        n.dense(q, d, 128)
        n.dense(kv, d, 128)
        n.dense(kv, d, 128)
        n.product(2 * q * kv * 128, q * (kv * 8 + 128))
        n.dense(q, 128, d)

    n.op(1, 5 * d)          # tokens of the masks and their quality
    for _ in range(2):
        n.attention(queries, queries, d, 8)
        n.op(2, 2 * d)
        between(queries, image)
        n.op(2, 2 * d)
        n.dense(queries, d, 2048)
        n.op()
        n.dense(queries, 2048, d)
        n.op(2, 2 * d)
        between(image, queries)
        n.op(2, 2 * d)
    between(queries, image)
    n.op(2, 2 * d)
    x = n.up((d, (side, side)), 64, act=1)
    n.op(1, 128)
    x = n.up(x, 32, act=1)
    for out in (32, 32, 32, 32, 4):
        n.dense(1, d, d)
        n.op()
        n.dense(1, d, d)
        n.op()
        n.dense(1, d, out)
    n.dense(x[1][0] * x[1][1], 32, 4, bias=0)
    n.params -= 32 * 4      # the queries are these weights


def detr(n, px, size=None, classes=91, d=256):
    """Carion et al. 2020: ResNet-50, six layers that encode its last map, six
    that decode 100 queries; without the norms of the backbone, which are
    constant."""
    size = size or (px, px)
    x = bottlenecks(n, (3, size), (3, 4, 6, 3), frozen=True)[-1]
    n.params -= 53120
    x = n.conv(x, d, 1, norm=0, act=0)
    tokens, queries = x[1][0] * x[1][1], 100
    n.regions = queries     # matched on the host
    for _ in range(6):
        n.op(1)
        block(n, tokens, d, 8, 2048)
    n.op(1, queries * d)
    for _ in range(6):
        n.op(1)
        n.attention(queries, queries, d, 8)
        n.op(2, 2 * d)
        block(n, queries, d, 8, 2048,
              lambda: n.attention(queries, tokens, d, 8))
    n.op(1, 2 * d)
    n.dense(queries, d, classes + 1)
    for out in (d, d, 4):
        n.dense(queries, d, out)
        n.op()
