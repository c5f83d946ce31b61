#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/architectures.xml from the facts of public results tables.

usage: architectures-from-timm.py SOURCES >data/architectures.xml
       make catalog SOURCES=DIR

SOURCES holds timm/*.csv: the results and benchmark tables of timm, with the
columns model, img_size, gmacs, macts and params_m (or train_img_size and
param_count). Every network becomes an entry, with every input size that it is
listed at; another set of weights of a network becomes an alias of it.

What the tables do not say comes from beside this script:
  architectures.list            names, aliases and options chosen by hand
  architecture_families.py      families, names, classifiers
  architecture_attention.py     attention, from the networks' shapes
  architecture_layers.py        layers and launches, from their depths
  architecture_{shapes,small}.py  networks that no table lists, by layers
  architectures-torchvision.csv counts of architectures-from-torchvision.py
and figures of arXiv 2307.05520, below.
"""
import collections
import csv
import glob
import os
import re
import sys
from xml.sax.saxutils import escape, quoteattr

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import architecture_attention as attention  # noqa: E402
import architecture_depthwise as depthwise  # noqa: E402
import architecture_elementwise as elementwise  # noqa: E402
import architecture_families as families  # noqa: E402
import architecture_kept as kept  # noqa: E402
import architecture_layers as layers  # noqa: E402
import architecture_shapes as shapes  # noqa: E402
import architecture_small as small  # noqa: E402
import architecture_work as work  # noqa: E402

shapes.NETWORKS.update((n, f) for n, (f, _) in small.NETWORKS.items())

SOURCES = (
    ("timm", "PyTorch Image Models: results and benchmark tables", "2025",
     "https://github.com/huggingface/pytorch-image-models"),
    ("torchvision", "torchvision: model definitions and their documentation",
     "2024", "https://github.com/pytorch/vision"),
    ("delrey2024", "Estimating Deep Learning energy consumption based on "
     "model architecture and training environment: data", "2024",
     "https://doi.org/10.5281/zenodo.11505891"),
    ("zoph2018", "Learning Transferable Architectures for Scalable Image "
     "Recognition", "2018", "https://arxiv.org/abs/1707.07012"),
    ("sandler2018", "MobileNetV2: Inverted Residuals and Linear Bottlenecks",
     "2018", "https://arxiv.org/abs/1801.04381"),
    ("howard2019", "Searching for MobileNetV3", "2019",
     "https://arxiv.org/abs/1905.02244"),
    ("howard2017", "MobileNets: Efficient Convolutional Neural Networks for "
     "Mobile Vision Applications", "2017", "https://arxiv.org/abs/1704.04861"),
    ("keras", "Keras Applications", "2024",
     "https://keras.io/api/applications/"),
    ("he2016", "Deep Residual Learning for Image Recognition", "2016",
     "https://arxiv.org/abs/1512.03385"),
    ("he2016b", "Identity Mappings in Deep Residual Networks", "2016",
     "https://arxiv.org/abs/1603.05027"),
    ("zagoruyko2016", "Wide Residual Networks", "2016",
     "https://arxiv.org/abs/1605.07146"),
    ("huang2017", "Densely Connected Convolutional Networks", "2017",
     "https://arxiv.org/abs/1608.06993"),
    ("xie2017", "Aggregated Residual Transformations for Deep Neural "
     "Networks", "2017", "https://arxiv.org/abs/1611.05431"),
    ("simonyan2015", "Very Deep Convolutional Networks for Large-Scale Image "
     "Recognition", "2015", "https://arxiv.org/abs/1409.1556"),
    ("lecun1998", "Gradient-Based Learning Applied to Document Recognition",
     "1998", "https://doi.org/10.1109/5.726791"),
)
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by data/make/architectures-from-timm.py (make catalog).

     macs_g of timm's tables is what fvcore counts: convolutions, dense layers
     and products of attention, and 2 (batch norm) or 5 operations (layer
     norm) for every element that is normalised. acts_m is the output of the
     former three.

     layers are convolutions and dense layers. launches are the kernels of a
     forward pass in inference mode, one for every operator that computes or
     copies, nothing fused: views and shapes launch nothing. -->
<catalog kind="architecture" version="1">
  <sources>
"""

HALF = "half the published GFLOPs of the Keras network"
# id -> (px, published GFLOPs, note, network of the activations)
PAPER_A = {
    "mobilenetv2_050": ((128, ".06403", HALF + " (alpha 0.5, called "
                         "mobilenet_v2 there)", "mobilenetv2_050_no_top"),),
    "nasnetmobile": ((128, ".37165", HALF, "nasnetmobile_no_top"),),
    "resnet50": ((128, "2.52438", HALF + ", which strides in the 1 x 1 "
                  "layers", "resnet50_v1_no_top"),),
    "xception": ((128, "2.95840", HALF, "xception_no_top"),),
    "vgg16": ((128, "10.02877", HALF + ", without the fully connected head",
               "vgg16_no_top"),),
    "inception_v3": tuple(
        (px, g, HALF + " with the Caltech101 head", "inception_v3_no_top")
        for px, g in ((75, ".41669"), (128, "1.50256"), (224, "5.89837"))),
}

# Where the definition of a network without a table row was published.
WALKED = (("nasnet", "zoph2018"), ("mobilenetv2", "sandler2018"),
          ("mobilenetv3", "howard2019"), ("mobilenetv1", "howard2017"))
DERIVED = "derived: from the layer shapes"
ATTENTION = "derived: from the shapes of its attention"
FUSED = "derived: the table's figure and the attention products it leaves out"


def fold(name):
    """As the program folds names: a decimal point counts."""
    return "".join(re.findall(r"[a-z0-9]|(?<=[0-9])[.](?=[0-9])",
                              name.lower()))


def read_tables(folder):
    """model -> {px: [(gmacs, macts, params)]}, figures as they are written."""
    rows = collections.OrderedDict()
    paths = sorted(glob.glob(os.path.join(folder, "timm", "*.csv")))
    if not paths:
        raise SystemExit("%s: no timm/*.csv" % folder)
    for path in paths:
        with open(path, newline="", encoding="utf-8") as table:
            for r in csv.DictReader(table):
                px = r.get("img_size") or r.get("train_img_size")
                if not (px and r.get("gmacs") and r.get("macts")):
                    continue
                if r.get("gmacs_src", "exact") != "exact":
                    continue
                figures = (r["gmacs"], r["macts"],
                           r.get("params_m") or r["param_count"])
                found = rows.setdefault(r["model"], {}).setdefault(int(px), [])
                if figures not in found:
                    found.append(figures)
    return rows


def read_torchvision():
    """Alias of torchvision -> [row of each size]."""
    found = {}
    path = os.path.join(HERE, "architectures-torchvision.csv")
    with open(path, newline="", encoding="utf-8") as table:
        for r in csv.DictReader(table):
            found.setdefault(fold(r["model"]), []).append(r)
    return found


class Entry:
    def __init__(self, ident, name, family, rule=None, aliases=(), options=()):
        self.ident, self.name, self.family = ident, name, family
        self.rule = rule or self.guess_rule()
        if self.rule == "area" and DOWN.match(ident):
            self.rule = "area-down"
        self.aliases = [a for a in aliases if fold(a) != fold(ident)]
        self.options = dict(options)
        self.vit = attention.vit(ident) if self.rule == "tokens" else None

    def guess_rule(self):
        if attention.vit(self.ident):
            return "tokens"
        if TIED.match(self.ident):
            return "none"
        return "area-down" if DOWN.match(self.ident) else "area"


# Weights that mix tokens: they are as many as the input has.
TIED = re.compile(r"mixer|resmlp|gmixer|gmlp|levit|efficientformer_")
# Networks that cut maps by pooling or patches without padding.
DOWN = re.compile(r"convnext|densenet|vgg|googlenet")


def read_list(path):
    """The entries chosen by hand, by identifier."""
    entries, family = collections.OrderedDict(), None
    with open(path, encoding="utf-8") as text:
        for line in text:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                family = line.strip("[]")
            elif line:
                ident, name, rule, aliases, options = (
                    c.strip() for c in line.split("|"))
                entries[ident] = Entry(
                    ident, name, family, rule,
                    [a.strip() for a in aliases.split(",") if a.strip()],
                    [(o + "=").split("=")[:2] for o in options.split()])
    return entries


def value(indent, name, source, text, note=""):
    return "%s<value name=%s source=%s%s>%s</value>" % (
        indent, quoteattr(name), quoteattr(source),
        " note=" + quoteattr(note) if note else "", escape(str(text)))


def whole(entry, px, macs, params):
    """Whether a figure of a plain transformer has the products in it: its
    weights are used once a token."""
    n = attention.tokens(entry.vit, px)
    width = entry.vit.width
    used = params - 1e-6 * width * (1000 + n)
    if re.search(r"siglip_\d|_map|pe_core", entry.ident):
        used -= 12e-6 * width * width       # pooling by attention
    products = attention.products(entry.ident, px)[0]
    return macs - n * used / 1e3 > products / 2


def best_row(found, wanted):
    """The row with the most work: before branches are merged, with the
    products of attention. `wanted`: the parameters to prefer."""
    rows = [r for r in found if not wanted or r[2] == wanted] or found
    return max(rows, key=lambda r: (float(r[0]), float(r[1])))


def table_input(entry, model, px, found):
    note = "" if model == entry.ident else "listed as " + model
    macs, acts, _ = best_row(found, entry.options.get("params"))
    if entry.vit and len(found) == 1 and not re.search(
            r"_r\d*_|_r\d+_|resnet", entry.ident) and not whole(
                entry, px, float(macs), float(found[0][2])):
        more = attention.products(entry.ident, px)
        n = attention.tokens(entry.vit, px)
        mixed = entry.vit.depth * n * entry.vit.width / 1e6
        macs = "%.2f" % (float(macs) + more[0])
        acts = "%.2f" % (float(acts) + more[1] + mixed)
        note = FUSED
    return [("macs_g", "timm", macs, note), ("acts_m", "timm", acts, note)]


def source_of(entry):
    return next((s for p, s in WALKED if entry.ident.startswith(p)),
                entry.options.get("source", "torchvision"))


def walked_inputs(entry):
    found, source = collections.OrderedDict(), source_of(entry)
    network = entry.options.get("network", entry.ident)
    for px in entry.options["walk"].split(","):
        macs, acts, params = shapes.cost(network, int(px))
        found[int(px)] = [("macs_g", source, "%.4g" % macs, DERIVED),
                          ("acts_m", source, "%.4g" % acts, DERIVED)]
    return found, ("%.4g" % params, source, DERIVED)


def torchvision_inputs(rows):
    found = collections.OrderedDict(
        (int(r["image_px"]), [(n, "torchvision", "%.5g" % float(r[n]),
                               "derived: counted operator by operator")
                              for n in ("macs_g", "acts_m")]) for r in rows)
    return found, ("%.5g" % float(rows[0]["params_m"]), "torchvision",
                   "derived: counted operator by operator")


def stem(model, rows):
    """The name without the input size, where it is a size."""
    m = re.search(r"_(\d{3,4})(?=$|_)", model)
    return model.replace(m[0], "", 1) \
        if m and int(m[1]) in rows[model] else model


def same_network(rows, a, b):
    """But for the classifier and the positions."""
    params = [float(next(iter(rows[m].values()))[0][2]) for m in (a, b)]
    return abs(params[0] / params[1] - 1) < .02


def listed_inputs(entry, rows, siblings):
    found = collections.OrderedDict()
    others = [m for m in entry.options.get("same", "").split(",") if m]
    others += [m for m in siblings if m not in others
               and same_network(rows, entry.ident, m)]
    for model in [entry.ident] + others:
        for px in sorted(rows.get(model, ())):
            if px not in found:
                found[px] = table_input(entry, model, px, rows[model][px])
    own = rows[entry.ident]
    ref = int(entry.options.get("ref", 224 if 224 in own else min(own)))
    params = best_row(next(iter(own.values())), entry.options.get("params"))[2]
    return ref, found, (params, "timm", "")


def inputs_of(entry, rows, siblings, vision):
    """The inputs, the reference first, and (params, source, note)."""
    if "walk" in entry.options:
        found, params = walked_inputs(entry)
        ref = min(found)
        if entry.ident in rows:
            params = (next(iter(rows[entry.ident].values()))[0][2], "timm", "")
    elif entry.ident in rows:
        ref, found, params = listed_inputs(entry, rows, siblings)
    else:
        found, params = torchvision_inputs(vision)
        ref = min(found)
    found = {px: (v, "") for px, v in found.items()}
    for px, gflops, note, network in PAPER_A.get(entry.ident, ()):
        acts = shapes.cost(network, px)[1]
        found[px] = ([("macs_g", "delrey2024", "%.7g" % (float(gflops) / 2),
                       "derived: " + note),
                      ("acts_m", "delrey2024", "%.4g" % acts,
                       DERIVED + ", without the head")], ' head="none"')
    order = [ref] + sorted(px for px in found if px != ref)
    return [(px,) + found[px] for px in order], params


def classifier(entry, params, vision):
    """(inputs, classes, source, note) or None."""
    if "walk" in entry.options:
        _, own = shapes.layers_and_head(
            entry.options.get("network", entry.ident))
        return own and own + (source_of(entry), DERIVED)
    if vision and entry.family != "segmentation" and entry.ident != "s3d":
        return (int(vision[0]["head_inputs"]), int(vision[0]["classes"]),
                "torchvision", "")
    width = entry.vit.width if entry.vit else None
    known = families.head(entry.options.get("like", entry.ident), width)
    if not known:
        return None
    return known + ("timm", "derived: width of the last map")


def head_lines(entry, params, known):
    out = []
    if known:
        inputs, classes, source, note = known
        out.append(value("    ", "head_inputs", source, inputs, note))
        if classes:
            out.append(value("    ", "classes", source, classes,
                             "assumed: ImageNet" if source == "timm"
                             else note))
    if "head" in entry.options:
        out.append(value("    ", "head_macs_g", source_of(entry),
                         entry.options["head"],
                         "derived: weights of the layers after pooling"))
    else:
        fixed = families.fixed(entry.ident, float(params))
        if fixed:
            own = known[0] * known[1] * 1e-9 if known else 0
            out.append(value("    ", "head_macs_g", "timm",
                             "%.4g" % (fixed + own), "derived: the classifier, "
                             "gates and standardising the weights"))
    return out


def attention_lines(entry, px):
    if entry.vit:
        out = [value("    ", n, "timm", getattr(entry.vit, f)) for n, f in (
            ("patch_px", "patch"), ("depth", "depth"), ("hidden_size", "width"),
            ("heads", "heads"), ("extra_tokens", "extra"))]
        return out
    known = attention.products(entry.options.get("like", entry.ident), px)
    if entry.rule == "none" or not known or not known[0]:
        return []
    out = [value("    ", "attention_macs_g", "timm", "%.4g" % known[0],
                 ATTENTION)]
    if known[1]:
        out.append(value("    ", "attention_acts_m", "timm",
                         "%.4g" % known[1], ATTENTION))
    return out


def layer_lines(entry, vision):
    if vision:
        return [value("    ", n, "torchvision", vision[0][n],
                      "derived: counted operator by operator")
                for n in ("layers", "launches")]
    known = layers.count(entry.options.get("like", entry.ident), entry.vit)
    if not known and "walk" in entry.options:
        known, _ = shapes.layers_and_head(
            entry.options.get("network", entry.ident))
        return [value("    ", "layers", source_of(entry), known, DERIVED)]
    if not known:
        return []
    return [value("    ", n, "timm", v, "derived: from its depth")
            for n, v in zip(("layers", "launches"), known)]


def emit_entry(entry, rows, siblings, torchvision):
    vision = next((torchvision[fold(n)] for n in [entry.ident] + entry.aliases
                   if fold(n) in torchvision), None)
    inputs, params = inputs_of(entry, rows, siblings, vision)
    lines = ["  <entry id=%s name=%s family=%s scaling=%s>" % tuple(
        map(quoteattr, (entry.ident, entry.name, entry.family, entry.rule)))]
    lines += ["    <alias>%s</alias>" % escape(a) for a in entry.aliases]
    lines.append(value("    ", "params_m", params[1], params[0], params[2]))
    known = classifier(entry, params[0], vision)
    lines += head_lines(entry, params[0], known)
    counted = (work.values(entry.ident) + elementwise.values(entry.ident)
               + kept.values(entry.ident))
    if not any(name == "depthwise_share" for name, *_ in counted):
        counted += depthwise.values(entry.ident, inputs[0][1])
    counted = [value("    ", n, source, "%.4g" % v, note)
               for n, v, source, note in counted]
    lines += [line for line in layer_lines(entry, vision)
              if not ('name="launches"' in line and
                      any('name="launches"' in c for c in counted))] + counted
    lines += attention_lines(entry, inputs[0][0])
    for name, stride in STRIDES:
        if re.match(name, entry.ident):
            lines.append(value("    ", "stride_px", params[1], stride,
                               "derived: of its last map"))
            break
    for px, values, head in inputs:
        lines.append('    <input image_px="%d"%s>' % (px, head))
        lines += [value("      ", n, s, v, note) for n, s, v, note in values]
        lines.append("    </input>")
    return lines + ["  </entry>"]


# Where it is not 32.
STRIDES = ((r"vitamin_|volo_|cait_|crossvit_|convit_|tnt_|xcit_\w+_p16", 16),
           (r"\w+_cifar_stem", 8), (r"(?!vgg)\w+_cifar$|wrn_|lenet", 4))


def all_entries(rows, chosen):
    """The chosen entries and all others of the tables, by family."""
    known = {}
    for e in chosen.values():
        for name in [e.ident] + e.aliases:
            known[fold(name)] = e.ident
    entries = collections.OrderedDict(chosen)
    names = set(rows) | set(chosen)
    for model in sorted(rows):
        if fold(model) in known or model.startswith("test_"):
            continue        # listed, a twin that folds alike, made for tests
        original = families.alias_of(model, names)
        if original:
            continue
        known[fold(model)] = model
        entries[model] = Entry(model, families.title(model),
                               families.family(model))
    for model in sorted(rows):
        if fold(model) in known or model.startswith("test_"):
            continue
        original = known.get(fold(families.alias_of(model, names)))
        if original:
            known[fold(model)] = original
            entries[original].aliases.append(model)
    return entries


def settle_names(entries):
    """No two entries go by one name."""
    names = {}
    for e in entries:
        for name in [e.ident] + e.aliases:
            other = names.setdefault(fold(name), e.ident)
            if other != e.ident:
                raise SystemExit("'%s' names both '%s' and '%s'"
                                 % (name, other, e.ident))
    for e in entries:
        if names.setdefault(fold(e.name), e.ident) != e.ident:
            e.name = e.ident


def emit(entries, rows, torchvision, out):
    groups = {}
    for model in rows:
        groups.setdefault(stem(model, rows), []).append(model)
    body, used, family = [], set(), None
    for e in entries:
        if e.family != family:
            family = e.family
            body += ["", "  <!-- %s -->" % family]
        siblings = groups[stem(e.ident, rows)] if e.ident in rows else ()
        lines = emit_entry(e, rows, siblings, torchvision)
        used.update(re.findall(r' source="([^"]+)"', "\n".join(lines)))
        body += lines
    out.write(HEAD)
    for ident, title, year, url in SOURCES:
        if ident in used:
            out.write("    <source id=%s title=%s year=%s\n            url=%s/>"
                      "\n" % tuple(map(quoteattr, (ident, title, year, url))))
    out.write("  </sources>\n" + "\n".join(body) + "\n</catalog>\n")


def main(argv):
    if len(argv) != 1 or argv[0].startswith("-"):
        sys.stderr.write(__doc__)
        return 2
    rows = read_tables(argv[0])
    chosen = read_list(os.path.join(HERE, "architectures.list"))
    entries = list(all_entries(rows, chosen).values())
    order = {}
    for e in entries:
        order.setdefault(e.family, len(order))
    entries.sort(key=lambda e: order[e.family])
    settle_names(entries)
    emit(entries, rows, read_torchvision(), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
