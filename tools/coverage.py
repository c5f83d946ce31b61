#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Line coverage of src by folder, from a build with --coverage.

usage: coverage.py BUILD-FOLDER [--title TEXT] [--files PREFIX]

Reads with gcov what the programs of the build folder have run so far, and
prints for each folder of src, and for src as a whole, the lines with code, how
many of them ran, and their share in percent. --files prints the files below
PREFIX (src/onnx, say) instead, each with the numbers of the lines that did not
run. "all but cli" is the library, which unit tests link. 'make coverage'
builds, runs the tests and calls this.
"""

import argparse
import json
import os
import subprocess
import sys


def executed_lines(build):
    """{source file: {line number: whether it ran}} of the files in src."""
    # Notes (.gcno) are written by the compiler, counts (.gcda) by programs:
    # gcov reads the notes of a file that none of them has linked.
    paths = {os.path.join(folder, name)
             for folder, _, names in os.walk(
                 os.path.join(os.path.abspath(build), "src"))
             for name in names if name.endswith((".gcda", ".gcno"))}
    paths = sorted(path for path in paths if path.endswith(".gcda") or
                   path[:-len("gcno")] + "gcda" not in paths)
    files = {}
    for start in range(0, len(paths), 50):
        gcov = subprocess.run(
            ["gcov", "--json-format", "--stdout", *paths[start:start + 50]],
            cwd=build, check=True, capture_output=True, text=True)
        for report in map(json.loads, gcov.stdout.splitlines()):
            for source in report["files"]:
                path = os.path.join(report["current_working_directory"],
                                    source["file"])
                lines = files.setdefault(os.path.realpath(path), {})
                for line in source["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number) or line["count"] > 0
    return files


def ranges(numbers):
    """[1, 2, 3, 7] as '1-3 7'."""
    runs = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--title", default="lines that ran")
    parser.add_argument("--files", metavar="PREFIX")
    args = parser.parse_args()
    top = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
    files = {os.path.relpath(path, top): lines
             for path, lines in executed_lines(args.build).items()
             # what an earlier build had may have been removed since
             if path.startswith(top + "/src/") and os.path.exists(path)}
    if not files:
        sys.exit("coverage.py: no counts in " + args.build)
    if args.files:
        for path, lines in sorted(files.items()):
            if path.startswith(args.files):
                missed = [n for n, run in lines.items() if not run]
                print(f"{100 - 100 * len(missed) / len(lines):6.1f} {path} "
                      f"{ranges(missed)}")
        return
    rooms = {}
    for path, lines in files.items():
        room = "/".join(path.split("/")[:2])
        library = {"all but cli"} if room != "src/cli" else set()
        for name in {room, "src"} | library:
            total = rooms.setdefault(name, [0, 0])
            total[0] += len(lines)
            total[1] += sum(lines.values())
    print(args.title)
    print(f"{'folder':<16}{'lines':>8}{'executed':>10}{'%':>7}")
    for room, (lines, run) in sorted(
            rooms.items(), key=lambda r: (r[0] == "src", r[0][:4] != "src/",
                                          r[0])):
        print(f"{room:<16}{lines:>8}{run:>10}{100 * run / lines:>7.1f}")


if __name__ == "__main__":
    main()
