# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks for ``dlest record``, and estimates of ``dlest predict``.

    import dlest

    for number in dlest.epochs(90):     # marks the end of each
        train_one_epoch()

    dlest.epoch()                       # or by hand: one more epoch is over
    with dlest.measure_epoch(3):        # or around the fourth one
        train_one_epoch()

    with dlest.phase("validation"):     # its time and energy apart
        validate()
    dlest.samples(len(dataset))         # training samples per epoch, for fits

    trainer.add_callback(dlest.transformers_callback())
    Trainer(callbacks=[dlest.lightning_callback()])
    model.fit(..., callbacks=[dlest.keras_callback()])

    dlest.predict(arch="resnet50", gpu="a100", batch_size=64)["estimates"]

Epochs count from 0. Outside ``dlest record`` marks do nothing. Of several
processes on a node (torchrun) the one of local rank 0 marks. Nothing but the
standard library is imported before a callback is asked for.
"""

import contextlib
import json
import os
import re
import subprocess

__all__ = ["Error", "epoch", "epochs", "keras_callback", "lightning_callback",
           "measure_epoch", "phase", "predict", "samples",
           "transformers_callback"]


class Error(RuntimeError):
    """What dlest could not do, in its words; ``status`` is its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


_next_epoch = 0
_phase = "training"


def _mark(line):
    """Tells dlest record; False where nobody records or listens."""
    path = os.environ.get("DLEST_MARKS")
    if not path or os.environ.get("LOCAL_RANK", "0") != "0":
        return False
    try:
        # Never wait for a recorder that has gone.
        marks = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        os.write(marks, (line + "\n").encode())
    except OSError:
        return False
    finally:
        os.close(marks)
    return True


def epoch(number=None):
    """Marks the end of an epoch: that of ``number``, or the next one."""
    global _next_epoch  # pylint: disable=global-statement
    number = _next_epoch if number is None else int(number)
    _next_epoch = number + 1
    return _mark("epoch %d" % number)


def epochs(numbers):
    """Yields the numbers (or 0 to numbers - 1), and marks the end of each."""
    for number in range(numbers) if isinstance(numbers, int) else numbers:
        yield number
        epoch(number)


@contextlib.contextmanager
def measure_epoch(number=None):
    """Marks the end of an epoch when the block is over without an error."""
    yield
    epoch(number)


@contextlib.contextmanager
def phase(name):
    """Marks a phase around a block; the phase before it goes on afterwards.

    What a name may not hold becomes "_": a line end would begin another mark.
    """
    global _phase  # pylint: disable=global-statement
    before, _phase = _phase, re.sub(r"[^A-Za-z0-9_. -]", "_", str(name))
    _mark("phase " + _phase)
    try:
        yield
    finally:
        _phase = before
        _mark("phase " + _phase)


def samples(number):
    """Says how many training samples an epoch has."""
    return _mark("samples %d" % number)


def keras_callback():
    """A callback for ``fit`` of Keras."""
    try:
        from keras.callbacks import Callback
    except ImportError:
        from tensorflow.keras.callbacks import Callback

    class MarkEpochs(Callback):
        """Marks the end of each epoch."""

        def on_epoch_end(self, number, logs=None):  # pylint: disable=W0237
            """Called by Keras."""
            del logs
            epoch(number)

    return MarkEpochs()


def lightning_callback():
    """A callback for the Trainer of PyTorch Lightning."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class MarkEpochs(Callback):
        """Marks the end of each epoch."""

        def on_train_epoch_end(self, trainer, pl_module):
            """Called by Lightning, of each process."""
            del pl_module
            epoch(trainer.current_epoch)

    return MarkEpochs()


def transformers_callback():
    """A callback for the Trainer of Hugging Face Transformers."""
    from transformers import TrainerCallback

    class MarkEpochs(TrainerCallback):
        """Marks the end of each epoch."""

        def on_epoch_end(self, args, state, control, **kwargs):
            """Called by the Trainer; state.epoch is a float."""
            del args, control, kwargs
            epoch(round(state.epoch) - 1)

    return MarkEpochs()


def predict(program="dlest", **options):
    """The JSON document of ``dlest predict`` as a dictionary.

    Options are those of the command, with ``_`` for ``-``; True stands for one
    without a value. Raises Error where dlest refuses.
    """
    words = [program, "predict", "--format", "json"]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(done.stderr.strip() or "dlest failed", done.returncode)
    return json.loads(done.stdout)
