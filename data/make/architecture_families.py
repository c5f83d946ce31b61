# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of the networks in timm's tables: names, heads, aliases.

family(model) and title(model) say what a network is called, alias_of(model)
of which network it is another set of weights, head(model, width) how many
features its classifier takes, fixed(model, params, head) how many operations
of the table's figure do not grow with the input besides the classifier's.
"""
import re

# Names of a family's networks; the first that matches. The second word is the
# spelling of the name's stem.
FAMILIES = (
    (r"(?:adv_|tf_|gluon_)?inception_v|(?:ens_adv_)?inception_resnet",
     "inception", "Inception"),
    (r"inception_next", "inception_next", "InceptionNeXt"),
    (r"(?:legacy_|gluon_)?xception", "xception", "Xception"),
    (r"wide_resnet", "wide_resnet", "Wide ResNet"),
    (r"resnetv2|nf_(?:se|eca)?resnet", "resnetv2", "ResNet v2"),
    (r"resnest", "resnest", "ResNeSt"), (r"res2ne", "res2net", "Res2Net"),
    (r"skresne", "sknet", "SKNet"),
    (r"(?:.*_)?(?:se|eca|gc|bat_|sehalo)?resnext", "resnext", "ResNeXt"),
    (r"(?:gluon_|legacy_)?senet", "senet", "SENet"),
    (r"(?:tv_|gluon_|ssl_|swsl_|legacy_|test_)?(?:se|eca|gc)?resnet",
     "resnet", "ResNet"),
    (r"(?:tv_)?densenet", "densenet", "DenseNet"), (r"dpn", "dpn", "DPN"),
    (r"dla", "dla", "DLA"), (r"hrnet", "hrnet", "HRNet"),
    (r"vgg", "vgg", "VGG"), (r"repvgg", "repvgg", "RepVGG"),
    (r"(?:cs|se)?p?3?(?:se|edge)?.*darknet|cs3|csp", "darknet", "CSPNet"),
    (r"(?:ese_|eca_)?vovnet", "vovnet", "VoVNet"),
    (r"p?nasnet", "nasnet", "NASNet"),
    (r"(?:tf_)?mobilenetv?\d?", "mobilenet", "MobileNet"),
    (r"(?:se)?mnasnet", "mnasnet", "MnasNet"),
    (r"(?:tf_)?efficientnetv2|gc_efficientnetv2", "efficientnetv2",
     "EfficientNetV2"),
    (r"(?:tf_|test_)?efficientnet", "efficientnet", "EfficientNet"),
    (r"(?:tf_)?mixnet", "mixnet", "MixNet"),
    (r"(?:nf_)?regnet|haloregnet", "regnet", "RegNet"),
    (r"(?:dm_|eca_|test_)?nfnet", "nfnet", "NFNet"),
    (r"(?:test_)?convnext", "convnext", "ConvNeXt"),
    (r"vitamin", "vitamin", "ViTamin"),
    (r"(?:naflex|flexi)?vit|test_vit", "vit", "ViT"),
    (r"deit", "deit", "DeiT"), (r"beit", "beit", "BEiT"),
    (r"eva", "eva", "EVA"), (r"aimv2", "aimv2", "AIMv2"),
    (r"sam", "sam", "SAM"), (r"swin", "swin", "Swin"),
    (r"(?:g?mixer|resmlp|gmlp)", "mixer", "MLP-Mixer"),
    (r"poolformer", "poolformer", "PoolFormer"),
    (r"caformer|convformer", "metaformer", "MetaFormer"),
    (r"max?xvit|maxvit", "maxvit", "MaxViT"),
    (r"coatne", "coatnet", "CoAtNet"), (r"coat", "coat", "CoaT"),
    (r"mobilevit|semobilevit", "mobilevit", "MobileViT"),
    (r"(?:jx_)?nest", "nest", "NesT"),
    (r".*(?:botnet|botnext|halonet|halonext|lambda)", "attention_resnet",
     "ResNet"),
)
# Spelling of words in names; others are capitalised.
WORDS = {
    "tf": "(TensorFlow)", "resnet": "ResNet", "resnext": "ResNeXt",
    "efficientnet": "EfficientNet", "efficientnetv2": "EfficientNetV2",
    "mobilenetv3": "MobileNet v3", "mobilenetv4": "MobileNet v4",
    "mobilenetv5": "MobileNet v5", "mobilenetv2": "MobileNet v2",
    "mobilenetv1": "MobileNet v1", "convnext": "ConvNeXt",
    "convnextv2": "ConvNeXt V2", "vit": "ViT", "deit": "DeiT",
    "deit3": "DeiT III", "beit": "BEiT", "beitv2": "BEiT v2",
    "beit3": "BEiT-3", "eva": "EVA", "eva02": "EVA-02", "aimv2": "AIMv2",
    "swin": "Swin", "swinv2": "Swin V2", "maxvit": "MaxViT",
    "maxxvit": "MaxxViT", "maxxvitv2": "MaxxViT V2", "coatnet": "CoAtNet",
    "coatnext": "CoAtNeXt", "cait": "CaiT", "coat": "CoaT",
    "crossvit": "CrossViT", "convit": "ConViT", "convmixer": "ConvMixer",
    "cspdarknet53": "CSPDarknet-53", "davit": "DaViT", "volo": "VOLO",
    "xcit": "XCiT", "levit": "LeViT", "pit": "PiT", "pvt": "PVT",
    "tnt": "TNT", "nest": "NesT", "mvitv2": "MViT v2", "gcvit": "GC ViT",
    "hrnet": "HRNet", "dla": "DLA", "dpn": "DPN", "vgg": "VGG",
    "nfnet": "NFNet", "regnet": "RegNet", "sam2": "SAM 2",
    "samvit": "SAM ViT", "hiera": "Hiera", "caformer": "CAFormer",
    "convformer": "ConvFormer", "poolformer": "PoolFormer",
    "poolformerv2": "PoolFormer v2", "efficientvit": "EfficientViT",
    "efficientformer": "EfficientFormer",
    "efficientformerv2": "EfficientFormer V2", "edgenext": "EdgeNeXt",
    "fastvit": "FastViT", "focalnet": "FocalNet", "fasternet": "FasterNet",
    "ghostnet": "GhostNet", "ghostnetv2": "GhostNet v2",
    "ghostnetv3": "GhostNet v3", "hgnet": "HGNet", "hgnetv2": "HGNet v2",
    "lcnet": "LCNet", "mixnet": "MixNet", "mobileone": "MobileOne",
    "mobilevit": "MobileViT", "mobilevitv2": "MobileViT v2",
    "nextvit": "Next-ViT", "rdnet": "RDNet", "repghostnet": "RepGhostNet",
    "repvit": "RepViT", "resmlp": "ResMLP", "gmlp": "gMLP",
    "gmixer": "gMixer", "mixer": "MLP-Mixer", "rexnet": "ReXNet",
    "rexnetr": "ReXNet-R", "selecsls": "SelecSLS", "seresnet": "SE-ResNet",
    "seresnext": "SE-ResNeXt", "starnet": "StarNet", "shvit": "SHViT",
    "swiftformer": "SwiftFormer", "tinynet": "TinyNet", "tresnet": "TResNet",
    "twins": "Twins", "vitamin": "ViTamin", "vovnet": "VoVNet",
    "fbnetc": "FBNet-C", "fbnetv3": "FBNet v3", "gernet": "GENet",
    "gluon": "(Gluon)", "mambaout": "MambaOut", "mnasnet": "MnasNet",
    "semnasnet": "SE-MnasNet", "naflexvit": "NaFlexViT", "nf": "NF",
    "flexivit": "FlexiViT", "visformer": "Visformer", "csatv2": "CSATv2",
    "inception": "Inception", "bn": "with batch norm", "se": "SE",
    "gap": "GAP", "cls": "class token", "clip": "CLIP", "siglip": "SigLIP",
    "dinov2": "DINOv2", "dinov3": "DINOv3", "rope": "RoPE", "pe": "PE",
    "rw": "(timm)", "sw": "SW", "gn": "group norm", "evos": "EvoNorm-S0",
    "evob": "EvoNorm-B0", "tv": "torchvision", "lrf": "LRF", "srf": "SRF",
    "map": "MAP", "mci": "MCi", "svt": "SVT", "pcpvt": "PCPVT",
    "s3": "S3", "cr": "(timm)", "distilled": "distilled", "pruned": "pruned",
}
# Another set of weights of a network: what is cut or put in place.
TAGS = (
    (r"_(?:in21ft1k|in22ft1k|22kft1k|miil)$", ""),
    (r"_(\d{3})_(?:in21ft1k|in22ft1k)$", r"_\1"),
    (r"^(?:ssl|swsl|tv)_", ""), (r"^(?:ens_)?adv_", ""),
    (r"^ig_", ""), (r"_bitm$", "_bit"), (r"_dist$", ""),
    (r"^gluon_(.*)_v1b$", r"\1"), (r"^gluon_(.*)_v1([cds])$", r"\1\2"),
    (r"^gluon_", ""), (r"^legacy_(senet154|xception|seresnext\d+_32x4d)$",
                       r"\1"),
    (r"^jx_(nest_\w+)$", r"\1_jx"), (r"_bit_distilled$", "_bit"),
    (r"_bit_teacher(?:_384)?$", "_bit"), (r"(efficientnet_b\d)a$", r"\1"),
    (r"^mnasnet_a1$", "semnasnet_100"), (r"^mnasnet_b1$", "mnasnet_100"),
    (r"^(tresnet_.*)_448$", r"\1"),
)


def alias_of(model, known):
    """The network of which this is another set of weights, or None."""
    for tag, instead in TAGS:
        name = re.sub(tag, instead, model)
        if name != model and name in known:
            return alias_of(name, known) or name
    return None


def family(model):
    for name, word, _ in FAMILIES:
        if re.match(name, model):
            return word
    return re.sub(r"v?\d*$", "", model.split("_")[0])


def title(model):
    words = []
    for part in model.split("_"):
        size = re.match(r"(patch|window)(\d+)$", part)
        if size:
            words.append("%s %s," % (size[1], size[2]))
        elif part in WORDS:
            words.append(WORDS[part])
        elif re.match(r"[a-z]+$", part):
            words.append(part.capitalize() if len(part) > 2 else part.upper())
        else:
            stem = re.match(r"([a-z]+)(\d.*)$", part)
            if stem and stem[1] in WORDS:
                words.append(WORDS[stem[1]] + "-" + stem[2])
            else:
                words.append(part)
    px = re.match(r"(\d{3,4})$", words[-1])
    if px and len(words) > 1 and int(px[1]) % 2 == 0 and int(px[1]) > 180:
        words[-1] = "at %s px" % px[1]
    name = " ".join(words).replace(", at", " at").rstrip(",")
    return re.sub(r"(patch|window) (\d+) ([A-Z(])", r"\1 \2, \3", name)


# Widths of the last maps, by name.
HEADS = (
    (r"(?:tv_|gluon_)?resnet(?:18|34|10t)d?(?:_v1b)?$|(?:legacy_)?seresnet"
     r"(?:18|34)$|skresnet(?:18|34)$|resnetblur18$|resnetaa34d$|"
     r"resnetv2_(?:18|34)d?$", 512),
    (r"resnetv2_\d+x(\d)_bit", lambda m: 2048 * int(m[1])),
    (r"(?!.*(?:clip|mlp|51q|61q|33ts|32ts|26ts|50ts|botne|halone|lambda|nf_))"
     r"(?:tv_|gluon_|ssl_|swsl_|ig_|legacy_)?(?:wide_|se|eca|gc|sk|bat_)?"
     r"res(?:net|next|nest|2net|2next|netv2|netrs|netaa|netblur|nextaa)\w*$",
     2048),
    (r"(?:tv_)?densenet(?:blur)?121", 1024), (r"densenet161$", 2208),
    (r"densenet169$", 1664), (r"densenet201$", 1920), (r"dpn68", 832),
    (r"dpn(?:92|98|107|131)$", 2688), (r"dla34$", 512),
    (r"dla46|dla60x_c", 256), (r"dla", 1024), (r"hrnet", 2048),
    (r"vgg", 4096), (r".*inception_v3$|inception_resnet_v2\b.*", 2048),
    (r"inception_v4|.*inception_resnet_v2", 1536),
    (r"(?:\w*_)?xception", 2048), (r"senet154", 2048),
    (r"pnasnet5large", 4320), (r"nasnetalarge", 4032),
    (r"nasnetmobile", 1056),
    (r"(?:tf_)?efficientnetv2_b2|(?:tf_)?efficientnet_b2", 1408),
    (r"(?:tf_)?efficientnetv2_b3|(?:tf_)?efficientnet_b3", 1536),
    (r"(?:tf_)?efficientnet_b4", 1792), (r"(?:tf_)?efficientnet_b5$", 2048),
    (r"(?:tf_)?efficientnet_b6", 2304), (r"(?:tf_)?efficientnet_b7", 2560),
    (r"(?:tf_)?efficientnet_b8", 2816), (r"(?:tf_)?efficientnet_l2", 5504),
    (r"efficientnetv2_rw_t|gc_efficientnetv2_rw_t", 1024),
    (r"efficientnetv2_rw_s", 1792), (r"efficientnetv2_rw_m", 2152),
    (r"(?:tf_)?efficientnet(?:v2_[smlb]|v2_xl|_b[01]|_lite|_e|_cc_b[01])",
     1280),
    (r"mobilenetv1_100", 1024), (r"mobilenetv2_140", 1792),
    (r"mobilenetv2_", 1280), (r"(?:tf_)?mobilenetv3_large_(?:075|100)", 1280),
    (r"(?:tf_)?mobilenetv3_large_minimal_100", 1280),
    (r"(?:tf_)?mobilenetv3_small", 1024),
    (r"mobilenetv4_conv|(?:se)?mnasnet_(?!small)|ghostnet_|spnasnet|tinynet|"
     r"lcnet|hardcorenas", 1280),
    (r"(?:tf_)?mixnet_[sml]$", 1536), (r"fbnet", 1984),
    (r"shufflenet_v2_x2_0", 2048), (r"shufflenet", 1024),
    (r"googlenet", 1024), (r"alexnet", 4096),
    (r"regnetx_00[24]$", lambda m: {"2": 368, "4": 384}[m[0][-1]]),
    (r"regnetx_004_tv", 400), (r"regnetx_006", 528), (r"regnetx_008", 672),
    (r"regnetx_016", 912), (r"regnetx_032", 1008), (r"regnetx_040", 1360),
    (r"regnetx_064", 1624), (r"regnetx_080", 1920), (r"regnetx_120", 2240),
    (r"regnetx_160", 2048), (r"regnetx_320", 2520), (r"regnety_002", 368),
    (r"regnety_004", 440), (r"regnety_006", 608), (r"regnety_008_tv", 784),
    (r"regnety_008", 768), (r"regnety_016", 888), (r"regnety_032", 1512),
    (r"regnety_040", 1088), (r"regnety_064", 1296), (r"regnety_080", 2016),
    (r"regnety_120", 2240), (r"regnety_1280", 7392), (r"regnety_160", 3024),
    (r"regnety_320", 3712), (r"regnety_640", 4920),
    (r"convnext(?:v2)?_atto", 320), (r"convnext(?:v2)?_femto", 384),
    (r"convnext(?:v2)?_pico", 512), (r"convnext(?:v2)?_nano", 640),
    (r"convnext(?:v2)?_(?:tiny|small)", 768), (r"convnext(?:v2)?_base", 1024),
    (r"convnext_xlarge", 2048), (r"convnext_xxlarge", 3072),
    (r"convnext(?:v2)?_large$", 1536), (r"convnextv2_huge", 2816),
    (r"swin(?:v2)?_(?:cr_|s3_)?(?:tiny|small)", 768),
    (r"swin(?:v2)?_cr_base|swin(?:v2)?_base", 1024), (r"swin_s3_base", 768),
    (r"swin(?:v2)?_(?:cr_)?large", 1536),
    (r"mixer_s|resmlp_(?!big)|gmixer", lambda m: 512 if m[0][1] == "i"
     else 384), (r"resmlp_big|mixer_b", 768), (r"mixer_l", 1024),
    (r"poolformer_[sm](?:12|24|36)$",
     lambda m: 768 if "m" in m[0].split("_")[1] else 512),
)
# Without a classifier: made for features.
FEATURES = re.compile(
    r".*(?:dinov2|dinov3|siglip|samvit|sam2_|aimv2|hieradet|vit_pe_|_map_|"
    r"eva02_(?:tiny|small|base|large)_patch14_224|mobilenetv5_300m_enc|_fl$|"
    r"clip_gap|eva02_enormous)")
CLASSES = {"vit_base_patch16_224_miil": 11221,
           "vit_medium_patch16_gap_240": 11821}


def head(model, width=None):
    """(features, classes or None) of the classifier, or None."""
    if FEATURES.match(model):
        return (width, None) if width else None
    classes = CLASSES.get(model, 1000)
    if width:
        return width, classes
    for name, of in HEADS:
        m = re.match(name, model)
        if m:
            return (of(m) if callable(of) else of), classes
    return None


def fixed(model, params):
    """MACs (G) of the table's figure that neither grow with the input nor
    belong to the classifier: standardising the weights takes 4 operations a
    weight, 5 with a gain, as fvcore counts a norm; gates see pooled maps."""
    if re.match(r"resnetv2_\d+x\d_bit", model):
        return 4e-3 * params
    m = re.match(r"(?:dm_)?nfnet_f(\d)$", model)
    if not m:
        return 0
    weights, gates, before = 0, 0, 128
    for blocks, c in ((1, 256), (2, 512), (6, 1536), (3, 1536)):
        blocks *= int(m[1]) + 1
        weights += before * c           # the shortcut of a stage
        for i in range(blocks):
            weights += before * c // 2 + 2 * 9 * 128 * c // 2 + c * c // 2
            before = c
        gates += blocks * c * c
    return 1e-9 * (5 * (weights + 1536 * 3072) + gates)
