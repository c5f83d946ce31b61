# SPDX-License-Identifier: GPL-3.0-or-later
"""The attack on recordings: dlest record with sensors of a made sysfs."""

import json
import os
import resource
import shutil
import signal
import tempfile
import threading

import chaos_cases
import chaos_mutations
from chaos_attacks import (OLD, SIGNALS, SYSTEM_CALLS, Trial, limiter, outcome)
from chaos_runs import Setup, judge, populate


def sensors_change(rng, folder, end):
    """Damages, hides or removes files of sensors until the event."""
    names = sorted(chaos_cases.SENSORS)
    while not end.wait(rng.choice([0.01, 0.03, 0.1])):
        name = rng.choice(names)
        path = os.path.join(folder, name)
        try:
            if rng.random() < 0.2:
                os.remove(path)
            else:
                with open(path + "~", "wb") as f:
                    f.write(chaos_mutations.damage_log(
                        rng, chaos_cases.SENSORS[name]))
                os.replace(path + "~", path)
        except OSError:
            pass


def check_recording(ctx, run, torn, constant):
    """What is wrong with a recording: lines, and the energy by extract."""
    content = run.files.get("t.csv", b"")
    lines = [x for x in content.split(b"\n") if not x.startswith(b"#")]
    if not torn and content and not content.endswith(b"\n"):
        yield "the recording ends within a line"
    cells = {x.count(b",") for x in (lines[:-2] if torn else lines[:-1])}
    if len(cells) > 1:
        yield "lines of %s cells in the recording" % sorted(cells)
    read = ctx.runner.run(["extract", "t.csv", "-f", "json"],
                          {"t.csv": content})
    if read.status not in (0, 3):
        yield "extract ends with %d" % read.status
    found = json.loads(read.out)["runs"] if read.status == 0 else []
    if found and constant and found[0]["gpu_energy_j"]:
        watts = found[0]["gpu_energy_j"] / found[0]["duration_s"]
        if abs(watts - 500) > 5:
            yield "%g W of 500 W in the recording" % watts


def attack_record(ctx, rng):
    """A recording: sensors that change or vanish, signals, faults of the
    system. What is there of it must be right."""
    args, files = chaos_cases.RECORD, dict(chaos_cases.SENSORS)
    files["row.csv"] = OLD
    what = rng.choice(["sensors", "signal", "memory", "calls", "limit"])
    setup, sent = Setup(), ()
    if what == "signal":
        sent = (rng.choice(SIGNALS[:4]),)
        setup = Setup(kill=(sent[0], rng.random() * 0.4))
    elif what == "memory" and ctx.faults_library:
        setup = Setup(env={"LD_PRELOAD": ctx.faults_library,
                           "FAIL_MALLOC_AT": str(rng.randint(1, 1500))})
    elif what == "calls" and shutil.which("strace"):
        call, error = rng.choice(SYSTEM_CALLS)
        setup = Setup(wrapper=(
            "strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=" + call,
            "-e", "inject=%s:error=%s:when=%d" % (
                call, error, rng.randint(30, 200))))
    elif what == "limit":
        n = rng.choice([0, 100, 400, 4096])
        sent = (signal.SIGXFSZ,)
        setup = Setup(before=limiter(resource.RLIMIT_FSIZE, n))
    folder = tempfile.mkdtemp(prefix="chaos-", dir=ctx.runner.scratch)
    end = threading.Event()
    other = threading.Thread(target=sensors_change, args=(rng, folder, end))
    try:
        populate(folder, files)
        if what == "sensors":
            other.start()
        run = ctx.runner.run(args, files, setup, folder)
        left = [n for n in os.listdir(folder) if n.startswith("dlest-")]
    finally:
        end.set()
        if what == "sensors":
            other.join()
        shutil.rmtree(folder, ignore_errors=True)
    run.files = {n: c for n, c in run.files.items() if not n.endswith("~")}
    faults = judge(run, files, may_signal=sent)
    torn = what in ("calls", "limit")
    faults += list(check_recording(ctx, run, torn, what != "sensors"))
    killed = signal.SIGKILL in sent and run.status == -signal.SIGKILL
    if killed:
        faults = [f for f in faults if not f.startswith("leaves")]
    row = run.files.get("row.csv", b"")
    whole = row == OLD or (row.count(b"\n") == 2 and row.endswith(b"\n"))
    if not whole:
        faults.append("row.csv is neither the old file nor a row")
    if left and not killed and run.status >= 0:
        faults.append("leaves the folder " + left[0])
    return Trial("record", what, args, faults, files, outcome(run))


ATTACKS = {
    "record": (attack_record, "recordings: sensors, signals and the system fail",
               1),
}
