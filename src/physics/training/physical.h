/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical regression: what it takes as features, and what else it tells.
 *
 * Its features are not free: they are the columns below, in this order, as
 * they are (never standardised). 0 stands for what is not known. The target
 * is the logarithm of a power, an energy or a duration. */

#ifndef DL_PHYSICS_TRAINING_PHYSICAL_H
#define DL_PHYSICS_TRAINING_PHYSICAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "physics/training/training_cost.h"

enum dl_physical_column {
  DL_PC_TARGET,     /* what is fitted and predicted: enum dl_physical_target */
  DL_PC_BATCH,      /* samples a step */
  DL_PC_PX,         /* side of the input image, px; 0: no images */
  DL_PC_TRAIN,      /* samples an epoch */
  DL_PC_VAL,        /* the same, of the validation */
  DL_PC_FROZEN,     /* share of the epochs with a frozen base, 0 .. 1 */
  DL_PC_MACS,       /* 1e9, one forward pass of one sample */
  DL_PC_TRAFFIC,    /* 1e6 elements that all layers read and write */
  DL_PC_ACTS,       /* 1e6 outputs of convolutions and dense layers */
  DL_PC_KERNELS,    /* of one forward pass */
  DL_PC_LAYERS,     /* convolutions and dense layers */
  DL_PC_WEIGHTS,    /* 1e6 parameters */
  DL_PC_HEAD,       /* 1e6 of them trained with a frozen base */
  DL_PC_ELEMENT,    /* bytes an element of the activations */
  DL_PC_PEAK,       /* 1e12 FLOP/s at the precision in use */
  DL_PC_IN_TENSOR,  /* that of tensor cores: 1 TF32, 2 a 16-bit format */
  DL_PC_HAS_TENSOR, /* 1: the GPU has some */
  DL_PC_BANDWIDTH,  /* GB/s */
  DL_PC_TDP,        /* W */
  DL_PC_LIMIT,      /* W, the power limit in force */
  DL_PC_GDDR,       /* 1: the memory is GDDR6, 6X or 7 */
  DL_PC_SERVER,     /* 1: the host is a server */
  DL_PC_RAM_W,      /* W of the node's memory within the boundary */
  DL_PC_GPU,        /* keys: numbers that stand for names, 0 for none */
  DL_PC_HOST,
  DL_PC_ARCH,
  DL_PC_SOURCE,
  DL_PC_DATASET,
  DL_PC_FRAMEWORK,
  DL_PC_FACTS_DOUBT, /* sd of the logarithm by which the facts of the network
                        (work, traffic, kernels) may be off */
  DL_PC_POWER,       /* measured beside the target: used in fits alone */
  DL_PC_ENERGY,      /* of an epoch, J */
  DL_PC_TIME,        /* of an epoch, s */
  DL_PC_DOUBT, /* sd of the logarithm by which the row may be off; such rows
                  are taken in the midst of a run, without t0 */
  DL_PC_N
};

/* What an epoch consists of. */
struct dl_physical_parts {
  double time_s, gpu_energy_j, gpu_power_w;
  /* Time each would take alone, s; they overlap. */
  double compute_s, memory_s, kernels_s, launch_s, fixed_s;
  const char *bound; /* "compute", "memory", "kernels" or "launch" */
};

/* For a fitted state and a row of DL_PC_N columns. Without what the fit
 * learnt from the residuals of near configurations. */
void dl_physical_explain(const void *state, const double *row,
                         struct dl_physical_parts *parts);

/* What was measured of a target in a row of DL_PC_N columns, NaN where it was
 * not; an energy may follow from power and time. */
double dl_physical_measured(const double *row, enum dl_physical_target target);

/* Fitted constants, for reports. */
struct dl_physical_constant {
  const char *name, *unit, *summary;
  double value;         /* median */
  double error;         /* standard error of the logarithm */
  double prior, spread; /* median, and sd of the logarithm */
};
size_t dl_physical_constants(const void *state,
                             struct dl_physical_constant *list, size_t most);

/* The inputs of a row of DL_PC_N columns, and the logarithms of what was
 * measured where `value` has NaN. */
void dl_training_inputs_of(const double *row, struct dl_training_inputs *in);

#endif
