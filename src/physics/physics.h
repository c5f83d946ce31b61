/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a physics is to the hierarchical fit (hierarchical_fit.h): tables and a
 * function that predicts. Training (training/) and LLM serving (serving/) are
 * two; another is a struct dl_physics in a folder of its own.
 *
 * A physics predicts the logarithms of a few targets (time, power, ...) from
 * constants, random effects and the inputs of a configuration. Constants and
 * effects are logarithms with normal priors. Each random effect belongs to a
 * grouping factor (GPU, host, architecture, ...) and has a value for each level
 * of it (each GPU, ...). */

#ifndef DL_PHYSICS_PHYSICS_H
#define DL_PHYSICS_PHYSICS_H

#include <stdbool.h>
#include <stddef.h>

#include "physics/residual_gp.h"

/* Upper limits, so that a state needs few blocks of memory. */
enum {
  DL_MAX_CONSTANTS = 32,
  DL_MAX_FACTORS = 6,
  DL_MAX_EFFECTS = 16,       /* of all factors */
  DL_MAX_FACTOR_EFFECTS = 4, /* of one */
  DL_MAX_TARGETS = 4
};

/* A constant of the physics, positive. The prior of its logarithm is normal. */
struct dl_physics_constant {
  const char *name;
  const char *unit;  /* NULL: none */
  double median, sd; /* of the prior; sd of the logarithm */
  const char *summary;
};

struct dl_random_effect {
  const char *name;
  double sd; /* of the prior; 0: the inputs' level_sd */
};

/* A grouping factor; its effects follow each other. */
struct dl_grouping_factor {
  const char *name;
  size_t first, n; /* its effects */
  bool own_data;   /* its levels belong to the data of the fit: they are no part
                      of the posterior that calibration starts from */
  size_t many;     /* beyond that many levels, one that has a single
                      configuration gets no effects; 0: no limit */
  /* Calibration: units of a level differ. A level of the fit in a level of
   * factor `unit` that the fit has not seen is another unit, whose effects may
   * differ by this share of what levels do. 0: they do not. */
  size_t unit;
  double unit_share;
};

/* The head of a physics' inputs: what the fit needs of any of them. */
struct dl_grouping {
  double level[DL_MAX_FACTORS]; /* keys; 0: none */
  /* Keys by which the same levels are found in inputs that do not name them;
   * 0: none. */
  double unnamed[DL_MAX_FACTORS];
  double level_sd;           /* prior of effects without an sd of their own */
  double sd[DL_MAX_TARGETS]; /* by which measured logarithms may be off */
  double misfit_sd;          /* the same of the inputs: for calibration */
  bool partial; /* part of what it describes was not measured: it has no part
                   in the residual process */
  struct dl_place place;
};

/* Derivatives of the logarithm of a target by the logarithms of the constants
 * and by the effects. */
struct dl_gradient {
  double c[DL_MAX_CONSTANTS];
  double fx[DL_MAX_EFFECTS];
};

struct dl_physics {
  const char *name;
  const struct dl_physics_constant *constant;
  size_t n_constants;
  const struct dl_grouping_factor *factor;
  size_t n_factors;
  const struct dl_random_effect *effect;
  size_t n_effects;
  /* Standard deviations of the residuals of the logarithms, by target: what
   * the priors are weighed against. */
  const double *sigma;
  size_t n_targets;
  /* A configuration counts by the weight of its runs; else as one. */
  bool weighted;
  /* Covariance of what the physics leaves over; NULL: independent, and the fit
   * cannot be calibrated. */
  const struct dl_residual_process *process;
  size_t input_size; /* bytes of the inputs, which begin with a dl_grouping */
  /* Logarithms of the targets. c: the constants themselves; fx: logarithms of
   * the effects, 0 where nothing is known. */
  void (*predict)(const double *c, const double *fx, const void *inputs,
                  double *log_target);
  /* Their derivatives, n_targets of them. */
  void (*gradient)(const double *c, const double *fx, const void *inputs,
                   struct dl_gradient *g);
};

#endif
