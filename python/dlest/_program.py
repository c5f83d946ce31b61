# SPDX-License-Identifier: GPL-3.0-or-later
"""The program dlest: where it is, its options, its answers and its errors."""

import json
import os
import shutil
import subprocess
import sysconfig
from typing import Any, Dict, List, Optional, Union

Document = Dict[str, Any]
"""A JSON document of the program; its schemas are in share/dlest/schemas."""


class Error(RuntimeError):
    """An error of dlest, in its words.

    ``status`` is the exit status: 1 the system failed, 2 wrong usage, 3 invalid
    input. ``document`` is what was printed all the same: the good rows of a
    table with bad ones; else None.
    """

    def __init__(self, message: str, status: int,
                 document: Optional[Document] = None) -> None:
        super().__init__(message)
        self.status = status
        self.document = document


class OverBudget(Error):
    """The energy is over ``budget_kwh``; ``document`` is the whole answer."""


def _scripts() -> List[str]:
    """Folders of programs that belong to this installation of Python."""
    schemes = [sysconfig.get_default_scheme()
               if hasattr(sysconfig, "get_default_scheme") else None,
               os.name + "_user"]
    folders = [sysconfig.get_path("scripts", s) if s else
               sysconfig.get_path("scripts") for s in schemes]
    # pip install --target FOLDER, and an installation moved elsewhere
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return folders + [os.path.join(here, "bin")]


def program() -> str:
    """The path of the program: $DLEST_PROGRAM, installed with this module, or
    on PATH."""
    chosen = os.environ.get("DLEST_PROGRAM")
    if chosen:
        return chosen
    for folder in _scripts():
        path = os.path.join(folder, "dlest")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    path_found = shutil.which("dlest")
    if path_found:
        return path_found
    raise Error("dlest is neither installed with this module nor on PATH; set "
                "DLEST_PROGRAM to its path", 1)


def words_of(options: Dict[str, Any]) -> List[str]:
    """The options of a call as words of a command line.

    ``_`` stands for ``-``, and one at the end is left out (``from_``). True is an option without a value; None and False
    leave it out. Items of a list are joined by commas; a dictionary repeats the
    option with NAME=VALUE.
    """
    words: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, dict):
            words += ["%s=%s=%s" % (option, k, v) for k, v in value.items()]
        elif isinstance(value, (list, tuple)):
            words.append("%s=%s" % (option, ",".join(map(str, value))))
        else:
            words.append("%s=%s" % (option, value))
    return words


def refuse(options: Dict[str, Any], *names: str) -> None:
    """Refuses options that the module sets itself."""
    for name in names:
        if name in options:
            raise TypeError("%s is set by the module" % name)


def error_of(text: str) -> str:
    """The errors among the lines of standard error; "" without one."""
    begins = ("dlest: warning: ", "dlest: note: ")
    return "\n".join(line for line in text.splitlines()
                     if line.startswith("dlest: ")
                     and not line.startswith(begins))


def failure(text: str, status: int,
            document: Optional[Document] = None) -> Error:
    """The exception for an exit status."""
    message = error_of(text) or text.strip() or \
        "dlest ended with status %d" % status
    return (OverBudget if status == 4 else Error)(message, status, document)


def ask(command: str, words: List[str], options: Dict[str, Any]) -> Document:
    """The JSON document of a command; raises Error where dlest refuses."""
    refuse(options, "format", "output")
    call = [program(), command] + words + ["--format=json"] + words_of(options)
    try:
        done = subprocess.run(call, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, encoding="utf-8",
                              check=False)
    except OSError as e:
        raise Error("%s: %s" % (call[0], e.strerror), 1) from e
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = None
    if done.returncode != 0 or not isinstance(document, dict):
        raise failure(done.stderr, done.returncode or 1, document)
    return document


def predict(*words: str, **options: Any) -> Document:
    """``dlest predict`` before a training or serving.

        dlest.predict("llama-3-8b", "8 x h100", "1T tokens")
        dlest.predict(arch="resnet50", gpu="a100", batch_size=64, country="FR")
    """
    return ask("predict", list(words), options)


def recommend(*words: str, **options: Any) -> Document:
    """``dlest recommend``: GPUs, nodes and batch sizes by energy and time.

        dlest.recommend(arch="resnet50", gpu=["a100", "h100"])["choices"]
    """
    return ask("recommend", list(words), options)


def extract(*logs: Union[str, "os.PathLike[str]"], **options: Any) -> Document:
    """``dlest extract``: power logs as runs.

        dlest.extract("gpu-7.csv", set={"arch": "resnet50"})["runs"]
    """
    # A name that begins with "-" is no option.
    names = [os.fspath(log) for log in logs]
    return ask("extract", ["./" + n if n[:1] == "-" and n != "-" else n
                           for n in names], options)
