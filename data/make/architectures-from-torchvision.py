#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the work of torchvision's networks, operator by operator.

usage: architectures-from-torchvision.py [NAME...] >FILE.csv

Every network of torchvision for classification, segmentation and video is
built without trained weights and run once in inference mode on a random
image of each size. A hook below autograd sees every operator that PyTorch
dispatches:

  macs_g    multiply-accumulates of convolutions and matrix products
  attention_macs_g  of them, products of two activations
  acts_m    outputs of convolutions and dense layers
  attention_acts_m  outputs of products of two activations
  layers    convolutions and dense layers that ran
  launches  operators that compute or copy: one each; views, shapes and
            constants launch nothing. A training pass adds dropouts.
  share_N   part of the convolutions' MACs whose output stands at stride N
            of the image (networks that stride by 2)
  acts_share_N  part of their activations

params_m, head_inputs and classes are those of the network; the head is its
last linear layer or, without one, its last convolution. Needs python3-torch
and python3-torchvision (torchvision 0.14).
"""
import csv
import sys

import torch
import torchvision
from torch.utils._python_dispatch import TorchDispatchMode

SIZES = (224, 300, 384)
SEGMENTATION = torchvision.models.list_models(torchvision.models.segmentation)
# Sides and frames that they are trained on.
VIDEO = {"mc3_18": (112, 16), "r3d_18": (112, 16), "r2plus1d_18": (112, 16),
         "s3d": (224, 64), "mvit_v1_b": (224, 16), "mvit_v2_s": (224, 16)}
# Operators that hand out another view or only make a tensor.
FREE = {"view", "_unsafe_view", "reshape", "permute", "transpose", "t",
        "expand", "slice", "select", "split", "split_with_sizes", "chunk",
        "unsqueeze", "squeeze", "detach", "alias", "unbind", "as_strided",
        "_reshape_alias", "empty", "new_empty", "lift_fresh", "unfold"}


class Counter(TorchDispatchMode):
    def __init__(self, weights, px):
        super().__init__()
        self.weights, self.px = weights, px
        self.macs = self.acts = self.attention = self.maps = 0
        self.layers = self.launches = 0
        self.strides, self.maps_at = {}, {}

    def product(self, out, inner, dense):
        macs = out.numel() * inner
        self.macs += macs
        if dense:
            self.acts += out.numel()
            self.layers += 1
        else:
            self.attention += macs
            self.maps += out.numel()

    def convolution(self, args, out):
        image, weight, transposed = args[0], args[1], args[6]
        taps = weight.numel() // weight.shape[0]
        self.product(image if transposed else out, taps, True)
        if transposed:
            self.acts += out.numel() - image.numel()
        if out.dim() == 4 and out.shape[-1] > 1:
            stride = 1
            while stride * 1.5 * out.shape[-1] < self.px:
                stride *= 2
            self.strides[stride] = (self.strides.get(stride, 0)
                                    + out.numel() * taps)
            self.maps_at[stride] = self.maps_at.get(stride, 0) + out.numel()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in FREE:
            return out
        self.launches += 1
        if name == "convolution":
            self.convolution(args, out)
        elif name in ("mm", "addmm", "bmm", "baddbmm"):
            a, b = args[-2:] if name in ("mm", "bmm") else args[1:3]
            base = b._base if b._base is not None else b
            self.product(out, a.shape[-1], id(base) in self.weights
                         or id(b) in self.weights or name in ("mm", "addmm"))
        return out


def head(model):
    """(inputs, classes, parameters) of the classifier."""
    layers = [m for m in model.modules()
              if isinstance(m, (torch.nn.Linear, torch.nn.Conv2d,
                                torch.nn.Conv3d))]
    linear = [m for m in layers if isinstance(m, torch.nn.Linear)]
    last = linear[-1] if linear else layers[-1]
    if isinstance(last, torch.nn.Linear):
        shape = (last.in_features, last.out_features)
    else:
        shape = (last.in_channels, last.out_channels)
    return shape + (sum(p.numel() for p in last.parameters()),)


def count(name, model, px):
    weights = {id(p) for p in model.parameters()}
    frames = (VIDEO[name][1],) if name in VIDEO else ()
    image = torch.rand(1, 3, *frames, px, px)
    counter = Counter(weights, px)
    # In training mode, attention is no single operator of its own; it has no
    # dropout here.
    for m in model.modules():
        if isinstance(m, torch.nn.MultiheadAttention):
            m.train()
    with torch.no_grad(), counter:
        model(image)
    return counter


def build(name, px):
    kwargs = {}
    if name in SEGMENTATION:
        kwargs = {"weights_backbone": None}
    if name in ("googlenet", "inception_v3"):
        kwargs = {"aux_logits": False, "init_weights": False}
    elif name.startswith("vit_"):
        kwargs = {"image_size": px}
    return torchvision.models.get_model(name, weights=None, **kwargs).eval()


def sizes(name):
    if name in VIDEO:
        return VIDEO[name][:1]
    if name in SEGMENTATION:
        return (520,)
    if name == "maxvit_t":
        return SIZES[:1]                # its windows divide 224 alone
    if name.startswith("vit_"):
        patch = 14 if name == "vit_h_14" else 32
        return [px - px % patch for px in SIZES]
    return SIZES


def main(argv):
    names = argv or (torchvision.models.list_models(torchvision.models)
                     + SEGMENTATION + list(VIDEO))
    fields = ["model", "image_px", "macs_g", "attention_macs_g", "acts_m",
              "attention_acts_m", "params_m", "head_inputs", "classes",
              "head_params_m", "layers", "launches", "share_2", "share_4",
              "share_8", "share_16", "share_32", "acts_share_2", "acts_share_4",
              "acts_share_8", "acts_share_16", "acts_share_32"]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(fields)
    for name in names:
        if name.startswith("quantized_"):
            continue
        for px in sizes(name):
            model = build(name, px)
            params = sum(p.numel() for p in model.parameters())
            inputs, classes, own = head(model)
            n = count(name, model, px)
            total = sum(n.strides.values()) or 1
            outputs = sum(n.maps_at.values()) or 1
            out.writerow([name, px, "%.7g" % (n.macs / 1e9),
                          "%.6g" % (n.attention / 1e9),
                          "%.7g" % (n.acts / 1e6), "%.6g" % (n.maps / 1e6),
                          "%.8g" % (params / 1e6), inputs, classes,
                          "%.6g" % (own / 1e6), n.layers, n.launches]
                         + ["%.3f" % (n.strides.get(s, 0) / total)
                            for s in (2, 4, 8, 16, 32)]
                         + ["%.3f" % (n.maps_at.get(s, 0) / outputs)
                            for s in (2, 4, 8, 16, 32)])
            del model
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
