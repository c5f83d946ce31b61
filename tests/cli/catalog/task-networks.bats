#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Networks for other tasks than classifying images, and the names that
# published tables of throughput give to networks.

load ../common

TOOL="$TOP_SRCDIR/data/make/architectures-from-layers.py"
NAMES="$TOP_SRCDIR/tests/reference/network-names.csv"

setup() {
  command -v python3 >/dev/null || skip 'no python3'
  cd "$BATS_TEST_TMPDIR"
}

@test "the layers give the published parameters and multiply-accumulates" {
  python3 -B "$TOOL" --check >out
  [ "$(grep -c 'M, published' out)" -ge 61 ]
  [ "$(grep -c 'GMAC, published' out)" -ge 45 ]
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
    facebook/wav2vec2-base:wav2vec2-base EfficientDet-D0:efficientdet-d0 \
    tf_efficientdet_d7:efficientdet-d7 transfo-xl-wt103:transformer-xl-large \
    facebook/detr-resnet-50:detr-resnet-50 facebook/sam-vit-huge:sam-vit-huge \
    openai/clip-vit-base-patch32:clip-vit-base-patch32 \
    openai/clip-vit-large-patch14:clip-vit-large-patch14 CLIP-ViT-B/16:\
clip-vit-base-patch16 facebook/opt-350m:opt-350m sage-ogbn-arxiv:graphsage-ogbn-arxiv; do
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

@test "the default data set is that of the task" {
  while read -r arch dataset; do
    gives 0 '' predict --arch "$arch" --gpu a100 --method flops -q -f json
    mv out default
    gives 0 '' predict --arch "$arch" --gpu a100 --method flops -q -f json \
      --dataset "$dataset"
    diff <(jq 'del(.assumed, .summary)' default) \
      <(jq 'del(.assumed, .summary)' out)
    jq -e --arg d "$dataset" '.dataset == $d' out
    jq -e '.assumed | index("dataset")' default
    jq -e '.assumed | index("dataset") | not' out
  done <<'END'
resnet50 imagenet
vit_b_16 imagenet
yolov8n coco2017
fasterrcnn_resnet50_fpn coco2017
ssd300_vgg16 coco2017
efficientdet-d0 coco2017
segformer-b0 ade20k
rnnt librispeech
END
  refuses 2 "dlest: $(message no_default_data_set resnet50 ' and others')" \
    predict --arch resnet50,yolov8n --gpu a100
  gives 0 '' recommend --arch yolov8n,ssd300_vgg16 --gpu a100 --batch-size 8 -q
}

@test "a data set holds what the network takes" {
  local holds
  while read -r arch data holds takes give; do
    holds=$(message data_set_holds "$data" "$holds" "$arch" "$takes" "$give")
    refuses 3 "dlest: $holds" predict --arch "$arch" --gpu a100 --dataset "$data"
    gives 3 "dlest: $holds" predict --arch "$arch" --gpu a100,t4 \
      --dataset "$data"
    gives 3 "dlest: $holds" recommend --arch "$arch" --gpu a100 \
      --dataset "$data"
  done <<'END'
llama-2-7b cifar10 images text --train-tokens
gnmt imagenet images text --train-tokens
whisper-small squad text speech --train-samples
resnet50 ag-news text images --train-samples
wav2vec2-base cifar10 images speech --train-samples
vit_base_patch16_224 librispeech speech images --train-samples
END
  table arch,gpu,dataset,batch_size,epochs \
    resnet50,a100,ag-news,8,1 bert-base-uncased,a100,cifar10,8,1 \
    dlrm,a100,imagenet,8,1 gcn-ogbn-arxiv,a100,squad,8,1 \
    resnet50,a100,cifar10,8,1 bert-base-uncased,a100,squad,8,1
  gives 3 "dlest: warning: runs.csv:2: $(message data_set_holds ag-news text \
    resnet50 images train_samples)
dlest: warning: runs.csv:3: $(message data_set_holds cifar10 images \
    bert-base-uncased text train_tokens)
dlest: warning: runs.csv:4: $(message data_set_holds imagenet images dlrm \
    "users' ratings of items" train_samples)
dlest: warning: runs.csv:5: $(message data_set_holds squad text \
    gcn-ogbn-arxiv graphs train_samples)
dlest: 4 rows skipped" predict --input runs.csv --method flops
  # an option is for rows that have no size of their own
  table arch,gpu,train_samples,batch_size,epochs resnet50,a100,,8,1 \
    bert-base-uncased,a100,1000,8,1 bert-base-uncased,a100,,8,1
  try predict --input runs.csv --method flops --dataset cifar10
  [ "$status" -eq 3 ]
  grep -qF "runs.csv:4: $(message data_set_holds cifar10 images \
    bert-base-uncased text train_tokens)" err
  grep -qxF "dlest: 1 row skipped" err
}

# Validation on CIFAR-10's 10,000 images would take 10 / 3 of 1,000 for training.
@test "a row with a size of its own has none of a data set it does not name" {
  table arch,gpu,train_samples,batch_size,epochs resnet50,a100,1000,8,1 \
    bert-base-uncased,a100,1000,8,1
  gives 0 '' predict --input runs.csv --method flops -q --format csv
  cp out without
  gives 0 '' predict --input runs.csv --method flops -q --format csv \
    --dataset cifar10
  cmp out without
}

# Smallest images: min_size of torchvision's weights, and the side of a patch.
@test "an image is as large as the layers need" {
  while read -r arch px; do
    refuses 3 "dlest: $(message image_px_is_too_small $((px - 1)) "$arch" "$px" |
      as_options)" predict --arch "$arch" --gpu a100 --image-px $((px - 1))
    gives 0 '' predict --arch "$arch" --gpu a100 --image-px "$px" -q
  done <<'END'
alexnet 63
vgg16 32
densenet121 29
inception_v3 75
googlenet 15
vit_base_patch16_224 16
resnet50 8
END
  table arch,gpu,image_px,batch_size,epochs resnet50,a100,3,8,1 \
    resnet50,a100,28,8,1
  gives 3 "dlest: warning: runs.csv:2: $(message image_px_is_too_small 3 \
    resnet50 8)
dlest: 1 row skipped" predict --input runs.csv --train-samples 1000
}

@test "another size of image where the work does not follow from it" {
  refuses 3 "dlest: $(message image_px_work_is_known 512 ssd300_vgg16 300 |
    as_options)" predict --arch ssd300_vgg16 --gpu a100 --image-px 512
  gives 0 '' predict --arch ssd300_vgg16 --gpu a100 --image-px 300 -q
  gives 0 '' predict --arch ssd300_vgg16 --gpu a100 --image-px 512 -q \
    --set macs_g=90 --set acts_m=150
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

# Millions of samples per second that NVIDIA DeepLearningExamples (PyTorch, DLRM)
# publishes for its containers, and MLPerf Training v1.0 for 8 A100 (Gigabyte).
# Rows exchanged as gradients are take hundreds of times as long.
@test "DLRM: a step takes the rows of embeddings that its samples look up" {
  local gpu gpus batch precision stack published ratio
  while read -r gpu gpus batch precision stack published; do
    gives 0 '' predict --arch dlrm --gpu "$gpu" --gpus "$gpus" --batch-size \
      "$batch" --precision "$precision" --stack "$stack" --epochs 1 \
      --train-samples 4195197692 --method physical -q --format json
    ratio=$(jq ".estimates[0].samples_per_s / 1e6 / $published" out)
    echo "$gpu $gpus $precision $ratio"
    jq -en "$ratio | . > 1 / 2.2 and . < 2.2"
    jq -en "$ratio | . > 1 / 1.6 and . < 1.6" >>near || true
  done <<'END'
a100-80gb 1 65536 tf32 ngc 2.88
a100-80gb 1 65536 amp ngc 4.02
a100-80gb 8 8192 tf32 ngc 11.4
a100-80gb 8 8192 amp ngc 16.5
v100-sxm2-32gb 1 65536 fp32 ngc 0.672
v100-sxm2-32gb 1 65536 amp ngc 2.09
v100-sxm2-32gb 8 8192 fp32 ngc 2.88
v100-sxm2-32gb 8 8192 amp ngc 6.92
a100-80gb 8 6912 amp mlperf 30.9
END
  [ "$(grep -c true near)" -ge 7 ]
  # 187,767,399 rows of 128 in FP32 on 8 GPUs: 12.02 GB, and little beside
  gives 0 '' predict --arch dlrm --gpu a100 --gpus 8 --batch-size 64 --epochs 1 \
    --train-samples 1e6 -q --format json
  check '.memory_need_gb - 187767399 * 128 * 4 / 8 / 1e9 | . > 0 and . < 0.1'
  # the dense layers: 2.37 M, of 4 bytes
  check '.exchange_gb > 0.009 and .exchange_gb < 0.01'
}
