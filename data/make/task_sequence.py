# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks for images from noise, speech, translation and recommendation, from
the layers that their papers and definitions state. Functions of a Net."""
import math

SECONDS = 12.3      # LibriSpeech: 960 h in 281,241 utterances
LETTERS = 50        # word pieces of such an utterance


def transformer_block(n, tokens, c, heads, context, width):
    """Of the denoising U-Net: attention within, to the text, gated dense."""
    n.op(1, 2 * c)
    n.attention(tokens, tokens, c, heads, bias=0)
    n.op(2, 2 * c)
    n.attention(tokens, context, c, heads, width, bias=0)
    n.op(2, 2 * c)
    n.dense(tokens, c, 8 * c)
    n.op(2)
    n.dense(tokens, 4 * c, c)
    n.op()


def denoiser(n, px, mult, depths, middle, width, extra=0, heads=0):
    """U-Net of latent diffusion (Rombach et al. 2022; Podell et al. 2023): two
    blocks a level, `depths` transformer blocks after each, text of 77 tokens
    of `width`; `extra` inputs of a second embedding; heads 0: of 64 each. The
    map is an eighth of the image's side."""
    side = px // 8
    base, time = 320, 1280
    n.dense(1, base, time)
    n.dense(1, time, time)
    if extra:
        n.dense(1, extra, time)
        n.dense(1, time, time)
    n.op(4)

    def block(x, out):
        n.op(2, 2 * x[0])
        h = n.conv(x, out, 3, norm=0, act=0)
        n.op()
        n.dense(1, time, out)
        n.op(3, 2 * out)
        n.conv(h, out, 3, norm=0, act=0)
        if x[0] != out:
            n.conv(x, out, 1, norm=0, act=0)
        n.op()
        return h

    def attend(x, depth):
        if not depth:
            return
        tokens = math.prod(x[1])
        n.op(1, 2 * x[0])
        n.dense(tokens, x[0], x[0])
        for _ in range(depth):
            transformer_block(n, tokens, x[0], heads or x[0] // 64, 77,
                              width)
        n.dense(tokens, x[0], x[0])
        n.op()
    x = n.conv((4, (side, side)), base, 3, norm=0, act=0)
    skips = [x]
    for i, (m, depth) in enumerate(zip(mult, depths)):
        for _ in range(2):
            x = block(x, base * m)
            attend(x, depth)
            skips.append(x)
        if i + 1 < len(mult):
            x = n.conv(x, x[0], 3, 2, norm=0, act=0)
            skips.append(x)
    x = block(x, x[0])
    attend(x, middle)
    x = block(x, x[0])
    for i, (m, depth) in reversed(list(enumerate(zip(mult, depths)))):
        for _ in range(3):
            skip = skips.pop()
            n.op()
            x = block((x[0] + skip[0], skip[1]), base * m)
            attend(x, depth)
        if i:
            n.op()
            x = n.conv((x[0], tuple(2 * v for v in x[1])), x[0], 3, norm=0,
                       act=0)
    n.op(2, 2 * x[0])
    n.conv(x, 4, 3, norm=0, act=0)


def dit(n, px, depth, d, heads, patch=2):
    """Peebles and Xie 2023: a transformer on latents of an eighth of the side,
    norms shifted and scaled by time and class."""
    side = px // 8
    tokens = (side // patch) ** 2
    n.conv((4, (side, side)), d, patch, patch, norm=0, act=0)
    n.op(2, 1001 * d)
    n.dense(1, 256, d)
    n.dense(1, d, d)
    n.op(2)
    for _ in range(depth):
        n.op(1)
        n.dense(1, d, 6 * d)
        n.op(3)
        n.attention(tokens, tokens, d, heads)
        n.op(4)
        n.dense(tokens, d, 4 * d)
        n.op()
        n.dense(tokens, 4 * d, d)
        n.op(2)
    n.op(1)
    n.dense(1, d, 2 * d)
    n.op(2)
    n.dense(tokens, d, patch * patch * 8)


def mmdit(n, px, both, one, d, heads, text, pooled, channels, last=0):
    """Text and image in one attention (Esser et al. 2024; Black Forest Labs
    2024): `both` blocks with weights for each, `one` blocks with the same for
    all; `text` tokens of 4,096, an embedding of `pooled`, latents of an eighth
    of the side in patches of 2. last: text ends before the last block's
    output."""
    image = (px // 16) ** 2
    tokens = image + text
    n.dense(image, 4 * channels, d)
    n.dense(text, 4096, d)
    for inputs in (256, pooled):
        n.dense(1, inputs, d)
        n.dense(1, d, d)
        n.op(2)

    def stream(rows, ends=False):
        n.dense(1, d, (2 if ends else 6) * d)
        n.op(3)
        n.dense(rows, d, 3 * d)
        n.op(2, 2 * (d // heads))
        if ends:
            return
        n.dense(rows, d, d)
        n.op(4)
        n.dense(rows, d, 4 * d)
        n.op()
        n.dense(rows, 4 * d, d)
        n.op(2)

    def attend():
        n.product(2 * tokens * tokens * d, tokens * (tokens * heads + d))
    for i in range(both):
        stream(image)
        stream(text, last and i + 1 == both)
        attend()
    for _ in range(one):
        n.dense(1, d, 3 * d)
        n.op(3)
        n.dense(tokens, d, 7 * d)
        n.op(3, 2 * (d // heads))
        attend()
        n.dense(tokens, 5 * d, d)
        n.op(2)
    n.dense(1, d, 2 * d)
    n.op(2)
    n.dense(image, d, 4 * channels)


def masked(n, x, out, k, s=1, **how):
    """A convolution whose input is cleared behind the end of the utterance."""
    n.op(1, 0, x[0] * math.prod(x[1]))
    return n.conv(x, out, k, s, **how)


def separable(n, x, out, k, s=1, act=1):
    x = masked(n, x, x[0], k, s, norm=0, act=0, bias=0, groups=x[0])
    return masked(n, x, out, 1, act=act)


def quartznet(n, blocks=3, letters=29):
    """Kriman et al. 2020, 15x5: 64 features each 10 ms."""
    x = separable(n, (64, (int(100 * SECONDS),)), 256, 33, 2)
    for c, k in ((256, 33), (256, 39), (512, 51), (512, 63), (512, 75)):
        for _ in range(blocks):
            h = x
            for i in range(5):
                h = separable(n, h, c, k, act=i < 4)
            masked(n, x, c, 1, act=0)
            n.op(2)
            x = h
    x = separable(n, x, 512, 87)
    x = masked(n, x, 1024, 1)
    n.conv(x, letters, 1, norm=0)


def jasper(n, letters=29):
    """Li et al. 2019, 10x5 with dense residuals and dropout."""
    x = masked(n, (64, (int(100 * SECONDS),)), 256, 11, 2)
    n.op()
    before = [x]
    for c, k in ((256, 11), (384, 13), (512, 17), (640, 21), (768, 25)):
        for _ in range(2):
            for i in range(5):
                x = masked(n, x, c, k, act=i < 4)
                n.op(i < 4)
            for y in before:
                masked(n, y, c, 1, act=0)
                n.op()
            n.op(2)
            before.append(x)
    x = masked(n, x, 896, 29)
    n.op()
    x = masked(n, x, 1024, 1)
    n.op()
    n.conv(x, letters, 1, norm=0)


def wav2vec2(n, layers, d, heads):
    """Baevski et al. 2020: seven convolutions over the waveform at 16 kHz, a
    convolution for positions, a transformer encoder."""
    x = (1, (int(16000 * SECONDS),))
    for i, (k, s) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2),
                                (2, 2), (2, 2))):
        x = n.conv(x, 512, k, s, norm=0, bias=0, pad=0)
        if not i:
            n.op(1, 2 * 512)
    t = x[1][0]
    n.op(1, 2 * 512)
    n.dense(t, 512, d)
    n.conv((d, (t,)), d, 128, norm=0, groups=16)
    n.op(2, 3 * d)
    for _ in range(layers):
        n.attention(t, t, d, heads)
        n.op(2, 2 * d)
        n.dense(t, d, 4 * d)
        n.op()
        n.dense(t, 4 * d, d)
        n.op(2, 2 * d)


def rnnt(n, pieces=1024):
    """MLPerf's RNN-T: 240 features each 30 ms, two and three layers of 1,024
    around a stack of two, a prediction network of 512, a joint one."""
    t = int(100 * SECONDS) // 3
    n.lstm(t, 240, 1024)
    n.lstm(t, 1024, 1024)
    t //= 2
    n.lstm(t, 2048, 1024)
    n.lstm(t, 1024, 1024)
    n.lstm(t, 1024, 1024)
    u = LETTERS + 1
    n.op(1, (pieces - 1) * 512)
    n.lstm(u, 512, 512)
    n.lstm(u, 512, 512)
    n.dense(t, 1024, 512)
    n.dense(u, 512, 512)
    n.op(2, 0, t * u * 512)
    n.dense(t * u, 512, pieces)


def gnmt(n, tokens=32, vocab=32317, d=1024):
    """Wu et al. 2016 as MLPerf has it: four and four layers of 1,024, shared
    embeddings, normalised additive attention."""
    n.op(2, vocab * d)
    n.lstm(tokens, d, d, 2)
    n.lstm(tokens, 2 * d, d)
    n.lstm(tokens, d, d)
    n.lstm(tokens, d, d)
    n.op(4)
    n.lstm(tokens, d, d)
    n.dense(tokens, d, d, 0)
    n.dense(tokens, d, d, 0)
    n.add(tokens * tokens * d, 0, 2 * d + 1, 0)
    n.op(2)
    n.add(tokens * tokens * d, tokens * d, 0, 0)
    for _ in range(3):
        n.lstm(tokens, 2 * d, d)
    n.op(4)
    n.dense(tokens, d, vocab)


# WikiText-103: words by frequency, in the parts of the adaptive softmax.
WORDS = (19997, 20000, 160000, 67738)


def shares(words):
    """Part of a text that each of them is, by Zipf's law."""
    sums, ranks = [], iter(range(1, sum(words) + 1))
    for n in words:
        sums.append(sum(1 / next(ranks) for _ in range(n)))
    return [s / sum(sums) for s in sums]


def transformer_xl(n, layers, d, heads, width, tokens, divide=1):
    """Dai et al. 2019 on WikiText-103: `tokens` that also attend to as many
    before them, whose keys and values are computed again. Rarer words have
    embeddings of a `divide`th each. Keys of positions are computed once for a
    batch: parameters, no work of a sample."""
    sides = [d // divide ** i for i in range(len(WORDS))]
    parts = list(zip(WORDS, sides, shares(WORDS)))
    seen, size = 2 * tokens, d // heads
    n.op(2, 2 * heads * size)
    for words, side, share in parts:
        n.op(2, words * side, round(tokens * share) * side)
        if divide > 1:
            n.dense(tokens * share, side, d, 0)
    for _ in range(layers):
        n.dense(seen, d, 3 * d, 0)
        n.op(3, d * d)
        n.product(3 * tokens * seen * d, tokens * (2 * seen * heads + d))
        n.op(3, 0, tokens * seen * heads)
        n.dense(tokens, d, d, 0)
        n.op(2, 2 * d)
        n.dense(tokens, d, width)
        n.op()
        n.dense(tokens, width, d)
        n.op(2, 2 * d)
    n.op(2, len(WORDS[1:]) * (d + 1))
    for i, (words, side, share) in enumerate(parts):
        rows = tokens if not i else tokens * share
        before = n.params
        if divide > 1:
            n.dense(rows, d, side, 0)
        n.dense(rows, side, words)
        n.op(2)
        # The embeddings again, and the projections but for the first.
        n.params = before + words + (d * side if divide > 1 and not i else 0)


def mlp(n, sides):
    for a, b in zip(sides, sides[1:]):
        n.dense(1, a, b)
        n.op()


def dlrm(n, rows, d=128, cross=0):
    """Naumov et al. 2019 on 26 categories and 13 numbers; cross: layers of
    rank 512 (Wang et al. 2021) in place of the products of all pairs."""
    n.op(26, rows * d)
    n.sparse = rows * d
    mlp(n, (13, 512, 256, d))
    n.op()
    if cross:
        width = 27 * d
        for _ in range(cross):
            n.dense(1, width, 512, 0)
            n.dense(1, 512, width)
            n.op(2)
    else:
        n.add(27 * 27 * d, 27 * 27, 0, 0)
        width = d + 27 * 26 // 2
    n.op()
    mlp(n, (width + (0 if cross else 1), 1024, 1024, 512, 256, 1))


def ncf(n, users=138493, items=26744):
    """He et al. 2017, NeuMF on MovieLens 20M as MLPerf has it."""
    n.op(4, (users + items) * (64 + 128))
    mlp(n, (256, 256, 128, 64))
    n.op(2)
    n.dense(1, 128, 1)
