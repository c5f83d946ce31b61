# SPDX-License-Identifier: GPL-3.0-or-later
"""Measuring a block, a function or a program by ``dlest record``."""

import atexit
import contextlib
import functools
import inspect
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from typing import (Any, Callable, Dict, List, Optional, Sequence, TypeVar,
                    Union, cast, overload)

from . import _marks as marks
from . import _trackers as trackers
from ._measurement import Measurement
from ._program import (Document, Error, error_of, failure, program, refuse,
                       words_of)

Function = TypeVar("Function", bound=Callable[..., Any])
Report = Callable[[Measurement], None]

START_S = 60.0  # until the recorder has begun
END_S = 60.0    # until it has written its summary


def _read(path: str) -> Optional[Document]:
    """The summary in a file, or None."""
    try:
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _result(document: Optional[Document], text: str, status: int,
            failed: bool) -> Measurement:
    """The measurement of a recorder that has ended."""
    # Without a sensor (allow_none) there is no summary.
    if document is None and (failed or error_of(text)):
        raise failure(text, status)
    return Measurement(document or {}, over_budget=status == 4)


def _write(writers: List[trackers.Write], result: Measurement) -> None:
    """Tells the trackers, whose failures cost no training."""
    for write in writers:
        try:
            write(result.metrics(), None)
        except Exception as e:  # pylint: disable=broad-except
            warnings.warn("the energy was not logged: %s" % e, RuntimeWarning,
                          stacklevel=4)


def _call(summary: str, options: Dict[str, Any]) -> List[str]:
    """The command line of a recorder, whose summary goes to a file."""
    call = [program(), "record", "--format=json", "--output=" + summary]
    if not options.get("trace"):
        call.append("--no-trace")
    return call + words_of(options)


class Recorder:
    """A recorder beside this process, which it measures."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._folder = tempfile.mkdtemp(prefix="dlest-measure-")
        self._summary = os.path.join(self._folder, "summary.json")
        self._errors = os.path.join(self._folder, "errors")
        self._marks = os.path.join(self._folder, "marks")
        self._own_marks = False
        self._pid = os.getpid()
        try:
            self._start(_call(self._summary, options) +
                        ["--pid=%d" % self._pid])
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        atexit.register(self._abandon)

    def _start(self, call: List[str]) -> None:
        os.mkfifo(self._marks, 0o600)
        with open(self._errors, "wb") as errors:
            try:
                # A session of its own: Ctrl-C is for the training.
                self._process = subprocess.Popen(
                    call, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=errors, start_new_session=True,
                    env=dict(os.environ, DLEST_MARKS=self._marks))
            except OSError as e:
                raise Error("%s: %s" % (call[0], e.strerror), 1) from e
        self._await_start()
        if not marks.recorded():
            self._own_marks = True
            self._marks_before = os.environ.get("DLEST_MARKS")
            os.environ["DLEST_MARKS"] = self._marks
            marks.begin()

    def _await_start(self) -> None:
        """Waits until the recorder reads marks: its first sample follows."""
        begun = time.monotonic()
        while time.monotonic() - begun < START_S:
            try:
                os.close(os.open(self._marks, os.O_WRONLY | os.O_NONBLOCK))
                return
            except OSError:
                pass
            if self._process.poll() is not None:
                if self._process.returncode == 0:
                    return  # nothing is measured (allow_none)
                raise failure(self._text(), self._process.returncode)
            time.sleep(0.002)
        self._process.kill()
        self._process.wait()
        raise Error("dlest record did not begin within %.0f s" % START_S, 1)

    def _text(self) -> str:
        with open(self._errors, encoding="utf-8", errors="replace") as f:
            return f.read()

    def _abandon(self) -> None:
        if os.getpid() == self._pid:
            with contextlib.suppress(Error):
                self.stop()

    def stop(self) -> Measurement:
        """Ends the recording."""
        atexit.unregister(self._abandon)
        if self._own_marks and os.environ.get("DLEST_MARKS") == self._marks:
            if self._marks_before is None:
                del os.environ["DLEST_MARKS"]
            else:
                os.environ["DLEST_MARKS"] = self._marks_before
        try:
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            status = self._process.returncode
            return _result(_read(self._summary), self._text(),
                           status if status >= 0 else 1, failed=status != 0)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


class Meter(Measurement):
    """Measures a ``with`` block or each call of a function (``measure``).

    Its figures are known after the block; ``result`` is all of them. Where the
    recorder failed on the way, a warning says so and they raise Error: a
    training is not lost for its measurement.
    """

    def __init__(self, report: Optional[Report], log_to: trackers.Names,
                 options: Dict[str, Any]) -> None:
        super().__init__({})
        refuse(options, "format", "output", "pid", "no_trace")
        if options.get("stop_over_budget"):
            raise TypeError("stop_over_budget: only record() can stop a program")
        self._report = report
        self._log_to = log_to
        self._options = options
        self._recorder: Optional[Recorder] = None
        self._writers: List[trackers.Write] = []
        self._result: Optional[Measurement] = None
        self._error: Optional[Error] = None

    def start(self) -> "Meter":
        """Begins; without ``with``, for programs that begin and end apart."""
        if self._recorder is not None:
            raise RuntimeError("this meter measures already; make another one")
        self._result = self._error = None
        self._writers = trackers.find_all(self._log_to)
        # Sensors see the node: one process of it measures.
        if marks.local_rank() == 0:
            self._recorder = Recorder(self._options)
        return self

    def stop(self) -> "Meter":
        """Ends."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            self._result = self._result or Measurement({})
            return self
        try:
            self._result = recorder.stop()
        except Error as e:
            self._error = e
            warnings.warn("nothing was measured: %s" % e, RuntimeWarning,
                          stacklevel=3)
            return self
        _write(self._writers, self._result)
        if self._report:
            self._report(self._result)
        return self

    def __enter__(self) -> "Meter":
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def outcome(self) -> Optional[Measurement]:
        """What was measured; None where that failed or has not ended."""
        return None if self._error else self._result

    @property
    def result(self) -> Measurement:
        """What was measured."""
        if self._error:
            raise self._error
        if self._recorder is not None or self._result is None:
            raise RuntimeError("the measurement has not ended")
        return self._result

    @property
    def document(self) -> Document:
        """All figures, as ``dlest record --format json`` writes them."""
        return self.result.document

    @property
    def over_budget(self) -> bool:
        """Whether the energy is over ``budget_kwh``."""
        return self.result.over_budget

    def __repr__(self) -> str:
        return repr(self.outcome) if self.outcome else "<Meter>"

    def __call__(self, function: Function) -> Function:
        """Measures each call of a function, which returns what it returned.

        The last call's figures are in this meter and in ``measurement`` of the
        function.
        """
        if inspect.iscoroutinefunction(function) or \
                inspect.isgeneratorfunction(function) or \
                inspect.isasyncgenfunction(function):
            raise TypeError("a call of %s returns before it has run; measure a "
                            "block of it" % function.__name__)

        @functools.wraps(function)
        def measured(*args: Any, **named: Any) -> Any:
            meter = Meter(self._report, self._log_to, self._options)
            try:
                with meter:
                    return function(*args, **named)
            finally:
                self._result, self._error = meter._result, meter._error
                setattr(measured, "measurement", meter.outcome)

        return cast(Function, measured)


@overload
def measure(function: Function) -> Function:
    ...


@overload
def measure(function: None = None, *, report: Optional[Report] = None,
            log_to: trackers.Names = None, **options: Any) -> Meter:
    ...


def measure(function: Optional[Function] = None, *,
            report: Optional[Report] = None, log_to: trackers.Names = None,
            **options: Any) -> Union[Meter, Function]:
    """Measures a block or a function; options are those of ``dlest record``.

        with dlest.measure(country="FR") as meter:
            train()
        print(meter.energy_j, meter.co2e_g)

        @dlest.measure(country="FR", report=print, log_to="mlflow")
        def train(): ...

    ``report`` is called with each ``Measurement``; ``log_to`` names trackers.
    Raises Error where nothing can be measured, unless ``allow_none`` is set. Of
    several processes on a node (torchrun) the one of local rank 0 measures the
    node; figures of the others are None.
    """
    meter = Meter(report, log_to, options)
    return meter if function is None else meter(function)


def record(command: Sequence[Union[str, "os.PathLike[str]"]], *,
           log_to: trackers.Names = None, **options: Any) -> Measurement:
    """Runs a program under ``dlest record``.

        dlest.record(["python3", "train.py"], country="FR").energy_j

    The program has the terminal, the standard streams and the signals; its exit
    status is ``exit_status``. Raises Error where it was not started.
    """
    refuse(options, "format", "output", "pid", "no_trace")
    writers = trackers.find_all(log_to)
    with tempfile.TemporaryDirectory(prefix="dlest-measure-") as folder:
        summary = os.path.join(folder, "summary.json")
        call = _call(summary, options) + ["--"]
        with open(os.path.join(folder, "errors"), "w+", encoding="utf-8",
                  errors="replace") as errors:
            status = _run(call, [os.fspath(c) for c in command],
                          errors.fileno())
            errors.seek(0)
            text = errors.read()
        document = _read(summary)
    result = _result(document, text, status,
                     failed=not options.get("allow_none"))
    if document is None:
        result.document.update(exit_status=status, warnings=text.splitlines())
    _write(writers, result)
    return result


def _run(call: List[str], command: List[str], errors: int) -> int:
    """Runs a recorder to its end, also where Ctrl-C reaches both.

    Its messages go to a file, while the program has standard error, by way of a
    descriptor that a shell gives back.
    """
    kept = 8 if errors == 9 else 9
    if command and shutil.which(command[0]):
        call = call + ["/bin/sh", "-c", 'exec "$@" 2>&%d %d>&-' % (kept, kept),
                       "sh"]
    try:
        pid = os.posix_spawnp(
            call[0], call + command, os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, 2, kept),
                          (os.POSIX_SPAWN_DUP2, errors, 2)],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    except OSError as e:
        raise Error("%s: %s" % (call[0], e.strerror), 1) from e
    try:
        status = os.waitpid(pid, 0)[1]
    except KeyboardInterrupt:
        os.waitpid(pid, 0)
        raise
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) \
        else 128 + os.WTERMSIG(status)
