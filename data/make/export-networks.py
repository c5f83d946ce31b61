#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Export networks of torchvision and PyTorch as ONNX and count their work.

usage: export-networks.py FOLDER [NAME...]

Writes FOLDER/NAME.txt, the graph of each network without its weights (see
tests/cli/catalog/onnx_from_text.py), and FOLDER/counts.csv with its multiply-
accumulates and parameters. The tests read both in tests/reference/exports.

The counts come from the operations that PyTorch runs, not from the exported
graph: every convolution and matrix product is seen as it is dispatched, and
recurrent layers are counted by their formulas. The shape of a node's output
is what onnx.shape_inference infers. Weights are random, since the exporter
merges equal ones.

Needs Debian's python3-torchvision and python3-onnx; takes a few minutes. The
committed figures are of torch 1.13.1, torchvision 0.14.1 and onnx 1.12.0.
"""

import csv
import io
import json
import sys
import warnings

import onnx
from onnx import numpy_helper, shape_inference
import torch
import torchvision.models as zoo
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

warnings.filterwarnings("ignore")

# Published figures of the networks: GMACs and parameters from torchvision's
# documentation of the weights (its "GFLOPS" are MACs), activations of
# convolutions and matrix products in millions from the benchmark tables of
# PyTorch Image Models.
PUBLISHED = {
    "resnet18": ("1.81", 11689512, ""),
    "resnet50": ("4.09", 25557032, "11.11"),
    "mobilenet_v2": ("0.30", 3504872, ""),
    "densenet121": ("2.83", 7978856, "6.90"),
    "vit_b_16": ("17.56", 86567656, "23.9"),
    "swin_t": ("4.49", 28288354, "17.06"),
    "efficientnet_b0": ("0.39", 5288548, ""),
    "convnext_tiny": ("4.46", 28589128, ""),
    "shufflenet_v2_x1_0": ("0.14", 2278604, ""),
    "googlenet": ("1.50", 6624904, ""),
    "squeezenet1_1": ("0.35", 1235496, ""),
    "alexnet": ("0.71", 61100840, ""),
    "regnet_y_400mf": ("0.40", 4344144, ""),
}


class Counter(TorchDispatchMode):
    """Adds up the multiply-accumulates of all that is dispatched."""

    def __init__(self):
        super().__init__()
        self.macs = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = str(func).split(".")[1]
        if name == "convolution":
            weight, transposed = args[1], args[6]
            of = args[0] if transposed else out
            self.macs += of.numel() * weight[0].numel()
        elif name in ("mm", "bmm"):
            self.macs += out.numel() * args[0].shape[-1]
        elif name in ("addmm", "baddbmm"):
            self.macs += out.numel() * args[1].shape[-1]
        elif name in ("lstm", "gru", "rnn_tanh"):
            raise RuntimeError("a recurrent layer is counted by its formula")
        return out


class Encoder(nn.Module):
    """Attention, as a layer of its own."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.inner = nn.TransformerEncoder(layer, 2,
                                           enable_nested_tensor=False)

    def forward(self, x):
        return self.inner(x)


class Text(nn.Module):
    """Tokens in, a class out; the length is left open."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.inner = Encoder()
        self.head = nn.Linear(64, 5)

    def forward(self, ids):
        return self.head(self.inner(self.words(ids)).mean(1))


class Up(nn.Module):
    """What segmentation does: transposed convolution and resizing."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.b = nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1, groups=2)
        self.c = nn.Conv2d(6, 4, 1)

    def forward(self, x):
        x = nn.functional.interpolate(self.b(self.a(x)), scale_factor=2.0)
        return nn.functional.pad(self.c(nn.functional.pixel_shuffle(
            x.repeat(1, 2, 1, 1), 2)[:, :3].repeat(1, 2, 1, 1)), (1, 2))


def recurrent(gates, width, hidden, layers, dirs, steps):
    """MACs of one sample, and parameters with two biases a gate."""
    macs = params = 0
    for i in range(layers):
        inputs = width if i == 0 else hidden * dirs
        macs += dirs * steps * gates * hidden * (inputs + hidden)
        params += dirs * gates * hidden * (inputs + hidden + 2)
    return macs, params


NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "densenet121", "vit_b_16",
            "swin_t", "efficientnet_b0", "convnext_tiny", "shufflenet_v2_x1_0",
            "googlenet", "mnasnet1_0", "squeezenet1_1", "alexnet",
            "regnet_y_400mf"]


def cases(names):
    """(name, network, input, options of the export, options of dlest)"""
    image = torch.zeros(1, 3, 224, 224)
    for name in NETWORKS:
        if names and name not in names:
            continue
        extra = {"aux_logits": False, "init_weights": False} \
            if name == "googlenet" else {}
        yield name, getattr(zoo, name)(**extra), image, {}, ""
    resnet = {"input_names": ["image"],
              "dynamic_axes": {"image": {0: "n", 2: "h", 3: "w"}}}
    text = {"input_names": ["ids"],
            "dynamic_axes": {"ids": {0: "batch", 1: "tokens"}}}
    others = [
        ("resnet18-open", zoo.resnet18, image, resnet, "--image-px 224"),
        ("resnet18-open", zoo.resnet18, torch.zeros(1, 3, 161, 161), resnet,
         "--image-px 161"),
        ("lstm", lambda: nn.LSTM(10, 20, 2, bidirectional=True),
         torch.zeros(5, 1, 10), {}, ""),
        ("gru", lambda: nn.GRU(10, 20), torch.zeros(5, 1, 10), {}, ""),
        ("rnn", lambda: nn.RNN(7, 9, batch_first=True), torch.zeros(1, 6, 7),
         {}, ""),
        ("encoder", Encoder, torch.zeros(1, 16, 64), {}, ""),
        ("text-open", Text, torch.zeros(1, 128, dtype=torch.long), text,
         "--seq-len 128"),
        ("up", Up, torch.zeros(1, 3, 32, 32), {}, "")]
    for name, kind, *rest in others:
        if not names or name in names:
            yield name, kind(), *rest


RECURRENT = {"lstm": (4, 10, 20, 2, 2, 5), "gru": (3, 10, 20, 1, 1, 5),
             "rnn": (1, 7, 9, 1, 1, 6)}


def counted(name, net, x):
    """MACs and parameters."""
    params = sum(p.numel() for p in net.parameters())
    if name in RECURRENT:
        macs, by_formula = recurrent(*RECURRENT[name])
        assert by_formula == params
        return macs, params
    with Counter() as counter:
        net(x)
    return counter.macs, params


def exported(net, x, options):
    """The model with the shapes that onnx infers, and these by name."""
    file = io.BytesIO()
    torch.onnx.export(net, x, file, opset_version=14,
                      training=torch.onnx.TrainingMode.PRESERVE, **options)
    m = onnx.load_from_string(file.getvalue())
    del m.graph.value_info[:]
    m = shape_inference.infer_shapes(m, data_prop=True)
    return m, {v.name: shape_text(v) for v in
               [*m.graph.value_info, *m.graph.output]}


def shape_text(value):
    """"1x3x224x224", "scalar", names of open dimensions, "?" if unknown."""
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return "?"
    return "x".join(str(d.dim_value) if d.HasField("dim_value") else
                    d.dim_param if d.dim_param.isidentifier() else "?"
                    for d in kind.shape.dim) or "scalar"


TYPES = {1: "float32", 7: "int64", 9: "bool"}


def values_of(tensor):
    """The values of a small tensor, None for those of a large one."""
    array = numpy_helper.to_array(tensor)
    return array.flatten().tolist() if array.size <= 16 else None


def attribute_text(a):
    value = onnx.helper.get_attribute_value(a)
    if isinstance(value, onnx.TensorProto):
        value = {TYPES[value.data_type]: list(value.dims),
                 "values": values_of(value)}
    elif isinstance(value, bytes):
        value = value.decode()
    elif not isinstance(value, (int, float)):
        value = [x.decode() if isinstance(x, bytes) else x for x in value]
    return f"{a.name}={json.dumps(value, separators=(',', ':'))}"


def graph_lines(m, shapes):
    """The lines of the text; the values are numbered."""
    numbers = {"": ""}

    def number(name):
        return numbers.setdefault(name, str(len(numbers)))

    yield f"opset {m.opset_import[0].version}"
    weights = {t.name for t in m.graph.initializer}
    for v in m.graph.input:
        if v.name not in weights:
            numbers[v.name] = v.name
            kind = TYPES[v.type.tensor_type.elem_type]
            yield f"input {v.name} {kind} {shape_text(v)}"
    for t in m.graph.initializer:
        shape = "x".join(map(str, t.dims)) or "scalar"
        yield f"weight {number(t.name)} {TYPES[t.data_type]} {shape}"
    for n in m.graph.node:
        assert not n.domain
        yield " ".join([n.op_type, ",".join(map(number, n.input)) or "-",
                        ",".join(map(number, n.output)),
                        shapes.get(n.output[0], "?"),
                        *map(attribute_text, n.attribute)])
    for v in m.graph.output:
        kind = TYPES[v.type.tensor_type.elem_type]
        yield f"output {number(v.name)} {kind}"


def main():
    folder, rows = sys.argv[1], []
    torch.manual_seed(1)
    for name, net, x, options, asked in cases(sys.argv[2:]):
        net.eval()
        for p in net.parameters():
            nn.init.normal_(p, std=0.01)
        macs, params = counted(name, net, x)
        published = PUBLISHED.get(name, ("", "", ""))
        rows.append([name, asked, macs, params, *published])
        if asked != "--image-px 161":
            with open(f"{folder}/{name}.txt", "w") as f:
                f.writelines(line + "\n" for line in
                             graph_lines(*exported(net, x, options)))
    with open(f"{folder}/counts.csv", "w", newline="") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["network", "options", "macs", "params",
                        "published_gmacs", "published_params",
                        "published_macts"])
        table.writerows(rows)


if __name__ == "__main__":
    main()
