# SPDX-License-Identifier: GPL-3.0-or-later
"""Counting a network layer by layer: what task_vision.py and
task_sequence.py describe their networks with.

A map is (channels, size), size a tuple of its sides (one for sound, three for
volumes). Multiply-accumulates and outputs are those of convolutions, dense and
recurrent layers and products of matrices; a launch is an operator that computes
or copies, nothing fused: the rules of architectures-from-torchvision.py.
"""
import math


class Net:
    """Sums over the layers of one sample's forward pass."""

    def __init__(self):
        self.params = self.macs = self.acts = self.layers = self.launches = 0
        self.fixed = 0          # MACs that do not grow with the input
        self.products = self.product_acts = 0   # of attention

    def add(self, macs, acts, params, layers=1, launches=1):
        self.macs += macs
        self.acts += acts
        self.params += params
        self.layers += layers
        self.launches += launches

    def product(self, macs, acts):
        """The two products of attention and the softmax between them."""
        self.products += macs
        self.product_acts += acts
        self.add(macs, acts, 0, 0, 3)

    def op(self, launches=1, params=0):
        """Operators that only move or scale elements, norms with params."""
        self.launches += launches
        self.params += params

    def conv(self, x, out, k=3, s=1, norm=2, act=1, bias=None, groups=1,
             pad=None, d=1):
        """Convolution, `norm` parameters for each channel, activation. pad
        None: such that a stride of 1 keeps the sides."""
        c, size = x
        ks = k if isinstance(k, tuple) else (k,) * len(size)
        if pad is None:
            sides = tuple(-(-n // s) for n in size)
        else:
            sides = tuple((n + 2 * pad - d * (kk - 1) - 1) // s + 1
                          for n, kk in zip(size, ks))
        bias = (not norm) if bias is None else bias
        weights = math.prod(ks) * (c // groups) * out
        n = math.prod(sides)
        self.add(n * weights, n * out, weights + bias * out)
        if norm:
            self.op(1, norm * out)
        self.op(act)
        return (out, sides)

    def up(self, x, out, k=2, s=2, bias=1, norm=0, act=0):
        """Transposed convolution."""
        c, size = x
        sides = tuple(n * s for n in size)
        weights = k ** len(size) * c * out
        self.add(math.prod(size) * weights, math.prod(sides) * out,
                 weights + bias * out)
        if norm:
            self.op(1, norm * out)
        self.op(act)
        return (out, sides)

    def dense(self, n, inputs, out, bias=1, times=1):
        """The same layer for n positions."""
        self.add(n * inputs * out, n * out, (inputs + bias) * out)
        return out

    def attention(self, q, kv, width, heads, context=None, bias=1):
        """Queries from q positions, keys and values from kv positions of
        `context` channels (None: of `width`)."""
        self.dense(q, width, width, bias)
        self.dense(kv, context or width, width, bias)
        self.dense(kv, context or width, width, bias)
        self.product(2 * q * kv * width, q * (kv * heads + width))
        self.dense(q, width, width)

    def lstm(self, steps, inputs, hidden, directions=1, biases=2):
        """Recurrent layer, one launch for each step and direction."""
        weights = 4 * hidden * (inputs + hidden)
        self.add(directions * steps * weights, directions * steps * 4 * hidden,
                 directions * (weights + 4 * hidden * biases), 1,
                 directions * steps)
        return directions * hidden


def bottlenecks(n, x, depths, groups=1, base=64, stem=True):
    """ResNet or ResNeXt without its classifier: maps of its stages."""
    if stem:
        x = n.conv(x, 64, 7, 2)
        x = (x[0], tuple(-(-v // 2) for v in x[1]))
        n.op()
    maps = []
    for i, depth in enumerate(depths):
        width, out = base * groups // (32 if groups > 1 else 1) * 2 ** i, \
            256 * 2 ** i
        for j in range(depth):
            s = 2 if i and not j else 1
            h = n.conv(x, width, 1)
            h = n.conv(h, width, 3, s, groups=groups)
            h = n.conv(h, out, 1, act=0)
            if j == 0:
                n.conv(x, out, 1, s, act=0)
            n.op(2)
            x = h
        maps.append(x)
    return maps
