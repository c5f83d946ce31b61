#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest describe: models whose work is known by hand, and hostile ones.

load ../common

needs_onnx() {
  cp "$TOP_SRCDIR/data/examples/tiny-cnn.onnx" .
  "$DLEST" describe tiny-cnn.onnx >/dev/null 2>err || true
  if grep -q 'built without ONNX' err; then
    skip 'built without ONNX'
  fi
}

# valid_descriptor FILE
valid_descriptor() {
  if command -v xmllint >/dev/null; then
    xmllint --nonet --noout --relaxng "$TOP_SRCDIR/data/architectures.rng" "$1"
  fi
}

@test "models whose work is known by hand" {
  needs_onnx
  python3 "$TOP_SRCDIR/tests/cli/catalog/make_onnx.py" good . >told.json
  jq -r '.[] | [.file, (.args | join(" "))] | @tsv' told.json |
    while IFS=$'\t' read -r file args; do
      # shellcheck disable=SC2086
      try describe "$file" $args --format json
      [ "$status" -eq 0 ] || { cat err; exit 1; }
      jq -c --arg file "$file" '{file: $file, macs: (.macs_g * 1e9 | round),
        params: (.params_m * 1e6 | round), acts: (.acts_m * 1e6 | round),
        launches: .launches}' out
    done >found.json
  jq -e -n --slurpfile told told.json --slurpfile found found.json '
    [$told[0], $found] | transpose | map(. as [$t, $f] |
      $t | to_entries | map(select(.key != "args" and .value != null and
        .value != $f[.key])) | select(length > 0) |
      {file: $t.file, wanted: ., found: $f}) |
    if length > 0 then halt_error else true end' >/dev/null
}

@test "hostile files are refused, each with its reason" {
  needs_onnx
  python3 "$TOP_SRCDIR/tests/cli/catalog/make_onnx.py" bad . >told.json
  jq -r '.[] | [.file, .says] | @tsv' told.json |
    while IFS=$'\t' read -r file says; do
      try describe "$file"
      [ "$status" -eq 3 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
        grep -qF "dlest: $file: " err && grep -qF -- "$says" err ||
        { echo "$file: $status, wanted: $says"; cat err; exit 1; }
    done
}

@test "a file cut off at every byte" {
  needs_onnx
  size=$(wc -c <tiny-cnn.onnx)
  for ((n = 0; n < size; n += n < 64 || n > size - 64 ? 1 : 13)); do
    head -c "$n" tiny-cnn.onnx >cut.onnx
    try describe cut.onnx
    [ "$status" -eq 3 ] && [ ! -s out ] || { echo "$n: $status"; cat err; exit 1; }
  done
}

@test "memory stays small whatever a file claims" {
  needs_onnx
  python3 "$TOP_SRCDIR/tests/cli/catalog/make_onnx.py" bad . >told.json
  ulimit -v 2000000
  [ "$(ulimit -v)" -eq 2000000 ] || skip 'no limit on memory here'
  if ! "$DLEST" --version >/dev/null 2>&1; then
    skip 'a sanitizer takes all memory'
  fi
  for file in claim nodes-10-9 nodes-in-file huge doubling; do
    try describe "$file.onnx"
    [ "$status" -eq 3 ]
  done
}

@test "text: totals, the heaviest layers, operators" {
  needs_onnx
  gives 0 '' describe tiny-cnn.onnx --top 1
  grep -q '^MACs  *0.000369 G$' out
  grep -q '^ *first  *Conv  *1x8x32x32  *0.000221  *60.0 ' out
  ! grep -q '^ *second ' out || false
  grep -q '^ *MaxPool  *1  *0  *1$' out
}

@test "JSON and CSV have all layers" {
  needs_onnx
  gives 0 '' describe tiny-cnn.onnx --format json
  check '.layers | map(.op) == ["Conv", "Relu", "MaxPool", "Conv",
    "GlobalAveragePool", "Gemm"]'
  check '.layers[0].output == "1x8x32x32"'
  check '(.layers | map(.macs_g) | add) as $sum | .macs_g - $sum | fabs < 1e-15'
  check '.inputs == [{"name": "x", "type": "float32", "shape": "1x3x32x32"}]'
  check '.outputs[0].shape == "1x10"'
  gives 0 '' describe tiny-cnn.onnx --format csv
  [ "$(wc -l <out)" -eq 7 ]
}

@test "standard input" {
  needs_onnx
  "$DLEST" describe tiny-cnn.onnx --format json >file.json
  "$DLEST" describe - --format json <tiny-cnn.onnx >redirected.json
  # shellcheck disable=SC2002
  cat tiny-cnn.onnx | "$DLEST" describe - --format json >piped.json
  diff redirected.json piped.json
  diff <(jq .layers file.json) <(jq .layers piped.json)
}

@test "a descriptor that --arch takes" {
  needs_onnx
  gives 0 '' describe tiny-cnn.onnx -o my.xml
  valid_descriptor my.xml
  gives 0 '' show arch my.xml --format json
  check '.id == "tiny-cnn" and .scaling == "area"'
  near '.values[] | select(.field == "head_inputs").value' 16
  near '.values[] | select(.field == "classes").value' 10
  near '.values[] | select(.field == "head_macs_g").value' 160e-9
  near '.values[] | select(.field == "layers").value' 3
  near '.values[] | select(.field == "launches").value' 6
  near '.inputs[0].macs_g' 368800e-9
  near '.inputs[0].acts_m' 12298e-6
  check '.inputs[0].note | startswith("derived: counted from tiny-cnn.onnx")'
}

@test "any name of a file makes an identifier" {
  needs_onnx
  while IFS=: read -r name id; do
    cp tiny-cnn.onnx "$name.onnx"
    gives 0 '' describe "$name.onnx" -o my.xml
    valid_descriptor my.xml
    gives 0 '' show arch my.xml --format json
    check ".id == \"$id\""
    gives 0 '' show arch "./$name.onnx" --format json
    check ".id == \"$id\""
  done <<END
My Model (v2):my-model-v2
$(printf '\303\274'):model
<a&"b>:a-b
.x._-:x
$(printf 'long%.0s' {1..40}):$(printf 'long%.0s' {1..20})
END
}

@test "--arch takes the model itself, at any input" {
  needs_onnx
  gives 0 '' show arch tiny-cnn.onnx --format json
  check '.id == "tiny-cnn" and .inputs[0].image_px == 32'
  # 33 px: pooling rounds down, which no rule of areas knows
  "$DLEST" predict --arch tiny-cnn.onnx --image-px 33 --gpu a100 --method flops \
    --train-samples 1e6 --epochs 1 --format json -q >odd.json
  "$DLEST" predict --arch tiny-cnn.onnx --gpu a100 --method flops \
    --train-samples 1e6 --epochs 1 --format json -q >own.json
  jq -e -n --slurpfile a odd.json --slurpfile b own.json '
    ($a[0].estimates[0].energy_j / $b[0].estimates[0].energy_j) as $ratio |
    ((8*33*33*27 + 16*16*16*36 + 160) / 368800) as $want |
    ($ratio - $want) | fabs < 1e-9'
}

@test "open dimensions must be said" {
  needs_onnx
  python3 "$TOP_SRCDIR/tests/cli/catalog/make_onnx.py" good . >told.json
  refuses 3 "dlest: cnn-open.onnx: $(message input_dimension_is_open x 3 x \
    1x3xNxN)" describe cnn-open.onnx
  gives 0 '' describe cnn-open.onnx --image-px 32
  refuses 3 "dlest: cnn-open.onnx: $(message input_has_dimensions_not x 4 3)" \
    describe cnn-open.onnx --input-shape x=3x32x32
  refuses 3 "dlest: cnn-open.onnx: $(message there_is_no_input z "'x'")" \
    describe cnn-open.onnx --input-shape z=1x3x32x32
  refuses 3 "dlest: cnn-open.onnx: $(message no_input_is_a)" \
    describe cnn-open.onnx --seq-len 8
  refuses 3 "dlest: loop.onnx: $(message no_input_is_image)" \
    describe loop.onnx --image-px 8
  gives 0 "dlest: warning: cnn-open.onnx: $(message leaves_input_open_counted \
    '224 px')" \
    show arch cnn-open.onnx
}

@test "unknown values are reported" {
  needs_onnx
  python3 "$TOP_SRCDIR/tests/cli/catalog/make_onnx.py" good . >told.json
  gives 0 "dlest: warning: unknown.onnx: $(message unknown_operators_counted_as 'own.Swirl (1)')" \
    describe unknown.onnx
  gives 0 "dlest: warning: cnn-of-8.onnx: $(message holds_samples_macs_activations 8 8)" \
    describe cnn-of-8.onnx
  gives 0 "dlest: warning: if-open.onnx: $(message loop_or_branch_unknown 1 \
    '' '')" \
    describe if-open.onnx
  refuses 3 "dlest: $(message warning_with_strict_nothing 1 '')" \
    describe unknown.onnx -q --strict -o my.xml
  [ ! -e my.xml ]
}

@test "files that hold weights are not opened" {
  needs_onnx
  command -v strace >/dev/null || skip 'no strace'
  python3 "$TOP_SRCDIR/tests/cli/catalog/make_onnx.py" good . >told.json
  strace -f -e trace=%file -o calls "$DLEST" describe external.onnx >out ||
    skip 'strace cannot trace here'
  ! grep -q passwd calls || false
}

@test "what it refuses" {
  misused describe "$(message missing_argument MODEL.onnx describe)"
  misused describe "$(message unexpected_argument b.onnx describe)" a.onnx b.onnx
  invalid describe top=x a.onnx
  invalid describe image-px=0 a.onnx
  misused describe "$(message is_no_shape_input x)" a.onnx --input-shape x
  misused describe "$(message is_no_shape_input x=3xy)" \
    a.onnx --input-shape x=3xy
  needs_onnx
  refuses 1 "dlest: none.onnx: $(message cannot_open \
    'No such file or directory')" \
    describe none.onnx
}

@test "predict: an ONNX model by its content, from a file or a pipe" {
  cp "$TOP_SRCDIR/data/examples/tiny-cnn.onnx" .
  "$DLEST" predict --arch tiny-cnn.onnx --gpu a100 --method flops -q \
    --format json | jq .estimates >named
  cp tiny-cnn.onnx model.bin
  "$DLEST" predict --arch ./model.bin --gpu a100 --method flops -q \
    --format json | jq .estimates | diff named -
  "$DLEST" predict --arch <(cat tiny-cnn.onnx) --gpu a100 --method flops -q \
    --format json | jq .estimates | diff named -
}
