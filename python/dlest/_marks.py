# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of epochs and phases for the recorder that listens."""

import contextlib
import os
import re
from typing import Iterable, Iterator, Optional, Union

_next_epoch = 0
_phase = "training"


def local_rank() -> int:
    """The number of this process among those that one launcher started on its
    node: torchrun, srun or mpirun."""
    for name in ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK",
                 "MPI_LOCALRANKID", "PALS_LOCAL_RANKID"):
        try:
            return int(os.environ[name])
        except (KeyError, ValueError):
            pass
    return 0


def _mark(line: str = "") -> bool:
    """Tells the recorder; False where nobody records or listens."""
    path = os.environ.get("DLEST_MARKS")
    if not path or local_rank() != 0:
        return False
    try:
        # Never wait for a recorder that has gone.
        marks = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if line:
            os.write(marks, (line + "\n").encode())
    except OSError:
        return False
    finally:
        os.close(marks)
    return True


def recorded() -> bool:
    """Whether a recorder listens to the marks of this process."""
    return _mark()


def epoch(number: Optional[int] = None) -> bool:
    """Marks the end of an epoch: of ``number``, or of the next one."""
    global _next_epoch  # pylint: disable=global-statement
    number = _next_epoch if number is None else int(number)
    _next_epoch = number + 1
    return _mark("epoch %d" % number)


def begin() -> None:
    """Numbers epochs from 0 again."""
    global _next_epoch  # pylint: disable=global-statement
    _next_epoch = 0


def epochs(numbers: Union[int, Iterable[int]]) -> Iterator[int]:
    """Yields the numbers (or 0 to numbers - 1), and marks the end of each."""
    for number in range(numbers) if isinstance(numbers, int) else numbers:
        yield number
        epoch(number)


@contextlib.contextmanager
def measure_epoch(number: Optional[int] = None) -> Iterator[None]:
    """Marks the end of an epoch when the block is over without an error."""
    yield
    epoch(number)


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
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


def samples(number: int) -> bool:
    """Says how many training samples an epoch has."""
    return _mark("samples %d" % number)
