# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what README, docs and manual pages quote and the program lacks.

usage: quoted_in_docs.py messages|keys|terms TOP

messages: lines "dlest: ..." that no text of tests/messages makes
keys: keys in docs/json.md, and in filters of jq, that no schema has
terms: names with an underscore in italics in manual pages that are no column,
       key or field
"""

import glob
import json
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def pages(top):
    return [os.path.join(top, "README.md"),
            os.path.join(top, "contrib", "README.md"),
            *sorted(glob.glob(os.path.join(top, "docs", "**", "*.md"),
                              recursive=True)),
            *sorted(glob.glob(os.path.join(top, "man", "*.h2m")))]


def patterns(top):
    """The texts of messages as regular expressions."""
    for line in read(os.path.join(top, "tests", "messages")).splitlines():
        text = line.split("\t")[1].replace("%%", "%")
        yield re.compile(".*?".join(map(re.escape, text.split("%s"))))


def made_of(text, known):
    """Whether a text is one message, or some behind each other; an argument
    may reach to the end."""
    if not text:
        return True
    for p in known:
        m = p.match(text)
        if m and (made_of(text[m.end():], known) or p.fullmatch(text)):
            return True
    return False


def unknown_messages(top):
    known = list(patterns(top))
    found = []
    for page in pages(top):
        for line in read(page).replace("\\-", "-").splitlines():
            if not re.match(r"(\.B )?dlest: ", line) or "|" in line:
                continue
            text = line.split("dlest: ", 1)[1]
            text = text.removeprefix("warning: ")
            short = re.sub(r"^\S+?(:\d+)?: ", "", text)
            if not made_of(text, known) and not made_of(short, known):
                found.append("%s: %s" % (os.path.basename(page), line))
    return found


def properties(schema):
    """Names of all properties at any depth."""
    if isinstance(schema, list):
        for s in schema:
            yield from properties(s)
    elif isinstance(schema, dict):
        yield from schema.get("properties", {})
        for s in schema.values():
            yield from properties(s)


def keys_of(top, command):
    return {k for f in glob.glob(os.path.join(top, "schemas",
                                              command + "*.json"))
            for k in properties(json.loads(read(f)))}


def unknown_keys(top):
    found = []
    rows = re.findall(r"^\| (?:`(\w+)`|every command) \| (.*) \|$",
                      read(os.path.join(top, "docs", "json.md")), re.M)
    for command, keys in rows:
        have = keys_of(top, command)
        found += ["json.md: %s: %s" % (command, k)
                  for k in re.findall(r"`(\w+)`", keys)
                  if k not in have and not k.startswith("_")]
    if len(rows) < 9:
        found.append("json.md: only %d commands" % len(rows))
    every = keys_of(top, "")
    for page in pages(top):
        for line in read(page).splitlines():
            if "jq " in line:
                found += ["%s: jq .%s" % (os.path.basename(page), k)
                          for k in re.findall(r"\.([a-z]\w*)",
                                              line.split("jq ", 1)[1])
                          if k not in every]
    return found


def unknown_terms(top):
    """Words of columns, fields, schemas, and of what sources of other tools
    hold, which dlest reads."""
    sources = "".join(read(f) for d in ("src/**/*.[ch]", "schemas/*.json",
                                        "data/*.rng", "contrib/**/*.py")
                      for f in glob.glob(os.path.join(top, d),
                                         recursive=True))
    words = set(re.findall(r"\w+", sources))
    found = []
    for page in glob.glob(os.path.join(top, "man", "*.h2m")):
        for line in read(page).splitlines():
            if re.match(r"\.(I|IR|RI|BI|IB) ", line):
                found += ["%s: %s" % (os.path.basename(page), w)
                          for w in re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b",
                                              line) if w not in words]
    return found


def main():
    found = {"messages": unknown_messages, "keys": unknown_keys,
             "terms": unknown_terms}[sys.argv[1]](sys.argv[2])
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
