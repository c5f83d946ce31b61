#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the examples of a text and compare, or update, the output it shows.

usage: run-examples.py [--update] DLEST PAGE.md...
       run-examples.py --help-of DLEST COMMAND...

In blocks marked ```console a line '$ COMMAND' is run and what follows is
its output, standard error included; numbers may differ by one unit in the
last digit behind the point. './bootstrap run' stands for dlest.
A command must end with status 0 unless '$ echo $?' follows it. The blocks of
a page share one scratch directory, laid out as the source tree: data/examples
and data/*.csv.

With --help-of, the lines below 'Examples:' in the help of each command are
run in the same way; they must end with status 0. Their files are the user's
own: the tables of data/examples, means-1.csv and means-2.csv (means of
runs.csv), and a program train.py.

DLEST_DATADIR names the top of the source tree; in output it is shown as the
place of an installed dlest. One TAP line an example.
"""

import difflib
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

INSTALLED = "/usr/local/share/dlest/"


def scratch():
    """A folder laid out as the source tree, and with files of a user."""
    folder = tempfile.mkdtemp(prefix="dlest-examples-")
    data = os.path.join(os.environ["DLEST_DATADIR"], "data")
    here = os.path.join(folder, "data")
    shutil.copytree(os.path.join(data, "examples"),
                    os.path.join(here, "examples"))
    for path in glob.glob(os.path.join(data, "*.csv")):
        shutil.copy(path, here)
    for path in (glob.glob(os.path.join(data, "examples", "*")) +
                 glob.glob(os.path.join(data, "*.csv"))):
        shutil.copy(path, folder)
    with open(os.path.join(folder, "train.py"), "w", encoding="ascii") as f:
        f.write("print('a training')\n")
    return folder


class Shell:
    """Runs commands in a scratch directory, remembering the last status."""

    def __init__(self, dlest):
        self.folder = scratch()
        self.status = 0
        self.prelude = (
            f"dlest() {{ {shlex.quote(os.path.abspath(dlest))} \"$@\"; }}\n"
            "set -o pipefail\n")
        self.run("dlest fit runs.csv --means means-1.csv -q && "
                 "cp means-1.csv means-2.csv")

    def run(self, command):
        """Output and status. 'echo $?' gives the status before."""
        if command == "echo $?":
            return f"{self.status}\n", 0
        command = re.sub(r"^\./bootstrap run ", "dlest ", command)
        env = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", DLEST_PATH="",
                   XDG_CONFIG_HOME=self.folder)  # no catalogues of one's own
        done = subprocess.run(
            ["bash", "-c", self.prelude + "exec 2>&1\n" + command],
            cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, timeout=300, check=False)
        self.status = done.returncode
        output = done.stdout.decode().replace(
            os.environ["DLEST_DATADIR"].rstrip("/") + "/", INSTALLED)
        return output, done.returncode

    def close(self):
        shutil.rmtree(self.folder)


def parse(text):
    """The text as a list of plain strings and of [command lines, output]."""
    parts, block, example = [], False, None
    for line in text.splitlines(keepends=True):
        if block and line.startswith("$ "):
            example = [[line], ""]
            parts.append(example)
        elif block and example and example[0][-1].endswith("\\\n") \
                and not example[1]:
            example[0].append(line)
        elif block and not line.startswith("```"):
            if example is None:
                parts.append(line)
            else:
                example[1] += line
        else:
            block = line.strip() == "```console"
            example = None
            parts.append(line)
    return parts


def command_of(example):
    return "".join(example[0])[2:].replace("\\\n", "").strip()


def tidy(output):
    """As a text shows it: no blanks at the end of lines, none at the end."""
    lines = [line.rstrip() for line in output.splitlines()]
    return "".join(line + "\n" for line in lines)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")


def same(shown, real):
    """Equal texts, but for one unit in the last digit of a number."""
    if NUMBER.sub("0", shown) != NUMBER.sub("0", real):
        return False
    for a, b in zip(NUMBER.findall(shown), NUMBER.findall(real)):
        unit = 10.0 ** -len(a.partition("e")[0].partition(".")[2])
        if a != b and ("." not in a or "e" in a or
                       abs(float(a) - float(b)) > 1.5 * unit):
            return False
    return True


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def line(self, good, name, details=()):
        self.n += 1
        self.failed += not good
        name = name.replace("#", "\\#")
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")
        for detail in details:
            print("#", detail.rstrip("\n"))


def examples_in(path):
    with open(path, encoding="utf-8") as f:
        parts = parse(f.read())
    return parts, [p for p in parts if isinstance(p, list)]


def run_page(dlest, tap, path, update):
    parts, examples = examples_in(path)
    shell = Shell(dlest)
    for i, example in enumerate(examples):
        command = command_of(example)
        output, status = shell.run(command)
        after = examples[i + 1] if i + 1 < len(examples) else None
        told = after is not None and command_of(after) == "echo $?"
        shown, example[1] = example[1], tidy(output)
        details = []
        if status != 0 and not told:
            details.append(f"exit status {status}")
        if not update and not same(shown, example[1]):
            details += difflib.unified_diff(
                shown.splitlines(), example[1].splitlines(), "shown", "real",
                n=1, lineterm="")
        tap.line(not details, f"{os.path.basename(path)}: {command}", details)
    shell.close()
    if update:
        with open(path, "w", encoding="utf-8") as f:
            for part in parts:
                f.write(part if isinstance(part, str)
                        else "".join(part[0]) + part[1])


def run_pages(dlest, paths, update):
    tap = Tap()
    print(f"1..{sum(len(examples_in(path)[1]) for path in paths)}")
    for path in paths:
        run_page(dlest, tap, path, update)
    return tap.failed


def help_examples(dlest, command):
    env = dict(os.environ, COLUMNS="1000")
    text = subprocess.run([dlest, command, "--help"], env=env, check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    _, _, after = text.partition("Examples:\n")
    after = after.replace(" \\\n", " ")  # commands on several lines
    return [line.strip() for line in after.splitlines()
            if line.startswith("  dlest ")]


def run_help(dlest, commands):
    examples = [e for c in commands for e in help_examples(dlest, c)]
    shell, tap = Shell(dlest), Tap()
    print(f"1..{len(examples)}")
    for example in examples:
        output, status = shell.run(example)
        tap.line(status == 0, example,
                 [f"exit status {status}"] + output.splitlines()[-5:]
                 if status else [])
    shell.close()
    return tap.failed


def main():
    args = sys.argv[1:]
    if "DLEST_DATADIR" not in os.environ:
        sys.exit("run-examples.py: DLEST_DATADIR is not set; set it to the "
                 "top of the source tree")
    if len(args) >= 3 and args[0] == "--help-of":
        return 1 if run_help(args[1], args[2:]) else 0
    update = args[:1] == ["--update"]
    if len(args) < 2 + update:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    return 1 if run_pages(args[update], args[update + 1:], update) else 0


if __name__ == "__main__":
    sys.exit(main())
