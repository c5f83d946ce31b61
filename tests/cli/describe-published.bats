#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest describe against independent counts: PyTorch's own operations,
# published figures, and the shapes that onnx infers.

load common

setup_file() {
  export PYTHON= EXPORTED=$BATS_FILE_TMPDIR
  for python in python3 /usr/bin/python3; do
    if [ -z "$PYTHON" ] &&
       $python "$TOP_SRCDIR/tests/cli/export_onnx.py" --have 2>/dev/null; then
      PYTHON=$python
    fi
  done
  if [ -n "$PYTHON" ]; then
    $PYTHON "$TOP_SRCDIR/tests/cli/export_onnx.py" "$EXPORTED" \
      >"$EXPORTED/told.json" 2>"$EXPORTED/err"
  fi
}

setup() {
  if [ -z "$PYTHON" ]; then
    skip 'no torchvision for Python (Debian: python3-torchvision)'
  fi
  cd "$BATS_TEST_TMPDIR"
  cp "$TOP_SRCDIR/data/examples/tiny-cnn.onnx" .
  "$DLEST" describe tiny-cnn.onnx >/dev/null 2>err || true
  if grep -q 'built without ONNX' err; then
    skip 'built without ONNX'
  fi
}

# counted FILE: JSON in out
counted() {
  local extra=
  case $1 in
    resnet18-open.onnx) extra='--image-px 224' ;;
    text-open.onnx) extra='--seq-len 128' ;;
  esac
  # shellcheck disable=SC2086
  gives 0 '' describe "$EXPORTED/$1" $extra --format json
}

@test "MACs and parameters equal those of PyTorch's operations, to the last" {
  [ "$(jq length "$EXPORTED/told.json")" -ge 21 ]
  jq -r '.[] | [.file, .macs, .params] | @tsv' "$EXPORTED/told.json" |
    while IFS=$'\t' read -r file macs params; do
      counted "$file"
      if [ "$file" = swin_t.onnx ]; then
        # The exporter spreads each table of 13 x 13 relative positions over
        # the 49 x 49 pairs, for 2 3 + 2 6 + 6 12 + 2 24 heads.
        params=$((params + 138 * (49 * 49 - 13 * 13)))
      fi
      check "(.macs_g * 1e9 | round) == $macs and .warnings == []"
      check "(.params_m * 1e6 | round) == $params"
    done
}

@test "published figures" {
  # torchvision's documentation of the weights: GFLOPS, in MACs
  while read -r name macs params; do
    counted "$name.onnx"
    check "(.macs_g - $macs) | fabs <= 0.0051"
    [ "$name" = swin_t ] || check "(.params_m * 1e6 | round) == $params"
  done <<END
resnet18 1.81 11689512
resnet50 4.09 25557032
mobilenet_v2 0.30 3504872
densenet121 2.83 7978856
vit_b_16 17.56 86567656
swin_t 4.49 28288354
efficientnet_b0 0.39 5288548
convnext_tiny 4.46 28589128
shufflenet_v2_x1_0 0.14 2278604
googlenet 1.50 6624904
squeezenet1_1 0.35 1235496
alexnet 0.71 61100840
regnet_y_400mf 0.40 4344144
END
  # PyTorch Image Models: activations of convolutions and matrix products, M
  while read -r name acts; do
    counted "$name.onnx"
    check "(.acts_m - $acts) | fabs <= 0.011"
  done <<END
resnet50 11.11
vit_b_16 23.9
swin_t 17.06
densenet121 6.90
END
}

@test "at another size as PyTorch counts it" {
  counted resnet18-open.onnx
  $PYTHON - "$EXPORTED" "$TOP_SRCDIR/tests/cli" >told.json <<'END'
import sys
sys.path.insert(0, sys.argv[2])
import export_onnx as e
with e.Counter() as counter:
    e.zoo.resnet18().eval()(e.torch.zeros(1, 3, 161, 161))
print(counter.macs)
END
  gives 0 '' describe "$EXPORTED/resnet18-open.onnx" --image-px 161 \
    --format json
  check "(.macs_g * 1e9 | round) == $(cat told.json)"
}

@test "shapes are those that onnx infers" {
  for name in resnet50 swin_t vit_b_16 googlenet up text-open encoder; do
    counted "$name.onnx"
    jq '[.layers[] | {name, output}]' out >layers.json
    $PYTHON - "$EXPORTED/$name.onnx" layers.json <<'END'
import json
import sys
import onnx
from onnx import shape_inference
m = onnx.load(sys.argv[1])
del m.graph.value_info[:]
m = shape_inference.infer_shapes(m, data_prop=True)
known = {v.name: v.type.tensor_type.shape.dim
         for v in list(m.graph.value_info) + list(m.graph.output)
         if v.type.tensor_type.HasField("shape")}
outputs = {n.name: n.output[0] for n in m.graph.node}
compared = 0
for layer in json.load(open(sys.argv[2])):
    dims = known.get(outputs[layer["name"]])
    if dims is None or any(not d.HasField("dim_value") for d in dims):
        continue
    compared += 1
    shape = "x".join(str(d.dim_value) for d in dims) or "scalar"
    assert shape == layer["output"], (layer, shape)
print(compared)
END
  done >compared
  # onnx itself leaves shapes open that PyTorch computes from sizes.
  [ "$(awk '{ n += $1 } END { print n }' compared)" -ge 300 ]
}

@test "shapes of onnx's own tests of operators" {
  tests=
  for dir in /usr/share/libonnx-testdata/data; do
    [ ! -d "$dir/node" ] || tests=$dir
  done
  if [ -z "$tests" ]; then
    skip 'no test data of onnx (Debian: libonnx-testdata)'
  fi
  $PYTHON - "$tests" "$DLEST" >result <<'END'
import glob
import json
import subprocess
import sys
import onnx
same = 0
for path in sorted(glob.glob(sys.argv[1] + "/*/*/model.onnx")):
    run = subprocess.run([sys.argv[2], "describe", path, "--batch", "1",
                          "--format", "json"], capture_output=True, text=True)
    assert run.returncode == 0, (path, run.stderr)
    told = json.loads(run.stdout)
    if "unknown operators" in run.stderr:
        continue
    for want, got in zip(onnx.load(path).graph.output, told["outputs"]):
        if not want.type.HasField("tensor_type") or got["shape"] is None:
            continue
        dims = [d.dim_value if d.HasField("dim_value") else None
                for d in want.type.tensor_type.shape.dim]
        shape = [int(x) for x in got["shape"].split("x")] \
            if got["shape"] != "scalar" else []
        assert len(dims) == len(shape) and all(
            d in (None, s) for d, s in zip(dims, shape)), (path, dims, shape)
        same += 1
print(same)
END
  [ "$(cat result)" -ge 900 ]
}
