/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peak GPU memory of a job, 1e9 bytes, from descriptors:
 *
 *   training    P w + T s + b A q f
 *   inference   P w + b (K w + 2 largest layers)
 *
 * P parameters and T those trained, w bytes of a weight, s bytes of gradient
 * and optimiser for it, b samples at once on a GPU, A activations of a sample
 * (acts_m), q bytes of one, K keys and values that a language model keeps.
 *
 * w + s is 16 in FP32: weight, gradient and both moments of Adam (arXiv
 * 1412.6980), the optimiser assumed; SGD with momentum needs 4 bytes a
 * parameter less. Mixed precision (amp, fp16, bf16, fp8; arXiv 1710.03740)
 * keeps all of these in FP32 and a half copy, 18, with q = 2.
 *
 * f is 2.97, least squares on relative errors over the 75 image networks of
 * Selvan et al. (PePR, arXiv 2403.12562:
 * batch 32, most memory allocated, data sets derma, derma_pt and lidc) whose
 * activations at 224 px are in timm's tables, with 16 bytes a parameter: what
 * they hold after a step is 16.6 (median). Estimated by measured: median .99,
 * 90 % within .49 .. 1.28. Of all 131 networks of theirs, with the activations
 * of the catalogue: .97, 90 % within .61 .. 1.30. Networks that join maps
 * (DenseNet) need twice the estimate, re-parameterised ones (RepVGG) less.
 *
 * Language models are not among these. Korthikanti et al. (arXiv 2205.05198)
 * count s b h (34 + 5 a s / h) bytes a layer in 16 bits. With this count of
 * outputs (transformer.h: 10 h, and a s of scores) that is f = 1.7 for what
 * is linear in the tokens and 2.5 for the rest. Kernels that keep no scores
 * (FlashAttention) and recomputation need less.
 *
 * A frozen base keeps no activations, gradients or moments: only its weights
 * and, as in inference, the two largest layers at a time. These are assumed to
 * be a quarter of A (ResNet-50: 14 %, MobileNetV2: 25 %, VGG-16: 47 %), of a
 * language model A by its number of layers.
 *
 * Every GPU holds all of it: data parallelism; nothing is sharded. GPUs on
 * which a language model serves share it and its requests. The context of the
 * driver (about half a GB) and what the allocator keeps in reserve (12 % in the
 * same data, median) come on top. They are about as much as the GB of
 * specifications, 2^30 bytes, are more than 1e9. */

#ifndef DL_ESTIMATE_NODE_PEAK_MEMORY_H
#define DL_ESTIMATE_NODE_PEAK_MEMORY_H

#include "estimate/job.h"

/* 1e9 bytes, NaN where unknown. */
struct dl_memory_need {
  double model_gb;  /* that does not depend on the batch */
  double sample_gb; /* for each sample at once on a GPU */
  double batch;     /* samples at once on a GPU, by job->scaling */
  double need_gb;   /* model_gb + batch x sample_gb */
  double fits;      /* largest usual batch that fits the GPU: a power of two,
                       or above 64 a multiple of 32; 0: none */
  bool shared;      /* by all GPUs: the figures are those of one's part */
  bool over;        /* need_gb exceeds the GPU's memory */
};

void dl_memory_of(const struct dl_job *job, struct dl_memory_need *m);

#endif
