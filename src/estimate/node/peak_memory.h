/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peak GPU memory of a job, 1e9 bytes, of each accelerator:
 *
 *   training    (frozen weights + T (w + g + o)) / parallelism + b A
 *   inference   P w + b (K w + 2 largest layers)
 *
 * P parameters and T those trained, w, g and o bytes of a weight, of its
 * gradient and of what the optimizer keeps for it, b samples at once on a GPU,
 * A activations of a sample, K keys and values that a language model keeps.
 *
 * Optimizers keep for each parameter 8 bytes (Adam, arXiv 1412.6980; also where
 * the optimizer is another or unknown), 4 (SGD with momentum), 2 (Adam in 8
 * bits, arXiv 2110.02861) or next to none (Adafactor, arXiv 1804.04235). In
 * FP32 w + g + o is 16. Language models in 16 bits have 2 + 2 + (4 + 8):
 * weights, gradients, master copy, moments (arXiv 1910.02054); other networks
 * in mixed precision (arXiv 1710.03740) all of it in FP32 and a half copy, 18.
 * ZeRO 1 divides o by the data-parallel GPUs, 2 also g, 3 also w, and then
 * gathers two layers at a time; tensor and pipeline parallelism divide all.
 * Expert parallelism divides w, g and o of the experts, of which ZeRO divides
 * what is left among the GPUs that share them (arXiv 2006.16668). The first of
 * P stages has P micro-batches under way, with v > 1 virtual stages P + (P - 1)
 * / v (Korthikanti et al.). Weights beside LoRA adapters take 2 bytes, with
 * QLoRA 4.127 bits (NF4 and doubly quantized scales, arXiv 2305.14314), but for
 * embeddings, output layer and norms; the largest product is expanded to 16
 * bits. In FP8 and FP4 with Transformer Engine they take 1 and .56 bytes.
 * ZeRO-3 also gathers the embeddings and the output layer; in a pipeline FSDP
 * leaves the weights of a stage gathered for all micro-batches, and sums their
 * gradients in FP32 (torchtitan). Full trainings of diffusion models keep a
 * moving average of the weights, 4 bytes each, and all of them the frozen
 * networks around the trained one.
 *
 * Activations of image networks are f q per output of a convolution or dense
 * layer (acts_m), q bytes of one. f follows from k, what PyTorch's operators
 * keep of the block that the network repeats (kept_ratio: 2 of a bottleneck
 * with ReLU, 3.4 of a block of EfficientNet, 5.2 of DenseNet's;
 * data/make/architecture_kept.py): 1.1 k + .42 in FP32, and k + .15 in mixed
 * precision, where layer and group norms work in FP32 (mixed_kept_ratio). The
 * rest is gradients under way and workspace. The numbers of FP32 are those with
 * the least spread over the networks of Selvan et al. (PePR, arXiv 2403.12562:
 * batch 32, most memory allocated, data sets derma, derma_pt and lidc), with 16
 * bytes a parameter: what they hold after a step is 16.6 (median); .15 was
 * chosen for 95 % of the trainings that ran to be called fitting (make memory;
 * docs/accuracy.md). Where k is not known f is 2.97, least squares over the 75
 * of these networks whose activations are in timm's tables, or 2.2.
 * Networks with attention (a twentieth of the outputs or more are scores) have
 * layers of tokens, whose inputs are kept once: f is 2.06 without the scores,
 * least squares over the seven of Selvan et al. (1.70 .. 2.61); by what
 * PyTorch's operators keep in a block of ViT it is 1.6 in FP32 and 1.8 in mixed
 * precision (16 h of 10 h outputs a token; 36 h bytes of 20). Scores take q
 * bytes in FP32, where the softmax keeps what it puts out, and 3 q in mixed
 * precision, where that is FP32 and multiplied in 16 bits; with fused kernels,
 * nothing.
 * U-Nets of diffusion models count like convolutional networks. Detectors of
 * torchvision and MMDetection (Faster R-CNN, RetinaNet and their like) freeze
 * the stem and the first stage, 104 outputs of a pixel of the image, which are
 * not kept, and the statistics of their batch norms, so that f is 2. The loss
 * is computed where all of this is kept. An R-CNN then holds three gradients of
 * its largest map, from its two readers and their sum (256 channels at a
 * quarter of the size: 48 outputs of a pixel), RetinaNet four copies in FP32 of
 * its logits: for the loss, the loss, its gradient and the maps' gradient (9 x
 * 80 classes at an eighth of the size, and a third more on coarser maps: 60).
 * Faster and Mask R-CNN and RetinaNet of MMDetection then are .93, 1.06 and .99
 * of what they allocate (GiB), and .85 in 16 bits; before .83, .97, .88, .69.
 * Networks that label pixels (FCN, DeepLab, SegFormer) enlarge their logits to
 * the size of the image before the loss, whose backward pass begins with four
 * copies of them in FP32: the logits, the logarithms of their softmax, and the
 * gradients of both; in mixed precision the first has 16 bits. torchvision's
 * have 21 classes, SegFormer the 150 of ADE20K.
 * Checkpointing of n parts keeps the maps between them and one part (arXiv
 * 1604.06174): 2 / n, n the blocks or the root of the layers.
 *
 * Language models: Korthikanti et al. (arXiv 2205.05198) count s b h
 * (34 + 5 a s / h) bytes a layer in 16 bits. With this count of outputs
 * (transformer.h: 10 h, and a s of scores) that is f = 1.7 for what is linear
 * in the tokens and 2.5 for the rest. Kernels that keep no scores
 * (FlashAttention) and selective checkpointing leave out the latter; full
 * checkpointing keeps 2 s b h a layer and one layer's activations. PyTorch's
 * selective checkpointing by operators (torchtitan) keeps every second product,
 * what attention puts out and the layer's input: f = .65. LoRA keeps no inputs
 * of the feed-forward products; NVIDIA's kernels fuse the gate, and keep inputs
 * of products in 8 bits in FP8. Logits take 4 bytes (8 in FP32) where the loss
 * is fused or computed in parts, 14 in PyTorch (16 bits, logarithms of the
 * softmax, gradients of both in FP32) and 18 with adapters in Transformers,
 * which copies them. All 178 settings of MosaicML's MPT trainings, which ran,
 * are called fitting.
 *
 * A frozen backbone keeps no activations, gradients or moments: only its
 * weights and, as in inference, the two largest layers at a time. These are
 * assumed to be a quarter of A (ResNet-50: 14 %, MobileNetV2: 25 %, VGG-16: 47
 * %), of a language model A by its number of layers.
 *
 * GPUs on which a language model serves share it and its requests. An allocator
 * keeps a reserve on top (12 % in these data, median), most of which it gives
 * back before it fails.
 *
 * The interval of 90 % goes from .97 of the states and a part of all else to
 * 1.05 of the states, half a GB of the driver and a multiple of all else. These
 * factors are .80 and 1.70 of image networks (Selvan et al.), .64 and 1.57 of
 * language models, and down to .30 in fine-tuning, where sequences are often
 * shorter than the length that is given (data/published-speeds.csv, sources
 * left out: docs/lab/published-speeds.md). */

#ifndef DL_ESTIMATE_NODE_PEAK_MEMORY_H
#define DL_ESTIMATE_NODE_PEAK_MEMORY_H

#include "estimate/job.h"

/* Memory of an accelerator that a program can use, 1e9 bytes; NaN: unknown, or
 * none is given. The GB of specifications are GiB (2^30 bytes). CUDA reports
 * .979 to .992 of them (A100, H100, V100, T4, L4, RTX 3090), without the part
 * that ECC takes of GDDR memory; a program's own context takes half a GB. CPUs
 * have a module of 16 GB on each channel. */
double dl_usable_gb(const struct dl_accelerator *gpu);

/* The memory of a CPU where no node says it: a module on each channel. */
#define DL_MODULE_GB 16
#define DL_USUAL_CHANNELS 8

/* 1e9 bytes, NaN where unknown. */
struct dl_memory_need {
  double states_gb; /* weights, gradients and optimizer */
  double model_gb;  /* all that does not depend on the batch */
  double sample_gb; /* for each sample at once on a GPU */
  double keys_gb;   /* of which keys and values; 0: none are kept */
  double batch;     /* samples at once on a GPU, by job->scaling; of a data
                       set that has fewer: all */
  double need_gb;   /* model_gb + batch x sample_gb */
  double low_gb;    /* bounds of its 90 % interval */
  double high_gb;
  double fits;   /* largest usual batch that fits the GPU: a power of two,
                    or above 64 a multiple of 32; 0: none */
  bool shared;   /* by all GPUs: the figures count one's part */
  double has_gb; /* what programs can use of the GPU's memory; of CPUs the
                    node's, where it is given;
                    NaN: unknown */
  bool over;     /* need_gb exceeds it */
};

void dl_memory_of(const struct dl_job *job, struct dl_memory_need *m);

#endif
