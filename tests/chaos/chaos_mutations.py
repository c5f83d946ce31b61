# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes to input files that know the structure of what they change.

damage(kind, rng, content) may change the meaning: dlest must then answer or
refuse in good order. restyle(kind, rng, content) keeps the meaning, so that the
answer must stay the same; it gives None where a kind has no such change.
second_device(rng, form, content) adds a device to a log under the identifier of
the first; it gives None where it finds no power there.
"""

import csv
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "cli", "logs"))
import second_device as device  # noqa: E402

NUMBERS = [b"", b"0", b"-1", b"-0", b"nan", b"inf", b"-inf", b"1e308", b"1e309",
           b"-1e308", b"5e-324", b"1e-320", b"0x1p3", b"1,5", b"1.2.3", b"1e",
           b"+", b"-", b"99999999999999999999", b"1" * 400, b"12 W", b"12 kW",
           b"90 %", b"[N/A]", b"N/A", b"x", b"\x00", b"\xff\xfe", b"=1+1",
           b"\x1b[31m", b"2147483648", b"0.1e-5", b"1_000", b" 7 ", b"'7'",
           b"<script>alert(1)</script>", b"'><img src=x onerror=y>"]
STAMPS = [b"2024-02-30 00:00:00", b"1969-12-31 23:59:59", b"9999-12-31",
          b"2024-03-31T02:30:00", b"2024-03-05T09:30:00+14:00", b"0", b"-5",
          b"1e18", b"2023/03/02 25:61:61.9", b"2016-12-31T23:59:60Z"]
NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


def damage_bytes(rng, content):
    """Bits, bytes and runs of bytes changed, cut, repeated or put in."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not data:
            data = bytearray(b"\x00")
        at = rng.randrange(len(data))
        what = rng.randrange(6)
        if what == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, 10, 13, 34])
        elif what == 2:
            del data[at:at + rng.choice([1, 2, 8, 64, len(data)])]
        elif what == 3:
            data[at:at] = data[at:at + rng.choice([1, 8, 200])]
        elif what == 4:
            data[at:at] = bytes(rng.randrange(256)
                                for _ in range(rng.choice([1, 4, 40])))
        else:
            data[at:at] = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    return bytes(data)


def damage_lines(rng, lines):
    """Lines lost, repeated, swapped, cut, joined or out of their order."""
    lines = list(lines)
    for _ in range(rng.choice([1, 1, 2, 5])):
        if not lines:
            return [b"\n"]
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        what = rng.randrange(8)
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[other])
        elif what == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif what == 3:
            lines[at] = lines[at][:rng.randrange(len(lines[at]) + 1)]
        elif what == 4:
            lines[at] = lines[at].rstrip(b"\r\n")
        elif what == 5:
            del lines[at:]
        elif what == 6:
            lines.insert(at, rng.choice([b"\n", b"#\n", b"," * 300 + b"\n",
                                         b"\x00" * 50, b"a" * 70000 + b"\n"]))
        else:
            lines[at:at] = [lines[other]] * 50
    return lines


def damage_words(rng, content):
    """Numbers and stamps of a text replaced."""
    found = list(NUMBER.finditer(content))
    for _ in range(rng.choice([1, 1, 3])):
        if not found:
            break
        m = rng.choice(found)
        word = rng.choice(NUMBERS + STAMPS)
        if rng.random() < 0.2 and m.group().replace(b".", b"").isdigit():
            word = b"%.17g" % (float(m.group()) * rng.choice([1e3, 1e-3, -1]))
        content = content[:m.start()] + word + content[m.end():]
        found = list(NUMBER.finditer(content))
    return content


def damage_log(rng, content):
    """A log: its lines, its numbers, or its bytes."""
    what = rng.randrange(4)
    if what == 0:
        return damage_bytes(rng, content)
    if what == 1:
        return b"".join(damage_lines(rng, content.splitlines(keepends=True)))
    content = damage_words(rng, content)
    if what == 3:
        content = b"".join(damage_lines(rng, content.splitlines(keepends=True)))
    return content


def read_table(content, comma=","):
    """The rows of a table of text."""
    text = content.decode("utf-8", "surrogateescape")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=comma))


def write_table(rows, comma=",", quoting=csv.QUOTE_MINIMAL, end="\n"):
    """The bytes of rows."""
    out = io.StringIO(newline="")
    if comma == "|":
        for row in rows:
            out.write(comma.join(row) + end)
    else:
        csv.writer(out, delimiter=comma, quoting=quoting,
                   lineterminator=end).writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")


def damage_table(rng, content, comma=","):
    """A table: cells, rows or columns; or as any log."""
    if rng.random() < 0.4:
        return damage_log(rng, content)
    rows = read_table(content, comma)
    for _ in range(rng.choice([1, 1, 2, 4])):
        row = rng.randrange(len(rows))
        if not rows[row]:
            continue
        col = rng.randrange(len(rows[row]))
        what = rng.randrange(6)
        if what <= 1:
            word = rng.choice(NUMBERS + STAMPS)
            rows[row][col] = word.decode("latin-1")
        elif what == 2:
            for r in rows:
                if col < len(r):
                    del r[col]
        elif what == 3:
            for r in rows:
                if col < len(r):
                    r.append(r[col])
        elif what == 4 and rows[0]:
            rows[0][min(col, len(rows[0]) - 1)] = rng.choice(
                ["", "energy_j", "x" * 3000, "gpus", "time", "Power [kW]",
                 "\x1b[1m", "energy_MJ", "watts"])
        else:
            rows[row] = rows[row][:col] + rng.choice(
                [[], ["extra"] * 3, [""] * 200])
    return write_table(rows, comma)


TAG = re.compile(rb"<[^<>]*>")
VALUE = re.compile(rb'"[^"]*"|>[^<>]+<')


def damage_xml(rng, content):
    """XML: elements lost or repeated, values replaced; or as text."""
    if rng.random() < 0.25:
        return damage_log(rng, content)
    for _ in range(rng.choice([1, 1, 2])):
        tags, values = list(TAG.finditer(content)), list(VALUE.finditer(content))
        what = rng.randrange(4)
        if what <= 1 and values:
            m = rng.choice(values)
            word = rng.choice(NUMBERS + [b"&lt;", b"&#x1b;", b"&unknown;", b"]]>",
                                         b"a" * 5000])
            content = content[:m.start() + 1] + word + content[m.end() - 1:]
        elif what == 2 and tags:
            m = rng.choice(tags)
            content = content[:m.start()] + content[m.end():]
        elif tags:
            m, at = rng.choice(tags), rng.choice(tags).start()
            content = content[:at] + m.group() * rng.choice([1, 2, 300]) + \
                content[at:]
    return content


VALUES = [None, True, False, "", "x" * 5000, -1, 0, 0.5, 1e308, -1e308, 2 ** 53,
          10 ** 30, "12", [], {}, [[]], [1, [2, {"a": None}]], "\x1b[31m",
          "<script>alert(1)</script>", "\u202e"]


def places(value, path=()):
    """The paths of the members of a JSON value, a hundred deep at most."""
    if len(path) == 100:
        return
    members = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield path + (key,)
        yield from places(member, path + (key,))


def damage_json(rng, content):
    """JSON: members lost or replaced, or nested too deep; or as text."""
    if rng.random() < 0.4:
        return damage_log(rng, content)
    value = json.loads(content)
    for _ in range(rng.choice([1, 1, 2, 4])):
        found = list(places(value))
        if not found:
            break
        path = rng.choice(found)
        at = value
        for key in path[:-1]:
            at = at[key]
        what = rng.randrange(6)
        if what == 0:
            del at[path[-1]]
        elif what == 1 and isinstance(at, dict):
            at["x" + str(path[-1])] = at[path[-1]]
        elif what == 2 and isinstance(at[path[-1]], (int, float)):
            at[path[-1]] = rng.choice([-1, 2, 1e6, 1e-6]) * at[path[-1]]
        else:
            at[path[-1]] = rng.choice(VALUES)
    text = json.dumps(value)
    if rng.random() < 0.05:
        text = text[:-1] + ', "deep": ' + "[" * 100000 + "]" * 100000 + "}"
    return text.encode("utf-8", "surrogateescape")


def restyle_json(rng, content):
    """Members in another order, other spaces, all letters escaped."""
    def shuffled(value):
        if isinstance(value, dict):
            keys = list(value)
            rng.shuffle(keys)
            return {k: shuffled(value[k]) for k in keys}
        return [shuffled(x) for x in value] if isinstance(value, list) else value
    text = json.dumps(shuffled(json.loads(content)),
                      indent=rng.choice([None, 0, 7]),
                      separators=rng.choice([None, (",", ":")]))
    if rng.random() < 0.3:
        text = re.sub(r"[a-z]", lambda m: "\\u%04x" % ord(m.group()), text) \
            if not re.search(r"\\|true|false|null|\de", text) else text
    return restyle_ends(rng, text.encode() + b"\n")


def restyle_ends(rng, content):
    """Other line ends or a byte order mark. A last line without its end stays
    so: in a log it may be half written, and is not counted."""
    what = rng.randrange(2)
    if what == 1 and not content.startswith(b"\xef\xbb\xbf"):
        return b"\xef\xbb\xbf" + content
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def restyle_table(rng, content):
    """Columns in another order, other quoting, other line ends."""
    rows = read_table(content)
    if rng.random() < 0.7 and all(len(r) == len(rows[0]) for r in rows):
        order = list(range(len(rows[0])))
        rng.shuffle(order)
        rows = [[r[i] for i in order] for r in rows]
    content = write_table(rows, quoting=rng.choice(
        [csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    if rng.random() < 0.2:
        content = content.rstrip(b"\n") + rng.choice([b"", b"\n\n"])
    return restyle_ends(rng, content)


def restyle_xml(rng, content):
    """Comments, spaces and line ends that XML ignores."""
    head = content.find(b"?>") + 2
    what = rng.randrange(3)
    if what == 0:
        return content.replace(b"\n", b"\r\n")
    if what == 1:
        return content[:head] + b"\n<!-- one more -->\n" + content[head:]
    return content.replace(b"><", b">\n<") + b"\n\n"


def restyle_pipes(rng, content):
    """sacct's columns in another order."""
    rows = read_table(content, "|")
    rows = [r for r in rows if r]
    order = list(range(len(rows[0])))
    rng.shuffle(order)
    if any(len(r) != len(rows[0]) for r in rows):
        return restyle_ends(rng, content)
    return write_table([[r[i] for i in order] for r in rows], "|",
                       end=rng.choice(["\n", "\r\n"]))


KINDS = {
    "bytes": (damage_bytes, None),
    "json": (damage_json, restyle_json),
    "log": (damage_log, restyle_ends),
    "means": (damage_table, restyle_ends),
    "pipes": (lambda rng, c: damage_table(rng, c, "|"), restyle_pipes),
    "table": (damage_table, restyle_table),
    "xml": (damage_xml, restyle_xml),
}


def damage(kind, rng, content):
    """The content with a random fault."""
    return KINDS[kind][0](rng, content)


def restyle(kind, rng, content):
    """The content in another form of the same meaning, or None."""
    change = KINDS[kind][1]
    return change(rng, content) if change else None


def second_device(rng, form, content):
    """The log of two devices, and how often the second draws the power of the
    first."""
    text = content.decode("utf-8", "surrogateescape")
    form = form.replace("-", "_")
    times = rng.choice([0.25, 0.7, 1.3, 1.9, 3])
    column = form in ("nvidia_smi", "samples") and rng.random() < 0.5
    changed = device.added(form, text, column, times)
    if changed == text:
        return None
    return changed.encode("utf-8", "surrogateescape"), times
