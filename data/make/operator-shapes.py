#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output shapes that onnx's tests of operators declare, as CSV.

usage: operator-shapes.py [FOLDER] >tests/reference/onnx-operator-shapes.csv

Reads FOLDER/*/*/model.onnx (FOLDER: /usr/share/libonnx-testdata/data, of
Debian's libonnx-testdata 1.12.0) with the package onnx (python3-onnx). One
row per model; the shapes of its outputs are separated by blanks, "?" stands
for an open dimension and "-" for an output that is no tensor.
"""

import glob
import os
import sys

import onnx


def shape_text(output):
    if not output.type.HasField("tensor_type"):
        return "-"
    return "x".join(str(d.dim_value) if d.HasField("dim_value") else "?"
                    for d in output.type.tensor_type.shape.dim) or "scalar"


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else \
        "/usr/share/libonnx-testdata/data"
    print("test,outputs")
    for path in sorted(glob.glob(folder + "/*/*/model.onnx")):
        test = os.path.relpath(os.path.dirname(path), folder)
        outputs = onnx.load(path).graph.output
        print(f"{test},{' '.join(map(shape_text, outputs))}")


if __name__ == "__main__":
    main()
