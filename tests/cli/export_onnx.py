#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Export networks of torchvision and PyTorch as ONNX and count their work.

usage: export_onnx.py [--have] FOLDER

The counts come from the operations that PyTorch runs, not from the exported
graph: every convolution and matrix product is seen as it is dispatched, and
recurrent layers are counted by their formulas. Prints a JSON list of {"file",
"macs", "params", "outputs"}. Weights are random, so that the exporter does
not take equal ones for one. Exits with 77 without PyTorch and torchvision.
"""

import json
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import torch
    import torchvision.models as zoo
    from torch import nn
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


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
    image = torch.zeros(1, 3, 224, 224)
    for name in names or NETWORKS:
        kind = getattr(zoo, name)
        extra = {"aux_logits": False, "init_weights": False} \
            if name == "googlenet" else {}
        yield name, kind(**extra), image, {}, None
    if names:
        return
    yield "resnet18-open", zoo.resnet18(), image, {
        "input_names": ["image"],
        "dynamic_axes": {"image": {0: "n", 2: "h", 3: "w"}}}, None
    yield "lstm", nn.LSTM(10, 20, 2, bidirectional=True), \
        torch.zeros(5, 1, 10), {}, recurrent(4, 10, 20, 2, 2, 5)
    yield "gru", nn.GRU(10, 20), torch.zeros(5, 1, 10), {}, \
        recurrent(3, 10, 20, 1, 1, 5)
    yield "rnn", nn.RNN(7, 9, batch_first=True), torch.zeros(1, 6, 7), {}, \
        recurrent(1, 7, 9, 1, 1, 6)
    yield "encoder", Encoder(), torch.zeros(1, 16, 64), {}, None
    yield "text-open", Text(), torch.zeros(1, 128, dtype=torch.long), {
        "input_names": ["ids"],
        "dynamic_axes": {"ids": {0: "batch", 1: "tokens"}}}, None
    yield "up", Up(), torch.zeros(1, 3, 32, 32), {}, None


def main():
    if sys.argv[1:] == ["--have"]:
        return 0
    folder, told = sys.argv[1], []
    torch.manual_seed(1)
    for name, net, x, options, counted in cases(sys.argv[2:]):
        net.eval()
        for p in net.parameters():
            nn.init.normal_(p, std=0.01)
        params = sum(p.numel() for p in net.parameters())
        if counted:
            macs, by_formula = counted
            assert by_formula == params
        else:
            with Counter() as counter:
                net(x)
            macs = counter.macs
        torch.onnx.export(net, x, f"{folder}/{name}.onnx", opset_version=14,
                          training=torch.onnx.TrainingMode.PRESERVE, **options)
        told.append({"file": f"{name}.onnx", "macs": macs, "params": params})
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
