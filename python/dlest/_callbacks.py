# SPDX-License-Identifier: GPL-3.0-or-later
"""Callbacks of frameworks, which measure a training and mark its epochs.

A framework is imported when its callback is made. ``measurement`` of a callback
has the figures after the training. Under ``dlest record`` callbacks mark epochs
only, and ``measurement`` is None.
"""

import importlib
from typing import Any, Dict, Optional

from . import _marks as marks
from . import _trackers as trackers
from ._measure import Meter
from ._measurement import Measurement


class Training:
    """What callbacks of all frameworks do; a part of them."""

    def __init__(self, log_to: trackers.Names, options: Dict[str, Any]) -> None:
        self._meter: Optional[Meter] = None
        self._given = (log_to, options)
        Meter(None, log_to, options)  # refuses wrong options at once
        trackers.find_all(log_to)
        self.measurement: Optional[Measurement] = None

    def begin(self) -> None:
        """The training begins."""
        self.end()
        marks.begin()
        if not marks.recorded():
            log_to, options = self._given
            self._meter = Meter(None, log_to, options).start()

    def end(self) -> Dict[str, float]:
        """It ends, well or not; returns its metrics."""
        meter, self._meter = self._meter, None
        if meter is None:
            return {}
        self.measurement = meter.stop().outcome
        return self.measurement.metrics() if self.measurement else {}


def _module(*names: str) -> Any:
    """The first module of these that is installed."""
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return importlib.import_module(names[-1])


def keras_callback(*, log_to: trackers.Names = None, **options: Any) -> Any:
    """A callback for ``fit`` of Keras; options are those of ``measure``.

        meter = dlest.keras_callback(country="FR")
        model.fit(x, y, callbacks=[meter])
        print(meter.measurement.energy_j)
    """
    base: Any = _module("keras.callbacks", "tensorflow.keras.callbacks").Callback

    class Measure(Training, base):  # type: ignore[misc]
        """Measures ``fit``."""

        def __init__(self) -> None:
            base.__init__(self)
            Training.__init__(self, log_to, options)

        def on_train_begin(self, logs: Any = None) -> None:
            """Called by Keras."""
            del logs
            self.begin()

        def on_epoch_end(self, number: int, logs: Any = None) -> None:
            """Called by Keras."""
            del logs
            marks.epoch(number)

        def on_train_end(self, logs: Any = None) -> None:
            """Called by Keras."""
            del logs
            self.end()

    return Measure()


def lightning_callback(*, log_to: trackers.Names = None, **options: Any) -> Any:
    """A callback for the Trainer of PyTorch Lightning, whose loggers get the
    figures; options are those of ``measure``."""
    base: Any = _module("lightning.pytorch", "pytorch_lightning").Callback

    class Measure(Training, base):  # type: ignore[misc]
        """Measures ``fit``."""

        def __init__(self) -> None:
            base.__init__(self)
            Training.__init__(self, log_to, options)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            """Called by Lightning, of each process."""
            del trainer, pl_module
            self.begin()

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            """Called by Lightning, of each process."""
            del pl_module
            marks.epoch(trainer.current_epoch)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            """Called by Lightning."""
            del pl_module
            metrics = self.end()
            for logger in trainer.loggers if metrics else []:
                logger.log_metrics(metrics, step=trainer.global_step)

        def on_exception(self, trainer: Any, pl_module: Any,
                         exception: BaseException) -> None:
            """Called by Lightning."""
            del trainer, pl_module, exception
            self.end()

    return Measure()


def transformers_callback(*, log_to: trackers.Names = None,
                          **options: Any) -> Any:
    """A callback for the Trainer of Hugging Face Transformers, whose
    ``state.log_history`` gets the figures; options are those of ``measure``.

        trainer.add_callback(dlest.transformers_callback(country="FR"))
    """
    base: Any = _module("transformers").TrainerCallback

    class Measure(Training, base):  # type: ignore[misc]
        """Measures ``train``."""

        def __init__(self) -> None:
            base.__init__(self)
            Training.__init__(self, log_to, options)

        def on_train_begin(self, args: Any, state: Any, control: Any,
                           **kwargs: Any) -> None:
            """Called by the Trainer."""
            del args, state, control, kwargs
            self.begin()

        def on_epoch_end(self, args: Any, state: Any, control: Any,
                         **kwargs: Any) -> None:
            """Called by the Trainer; state.epoch is a float."""
            del args, control, kwargs
            marks.epoch(round(state.epoch) - 1)

        def on_train_end(self, args: Any, state: Any, control: Any,
                         **kwargs: Any) -> None:
            """Called by the Trainer."""
            del args, control, kwargs
            metrics = self.end()
            if metrics:
                state.log_history.append(dict(metrics, step=state.global_step))

    return Measure()
