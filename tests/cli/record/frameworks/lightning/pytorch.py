# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of callbacks of Lightning, and a Trainer that calls them."""


class Callback:
    """A callback that does nothing."""

    def on_train_start(self, trainer, pl_module):
        """The training begins."""

    def on_train_epoch_end(self, trainer, pl_module):
        """An epoch is over."""

    def on_train_end(self, trainer, pl_module):
        """The training is over."""

    def on_exception(self, trainer, pl_module, exception):
        """The training has failed."""


class Logger:
    """A logger that keeps what it gets."""

    def __init__(self):
        self.logged = []

    def log_metrics(self, metrics, step=None):
        """Logs."""
        self.logged.append((metrics, step))


class Trainer:
    """A trainer with one logger."""

    def __init__(self, callbacks):
        self.callbacks, self.loggers = callbacks, [Logger()]
        self.current_epoch = self.global_step = 0

    def call(self, hook, *arguments):
        """Calls a hook of all callbacks."""
        for callback in self.callbacks:
            getattr(callback, hook)(self, None, *arguments)

    def fit(self, epochs, train):
        """Trains."""
        try:
            self.call("on_train_start")
            for self.current_epoch in range(epochs):
                train()
                self.global_step += 10
                self.call("on_train_epoch_end")
            self.call("on_train_end")
        except BaseException as e:
            self.call("on_exception", e)
            raise
