# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes ONNX models without the package onnx: messages of onnx.proto
(https://github.com/onnx/onnx/blob/main/onnx/onnx.proto) in the wire format of
Protocol Buffers (https://protobuf.dev/programming-guides/encoding/).

Every function returns one message as bytes; messages nest as they are.
"""

import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9
TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32,
         "int64": INT64, "bool": BOOL}
UINT4, INT4 = 21, 22
_PACKING = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q",
            BOOL: "?"}


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    """A field that holds an integer."""
    return varint(field << 3) + varint(n)


def block(field, data):
    """A field that holds bytes: a string or a message."""
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def real(field, x):
    """A field that holds a 32-bit float."""
    return varint(field << 3 | 5) + struct.pack("<f", x)


def blocks(field, items):
    return b"".join(block(field, item) for item in items)


class Tensor(bytes):
    """A TensorProto."""


class Sparse(bytes):
    """A SparseTensorProto."""


class Graph(bytes):
    """A GraphProto."""


def tensor(name, kind, dims, values=None):
    """A tensor; values None: zeros, as many as there are elements."""
    count = 1
    for d in dims:
        count *= d
    values = [0] * count if values is None else values
    if kind in (UINT4, INT4):  # two in a byte
        raw = bytes((len(values) + 1) // 2)
    else:
        raw = struct.pack(f"<{len(values)}{_PACKING[kind]}", *values)
    return Tensor(b"".join(number(1, d) for d in dims) + number(2, kind) +
                  block(8, name) + block(9, raw))


def external_tensor(name, kind, dims, location):
    """A tensor whose values are in the file `location`."""
    where = block(1, "location") + block(2, location)
    return Tensor(b"".join(number(1, d) for d in dims) + number(2, kind) +
                  block(8, name) + block(13, where) + number(14, 1))


def sparse(name, kind, dims, values):
    """A sparse tensor whose values are the first ones."""
    return Sparse(block(1, tensor(name, kind, [len(values)], values)) +
                  block(2, tensor("", INT64, [len(values)],
                                  range(len(values)))) +
                  b"".join(number(3, d) for d in dims))


def attribute(name, value):
    """An attribute, of the type of its value."""
    if isinstance(value, Tensor):
        data, kind = block(5, value), 4
    elif isinstance(value, Sparse):
        data, kind = block(22, value), 11
    elif isinstance(value, Graph):
        data, kind = block(6, value), 5
    elif isinstance(value, str):
        data, kind = block(4, value), 3
    elif isinstance(value, float):
        data, kind = real(2, value), 1
    elif isinstance(value, int):
        data, kind = number(3, value), 2
    elif all(isinstance(x, int) for x in value):
        data, kind = b"".join(number(8, x) for x in value), 7
    elif all(isinstance(x, float) for x in value):
        data, kind = b"".join(real(7, x) for x in value), 6
    else:
        data, kind = blocks(9, value), 8
    return block(1, name) + data + number(20, kind)


def node(op, inputs, outputs, name="", domain="", **attributes):
    return (blocks(1, inputs) + blocks(2, outputs) +
            (block(3, name) if name else b"") + block(4, op) +
            blocks(5, (attribute(*a) for a in attributes.items())) +
            (block(7, domain) if domain else b""))


def value(name, kind, dims=None):
    """A value; a dimension is a number, a name, or None; dims None: open."""
    shape = b""
    if dims is not None:
        shape = block(2, blocks(1, (
            number(1, d) if isinstance(d, int) else block(2, d) if d else b""
            for d in dims)))
    return block(1, name) + block(2, block(1, number(1, kind) + shape))


def graph(nodes, inputs, outputs, stored=()):
    return Graph(blocks(1, nodes) + block(2, "g") +
                 blocks(5, (t for t in stored if not isinstance(t, Sparse))) +
                 blocks(11, inputs) + blocks(12, outputs) +
                 blocks(15, (t for t in stored if isinstance(t, Sparse))))


def opset(domain, version):
    return (block(1, domain) if domain else b"") + number(2, version)


def function(domain, name, inputs, outputs, nodes, opsets):
    return (block(1, name) + blocks(4, inputs) + blocks(5, outputs) +
            blocks(7, nodes) + blocks(9, opsets) + block(10, domain))


def model(of, opsets, functions=()):
    return (number(1, 8) + block(7, of) + blocks(8, opsets) +
            blocks(25, functions))
