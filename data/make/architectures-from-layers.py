#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes data/task-networks.xml: detection, segmentation, images from noise,
speech, translation, graphs and recommendation, counted layer by layer.

usage: architectures-from-layers.py [--check]
--check holds parameters (1 %, or the rounding of what was published) and
multiply-accumulates (2 %) against published ones and prints each.
"""
import collections
import sys
from xml.sax.saxutils import escape, quoteattr

import task_graph as graph
import task_encoders as pairs
import task_pipeline
import task_sequence as seq
import task_vision as vision
import task_yolo as yolo
from task_layers import Net

# Where layers and figures were published: title, year, address.
SOURCES = {
    "baevski2020": ("wav2vec 2.0: A Framework for Self-Supervised Learning of "
                    "Speech Representations", 2020, "arxiv.org/abs/2006.11477"),
    "carion2020": ("End-to-End Object Detection with Transformers, and the "
                   "authors' code", 2020, "arxiv.org/abs/2005.12872"),
    "cicek2016": ("3D U-Net: Learning Dense Volumetric Segmentation from "
                  "Sparse Annotation", 2016, "arxiv.org/abs/1606.06650"),
    "dai2019": ("Transformer-XL: Attentive Language Models Beyond a "
                "Fixed-Length Context", 2019, "arxiv.org/abs/1901.02860"),
    "diffusers": ("Diffusers: U-Nets of Stable Diffusion, configurations and "
                  "parameter counts of the checkpoints", 2023,
                  "github.com/huggingface/diffusers"),
    "bfl2024": ("FLUX.1: inference code and model cards", 2024,
                "github.com/black-forest-labs/flux"),
    "esser2024": ("Scaling Rectified Flow Transformers for High-Resolution "
                  "Image Synthesis, and the checkpoints", 2024,
                  "arxiv.org/abs/2403.03206"),
    "hu2020": ("Open Graph Benchmark: Datasets for Machine Learning on "
               "Graphs, and its leaderboards", 2020,
               "arxiv.org/abs/2005.00687"),
    "kim2023": ("BK-SDM: A Lightweight, Fast, and Cheap Version of Stable "
                "Diffusion", 2023, "arxiv.org/abs/2305.15798"),
    "kirillov2023": ("Segment Anything, and the authors' code", 2023,
                     "arxiv.org/abs/2304.02643"),
    "kriman2020": ("QuartzNet: Deep Automatic Speech Recognition with 1D "
                   "Time-Channel Separable Convolutions", 2020,
                   "arxiv.org/abs/1910.10261"),
    "li2019": ("Jasper: An End-to-End Convolutional Neural Acoustic Model",
               2019, "arxiv.org/abs/1904.03288"),
    "mmdet": ("MMDetection: models and their FLOPs", 2023,
              "github.com/open-mmlab/mmdetection"),
    "mlperf": ("MLPerf Training: reference implementations", 2024,
               "github.com/mlcommons/training"),
    "nvidia-dle": ("NVIDIA Deep Learning Examples", 2023,
                   "github.com/NVIDIA/DeepLearningExamples"),
    "peebles2023": ("Scalable Diffusion Models with Transformers", 2023,
                    "arxiv.org/abs/2212.09748"),
    "podell2023": ("SDXL: Improving Latent Diffusion Models for "
                   "High-Resolution Image Synthesis", 2023,
                   "arxiv.org/abs/2307.01952"),
    "radford2021": ("Learning Transferable Visual Models From Natural "
                    "Language Supervision; profile of OpenCLIP", 2021,
                    "arxiv.org/abs/2103.00020"),
    "rombach2022": ("High-Resolution Image Synthesis with Latent Diffusion "
                    "Models", 2022, "arxiv.org/abs/2112.10752"),
    "ronneberger2015": ("U-Net: Convolutional Networks for Biomedical Image "
                        "Segmentation", 2015, "arxiv.org/abs/1505.04597"),
    "tan2020": ("EfficientDet: Scalable and Efficient Object Detection, and "
                "the authors' code", 2020, "github.com/google/automl"),
    "torchvision": ("torchvision: model definitions and their documentation",
                    2024, "github.com/pytorch/vision"),
    "ultralytics": ("Ultralytics YOLO: models and their sizes", 2024,
                    "github.com/ultralytics/ultralytics"),
    "xie2021": ("SegFormer: Simple and Efficient Design for Semantic "
                "Segmentation with Transformers", 2021,
                "arxiv.org/abs/2105.15203"),
}

# px: side of the square image; None: what `note` says. params in 1e6, macs in
# 1e9 as published, with `digits` decimals of params; check: the network at
# which macs were published, where that is another input; bare: published
# without the products of attention. text: tokens beside those of the image, in
# patches of 16 px.
Task = collections.namedtuple("Task", "ident name family source network px "
                              "scaling aliases note params digits macs check "
                              "bare classes text")
TASKS = []


def task(ident, name, family, source, network, px=None, scaling="none",
         aliases=(), note="", params=None, digits=None, macs=None, check=None,
         bare=False, classes=None, text=None):
    TASKS.append(Task(ident, name, family, source, network, px, scaling,
                      aliases, note, params, digits, macs, check, bare,
                      classes, text))


# Denoising steps and passes in each (2: classifier-free guidance; FLUX.1 has
# learned it) that the pipelines of Diffusers take by default; of distilled
# checkpoints, which need few and no guidance, those of their model cards.
SAMPLING = {"stable-diffusion-v1-5": (50, 2), "stable-diffusion-v2": (50, 2),
            "stable-diffusion-xl": (50, 2), "dit-s-2": (50, 2),
            "dit-b-2": (50, 2), "dit-l-2": (50, 2), "dit-xl-2": (50, 2),
            "stable-diffusion-v2-1": (50, 2), "sdxl-turbo": (1, 1),
            "flux.1": (28, 1), "flux.1-256px": (28, 1),
            "flux.1-schnell": (4, 1),
            "stable-diffusion-3-medium": (28, 2),
            "stable-diffusion-3.5-large": (28, 2)}


def on(function, *args, **named):
    return lambda n, px: function(n, px, *args, **named)


def alone(function, *args, **named):
    return lambda n, px: function(n, *args, **named)


def mlperf_ssd(*rounds):
    """MLPerf Training changed the network of its benchmark `ssd`."""
    return tuple("mlperf/ssd-v" + r for r in rounds)


RCNN = "512 regions for the boxes, 128 for the masks"
task("retinanet_resnet50_fpn", "RetinaNet ResNet-50 FPN", "retinanet",
     "torchvision", on(vision.retinanet, 91), 1024, "area",
     ("retinanet", "retinanet_r50_fpn", "retinanet-r50"), "",
     34.014999, 6, 239.32, lambda n: vision.retinanet(n, (800, 1280), 80))
task("retinanet_resnext50_fpn", "RetinaNet ResNeXt-50 FPN", "retinanet",
     "mlperf", on(vision.retinanet, 264, groups=32, base=128), 800, "area",
     ("retinanet_resnext50_32x4d_fpn", "retinanet-rx50") +
     mlperf_ssd("2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1"),
     "264 classes of Open Images")
task("fasterrcnn_resnet50_fpn", "Faster R-CNN ResNet-50 FPN", "rcnn",
     "torchvision", on(vision.rcnn, 91, 0, 512, 0), 1024, "area",
     ("faster_rcnn_r50_fpn", "faster-rcnn", "fasterrcnn_r50_fpn"), RCNN,
     41.755286, 6, 207.07,
     lambda n: vision.rcnn(n, (800, 1280), 81, 0, 1000, 0))
task("maskrcnn_resnet50_fpn", "Mask R-CNN ResNet-50 FPN", "rcnn",
     "torchvision", on(vision.rcnn, 91, 1, 512, 128), 1024, "area",
     ("mask_rcnn_r50_fpn", "mask-rcnn", "maskrcnn_r50_fpn"), RCNN,
     44.401393, 6, 260.14,
     lambda n: vision.rcnn(n, (800, 1280), 81, 1, 1000, 100))
task("ssd300_vgg16", "SSD300 VGG-16", "ssd", "torchvision",
     on(vision.ssd_vgg, 91), 300, "none", ("ssd300", "ssd300-vgg"), "",
     35.641826, 6, 34.858)
task("ssd300_resnet34", "SSD300 ResNet-34", "ssd", "mlperf",
     on(vision.ssd_resnet, 81, 34), 300, "none",
     ("ssd-resnet34", "ssd300-r34") +
     mlperf_ssd("0.5", "0.6", "0.7", "1.0", "1.1"))
task("ssd300_resnet50", "SSD300 ResNet-50", "ssd", "nvidia-dle",
     on(vision.ssd_resnet, 81, 50), 300, "none", ("ssd-resnet50", "ssd300-r50"))
for _k, _d, _w, _p, _g in (("n", .33, .25, 1.9, 4.5), ("s", .33, .5, 7.2, 16.5),
                           ("m", .67, .75, 21.2, 49.), ("l", 1, 1, 46.5, 109.1),
                           ("x", 1.33, 1.25, 86.7, 205.7)):
    task("yolov5" + _k, "YOLOv5" + _k, "yolo", "ultralytics",
         on(vision.yolo5, _d, _w), 640, "area", ("yolo5" + _k,), "",
         _p, 1, _g / 2)
for _k, _d, _w, _m, _p, _g in (
        ("n", .33, .25, 1024, 3.157200, 8.7),
        ("s", .33, .5, 1024, 11.166560, 28.6),
        ("m", .67, .75, 768, 25.902640, 78.9),
        ("l", 1, 1, 512, 43.691520, 165.2),
        ("x", 1, 1.25, 512, 68.229648, 257.8)):
    task("yolov8" + _k, "YOLOv8" + _k, "yolo", "ultralytics",
         on(vision.yolo8, _d, _w, _m), 640, "area", ("yolo8" + _k,), "",
         _p, 6, _g / 2)
for _k, _d, _w, _m, _n, _p, _g in (
        ("n", .5, .25, 1024, 0, 2.624080, 6.6),
        ("s", .5, .5, 1024, 0, 9.458752, 21.7),
        ("m", .5, 1, 512, 1, 20.114688, 68.5),
        ("l", 1, 1, 512, 1, 25.372160, 87.6),
        ("x", 1, 1.5, 512, 1, 56.966176, 196.)):
    task("yolo11" + _k, "YOLO11" + _k, "yolo", "ultralytics",
         on(vision.yolo11, _d, _w, _m, _n), 640, "area", ("yolov11" + _k,), "",
         _p, 6, _g / 2)
# Norms are part of the published operations: 2 % of those of the smallest,
# which is not compared.
for _k, _p, _g, *_layers in (
        ("t", 2.128720, None, 16,
         ((32, 32, 16), (64, 64, 32), (96, 96, 48), (128, 128, 64)),
         (64, 96, 128), ((64, 64, 32), 48, 64), 3),
        ("s", 7.318368, 27.6, 32,
         ((64, 64, 32), (128, 128, 64), (192, 192, 96), (256, 256, 128)),
         (128, 192, 256), ((128, 128, 64), 96, 128), 3),
        ("m", 20.216160, 77.9, 32,
         ((128, 128, 64), (240, 240, 120), (360, 360, 180), (480, 480, 240)),
         (240, 360, 480), ((240, 240, 120), 184, 240), 1),
        ("c", 25.590912, 104., 64,
         ((256, 128, 64), (512, 256, 128), (512, 512, 256), (512, 512, 256)),
         (256, 512, 512), ((256, 256, 128), 256, 512), 1, True)):
    task("yolov9" + _k, "YOLOv9" + _k, "yolo", "ultralytics",
         on(yolo.yolo9, *_layers), 640, "area", ("yolo9" + _k,), "",
         _p, 6, _g and _g / 2)
# The published operations are those of a pass with the heads for one box.
for _k, _d, _w, _m, _c, _p, _g in (
        ("n", .33, .25, 1024, ((22,), (22,)), 2.775520, 6.7),
        ("s", .33, .5, 1024, ((8, 22), (8, 22)), 8.128272, 21.6),
        ("m", .67, .75, 768, ((8, 19, 22), ()), 16.576768, 59.1),
        ("b", .67, 1, 512, ((8, 13, 19, 22), ()), None, 92.),
        ("l", 1, 1, 512, ((8, 13, 19, 22), ()), 25.888688, 120.3),
        ("x", 1, 1.25, 512, ((6, 8, 13, 19, 22), ()), 31.808960, 160.4)):
    task("yolov10" + _k, "YOLOv10" + _k, "yolo", "ultralytics",
         on(yolo.yolo10, _d, _w, _m, _c), 640, "area", ("yolo10" + _k,),
         "heads for one box of an object and for many", _p, 6, _g / 2,
         lambda n, a=(_d, _w, _m, _c): yolo.yolo10(n, 640, *a, heads=1))
# Parameters and multiply-accumulates are those of the authors' own test.
WIDTHS = ((1, 1), (1, 1.1), (1.1, 1.2), (1.2, 1.4), (1.4, 1.8), (1.6, 2.2),
          (1.8, 2.6), (2, 3.1))
for _k, _b, _px, _w, _r, _d, _sum, _p, _g in (
        ("0", 0, 512, 64, 3, 3, 0, 3.880067, 2.535978423),
        ("1", 1, 640, 88, 4, 3, 0, 6.625898, 6.102772568),
        ("2", 2, 768, 112, 5, 3, 0, 8.097039, 10.997043492),
        ("3", 3, 896, 160, 6, 4, 0, 12.032296, 24.890171439),
        ("4", 4, 1024, 224, 7, 4, 0, 20.723675, 55.185040717),
        ("5", 5, 1280, 288, 7, 4, 0, 33.653315, 135.387474989),
        ("6", 6, 1280, 384, 8, 5, 1, 51.871782, 225.584339747),
        ("7", 6, 1536, 384, 8, 5, 1, 51.871782, 324.815496167)):
    task("efficientdet-d" + _k, "EfficientDet-D" + _k, "efficientdet",
         "tan2020", on(vision.efficientdet, WIDTHS[_b], _w, _r, _d, not _sum),
         _px, "area", ("tf_efficientdet_d" + _k,), "90 classes of COCO", _p, 6,
         _g)
task("unet", "U-Net", "unet", "ronneberger2015", on(vision.unet, 1, 3), 512,
     "area", ("u-net",), "padded, with batch norm; 3 colours, 2 classes")
task("unet3d-paper", "3D U-Net, as published", "unet", "cicek2016",
     alone(vision.unet3d_paper), None, "none", (),
     "volume of 132 x 132 x 116, padded", 19.069955, 6)
task("unet3d", "3D U-Net of MLPerf", "unet", "mlperf", alone(vision.unet3d),
     None, "none", ("3d-unet", "u-net-3d", "unet3d-kits19"),
     "volume of 128 x 128 x 128")
for _k, _ws, _ds, _c, _px, _p, _g in (
        ("b0", (32, 64, 160, 256), (2, 2, 2, 2), 256, 512, 3.8, 8.4),
        ("b1", (64, 128, 320, 512), (2, 2, 2, 2), 256, 512, 13.7, 15.9),
        ("b2", (64, 128, 320, 512), (3, 4, 6, 3), 768, 512, 27.5, 62.4),
        ("b3", (64, 128, 320, 512), (3, 4, 18, 3), 768, 512, 47.3, 79.),
        ("b4", (64, 128, 320, 512), (3, 8, 27, 3), 768, 512, 64.1, 95.7),
        ("b5", (64, 128, 320, 512), (3, 6, 40, 3), 768, 640, 84.7, 183.3)):
    task("segformer-" + _k, "SegFormer-" + _k.upper(), "segformer", "xie2021",
         on(vision.segformer, _ws, _ds, _c), _px, "area",
         ("segformer-mit-" + _k, "nvidia/segformer-%s-finetuned-ade-%d-%d" % (
             _k, _px, _px)), "150 classes of ADE20K", _p, 1, _g)
task("detr-resnet-50", "DETR ResNet-50", "detr", "carion2020", on(pairs.detr),
     1024, "area", ("detr", "detr-r50", "detr_resnet50",
                    "facebook/detr-resnet-50"), "100 queries", 41.524768, 6)
for _k, _d, _l, _h, _p, _g in (
        ("base", 768, 12, 12, 93.735472, None),
        ("large", 1024, 24, 16, 312.342832, None),
        ("huge", 1280, 32, 16, 641.090608, 2973.)):
    task("sam-vit-" + _k, "SAM ViT-" + _k[0].upper(), "sam", "kirillov2023",
         on(pairs.sam, _d, _l, _h), 1024, "none",
         ("facebook/sam-vit-" + _k, "sam-vit-" + _k[0], "sam-" + _k[0],
          "sam_vit_" + _k[0]), "a prompt of two points", _p, 6, _g)
for _k, _px, _patch, _w, _l, _t, _c, _p, _g in (
        ("base-patch32", 224, 32, 768, 12, 512, 512, 151.277313, 7.39),
        ("base-patch16", 224, 16, 768, 12, 512, 512, 149.620737, 20.545),
        ("large-patch14", 224, 14, 1024, 24, 768, 768, 427.616513, 87.665),
        ("large-patch14-336", 336, 14, 1024, 24, 768, 768, 427.944193,
         197.61)):
    _short = "%s-%s" % (_k[0], _k.split("patch")[1])
    task("clip-vit-" + _k, "CLIP ViT-%s" % _short.upper().replace("-", "/", 1),
         "clip", "radford2021", on(pairs.clip, _patch, _w, _l, _t, 12, _c), _px,
         "none", ("openai/clip-vit-" + _k, "clip-vit-" + _short), "an image "
         "and its text of 77 tokens", _p, 6, _g)
SD = "the denoising U-Net at one time step, with a text of 77 tokens"
task("stable-diffusion-v1-5", "Stable Diffusion 1.5", "diffusion", "diffusers",
     on(seq.denoiser, (1, 2, 4, 4), (1, 1, 1, 0), 1, 768, heads=8), 512,
     "area", ("stable-diffusion-v1", "stable-diffusion-v1-4", "sd-1.5",
              "runwayml/stable-diffusion-v1-5", "stable-diffusion-1.5",
              "sd-v1.5", "sd15"), SD,
     859.520964, 6, 339., None, True)
task("stable-diffusion-v2", "Stable Diffusion 2", "diffusion", "diffusers",
     on(seq.denoiser, (1, 2, 4, 4), (1, 1, 1, 0), 1, 1024), 512, "area",
     ("stable-diffusion", "stable-diffusion-2-base", "sd-2",
      "stabilityai/stable-diffusion-2-base",
      "stabilityai/stable-diffusion-2-1-base"), SD, 865.910724, 6)
task("stable-diffusion-v2-1", "Stable Diffusion 2.1", "diffusion", "diffusers",
     on(seq.denoiser, (1, 2, 4, 4), (1, 1, 1, 0), 1, 1024), 768, "area",
     ("stabilityai/stable-diffusion-2", "stabilityai/stable-diffusion-2-1",
      "stable-diffusion-2-1", "sd-2.1"), SD, 865.910724, 6)
task("stable-diffusion-xl", "Stable Diffusion XL", "diffusion", "diffusers",
     on(seq.denoiser, (1, 2, 4), (0, 2, 10), 10, 2048, 2816), 1024, "area",
     ("sdxl", "stable-diffusion-xl-base-1.0",
      "stabilityai/stable-diffusion-xl-base-1.0"), SD,
     2567.463684, 6, 2990., None, True)
task("sdxl-turbo", "Stable Diffusion XL Turbo", "diffusion", "diffusers",
     on(seq.denoiser, (1, 2, 4), (0, 2, 10), 10, 2048, 2816), 512, "area",
     ("stabilityai/sdxl-turbo",), SD, 2567.463684, 6)
for _k, _l, _d, _h, _p, _g in (("s", 12, 384, 6, 33, 6.06),
                               ("b", 12, 768, 12, 130, 23.01),
                               ("l", 24, 1024, 16, 458, 80.71),
                               ("xl", 28, 1152, 16, 675, 118.64)):
    task("dit-%s-2" % _k, "DiT-%s/2" % _k.upper(), "diffusion", "peebles2023",
         on(seq.dit, _l, _d, _h), 256, "area",
         ("facebook/DiT-XL-2-256",) if _k == "xl" else (),
         "latents of an eighth of the side, one time step", _p, 0, _g)
TEXT = "one time step, %d tokens of text; encoders of image and text apart"
for _k, _name, _a, _b, _one, _d, _h, _t, _v, _c, _px, _l, _p, _q in (
        ("flux.1", "FLUX.1",
         ("flux.1-dev", "flux1-12b", "black-forest-labs/FLUX.1-dev"),
         19, 38, 3072, 24, 256, 768, 16, 1024, 0, 11891.178560, 0),
        ("flux.1-schnell", "FLUX.1 schnell",
         ("black-forest-labs/FLUX.1-schnell",),
         19, 38, 3072, 24, 256, 768, 16, 1024, 0, 11891.178560, 0),
        ("flux.1-256px", "FLUX.1 at 256 px", ("mlperf/flux1",),
         19, 38, 3072, 24, 256, 768, 16, 256, 0, 11891.178560, 0),
        ("stable-diffusion-3-medium", "Stable Diffusion 3 medium",
         ("sd3", "sd3-medium", "stabilityai/stable-diffusion-3-medium",
          "stabilityai/stable-diffusion-3-medium-diffusers"),
         24, 0, 1536, 24, 154, 2048, 16, 1024, 1, 2028., 0),
        ("stable-diffusion-3.5-large", "Stable Diffusion 3.5 large",
         ("sd3.5", "sd3.5-large", "stabilityai/stable-diffusion-3.5-large"),
         38, 0, 2432, 38, 154, 2048, 16, 1024, 1, 8057., 0)):
    task(_k, _name, "diffusion", "bfl2024" if _one else "esser2024",
         on(seq.mmdit, _b, _one, _d, _h, _t, _v, _c, _l), _px, "tokens", _a,
         TEXT % _t, _p, _q, text=_t)
SPEECH = "an utterance of 12.3 s, the mean of LibriSpeech"
task("quartznet15x5", "QuartzNet 15x5", "speech", "kriman2020",
     alone(seq.quartznet), aliases=("quartznet",), note=SPEECH, params=18.9,
     digits=1)
task("jasper10x5dr", "Jasper 10x5 DR", "speech", "li2019", alone(seq.jasper),
     aliases=("jasper",), note=SPEECH, params=333, digits=0)
task("wav2vec2-base", "wav2vec 2.0 base", "speech", "baevski2020",
     alone(seq.wav2vec2, 12, 768, 12),
     aliases=("wav2vec2", "facebook/wav2vec2-base",
              "facebook/wav2vec2-base-960h", "hubert-base",
              "facebook/hubert-base-ls960"), note=SPEECH, params=95, digits=0)
task("wav2vec2-large", "wav2vec 2.0 large", "speech", "baevski2020",
     alone(seq.wav2vec2, 24, 1024, 16),
     aliases=("facebook/wav2vec2-large", "facebook/wav2vec2-large-960h",
              "facebook/wav2vec2-large-xlsr-53", "hubert-large",
              "facebook/hubert-large-ll60k", "facebook/wav2vec2-xls-r-300m"),
     note=SPEECH + "; without the quantiser of the pre-training", params=317,
     digits=0)
task("rnnt", "RNN-T of MLPerf", "speech", "mlperf", alone(seq.rnnt),
     aliases=("rnn-transducer",), note=SPEECH + ", 50 word pieces")
task("gnmt", "GNMT", "translation", "mlperf", alone(seq.gnmt),
     aliases=("gnmt-v2",), note="32 tokens of source and target each")
SEGMENT = "a segment of %d tokens after a memory of as many, words by " \
    "Zipf's law"
task("transformer-xl-base", "Transformer-XL base", "transformer-xl",
     "nvidia-dle", alone(seq.transformer_xl, 16, 512, 8, 2048, 192),
     note=SEGMENT % 192)
task("transformer-xl-large", "Transformer-XL large", "transformer-xl",
     "dai2019", alone(seq.transformer_xl, 18, 1024, 16, 4096, 384, 4),
     aliases=("transfo-xl-wt103", "transfo-xl/transfo-xl-wt103"),
     note=SEGMENT % 384 + "; parameters of the checkpoint, the paper has 257 M",
     params=285, digits=0)
GRAPH = "one pass over the whole graph: a batch and an epoch are one sample; " \
    "sums over edges count as depthwise, they do not run on tensor cores"
for _k, _name, _f, _p, _q in (
        ("arxiv", "ogbn-arxiv", graph.ARXIV, .110120, .218664),
        ("products", "ogbn-products", graph.PRODUCTS, .103727, .206895)):
    task("gcn-" + _name, "GCN on " + _name, "graph", "hu2020",
         alone(graph.gcn, _f), note=GRAPH, params=_p, digits=6)
    task("graphsage-" + _name, "GraphSAGE on " + _name, "graph", "hu2020",
         alone(graph.sage, _f), aliases=("sage-" + _name,), note=GRAPH,
         params=_q, digits=6)
task("dlrm", "DLRM on Criteo 1TB", "recommendation", "mlperf",
     alone(seq.dlrm, 187767399),
     note="187,767,399 rows of 128, at most 40 million a feature")
task("dlrm-dcnv2", "DLRM-DCNv2 on Criteo 1TB", "recommendation", "mlperf",
     alone(seq.dlrm, 204184588, cross=3), aliases=("dlrm-v2",),
     note="204,184,588 rows of 128")
task("ncf", "NeuMF on MovieLens 20M", "recommendation", "mlperf",
     alone(seq.ncf), aliases=("neumf",))


def count(network, px):
    n = Net()
    network(n, px)
    return n


def value(indent, name, source, x, note=""):
    return '%s<value name="%s" source="%s"%s>%s</value>' % (
        indent, name, source, " note=" + quoteattr(note), x)


def entry(t):
    n = count(t.network, t.px)
    how = "derived: counted layer by layer"
    said = how + ("; published: %g" % t.params if t.params else "")
    lines = ['  <entry id="%s" name=%s family="%s" scaling="%s">' % (
        t.ident, quoteattr(t.name), t.family, t.scaling)]
    lines += ["    <alias>%s</alias>" % escape(a) for a in t.aliases]
    lines += [value("    ", "params_m", t.source, "%.7g" % (n.params / 1e6),
                    said)]
    if n.sparse:
        lines += [value("    ", "sparse_params_m", t.source,
                        "%.7g" % (n.sparse / 1e6), how)]
    if n.fixed:
        lines += [value("    ", "head_macs_g", t.source,
                        "%.5g" % (n.fixed / 1e9), "derived: " + t.note)]
    if n.regions:
        lines += [value("    ", "regions", t.source, n.regions,
                        "of a training")]
    lines += [value("    ", "layers", t.source, n.layers, how),
              value("    ", "launches", t.source, n.launches, how)]
    lines += [value("    ", k, "diffusers", x, "default of its pipeline")
              for k, x in zip(("denoising_steps", "passes_per_step"),
                              SAMPLING.get(t.ident, ()))]
    lines += [value("    ", k, "diffusers", x, how) for k, x, how in
              task_pipeline.pipeline(t.ident, t.px, SAMPLING.get(
                  t.ident, (0, 0))[1])]
    if t.text is not None:
        lines += [value("    ", "patch_px", t.source, 16,
                        "patches of 2 latents of 8 px"),
                  value("    ", "extra_tokens", t.source, t.text, "of text")]
    if t.px and n.products:
        lines += [value("    ", "attention_macs_g", t.source,
                        "%.5g" % (n.products / 1e9), how),
                  value("    ", "attention_acts_m", t.source,
                        "%.5g" % (n.product_acts / 1e6), how)]
    lines += [value("    ", k, t.source, "%.4g" % x, how) for k, x in (
        ("traffic_ratio", n.moved / n.acts),
        ("padding_ratio", n.padded / n.macs),
        ("depthwise_share", n.depthwise / n.macs))]
    note = how + ("; " + t.note if t.note else "")
    work = [("macs_g", "%.5g" % (n.macs / 1e9)),
            ("acts_m", "%.5g" % (n.acts / 1e6))]
    if t.px:
        lines.append('    <input image_px="%d">' % t.px)
        lines += [value("      ", k, t.source, x, note) for k, x in work]
        lines.append("    </input>")
    else:
        lines += [value("    ", k, t.source, x, note) for k, x in work]
    return lines + ["  </entry>"]


def emit(out):
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n'
              "<!-- Written by data/make/architectures-from-layers.py "
              "(make catalog). -->\n"
              '<catalog kind="architecture" version="1">\n  <sources>\n')
    for ident in sorted({t.source for t in TASKS}):
        title, year, url = SOURCES[ident]
        out.write('    <source id="%s" title=%s year="%d"\n            '
                  'url="https://%s"/>\n' % (ident, quoteattr(title), year, url))
    out.write("  </sources>\n")
    family = None
    for t in TASKS:
        if t.family != family:
            family = t.family
            out.write("\n  <!-- %s -->\n" % family)
        out.write("\n".join(entry(t)) + "\n")
    out.write("</catalog>\n")


def check():
    wrong = task_pipeline.check_parts()
    for t in TASKS:
        n = count(t.network, t.px)
        line, bad = "%-24s %12.6f M" % (t.ident, n.params / 1e6), False
        if t.params:
            off = abs(n.params / 1e6 - t.params)
            bad = off > max(.01 * t.params, .5 * 10 ** -t.digits)
            line += ", published %g" % t.params
        if t.macs:
            if t.check:
                n = Net()
                t.check(n)
            macs = (n.macs - (n.products if t.bare else 0)) / 1e9
            bad = bad or abs(macs / t.macs - 1) > .02
            line += "; %.3f GMAC, published %g" % (macs, t.macs)
        print(line + (" WRONG" if bad else ""))
        wrong += bad
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    if sys.argv[1:]:
        sys.stderr.write(__doc__)
        sys.exit(2)
    emit(sys.stdout)
