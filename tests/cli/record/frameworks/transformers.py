# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of callbacks of Transformers, and a Trainer that calls them."""

import types


class TrainerCallback:
    """A callback that does nothing."""

    def on_train_begin(self, args, state, control, **kwargs):
        """The training begins."""

    def on_epoch_end(self, args, state, control, **kwargs):
        """An epoch is over."""

    def on_train_end(self, args, state, control, **kwargs):
        """The training is over."""


class Trainer:
    """A trainer with a state."""

    def __init__(self, callbacks=()):
        self.callbacks = list(callbacks)
        self.state = types.SimpleNamespace(epoch=0.0, global_step=0,
                                           log_history=[])

    def call(self, event):
        """Calls an event of all callbacks."""
        for callback in self.callbacks:
            getattr(callback, event)(None, self.state, None, model=None)

    def train(self, epochs, train):
        """Trains."""
        self.call("on_train_begin")
        for epoch in range(epochs):
            train()
            self.state.epoch = epoch + 0.9999
            self.state.global_step += 10
            self.call("on_epoch_end")
        self.state.log_history.append({"train_runtime": 1.0})
        self.call("on_train_end")
