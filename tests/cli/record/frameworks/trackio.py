# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of trackio that begin a run and log; it keeps what it gets."""

run = None
logged = []


def init(project, name=None):
    """Begins a run."""
    global run  # pylint: disable=global-statement
    del name
    run = project


def log(metrics, step=None):
    """Logs to the run."""
    if run is None:
        raise RuntimeError("Call trackio.init() before trackio.log().")
    logged.append((metrics, step))
