#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check JSON on standard input against one of the schemas that ship.

usage: check-schema.py [--have] SCHEMA.json

Objects may have keys that their schema does not name, so that programs
accept a later dlest; here they may not, so that the schema keeps up. With
--have, only whether the validator is there (Debian: python3-jsonschema).
"""

import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("no jsonschema for Python", file=sys.stderr)
    sys.exit(77)


def close(schema):
    """The schema, with keys beyond the named ones refused."""
    if isinstance(schema, list):
        return [close(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {k: close(v) for k, v in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    return closed


def main():
    if sys.argv[1:] == ["--have"]:
        return 0
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    found = list(Draft202012Validator(close(schema)).iter_errors(
        json.load(sys.stdin)))
    for error in found[:10]:
        print("/".join(str(p) for p in error.absolute_path) or "(top)",
              error.message[:300])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
