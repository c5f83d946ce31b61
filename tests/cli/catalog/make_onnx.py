#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small ONNX models whose work is known by hand, and hostile ones.

usage: make_onnx.py good FOLDER | bad FOLDER

Prints a JSON list: for good models {"file", "args", "macs", "params",
"acts", "launches"} with null for what is not checked here, for bad ones
{"file", "says"}.
"""

import json
import sys

import onnx_writer as onnx
from onnx_writer import (BOOL, FLOAT, INT4, INT8, INT32, INT64, UINT4, UINT8,
                         varint)

N = onnx.node


def weights(**shapes):
    """Initializers: float32 of a shape, or what stored() gives, by name."""
    return [s(n) if callable(s) else onnx.tensor(n, FLOAT, s)
            for n, s in shapes.items()]


def stored(kind, dims, values=None):
    return lambda name: onnx.tensor(name, kind, dims, values)


def ints(*x):
    return stored(INT64, [len(x)], x)


def scalar(kind, x):
    return stored(kind, [], [x])


def zeros(kind, *dims):
    return stored(kind, dims)


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=(),
          types=None, domains=()):
    types = types or {}
    graph = onnx.graph(
        nodes, [onnx.value(n, types.get(n, FLOAT), s)
                for n, s in inputs.items()],
        [onnx.value(n, types.get(n, FLOAT)) for n in outputs], initializers)
    opsets = [onnx.opset("", opset)] + [onnx.opset(d, 1) for d in domains]
    return onnx.model(graph, opsets, functions)


def cnn(batch="n", side=32):
    """3x32x32 -> 8 maps -> pool -> 16 maps in two groups -> 10 classes."""
    return model(
        [N("Conv", ["x", "w1", "b1"], ["a"], pads=[1] * 4, name="first"),
         N("Relu", ["a"], ["b"]),
         N("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
         N("Conv", ["c", "w2", "b2"], ["d"], pads=[1] * 4, group=2,
           name="second"),
         N("GlobalAveragePool", ["d"], ["e"]), N("Flatten", ["e"], ["f"]),
         N("Gemm", ["f", "w3", "b3"], ["y"], transB=1, name="classes")],
        {"x": [batch, 3, side, side]}, ["y"],
        weights(w1=(8, 3, 3, 3), b1=(8,), w2=(16, 4, 3, 3), b2=(16,),
                w3=(10, 16), b3=(10,)))


CNN = dict(macs=8 * 32 * 32 * 27 + 16 * 16 * 16 * 36 + 160,
           params=8 * 28 + 16 * 37 + 170, acts=8192 + 4096 + 10, launches=6)


def body(nodes, inputs, outputs, initializers=()):
    def value(n):
        kind, dims = {"i": (INT64, []), "k": (BOOL, [])}.get(
            n[0], (FLOAT, None))
        return onnx.value(n, kind, dims)
    return onnx.graph(nodes, [value(n) for n in inputs],
                      [value(n) for n in outputs], initializers)


def made(kind, dims, to):
    """A node that makes a tensor of zeros."""
    return N("Constant", [], [to], value=onnx.tensor("", kind, dims))


def weights_of_nodes():
    """A 3x3 convolution of 3 to 16 maps on 32 x 32, and the like, whose weights
    nodes make: 432 parameters and 32 * 32 * 432 MACs."""
    conv, image = N("Conv", ["x", "w"], ["y"], pads=[1] * 4), [1, 3, 32, 32]
    dims = [16, 3, 3, 3]
    told = dict(params=432, macs=32 * 32 * 432, launches=1)

    def of(nodes, initializers=(), **more):
        return model(nodes + [conv], {"x": image}, ["y"], initializers, **more)

    yield "of-shape", of([N("ConstantOfShape", ["s"], ["w"])],
                         weights(s=ints(*dims))), told
    yield "of-constant-shape", of(
        [N("Constant", [], ["s"], value=ints(*dims)("")),
         N("ConstantOfShape", ["s"], ["w"])]), told
    chains = {
        "identity": [made(FLOAT, dims, "a"), N("Identity", ["a"], ["b"]),
                     N("Identity", ["b"], ["w"])],
        "cast": [made(FLOAT, dims, "a"), N("Cast", ["a"], ["b"], to=10),
                 N("Cast", ["b"], ["w"], to=FLOAT)],
        "transpose": [made(FLOAT, dims[::-1], "a"),
                      N("Transpose", ["a"], ["w"], perm=[3, 2, 1, 0])],
        "reshape": [made(FLOAT, [16, 27], "a"), N("Reshape", ["a", "s"], ["w"])],
        "unsqueeze": [made(FLOAT, dims[:3], "a"),
                      N("Unsqueeze", ["a", "axis"], ["b"]),
                      N("Concat", ["b", "b", "b"], ["w"], axis=3)],
        "dequantize": [made(INT8, dims, "a"),
                       N("DequantizeLinear", ["a", "scale"], ["w"])],
        "shape-identity": [N("ConstantOfShape", ["s"], ["a"]),
                           N("Identity", ["a"], ["w"])],
        "sparse": [N("Constant", [], ["w"],
                     sparse_value=onnx.sparse("v", FLOAT, dims, [1.0] * 5))],
    }
    for name, nodes in chains.items():
        parts = dict(told, params=144) if name == "unsqueeze" else told
        yield "weights-" + name, of(nodes, weights(
            s=ints(*dims), axis=ints(3), scale=scalar(FLOAT, 1))), parts
    yield "weights-4-bit", of(
        [N("DequantizeLinear", ["q", "scales", "zeros"], ["w"], block_size=3,
           axis=1)],
        weights(q=zeros(UINT4, *dims), scales=zeros(FLOAT, 16, 1, 3, 3),
                zeros=zeros(UINT4, 16, 1, 3, 3)), opset=21), told
    yield "weights-sparse-stored", of(
        [], [onnx.sparse("w", FLOAT, dims, [1.0] * 5)]), told
    yield "weights-external", of(
        [N("Identity", ["e"], ["w"])],
        [onnx.external_tensor("e", FLOAT, dims, "weights.bin")]), told
    # Norms: scale and offset, not the running means; constants elsewhere are
    # settings.
    yield "norm-of-shape", model(
        [N("ConstantOfShape", ["s"], ["one"]), N("Identity", ["one"], ["b"]),
         N("ConstantOfShape", ["s"], ["m"]), N("ConstantOfShape", ["s"], ["v"]),
         N("BatchNormalization", ["x", "one", "b", "m", "v"], ["n"]),
         made(FLOAT, [1, 3, 1, 1], "half"), N("Identity", ["half"], ["h"]),
         N("Mul", ["n", "h"], ["y"])],
        {"x": image}, ["y"], weights(s=ints(3))), dict(params=3, launches=2)
    # One tensor of several nodes, in several forms.
    yield "weights-shared", model(
        [made(FLOAT, [8, 8], "w"), N("Identity", ["w"], ["a"]),
         N("Transpose", ["w"], ["b"]), N("MatMul", ["x", "a"], ["c"]),
         N("MatMul", ["c", "b"], ["d"]), N("MatMul", ["d", "w"], ["e"]),
         N("MatMul", ["e", "a"], ["y"])],
        {"x": [1, 8]}, ["y"]), dict(params=64, macs=4 * 64)
    # 50 words of 8, looked up and multiplied with.
    yield "weights-tied", model(
        [made(FLOAT, [50, 8], "w"), N("Gather", ["w", "ids"], ["e"]),
         N("Transpose", ["w"], ["t"]), N("MatMul", ["e", "t"], ["y"])],
        {"ids": [1, 6]}, ["y"], types={"ids": INT64}), \
        dict(params=400, macs=6 * 400)
    yield from packed()
    yield from within_graphs()


def packed():
    """Weights of four bits, two in a byte: K x N of them."""
    ms = dict(domain="com.microsoft")
    # 64 inputs in two blocks of 32, 5 outputs; a bias.
    yield "nbits", model(
        [N("Identity", ["b"], ["q"]),
         N("MatMulNBits", ["x", "q", "s", "z", "", "bias"], ["y"], K=64, N=5,
           bits=4, block_size=32, **ms)],
        {"x": [1, 3, 64]}, ["y"],
        weights(b=zeros(UINT8, 5, 2, 16), s=(10,), z=zeros(UINT8, 5),
                bias=(5,)), domains=["com.microsoft"]), dict(
                    params=64 * 5 + 5, macs=3 * 64 * 5, launches=1)
    yield "bnb4", model(
        [N("MatMulBnb4", ["x", "b", "s"], ["y"], K=64, N=5, block_size=16,
           quant_type=1, **ms)],
        {"x": [1, 3, 64]}, ["y"], weights(b=zeros(UINT8, 160), s=(20,)),
        domains=["com.microsoft"]), dict(params=320, macs=3 * 320)
    rows = ["GatherBlockQuantized", ["w", "ids", "s"], ["e"]]
    for name, kind, dims in ("bytes", UINT8, (50, 32)), ("int4", INT4, (50, 64)):
        yield "gather-" + name, model(
            [N(*rows, bits=4, block_size=32, **ms),
             N("MatMul", ["e", "m"], ["y"])],
            {"ids": [1, 6]}, ["y"],
            weights(w=zeros(kind, *dims), s=(50, 2), m=(64, 3)),
            types={"ids": INT64}, domains=["com.microsoft"]), dict(
                params=50 * 64 + 64 * 3, macs=6 * 64 * 3)


def within_graphs():
    """Weights in the graphs of If, Loop and Scan, and handed into them."""
    own = [onnx.tensor("w", FLOAT, [8, 8])]
    times = weights(trips=scalar(INT64, 5))
    turn = ["k", "kk"]
    for name, nodes, stored in (
            ("stored", [], own), ("constant", [made(FLOAT, [8, 8], "w")], []),
            ("shape", [N("Constant", [], ["s"], value=ints(8, 8)("")),
                       N("ConstantOfShape", ["s"], ["w"])], [])):
        step = body(nodes + [N("MatMul", ["v", "w"], ["vv"]),
                             N("Identity", turn[:1], turn[1:])],
                    ["i", "k", "v"], ["kk", "vv"], stored)
        yield "loop-" + name, model(
            [N("Loop", ["trips", "", "x"], ["y"], body=step)],
            {"x": [1, 8]}, ["y"], times), dict(params=64, macs=5 * 64)
        scan = body(nodes + [N("MatMul", ["u", "w"], ["vv"])], ["u"], ["vv"],
                    stored)
        yield "scan-" + name, model(
            [N("Scan", ["x"], ["y"], body=scan, num_scan_inputs=1)],
            {"x": [7, 1, 8]}, ["y"]), dict(
                args=["--batch", "1"], params=64, macs=7 * 64)
        one = body(nodes + [N("MatMul", ["x", "w"], ["t"])], [], ["t"], stored)
        other = body([N("Relu", ["x"], ["e"])], [], ["e"])
        yield "if-" + name, model(
            [N("If", ["when"], ["y"], then_branch=one, else_branch=other)],
            {"when": [], "x": [1, 8]}, ["y"], types={"when": BOOL}), dict(
                params=64, macs=64)
    # A weight that is carried as it is, and one of each turn.
    step = body([N("MatMul", ["v", "w"], ["vv"]), N("Identity", ["w"], ["ww"]),
                 N("Identity", turn[:1], turn[1:])],
                ["i", "k", "v", "w"], ["kk", "vv", "ww"])
    yield "loop-carried", model(
        [N("Loop", ["trips", "", "x", "w0"], ["y", "same"], body=step)],
        {"x": [1, 8]}, ["y"], times + weights(w0=(8, 8))), dict(
            params=64, macs=5 * 64)
    layer = body([N("MatMul", ["v", "w"], ["vv"])], ["v", "w"], ["vv"])
    yield "scan-stack", model(
        [N("Scan", ["x", "all"], ["y"], body=layer, num_scan_inputs=1)],
        {"x": [1, 8]}, ["y"], weights(all=(12, 8, 8))), dict(
            params=12 * 64, macs=12 * 64)
    # The same weight in both branches; a branch that only gives a weight.
    used = [body([N("MatMul", ["x", "w"], [t])], [], [t]) for t in "ab"]
    both = body([N("MatMul", ["x", "w"], ["c"]), N("MatMul", ["c", "w2"], ["d"])],
                [], ["d"])
    for name, left, right in ("same", used[0], used[1]), ("more", used[0], both), \
            ("less", both, used[1]):
        yield "if-both-" + name, model(
            [N("If", ["when"], ["y"], then_branch=left, else_branch=right)],
            {"when": [], "x": [1, 8]}, ["y"], weights(w=(8, 8), w2=(8, 8))
            if name != "same" else weights(w=(8, 8)),
            types={"when": BOOL}), dict(
                params=64 if name == "same" else 128,
                macs=64 if name == "same" else 128)
    opsets = [onnx.opset("", 17)]
    layer = onnx.function("own", "Layer", ["a"], ["c"], [
        made(FLOAT, [8, 8], "w"), N("MatMul", ["a", "w"], ["c"])], opsets)
    yield "function-constant", model(
        [N("Layer", ["x"], ["t"], domain="own"),
         N("Layer", ["t"], ["y"], domain="own")],
        {"x": [1, 8]}, ["y"], functions=[layer], domains=["own"]), dict(
            params=64, macs=128)
    gives = [body([made(FLOAT, [8, 8], t)], [], [t]) for t in "ab"]
    yield "if-gives-weight", model(
        [N("If", ["when"], ["w"], then_branch=gives[0], else_branch=gives[1]),
         N("MatMul", ["x", "w"], ["y"])],
        {"x": [1, 8]}, ["y"], weights(when=scalar(BOOL, True))), dict(
            params=64, macs=64)


def good():
    yield "cnn", cnn(), CNN
    yield "cnn-of-8", cnn(8), CNN
    yield "cnn-at-64", cnn(), dict(
        args=["--image-px", "64"], acts=4 * (8192 + 4096) + 10,
        macs=4 * (8 * 32 * 32 * 27 + 16 * 16 * 16 * 36) + 160)
    yield "cnn-open", cnn(side=None), dict(
        CNN, args=["--input-shape", "x=1x3x32x32"])
    # SAME with stride 2 of 7: 4; kernel 3 dilated to 5 within 9: 5.
    yield "windows", model(
        [N("Conv", ["x", "w"], ["a"], auto_pad="SAME_UPPER", strides=[2, 2]),
         N("Conv", ["z", "w"], ["b"], dilations=[2, 2])],
        {"x": [1, 2, 7, 7], "z": [1, 2, 9, 9]}, ["a", "b"],
        weights(w=(4, 2, 3, 3))), dict(
            macs=4 * 16 * 18 + 4 * 25 * 18, params=72, acts=64 + 100)
    # (5 - 1) 2 + 3 = 11 wide; each input element meets 3 maps of 9.
    yield "transposed", model(
        [N("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])],
        {"x": [1, 4, 5, 5]}, ["y"], weights(w=(4, 3, 3, 3))), dict(
            macs=100 * 27, params=108, acts=3 * 121)
    yield "attention", model(
        [N("MatMul", ["x", "w"], ["q"]), N("Transpose", ["x"], ["k"],
                                           perm=[0, 2, 1]),
         N("MatMul", ["q", "k"], ["s"]), N("Softmax", ["s"], ["p"]),
         N("MatMul", ["p", "x"], ["y"])],
        {"x": [1, 16, 8]}, ["y"], weights(w=(8, 8))), dict(
            macs=16 * 64 + 2 * 16 * 16 * 8, params=64, launches=5,
            acts=128 + 256 + 128)
    yield "einsum", model(
        [N("Einsum", ["a", "b"], ["s"], equation="bhqd,bhkd->bhqk"),
         N("Einsum", ["s", "s"], ["t"], equation="...ij,...ij->...ij"),
         N("Einsum", ["t"], ["y"], equation="bhqk->bkqh")],
        {"a": [1, 2, 5, 4], "b": [1, 2, 7, 4]}, ["y"]), dict(
            macs=2 * 5 * 7 * 4, acts=70, launches=3)
    yield "recurrent", model(
        [N("LSTM", ["x", "w4", "r4", "b4"], ["a"], hidden_size=6),
         N("GRU", ["x", "w3", "r3"], ["b"], hidden_size=6),
         N("RNN", ["z", "w1", "r1"], ["c"], hidden_size=6, layout=1,
           direction="bidirectional")],
        {"x": [9, 1, 5], "z": [1, 4, 5]}, ["a", "b", "c"],
        weights(w4=(1, 24, 5), r4=(1, 24, 6), b4=(1, 48), w3=(1, 18, 5),
                r3=(1, 18, 6), w1=(2, 6, 5), r1=(2, 6, 6))), dict(
                    macs=9 * 7 * 6 * 11 + 2 * 4 * 6 * 11, launches=9 + 9 + 8,
                    params=24 * 11 + 48 + 18 * 11 + 12 * 11)
    yield "quantised", model(
        [N("QuantizeLinear", ["x", "s", "z"], ["q"]),
         N("QLinearConv", ["q", "s", "z", "w", "s", "zi", "s", "z", "bias"],
           ["a"]),
         N("ConvInteger", ["a", "w2"], ["b"]),
         N("MatMulInteger", ["a", "m"], ["c"]),
         N("DequantizeLinear", ["m", "s", "zi"], ["wide"]),
         N("MatMul", ["x", "wide"], ["d"])],
        {"x": [1, 3, 4, 4]}, ["b", "c", "d"],
        weights(s=scalar(FLOAT, 1), z=scalar(UINT8, 0), zi=scalar(INT8, 0),
                w=zeros(INT8, 5, 3, 1, 1), bias=zeros(INT32, 5),
                w2=zeros(UINT8, 2, 5, 4, 4), m=zeros(INT8, 4, 7))), dict(
                    macs=5 * 16 * 3 + 2 * 80 + 5 * 16 * 7 + 3 * 16 * 7,
                    params=15 + 5 + 160 + 28, launches=5)
    step = body([N("MatMul", ["v", "w"], ["vv"]), N("Identity", ["k"], ["kk"])],
                ["i", "k", "v"], ["kk", "vv"])
    yield "loop", model(
        [N("Loop", ["trips", "", "x"], ["y"], body=step)],
        {"x": [1, 8]}, ["y"], weights(trips=scalar(INT64, 5), w=(8, 8))), dict(
            macs=5 * 64, params=64, acts=40, launches=5)
    scan = body(
        [N("MatMul", ["u", "w"], ["vv"]), N("Add", ["s", "vv"], ["ss"])],
        ["s", "u"], ["ss", "vv"])
    yield "scan", model(
        [N("Scan", ["s0", "x"], ["y", "ys"], body=scan, num_scan_inputs=1)],
        {"s0": [1, 4], "x": [7, 1, 3]}, ["y", "ys"], weights(w=(3, 4))), dict(
            args=["--batch", "1"], macs=7 * 12, params=12, launches=14)
    small = body([N("Relu", ["x"], ["t"])], [], ["t"])
    large = body([N("MatMul", ["x", "w"], ["e"])], [], ["e"])
    yield "if-known", model(
        [N("If", ["when"], ["y"], then_branch=small, else_branch=large)],
        {"x": [1, 8]}, ["y"],
        weights(when=scalar(BOOL, True), w=(8, 8))), dict(macs=0, launches=1)
    yield "if-open", model(
        [N("If", ["when"], ["y"], then_branch=small, else_branch=large)],
        {"when": [], "x": [1, 8]}, ["y"], weights(w=(8, 8)),
        types={"when": BOOL}), dict(macs=64, launches=1, params=64)
    opsets = [onnx.opset("", 17), onnx.opset("own", 1)]
    inner = onnx.function("own", "Twice", ["a", "b"], ["c"], [
        N("MatMul", ["a", "b"], ["t"]), N("MatMul", ["t", "b"], ["c"])], opsets)
    outer = onnx.function("own", "Thrice", ["a", "b"], ["c"], [
        N("Twice", ["a", "b"], ["t"], domain="own"),
        N("MatMul", ["t", "b"], ["c"])], opsets)
    yield "functions", model(
        [N("Thrice", ["x", "w"], ["y"], domain="own")],
        {"x": [1, 8]}, ["y"], weights(w=(8, 8)), functions=[inner, outer],
        domains=["own"]), \
        dict(macs=3 * 64, params=64, launches=3)
    ms = dict(domain="com.microsoft")
    yield "fused", model(
        [N("EmbedLayerNormalization",
           ["ids", "", "words", "places", "", "g", "b"], ["e", "m"], **ms),
         N("Attention", ["e", "w", "wb"], ["a"], num_heads=2, **ms),
         N("SkipLayerNormalization", ["e", "a", "g", "b"], ["n"], **ms),
         N("FusedMatMul", ["n", "w2"], ["f"], transB=1, **ms),
         N("BiasGelu", ["f", "b2"], ["y"], **ms)],
        {"ids": [1, 6]}, ["y"],
        weights(words=(50, 8), places=(6, 8), g=(8,), b=(8,), w=(8, 24),
                wb=(24,), w2=(16, 8), b2=(16,)), types={"ids": INT32},
        domains=["com.microsoft"]), dict(
                    macs=6 * 8 * 24 + 2 * 36 * 8 + 6 * 128, launches=5,
                    params=400 + 48 + 16 + 192 + 24 + 128 + 16)
    # What PyTorch makes of x.view(x.size(0), -1) with open sizes.
    yield "sizes", model(
        [N("Shape", ["x"], ["s"]), N("Gather", ["s", "zero"], ["n"]),
         N("Unsqueeze", ["n", "first"], ["n1"]),
         N("Concat", ["n1", "rest"], ["to"], axis=0),
         N("Reshape", ["x", "to"], ["f"]), N("MatMul", ["f", "w"], ["y"])],
        {"x": ["n", 4, 3, 2]}, ["y"],
        weights(zero=scalar(INT64, 0), first=ints(0), rest=ints(-1),
                w=(24, 5))), dict(macs=120, params=120, launches=1)
    # What Hugging Face's exports make of x.expand(2, -1, 5): -1 becomes 1.
    yield "expanded", model(
        [N("Shape", ["to"], ["n"]), N("ConstantOfShape", ["n"], ["ones"],
                                      value=ints(1)("")),
         N("Mul", ["ones", "minus"], ["all"]), N("Equal", ["to", "all"], ["e"]),
         N("Where", ["e", "ones", "to"], ["s"]), N("Expand", ["x", "s"], ["f"]),
         N("MatMul", ["f", "w"], ["y"])],
        {"x": [1, 3, 1]}, ["y"],
        weights(to=ints(2, -1, 5), minus=ints(-1), w=(5, 4))), \
        dict(macs=2 * 3 * 20, params=20, launches=2)
    yield "unknown", model(
        [N("Swirl", ["x"], ["a"], domain="own"),
         N("MatMul", ["a", "w"], ["y"])],
        {"x": [1, 8]}, ["y"], weights(w=(8, 2)), domains=["own"]), \
        dict(macs=16, launches=2)
    yield "external", model(
        [N("MatMul", ["x", "w"], ["y"])], {"x": [1, 8]}, ["y"],
        [onnx.external_tensor("w", FLOAT, [8, 2], "../../../etc/passwd")]), \
        dict(macs=16, params=16)
    yield from weights_of_nodes()
    # Nodes need not be in order.
    yield "disordered", model(
        [N("Relu", ["b"], ["y"]), N("MatMul", ["x", "w"], ["b"])],
        {"x": [1, 8]}, ["y"], weights(w=(8, 2))), dict(macs=16, launches=2)


def chain(nodes, inputs=None, initializers=(), outputs=("y",), **more):
    return model(nodes, inputs or {"x": [1, 8]}, outputs, initializers, **more)


def nested(deep):
    nodes = [N("Relu", ["x"], ["y"])]
    other = body([N("Relu", ["x"], ["z"])], [], ["z"])
    for _ in range(deep):
        nodes = [N("If", ["x"], ["y"], then_branch=body(nodes, [], ["y"]),
                   else_branch=other)]
    return chain(nodes)


def calling(first, count, times):
    """Functions f0 .. that each call the next `times` over."""
    opsets = [onnx.opset("", 17), onnx.opset("own", 1)]
    fs = []
    for i in range(count):
        nodes = [N(f"F{(i + 1) % count if first else i + 1}",
                   ["a" if k == 0 else f"t{k}"], [f"t{k + 1}"], domain="own")
                 for k in range(times)]
        fs.append(onnx.function("own", f"F{i}", ["a"], [f"t{times}"], nodes,
                                  opsets))
    return chain([N("F0", ["x"], ["y"], domain="own")], functions=fs,
                 domains=["own"])


def bad():
    whole = cnn()
    yield "empty", b"", "empty: not an ONNX model"
    yield "text", b"energy_j,duration_s\n1,2\n" * 9, "not an ONNX model"
    yield "claim", onnx.block(7, b"")[:1] + varint(1 << 62), "cut off"
    yield "wide", varint(7 << 3 | 2) + b"\xff" * 11, "more than 64 bits"
    yield "nodes-10-9", b"\x3a" + varint(2 * 10**9) + b"\x0a\x00" * 1000, \
        "cut off"
    yield "nodes-in-file", onnx.block(7, b"\x0a\x00" * (5 << 20)), \
        "more than 4 million fields"
    yield "group", b"\x4b\x4c", "no such kind of field"
    yield "no-graph", onnx.block(2, b"me"), "no graph"
    yield "two-graphs", whole + whole, "a field is there twice"
    yield "name", chain([N("Relu", ["x"], ["y"], name="n" * 5000)]), \
        "a name of more than 4096 bytes"
    yield "cycle", chain([N("Add", ["x", "b"], ["a"]), N("Relu", ["a"], ["b"]),
                          N("Relu", ["a"], ["y"])]), "the graph has a cycle"
    yield "twice", chain([N("Relu", ["x"], ["y"]), N("Exp", ["x"], ["y"])]), \
        "two nodes give the value 'y'"
    yield "nothing", chain([N("Relu", ["z"], ["y"])]), \
        "node '' (Relu) reads 'z', which nothing gives"
    yield "no-output", chain([N("Relu", ["x"], ["a"])]), \
        "nothing gives the output 'y'"
    for name, dims, says in [
            ("negative", [-1, 8], "a negative dimension"),
            ("huge", [1 << 40, 1 << 40], "a tensor of more than 2^53 elements"),
            ("ranks", [1] * 9, "a tensor of more than 8 dimensions")]:
        yield name, chain(
            [N("MatMul", ["x", "w"], ["y"])],
            initializers=weights(w=stored(FLOAT, dims, []))), says
    yield "mismatch", chain([N("MatMul", ["x", "w"], ["y"])],
                            initializers=weights(w=(7, 2))), \
        "matrices whose sizes do not fit each other"
    yield "channels", chain([N("Conv", ["x", "w"], ["y"])],
                            {"x": [1, 4, 5, 5]}, weights(w=(2, 3, 1, 1))), \
        "weights for another number of channels"
    yield "kernel", chain([N("Conv", ["x", "w"], ["y"])],
                          {"x": [1, 3, 5, 5]}, weights(w=(2, 3, 7, 7))), \
        "a kernel that is larger than its input"
    yield "reshape", chain([N("Reshape", ["x", "s"], ["y"])],
                           initializers=weights(s=ints(3, 3))), \
        "a shape of another number of elements"
    yield "expand", chain([N("Expand", ["x", "s"], ["a"]),
                           N("Expand", ["a", "s2"], ["y"])], {"x": [1]},
                          weights(s=ints(1 << 40), s2=ints(1 << 40, 1))), \
        "a tensor of more than 2^53 elements"
    yield "deep", nested(30), "nested too deeply"
    yield "deep-graphs", nested(18), "more than 16 deep"
    yield "calls-itself", calling(True, 1, 1), "more than 16 deep"
    yield "doubling", calling(False, 15, 16), "more than 4 million values"
    yield "einsum-letters", chain(
        [N("Einsum", ["x", "x"], ["y"], equation="a,b->ab")]), \
        "an equation that does not fit its inputs"


def main():
    what, folder = sys.argv[1:]
    listed = []
    for name, data, expected in good() if what == "good" else bad():
        with open(f"{folder}/{name}.onnx", "wb") as f:
            f.write(data)
        listed.append({"file": f"{name}.onnx", "says": expected}
                      if what == "bad" else
                      {"file": f"{name}.onnx", "args": [], "macs": None,
                       "params": None, "acts": None, "launches": None,
                       **expected})
    print(json.dumps(listed))


if __name__ == "__main__":
    main()
