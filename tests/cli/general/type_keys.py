#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types lines into an interactive shell on a terminal of its own.

    type_keys.py RECORD LINE... -- SHELL [ARG...]

Each LINE (\\t is the key Tab) is one command that appends a line to RECORD.
The shell's start-up file prints READY when it may begin. Exits with 1 where a
command leaves no record within half a minute.
"""

import os
import pty
import select
import signal
import sys
import time

LIMIT_S = 30


def records(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().count("\n")
    except FileNotFoundError:
        return 0


def wait(fd, seen, done):
    """Reads what the terminal shows until done(seen); False: not in time."""
    end = time.monotonic() + LIMIT_S
    while not done(seen) and time.monotonic() < end:
        if select.select([fd], [], [], 0.02)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                return False
    return done(seen)


def main():
    split = sys.argv.index("--")
    record, lines, shell = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp(shell[0], shell)
    seen = bytearray()
    good = wait(fd, seen, lambda s: b"READY" in s)
    for n, line in enumerate(lines, 1):
        if not good:
            break
        os.write(fd, line.replace("\\t", "\t").encode() + b"\n")
        good = wait(fd, seen, lambda s, n=n: records(record) >= n)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if not good:
        sys.stderr.write(seen.decode(errors="replace"))
    return 0 if good else 1


sys.exit(main())
