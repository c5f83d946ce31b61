# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs dlest once in a folder of its own and judges how it ended."""

import csv
import dataclasses
import html.parser
import io
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

STATUSES = (0, 1, 2, 3, 4)  # the exit statuses that the manual page lists
LIMIT_S = 10  # of CPU time: no command of the cases may take longer
WALL_S = 40  # on a busy machine; longer is a hang
SANITIZERS = (b"AddressSanitizer", b"LeakSanitizer", b"runtime error:",
              b"MemorySanitizer", b"ThreadSanitizer")


@dataclasses.dataclass
class Setup:
    """How a run differs from a plain one."""
    env: dict = dataclasses.field(default_factory=dict)
    drop_env: tuple = ()
    before: object = None  # called in the child, before dlest is started
    closed: tuple = ()  # of the descriptors 0 to 2
    wrapper: tuple = ()  # a command that starts dlest
    kill: tuple = ()  # (signal, seconds after the start)
    stdin: bytes = b""
    limit_s: float = WALL_S


@dataclasses.dataclass
class Run:
    """What a run printed, wrote and ended with."""
    args: list
    status: int  # negative: killed by that signal
    out: bytes
    err: bytes
    files: dict  # {name: content}, what lies in the folder afterwards
    modes: dict
    seconds: float
    timed_out: bool


def populate(folder, files):
    """Writes the input files of a run."""
    os.makedirs(os.path.join(folder, "config"), exist_ok=True)
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)


def read_folder(folder):
    """{name: content} and {name: mode} of the plain files below a folder."""
    files, modes = {}, {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            try:
                with open(path, "rb") as f:
                    files[os.path.relpath(path, folder)] = f.read()
                    modes[os.path.relpath(path, folder)] = \
                        os.fstat(f.fileno()).st_mode
            except FileNotFoundError:
                pass  # another writer has just renamed its temporary file
    return files, modes


class Runner:
    """Starts dlest with inputs of its own."""

    def __init__(self, dlest, source, scratch=None):
        self.dlest = os.path.abspath(dlest)
        self.source = os.path.abspath(source)
        self.scratch = scratch

    def environment(self, folder, setup):
        """The environment of a run: small, so that each is like the other."""
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C",
               "HOME": folder, "XDG_CONFIG_HOME": folder + "/config",
               "DLEST_DATADIR": self.source, "TZ": "UTC",
               "DLEST_SYSFS": "sys", "TMPDIR": folder,
               "TERM": "dumb", "OMP_NUM_THREADS": "1",
               "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
               "UBSAN_OPTIONS": "print_stacktrace=1"}
        env.update(setup.env)
        for name in setup.drop_env:
            env.pop(name, None)
        return env

    def run(self, args, files, setup=None, folder=None, mode=0o755):
        """Runs dlest with those arguments among those files."""
        setup = setup or Setup()
        own = folder is None
        folder = folder or tempfile.mkdtemp(prefix="chaos-", dir=self.scratch)
        os.chmod(folder, mode)
        try:
            if own:
                populate(folder, files)
            return self.start(args, folder, setup)
        finally:
            if own:
                shutil.rmtree(folder, ignore_errors=True)

    def start(self, args, folder, setup):
        """Runs dlest in a folder whose files are there already."""
        def prepare():
            if setup.before:
                setup.before()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 1))
            for fd in setup.closed:
                os.close(fd)
        began = time.monotonic()
        command = [*setup.wrapper, self.dlest, *args]
        with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(folder, setup),
                              preexec_fn=prepare,
                              start_new_session=True) as child:
            if setup.kill:
                try:
                    child.wait(setup.kill[1])
                except subprocess.TimeoutExpired:
                    child.send_signal(setup.kill[0])
            timed_out = False
            try:
                out, err = child.communicate(setup.stdin, setup.limit_s)
            except subprocess.TimeoutExpired:
                timed_out = True
                os.killpg(child.pid, signal.SIGKILL)
                out, err = child.communicate()
        files, modes = read_folder(folder)
        return Run(list(args), child.returncode, out, err, files, modes,
                   time.monotonic() - began, timed_out)


def target_of(args):
    """The file that -o names, or None."""
    return args[args.index("-o") + 1] if "-o" in args else None


def default_outputs(args):
    """The model files that fit and calibrate write where -o names none."""
    ends = {"fit": ".dlest.xml", "calibrate": ".calibrated.xml"}
    return {os.path.splitext(a)[0] + ends[args[0]] for a in args[1:]
            if args[0] in ends and a.endswith(".csv")}


def recordings(args):
    """The files of --trace of dlest record."""
    names = [args[i + 1] for i, a in enumerate(args) if a == "--trace"]
    return {n for name in names
            for n in (name, os.path.splitext(name)[0] + "-epochs.csv")}


class Page(html.parser.HTMLParser):
    """Notes elements that a page should not have, or leaves open."""

    VOID = {"meta", "br", "hr", "link", "img", "input", "col", "rect", "path"}

    def __init__(self):
        super().__init__()
        self.open, self.faults = [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "iframe", "object", "img", "link") or any(
                name.startswith("on") or name in ("src", "href")
                for name, _ in attrs):
            self.faults.append("an element <%s> of the data" % tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append("</%s> ends no element" % tag)


def page_faults(run):
    """What is wrong with a page of --format html."""
    target = target_of(run.args)
    page = run.files.get(target, b"") if target else run.out
    text = page.decode("utf-8", "replace")
    reader = Page()
    reader.feed(text)
    faults = reader.faults + ["<%s> is not closed" % t for t in reader.open]
    if not text.startswith("<!DOCTYPE html>") or \
            not text.endswith("</html>\n") or text.count("<!DOCTYPE") != 1:
        faults.append("the page is not whole")
    if unsafe(page):
        faults.append("control characters in the page")
    return faults[:3]


def judge(run, inputs, may_signal=(), silent=False):
    """The faults of a run, in words; none where the list is empty.

    inputs names the files that were there before; may_signal, the signals that
    the attack itself sent; silent: stderr is closed, so no message can come.
    """
    faults = []
    if run.timed_out:
        faults.append("does not end within %d s" % WALL_S)
    elif run.status in (-signal.SIGXCPU, -signal.SIGKILL) and \
            -run.status not in may_signal:
        faults.append("takes more than %d s of CPU time" % LIMIT_S)
    elif run.status < 0 and -run.status not in may_signal:
        faults.append("killed by %s" % signal.Signals(-run.status).name)
    elif run.status >= 0 and run.status not in STATUSES:
        faults.append("exit status %d is not documented" % run.status)
    if run.status > 0 and not silent and not run.err.strip():
        faults.append("exit status %d without a message" % run.status)
    faults += ["sanitizer: " + word.decode() for word in SANITIZERS
               if word in run.err]
    if unsafe(run.err):
        faults.append("control characters on standard error")
    known = set(inputs) | {target_of(run.args)} | default_outputs(run.args) | \
        recordings(run.args)
    if "html" in run.args and run.status == 0:
        faults += page_faults(run)
    stray = sorted(name for name in run.files if name not in known)
    if stray:
        faults.append("leaves " + ", ".join(stray))
    return faults


def unsafe(text):
    """Whether a terminal would be steered: control characters, or marks that
    change the direction of text."""
    shown = text.decode("utf-8", "replace")
    return any((ord(c) < 32 and c not in "\n\t\r") or 0x7f <= ord(c) < 0xa0 or
               0x202a <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069
               for c in shown)


def same_result(a, b, rtol=1e-9):
    """Whether two runs give the same answer; numbers may differ by rounding."""
    if a.status != b.status:
        return False
    target = target_of(a.args)
    pairs = [(a.out, b.out)]
    if target:
        pairs.append((a.files.get(target), b.files.get(target)))
    return all(x == y or (x is not None and y is not None and
                          alike(load(x), load(y), rtol)) for x, y in pairs)


def load(content):
    """JSON as values, a table as its columns, anything else as its lines."""
    text = content.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        pass
    if text.startswith("<?xml"):
        # The digest of the input in a model file is that of its bytes.
        return re.sub(r' xxh3_128="[0-9a-f]*"', "", text).splitlines()
    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) > 1 and len(rows[0]) > 1 and \
            all(len(row) == len(rows[0]) for row in rows):
        return {row[0]: [number(x) for x in row[1:]] for row in zip(*rows)}
    return text.splitlines()


def number(text):
    """A cell as a number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def alike(a, b, rtol):
    """Whether two values are equal, numbers within rtol. Warnings name lines
    of the input and are left out."""
    if isinstance(a, dict) and isinstance(b, dict):
        return (a.keys() == b.keys() and
                all(alike(a[k], b[k], rtol) for k in a if k != "warnings"))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(
            alike(x, y, rtol) for x, y in zip(a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=rtol, abs_tol=1e-300)
    return a == b
