/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intermediate values of the physics of training (training_cost.h), which its
 * derivatives build on. */

#ifndef DL_PHYSICS_TRAINING_TRAINING_STEP_H
#define DL_PHYSICS_TRAINING_TRAINING_STEP_H

#include "physics/power_limit.h"
#include "physics/training/training_cost.h"

/* Kinds of steps; in turn with full batches and with the last, smaller one. */
enum dl_training_mode {
  DL_FULL,
  DL_FROZEN,
  DL_AGAIN, /* a forward pass of a training step, computed again */
  DL_VALIDATION,
  DL_N_TRAINING_MODES,
  DL_N_TRAINING_STEPS = 2 * DL_N_TRAINING_MODES
};

/* Parts that depend on the software. */
enum dl_stack_part {
  DL_PART_FP32, /* share of the peak rate, in the order of in_tensor */
  DL_PART_TF32,
  DL_PART_HALF,
  DL_PART_EM,
  DL_PART_TAU,
  DL_PART_LAMBDA,
  DL_PART_C0,
  DL_PART_WOPT,
  DL_PART_BETWEEN_32,
  DL_PART_BETWEEN_16,
  DL_PART_REGIONS,
  DL_PART_DEPTHWISE,
  DL_N_STACK_PARTS
};

/* One step. Times in s. */
struct dl_training_step {
  double compute, memory, kernels, launch;
  enum dl_stack_part efficiency; /* the share of the peak that compute has */
  double weights;                /* part of memory: traffic of the weights */
  double between;       /* part of memory: normalisations and activations */
  double depthwise;     /* depthwise layers */
  double per_step;      /* part of launch that does not depend on the network */
  double beside;        /* part of launch: kernels beside the longest path */
  double regions;       /* part of launch: proposals of two-stage detectors */
  double gpu;           /* compute + memory + kernels + depthwise */
  double unlimited;     /* without a power limit */
  double alone;         /* with it, without the other GPUs */
  double link, network; /* exchange of gradients */
  double slowest;       /* factor by which GPUs wait for the slowest */
  double late;          /* wait for kernels that start late in the node */
  double time;
  double dynamic; /* power demanded beyond the static, W */
  struct dl_power_limit limit;
};

/* An epoch: its steps by mode, with full batches and then with the last one,
 * and how many (0: none, and the step is not set). */
struct dl_training_epoch {
  const struct dl_training_inputs *in;
  const double *c;                  /* constants */
  double fx[DL_N_TRAINING_EFFECTS]; /* effects, as factors */
  double base;                      /* static power, W */
  double lowest;                    /* power at the lowest clocks, W */
  struct dl_training_step step[DL_N_TRAINING_STEPS];
  double n[DL_N_TRAINING_STEPS];
  struct dl_cost cost;
};
void dl_training_epoch_of(struct dl_training_epoch *e, const double *c,
                          const double *fx,
                          const struct dl_training_inputs *inputs);

/* A GPU that waits for the others polls them: half of what it draws at work,
 * assumed. The seconds of a step at its power count that much of the time
 * alone, and the rest of its time. */
#define DL_TRAINING_BUSY_ALONE 0.5
double dl_training_busy(const struct dl_training_step *step);

/* Logarithms of the targets of an epoch. */
void dl_training_targets(const struct dl_cost *cost,
                         const struct dl_training_inputs *inputs,
                         double log_target[DL_N_PHYSICAL_TARGETS]);

/* The two constants of which a part is the product; DL_N_TRAINING_CONSTANTS
 * stands for 1. */
const enum dl_training_constant *
dl_training_part(const struct dl_training_inputs *inputs,
                 enum dl_stack_part part);

/* Time of work and of an exchange beside it: (alone^4 + exchange^4)^(1/4). */
double dl_training_overlap(double alone, double exchange);

/* Share of the memory bandwidth reached. */
double dl_training_bandwidth_share(const double *c,
                                   const struct dl_training_inputs *inputs);

/* The part of the traffic between layers. */
enum dl_stack_part dl_training_between(const struct dl_training_inputs *inputs);

/* Finds what bounds an epoch (physics.h): the shares of arithmetic, traffic,
 * kernels and launches of the time that all would take alone, the number of
 * kernels, and the software. In training_parts.c. */
void dl_training_bound(const double *c, const void *inputs,
                       struct dl_place *to);

/* GPUs without tensor cores (physics.h). In training_parts.c. */
bool dl_training_own_rates(const void *inputs);

/* The physics' gradient and squares (physics.h), in training_gradient.c. */
void dl_training_gradient(const double *c, const double *fx, const void *inputs,
                          double *log_target, struct dl_gradient *g);
double dl_training_squares(const double *c, const double *fx,
                           const void *inputs, const double *mean,
                           const double *scale, struct dl_gradient *g);

#endif
