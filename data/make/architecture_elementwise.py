#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Elementwise traffic of image networks, from the blocks they consist of.

ratio(model) gives the elements that the operators between the layers of a
network read and write, by activation (output of convolutions, dense layers and
products of attention), or None. It is that of the block that the network
repeats, in one forward pass, nothing fused; changes of width and stride, stem
and classifier are left out.

A block is written as words, widths in units of its input:

  cW   convolution or dense layer with W outputs      d   depthwise layer
  n    norm             reads and writes: 2 elements for each of the map
  a    activation function                            2
  m    copy: concatenation, windows, heads, pooling   2
  *    scale by a learned factor                      2
  +    sum or product of two maps                     3
  g    gate: mean over the map, product with it       3
  e    EvoNorm: seven operators                       14
  f    filter response norm, thresholded unit         9
  pX   attention with X weights for each output: two products; the weights are
       scaled and normalised                          4 for each weight
  bX   bias added to X weights                        3 for each weight
  tX   two dense layers over X weights, transposed    8 for each weight
  =W   a map of W channels (parts of maps, maps joined)
  rW   a map that the block has read before

Operators of one letter may be joined: "c1 na".

usage: architecture_elementwise.py       prints the ratio of each block
"""
import re
import sys

ELEMENTS = {"n": 2, "a": 2, "m": 2, "*": 2, "+": 3, "g": 3, "e": 14, "f": 9}


def count(block):
    """(elements that operators move, activations) of a block."""
    moved = acts = 0
    width = 1.0
    for word in block.split():
        kind, number = word[0], word[1:]
        if kind in "cd=r":
            width = float(number) if number else width
            acts += 0 if kind in "=r" else width
        elif kind in "pbt":
            weights = float(number)
            moved += {"p": 4, "b": 3, "t": 8}[kind] * weights
            acts += {"p": weights + width, "b": 0, "t": 2 * weights}[kind]
        else:
            moved += sum(ELEMENTS[letter] for letter in word) * width
    return moved, acts


# --- residual networks

def bottleneck(width=.25, gate="", norm="na"):
    """He et al. 2016; gates: Hu et al. 2018, Wang et al. 2020."""
    last = norm.rstrip("a")
    return "c%g %s c%g %s c1 %s%s + a" % (width, norm, width, norm, last, gate)


def basic(gate=""):
    return "c1 na c1 n%s + a" % gate


def before(norm="na"):
    """He et al. 2016b: norm before the layer."""
    return "%s c.25 %s c.25 %s c1 +" % (norm, norm, norm)


def norm_free(width, gate, extra=1, scaled=""):
    """Brock et al. 2021: activations scaled by constants, no norm."""
    return " ".join(["a" + scaled, "*"] + ["c%g a%s" % (width, scaled)]
                    * (2 + extra) + ["c1", gate, "* +"])


def densenet(depths, growth, start):
    """Huang et al. 2017: each layer joins all maps before it. Inputs in units
    of the growth, weighted by the size of the maps."""
    total = weight = 0
    channels = start
    for i, depth in enumerate(depths):
        mean = channels + (depth - 1) * growth / 2
        total += mean * depth / 4 ** i
        weight += depth / 4 ** i
        channels = (channels + depth * growth) // 2
    return "=%g m na c4 na c1" % (total / weight / growth)


# --- mobile networks

def inverted(widen, gate="", norm="na"):
    """Sandler et al. 2018, Tan and Le 2019."""
    return "c%g %s d %s%s c1 %s +" % (
        widen, norm, norm, " " + gate if gate else "", norm.rstrip("a"))


# --- networks with attention

def vit(weights, mlp=4, scale="", more="", mix="n c3 m =1"):
    """Dosovitskiy et al. 2021: `weights` = tokens / size of a head."""
    return "%s p%g %s m c1 %s + n c%g a c1 %s +" % (mix, weights, more, scale,
                                                    mlp, scale)


def windows(side, cosine=False):
    """Liu et al. 2021, 2022: heads of 32; half of the blocks shift."""
    n = side * side / 32
    if cosine:
        return "m c3 m =2 n =1 p%g b%g m c1 m m n + c4 a c1 n +" % (n, n)
    return "n m c3 m =1 p%g b%g m c1 m m + n c4 a c1 +" % (n, n)


def mixed(share, first, second):
    """Two kinds of blocks; `share` of the activations in the first."""
    a, b = count(first), count(second)
    return share * a[0] / a[1] + (1 - share) * b[0] / b[1]


# --- names

def number(pattern, model, default):
    m = re.search(pattern, model)
    return int(m[1]) if m else default


def tokens(model):
    return (number(r"_(\d{3})(?:_|$)", model, 224)
            // number(r"patch(\d+)", model, 16)) ** 2 + 1


def gate_of(model):
    return "g" if re.match(r"se|eca|gc|legacy_se|cs3se|nf_se|nf_eca",
                           model) else ""


def residual(model):
    """ResNet and its relatives: Xie et al. 2017, Zagoruyko 2016."""
    gate = gate_of(model) or ("g" if "resnetrs" in model else "")
    grouped = re.search(r"_(\d+)x(\d+)d", model)
    if grouped:
        return bottleneck(int(grouped[1]) * int(grouped[2]) / 256, gate)
    if "resnext" in model or model.startswith("wide"):
        return bottleneck(.5, gate)
    if re.search(r"resnet(blur|aa)?(10|18|34)", model):
        return basic(gate)
    return bottleneck(.25, gate, "e" if "evo" in model else "na")


def pre_residual(model):
    return before("e" if "evo" in model else "f" if "frn" in model else "na")


def hybrid(model):
    """A ResNet in front of a transformer."""
    side = 16 if re.search("_s16|50d_s16", model) else 32
    return mixed(.3 if side == 16 else .7, before(),
                 vit(((224 // side) ** 2 + 1) / 64))


def plain_vit(model):
    n = tokens(model) / 64
    return vit(n, scale="*" if re.match("beit|deit3", model) else "",
               more="b%g" % n if re.search("beit|relpos", model) else "")


def swin2(model):
    side = number(r"to(\d+)_", model, number(r"window(\d+)", model, 7))
    return windows(side, True)


def regnet(model):
    """Radosavovic et al. 2020, Dollar et al. 2021."""
    norm = "e" if "evo" in model else "na"
    if "regnetz" in model:
        return "c4 %s c4 %s g c1 %s +" % (norm, norm, norm.rstrip("a"))
    if model.startswith("regnetv"):
        return "na c1 na c1 na g c1 +"
    gate = " g" if model.startswith("regnety") else ""
    return "c1 na c1 na%s c1 n + a" % gate


def dla(model):
    """Yu et al. 2018: two blocks and the layer that joins their maps."""
    block = "c%g na c%g na c1 n + a" % ((1, 1) if re.search(
        r"\dx", model) and "x2" not in model else (.5, .5))
    if "res2" in model:
        block = "c.5 na c.4 na + =.5 m c1 n + a"
    elif model == "dla34":
        block = basic()
    return "%s %s =2.5 m c1 n + a" % (block, block)


def vovnet(model):
    """Lee et al. 2019, Lee and Park 2020."""
    norm = "e" if "evo" in model else "n" if "iabn" in model else "na"
    layer = ("d " if "_dw" in model else "") + "c.25 %s " % norm
    times = 3 if "19" in model else 5
    return "%s =%g m c1 %s %s" % (layer * times, 1 + times / 4, norm,
                                  "g +" if model.startswith(("ese", "eca"))
                                  else "")


def cross_stage(model):
    """Wang et al. 2020b: blocks on half of the channels, joined again."""
    gate = "g" if "se" in model.replace("cspres", "") else ""
    block = "=.5 c.5 na c.5 na %s + " % gate
    if "cspres" in model:
        block = "=.5 c.25 na c.25 na c.5 n + a "
    return "c1 na %s =1 m c1 na" % (block * 3)


def efficientnet(model):
    """Tan and Le 2019; edge: Gupta and Tan 2019; version 2: Tan and Le 2021."""
    if "lite" in model:
        return inverted(6)
    if re.search(r"efficientnet_e[sml]", model):
        return "c8 na c1 n + " + inverted(8)
    if "efficientnetv2" in model:
        return "c4 na c1 n + " + inverted(5, "g")
    return inverted(6, "g", "e" if "evo" in model else "na")


def half_gated(widen):
    return "c%g na d na =%g g c1 n +" % (widen, widen / 2)


SEPARABLE = "a d c1 n a d c1 n "
XCIT = "n c3 m =2 n =1 p0 m c1 * + n m d a n d m * + n c4 a c1 * +"
COAT = "d + n c3 m =1 p0 m d + c1 + n c4 a c1 +"
INCEPTION = "c.25 na c.17 na c.17 na c.25 na c.17 na c.17 na c.17 na c.17 na " \
    "c.25 na =1 m c.25 na =1 m"
LIGHT_ATTENTION = "n c2 =1 a + c1 + n c2 a c1 + "

# Pattern at the beginning of a name, block or the function that gives it. The
# first that fits is used.
BLOCKS = (
    # Szegedy et al. 2016, 2017
    (r"inception_resnet", "c.18 na c.12 na c.15 na c.18 na =.36 m c1 * + a"),
    (r"inception_v[34]", INCEPTION),
    (r"densenet161", densenet((6, 12, 36, 24), 48, 96)),
    (r"densenet169", densenet((6, 12, 32, 32), 32, 64)),
    (r"densenet201", densenet((6, 12, 48, 32), 32, 64)),
    (r"densenet264", densenet((6, 12, 64, 48), 32, 64)),
    (r"densenet", densenet((6, 12, 24, 16), 32, 64)),
    # Simonyan and Zisserman 2015
    (r"vgg\d+_bn", "c1 na"), (r"vgg", "c1 a"),
    (r"repvgg", "c1 n r1 c1 n n + + a"),           # Ding et al. 2021
    (r"dla", dla),
    # Chen et al. 2017: maps of the dense path are joined
    (r"dpn(68|92)", "=1.3 m na c.375 na c.375 na c1 +"),
    (r"dpn(98|131)", "=1.7 m na c.625 na c.625 na c1 +"),
    (r"dpn", "=1.7 m na c.78 na c.78 na c1 +"),
    # Wang et al. 2020c: four blocks, sums over the branches
    (r"hrnet", " ".join([basic()] * 4) + " m + m + m + a"),
    (r"selecsls",                               # Mehta et al. 2020
     "c1 na c1 na c.5 na c1 na c.5 na =2 m c1.5 na"),
    (r"gernet", basic() + " " + bottleneck()),  # Lin et al. 2020
    (r"nf_regnet", "a * c2.25 a c2.25 a g * c1 * +"),
    (r"nf_(se|eca)", norm_free(.25, "g *", 0)),
    (r"nf_resnet", norm_free(.25, "", 0)),
    (r"dm_nfnet", norm_free(.5, "g *", 1, "*")),
    (r"nfnet_f", norm_free(.5, "g *")),
    (r"(eca_)?nfnet_l", norm_free(.25, "g *")),
    (r"(halo)?regnet", regnet),
    (r"resnest", "c.25 na c.5 na g =.25 + c1 n + a"),   # Zhang et al. 2020
    (r"res2n", "c.4 na c.3 na + =.4 m c1 n + a"),       # Gao et al. 2021
    # Li et al. 2019
    (r"skresnet(18|34)", "c2 na g =1 + c1 n + a"),
    (r"skresnet", "c.25 na c.5 na g =.25 + c1 n + a"),
    (r"skresnext", "c.5 na c1 na g =.5 + c1 n + a"),
    # Ridnik et al. 2021: norm and activation in one operator
    (r"tresnet", "c1 n c1 n g + a =1 c.25 n c.25 n g c1 n + a"),
    (r"(\w+_)?vovnet", vovnet),
    (r"darknet", "c.5 na c1 na +"), (r"sedarknet", "c.5 na c1 na g +"),
    (r"cs", cross_stage),
    (r"(legacy_)?senet", "c.5 na c1 na c1 n g + a"),
    (r"resnetv2", pre_residual),
    (r"vit_\w+?_r\d*_|vit_\w+?_r\d+_|vit_\w+?_resnet", hybrid),
    # Chollet 2017
    (r"xception\d+p", "na d c1 na d c1 na d c1 +"),
    (r"xception\d", "a d n c1 n a d n c1 n a d n c1 n +"),
    (r"xception", "a d c1 n a d c1 n a d c1 n +"),
    # Zoph et al. 2018, Liu et al. 2018
    (r"p?nasnet", "=6 m a c1 n " + SEPARABLE * 5 + "+ + + + + =6 m"),
    # Mobile networks: Howard et al. 2017, 2019, Tan et al. 2019, Han et al.
    # 2020 (two), Stamoulis et al. 2019, Cui et al. 2021, Han et al. 2021
    (r"mobilenetv1|lcnet", "d na c1 na"),
    (r"mobilenetv2", inverted(6)),
    (r"mobilenetv3_\w+_minimal", inverted(4)), (r"mobilenetv3", half_gated(4)),
    (r"mnasnet_a1|semnasnet|mnasnet_small", half_gated(5)),
    (r"mnasnet|spnasnet", inverted(5)), (r"fbnetc", inverted(5)),
    (r"fbnetv3", inverted(5, "g")), (r"hardcorenas", half_gated(4)),
    (r"tinynet|rexnet", inverted(6, "g")),
    (r"mixnet", "c5 na m d m na g c1 n +"),     # Tan and Le 2019b
    (r"ghostnet", "c1.5 na d na =3 m =1 g =1.5 c.5 n d n =1 m +"),
    (r"(gc_)?efficientnet", efficientnet),
    # Attention. Liu et al. 2021, 2022
    (r"swinv2", swin2),
    (r"swin_\w+window12", windows(12)), (r"swin", windows(7)),
    (r"xcit", XCIT),                            # Ali et al. 2021
    # Touvron et al. 2021: talking heads; d'Ascoli et al. 2021
    (r"cait", vit(197 / 48, scale="*", more="t%g" % (197 / 48))),
    (r"convit", vit(197 / 48, more="b%g b%g" % (197 / 48, 197 / 48))),
    (r"nest", vit(196 / 32)),                   # Zhang et al. 2022
    (r"volo", vit(196 / 32, 3)),                # Yuan et al. 2021
    (r"tnt", vit(197 / 64) + " " + vit(16 / 6)),        # Han et al. 2021b
    (r"pit|crossvit", vit(257 / 64)),           # Heo 2021, Chen 2021
    (r"vit|deit|beit", plain_vit),
    (r"twins", vit(49 / 32)),                   # Chu et al. 2021
    (r"levit", "c2 n m =1 p3 b3 m a c1 n + c2 n a c1 n +"),  # Graham 2021
    (r"coat", COAT),                            # Xu et al. 2021
    (r"visformer", vit(196 / 64)),              # Chen et al. 2021b
    (r"edgenext|convnext", "d m n c4 a c1 * m +"),      # Liu et al. 2022b
    # Mehta and Rastegari 2022 (two)
    (r"mobilevitv2", inverted(2) + " d na c1 " + LIGHT_ATTENTION * 3
     + "n c1 n"),
    (r"(se)?mobilevit", inverted(4) + " c1 na c1 m "
     + " ".join([vit(256 / 36, 2)] * 3) + " m c1 na =2 m c1 na"),
    # Without attention: Tolstikhin, Touvron, Liu, Yu, Trockman, Tatsunami
    (r"mixer_\w32", "n m c8 a c1 m + n c4 a c1 +"),
    (r"mixer", "n m c2 a c1 m + n c4 a c1 +"),
    (r"gmixer", "n m c2 =1 a + c1 m + n c4 =2 a + c1 +"),
    (r"gmlp", "n c6 a =3 n m c3 m + c1 +"),
    (r"resmlp", "* m c1 m * + * c4 a c1 * +"),
    (r"poolformer", "n m + * + n c4 a c1 * +"),
    (r"convmixer", "d a n + c1 a n"),
    (r"sequencer", "n m c2 a c2 a =1 m m c1 + n c3 a c1 +"),
    # Residual networks, also with a few layers of attention in place of
    # convolutions
    (r"(bat|lambda|lamhalo|\w*bot|\w*halo|\w*resne)", residual),
)
ORIGINS = re.compile(r"(tf|gluon|adv|ens|swsl|ssl|ig|tv|jx)_")
# Begin like those above, but repeat other blocks.
OTHERS = re.compile(
    r"coatn|csat|vitamin|convnextv2|poolformerv2|ghostnetv[23]|densenet_|beit3|"
    r"fcn|deeplab|efficientnet_[hx]_|repvgg_d2|\w*(cifar|keras|_rms)|"
    r"vit_\w*(dino|rope|_pe_|_so\d|7b|_mci|wee|little|betwixt|intern|mediumd|"
    r"giantopt|_xp_|_plus_patch16)")


def plain(model):
    """The name without where its weights come from."""
    while ORIGINS.match(model):
        model = model[ORIGINS.match(model).end():]
    return model


def block_of(model):
    """What the network repeats, or its ratio where that is not one block, or
    None."""
    model = plain(model)
    if OTHERS.match(model):
        return None
    for pattern, block in BLOCKS:
        if re.match(pattern, model):
            return block(model) if callable(block) else block
    return None


def ratio(model):
    block = block_of(model)
    if isinstance(block, str):
        moved, acts = count(block)
        return moved / acts
    return block


def values(model):
    """[(name, value, source, note)] of an entry of the catalogue."""
    known = ratio(model)
    return [("elementwise_ratio", known, "timm", "derived: operators between "
             "the layers of the block that it repeats")] if known else []


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(2)
    for pattern, block in BLOCKS:
        print("%-40s %s" % (pattern, block if callable(block) else
                            "%.4g" % (count(block)[0] / count(block)[1])))
