#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Prometheus text on standard input; print NAME VALUE of each sample.

usage: check-metrics.py [--client]

By the grammar of the text format 0.0.4, written down here from its
documentation: HELP and TYPE before the samples, samples of a metric together,
no two with the same labels, no label twice. With --client, by the parser of
prometheus_client as well (Debian: python3-prometheus-client; 77 without it).
"""

import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)$")


def check(text):
    assert text.endswith("\n"), "no line end at the end"
    helped, typed, done, seen, now = set(), set(), set(), set(), None
    for line in text[:-1].split("\n"):
        words = line.split(" ")
        if words[:2] == ["#", "HELP"]:
            assert re.fullmatch(NAME, words[2]) and words[2] not in helped, line
            helped.add(words[2])
            continue
        if words[:2] == ["#", "TYPE"]:
            assert words[2] in helped and words[2] not in typed, line
            assert words[3:] == ["gauge"], line
            typed.add(words[2])
            continue
        m = SAMPLE.match(line)
        assert m, f"no sample: {line}"
        name, labels, value = m.group(1), m.group(2) or "", m.group(m.lastindex)
        assert name in typed and name not in done, f"not together: {line}"
        if now not in (None, name):
            done.add(now)
        now = name
        names = [n for n, _ in re.findall(LABEL, labels)]
        assert len(names) == len(set(names)), f"label twice: {line}"
        assert (name, labels) not in seen, f"twice: {line}"
        seen.add((name, labels))
        print(name, float(value))
    assert seen, "no samples"
    return len(seen)


def main():
    text = sys.stdin.read()
    n = check(text)
    if "--client" not in sys.argv[1:]:
        return 0
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        print("no prometheus_client for Python", file=sys.stderr)
        return 77
    found = sum(len(f.samples) for f in text_string_to_metric_families(text))
    assert found == n, f"{found} samples, not {n}"
    return 0


sys.exit(main())
