#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/architectures.xml from the facts of timm's results tables.

usage: architectures-from-timm.py [--all | --check] TABLE.csv...

Each table has the columns model, img_size, gmacs, macts and params_m (other
columns are ignored; train_img_size and param_count are understood as well).
Which models go in, their names, aliases and scaling rules, is kept by hand in
architectures.list beside this script; the figures of arXiv 2307.05520 are
kept below; networks without a table row come from architecture_shapes.py.

  --all    add every other model of the tables, its rule guessed from its name
  --check  compare the scaling rules with the models the tables list at more
           than one input size, and print the shares within 1 % and 2 %

The XML goes to standard output.
"""
import collections
import csv
import os
import re
import sys
from xml.sax.saxutils import escape, quoteattr

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import architecture_shapes as shapes  # noqa: E402

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
)

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
          ("mobilenetv3", "howard2019"))
DERIVED = "derived: from the layer shapes"

WIDTHS = {"tiny": (12, 192), "small": (12, 384), "medium": (12, 512),
          "base": (12, 768), "large": (24, 1024), "huge": (32, 1280)}
TOKEN_NAME = re.compile(r"(?:vit|deit|deit3|beit|beitv2|eva)_(tiny|small|"
                        r"medium|base|large|huge)(?:_distilled)?_patch(\d+)_"
                        r"(?:clip_|siglip_gap_)?(\d+)$")
# Global attention of another form, or weights tied to the input size.
FIXED_NAME = re.compile(r"(mixer|resmlp|gmixer|gmlp|levit|maxvit|maxxvit|"
                        r"swinv2_cr|coat|efficientformer|cait|crossvit|volo|"
                        r"vitamin|hiera|sam2|mobilenetv4_hybrid|csatv2|"
                        r".*_patch\d)")


def fold(name):
    """As the program folds names: a decimal point counts."""
    return "".join(re.findall(r"[a-z0-9]|(?<=[0-9])[.](?=[0-9])",
                              name.lower()))


def read_tables(paths):
    """model -> {px: (gmacs, macts, params)}, figures as they are written."""
    rows = collections.OrderedDict()
    for path in paths:
        with open(path, newline="", encoding="utf-8") as table:
            for r in csv.DictReader(table):
                px = r.get("img_size") or r.get("train_img_size")
                if not (px and r.get("gmacs") and r.get("macts")):
                    continue
                if r.get("gmacs_src", "exact") != "exact":
                    continue
                params = r.get("params_m") or r.get("param_count")
                rows.setdefault(r["model"], {}).setdefault(
                    int(px), (r["gmacs"], r["macts"], params))
    return rows


class Entry:
    def __init__(self, ident, name, family, rule, aliases=(), options=()):
        self.ident, self.name, self.family = ident, name, family
        self.rule, *self.tokens = rule.split(":")
        self.tokens = [int(t) for t in self.tokens]
        self.aliases = [a for a in aliases if fold(a) != fold(ident)]
        self.options = dict(options)


def read_list(path):
    entries, family = [], None
    with open(path, encoding="utf-8") as text:
        for line in text:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                family = line.strip("[]")
            elif line:
                ident, name, rule, aliases, options = (
                    c.strip() for c in line.split("|"))
                entries.append(Entry(
                    ident, name, family, rule,
                    [a.strip() for a in aliases.split(",") if a.strip()],
                    [(o + "=").split("=")[:2] for o in options.split()]))
    return entries


def guess_rule(model):
    m = TOKEN_NAME.match(model)
    if m:
        return "tokens:%s:%d:%d" % ((m[2],) + WIDTHS[m[1]])
    return "none" if FIXED_NAME.match(model) else "area"


def attention(entry, px):
    """MACs (G) of the attention products of the layers, tokens rule."""
    patch, depth, width = entry.tokens
    n = (px // patch) ** 2 + 1
    return 2 * depth * n * n * width / 1e9, n


def value(indent, name, source, text, note=""):
    return "%s<value name=%s source=%s%s>%s</value>" % (
        indent, quoteattr(name), quoteattr(source),
        " note=" + quoteattr(note) if note else "", escape(str(text)))


def walked_input(entry, px):
    source = next((s for p, s in WALKED if entry.ident.startswith(p)),
                  "torchvision")
    macs, acts, params = shapes.cost(entry.ident, px)
    return px, [("macs_g", source, "%.4g" % macs, DERIVED),
                ("acts_m", source, "%.4g" % acts, DERIVED)], params, source


def table_input(entry, model, px, row):
    note = "" if model == entry.ident else "listed as " + model
    macs, acts, _ = row
    if "fused" in entry.options:
        extra, n = attention(entry, px)
        _, depth, width = entry.tokens
        macs = "%.2f" % (float(macs) + extra)
        acts = "%.2f" % (float(acts)
                         + depth * (width // 64 * n * n + width * n) / 1e6)
        note = "derived: the table's figure and the attention products " \
               "it leaves out"
    return px, [("macs_g", "timm", macs, note), ("acts_m", "timm", acts, note)]


def inputs_of(entry, rows):
    """The inputs, the reference first, and (params, source, note)."""
    found = {}
    if "walk" in entry.options:
        for px in entry.options["walk"].split(","):
            _, values, params, source = walked_input(entry, int(px))
            found[int(px)] = values
        params = ("%.4g" % params, source, DERIVED)
        if entry.ident in rows:
            params = (next(iter(rows[entry.ident].values()))[2], "timm", "")
        ref = min(found)
    else:
        models = [entry.ident] + [
            m for m in entry.options.get("same", "").split(",") if m]
        for model in models:
            for px in sorted(rows[model]):
                if px not in found:
                    found[px] = table_input(entry, model, px,
                                            rows[model][px])[1]
        own = rows[entry.ident]
        ref = int(entry.options.get("ref", min(own)))
        params = (next(iter(own.values()))[2], "timm", "")
    for px, gflops, note, network in PAPER_A.get(entry.ident, ()):
        acts = shapes.cost(network, px)[1]
        found[px] = [("macs_g", "delrey2024", "%.7g" % (float(gflops) / 2),
                      "derived: " + note),
                     ("acts_m", "delrey2024", "%.4g" % acts,
                      DERIVED + ", without the head")]
    order = [ref] + sorted(px for px in found if px != ref)
    return [(px, found[px]) for px in order], params


def emit_entry(entry, rows):
    inputs, params = inputs_of(entry, rows)
    lines = ["  <entry id=%s name=%s family=%s scaling=%s>" % tuple(
        map(quoteattr, (entry.ident, entry.name, entry.family, entry.rule)))]
    lines += ["    <alias>%s</alias>" % escape(a) for a in entry.aliases]
    lines.append(value("    ", "params_m", params[1], params[0], params[2]))
    if "head" in entry.options:
        source = next((s for p, s in WALKED if entry.ident.startswith(p)),
                      "torchvision")
        lines.append(value("    ", "head_macs_g", source,
                           entry.options["head"],
                           "derived: weights of the layers after pooling"))
    if entry.tokens:
        hybrid = "derived: the stage with global attention at stride 16" \
            if entry.family == "hybrid" else ""
        for name, v in zip(("patch_px", "depth", "width"), entry.tokens):
            lines.append(value("    ", name, "timm", v, hybrid))
    for px, values in inputs:
        lines.append('    <input image_px="%d">' % px)
        lines += [value("      ", n, s, v, note) for n, s, v, note in values]
        lines.append("    </input>")
    return lines + ["  </entry>"]


def emit(entries, rows, out):
    names = {}
    for e in entries:
        for name in [e.ident] + e.aliases:
            other = names.setdefault(fold(name), e.ident)
            if other != e.ident:
                raise SystemExit("'%s' names both '%s' and '%s'"
                                 % (name, other, e.ident))
    body, used, family = [], set(), None
    for e in entries:
        if e.family != family:
            family = e.family
            body += ["", "  <!-- %s -->" % family]
        lines = emit_entry(e, rows)
        used.update(re.findall(r' source="([^"]+)"', "\n".join(lines)))
        body += lines
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n'
              '<!-- Written by tools/architectures-from-timm.py from '
              'tools/architectures.list. -->\n'
              '<catalog kind="architecture" version="1">\n  <sources>\n')
    for ident, title, year, url in SOURCES:
        if ident in used:
            out.write("    <source id=%s title=%s year=%s\n            url=%s/>"
                      "\n" % tuple(map(quoteattr, (ident, title, year, url))))
    out.write("  </sources>\n" + "\n".join(body) + "\n</catalog>\n")


def predict(entry, px0, macs0, px):
    """MACs (G) at px by the entry's rule from those at px0."""
    if entry.tokens:
        (quad0, n0), (quad, n) = attention(entry, px0), attention(entry, px)
        linear0 = macs0 if "fused" in entry.options else macs0 - quad0
        return linear0 * n / n0 + (0 if "fused" in entry.options else quad)
    head = float(entry.options.get("head", 0))
    return head + (macs0 - head) * (px / px0) ** 2


def check(entries, rows, out):
    """Every ordered pair (smallest listed size, another one)."""
    by_id = {e.ident: e for e in entries}
    worst, count = [], collections.Counter()
    base = {}
    for model in rows:
        stem = re.sub(r"_\d{3}$", "", model)
        base.setdefault(stem, model)
    groups = collections.OrderedDict()
    for model in rows:
        e = by_id.get(model)
        group = [model] + (e.options.get("same", "").split(",") if e else [])
        if not e:
            stem = base[re.sub(r"_\d{3}$", "", model)]
            if stem != model and stem in rows and abs(
                    float(list(rows[stem].values())[0][2])
                    / float(list(rows[model].values())[0][2]) - 1) < .02:
                group.append(stem)
        groups[model] = [m for m in group if m]
    for model, members in groups.items():
        entry = by_id.get(model) or Entry(model, model, "", guess_rule(model))
        if entry.rule == "none":
            continue
        sizes = {}
        for m in reversed(members):
            sizes.update((px, float(r[0])) for px, r in rows[m].items())
        px0 = int(entry.options.get("ref", min(sizes))) \
            if model in by_id else min(sizes)
        for px in sorted(sizes):
            if px == px0:
                continue
            # Both figures are rounded to 0.01: allow for that.
            guess = predict(entry, px0, sizes[px0], px)
            slack = .005 + .005 * (px / px0) ** 2
            off = abs(guess - sizes[px])
            rel, net = off / sizes[px], max(0, off - slack) / sizes[px]
            chosen = "chosen" if model in by_id else "other"
            key = (chosen, entry.rule)
            for k in (key, (chosen, "any"), ("any", "any")):
                count[k, "n"] += 1
                for limit in (1, 2):
                    count[k, limit] += rel <= limit / 100
                    count[k, limit, "net"] += net <= limit / 100
            worst.append((rel, net, model, entry.rule, px0, px, guess,
                          sizes[px]))
    for key in sorted({k[0] for k in count}):
        n = count[key, "n"]
        out.write("%-6s %-6s: %4d pairs; within 1 %%: %5.1f %%, 2 %%: %5.1f "
                  "%%; beyond rounding 1 %%: %5.1f %%, 2 %%: %5.1f %%\n" % (
                      key + (n,) + tuple(100 * c / n for c in (
                          count[key, 1], count[key, 2], count[key, 1, "net"],
                          count[key, 2, "net"]))))
    for rel, net, model, rule, px0, px, guess, listed in sorted(
            worst, reverse=True):
        if net > .01:
            out.write("%6.2f %%  %s (%s) %d -> %d: %.4g, listed %.4g\n" % (
                100 * rel, model, rule, px0, px, guess, listed))


def main(argv):
    flags = [a for a in argv if a.startswith("--")]
    paths = [a for a in argv if not a.startswith("--")]
    if not paths or set(flags) - {"--all", "--check"}:
        sys.stderr.write(__doc__)
        return 2
    rows = read_tables(paths)
    entries = read_list(os.path.join(HERE, "architectures.list"))
    if "--check" in flags:
        check(entries, rows, sys.stdout)
        return 0
    if "--all" in flags:
        taken = {fold(n) for e in entries for n in [e.ident] + e.aliases}
        others = []
        for m in sorted(rows):
            if fold(m) in taken:
                continue    # listed, an alias, or a twin that folds alike
            taken.add(fold(m))
            others.append(Entry(m, m, m.split("_")[0], guess_rule(m)))
        entries += sorted(others, key=lambda e: (e.family, e.ident))
    emit(entries, rows, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
