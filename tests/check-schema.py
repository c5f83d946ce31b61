#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check JSON on standard input against one of the schemas that ship.

usage: check-schema.py SCHEMA.json

Objects may have keys that their schema does not name, so that programs
accept a later dlest; here they may not, so that the schema keeps up.
tests/cli/run-table.py calls faults().
"""

import functools
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None


def there():
    """Whether the validator is there (Debian: python3-jsonschema)."""
    return Draft202012Validator is not None


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


@functools.lru_cache(None)
def validator(path):
    with open(path, encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(close(schema))


def faults(path, text):
    """What of the JSON text the schema in the file refuses."""
    found = list(validator(path).iter_errors(json.loads(text)))
    return ["%s %s" % ("/".join(str(p) for p in error.absolute_path) or "(top)",
                       error.message[:300]) for error in found[:10]]


def main():
    if not there():
        print("no jsonschema for Python", file=sys.stderr)
        return 77
    found = faults(sys.argv[1], sys.stdin.read())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
