/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of training: what an epoch costs, from what the network and the
 * machine are.
 *
 * A step on a batch of b samples takes, before the power limit,
 *
 *   T0 = sqrt(Tg^2 + Th^2)                 host and GPU overlap in part
 *   Tg = Tc + Tm + Tw + Tk + Td
 *   Tc = m Nt Dt b F / (ec peak Gc)        arithmetic
 *   Tm = m Nt Dt b (A + bt B) / (em BW mtc Gm)   traffic of the layers
 *   Tw = w wopt / (em BW mtc Gm)           weights: gradients, optimiser
 *   Tk = m K Nk tau / clock                kernels on the GPU
 *   Td = m Nt Dt b F' / (dw peak32)        depthwise layers
 *   Th = (m K' Nk lambda + c0 + b R) H Dl srv^s   launches on the host
 *
 * F: FLOPs of a forward pass of one sample; A: bytes that all its layers read
 * and write; w: bytes of the weights that are trained; K: kernels of a forward
 * pass, K' of them in turn: where several threads launch (TensorFlow), those
 * beside the longest path count by the share bs; m = 3 to train (the backward
 * pass is two forward ones; one with adapters beside frozen weights), 1 to
 * validate or with a frozen backbone; s = 1 for a server. N, G, H and D are
 * what a network, a GPU (and its family), a host and a framework are found to
 * differ by, 1 where they are not known; mtc is 1 for GPUs with tensor cores.
 * ec, em, tau, lambda, c0, wopt, R and bt depend on the software
 * (dl_training_stack). R is what proposals and their matching take in two-stage
 * detectors and in those that match a set of predictions. F has what tensor
 * cores compute, tiles being padded, and not the work of depthwise layers, F',
 * which run at the rate of FP32 outside tensor cores. In eager mode A is all
 * traffic; in tuned software B is the traffic between layers (normalisations,
 * activations), of which fused kernels leave the share bt, and clock the boost
 * clock relative to the A100's: starting and draining a kernel takes so many
 * cycles; 1 in eager mode. Constants of MLPerf are relative to the containers'.
 * Tuned software has no srv, and as its rates are those at the TDP, kappa
 * begins at 0 there and is reached with a limit of 3/4 of it. The GPU draws,
 * with ec the constant of plain FP32 in eager mode in any case,
 *
 *   base = pa TDP + pb BW                  pb for GDDR6 and later alone
 *   dyn  = TDP ptc a (pu Tg + pf ec Tc + pm em mtc (Tm + Tw)) / T0
 *   Pd   = (base + dyn) Gp Np              wanted
 *   P    = (Pd^-8 + C^-8)^(-1/8),  C = pcap min(TDP, limit)
 *
 * with ptc below 1 for GPUs without tensor cores, 1 for the others, and a = .45
 * for the generation Ada in FP32 and TF32, 1 for others and in 16 bits: its
 * boards draw .4 to .7 of their TDP there. An RTX 3070 whose limit is raised
 * from 220 to 240 W draws 218 at most. Where the limit binds, clocks fall:
 *
 *   T = sqrt((Tg exp(kappa ln(r)^2))^2 + Th^2)
 *   r = (P - B) / (Pd - B),  within [0.02, 1]
 *   B = 0.6 (pa TDP + pb BW') Gp Np
 *
 * BW' is what the chips of the memory could move, whose clocks no limit lowers:
 * 28 GB/s per GB, within BW and 2 BW (one or two chips on a channel).
 *
 * An epoch is its training steps, its validation's steps (m = 1, no weights)
 * and t0 Ht at base Gp Np. A share of the epochs may be trained with a frozen
 * backbone (m = 1, and the head's weights), or computes activations again (m =
 * 1, no weights, beside the training step). The last batch of an epoch has the
 * samples that are left over: a step of its own with that b.
 *
 * Of n GPUs each takes 1 / n of the samples, rounded up, at a batch of its own.
 * Every training step they add up their gradients, 2 (k - 1) / k of the bytes
 * among k (Patarasuk & Yuan 2009, doi 10.1016/j.jpdc.2008.09.002): g in a node
 * over the link, then the nodes over the network, beside the backward pass; and
 * they wait for the slowest:
 *
 *   Tx = 2 w (1 - 1/g) / (xl link) + 2 w (1 - g/n) / (xn network)
 *   Tn = (T^4 + Tx^4)^(1/4) (1 + xs log2 n) + xk Tk log2 g
 *
 * with w of 16 bits where the activations have 16. The last term: processes
 * that share a host launch their kernels at uneven times, which costs a step of
 * many short kernels more than one of few long ones. It is known of NVIDIA's
 * containers alone: entries to MLPerf launch a step as a whole (CUDA graphs),
 * and in eager mode the launches already take a slow host's time: ResNet-152
 * runs 3.5 to 3.9 times as fast on 4 GPUs as on one (milabench). A GPU that
 * waits draws half of its power, assumed: polling.
 *
 * Arithmetic takes no longer in 16 bits than in TF32 or FP32, and in TF32 no
 * longer than in FP32.
 *
 * The form follows the roofline model (Williams, Waterman, Patterson,
 * doi 10.1145/1498765.1498785) with launch overheads; docs/lab/estimation.md
 * says what was tried and where the priors come from. */

#ifndef DL_PHYSICS_TRAINING_TRAINING_COST_H
#define DL_PHYSICS_TRAINING_TRAINING_COST_H

#include <stddef.h>

#include "physics/physics.h"

/* Constants, all positive and kept as logarithms. */
enum dl_training_constant {
  DL_TRAIN_EC,      /* share of the peak rate reached, plain FP32 */
  DL_TRAIN_EC_TF32, /* share of TF32 in tensor cores */
  DL_TRAIN_EC_HALF, /* and of 16-bit formats there */
  DL_TRAIN_EM,      /* share of the memory bandwidth reached */
  DL_TRAIN_TAU,     /* s: what a kernel costs on the GPU */
  DL_TRAIN_LAMBDA,  /* s: what its launch costs on the host */
  DL_TRAIN_C0,      /* s: a step on the host */
  DL_TRAIN_BESIDE,  /* what a launch beside others costs, relative */
  DL_TRAIN_SERVER,  /* how much slower a server launches than a desktop */
  DL_TRAIN_T0,      /* s: an epoch */
  DL_TRAIN_WOPT,    /* passes over the trained weights a step */
  DL_TRAIN_CA,      /* bytes moved / bytes of the outputs of dense layers */
  DL_TRAIN_PA,      /* static power, share of TDP */
  DL_TRAIN_PB,      /* W a GB/s of GDDR6 bandwidth */
  DL_TRAIN_PU,      /* busy, share of TDP */
  DL_TRAIN_PF,      /* at the peak rate, share of TDP */
  DL_TRAIN_PM,      /* at the full bandwidth, share of TDP */
  DL_TRAIN_PCAP,    /* most, share of TDP */
  DL_TRAIN_PTC,     /* factor without tensor cores */
  DL_TRAIN_EAGER_DEPTHWISE, /* share of the FP32 rate that depthwise layers
                               reach, kernel by kernel */
  DL_TRAIN_MTC,   /* share of the bandwidth without tensor cores, relative */
  DL_TRAIN_KAPPA, /* how a step slows down under a power cap */
  /* Tuned software (NVIDIA's containers): what begins with EC to C0 above. */
  DL_TRAIN_NGC_EC,
  DL_TRAIN_NGC_TF32,
  DL_TRAIN_NGC_HALF,
  DL_TRAIN_NGC_EM,
  DL_TRAIN_NGC_TAU,
  DL_TRAIN_NGC_LAMBDA,
  DL_TRAIN_NGC_C0,
  /* Part of the traffic between layers that fused kernels leave: of 32 and of
   * 16-bit formats. Above 1: formats are converted. */
  DL_TRAIN_NGC_BETWEEN_32,
  DL_TRAIN_NGC_BETWEEN_16,
  DL_TRAIN_NGC_REGIONS,    /* s: proposals and matching of a sample, two-stage
                              detectors; of eager mode too */
  DL_TRAIN_MLPERF_BETWEEN, /* entries to MLPerf: likewise */
  DL_TRAIN_MLPERF_REGIONS,
  DL_TRAIN_MLPERF_HALF, /* and relative to the containers: what begins with EC
                           to C0 */
  DL_TRAIN_MLPERF_EM,
  DL_TRAIN_MLPERF_TAU,
  DL_TRAIN_MLPERF_LAMBDA,
  DL_TRAIN_MLPERF_C0,
  DL_TRAIN_TUNED_WOPT, /* passes over the weights, of both */
  DL_TRAIN_DEPTHWISE,  /* of the FP32 rate, depthwise layers of both */
  DL_TRAIN_XL,         /* share of the link between GPUs reached */
  DL_TRAIN_XN,         /* and of the network */
  DL_TRAIN_XS,         /* waiting for the slowest GPU, by doubling */
  DL_TRAIN_XK,         /* waiting for late kernels, of theirs, by doubling */
  DL_N_TRAINING_CONSTANTS
};

/* Deviations of machines and networks from their descriptors, as logarithms; 0
 * where nothing is known. */
enum dl_training_effect {
  DL_EFFECT_HOST_LAUNCH,
  DL_EFFECT_HOST_EPOCH,
  DL_EFFECT_GPU_COMPUTE,
  DL_EFFECT_GPU_MEMORY,
  DL_EFFECT_GPU_POWER,
  DL_EFFECT_ARCH_TIME,
  DL_EFFECT_ARCH_KERNELS,
  DL_EFFECT_ARCH_POWER,
  DL_EFFECT_FRAMEWORK_LAUNCH,
  DL_EFFECT_FRAMEWORK_TIME,
  DL_EFFECT_FACTS_FLOPS, /* by which a row's facts of its network are off */
  DL_EFFECT_FACTS_BYTES,
  DL_EFFECT_FACTS_KERNELS,
  DL_EFFECT_FAMILY_COMPUTE,
  DL_EFFECT_FAMILY_MEMORY,
  DL_N_TRAINING_EFFECTS
};

/* Grouping factors. */
enum dl_training_factor {
  DL_FACTOR_HOST,
  DL_FACTOR_GPU,
  DL_FACTOR_ARCH,
  DL_FACTOR_FRAMEWORK,
  DL_FACTOR_FACTS,  /* a network on a data set, where its facts are uncertain */
  DL_FACTOR_FAMILY, /* of GPUs */
  DL_N_TRAINING_FACTORS
};

enum dl_physical_target {
  DL_TARGET_POWER,  /* mean, W */
  DL_TARGET_ENERGY, /* of an epoch, J */
  DL_TARGET_TIME,   /* of an epoch, s */
  DL_N_PHYSICAL_TARGETS
};

/* Software that trains. */
enum dl_training_stack {
  DL_STACK_EAGER,  /* kernel by kernel; also if it is not given, and compiled
                      kernels, with less traffic */
  DL_STACK_NGC,    /* NVIDIA's containers and examples */
  DL_STACK_MLPERF, /* code tuned for one network and GPU */
  DL_N_TRAINING_STACKS
};

/* A training; everything is known. Members of 8 bytes each, or ints in pairs:
 * inputs are compared byte by byte. */
struct dl_training_inputs {
  struct dl_grouping grouping;
  double batch;         /* samples per step */
  double train, val;    /* samples per epoch, of training and validation, of
                           all GPUs */
  double again;         /* share of a forward pass that training steps compute
                           again */
  double frozen;        /* share of the epochs with a frozen backbone */
  double spared;        /* passes of a training step that compute no gradients
                           of weights: 1 with adapters, else 0 */
  double flops;         /* of a forward pass of one sample */
  double depthwise;     /* FLOPs of depthwise layers, which are not in flops;
                           tuned software */
  double bytes;         /* read and written by the layers in it; of their
                           outputs alone where !bytes_known */
  double between;       /* bytes that normalisations and activations between
                           them move; tuned software, else in bytes */
  double regions;       /* 1: proposals and matching for each sample */
  double kernels;       /* of a forward pass */
  double beside;        /* of them, those that several threads launch beside
                           others */
  double weights, head; /* bytes of the trained weights without, and with a
                           frozen backbone */
  double peak;          /* FLOP/s at the precision in use */
  double other_flops;   /* that work in the next plainer format, and its */
  double other_peak;    /* rate: what libraries take where it is faster; 0:
                           none */
  double plain;         /* FLOP/s of FP32 without tensor cores */
  double clock;         /* relative to the A100's; tuned software, else 1 */
  double bandwidth;     /* of the GPU's memory, B/s */
  double tdp, limit;    /* W; limit: the power limit in force */
  double gddr;          /* GB/s of GDDR6 or later; 0: other memory */
  double chips;         /* GB/s that its chips could move */
  double server;        /* 1: the host is a server; 0: a desktop or not
                           known */
  double ram_w;         /* W of the node's memory within the boundary */
  double n_gpus;        /* that share the work */
  double per_node;      /* of them, at most: joined by the link */
  double link, network; /* B/s of a GPU, one direction */
  double gradients;     /* bytes exchanged, relative to the weights' */
  int bytes_known;      /* else outputs of dense layers, times CA */
  int mid_run;          /* steady state: nothing that comes once per epoch */
  int in_tensor;        /* peak of tensor cores: 1 TF32, 2 16 bits */
  int has_tensor;       /* the GPU has tensor cores */
  int stack;            /* enum dl_training_stack */
  int other_in_tensor;
  int drop_last; /* samples that do not fill a batch are left out */
  int ada_32;    /* GPUs of the generation Ada, in formats of 32 bits */
};

/* Cost of an epoch, and the parts of its time (s). */
struct dl_cost {
  double time, energy; /* s, J of a GPU */
  double compute, memory, kernels, launch, fixed;
  double depthwise;
  double waiting; /* for other GPUs */
};

/* c: the constants; fx: logarithms of the effects. */
void dl_training_epoch(const double *c, const double *fx,
                       const struct dl_training_inputs *inputs,
                       struct dl_cost *cost);

/* Name of the software whose constants apply: "eager", "ngc", "mlperf". */
const char *dl_training_software(const void *inputs);

extern const struct dl_physics dl_training_physics;

#endif
