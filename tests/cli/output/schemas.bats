#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The JSON of every command is as its schema says: what schemas.test cannot say.

bats_require_minimum_version 1.5.0

load ../common

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  python3 -c 'import jsonschema' ||
    skip 'no jsonschema for Python (Debian: python3-jsonschema)'
  cd "$BATS_TEST_TMPDIR"
  cp "$TOP_SRCDIR"/data/examples/* .
}

# valid SCHEMA ARGS...: the JSON of dlest ARGS is valid
valid() {
  local schema=$TOP_SRCDIR/schemas/$1.json
  shift
  "$DLEST" "$@" --format json -q >out.json
  python3 "$TOP_SRCDIR/tests/check-schema.py" "$schema" <out.json
}

@test 'check' {
  valid check check lab-card.xml
  sed 's/275/1e9/' lab-card.xml >wrong.xml
  "$DLEST" check wrong.xml lab-card.xml --format json >out.json || true
  python3 "$TOP_SRCDIR/tests/check-schema.py" \
    "$TOP_SRCDIR/schemas/check.json" <out.json
}

@test 'describe' {
  if "$DLEST" describe tiny-cnn.onnx 2>&1 | grep -q 'built without ONNX'; then
    skip 'built without ONNX'
  fi
  valid describe describe tiny-cnn.onnx
  valid show show arch tiny-cnn.onnx
}

@test 'a key that no schema names is noticed' {
  "$DLEST" list formats --format json | sed 's/"schema"/"new": 1, &/' >out.json
  run ! python3 "$TOP_SRCDIR/tests/check-schema.py" \
    "$TOP_SRCDIR/schemas/list.json" <out.json
}
