# SPDX-License-Identifier: GPL-3.0-or-later
"""The attacks: each yields trials, and a trial lists the faults it found.

An attack is a function of (context, rng) that makes one random trial and
returns it as a Trial: what is done, in words, and the faults.
"""

import dataclasses
import fcntl
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import chaos_cases
import chaos_mutations
import second_device
from chaos_runs import Run, Setup, judge, populate, same_result, target_of


@dataclasses.dataclass
class Trial:
    """One attack: what was done, and what was wrong."""
    case: str
    what: str
    args: list
    faults: list
    files: dict
    outcome: str = ""  # for the table: what dlest did


class Context:
    """What attacks share: the runner, the cases and the plain results."""

    def __init__(self, runner, source, faults_library):
        self.runner = runner
        self.source = source
        self.faults_library = faults_library
        known = runner.run(["list", "importers", "-f", "csv"], {}).out.decode()
        self.cases = chaos_cases.all_cases(
            source, [line.split(",")[0] for line in known.splitlines()[1:]])
        self.examples = chaos_cases.example_files(source)
        self.plain_runs = {}
        self.lock = threading.Lock()
        self.options = None

    def plain(self, case):
        """The run of a case without any attack."""
        with self.lock:
            run = self.plain_runs.get(case.name)
        if not run:
            run = self.runner.run(case.args, case.files,
                                  Setup(stdin=case.stdin))
            with self.lock:
                self.plain_runs[case.name] = run
        return run

    def command_options(self):
        """{command: [(option, takes a value)]}, as --help prints them."""
        with self.lock:
            if self.options is None:
                top = self.runner.run(["--help"], {}).out.decode()
                names = re.findall(r"^  ([a-z]+)  ", top, re.M)
                self.options = {}
                for name in names:
                    text = self.runner.run([name, "--help"], {}).out.decode()
                    self.options[name] = sorted(
                        {(m[0], bool(m[1])) for m in
                         re.findall(r"(--[a-z][a-z-]*)(\[?=)?", text)})
        return self.options


def outcome(run):
    """What dlest did, in the words of the table of faults."""
    if run.timed_out:
        return "did not end"
    if run.status < 0:
        return "ended by the signal"
    return {0: "answered", 1: "refused: the system failed",
            2: "refused: wrong usage", 3: "refused: bad input",
            4: "answered: over the budget"}.get(run.status, "undocumented")


def attack_input(ctx, rng):
    """A file damaged in its own structure."""
    case = rng.choice([c for c in ctx.cases if c.kinds] +
                      list(chaos_cases.timed_cases()))
    name = rng.choice(sorted(case.kinds))
    files = dict(case.files)
    files[name] = chaos_mutations.damage(case.kinds[name], rng, files[name])
    run = ctx.runner.run(case.args, files)
    return Trial(case.name, "a damaged " + name, case.args,
                 judge(run, files), files, outcome(run))


def attack_meaning(ctx, rng):
    """A file written otherwise, with the same meaning."""
    case = rng.choice([c for c in ctx.cases if c.kinds])
    name = rng.choice(sorted(case.kinds))
    files = dict(case.files)
    changed = chaos_mutations.restyle(case.kinds[name], rng, files[name])
    if changed is None:
        return None
    files[name] = changed
    run = ctx.runner.run(case.args, files)
    faults = judge(run, files)
    if not same_result(ctx.plain(case), run):
        faults.append("another result for the same content")
    return Trial(case.name, "the same %s in another form" % name, case.args,
                 faults, files, outcome(run))


def attack_devices(ctx, rng):
    """A second device under the identifier of the first."""
    case = rng.choice([c for c in ctx.cases if c.args[:3] ==
                       ["extract", "log.txt", "--from"]])
    changed = chaos_mutations.second_device(rng, case.args[3],
                                            case.files["log.txt"])
    plain = ctx.plain(case)
    if changed is None or plain.status != 0:
        return None
    files = dict(case.files)
    files["log.txt"], times = changed
    run = ctx.runner.run(case.args, files)
    faults = judge(run, files)
    if run.status == 0:
        one, two = (json.loads(r.out)["runs"] for r in (plain, run))
        faults += second_device.faults(
            one, two, run.err.decode("utf-8", "replace").splitlines(), times)
    return Trial(case.name, "a second device of %g times the power" % times,
                 case.args, faults, files, outcome(run))


def attack_options(ctx, rng):
    """Options with hostile values."""
    args = chaos_cases.option_case(rng, ctx.command_options())
    if any("\x00" in a for a in args):
        return None
    run = ctx.runner.run(args, ctx.examples)
    inputs = set(ctx.examples)
    faults = [f for f in judge(run, inputs)
              if not (f.startswith("leaves") and re.search(
                  "--predictions|--means", " ".join(args)))]
    return Trial("options", "hostile options", args, faults, ctx.examples,
                 outcome(run))


def attack_memory(ctx, rng):
    """The N-th allocation fails."""
    if not ctx.faults_library:
        return None
    case = rng.choice([c for c in ctx.cases if "onnx" not in c.name])
    n = rng.choice([rng.randint(1, 200), rng.randint(1, 2000)])
    run = ctx.runner.run(case.args, case.files, Setup(env={
        "LD_PRELOAD": ctx.faults_library, "FAIL_MALLOC_AT": str(n)}))
    faults = judge(run, case.files)
    plain = ctx.plain(case)
    if run.status != 1 and not same_result(plain, run):
        faults.append("exit status %d, another result" % run.status)
    return Trial(case.name, "allocation %d fails" % n, case.args, faults,
                 case.files, outcome(run))


SYSTEM_CALLS = [("read", "EINTR"), ("read", "EIO"), ("write", "EINTR"),
                ("write", "ENOSPC"), ("write", "EIO"), ("openat", "EMFILE"),
                ("openat", "EINTR"), ("fsync", "EIO"), ("close", "EIO"),
                ("rename", "EACCES"), ("fstat", "EIO"),
                ("newfstatat", "EIO")]


def attack_calls(ctx, rng):
    """A system call fails or is interrupted, by strace's fault injection."""
    if not shutil.which("strace"):
        return None
    case = rng.choice(ctx.cases)
    call, error = rng.choice(SYSTEM_CALLS)
    # The loader's own calls come first: a fault there is not dlest's.
    when = rng.randint(1, 60 if call in ("read", "write") else 40)
    run = ctx.runner.run(case.args, case.files, Setup(wrapper=(
        "strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=" + call, "-e",
        "inject=%s:error=%s:when=%d" % (call, error, when))))
    if run.status == 127 or b"error while loading shared libraries" in run.err:
        return None
    faults = judge(run, case.files)
    if run.status == 0 and not same_result(ctx.plain(case), run):
        faults.append("exit status 0 and another result")
    # Linux interrupts a call only for a signal that is handled, and dlest's
    # handlers end it: an error is as good an answer as the result.
    return Trial(case.name, "%s number %d gives %s" % (call, when, error),
                 case.args, faults, case.files, outcome(run))


OLD = b"the old content\n"
SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
           signal.SIGPIPE]


def check_target(run, plain, target, faults, same=same_result):
    """The file of -o holds the old content or the whole new one."""
    now = run.files.get(target)
    if now == OLD:
        return
    whole = Run(run.args, plain.status, plain.out, b"", {target: now}, {}, 0,
                False)
    if now is None or not same(plain, whole):
        faults.append("%s is neither the old file nor the new one" % target)


def attack_signals(ctx, rng):
    """A signal at a random moment, while a file is replaced."""
    case = rng.choice([c for c in ctx.cases if target_of(c.args)])
    target = target_of(case.args)
    sent = rng.choice(SIGNALS)
    plain = ctx.plain(case)
    files = dict(case.files)
    files[target] = OLD
    delay = rng.random() * max(plain.seconds, 0.02) * 1.2
    run = ctx.runner.run(case.args, files, Setup(kill=(sent, delay)))
    faults = judge(run, files, may_signal=(sent,))
    if sent == signal.SIGKILL:  # nothing can be tidied up then
        faults = [f for f in faults if not f.startswith("leaves")]
    check_target(run, plain, target, faults)
    return Trial(case.name, "%s after %.1f ms" % (sent.name, 1e3 * delay),
                 case.args, faults, files, outcome(run))


def same_length(a, b):
    """Whether two runs wrote the same words, numbers aside: with little memory
    another BLAS is used, which rounds otherwise."""
    def words(run):
        return re.sub(rb"[-+0-9.e]+", b"0", run.files[target_of(run.args)])
    return a.status == b.status and words(a) == words(b)


def limiter(what, value):
    """Sets a limit in the child."""
    return lambda: resource.setrlimit(what, (value, value))


def attack_limits(ctx, rng):
    """Limits of memory, of open files and of the size of files."""
    case = rng.choice(ctx.cases)
    which = rng.randrange(3)
    if which == 0:
        mib = rng.choice([48, 64, 80, 100, 128, 160, 200, 400])
        setup, what = Setup(before=limiter(resource.RLIMIT_AS, mib << 20)), \
            "%d MiB of address space" % mib
    elif which == 1:
        n = rng.randint(3, 12)
        setup, what = Setup(before=limiter(resource.RLIMIT_NOFILE, n)), \
            "%d open files" % n
    else:
        n = rng.choice([0, 1, 100, 4096])
        setup, what = Setup(before=limiter(resource.RLIMIT_FSIZE, n)), \
            "files of %d bytes" % n
    target = target_of(case.args)
    files = dict(case.files)
    if target:
        files[target] = OLD
    run = ctx.runner.run(case.args, files, setup)
    if run.status == 127 or b"error while loading shared" in run.err:
        return None
    faults = judge(run, files, may_signal=(signal.SIGXFSZ,))
    plain = ctx.plain(case)
    if target:
        check_target(run, plain, target, faults, same_length)
    elif run.status == 0 and not same_result(plain, run, 1e-6):
        faults.append("exit status 0 and another result")
    return Trial(case.name, what, case.args, faults, files, outcome(run))


def shrink_output():
    """Makes standard output a pipe of one page that does not block: writes are
    short or fail with EAGAIN."""
    fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(1, False)


def attack_descriptors(ctx, rng):
    """Standard streams that are closed, or take only a part of what is
    written."""
    case = rng.choice(ctx.cases)
    if rng.random() < 0.25:
        run = ctx.runner.run(case.args, case.files,
                             Setup(before=shrink_output))
        faults = judge(run, case.files)
        if run.status == 0 and not same_result(ctx.plain(case), run):
            faults.append("exit status 0 and another result")
        return Trial(case.name, "short writes", case.args, faults, case.files,
                     outcome(run))
    closed = tuple(fd for fd in (0, 1, 2) if rng.random() < 0.5) or (2,)
    run = ctx.runner.run(case.args, case.files, Setup(closed=closed))
    faults = judge(run, case.files, silent=2 in closed)
    plain, target = ctx.plain(case), target_of(case.args)
    if target and plain.status == 0 and run.status == 0 and \
            run.files.get(target) is not None and not same_result(
                plain, Run(run.args, 0, plain.out, b"", run.files, {}, 0,
                           False)):
        faults.append("another content of %s" % target)
    if not target and 1 in closed and run.status == 0 and plain.out:
        faults.append("exit status 0 without an output")
    return Trial(case.name, "closed: " + ", ".join(map(str, closed)), case.args,
                 faults, case.files, outcome(run))


ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
         "Pacific/Apia", ":/no/such", "\x1b", "<+99>-99"]


def attack_environment(ctx, rng):
    """Locales, time zones, terminals, no home."""
    case = rng.choice(ctx.cases)
    env, drop = {}, []
    what = rng.randrange(5)
    if what == 0:
        env["LC_ALL"] = rng.choice(ctx.locales)
    elif what == 1:
        env["TZ"] = rng.choice(ZONES)
    elif what == 2:
        env["TERM"] = rng.choice(["dumb", "", "xterm-256color", "\x1b[31m"])
        env["COLUMNS"] = rng.choice(["0", "-1", "1", "99999999999", "x"])
    elif what == 3 and not any(n.startswith("config") for n in case.files):
        drop = ["HOME", "XDG_CONFIG_HOME"]
    else:
        env["LANG"] = rng.choice(["xx_XX", "C.UTF-8", "a" * 4000])
        drop = ["LC_ALL"]
    if ctx.locale_path:
        env["LOCPATH"] = ctx.locale_path
    run = ctx.runner.run(case.args, case.files,
                         Setup(env=env, drop_env=tuple(drop)))
    faults = judge(run, case.files)
    # A zone changes the dates that are printed, never the energies.
    if what != 1 and not same_result(ctx.plain(case), run):
        faults.append("another result")
    return Trial(case.name, " ".join("%s=%r" % p for p in sorted(env.items()) if
                                     p[0] != "LOCPATH") or "no HOME", case.args,
                 faults, case.files, outcome(run))


NOBODY = 65534


def become(uid):
    """Gives up the rights of root in the child."""
    def change():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
    return change


def attack_user(ctx, rng):
    """A user without rights: in a folder of one's own, in one that cannot be
    written, with an input that cannot be read."""
    case = rng.choice(ctx.cases)
    target = target_of(case.args)
    plain, files = ctx.plain(case), dict(case.files)
    if target:
        files[target] = OLD
    folder = tempfile.mkdtemp(prefix="chaos-", dir=ctx.runner.scratch)
    denied = rng.choice(["nothing", "writing", "reading"])
    hidden = rng.choice(sorted(case.files)) if case.files else None
    try:
        populate(folder, files)
        for at, _, names in os.walk(folder):
            for path in [at] + [os.path.join(at, n) for n in names]:
                if os.getuid() == 0:
                    os.chown(path, NOBODY, NOBODY)
        if denied == "reading" and hidden:
            os.chmod(os.path.join(folder, hidden), 0)
        run = ctx.runner.run(
            case.args, files, Setup(before=become(NOBODY)), folder,
            0o555 if denied == "writing" else 0o755)
    except PermissionError:  # dlest itself is out of that user's reach
        return None
    finally:
        os.chmod(folder, 0o755)
        shutil.rmtree(folder, ignore_errors=True)
    faults = judge(run, files)
    if denied == "reading" and hidden:
        # The rest may be read; the message says what could not be.
        if run.status == 0 and not same_result(plain, run) and \
                os.path.basename(hidden).encode() not in run.err:
            faults.append("another result, and no word of %s" % hidden)
    elif target:
        check_target(run, plain, target, faults)
    if run.status == 0 and denied == "nothing" and not target and \
            not same_result(plain, run):
        faults.append("another result")
    if run.status == 0 and denied == "writing" and target and \
            run.files.get(target) == OLD:
        faults.append("exit status 0, and nothing was written")
    return Trial(case.name, "not root, %s denied" % denied, case.args, faults,
                 files, outcome(run))


def attack_writers(ctx, rng):
    """Several processes write one file at once."""
    case = rng.choice([c for c in ctx.cases if target_of(c.args)])
    target, plain = target_of(case.args), ctx.plain(case)
    folder = tempfile.mkdtemp(prefix="chaos-", dir=ctx.runner.scratch)
    try:
        files = dict(case.files)
        files[target] = OLD
        populate(folder, files)
        runs = [None] * 4

        def write(i):
            runs[i] = ctx.runner.run(case.args, files, folder=folder)
        threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        last = ctx.runner.run(["--version"], {}, folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    faults = [f for run in runs for f in judge(run, run.files)]
    faults += [f for f in judge(last, files) if f.startswith("leaves")]
    last.args = case.args
    check_target(last, plain, target, faults)
    return Trial(case.name, "4 writers", case.args, faults, files,
                 outcome(runs[0]))


def attack_pipes(ctx, rng):
    """Input through a pipe, in pieces of a few bytes."""
    choices = [c for c in ctx.cases if len(c.kinds) == 1 and
               c.args[0] in ("extract", "fit", "compare", "report") and
               "/" not in next(iter(c.kinds))]
    case = rng.choice(choices)
    name = next(iter(case.kinds))
    args = ["-" if a == name else a for a in case.args]
    size = rng.choice([1, 3, 7, 100])
    feeder = ("import os,sys,time\n"
              "d=sys.stdin.buffer.read()\n"
              "for i in range(0,len(d),%d):os.write(1,d[i:i+%d])" % (size, size))
    shell = "%s -c %s | exec \"$0\" \"$@\"" % (
        shlex.quote(sys.executable), shlex.quote(feeder))
    run = ctx.runner.run(args, case.files, Setup(
        wrapper=("sh", "-c", shell), stdin=case.files[name]))
    whole = ctx.runner.run(args, case.files, Setup(stdin=case.files[name]))
    faults = judge(run, case.files)
    if not same_result(whole, run):
        faults.append("another result than in one piece")
    return Trial(case.name, "a pipe of %d bytes at a time" % size, args, faults,
                 case.files, outcome(run))


# Name: attack, what it is called in the table, its share of the trials.
ATTACKS = {
    "input": (attack_input, "damaged input files", 8),
    "meaning": (attack_meaning, "the same content in another form", 3),
    "devices": (attack_devices, "a second device under one identifier", 3),
    "options": (attack_options, "hostile options and formulas", 4),
    "memory": (attack_memory, "allocations that fail", 4),
    "calls": (attack_calls, "system calls that fail or are interrupted", 3),
    "signals": (attack_signals, "signals while a file is written", 3),
    "limits": (attack_limits, "limits of memory, files and sizes", 2),
    "descriptors": (attack_descriptors,
                    "standard streams closed or cut short", 2),
    "environment": (attack_environment, "locales, zones, terminals, no home", 2),
    "user": (attack_user, "not root, files and folders without permission", 1),
    "writers": (attack_writers, "concurrent writers", 1),
    "pipes": (attack_pipes, "pipes that deliver a few bytes", 1),
}


def make_locales(folder):
    """Compiles locales with a decimal comma and a dotless i, where the system
    can; returns their names."""
    names = ["C", "C.UTF-8"]
    for name in ("de_DE", "tr_TR"):
        done = subprocess.run(
            ["localedef", "-i", name, "-f", "UTF-8",
             os.path.join(folder, name + ".UTF-8")],
            capture_output=True, check=False) if shutil.which("localedef") \
            else None
        if done and done.returncode in (0, 1) and os.path.isdir(
                os.path.join(folder, name + ".UTF-8")):
            names.append(name + ".UTF-8")
    return names
