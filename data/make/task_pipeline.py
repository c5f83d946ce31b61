# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pipeline that generates images runs once per sample: encoders of the
text and the decoder of the image. Layers as in task_layers.py."""
import math

import task_encoders as pairs
from task_layers import Net

CLIP_TOKENS = 77


def image_decoder(n, px, channels):
    """The decoder of latent diffusion (Rombach et al. 2022; AutoencoderKL of
    Diffusers): from latents of an eighth of the side, three residual blocks a
    level, attention of one head at the first."""
    def block(x, out):
        n.op(2, 2 * x[0])
        h = n.conv(x, out, 3, norm=0, act=0)
        n.op(2, 2 * out)
        n.conv(h, out, 3, norm=0, act=0)
        if x[0] != out:
            n.conv(x, out, 1, norm=0, act=0)
        n.op()
        return h

    side = px // 8
    x = (channels, (side, side))
    if channels == 4:       # Stable Diffusion 3 and FLUX.1 have none
        n.conv(x, channels, 1, norm=0, act=0)
    x = n.conv(x, 512, 3, norm=0, act=0)
    x = block(x, 512)
    n.op(1, 2 * x[0])
    n.attention(math.prod(x[1]), math.prod(x[1]), x[0], 1)
    n.op()
    x = block(x, 512)
    for i, out in enumerate((512, 512, 256, 128)):
        for _ in range(3):
            x = block(x, out)
        if i < 3:
            x = (out, tuple(2 * v for v in x[1]))
            n.op(1, 0, math.prod(x[1]) * out)
            x = n.conv(x, out, 3, norm=0, act=0)
    n.op(2, 2 * x[0])
    n.conv(x, 3, 3, norm=0, act=0)


def clip_text(n, d, layers, projection=0):
    """The text encoder of CLIP and OpenCLIP, 77 tokens."""
    n.op(2, (49408 + CLIP_TOKENS) * d, CLIP_TOKENS * d)
    for _ in range(layers):
        pairs.block(n, CLIP_TOKENS, d, d // 64, 4 * d)
    n.op(1, 2 * d)
    if projection:
        n.dense(1, d, projection, bias=0)


def t5_text(n, tokens, d=4096, layers=24, hidden=10240, heads=64):
    """The encoder of T5 v1.1 (Raffel et al. 2020; Shazeer 2020), XXL: gated
    dense layers without biases, positions relative in 32 buckets."""
    n.op(1, 32128 * d + 32 * heads, tokens * d)
    for _ in range(layers):
        n.op(1, d)
        for _ in range(3):
            n.dense(tokens, d, d, bias=0)
        n.product(2 * tokens * tokens * d, tokens * (tokens * heads + d))
        n.dense(tokens, d, d, bias=0)
        n.op(2, d)
        n.dense(tokens, d, hidden, bias=0)
        n.dense(tokens, d, hidden, bias=0)
        n.op(2)
        n.dense(tokens, hidden, d, bias=0)
        n.op()
    n.op(1, d)


def clip_l(n):
    clip_text(n, 768, 12)


def clip_l_projected(n):
    clip_text(n, 768, 12, 768)


def clip_h(n):
    clip_text(n, 1024, 23)


def clip_big_g(n):
    clip_text(n, 1280, 32, 1280)


# Encoders of the text and channels of the latents, as the checkpoints' files
# state them. Diffusers takes 256 tokens of T5 for Stable Diffusion 3 and 512
# for FLUX.1, 256 of which MLPerf trains with.
PARTS = {
    "stable-diffusion-v1-5": ((clip_l,), 4),
    "stable-diffusion-v2": ((clip_h,), 4),
    "stable-diffusion-v2-1": ((clip_h,), 4),
    "stable-diffusion-xl": ((clip_l, clip_big_g), 4),
    "sdxl-turbo": ((clip_l, clip_big_g), 4),
    "dit-s-2": ((), 4), "dit-b-2": ((), 4), "dit-l-2": ((), 4),
    "dit-xl-2": ((), 4),
    "flux.1": ((clip_l, lambda n: t5_text(n, 512)), 16),
    "flux.1-schnell": ((clip_l, lambda n: t5_text(n, 512)), 16),
    "flux.1-256px": ((clip_l, lambda n: t5_text(n, 256)), 16),
    "stable-diffusion-3-medium":
        ((clip_l_projected, clip_big_g, lambda n: t5_text(n, 256)), 16),
    "stable-diffusion-3.5-large":
        ((clip_l_projected, clip_big_g, lambda n: t5_text(n, 256)), 16)}


def pipeline(ident, px, passes):
    """(name, value, note) of what the pipeline of a network runs once per
    sample; with guidance (2 passes in a step) the text and an empty one are
    encoded. None where it is no such network. Scores of attention are not
    stored."""
    if ident not in PARTS:
        return ()
    encoders, channels = PARTS[ident]
    text, image = Net(), Net()
    for encoder in encoders:
        encoder(text)
    image_decoder(image, px, channels)

    def moved(n):
        return n.moved - 4 * n.product_acts
    note = "derived: counted layer by layer; %simage decoder" % (
        "text encoders and " if encoders else "")
    return (("pipeline_params_m", "%.7g" % (
                (text.params + image.params) / 1e6), note),
            ("pipeline_macs_g", "%.5g" % (
                (passes * text.macs + image.macs) / 1e9), note),
            ("pipeline_traffic_m", "%.5g" % (
                (passes * moved(text) + moved(image)) / 1e6), note),
            ("pipeline_launches", text.launches + image.launches, note))


# Published: parameters in 1e6 (Diffusers) and 1e9 multiply-accumulates without
# the products of attention (Kim et al. 2023, BK-SDM).
PUBLISHED = (
    ("image decoder", lambda n: image_decoder(n, 512, 4), 49.490199, 1239.9),
    ("CLIP ViT-L/14 text", clip_l, 123.060480, 6.5),
    ("OpenCLIP ViT-bigG/14 text", clip_big_g, 694.659840, None),
    ("T5 v1.1 XXL encoder", lambda n: t5_text(n, 256), 4762.310656, None))


def check_parts():
    """Whether parameters and multiply-accumulates are the published ones, to
    1e-6 and 2 %."""
    wrong = 0
    for name, part, params, macs in PUBLISHED:
        n = Net()
        part(n)
        bad = abs(n.params / 1e6 / params - 1) > 1e-6 or (
            macs and abs((n.macs - n.products) / 1e9 / macs - 1) > .02)
        print("%-28s %12.6f M, published %g%s%s" % (
            name, n.params / 1e6, params,
            "; %.3f GMAC, published %g" % ((n.macs - n.products) / 1e9, macs)
            if macs else "",
            " WRONG" if bad else ""))
        wrong += bool(bad)
    return wrong
