#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of src/: prints how much code runs for three usual tasks, and how
large functions, files and folders are, as a table in Markdown.

  shape.py                the table
  shape.py --check        exit status 1 where a limit is broken
  shape.py --sizes-only   without what needs a build
  shape.py --list WHAT    what is behind a number: the functions that a task
                          (predict, line, fit) calls, or another list

Functions called are counted by gcov in a build (-O0 --coverage) of a copy of
the sources in --build; a later call builds only what has changed. A function
counts if src/ defines it and the process enters it, from main to the end.
"""

import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

# At most; of comments, at least.
LIMITS = {
    "comments": 0.10,  # of the lines with code or comments
    "parameters": 6,
    "function": 60, "file": 500,  # lines
    "folder": 20,  # files
    "names": 0, "circles": 0,
}

# The tasks, and what dlest is called with; build makes the files.
CASES = {
    "predict": ("a prediction", "predict --arch resnet50 --gpu a100 -q"),
    "line": ("a line of a log to a run", "extract log.csv -f csv"),
    "fit": ("a run to a coefficient",
            "fit runs.csv --method physical --cv kfold:2 -f csv"),
}
LISTS = ("circles", "files", "folders", "functions", "names", "params", "tags")
LOG = ("timestamp, power.draw [W]", "2024/03/05 09:30:00.000, 31.00 W",
       "2024/03/05 09:30:01.002, 118.52 W", "2024/03/05 09:30:02.004, 203.10 W")


class Failure(Exception):
    """What cannot be measured, in words for the user."""


def command(args, **more):
    """The output of a program that must succeed."""
    if not shutil.which(args[0]):
        raise Failure("cannot run %s: is it installed?" % args[0])
    done = subprocess.run(args, capture_output=True, text=True, check=False,
                          errors="replace", **more)
    if done.returncode != 0:
        raise Failure("failed with exit status %d: %s\n%s" % (
            done.returncode, " ".join(args)[:200], done.stderr[-2000:]))
    return done.stdout


def copy_sources(source, tree):
    """Copies what is built, so that nothing is written beside the sources: they
    may be configured in place, and make may run automake anew."""
    os.makedirs(tree + "/tests", exist_ok=True)
    for name in ("src", "build-aux", "Makefile.am", "Makefile.in", "aclocal.m4",
                 "config.h.in", "configure", "configure.ac", "tests/local.mk"):
        here, copy = os.path.join(source, name), os.path.join(tree, name)
        if os.path.isdir(here):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(here, copy,
                            ignore=shutil.ignore_patterns("*.o", ".deps"))
        elif os.path.exists(here):
            shutil.copy2(here, copy)


def build(source, folder):
    """Builds dlest with counters; writes a log and four runs for the tasks."""
    tree, objects = folder + "/tree", folder + "/objects"
    copy_sources(source, tree)
    if not os.path.exists(tree + "/configure"):
        command(["autoreconf", "--install"], cwd=tree)
    os.makedirs(objects, exist_ok=True)
    if not os.path.exists(objects + "/Makefile"):
        cc = "ccache gcc" if shutil.which("ccache") else "gcc"
        command([tree + "/configure", "CC=" + cc, "CFLAGS=-O0 --coverage"],
                cwd=objects)
    command(["make", "-j2", "dlest"], cwd=objects)
    runs = read(source + "/data/examples/runs.csv")[:5]
    for name, lines in ("log.csv", LOG), ("runs.csv", runs):
        with open(folder + "/" + name, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")


def called(case, source, folder):
    """The functions that a task calls: pairs (file within src, name)."""
    objects, counts = folder + "/objects", folder + "/objects/src/**/*.gcda"
    for path in glob.glob(counts, recursive=True):
        os.unlink(path)
    # Nothing of the user's, and no threads: the same functions everywhere.
    environment = {"HOME": folder, "LC_ALL": "C", "DLEST_DATADIR": source,
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command([objects + "/dlest"] + CASES[case][1].split(), env=environment,
            cwd=folder)
    text = command(["gcov", "--json-format", "--stdout"] +
                   glob.glob(counts, recursive=True), cwd=objects)
    top, found = folder + "/tree/src/", set()
    for unit in map(json.loads, text.splitlines()):
        for f in unit["files"]:
            path = os.path.normpath(os.path.join(
                unit["current_working_directory"], f["file"]))
            if path.startswith(top):
                found.update((path[len(top):], g["name"])
                             for g in f["functions"] if g["execution_count"])
    return found


def list_called(found, by_folder):
    """The functions of a task by file, or their numbers by folder."""
    files = collections.defaultdict(list)
    for path, name in sorted(found):
        files[path].append(name)
    if by_folder:
        folders = collections.Counter(os.path.dirname(p) for p, _ in found)
        return ["%-10s %4d functions in %3d files" % (
            at, n, sum(os.path.dirname(p) == at for p in files))
                for at, n in sorted(folders.items())]
    return ["%s  %d\n    %s" % (path, len(names), "\n    ".join(names))
            for path, names in files.items()]


def read(path):
    """The lines of a file."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().splitlines()


def read_sources(src):
    """The .c and .h files within src: their lines by their names."""
    names = glob.glob("**/*.[ch]", root_dir=src, recursive=True)
    if not names:
        raise Failure("no .c or .h files in " + src)
    return {name: read(os.path.join(src, name)) for name in sorted(names)}


def without_comments(lines):
    """The text with comments blanked, line by line; literals stay."""
    return re.sub(
        r'''"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/\*.*?\*/|//[^\n]*''',
        lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else m[0],
        "\n".join(lines), flags=re.S)


def parameters(head):
    """Where a function's name is in what stands before its body, and how many
    parameters it has. A macro may make the name: NAME(add)(int n)."""
    depth, commas, at = 1, 0, len(head) - 1
    while depth > 0:
        at -= 1
        depth += {")": 1, "(": -1}.get(head[at], 0)
        commas += head[at] == "," and depth == 1
    none = head[at + 1:-1].strip() in ("", "void")
    return re.search(r"\w+(\(\w+\))?$", head[:at]), 0 if none else commas + 1


def functions(files):
    """All definitions: (lines, parameters, name, file, line). As clang-format
    lays them out: begun and closed in the first column."""
    found = []
    for path, lines in files.items():
        text = without_comments(lines)
        # What stands in the first column up to { at an end of line.
        for m in re.finditer(r"^[A-Za-z_][^;{}#=]*\)(?=\s*\{$)", text, re.M):
            name, n = parameters(m[0])
            first = text.count("\n", 0, m.start() + name.start()) + 1
            last = text.count("\n", 0, text.index("\n}", m.end())) + 2
            found.append((last - first + 1, n, name[0], path, first))
    return sorted(found, key=lambda f: (-f[0], f[3:]))


def in_several(pairs):
    """Lists the names that come with several places."""
    where = collections.defaultdict(set)
    for name, place in pairs:
        where[name].add(place)
    return ["%s: %s" % (name, ", ".join(sorted(at)))
            for name, at in sorted(where.items()) if len(at) > 1]


def calls(files, objects):
    """The functions of another file that each file needs, by (file, other): it
    calls them or takes their address. A .c file and its header are one. Tables
    are data: a registry and its entries need each other."""
    defined, needs = {}, set()
    compiled = ["src/" + p[:-1] + "o" for p in files if p.endswith(".c")]
    compiled = [o for o in compiled if os.path.exists(objects + "/" + o)]
    for line in command(["nm", "-gA"] + compiled, cwd=objects).splitlines():
        unit, (kind, name) = line.split(".o:")[0][4:], line.split()[-2:]
        if kind == "U":
            needs.add((unit, name))
        elif kind in "TWi":
            defined[name] = unit
    uses = collections.defaultdict(list)
    for unit, name in sorted(needs):
        if name in defined:
            uses[unit, defined[name]].append(name)
    return uses


def components(edges):
    """The strongly connected components of more than one node (Tarjan 1972,
    doi:10.1137/0201010)."""
    after = collections.defaultdict(list)
    for a, b in sorted(edges):
        after[a].append(b)
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in after[v]:
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for v in list(after):
        if v not in index:
            visit(v)
    return [c for c in found if len(c) > 1]


def circles(uses):
    """The files that need each other, directly or through others: a component a
    line, with all that leads from one of its files to another."""
    return ["%s: %s" % (", ".join(c), "; ".join(
        "%s -> %s (%s)" % (a, b, ", ".join(uses[a, b]))
        for a, b in sorted(uses) if a in c and b in c))
            for c in sorted(components(uses))]


def row(measure, now, limit=None, least=False):
    """A row of the table. A list stands for its length."""
    now = len(now) if isinstance(now, (list, set)) else now
    show = "%.3f" if isinstance(now, float) else "%d"
    if limit is None:
        return measure, show % now, "-", "-"
    broken = now < limit if least else now > limit
    return (measure, show % now, ("at least " if least else "") + show % limit,
            "ok" if not broken else "under" if least else "over")


def print_table(rows):
    rows = [("measure", "now", "limit", "")] + rows
    wide = [max(len(r[i]) for r in rows) for i in range(4)]
    rows.insert(1, ["-" * wide[0]] + ["-" * (n - 1) + ":" for n in wide[1:]])
    for r in rows:
        print("| %s | %s |" % (r[0].ljust(wide[0]), " | ".join(
            cell.rjust(n) for cell, n in zip(r[1:], wide[1:]))))


def rows_of_calls(case, found):
    compiled = {f for f in found if f[0].endswith(".c")}
    title = "%s (%s): " % (CASES[case][0], case)
    return [row(title + "functions", found),
            row(title + "files", {p for p, _ in found}),
            row(title + "functions in .c files", compiled),
            row(title + ".c files", {p for p, _ in compiled})]


def rows_of_lines(src):
    total = json.loads(command(["cloc", "--json", "--quiet", src,
                                "--include-lang=C,C/C++ Header"]))["SUM"]
    code, comments = total["code"], total["comment"]
    return [
        row("lines of code", code),
        row("lines of comments", comments),
        row("share of comments", comments / (comments + code),
            LIMITS["comments"], least=True)]


def rows_of_sizes(files, lists):
    lengths = sorted(((len(files[p]), p) for p in files), reverse=True)
    folders = collections.Counter(map(os.path.dirname, files)).most_common()
    lists["files"] = ["%4d  %s" % x for x in lengths if x[0] > LIMITS["file"]]
    lists["folders"] = ["%4d  %s" % (n, at) for at, n in folders
                        if n > LIMITS["folder"]]
    lists["names"] = in_several(os.path.split(os.path.splitext(p)[0])[::-1]
                                for p in files)
    return [
        *(row(e + " files", [p for p in files if p.endswith(e)])
          for e in (".c", ".h")),
        row("longest file, lines", lengths[0][0]),
        row("files over %d lines" % LIMITS["file"], lists["files"], 0),
        row("largest folder, files", folders[0][1]),
        row("folders over %d files" % LIMITS["folder"], lists["folders"], 0),
        row("names of files in several folders", lists["names"],
            LIMITS["names"])]


def rows_of_functions(files, lists):
    found = functions(files)
    # BLAS and libmicrohttpd set the parameters of their functions.
    many = [f for f in found if f[1] > LIMITS["parameters"] and
            not f[2].startswith(("cblas_", "mhd_"))]
    many.sort(key=lambda f: (-f[1], f[3:]))
    lists["functions"] = ["%4d  %s (%s:%d)" % (f[0], *f[2:]) for f in found]
    lists["params"] = ["%4d  %s (%s:%d)" % f[1:] for f in many]
    lists["tags"] = in_several(
        (tag, path) for path, lines in files.items() for tag in re.findall(
            r"\b(?:struct|union|enum)\s+(\w+)\s*\{", without_comments(lines)))
    return [
        row("functions", found),
        row("median of functions, lines", found[len(found) // 2][0]),
        row("90th percentile of functions, lines", found[len(found) // 10][0]),
        row("longest function, lines", found[0][0], LIMITS["function"]),
        row("functions over %d parameters" % LIMITS["parameters"], many, 0),
        row("tags of types in several files", lists["tags"])]


def measure(options):
    """Rows of the table, and lists; for a list no more than it needs."""
    rows, lists, what = [], {}, options.list
    source, folder = map(os.path.realpath, (options.source, options.build))
    objects, files = options.objects, read_sources(source + "/src")
    if what in CASES or (what in (None, "circles") and not options.sizes_only):
        build(source, folder)
        objects = objects or folder + "/objects"
        for case in CASES if what is None else CASES.keys() & {what}:
            lists[case] = called(case, source, folder)
            rows += rows_of_calls(case, lists[case])
    if what in CASES:
        return rows, lists
    if what is None:
        rows += rows_of_lines(source + "/src")
    rows += rows_of_sizes(files, lists)
    rows += rows_of_functions(files, lists)
    if objects:
        lists["circles"] = circles(calls(files, objects))
        rows.append(row("circles of files by calls", lists["circles"],
                        LIMITS["circles"]))
    return rows, lists


def arguments():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    p = argparse.ArgumentParser(description="Measure the shape of src/.")
    add = p.add_argument
    add("--source", default=here, metavar="DIR",
        help="the source tree (default: that of this script)")
    add("--build", default="_shape", metavar="DIR",
        help="where to build with counters (default: _shape)")
    add("--check", action="store_true", help="fail where a limit is broken")
    add("--sizes-only", action="store_true", help="without what needs a build")
    add("--objects", metavar="DIR", help="a build folder, to find circles of "
        "files by their calls (default: that of --build)")
    add("--list", choices=(*CASES, *LISTS), help="what is behind a number")
    add("--by-folder", action="store_true", help="numbers, for a task's list")
    return p.parse_args()


def main():
    options = arguments()
    what = options.list
    try:
        rows, lists = measure(options)
        if what and what not in lists:
            raise Failure("--list %s needs a build: --objects" % what)
    except (Failure, OSError) as failure:
        print("shape.py: %s" % failure, file=sys.stderr)
        return 2
    if not what:
        print_table(rows)
        print("\nLongest functions:", *lists["functions"][:5], sep="\n")
    elif what in CASES:
        print(*list_called(lists[what], options.by_folder), sep="\n")
    else:
        print(*lists[what] or ["none"], sep="\n")
    broken = any(r[3] in ("over", "under") for r in rows)
    return 1 if options.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
