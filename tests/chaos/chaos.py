#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attacks dlest with faults, and fails where it does not stand them.

  chaos.py --dlest _build/dlest --seconds 120 --seed 7

Each trial is drawn from the seed, the name of the attack and a number, so that
one alone can be tried again:

  chaos.py --dlest _build/dlest --seed 7 --attack input --trial 412

A trial passes if dlest ends within 10 s with a documented exit status, with a
message where that is not 0, without a signal but one that was sent, leaves no
file behind, and gives the same result where the meaning was kept. With --keep,
the input files of failures are kept there.
"""

import argparse
import collections
import concurrent.futures
import os
import shlex
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import chaos_attacks  # noqa: E402
import chaos_cases  # noqa: E402
import chaos_record  # noqa: E402
import chaos_runs  # noqa: E402

ATTACKS = {**chaos_attacks.ATTACKS, **chaos_record.ATTACKS}


def arguments():
    """The command line."""
    p = argparse.ArgumentParser(description="Attack dlest with faults.")
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument("--dlest", required=True, help="the program")
    p.add_argument("--source", default=os.path.join(here, "..", ".."),
                   help="the source tree")
    p.add_argument("--faults", metavar="LIB",
                   help="library that makes allocations fail")
    p.add_argument("--seed", type=int, default=None,
                   help="default: one of the clock")
    p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--attack", action="append",
                   choices=sorted(ATTACKS))
    p.add_argument("--trial", type=int, help="this trial alone")
    p.add_argument("--keep", metavar="DIR", help="keep the inputs of failures")
    p.add_argument("--table", metavar="FILE",
                   help="put the table of faults into this Markdown file, "
                   "between its two marks")
    return p.parse_args()


class Tally:
    """What the trials of each attack came to."""

    def __init__(self):
        self.runs = collections.Counter()
        self.failed = collections.Counter()
        self.outcomes = collections.defaultdict(collections.Counter)

    def add(self, attack, trial):
        """Counts a trial."""
        self.runs[attack] += 1
        self.failed[attack] += bool(trial.faults)
        self.outcomes[attack][trial.outcome] += 1

    def table(self, seed):
        """The table of faults, in Markdown."""
        lines = ["| fault | runs | what dlest did | failures |",
                 "|---|---:|---|---:|"]
        for name, (_, words, _) in ATTACKS.items():
            if not self.runs[name]:
                continue
            did = "; ".join("%s %.0f %%" % (what, 100 * n / self.runs[name])
                            for what, n in self.outcomes[name].most_common())
            lines.append("| %s | %d | %s | %d |" % (
                words, self.runs[name], did, self.failed[name]))
        return "\n".join(lines) + "\n\nSeed %d.\n" % seed


MARKS = ("<!-- the table of make chaos -->\n", "<!-- its end -->\n")


def put_table(path, table):
    """Replaces what stands between the marks of a Markdown file."""
    with open(path, encoding="utf-8") as f:
        head, rest = f.read().split(MARKS[0])
    tail = rest.split(MARKS[1])[1]
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + MARKS[0] + table + MARKS[1] + tail)


def keep_inputs(folder, name, trial):
    """Keeps the files of a failure and its command line."""
    where = os.path.join(folder, name)
    chaos_runs.populate(where, trial.files)
    with open(os.path.join(where, "command"), "w", encoding="utf-8",
              errors="surrogateescape") as f:
        f.write("dlest " + shlex.join(trial.args) + "\n")


def one_trial(ctx, seed, attack, number):
    """Makes a trial; None where the attack cannot be made here."""
    rng = chaos_cases.stream(seed, attack, number)
    return ATTACKS[attack][0](ctx, rng)


def report_failure(args, seed, attack, number, trial):
    """Prints how a failure is made again."""
    print("FAILED: %s: %s: %s" % (trial.case, trial.what,
                                  "; ".join(trial.faults)))
    print("  dlest " + shlex.join(trial.args)[:300].encode(
        "unicode_escape").decode())
    print("  again: --seed %d --attack %s --trial %d" % (seed, attack, number),
          flush=True)
    if args.keep:
        keep_inputs(args.keep, "%s-%d" % (attack, number), trial)


def schedule(names):
    """The attacks in turn, each as often as its share, for ever."""
    numbers = collections.Counter()
    turn = [name for name in names
            for _ in range(ATTACKS[name][2])]
    while True:
        for name in turn:
            numbers[name] += 1
            yield name, numbers[name]


def attack_for(args, ctx, seed, tally):
    """Makes trials until the time is over."""
    names = args.attack or list(ATTACKS)
    if args.trial is not None:
        todo = iter([(names[0], args.trial)])
    else:
        todo = schedule(names)
    end = time.monotonic() + args.seconds
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        pending = {}
        more = True
        while pending or more:
            while more and len(pending) < 2 * args.jobs:
                step = next(todo, None)
                more = step is not None and time.monotonic() < end
                if more:
                    pending[pool.submit(one_trial, ctx, seed, *step)] = step
            done, _ = concurrent.futures.wait(
                pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                attack, number = pending.pop(future)
                trial = future.result()
                if trial is None:
                    continue
                tally.add(attack, trial)
                if trial.faults:
                    report_failure(args, seed, attack, number, trial)


def main():
    """Attacks, prints the table, and fails where a trial failed."""
    args = arguments()
    seed = args.seed if args.seed is not None else int(time.time())
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="dlest-chaos-") as scratch:
        os.chmod(scratch, 0o755)
        runner = chaos_runs.Runner(args.dlest, args.source, scratch)
        ctx = chaos_attacks.Context(
            runner, os.path.abspath(args.source),
            os.path.abspath(args.faults) if args.faults else None)
        ctx.locale_path = os.path.join(scratch, "locales")
        os.mkdir(ctx.locale_path)
        ctx.locales = chaos_attacks.make_locales(ctx.locale_path)
        attack_for(args, ctx, seed, tally)
    table = tally.table(seed)
    print(table)
    if args.table:
        put_table(args.table, table)
    failures = sum(tally.failed.values())
    print("%d trials, %d failed" % (sum(tally.runs.values()), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
