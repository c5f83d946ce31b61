#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times dlest describe on an ONNX file of more than 500 MB.

describe.py --dlest PATH [--repeats N] [--quick]

The file is a chain of 130 dense layers of 1000 x 1000 weights, written here
byte by byte; its MACs are 130 million. See README.md.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

import run

WIDTH = 1000


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    """A field of Protocol Buffers: a whole number, or bytes."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


def value(name, *dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    tensor = field(1, 1) + (field(2, shape) if dims else b"")
    return field(1, name) + field(2, field(1, tensor))


def write_model(path, layers):
    nodes, heads = b"", []
    payload = b"\x3c" * (4 * WIDTH * WIDTH)
    for i in range(layers):
        names = [b"x%d" % i, b"w%d" % i]
        nodes += field(1, b"".join(field(1, n) for n in names) +
                       field(2, b"x%d" % (i + 1)) + field(4, b"MatMul"))
        head = field(1, WIDTH) * 2 + field(2, 1) + field(8, b"w%d" % i) + \
            varint(9 << 3 | 2) + varint(len(payload))
        heads.append(varint(5 << 3 | 2) + varint(len(head) + len(payload)) +
                     head)
    ends = field(11, value(b"x0", 1, WIDTH)) + \
        field(12, value(b"x%d" % layers))
    size = len(nodes) + len(ends) + sum(len(h) + len(payload) for h in heads)
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(8, field(1, b"") + field(2, 17)) +
                varint(7 << 3 | 2) + varint(size) + nodes)
        for head in heads:
            f.write(head)
            f.write(payload)
        f.write(ends)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlest", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    layers = 30 if args.quick else 130
    with tempfile.TemporaryDirectory(prefix="dlest-bench-") as folder:
        path = os.path.join(folder, "large.onnx")
        write_model(path, layers)
        megabytes = os.path.getsize(path) / 1e6
        command = [args.dlest, "describe", path, "--format", "json"]
        runs = [run.run(command) for _ in range(args.repeats)]
        told = json.loads(runs[0][2])
    if round(told["macs_g"] * 1e9) != layers * WIDTH * WIDTH:
        sys.exit("describe.py: %g GMAC are wrong" % told["macs_g"])
    print("describe: %.0f MB in %.1f ms, %.1f MB resident" %
          (megabytes, 1e3 * statistics.median(r[0] for r in runs),
           max(r[1] for r in runs)))


if __name__ == "__main__":
    main()
