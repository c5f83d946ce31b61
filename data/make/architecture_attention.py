# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention of image networks, from their published shapes.

terms(model) gives the attention products of a network of timm's tables as a
list of Term: `blocks` layers in which every one of `queries` tokens meets
`keys` tokens, `width` wide in `heads` heads. A layer's scores and their
mixing are 2 queries keys width multiply-accumulates and heads queries keys
activations. Both grow with the square of the tokens where the keys follow
the input: global attention, windows that are a fixed share of the image,
keys that are pooled by a stride. Windows of a fixed size and attention over
channels grow with the area and are no part of this.

vit(model) gives the shape of a plain vision transformer, for which the
catalogue states patch, depth, width and heads in place of the products.

Depths, widths and windows are those of the networks' papers.
"""
import collections
import re

Term = collections.namedtuple("Term", "blocks queries keys width heads")
Vit = collections.namedtuple("Vit", "patch depth width heads extra")

# width, depth, heads
SIZES = {
    "7b": (4096, 40, 32), "tiny": (192, 12, 3), "small": (384, 12, 6),
    "medium": (512, 12, 8), "base": (768, 12, 12), "large": (1024, 24, 16),
    "huge": (1280, 32, 16), "giant": (1408, 40, 16),
    "giantopt": (1536, 40, 16), "gigantic": (1664, 48, 16),
    "so150m": (896, 18, 14), "so150m2": (832, 21, 13),
    "so400m": (1152, 27, 16), "betwixt": (640, 12, 10),
    "little": (320, 14, 5), "dlittle": (320, 14, 5), "wee": (256, 14, 4),
    "dwee": (256, 14, 4), "pwee": (256, 16, 4), "dpwee": (256, 16, 4),
    "mediumd": (512, 20, 8), "xsmall": (256, 12, 4),
    "intern300m": (1024, 24, 16), "huge_plus": (1280, 32, 20),
    "small_plus": (384, 12, 6), "enormous": (1792, 64, 16),
}
OTHER_SIZES = {
    "vit_giant_patch14_dinov2": (1536, 40, 24),
    "vit_giant_patch14_reg4_dinov2": (1536, 40, 24),
    "vit_base_patch16_plus_240": (896, 12, 14),
    "vit_base_patch16_plus_clip_240": (896, 12, 14),
    "vit_base_patch32_plus_256": (896, 12, 14),
    "vit_relpos_base_patch16_plus_240": (896, 12, 14),
    "vit_relpos_base_patch32_plus_rpn_256": (896, 12, 14),
    "vit_small_patch16_18x2_224": (384, 36, 6),
    "vit_small_patch16_36x1_224": (384, 36, 6),
    "vit_base_patch16_18x2_224": (768, 36, 12),
    "vit_pe_core_gigantic_patch14_448": (1536, 50, 16),
    "vit_pe_spatial_gigantic_patch14_448": (1536, 50, 16),
    "vit_pe_lang_gigantic_patch14_448": (1536, 47, 16),
    "vit_pe_lang_large_patch14_448": (1024, 23, 16),
}
AIM = {"large": (1024, 24, 8), "huge": (1536, 24, 12), "1b": (2048, 24, 16),
       "3b": (3072, 24, 24)}
# Transformers on the map of a convolutional stem, which stands at a stride.
HYBRIDS = {
    "vit_tiny_r_s16_p8": (32, 12, 192, 3),
    "vit_small_r26_s32": (32, 12, 384, 6),
    "vit_base_r26_s32": (32, 12, 768, 12),
    "vit_base_r50_s16": (16, 12, 768, 12),
    "vit_large_r50_s32": (32, 24, 1024, 16),
    "vit_small_resnet26d": (32, 8, 768, 8),
    "vit_base_resnet26d": (32, 12, 768, 12),
    "vit_base_resnet50d": (32, 12, 768, 12),
    "vit_small_resnet50d_s16": (16, 8, 768, 8),
}
PLAIN = re.compile(
    r"(?:(?:naflex)?vit|deit|deit3|beit|beitv2|beit3|eva|eva02|flexivit)_"
    r"(?:relpos_|srelpos_|pe_core_|pe_spatial_|pe_lang_)?"
    r"(7b|tiny|small_plus|small|medium|mediumd|base|large|huge_plus|huge|giant|"
    r"giantopt|gigantic|so150m2|so150m|so400m|betwixt|dlittle|little|dwee|wee|"
    r"dpwee|pwee|xsmall|intern300m|enormous)(?:_|$)")
PATCH = re.compile(r"_patch(\d+)")


# Without a class token: these end in pooling over the patches.
NO_CLASS = re.compile(r"aimv2|naflexvit|siglip|_gap|_map|_mci|_rpn|pe_lang|"
                      r"pe_(?:core|spatial)_gigantic|dinov3|"
                      r"vit_s?relpos_(?!.*_cls)")


def extra_tokens(model):
    """Tokens besides the patches: class, distillation, registers."""
    registers = re.search(r"_reg(\d)", model)
    n = int(registers[1]) if registers else 0
    if "dinov3" in model:
        return 5
    if "distilled" in model:
        return n + 2
    return n if NO_CLASS.search(model) else n + 1


def vit(model):
    """Shape of a plain vision transformer, or None."""
    stem = re.sub(r"_\d{3,4}$", "", model)
    if stem in HYBRIDS:
        return Vit(*HYBRIDS[stem], 1)
    if model.startswith("aimv2"):
        width, depth, heads = AIM[model.split("_")[1]]
        return Vit(14, depth, width, heads, 0)
    m = PLAIN.match(model)
    if not m:
        return None
    p = PATCH.search(model)
    patch = int(p[1]) if p else 16
    width, depth, heads = OTHER_SIZES.get(model) or SIZES[m[1]]
    return Vit(patch, depth, width, heads, extra_tokens(model))


def tokens(shape, px):
    return (px // shape.patch) ** 2 + shape.extra


def vit_term(shape, px):
    n = tokens(shape, px)
    return Term(shape.depth, n, n, shape.width, shape.heads)


def square(px, stride):
    return (px / stride) ** 2


def everywhere(px, stages, head=32):
    """Global attention in stages of (stride, blocks, width)."""
    return [Term(b, square(px, s), square(px, s), w, w // head)
            for s, b, w in stages]


def windows(px, depths, width, share, head=32, most=None):
    """Stages from stride 4 with windows of a share of the map's side at
    stride 32, halves of the map where that is more than all of it."""
    out = []
    for i, blocks in enumerate(depths):
        side = px / 4 / 2 ** i
        keys = min(share * px / 32, side) ** 2
        w = width * 2 ** i if not most else width[i]
        out.append(Term(blocks, side ** 2, keys, w, w // head))
    return out


MAXXVITV2 = {"nano": ((1, 2, 3, 1), 96), "base": ((2, 6, 12, 2), 128),
             "large": ((2, 6, 16, 2), 160)}
NEST = {"tiny": ((2, 2, 8), 96), "small": ((2, 2, 20), 96),
        "base": ((2, 2, 20), 128)}
MOBILEVIT = {"xxs": (64, 80, 96), "xs": (96, 120, 144), "s": (144, 192, 240)}
# side and stride of a patch, width, blocks, heads
PIT = {"ti": (16, 8, 64, (2, 6, 4), 2), "xs": (16, 8, 96, (2, 6, 4), 2),
       "s": (16, 8, 144, (2, 6, 4), 3), "b": (14, 7, 256, (3, 6, 4), 4)}
# Keys are pooled to stride 32.
PYRAMIDS = {
    "pvt_v2_b0": ((2, 2, 2, 2), (32, 64, 160, 256)),
    "pvt_v2_b1": ((2, 2, 2, 2), (64, 128, 320, 512)),
    "pvt_v2_b2": ((3, 4, 6, 3), (64, 128, 320, 512)),
    "pvt_v2_b3": ((3, 4, 18, 3), (64, 128, 320, 512)),
    "pvt_v2_b4": ((3, 8, 27, 3), (64, 128, 320, 512)),
    "pvt_v2_b5": ((3, 6, 40, 3), (64, 128, 320, 512)),
    "twins_pcpvt_small": ((3, 4, 6, 3), (64, 128, 320, 512)),
    "twins_pcpvt_base": ((3, 4, 18, 3), (64, 128, 320, 512)),
    "twins_pcpvt_large": ((3, 8, 27, 3), (64, 128, 320, 512)),
    # Every other block; the rest have windows of a fixed size.
    "twins_svt_small": ((1, 1, 5, 2), (64, 128, 256, 512)),
    "twins_svt_base": ((1, 1, 9, 1), (96, 192, 384, 768)),
    "twins_svt_large": ((1, 1, 9, 1), (128, 256, 512, 1024)),
}
GCVIT = {"xxtiny": ((2, 2, 6, 2), 64), "xtiny": ((3, 4, 6, 5), 64),
         "tiny": ((3, 4, 19, 5), 64), "small": ((3, 4, 19, 5), 96),
         "base": ((3, 4, 19, 5), 128)}
HIERA = {"tiny": (7, 2, 384), "small": (11, 2, 384), "base": (16, 3, 384),
         "base_plus": (16, 3, 448), "large": (36, 4, 576),
         "huge": (36, 4, 1024)}
MVITV2 = {"tiny": ((1, 2, 5, 2), 96), "small": ((1, 2, 11, 2), 96),
          "base": ((2, 3, 16, 3), 96), "large": ((2, 6, 36, 4), 144),
          "huge": ((4, 8, 60, 8), 192)}
CONVIT = {"tiny": (192, 4), "small": (432, 9), "base": (768, 16)}
MAXVIT = {"pico": ((2, 2, 5, 2), 32), "nano": ((1, 2, 3, 1), 64),
          "tiny": ((2, 2, 5, 2), 64), "small": ((2, 2, 5, 2), 96),
          "base": ((2, 6, 14, 2), 96), "large": ((2, 6, 14, 2), 128),
          "xlarge": ((2, 6, 14, 2), 192)}
# Blocks of the last two stages, width of the first of them. The variants of
# timm (rw) widen after the attention of a stage's first block.
COATNET = {"pico_rw": (4.5, 1.5, 256), "nano_rw": (5.5, 2.5, 256),
           "nano_cc": (5.5, 2.5, 256), "0_rw": (6.5, 1.5, 384),
           "bn_0_rw": (6.5, 1.5, 384), "rmlp_0_rw": (6.5, 1.5, 384),
           "1_rw": (13.5, 1.5, 384), "rmlp_1_rw": (13.5, 1.5, 384),
           "rmlp_1_rw2": (13.5, 1.5, 384), "rmlp_nano_rw": (5.5, 2.5, 256),
           "2_rw": (13.5, 1.5, 512), "rmlp_2_rw": (13.5, 1.5, 512),
           "3_rw": (13.5, 1.5, 768), "rmlp_3_rw": (13.5, 1.5, 768),
           "0": (5, 2, 384), "1": (14, 2, 384), "2": (14, 2, 512),
           "3": (14, 2, 768), "4": (28, 2, 768)}
SWIN = {"tiny": ((2, 2, 6, 2), 96), "small": ((2, 2, 18, 2), 96),
        "base": ((2, 2, 18, 2), 128), "large": ((2, 2, 18, 2), 192),
        "huge": ((2, 2, 18, 2), 352), "giant": ((2, 2, 42, 2), 512)}
VOLO = {"d1": (14, 384), "d2": (18, 512), "d3": (28, 512), "d4": (28, 768),
        "d5": (36, 768)}
CAFORMER = {"s18": (9, 320, 3, 512), "s36": (18, 320, 3, 512),
            "m36": (18, 384, 3, 576), "b36": (18, 512, 3, 768)}
CAIT = {"xxs24": (24, 192), "xxs36": (36, 192), "xs24": (24, 288),
        "s24": (24, 384), "s36": (36, 384), "m36": (36, 768), "m48": (48, 768)}
CROSSVIT = {"9": (3, 128, 256), "15": (5, 192, 384), "18": (6, 224, 448),
            "tiny": (4, 96, 192), "small": (4, 192, 384), "base": (4, 384, 768)}
VITAMIN = {"small": (14, 384), "base": (14, 768), "large": (31, 1024),
           "large2": (31, 1024), "xlarge": (32, 1152)}
NEXTVIT = {"small": 2, "base": 4, "large": 6}
HIERA_GLOBAL = {"tiny": (3, 96, 7), "small": (3, 96, 11),
                "base_plus": (3, 112, 16), "large": (3, 144, 36)}
TINY_VIT = {"5m": (128, 160, 320), "11m": (128, 256, 448),
            "21m": (192, 384, 576)}


def swin(model, px):
    size = model.split("_")[2 if "_cr_" in model else 1]
    depths, width = SWIN[size]
    share = 1.0
    w = re.search(r"window(?:\d+to)?(\d+)", model)
    if w:
        share = int(w[1]) * 32 / px
    terms = windows(px, depths, width, share)
    if "_cr_" in model:     # biases by a network over all pairs of a window
        pairs = (px / 32) ** 4
        for i, b in enumerate(depths):
            heads = width * 2 ** i // 32
            terms += [Term(b, pairs, 192 * (2 + heads), 1, 0),
                      Term(b, pairs, 1, 0, 384 + heads)]
    return terms


def cait(model, px):
    depth, width = CAIT[model.split("_")[1]]
    n, heads = square(px, 16), width // 48
    # Scores go through two layers over the heads.
    return [Term(depth, n, n, width, heads),
            Term(depth, n, n, heads ** 2, 2 * heads)]


def crossvit(model, px):
    depth, small, large = CROSSVIT[model.split("_")[1]]
    heads = 3 if model.split("_")[1] in ("tiny",) else 6
    if model.split("_")[1] in ("9",):
        heads = 4
    if model.split("_")[1] in ("18",):
        heads = 7
    if model.split("_")[1] in ("base",):
        heads = 12
    n, m = (px // 12) ** 2 + 1, round(px * 14 / 240) ** 2 + 1
    return [Term(3, n, n, small, heads), Term(3 * depth, m, m, large, heads)]


def nextvit(model, px):
    pooled = ((8, 4, 1, 192), (16, 2, NEXTVIT[model.split("_")[1]], 384),
              (32, 1, 1, 768))
    return [Term(b, square(px, s), square(px, s * sr), w, w // 32)
            for s, sr, b, w in pooled]


def maxvit(model, px):
    parts = model.split("_")
    size = parts[2] if parts[1] == "rmlp" else parts[1]
    if parts[0] == "maxxvitv2":     # grids alone
        return windows(px, *MAXXVITV2[size], 1.0)
    terms = [t._replace(blocks=2 * t.blocks)
             for t in windows(px, *MAXVIT[size], 1.0)]
    if "tf" in parts:           # biases are spread over all pairs of a window
        terms += [Term(t.blocks, t.keys, t.keys, 0, t.heads) for t in terms]
    return terms


def coatnet(model, px):
    shape = COATNET.get(re.sub(r"_\d{3}$", "", model[len("coatnet_"):]))
    if not shape:
        return None
    b3, b4, w = shape
    return everywhere(px, ((16, b3, w), (32, b4, 2 * w)))


def caformer(model, px):
    b3, w3, b4, w4 = CAFORMER[model.split("_")[1]]
    return everywhere(px, ((16, b3, w3), (32, b4, w4)))


def volo(model, px):
    b, w = VOLO[model.split("_")[1]]
    return everywhere(px, ((16, b, w),), 48 if w == 768 else 32)


def vitamin(model, px):
    b, w = VITAMIN[model.split("_")[1]]
    return everywhere(px, ((16, b, w),), 72 if w == 1152 else 64)


def sam2(model, px):
    b, w, _ = HIERA_GLOBAL["_".join(model.split("_")[2:])]
    return everywhere(px, ((16, b, 4 * w),), 96)


def samvit(model, px):
    width, depth, heads = SIZES[model.split("_")[1]]
    n = square(px, 16)
    return [Term(depth if "224" in model else 4, n, n, width, heads)]


def tiny_vit(model, px):
    w = TINY_VIT[model.split("_")[2]]
    return [Term(b, square(px, s), square(px, k), v, v // 32)
            for b, s, k, v in zip((2, 6, 2), (8, 16, 32), (32, 16, 32), w)]


def nest(model, px):
    depths, width = NEST[[p for p in model.split("_") if p in NEST][0]]
    return [Term(b, square(px, 4 * 2 ** i), square(px, 16), width * 2 ** i,
                 width * 2 ** i // 32) for i, b in enumerate(depths)]


def mobilevit(model, px):
    widths = MOBILEVIT[model.split("_")[1]]
    return [Term(b, 4 * square(px, s), square(px, s), w, 4)
            for b, s, w in zip((2, 4, 3), (16, 32, 64), widths)]


def pit(model, px):
    patch, stride, width, depths, heads = PIT[model.split("_")[1]]
    side, out = (px - patch) // stride + 1, []
    for i, b in enumerate(depths):
        n = side ** 2 + (2 if "distilled" in model else 1)
        out.append(Term(b, n, n, width * 2 ** i, heads * 2 ** i))
        side = -(-side // 2)
    return out


def pyramid(model, px):
    if model not in PYRAMIDS:
        return []               # pvt_v2_b2_li pools to a fixed size
    return [Term(b, square(px, 4 * 2 ** i), square(px, 32), w, w // 64 or 1)
            for i, (b, w) in enumerate(zip(*PYRAMIDS[model]))]


def gcvit(model, px):
    depths, width = GCVIT[model.split("_")[1]]
    return [Term(b, square(px, 4 * 2 ** i), square(px, 16 if i == 2 else 32),
                 width * 2 ** i, width * 2 ** i // 32)
            for i, b in enumerate(depths)]


def hiera(model, px):
    size = model.split("_")[1]
    b3, b4, w = HIERA["base_plus" if "plus" in model else size]
    return everywhere(px, ((16, b3, w), (32, b4, 2 * w)), 96)


def mvitv2(model, px):
    depths, width = MVITV2[model.split("_")[1]]
    return [Term(b, square(px, 4 * 2 ** i), square(px, 32 if i == 3 else 16),
                 width * 2 ** i, 2 ** i) for i, b in enumerate(depths)]


def convit(model, px):
    width, heads = CONVIT[model.split("_")[1]]
    n = square(px, 16)
    return [Term(12, n, n, width, heads)]


def visformer(model, px):
    w = 384 if "small" in model else 192
    return everywhere(px, ((16, 4, w), (32, 4, 2 * w)), w // 6)


def mobilenetv4(model, px):
    """Queries of all heads share keys, which stand at stride 32."""
    if "hybrid" not in model:
        return []
    wide = (384, 512) if "large" in model else (256, 256)
    return [Term(4, square(px, s), square(px, 32), w, 8 if w > 256 else 4)
            for s, w in zip((16, 32), wide)]


def tnt(model, px):
    w = 384 if "_s_" in model else 640
    n = square(px, 16) + 1
    return [Term(12, n, n, w, w // 64)]


FAMILIES = (
    (r"max?xvit(?:v2)?_|maxvit_", maxvit), (r"coatnet_", coatnet),
    (r"swin_(?!s3)|swinv2_", swin), (r"volo_", volo),
    (r"caformer_", caformer), (r"cait_", cait), (r"crossvit_", crossvit),
    (r"vitamin_", vitamin), (r"nextvit_", nextvit), (r"sam2_", sam2),
    (r"samvit_", samvit), (r"tiny_vit_", tiny_vit), (r"(?:jx_)?nest_", nest),
    (r"mobilevit_", mobilevit), (r"pit_", pit), (r"pvt_v2_|twins_", pyramid),
    (r"gcvit_", gcvit), (r"hiera_", hiera), (r"mvitv2_", mvitv2),
    (r"mobilenetv4_", mobilenetv4), (r"convit_", convit),
    (r"visformer_", visformer), (r"tnt_", tnt),
)


def terms(model, px):
    """Attention of a network: [] if none grows faster than the area, None
    where its shape is not known here."""
    shape = vit(model)
    if shape:
        return [vit_term(shape, px)]
    for name, of in FAMILIES:
        if re.match(name, model):
            return of(model, px)
    return None


def products(model, px):
    """(MACs in G, activations in M) of the attention, or None."""
    found = terms(model, px)
    if found is None:
        return None
    return (sum(2e-9 * t.blocks * t.queries * t.keys * t.width for t in found),
            sum(1e-6 * t.blocks * t.queries * t.keys * t.heads for t in found))
