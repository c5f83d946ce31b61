/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of LLM serving: what a request costs.
 *
 * A server answers b requests at once on n GPUs. Each has a prompt of u tokens
 * and gets v tokens, one a step, at a length of a = u + v/2 in the mean. A step
 * takes
 *
 *   Ts = Nt (Tm + Tc + Tl + Tx) + Th
 *   Tm = (w e (W + s X) + kb r a K) / (em BW n Gm)
 *   Tc = 2 r (M / peak + a A / peakk) e / (ec n Gc)
 *   Tl = L tau                                  layers
 *   Tx = 2 L (alpha + 4 r d (n-1)/n / (x link))    exchange; n = 1: 0
 *   Th = (c0 + (c1 + c2 g) r) old^o             host; g = 1 if n > 1
 *
 * and the prompt of a request, once,
 *
 *   Tp = Nt (2 (u M / peak + p A / peakk) e / (ep n Gc)
 *            + 8 L u d (n-1)/n / (x link))
 *
 * with p = u^2 / 2 pairs of tokens, and r = b times the beams of a search, each
 * of which reads the keys of the prompt. An encoder-decoder encodes the prompt:
 * E in the place of u M + p A, and its weights are read and its layers passed
 * once a round. A server may have several such groups
of n GPUs, replicas, that divide the requests evenly; b is of one of them. A
share z of the layers may attend to the
 * last w tokens alone: with F(x) = x^2 / 2 up to w and w x - w^2 / 2 beyond,
 *
 *   a = (1 - z) (u + v/2) + z (F(u + v) - F(u)) / v
 *   p = (1 - z) u^2 / 2 + z F(u)
 *
 * W: weights that every step reads, X: weights of the experts, of which a token
 * goes through the share q and r tokens through s = 1 - (1 - q)^r; M: weights
 * that a token is multiplied with; A: multiply-accumulates with each token
 * before; K: keys and values kept of a token; L: layers; d: width; w:
 * bytes of a weight, kb: of a key; peak: rate in the format of the weights,
 * peakk: of the keys; e > 1 for mixtures of experts: those that a
 * batch picks are not loaded evenly; o = 1 for servers of 2024. A round of b
 * requests takes T0 = v Ts + b Tp, without answers at least Ts. The GPUs draw,
 * each,
 *
 *   base = pa TDP
 *   Pd   = (base + TDP (pu Tg + pf (ec v Tc + ep b Tpc) + pm em v Tm) / T0)
 *          Gp Np,          Tg = T0 - v Th, Tpc: the arithmetic of Tp
 *   P    = (Pd^-8 + C^-8)^(-1/8),  C = pcap x the limit, the TDP unless it is
set
 *
 * and where C binds, clocks fall: Tg grows by exp(kappa ln(r)^2), r = (P - B) /
 * (Pd - B), B = 0.6 base, within [0.02, 1]. G and N are what a GPU and a
 * network are found to differ by, 1 where they are not known.
 *
 * The parts are added up: a roofline (doi 10.1145/1498765.1498785) says the
 * longest alone, which measured servers do not reach. The form of decoding and
 * of the exchange follows Pope et al., "Efficiently Scaling Transformer
 * Inference" (arXiv 2211.05102); docs/lab/inference.md says what was tried. */

#ifndef DL_PHYSICS_SERVING_SERVING_COST_H
#define DL_PHYSICS_SERVING_SERVING_COST_H

#include <stddef.h>

#include "physics/physics.h"

/* Constants, all positive and kept as logarithms. */
enum dl_serving_constant {
  DL_SERVE_EM,     /* share of the memory bandwidth reached */
  DL_SERVE_EC,     /* share of the peak rate, decoding */
  DL_SERVE_EP,     /* share of the peak for prompts */
  DL_SERVE_TAU,    /* s: a layer */
  DL_SERVE_ALPHA,  /* s: one exchange between GPUs */
  DL_SERVE_X,      /* share of the links' rate */
  DL_SERVE_C0,     /* s: a step on the host */
  DL_SERVE_C1,     /* s: and for each request */
  DL_SERVE_C2,     /* s: likewise, beside that, on several GPUs */
  DL_SERVE_OLD,    /* the host's time with servers of 2024, relative */
  DL_SERVE_UNEVEN, /* e: work of experts, relative */
  DL_SERVE_PA,     /* static power, share of TDP */
  DL_SERVE_PU,     /* busy, share of TDP */
  DL_SERVE_PF,     /* at the peak rate, share of TDP */
  DL_SERVE_PM,     /* at the full bandwidth, share of TDP */
  DL_SERVE_PCAP,   /* most, share of TDP */
  DL_SERVE_KAPPA,  /* how it slows down there */
  DL_N_SERVING
};

/* Deviations of GPUs and networks from their descriptors, and the length of
 * prompts where it is uncertain; as logarithms, 0 where unknown. */
enum dl_serving_effect {
  DL_SERVE_EFFECT_GPU_COMPUTE,
  DL_SERVE_EFFECT_GPU_MEMORY,
  DL_SERVE_EFFECT_GPU_POWER,
  DL_SERVE_EFFECT_ARCH_TIME,
  DL_SERVE_EFFECT_ARCH_POWER,
  DL_SERVE_EFFECT_PROMPT,
  DL_N_SERVING_EFFECTS
};

/* Grouping factors. */
enum dl_serving_factor {
  DL_SERVE_FACTOR_GPU,
  DL_SERVE_FACTOR_ARCH,
  DL_SERVE_FACTOR_PROMPTS, /* requests of one kind */
  DL_N_SERVING_FACTORS
};

enum dl_serving_target {
  DL_SERVE_TARGET_TIME,   /* of the server for a request, s: 1 / requests per
                             second */
  DL_SERVE_TARGET_ENERGY, /* of a request, all its GPUs, J */
  DL_SERVE_TARGET_POWER,  /* of one GPU, mean, W */
  DL_N_SERVING_TARGETS
};

/* A served model; everything is known. Members of 8 bytes each, or ints in
 * pairs: inputs are compared byte by byte. */
struct dl_serving_inputs {
  struct dl_grouping grouping;
  double batch;                    /* requests at once, of a replica */
  double beams;                    /* of each while decoding */
  double prompt, answer;           /* tokens of a request, and of its output */
  double weights, experts;         /* W, X: parameters read per step */
  double share;                    /* q: of the experts, per token */
  double token_weights, pair_macs; /* M, A */
  double kept;                     /* K: KV-cache size per token, elements */
  double window, windowed;         /* w, z */
  double layers, width;            /* L, d: hidden size */
  double encode_macs;              /* E: of a prompt; 0: there is no encoder */
  double encoder_weights, encoder_layers;
  double weight_bytes, kept_bytes; /* of one element */
  double n_gpus;                   /* that divide a copy of the model */
  double replicas;                 /* copies of it */
  double peak;                     /* FLOP/s of one GPU */
  double peak_keys;                /* products with keys and values */
  double bandwidth;                /* B/s of one GPU */
  double link;                     /* B/s between GPUs, one direction */
  double tdp;                      /* W of one GPU */
  double limit;                    /* W: its power limit */
  int old;                         /* a server of 2024 */
  int unused;
};

/* A round: the requests that a replica serves at once, each to its end. s, J of
 * all its GPUs. */
struct dl_serving_cost {
  double time_s, power_w; /* power: of one GPU */
  double prefill_s, decode_s, prefill_j, decode_j;
  /* Times of decoding, which add up. */
  double memory_s, compute_s, layers_s, exchange_s, host_s;
  double plain_s, plain_j; /* what plain software adds on the host */
  double input_s;          /* what loading and decoding add */
  double static_w;         /* of one GPU with nothing to do, the model loaded */
  const char *bound; /* which takes longest: "memory", "compute", "layers",
                        "exchange", "host" or "prompts" */
};

/* c: DL_N_SERVING constants; fx: DL_N_SERVING_EFFECTS logarithms. */
void dl_serving_cost_of(const double *c, const double *fx,
                        const struct dl_serving_inputs *inputs,
                        struct dl_serving_cost *cost);

/* The physics' gradient (physics.h); g NULL: values alone. */
void dl_serving_gradient(const double *c, const double *fx, const void *inputs,
                         double *log_target, struct dl_gradient *g);

extern const struct dl_physics dl_serving_physics;

#endif
