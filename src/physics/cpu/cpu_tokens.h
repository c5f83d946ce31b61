/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of language models that write tokens on CPUs: llama.cpp and its
 * like. For b requests at once, prompts of u tokens and answers of v, the time
 * of a step and of a prompt is
 *
 *   Ts = hypot(Tm, Tc) + L s
 *   Tm = (w (W + X) + kb b a K) / (em min(B, n g) / sqrt(sockets))
 *   Tc = 2 b (M + a A) / (ed P)
 *   Tp = 2 (u M + p A) / (ep P)     without an answer at least Ts
 *
 * W, X, M, A, K, a and p as in serving_cost.h; B: peak bandwidth of all
 * sockets, n: cores used, g: what a core can read (processors.h); P: peak rate
 * in FP32 of the cores used. Two sockets read hardly more than one and a half,
 * since half of the weights are in the memory of the other. s grows with the
 * cores, which wait for each other at every product.
 *
 * The constants are chosen, not fitted, on published speeds (docs/lab/cpus.md
 * has them all). Half-widths of the logarithm at 90 % are below. */

#ifndef DL_PHYSICS_CPU_CPU_TOKENS_H
#define DL_PHYSICS_CPU_CPU_TOKENS_H

#include <stdbool.h>

/* The work of a round of requests. */
struct dl_cpu_tokens {
  double batch, prompt, answer;
  double weights_b;   /* bytes of weights that a step reads */
  double kept_b;      /* bytes of keys and values a step reads, of a request */
  double step_macs;   /* of a token of an answer */
  double prompt_macs; /* of all tokens of a prompt */
  double layers;
  double peak;            /* FLOP/s in FP32, of all cores used */
  double prompt_rate;     /* share of it that prompts reach */
  double bandwidth;       /* B/s of all sockets */
  double cores_bandwidth; /* B/s that the cores used read */
  double sockets, cores;
  bool client; /* a part of at most two memory channels */
  bool plain;  /* by PyTorch, a call for each operation */
};

/* s; memory, compute and layers are of the answers and add up. */
struct dl_cpu_tokens_cost {
  double prompts_s, memory_s, compute_s, layers_s;
};

void dl_cpu_tokens_of(const struct dl_cpu_tokens *in,
                      struct dl_cpu_tokens_cost *cost);

/* Half-widths of the logarithm at 90 % of the time of answers and prompts. */
double dl_cpu_answer_doubt(const struct dl_cpu_tokens *in);
#define DL_CPU_PROMPT_DOUBT 0.9

#endif
