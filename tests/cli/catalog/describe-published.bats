#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest describe against independent counts: PyTorch's own operations,
# published figures, and the shapes that onnx infers. The figures are in
# tests/reference/exports, made by data/make/export-networks.py, and in
# tests/reference/onnx-operator-shapes.csv, by data/make/operator-shapes.py.

load ../common

setup_file() {
  export REFERENCE=$TOP_SRCDIR/tests/reference EXPORTED=$BATS_FILE_TMPDIR
  local name
  for text in "$REFERENCE"/exports/*.txt; do
    name=$(basename "$text" .txt)
    python3 "$TOP_SRCDIR/tests/cli/catalog/onnx_from_text.py" "$text" \
      "$EXPORTED/$name.onnx" >"$EXPORTED/$name.json"
  done
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  "$DLEST" describe "$TOP_SRCDIR/data/examples/tiny-cnn.onnx" >/dev/null \
    2>err || true
  if grep -q 'built without ONNX' err; then
    skip 'built without ONNX'
  fi
}

# counts: the rows of counts.csv: NETWORK OPTIONS MACS PARAMS GMACS PARAMS MACTS
# (the last three published), separated by '|'
counts() {
  tail -n +2 "$REFERENCE/exports/counts.csv" | tr ',' '|'
}

# counted NETWORK [OPTIONS]: JSON in out
counted() {
  # shellcheck disable=SC2086
  gives 0 '' describe "$EXPORTED/$1.onnx" ${2-} --format json
}

@test "MACs and parameters equal those of PyTorch's operations, to the last" {
  [ "$(counts | wc -l)" -eq 22 ]
  counts | while IFS='|' read -r name options macs params _; do
    counted "$name" "$options"
    if [ "$name" = swin_t ]; then
      # The exporter spreads each table of 13 x 13 relative positions over
      # the 49 x 49 pairs, for 2 3 + 2 6 + 6 12 + 2 24 heads.
      params=$((params + 138 * (49 * 49 - 13 * 13)))
    fi
    check "(.macs_g * 1e9 | round) == $macs and .warnings == []"
    check "(.params_m * 1e6 | round) == $params"
  done
}

@test "published figures" {
  [ "$(counts | grep -c '|[0-9.]\+|[0-9]\+|[0-9.]*$')" -eq 13 ]
  counts | while IFS='|' read -r name options _ _ gmacs params macts; do
    [ -n "$gmacs" ] || continue
    counted "$name" "$options"
    check "(.macs_g - $gmacs) | fabs <= 0.0051"
    [ "$name" = swin_t ] || check "(.params_m * 1e6 | round) == $params"
    [ -z "$macts" ] || check "(.acts_m - $macts) | fabs <= 0.011"
  done
}

@test "padding and depthwise work are those counted layer by layer" {
  # The catalogue's are counted by data/make/architecture_work.py.
  for pair in resnet18 resnet50 mobilenet_v2:mobilenetv2_100 efficientnet_b0; do
    for at in "$EXPORTED/${pair%:*}.onnx" "${pair#*:}"; do
      gives 0 '' show arch "$at" -q --format json
      jq -e '[.values[] | select(.field | IN("padding_ratio",
        "depthwise_share")).value] | select(length == 2)' out
    done | jq -s -e '.[0] as $counted | .[1] | to_entries |
      all((.value - $counted[.key] | fabs) <= 0.0005 * .value)'
  done
}

@test "shapes are those that onnx infers" {
  counts | while IFS='|' read -r name options _; do
    [ "$options" != '--image-px 161' ] || continue
    counted "$name" "$options"
    # A layer is named by its first output; onnx itself leaves shapes open
    # that PyTorch computes from sizes.
    jq --slurpfile inferred "$EXPORTED/$name.json" '$inferred[0] as $shape |
      [.layers[] | select($shape[.name]) |
       {name, output, inferred: $shape[.name]}]' out >compared.json
    check 'all(.[]; .output == .inferred)' compared.json
    jq length compared.json
  done >compared
  [ "$(awk '{ n += $1 } END { print n }' compared)" -ge 3009 ]
}

@test "shapes of onnx's own tests of operators" {
  local data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
  [ -d "$data/node" ] ||
    skip 'no test data of onnx (Debian: libonnx-testdata)'
  tail -n +2 "$REFERENCE/onnx-operator-shapes.csv" |
    while IFS=, read -r test outputs; do
      [ -e "$data/$test/model.onnx" ] || continue
      try describe "$data/$test/model.onnx" --batch 1 --format json
      [ "$status" -eq 0 ] || { echo "$test"; cat err; exit 1; }
      echo "{\"test\": \"$test\", \"declared\": \"$outputs\", \"described\":"
      cat out
      echo '}'
    done >found.json
  # Each pair of a declared and an inferred shape, but for outputs that are no
  # tensors or whose shape is not known.
  jq -c '.test as $test |
    select(.described.warnings | any(contains("unknown operators")) | not) |
    [(.declared / " "), [.described.outputs[].shape]] | transpose[] |
    select(.[0] != "-" and .[1] != null) |
    {test: $test, declared: (.[0] / "x"), inferred: (.[1] / "x")}' \
    found.json >pairs.json
  jq -s -e 'all(.[]; [.declared, .inferred] | (map(length) | .[0] == .[1]) and
    all(transpose[]; .[0] == "?" or .[0] == .[1]))' pairs.json
  [ "$(wc -l <pairs.json)" -ge 1025 ]
}
