#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real training of a small network on the CPU, which marks its epochs.

    train.py cnn|transformer EPOCHS SECONDS

An epoch takes about SECONDS of training, then validation and a checkpoint. The
data are noise with a class in it: what is learnt does not matter here.
"""

import os
import sys
import tempfile
import time

import torch
from torch import nn

import dlest


def cnn():
    """A network for images of 3 x 32 x 32."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64),
        nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Transformer(nn.Module):
    """A classifier of sequences of 64 tokens."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.encode = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(128, 10)

    def forward(self, tokens):
        """Logits of each sequence."""
        return self.head(self.encode(self.embed(tokens)).mean(1))


def data(kind, batches, batch=32):
    """Batches of inputs and classes."""
    for _ in range(batches):
        y = torch.randint(0, 10, (batch,))
        if kind == "cnn":
            yield torch.randn(batch, 3, 32, 32) + y.view(-1, 1, 1, 1), y
        else:
            yield torch.randint(0, 100, (batch, 64)) + 90 * y.view(-1, 1), y


def step(model, loss, optimizer, x, y):
    """A training step."""
    optimizer.zero_grad()
    loss(model(x), y).backward()
    optimizer.step()


def main():
    """Trains."""
    kind, epochs, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    torch.manual_seed(1)
    model = cnn() if kind == "cnn" else Transformer()
    loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    # As many batches as take that long here, and then always so many.
    batches, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        for x, y in data(kind, 4):
            step(model, loss, optimizer, x, y)
        batches += 4
    training = list(data(kind, batches))
    validation = list(data(kind, max(1, batches // 10)))
    for _ in dlest.epochs(epochs):
        model.train()
        for x, y in training:
            step(model, loss, optimizer, x, y)
        model.eval()
        with torch.no_grad():
            for x, y in validation:
                loss(model(x), y)
        # What storage takes: the processors wait for it.
        with tempfile.NamedTemporaryFile() as checkpoint:
            torch.save(model.state_dict(), checkpoint)
            os.fsync(checkpoint.fileno())
        time.sleep(0.5)


main()
