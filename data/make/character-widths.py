#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print src/output/character_widths.def: code points that take no column or two
on a terminal, by wcwidth(3) of this machine's C library in the locale C.UTF-8.
Code points that are not assigned extend the range before them.

usage: character-widths.py >src/output/character_widths.def
"""

import ctypes
import locale


def main():
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    wcwidth = ctypes.CDLL(None).wcwidth
    ranges = []
    for point in range(0x300, 0x110000):
        if 0xD800 <= point <= 0xDFFF:
            continue
        width = wcwidth(point)
        if width < 0:  # not assigned, or control
            continue
        if ranges and ranges[-1][2] == width:
            ranges[-1][1] = point
        else:
            ranges.append([point, point, width])
    print("/* SPDX-License-Identifier: GPL-3.0-or-later */")
    print("/* Made by data/make/character-widths.py: first, last, columns. */")
    line = ""
    for item in ("{0x%X, 0x%X, %d}," % tuple(r) for r in ranges if r[2] != 1):
        if len(line) + 1 + len(item) > 80:
            print(line)
            line = item
        else:
            line += " " * (line != "") + item
    print(line)


main()
