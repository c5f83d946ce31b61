#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expected values of tests/unit/test_transformer.c: parameters, MACs and
activations of small transformers, counted by PyTorch while they run. Every
matrix product and convolution is seen by a dispatch mode; nothing is computed
from a formula.

Run: python3 transformer_reference.py (Debian: python3-torch,
python3-torchvision)
"""

import math

import torch
import torchvision
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Count(TorchDispatchMode):
    """Multiply-accumulates and outputs of products and convolutions."""

    def __init__(self):
        super().__init__()
        self.macs = self.acts = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name == "convolution":
            weight = args[1]
            self.add(out, weight[0].numel())
        elif name in ("mm", "bmm"):
            self.add(out, args[0].shape[-1])
        elif name in ("addmm", "baddbmm"):
            self.add(out, args[1].shape[-1])
        return out

    def add(self, out, inner):
        self.macs += out.numel() * inner
        self.acts += out.numel()


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * self.weight / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


class Attention(nn.Module):
    def __init__(self, d, heads, kv_heads, head_dim, bias):
        super().__init__()
        self.shape = heads, kv_heads, head_dim
        self.q = nn.Linear(d, heads * head_dim, bias=bias)
        self.k = nn.Linear(d, kv_heads * head_dim, bias=bias)
        self.v = nn.Linear(d, kv_heads * head_dim, bias=bias)
        self.o = nn.Linear(heads * head_dim, d, bias=bias)

    def forward(self, x):
        heads, kv_heads, e = self.shape
        n = x.shape[0]
        q = self.q(x).view(n, heads, e).transpose(0, 1)
        k = self.k(x).view(n, kv_heads, e).transpose(0, 1)
        v = self.v(x).view(n, kv_heads, e).transpose(0, 1)
        k = k.repeat_interleave(heads // kv_heads, 0)
        v = v.repeat_interleave(heads // kv_heads, 0)
        mask = torch.triu(torch.full((n, n), -math.inf), 1)
        scores = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(e) + mask, -1)
        return self.o((scores @ v).transpose(0, 1).reshape(n, heads * e))


class FeedForward(nn.Module):
    def __init__(self, d, f, gated, bias):
        super().__init__()
        self.up = nn.Linear(d, f, bias=bias)
        self.gate = nn.Linear(d, f, bias=bias) if gated else None
        self.down = nn.Linear(f, d, bias=bias)

    def forward(self, x):
        y = self.up(x)
        y = nn.functional.silu(self.gate(x)) * y if self.gate else y.relu()
        return self.down(y)


class Experts(nn.Module):
    def __init__(self, d, f, experts, active):
        super().__init__()
        self.active = active
        self.router = nn.Linear(d, experts, bias=False)
        self.expert = nn.ModuleList(
            FeedForward(d, f, True, False) for _ in range(experts))

    def forward(self, x):
        chosen = self.router(x).topk(self.active).indices
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.expert):
            rows = (chosen == i).any(-1)
            if rows.any():
                out[rows] += expert(x[rows])
        return out


class Decoder(nn.Module):
    """GPT-2 or Llama, by its settings."""

    def __init__(self, layers, d, heads, f, vocab, seq, kv_heads=None,
                 head_dim=None, llama=False, experts=0, active=0, every=1):
        super().__init__()
        norm = RMSNorm if llama else nn.LayerNorm
        self.token = nn.Embedding(vocab, d)
        self.position = None if llama else nn.Embedding(seq, d)
        self.layer = nn.ModuleList()
        for i in range(layers):
            moe = experts and (i + 1) % every == 0
            self.layer.append(nn.ModuleList([
                norm(d),
                Attention(d, heads, kv_heads or heads, head_dim or d // heads,
                          not llama),
                norm(d),
                Experts(d, f, experts, active) if moe
                else FeedForward(d, f, llama, not llama)]))
        self.norm = norm(d)
        self.head = nn.Linear(d, vocab, bias=False)
        if not llama:
            self.head.weight = self.token.weight

    def forward(self, tokens):
        x = self.token(tokens)
        if self.position:
            x = x + self.position(torch.arange(len(tokens)))
        for norm1, attention, norm2, ffn in self.layer:
            x = x + attention(norm1(x))
            x = x + ffn(norm2(x))
        return self.head(self.norm(x))


class Bert(nn.Module):
    """PyTorch's own encoder, post-norm, with BERT's embeddings and pooler."""

    def __init__(self, layers, d, heads, f, vocab, seq):
        super().__init__()
        self.token = nn.Embedding(vocab, d)
        self.position = nn.Embedding(seq, d)
        self.segment = nn.Embedding(2, d)
        self.norm = nn.LayerNorm(d)
        layer = nn.TransformerEncoderLayer(d, heads, f, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.pooler = nn.Linear(d, d)

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(len(tokens)))
        x = self.norm(x + self.segment(torch.zeros_like(tokens)))
        return self.pooler(self.encoder(x[None])[:, 0])


class Translator(nn.Module):
    """PyTorch's own encoder and decoder, one embedding for all."""

    def __init__(self, layers, decoder_layers, d, heads, f, vocab):
        super().__init__()
        self.token = nn.Embedding(vocab, d)
        self.both = nn.Transformer(d, heads, layers, decoder_layers, f, 0.0,
                                   batch_first=True)

    def forward(self, source, target):
        x = self.both(self.token(source)[None], self.token(target)[None])
        return x[0] @ self.token.weight.T


def count(name, model, *inputs):
    counter = Count()
    model.train()
    with torch.no_grad(), counter:
        model(*inputs)
    params = sum(p.numel() for p in model.parameters())
    print(f"{name:12} {params:10} {counter.macs:12} {counter.acts:10}")


def tokens(n, vocab):
    return torch.randint(vocab, (n,))


def main():
    torch.manual_seed(0)
    print(f"{'shape':12} {'parameters':>10} {'MACs':>12} {'outputs':>10}")
    count("gpt", Decoder(3, 48, 4, 192, 101, 32), tokens(20, 101))
    count("grouped", Decoder(4, 64, 8, 176, 97, 0, kv_heads=2, llama=True),
          tokens(24, 97))
    count("wide heads", Decoder(2, 40, 5, 100, 53, 0, head_dim=16, llama=True),
          tokens(11, 53))
    count("experts", Decoder(4, 32, 4, 80, 61, 0, kv_heads=2, llama=True,
                             experts=8, active=2), tokens(30, 61))
    count("every other", Decoder(5, 32, 4, 80, 61, 0, llama=True, experts=4,
                                 active=1, every=2), tokens(30, 61))
    count("bert", Bert(3, 48, 6, 160, 71, 40), tokens(25, 71))
    count("translator", Translator(3, 2, 32, 4, 96, 83), tokens(17, 83),
          tokens(9, 83))
    count("vit", torchvision.models.VisionTransformer(
        64, 16, 4, 6, 72, 288, num_classes=37), torch.rand(1, 3, 64, 64))


if __name__ == "__main__":
    main()
