#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the ONNX model that a text describes, without its weights.

usage: onnx_from_text.py TEXT ONNX

One line per node, input, output or weight; words are separated by a space:

  opset VERSION
  input NAME TYPE SHAPE        SHAPE: 1x3xh for 1, 3 and the open dimension h
  weight NAME TYPE SHAPE       its values are not in the text
  OPERATOR INPUTS OUTPUTS SHAPE [ATTRIBUTE=JSON]...
  output NAME TYPE

INPUTS and OUTPUTS are names separated by commas, "-" for none. SHAPE of a
node is that of its first output, inferred by another program than dlest ("?"
if it is not known); it is not written to the model. A tensor as an attribute
is {"int64":[2],"values":[3,4]}; values null: not in the text. Prints a JSON
object {output: shape} with the shapes that have no open dimension.
"""

import json
import sys

import onnx_writer as onnx


def dims(shape):
    return [] if shape == "scalar" else [
        int(d) if d.isdigit() else d for d in shape.split("x")]


def names(words):
    return [] if words == "-" else words.split(",")


def value(word):
    x = json.loads(word)
    if not isinstance(x, dict):
        return x
    (kind, shape), values = next(iter(x.items())), x["values"]
    kind = onnx.TYPES[kind]
    if values is None:
        return onnx.external_tensor("", kind, shape, "weights")
    return onnx.tensor("", kind, shape, values)


def main():
    nodes, inputs, outputs, stored, shapes, opset = [], [], [], [], {}, 0
    with open(sys.argv[1], encoding="utf-8") as f:
        for line in f:
            kind, *words = line.split()
            if kind == "opset":
                opset = int(words[0])
            elif kind == "input":
                inputs.append(onnx.value(words[0], onnx.TYPES[words[1]],
                                         dims(words[2])))
            elif kind == "output":
                outputs.append(onnx.value(words[0], onnx.TYPES[words[1]]))
            elif kind == "weight":
                stored.append(onnx.external_tensor(
                    words[0], onnx.TYPES[words[1]], dims(words[2]),
                    "weights"))
            else:
                reads, gives, shape = words[:3]
                attributes = (word.split("=", 1) for word in words[3:])
                nodes.append(onnx.node(
                    kind, names(reads), names(gives),
                    **{name: value(word) for name, word in attributes}))
                if all(isinstance(d, int) for d in dims(shape)):
                    shapes[names(gives)[0]] = shape
    with open(sys.argv[2], "wb") as f:
        f.write(onnx.model(onnx.graph(nodes, inputs, outputs, stored),
                           [onnx.opset("", opset)]))
    print(json.dumps(shapes))


if __name__ == "__main__":
    main()
