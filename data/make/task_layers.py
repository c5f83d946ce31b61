# SPDX-License-Identifier: GPL-3.0-or-later
"""Counting a network layer by layer: what task_vision.py and
task_sequence.py describe their networks with.

A map is (channels, size), size a tuple of its sides (one for sound, three for
volumes). Multiply-accumulates and outputs are those of convolutions, dense and
recurrent layers and products of matrices; a launch is an operator that computes
or copies, nothing fused: the rules of architectures-from-torchvision.py.

Traffic is what all operators read and write, in elements: a layer its inputs and
outputs, an operator between layers as much as the layer before it put out, twice.
Padded work is that of tensor cores, which compute tiles: output channels in
multiples of 64 and inputs of a sum in multiples of 32; groups of few channels
fill a tile of 32. Depthwise layers are counted apart, as they do not run there.
"""
import math

TILE_OUT, TILE_IN = 64, 32


def up_to(value, tile):
    """The next multiple of a tile."""
    return -(-value // tile) * tile


class Net:
    """Sums over the layers of one sample's forward pass."""

    def __init__(self):
        self.params = self.macs = self.acts = self.layers = self.launches = 0
        self.sparse = 0         # parameters in rows that few samples look up
        self.fixed = 0          # MACs that do not grow with the input
        self.products = self.product_acts = 0   # of attention
        self.moved = 0          # elements read and written
        self.padded = 0         # MACs on tensor cores, with those of padding
        self.depthwise = 0      # MACs
        self.regions = 0        # that are matched with objects
        self.last = 0           # outputs of the last layer
        self.frozen = False     # no backward pass: a third of the traffic

    def add(self, macs, acts, params, layers=1, launches=1):
        self.macs += macs
        self.acts += acts
        self.params += params
        self.layers += layers
        self.launches += launches

    def move(self, elements):
        self.moved += elements / 3 if self.frozen else elements

    def multiply(self, macs, inputs, outputs, groups=1, taps=1):
        """The work of a layer from `inputs` to `outputs` channels."""
        if groups > 1 and groups == inputs:
            self.depthwise += macs
            return
        own = inputs // groups * taps
        ran = (max(inputs // groups, TILE_IN) if groups > 1 else
               inputs) * taps
        self.padded += macs * (up_to(ran, TILE_IN) / own *
                               up_to(outputs, TILE_OUT) / outputs)

    def product(self, macs, acts):
        """The two products of attention and the softmax between them."""
        self.products += macs
        self.product_acts += acts
        self.padded += macs
        self.add(macs, acts, 0, 0, 3)
        self.move(4 * acts)

    def op(self, launches=1, params=0, size=None):
        """Operators that only move or scale `size` elements (None: the outputs
        of the layer before), norms with params."""
        self.launches += launches
        self.params += params
        self.move(2 * launches * (self.last if size is None else size))

    def layer(self, macs, read, out, groups=1, taps=1):
        """Of a convolution or dense layer: (channels, positions) of what it
        reads and puts out."""
        self.multiply(macs, read[0], out[0], groups, taps)
        self.last = math.prod(out)
        self.move(math.prod(read) + self.last)

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
        self.layer(n * weights, (c, math.prod(size)), (out, n), groups,
                   math.prod(ks))
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
        self.layer(math.prod(size) * weights, (c, math.prod(size)),
                   (out, math.prod(sides)))
        if norm:
            self.op(1, norm * out)
        self.op(act)
        return (out, sides)

    def dense(self, n, inputs, out, bias=1, times=1):
        """The same layer for n positions."""
        self.add(n * inputs * out, n * out, (inputs + bias) * out)
        self.layer(n * inputs * out, (inputs, n), (out, n))
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
        self.layer(directions * steps * weights, (inputs + hidden, steps),
                   (4 * hidden, directions * steps))
        self.last = directions * steps * hidden
        self.move(2 * directions * steps * 4 * hidden)
        return directions * hidden


def bottlenecks(n, x, depths, groups=1, base=64, stem=True, frozen=False):
    """ResNet or ResNeXt without its classifier: maps of its stages. frozen:
    the stem and the first stage are not trained."""
    n.frozen = frozen
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
        n.frozen = False
        maps.append(x)
    return maps
