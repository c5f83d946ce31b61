/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: what an epoch of training costs, from what the network
 * and the machine are.
 *
 * A step on a batch of b samples takes
 *
 *   T  = (Tg^q + Th^q)^(1/q) + Ti          q = 2: host and GPU overlap
 *   Tg = m b F / (ec peak) + m b A / (em BW) + w wopt / (em BW) + m K tau
 *   Th = m K lambda + c0                   launches on the host
 *   Ti = b inp (px / 128)^2 [aug]          input pipeline, overlaps by q too
 *
 * F: FLOPs of a forward pass of one sample; A: bytes that all its layers read
 * and write; w: bytes of trained weights; K: kernels of a forward pass;
 * m = 1 forward, 1 + bk with the backward pass. The power of a step is
 *
 *   P  = cap(min(TDP, limit); (pa TDP + pb BW) +
 *        TDP pt (pu Tg/T + pf FLOP rate / peak + pm byte rate / BW))
 *
 * with the pb term for GDDR6 and 6X alone, pt below 1 for GPUs without tensor
 * cores, and cap a smooth minimum with pcap min(TDP, limit). An epoch is its
 * training steps, the validation steps (forward only) and t0. A part of the
 * epochs may be trained with a frozen base (forward, and the head).
 *
 * The form follows the roofline model (Williams, Waterman, Patterson,
 * doi 10.1145/1498765.1498785) with launch overheads; docs/estimation.md says
 * what was tried and where the priors come from. */

#ifndef DL_MATH_PHYSICAL_MODEL_H
#define DL_MATH_PHYSICAL_MODEL_H

#include <stddef.h>

/* Constants, all positive and kept as logarithms. */
enum dl_physics {
  DL_PH_EC,      /* share of the peak rate reached, plain FP32 */
  DL_PH_EC_TF32, /* the same of TF32 in tensor cores */
  DL_PH_EC_HALF, /* and of 16-bit formats there */
  DL_PH_EM,      /* share of the memory bandwidth reached */
  DL_PH_TAU,     /* s: what a kernel costs on the GPU */
  DL_PH_LAMBDA,  /* s: what its launch costs on the host */
  DL_PH_C0,      /* s: a step on the host */
  DL_PH_BK,      /* backward pass, in forward passes */
  DL_PH_INP,     /* s: a sample of 128 px in the input pipeline */
  DL_PH_T0,      /* s: an epoch */
  DL_PH_WOPT,    /* passes over the trained weights a step */
  DL_PH_CA,      /* bytes moved / bytes of the outputs of dense layers */
  DL_PH_PA,      /* power awake, share of TDP */
  DL_PH_PB,      /* W a GB/s of GDDR6 bandwidth */
  DL_PH_PU,      /* busy, share of TDP */
  DL_PH_PF,      /* at the peak rate, share of TDP */
  DL_PH_PM,      /* at the full bandwidth, share of TDP */
  DL_PH_PCAP,    /* most, share of TDP */
  DL_PH_PTC,     /* factor without tensor cores */
  DL_PH_KAPPA,   /* how a step slows down under a power cap */
  DL_N_PHYSICS
};

struct dl_physics_info {
  const char *name;
  const char *unit;  /* NULL: none */
  double median, sd; /* of the prior: sd of the logarithm */
  const char *summary;
};
const struct dl_physics_info *dl_physics_info(enum dl_physics i);

/* What differs between machines and networks beyond their descriptors, as
 * logarithms; 0 where nothing is known. */
enum dl_effect {
  DL_FX_HOST_LAUNCH,
  DL_FX_HOST_EPOCH,
  DL_FX_GPU_COMPUTE,
  DL_FX_GPU_MEMORY,
  DL_FX_GPU_POWER,
  DL_FX_ARCH_TIME,
  DL_FX_ARCH_KERNELS,
  DL_FX_ARCH_POWER,
  DL_FX_SOURCE_COMPUTE,
  DL_FX_SOURCE_MEMORY,
  DL_FX_SOURCE_LAUNCH,
  DL_FX_SOURCE_POWER,
  DL_N_EFFECTS
};

/* What bears an effect. */
enum dl_bearer {
  DL_BY_HOST,
  DL_BY_GPU,
  DL_BY_ARCH,
  DL_BY_SOURCE,
  DL_N_BEARERS
};

struct dl_effect_info {
  const char *name;
  enum dl_bearer by;
  double sd; /* of the prior */
};
const struct dl_effect_info *dl_effect_info(enum dl_effect i);

/* What is run where; everything is known. */
struct dl_load {
  double batch, px, train, val;
  double frozen;   /* share of the epochs with a frozen base */
  double flops;    /* forward, one sample */
  double bytes;    /* read and written by the layers, forward, one sample; at
                      CA = 1 where only outputs of dense layers are known */
  int bytes_known; /* else times CA */
  double kernels;  /* forward */
  double weights;  /* bytes trained without, and with a frozen base */
  double head;
  double peak;      /* FLOP/s */
  double bandwidth; /* B/s */
  double tdp, limit;
  double gddr;    /* GB/s of GDDR6 or 6X bandwidth, else 0 */
  int in_tensor;  /* the peak rate is that of tensor cores */
  int has_tensor; /* the GPU has some */
};

/* What an epoch costs, and what its time goes to (s). */
struct dl_cost {
  double time, energy; /* s, J of the GPU */
  double compute, memory, launch, input, fixed;
};

/* theta: logarithms (DL_N_PHYSICS); c: the constants themselves. */
void dl_physical_constants_of(const double *theta, double c[DL_N_PHYSICS]);

/* fx: DL_N_EFFECTS, logarithms. */
void dl_physical_epoch(const double *c, const double *fx,
                       const struct dl_load *load, struct dl_cost *cost);

#endif
