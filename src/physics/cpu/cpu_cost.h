/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of CPUs: how long the sockets of a machine take for a sample.
 *
 * A forward pass takes, for each sample,
 *
 *   T  = N F C (Tc + Tv + Tm + Tl)
 *   Tc = 2 M ((1 - d) / (am Pm) + d / (av Pv)) / (clock x share)
 *   Tv = elements A e / (V clock) x elements of the software
 *   Tm = e W / (b memory B)
 *   Tl = (layer L + pass) / (b n)
 *
 * M: multiply-accumulates, of which the share d is depthwise; A: activations;
 * W: weights; L: layers with products; e: bytes of a number; b: samples at
 * once of a stream, of which there are n; Pm, Pv: peak rates at the base clock
 * of the units that multiply matrices (AMX) and vectors, which are one without
 * AMX; am, av: the shares of them reached, by instruction set; V: bytes that
 * the vector units take in a second; B: bandwidth of the memory. Activations
 * stay in the caches: what they cost is work of the vector units (bias,
 * activation function, conversion), and not traffic. Parts for desktops
 * and notebooks hold more than their base clock (clock > 1).
 *
 * Tuned software (OpenVINO, submissions to MLPerf) has share and elements of 1
 * and no time by layer and pass; PyTorch, compiled or not, TensorFlow and ONNX
 * Runtime have their own, and one share of the bandwidth together. N, F, C are
 * what a network in a software, a generation of CPUs and a CPU are found to
 * differ by, 1 where they are not known. docs/lab/cpus.md has what was tried.
 */

#ifndef DL_PHYSICS_CPU_CPU_COST_H
#define DL_PHYSICS_CPU_CPU_COST_H

#include "physics/physics.h"

enum dl_cpu_software {
  DL_CPU_TUNED,
  DL_CPU_PYTORCH,
  DL_CPU_TENSORFLOW,
  DL_CPU_ONNXRUNTIME,
  DL_CPU_COMPILED, /* PyTorch, compiled */
  DL_N_CPU_SOFTWARE
};

/* Constants, all positive and kept as logarithms. */
enum dl_cpu_constant {
  DL_CPU_FP32, /* shares of the peak rate: FP32, */
  DL_CPU_AVX2, /* INT8 by 16-bit products, */
  DL_CPU_VNNI, /* INT8 dot products, */
  DL_CPU_BF16, /* BF16 dot products, */
  DL_CPU_AMX,  /* tiles */
  DL_CPU_CLOCK,
  DL_CPU_ELEMENTS,     /* cycles for a vector of activations */
  DL_CPU_MEMORY,       /* share of the bandwidth, */
  DL_CPU_MEMORY_PLAIN, /* in software that is not tuned */
  DL_CPU_PASS,         /* s: a pass of such software */
  /* Of each software but the tuned one, in their order: */
  DL_CPU_SHARE_FLOAT,
  DL_CPU_SHARE_INT8 = DL_CPU_SHARE_FLOAT + DL_N_CPU_SOFTWARE - 1,
  DL_CPU_SOFTWARE_ELEMENTS = DL_CPU_SHARE_INT8 + DL_N_CPU_SOFTWARE - 1,
  DL_CPU_LAYER = DL_CPU_SOFTWARE_ELEMENTS + DL_N_CPU_SOFTWARE - 1, /* s */
  DL_N_CPU = DL_CPU_LAYER + DL_N_CPU_SOFTWARE - 1
};

/* Each is the effect of the grouping factor of its number. */
enum dl_cpu_effect {
  DL_CPU_EFFECT_CPU,
  DL_CPU_EFFECT_FAMILY,
  DL_CPU_EFFECT_NETWORK, /* in a software */
  DL_CPU_EFFECT_TOOL,    /* in one of the tuned ones */
  DL_N_CPU_EFFECTS
};

enum { DL_CPU_TARGET_TIME, DL_N_CPU_TARGETS };

/* Members of 8 bytes each, or ints in pairs: inputs are compared byte by
 * byte. */
struct dl_cpu_inputs {
  struct dl_grouping grouping;
  double macs, depthwise; /* of a sample; share */
  double activations, weights, layers;
  double bytes;                   /* of a number */
  double batch, streams;          /* of all sockets */
  double matrix, vector;          /* peak rates of all cores used, FLOP/s */
  double vector_bytes;            /* a second */
  double bandwidth;               /* B/s, of all sockets */
  int matrix_share, vector_share; /* enum dl_cpu_constant */
  int software;                   /* enum dl_cpu_software */
  int client;                     /* a client part with a turbo clock */
};

/* Time of the machine for a sample, s, and its parts, which add up. */
struct dl_cpu_cost {
  double time_s, compute_s, elements_s, memory_s, layers_s;
  const char *bound; /* the longest: "compute", "elements", "memory" or
                        "layers" */
};

/* c: DL_N_CPU constants; fx: DL_N_CPU_EFFECTS logarithms. */
void dl_cpu_cost_of(const double *c, const double *fx,
                    const struct dl_cpu_inputs *in, struct dl_cpu_cost *cost);

/* The physics' gradient (physics.h); g NULL: values alone. */
void dl_cpu_gradient(const double *c, const double *fx, const void *inputs,
                     double *log_target, struct dl_gradient *g);

extern const struct dl_physics dl_cpu_physics;

#endif
