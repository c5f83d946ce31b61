#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Networks for other tasks than classifying images, and the names that
# published tables of throughput give to networks.

load common

TOOL="$TOP_SRCDIR/tools/catalog/architectures-from-layers.py"
NAMES="$TOP_SRCDIR/tests/reference/network-names.csv"

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  cd "$BATS_TEST_TMPDIR"
}

@test "the layers give the published parameters and multiply-accumulates" {
  python3 -B "$TOOL" --check >out
  [ "$(grep -c 'M, published' out)" -ge 36 ]
  [ "$(grep -c 'GMAC, published' out)" -ge 30 ]
  run ! grep WRONG out
}

@test "the catalogue is what the tool writes" {
  python3 -B "$TOOL" | cmp - "$DLEST_DATADIR/data/task-networks.xml"
}

@test "names of papers and benchmarks" {
  for name in ssd300:ssd300_vgg16 mask_rcnn_r50_fpn:maskrcnn_resnet50_fpn \
    retinanet_resnext50_fpn:retinanet_resnext50_fpn unet3d:unet3d \
    3D-UNet:unet3d stable-diffusion-v2:stable-diffusion-v2 \
    stabilityai/stable-diffusion-xl-base-1.0:stable-diffusion-xl \
    YOLOv8n:yolov8n yolov11x:yolo11x SegFormer-B5:segformer-b5 \
    DiT-XL/2:dit-xl-2 QuartzNet:quartznet15x5 RNN-T:rnnt dlrm_dcnv2:dlrm-dcnv2 \
    facebook/wav2vec2-base:wav2vec2-base; do
    gives 0 '' show arch "${name%:*}" --format json
    check ".id == \"${name##*:}\""
  done
}

@test "every name of the tables has its network, or a reason" {
  python3 - "$NAMES" >archs <<'END'
import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    assert r["arch"] or r["reason"], r
    if r["arch"]:
        print(r["arch"])
END
  sort -u archs | while read -r arch; do
    gives 0 '' show arch "$arch" --format json
    check ".id == \"$arch\""
  done
}

@test "no network of the tables is forgotten" {
  needs_measured_runs
  [ -f "$MEASURED_RUNS/mlperf/training_entries.csv" ] || skip 'no tables'
  python3 - "$NAMES" "$MEASURED_RUNS" <<'END'
import csv, sys
known = {(r["table"], r["name"]) for r in csv.DictReader(open(sys.argv[1]))}
def rows(path):
    return csv.DictReader(open(sys.argv[2] + "/" + path))
seen = {("mlperf", r["benchmark"]) for r in rows("mlperf/training_entries.csv")}
seen |= {("nvidia-dle", r["variant"] or r["model"])
         for r in rows("nvidia-dle/training_throughput.csv")}
seen |= {("milabench", r["workload"]) for r in rows("milabench/scaling.csv")}
seen |= {("llm-foundry", r["Model"])
         for r in rows("llm-foundry/training_throughput.csv")}
assert not seen - known, sorted(seen - known)
assert not known - seen, sorted(known - seen)
END
}

@test "work of a network for detection follows the size of the image" {
  gives 0 '' predict --arch yolov8n --image-px 1280 --gpu a100 --epochs 1 \
    --train-samples 1e5 --val-samples 0 --method flops --precision fp32 -q \
    --format json
  large=$(jq '.estimates[0].energy_j' out)
  gives 0 '' predict --arch yolov8n --gpu a100 --epochs 1 --train-samples 1e5 \
    --val-samples 0 --method flops --precision fp32 -q --format json
  jq -e --argjson large "$large" '$large / .estimates[0].energy_j |
    . > 3.99 and . < 4.01' out
}
