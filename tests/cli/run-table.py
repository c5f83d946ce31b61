#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a table of checks of the command line: a .test file. It prints TAP.

usage: run-table.py FILE.test [NAME]     NAME: tests whose name contains it

A table has one line per check: ARGUMENTS | FILTER => VALUE

    with predict --gpu a100 --duration 10h --format json -q

    == a country: its grid, with year and source
    --country france
      | .grid => "fr"
      | .intensity_year >= 2021 and
        (.intensity_source | test("Ember"))
      | .estimates[0].co2e_g ~ 4 * .intensity_g_kwh
    --country nowhere | refused 2 => --country: $(message not_known nowhere)

`== NAME` begins a test. It runs in an empty folder. Lines before the first one
hold for every test. A line that begins with blanks continues the line before
it; with blanks and `|`, it is one more check of the same run. A check without
arguments before it is of what `with` says. A line that begins with # is a
comment. The lines are:

with ARGUMENTS      stand before the arguments of the runs that follow
file NAME <<END     writes the lines up to END into that file
copy NAME FROM      copies a file into the folder; a folder: its files
env NAME=VALUE      sets a variable for the runs that follow
let NAME = ARGUMENTS | FILTER
                    keeps a value of a run; later filters call it $NAME
ARGUMENTS           runs dlest, and checks that it succeeds and prints
                    nothing on standard error
ARGUMENTS | CHECK   the same, and this check

In ARGUMENTS and in lines with a keyword, $SRC is the top of the sources, $BUILD
of the build and $DIR the folder of the test. Two equal runs of a test are one
process, unless a file or a variable has changed between them.

A CHECK is one of these, where FILTER is one of jq on the JSON of the run (on
{text, csv} where it printed no JSON; csv is a list of rows, .csv[0].energy_j is
a cell of the first):

FILTER              is neither false nor null
FILTER => JSON      is equal to this value
FILTER ~ EXPRESSION is within 1e-12 of the other filter; `~ EXPRESSION within
                    1e-3` has another relative tolerance
status => N         the exit status. It is 0 where no check names it
err => TEXT         standard error is this text. It is empty where no check
                    names it; `err ignored` accepts any
err has TEXT        holds it; `err lacks TEXT`, `err matches PATTERN`,
                    `err line TEXT`: one of its lines is this text
out => TEXT         the same of standard output: out has, lacks, matches
out lines N         it has so many lines; also err lines
schema NAME         the JSON is as schemas/NAME.json says, with no further keys;
                    skipped where Python has no jsonschema
refused N => TEXT   exit status N, the error `dlest: TEXT` and no output

In TEXT, $(message KEY ARGUMENT...) is a text of tests/messages, and
$(meant NAME...) a suggestion of names; \\n begins a new line.

All filters of a file are evaluated by one process of jq, which takes longer to
start than dlest to run.
"""
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("TOP_SRCDIR") or os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("TOP_BUILDDIR") or os.path.join(SOURCE, "_build")
KEYWORDS = re.compile(r"(with|file|copy|env|let)(?:\s+(.*))?$", re.S)
TEXT_CHECK = re.compile(r"(out|err) +(=>|has|lacks|lines?|matches|ignored) ?(.*)$", re.S)


SKIP = "no jsonschema for Python (Debian: python3-jsonschema)"


class Wrong(Exception):
    """An error of the table itself."""


class Run:
    """One process of dlest."""

    def __init__(self, arguments, line):
        self.arguments, self.line = arguments, line
        self.status = self.out = self.err = None
        self.number = None  # its place among the documents
        self.expected = set()  # which of status and err a check names


class Test:
    def __init__(self, name):
        self.name, self.runs, self.checks, self.lets = name, [], [], []
        self.faults, self.skipped = [], None


# --- texts of messages

def read_messages():
    with open(os.path.join(SOURCE, "tests", "messages")) as f:
        return dict(line.rstrip("\n").split("\t", 1) for line in f)


def message(key, *arguments):
    if not message.texts:
        message.texts = read_messages()
    if key not in message.texts:
        raise Wrong("no message '%s' in tests/messages" % key)
    return message.texts[key] % arguments


message.texts = {}


def meant(*names):
    quoted = ["'%s'" % name for name in names]
    text = ", ".join(quoted[:-1])
    return message("did_you_mean",
                   text + " or " + quoted[-1] if text else quoted[0])


def expanded(text):
    """TEXT with its messages; those inside a message are expanded first."""
    inner = re.compile(r"\$\(((?:[^()$'\"]|'[^']*'|\"[^\"]*\"|\$(?!\())*?)\)")
    while True:
        found = inner.search(text)
        if not found:
            return text.replace("\\n", "\n")
        words = shlex.split(found[1])
        call = {"message": message, "meant": meant}.get(words[0])
        if not call:
            raise Wrong("$(%s): expected message or meant" % words[0])
        text = text[:found.start()] + call(*words[1:]) + text[found.end():]


# --- reading

def logical_lines(path):
    """(number, text, body) of each line of a table, continued lines joined;
    body is what a here-document holds."""
    with open(path) as f:
        lines = f.read().split("\n")
    at, joined = 0, []
    while at < len(lines):
        number, line = at + 1, lines[at].rstrip()
        at += 1
        if not line or line.lstrip().startswith("# ") or line == "#":
            continue
        if line[0].isspace():
            text = line.strip()
            if text.startswith("|"):
                joined.append([number, text, None])
            elif joined and joined[-1][2] is None:
                joined[-1][1] += " " + text
            else:
                raise Wrong("%d: nothing to continue" % number)
            continue
        body = None
        if line.startswith("file ") and " <<" in line:
            line, end = line.rsplit(" <<", 1)
            try:
                stop = lines.index(end, at)
            except ValueError:
                raise Wrong("%d: no line '%s'" % (number, end)) from None
            body = "".join(text + "\n" for text in lines[at:stop])
            at = stop + 1
        joined.append([number, line, body])
    return joined


def read(path):
    """The common lines and the tests of a table: (name, lines)."""
    common, tests = [], []
    for line in logical_lines(path):
        if line[1].startswith("== "):
            tests.append((line[1][3:].strip(), []))
        else:
            (tests[-1][1] if tests else common).append(line)
    return common, tests


# --- running

class Runner:
    """Runs the lines of one test."""

    def __init__(self, test, folder):
        self.test, self.folder = test, folder
        self.prefix, self.run, self.known = [], None, {}
        self.environment = dict(os.environ, PWD=folder)

    def words(self, text):
        for name, value in (("$SRC", SOURCE), ("$DIR", self.folder),
                            ("$BUILD", BUILD)):
            text = text.replace(name, value)
        return shlex.split(text)

    def start(self, text, line):
        arguments = tuple(self.prefix + self.words(text))
        if arguments in self.known:
            self.run = self.known[arguments]
            return
        self.run = run = Run(arguments, line)
        done = subprocess.run((os.environ["DLEST"],) + arguments,
                              cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True)
        run.status = done.returncode
        run.out = done.stdout.decode(errors="replace")
        run.err = done.stderr.decode(errors="replace")
        self.test.runs.append(run)
        self.known[arguments] = run

    def keyword(self, word, rest, body, line):
        if word == "with":
            self.prefix = self.words(rest or "")
            self.run = None
        elif word == "let":
            name, _, rest = rest.partition("=")
            arguments, _, what = rest.strip().partition("| ")
            self.start(arguments, line)
            self.test.lets.append((line, name.strip(), self.run, what))
            self.run = None
        else:
            self.known = {}
            if word == "env":
                name, _, value = rest.partition("=")
                self.environment[name] = "".join(self.words(value))
                return
            name, *source = self.words(rest)
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if word == "copy":
                if os.path.isdir(source[0]):
                    shutil.copytree(source[0], path, dirs_exist_ok=True)
                else:
                    shutil.copyfile(source[0], path)
                return
            with open(path, "w") as f:
                f.write(body)

    def line(self, number, text, body):
        found = KEYWORDS.match(text)
        if found:
            self.keyword(found[1], found[2], body, number)
            return
        if text.startswith("|"):
            arguments, check = None, text[1:].strip()
        else:
            arguments, _, check = text.partition(" | ")
        if arguments is not None or self.run is None:
            self.start(arguments or "", number)
        if check.strip():
            self.test.checks.append((number, self.run, check.strip()))


# --- checking

def text_fault(run, what, how, value):
    got = getattr(run, what)
    if how == "ignored":
        return None
    text = expanded(value)
    if how == "=>":
        right = got == (text + "\n" if text else "")
    elif how == "line":
        right = text in got.split("\n")
    elif how == "lines":
        right = got.count("\n") == int(value)
    elif how == "matches":
        right = re.search(value, got, re.M) is not None
    else:
        right = (text in got) == (how == "has")
    return None if right else "std%s is: %s" % (what, got.strip()[:2000])


def refusal_fault(run, status, text):
    if run.status != status:
        return "exit status %d: %s" % (run.status, run.err.strip())
    if run.out:
        return "it printed: " + run.out[:500]
    return text_fault(run, "err", "=>", "dlest: " + text)


def schema_fault(run, name):
    sys.path.insert(0, os.path.join(SOURCE, "tests"))
    schema = __import__("check-schema")
    if not schema.there():
        return SKIP
    try:
        return "\n".join(schema.faults(
            os.path.join(SOURCE, "schemas", name + ".json"), run.out))
    except ValueError as error:
        return "no JSON: %s" % error


def plain_fault(run, check):
    """The fault of a check that needs no jq: None or a text; False where the
    check is a filter."""
    found = re.match(r"refused (\d+) => (.*)$", check, re.S)
    if found:
        run.expected |= {"status", "err"}
        return refusal_fault(run, int(found[1]), found[2])
    found = re.match(r"status => (\d+)$", check)
    if found:
        run.expected.add("status")
        return None if run.status == int(found[1]) else (
            "exit status %d: %s" % (run.status, run.err.strip()))
    found = re.match(r"schema ([a-z-]+)$", check)
    if found:
        return schema_fault(run, found[1])
    found = TEXT_CHECK.match(check)
    if found:
        run.expected.add(found[1])
        return text_fault(run, *found.groups())
    return False


def document(run):
    try:
        return json.loads(run.out)
    except ValueError:
        rows = list(csv.DictReader(io.StringIO(run.out)))
        return {"text": run.out, "csv": [
            {k: v for k, v in row.items() if k is not None} for row in rows]}


def split_filter(check):
    """(filter, kind, value, tolerance) of a check."""
    what, arrow, value = check.rpartition(" => ")
    if arrow:
        return what, "is", value, 0
    what, tilde, value = check.rpartition(" ~ ")
    if tilde:
        value, _, tolerance = value.partition(" within ")
        return what, "near", value, float(tolerance or 1e-12)
    return check, "true", "null", 0


def evaluate(tests, filters):
    """The outputs of all filters, from one process of jq. Each is on a line of
    its own, by which errors of syntax are found."""
    runs, program, lines = [], [". as $docs |"], [0]
    for test in tests:
        for run in test.runs:
            run.number = len(runs)
            runs.append(document(run))
    program.append("[")
    lines.append(0)
    for test in tests:
        program.append("(")
        lines.append(0)
        for line, name, run, what in test.lets:
            program.append(
                '($docs[%d] | [%s] | if length == 1 then .[0] else error('
                '"$%s has \\(length) values") end) as $%s |' %
                (run.number, what, name, name))
            lines.append(line)
        program.append("[")
        lines.append(0)
        for line, run, what, _, value, _, _ in filters[test]:
            program.append("($docs[%d] | [(try [%s] catch [{error: .}]),"
                           " (try [%s] catch [{error: .}])])," %
                           (run.number, what, value))
            lines.append(line)
        program.append("null]),")
        lines.append(0)
    program.append("null]")
    with tempfile.NamedTemporaryFile("w", suffix=".jq") as f:
        f.write("\n".join(program))
        f.flush()
        done = subprocess.run(["jq", "-c", "-f", f.name], input=json.dumps(runs),
                              capture_output=True, text=True)
    if done.returncode:
        def place(found):
            number = int(found[1]) - 1
            return "line %s" % (lines[number] if number < len(lines) else "?")
        raise Wrong(re.sub(r"line (\d+)", place, done.stderr.strip()))
    return json.loads(done.stdout)


def near(a, b, tolerance):
    return isinstance(a, (int, float)) and isinstance(b, (int, float)) and \
        abs(a - b) <= tolerance * abs(b)


def filter_fault(kind, got, want, tolerance):
    if not got or isinstance(got[-1], dict) and list(got[-1]) == ["error"]:
        return "got %s" % json.dumps(got[:5])
    if kind == "true":
        right = got[-1] is not False and got[-1] is not None
    elif kind == "is":
        right = len(got) == 1 and got == want
    else:
        right = len(got) == 1 and near(got[0], want[0], tolerance)
    return None if right else "got %s" % json.dumps(got)[:500] + (
        ", expected %s" % json.dumps(want)[:500] if kind == "near" else "")


def judge(tests):
    """Fills the faults of the tests; returns how many checks there are."""
    filters = {test: [] for test in tests}
    for test in tests:
        for line, run, check in test.checks:
            fault = plain_fault(run, check)
            if fault is False:
                filters[test].append((line, run) + split_filter(check) +
                                     (check,))
            elif fault == SKIP:
                test.skipped = SKIP
            elif fault:
                test.faults.append((line, run, check, fault))
    outputs = evaluate(tests, filters)
    for test, results in zip(tests, outputs):
        for (line, run, _, kind, _, tolerance, check), (got, want) in zip(
                filters[test], results):
            fault = filter_fault(kind, got, want, tolerance)
            if fault:
                test.faults.append((line, run, check, fault))
        for run in test.runs:
            if "status" not in run.expected and run.status:
                test.faults.append((run.line, run, "status => 0",
                                    "exit status %d" % run.status))
            if "err" not in run.expected and run.err:
                test.faults.append((run.line, run, "err =>", run.err.strip()))
    return sum(len(t.checks) + 2 * len(t.runs) -
               sum(len(r.expected & {"status", "err"}) for r in t.runs)
               for t in tests)


def report(path, tests, count):
    print("1..%d" % len(tests))
    failed = False
    for number, test in enumerate(tests, 1):
        print("%sok %d %s%s" % ("not " if test.faults else "", number, test.name,
                                " # SKIP " + test.skipped if test.skipped else ""))
        for line, run, what, fault in sorted(test.faults, key=lambda f: f[0]):
            failed = True
            print("# %s:%d: %s" % (path, line, what))
            print("#   dlest " + shlex.join(run.arguments))
            for text in fault.split("\n"):
                print("#   " + text)
    print("# %d checks" % count)
    return failed


def prepare_environment():
    """The environment of the tests, where make has not set it."""
    os.environ.setdefault("DLEST", os.path.join(BUILD, "dlest"))
    os.environ.setdefault("DLEST_DATADIR", SOURCE)
    if os.environ.get("DLEST_TEST_ENVIRONMENT"):
        return
    done = subprocess.run(
        ["sh", "-c", '. "$0" && env -0', os.path.join(SOURCE, "tests/environment")],
        capture_output=True, check=True)
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in
                      done.stdout.decode().split("\0") if entry)


def main(path, name=""):
    prepare_environment()
    common, tables = read(path)
    tests = []
    folder = tempfile.mkdtemp(prefix="dlest-table-")
    try:
        for title, lines in tables:
            if name not in title:
                continue
            test = Test(title)
            tests.append(test)
            own = os.path.join(folder, str(len(tests)))
            os.mkdir(own)
            runner = Runner(test, own)
            for line in common + lines:
                runner.line(*line)
        count = judge(tests)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return report(path, tests, count)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except Wrong as wrong:
        print("Bail out! %s: %s" % (sys.argv[1], wrong))
        sys.exit(1)
