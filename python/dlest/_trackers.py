# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of experiments. A tracker is imported when it is asked for."""

import importlib
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

Write = Callable[[Dict[str, float], Optional[int]], None]
Names = Union[None, str, Iterable[str]]


def _mlflow() -> Write:
    mlflow: Any = importlib.import_module("mlflow")

    def write(metrics: Dict[str, float], step: Optional[int]) -> None:
        # Without an active run MLflow begins one, or goes on with MLFLOW_RUN_ID.
        mlflow.log_metrics(metrics, step=step)

    return write


def _trackio() -> Write:
    trackio: Any = importlib.import_module("trackio")

    def write(metrics: Dict[str, float], step: Optional[int]) -> None:
        trackio.log(metrics, step=step)

    return write


_trackers = {"mlflow": _mlflow, "trackio": _trackio}


def find(name: str) -> Write:
    """What writes metrics to a tracker. Raises ImportError without it."""
    if name not in _trackers:
        raise ValueError("unknown tracker %r; it is one of: %s"
                         % (name, ", ".join(sorted(_trackers))))
    return _trackers[name]()


def find_all(names: Names) -> List[Write]:
    """The same for one name, several or None."""
    if names is None:
        return []
    return [find(n) for n in ([names] if isinstance(names, str) else names)]
