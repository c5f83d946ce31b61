/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of the cost of an optimizer step that no fit changes. */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_COST_PRIVATE_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_COST_PRIVATE_H

/* FLOP/s and FLOP/s per W of the A100, which others are relative to. */
#define PEAK_0 312e12
#define PEAK_PER_W_0 0.78e12

/* A TPU's systolic arrays are fed by a compiler, at one clock rate. Dense
 * products reach this much more of the peak than on GPUs: with all layers
 * computed again, networks of 16 to 64 B on 256 TPU v5e run at 60 to 67 % of it
 * by the model's FLOPs, so at 80 to 89 % (MaxText, README). It has no products
 * of experts. */
#define SYSTOLIC 1.25

/* Bytes of activations a layer reads and writes per token, hidden size and
 * byte of an element (Korthikanti et al.: 34 in 16 bits); what checkpointing
 * adds to it; passes over the scores of eager attention; kernels of a pass
 * through a layer; operations on its weights, where each is one of its own: 12
 * (Adam, clipping, loss scaling) on each of 16 tensors; share of a round of
 * tiles that is idle, mean of products. */
#define TRAFFIC 34.0
#define AGAIN 0.35
#define SCORE_PASSES 12.0
#define KERNELS 10.0
#define BY_WEIGHT 200.0
#define IDLE 0.25

/* Plain software (Transformers without fused kernels), operator by operator.
 * Traffic of activations by a tuned trainer's, 204 B a layer, hidden size and
 * token in three passes of 16 bits: under autocast LayerNorm, dropout and sums
 * are in FP32 with casts to 16 bits before each product, 380 B; gated layers
 * have RMSNorm of seven operators, rotations of seven, SwiGLU of two, 820 B. In
 * FP32 there are no casts: of 408 B they are 550 and 1100, so .7 of that. Bytes
 * of a logit, which is cast to FP32, copied, and passes a log-softmax forward
 * and backward; the optimizer, whose operators read and write 84 B of a weight
 * (Adam, foreach), with clipping and the casts of weights; kernels of a pass
 * through a layer: .5 to .8 ms at some 25 us each. */
#define PLAIN_TRAFFIC 1.9
#define COMPOSED_TRAFFIC 4.0
#define WITHOUT_CASTS 0.7
#define PLAIN_LOGIT 60.0
#define PLAIN_OPTIMIZER 1.6
#define PLAIN_KERNELS 20.0
#define COMPOSED_KERNELS 32.0

/* Times that an adapter moves each value into or out of its product, and again
 * with checkpointing. With k values in and n out: forward dropout reads and
 * writes k, the first matrix reads k, the second writes n, scaling reads and
 * writes n, the sum reads 2 n and writes n; backward scaling n again, each
 * matrix reads n or k for its gradient, n is read and k written for the
 * input's, dropout k again, the sum reads 2 k and writes k: 10 k and 10 n, of
 * which 3 k and 6 n forward. Tensor parallelism divides the n of queries, keys,
 * values and the first half of the feed-forward part, and the k of the rest. */
#define ADAPTED 10.0
#define ADAPTED_AGAIN 4.5
#define UNDIVIDED 0.4

/* Work of a layer with experts (language_cost.h): times that a copy of a token
 * is read or written, and more where GPUs divide the experts; kernels of a pass
 * that route and permute, and products of an expert; tokens of a half full
 * tile. */
#define COPIED 10.0
#define SORTED_AGAIN 8.0
#define ROUTING 24.0
#define PRODUCTS 2.0
#define HALF_TILE 64.0

#endif
