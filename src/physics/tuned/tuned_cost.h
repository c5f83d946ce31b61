/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of tuned inference: what a batch takes by software that fuses
 * kernels and computes in few bits (TensorRT, as in MLPerf Inference).
 *
 * A batch of b samples takes, on each GPU,
 *
 *   T  = Nt sqrt(Tc^2 + Tm^2) + W / (em BW) + K tau
 *   Tc = b F x^gamma / (ec peak Gc Fc)       arithmetic
 *   Tm = b A / (em BW Gm)                    layers' outputs
 *   x  = e peak / (L 1.5e12),  L = max(TDP, limit)
 *
 * F: operations of a sample, those of attention as in 16 bits; A: bytes of the
 * outputs of its layers, written and read once; W: bytes of the weights; K:
 * kernels; peak: rate in the precision; e: bytes of an element; limit: power
 * limit. x is how much arithmetic, in operations of 8 bits, the power of a
 * board is meant for: boards with little power for their peak rate (T4, L4,
 * H100 PCIe) run at lower clocks. Each GPU draws
 *
 *   Pd = B + Gp Np (pe e b F + pm b A) / T,  B = pa TDP
 *   P  = (Pd^-8 + C^-8)^(-1/8),  C = pcap L
 *
 * and below a limit that is lower than the TDP P' likewise, with C' = pcap
 * limit; then T grows by ((P' - B) / (P - B))^(-1/3).
 *
 * G, Fc and N are what a GPU, its family and a network are found to differ by,
 * 1 where they are not known. docs/lab/inference.md has the fit. */

#ifndef DL_PHYSICS_TUNED_TUNED_COST_H
#define DL_PHYSICS_TUNED_TUNED_COST_H

#include <stddef.h>

#include "physics/physics.h"

/* Operations of 8 bits per joule at the peak rate where x is 1. */
#define DL_TUNED_OPS_PER_J 1.5e12

/* Constants, all positive and kept as logarithms. */
enum dl_tuned_constant {
  DL_TUNED_EC,    /* share of the peak rate reached where x is 1 */
  DL_TUNED_EM,    /* share of the memory bandwidth reached */
  DL_TUNED_GAMMA, /* exponent of x */
  DL_TUNED_TAU,   /* s: a kernel */
  DL_TUNED_PA,    /* static power, share of TDP */
  DL_TUNED_PE,    /* J: an operation of 8 bits */
  DL_TUNED_PM,    /* J: a byte to or from memory */
  DL_TUNED_PCAP,  /* most power, share of the limit */
  DL_N_TUNED
};

/* Deviations of GPUs, their families and networks, as logarithms; 0 where
 * unknown. */
enum dl_tuned_effect {
  DL_TUNED_EFFECT_GPU_COMPUTE,
  DL_TUNED_EFFECT_GPU_MEMORY,
  DL_TUNED_EFFECT_GPU_POWER,
  DL_TUNED_EFFECT_FAMILY_COMPUTE,
  DL_TUNED_EFFECT_ARCH_TIME,
  DL_TUNED_EFFECT_ARCH_POWER,
  DL_N_TUNED_EFFECTS
};

/* Grouping factors. */
enum dl_tuned_factor {
  DL_TUNED_FACTOR_GPU,
  DL_TUNED_FACTOR_FAMILY,
  DL_TUNED_FACTOR_ARCH,
  DL_N_TUNED_FACTORS
};

enum dl_tuned_target {
  DL_TUNED_TARGET_TIME,  /* of a sample, s: 1 / samples per second */
  DL_TUNED_TARGET_POWER, /* of one GPU, mean, W */
  DL_N_TUNED_TARGETS
};

/* Everything is known. Members of 8 bytes: inputs are compared byte by byte. */
struct dl_tuned_inputs {
  struct dl_grouping grouping;
  double batch;   /* samples on each GPU */
  double flops;   /* F */
  double bytes;   /* A */
  double weights; /* W */
  double kernels; /* K */
  double element; /* e */
  double n_gpus;
  double peak;      /* operations/s of one GPU */
  double bandwidth; /* B/s */
  double tdp;       /* W */
  double limit;     /* W */
};

/* A batch on one GPU. s, W. */
struct dl_tuned_cost {
  double time_s, power_w;
  double compute_s, memory_s, kernels_s;
  double static_w;
  const char *bound; /* which takes longest: "compute", "memory", "kernels" */
};

/* c: DL_N_TUNED constants; fx: DL_N_TUNED_EFFECTS logarithms. */
void dl_tuned_cost_of(const double *c, const double *fx,
                      const struct dl_tuned_inputs *inputs,
                      struct dl_tuned_cost *cost);

/* The physics' gradient (physics.h); g NULL: values alone. */
void dl_tuned_gradient(const double *c, const double *fx, const void *inputs,
                       double *log_target, struct dl_gradient *g);

extern const struct dl_physics dl_tuned_physics;

#endif
