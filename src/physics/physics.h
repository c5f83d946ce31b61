/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as the hierarchical fit (hierarchical_fit.h) takes it: tables and a
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

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "physics/residual_gp.h"
#include "run/row.h"

/* Upper limits, so that a state needs few blocks of memory. */
enum {
  DL_MAX_CONSTANTS = 48,
  DL_MAX_FACTORS = 6,
  DL_MAX_EFFECTS = 16,       /* of all factors */
  DL_MAX_FACTOR_EFFECTS = 4, /* of one */
  DL_MAX_TARGETS = 4
};

enum { DL_SETTLED_BELOW = 5 }; /* see struct dl_physics */

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
  /* Standard deviation of the prior of a level that only the runs of a
   * calibration have; errors of work that is bound alike have the rest. Then
   * for a level within DL_NAME_TUNED. */
  double calibrated_sd, tuned_sd;
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

/* Names that a row groups by; NULL: unknown. */
enum dl_name {
  DL_NAME_NONE, /* always NULL */
  DL_NAME_GPU,
  DL_NAME_ARCH,
  DL_NAME_HOST,
  DL_NAME_SOURCE,
  DL_NAME_DATASET,
  DL_NAME_FRAMEWORK,
  DL_NAME_FAMILY, /* of the GPU */
  DL_NAME_TUNED,  /* software that is tuned for networks, kept apart */
  DL_NAME_STACK,
  DL_N_NAMES
};

/* A level is a name, or one within another: a network on a data set. Both
 * DL_NAME_NONE: there is no level. */
struct dl_level_names {
  enum dl_name name, within;
};

/* The head of a physics' inputs: what the fit needs of any of them. Without
 * padding, as inputs are compared byte by byte. */
struct dl_grouping {
  const char *name[DL_N_NAMES]; /* borrowed */
  struct dl_level_names level[DL_MAX_FACTORS];
  /* Names that find these levels in inputs that do not name them. */
  struct dl_level_names unnamed[DL_MAX_FACTORS];
  double level_sd;           /* prior of effects without an sd of their own */
  double sd[DL_MAX_TARGETS]; /* by which measured logarithms may be off */
  double misfit_sd;          /* the inputs' own doubt: for calibration */
  double waiting_sd;         /* part of it: GPUs waited, and their work follows
                                from the utilization; 0: they did not */
  double x[DL_PLACE_AXES];   /* place in the residual process (residual_gp.h) */
  double exact;
  long steady; /* 1: part of what the inputs describe was not measured, and
                  the row has no part in the residual process */
};

/* The inputs of any physics. */
enum { DL_MOST_INPUT_BYTES = 768 };
struct dl_inputs {
  alignas(max_align_t) unsigned char bytes[DL_MOST_INPUT_BYTES];
};

/* A quantity of a row that the inputs are made of. */
struct dl_physics_quantity {
  size_t id;        /* in a plan; DL_N_PLAN_NAMES: it has no number there */
  const char *name; /* column of the runs table, "gpu.FIELD" or "arch.FIELD";
                       other names are numbers in columns of their own */
  bool required;
  bool watched; /* predictions beyond the range of the fit are reported */
};

#define DL_ON_RUN(name) DL_RUN_##name, #name
#define DL_ON_GPU(name) DL_OF_GPU_##name, "gpu." #name
#define DL_ON_ARCH(name) DL_OF_ARCH_##name, "arch." #name
#define DL_ON_OWN(name) DL_N_PLAN_NAMES, #name

enum { DL_MAX_OTHER = 4 };

/* The values of those quantities. */
struct dl_physics_row {
  const struct dl_run *run;
  const struct dl_accelerator *gpu; /* never NULL; all may be unknown */
  const struct dl_architecture *arch;
  double other[DL_MAX_OTHER]; /* numbers in other columns, in their order */
};

/* Derivatives of the logarithm of a target by the logarithms of the constants
 * and by the effects. */
struct dl_gradient {
  double c[DL_MAX_CONSTANTS];
  double fx[DL_MAX_EFFECTS];
};

/* Targets of which one is an energy E = (k P + m) T of a power P and a time T,
 * with constants k and m: its derivatives follow from theirs. */
struct dl_energy_targets {
  size_t energy, power, time;
};

struct dl_physics {
  const char *name;
  const char *recipe; /* its name among those that fit tries */
  const struct dl_physics_quantity *quantity;
  size_t n_quantities;
  const char *const *target; /* columns of the targets, by number */
  /* Inputs of a row, whose texts they borrow. Returns the first required
   * quantity that is unknown, or NULL. */
  const char *(*read)(const struct dl_physics_row *row, void *inputs);
  /* Logarithms of what a row measured into value[n_targets]; NaN: nothing. */
  void (*measured)(const struct dl_run *run, double *value);
  /* The logarithm of a target in an auxiliary row that is held out, to compare
   * with a prediction; NaN: the row is not compared. NULL: what was measured.
   */
  double (*scored)(const void *inputs, const double *value, size_t target);
  /* The software of inputs, by which the fit of target `times_beside` keeps the
   * residuals of target `time` (model.h). NULL: none are kept. */
  const char *(*software)(const void *inputs);
  size_t time, times_beside;
  /* Why inputs cannot be fitted ("... must be above 0"), or NULL. */
  const char *(*check)(const void *inputs);
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
  /* NULL: there is none. Without it two targets at most have a joint prediction
   * (conditioning/joint_prediction.h). */
  const struct dl_energy_targets *energy;
  /* A configuration counts by the weight of its runs; else as one. */
  bool weighted;
  /* Covariance of what the physics leaves over; NULL: independent, and the fit
   * cannot be calibrated. */
  const struct dl_residual_process *process;
  /* Intervals are as wide as the posterior is for a run
   * (conditioning/joint_prediction.h); else one width holds for all runs. */
  bool widths_by_run;
  /* The process between runs of a calibration. */
  const struct dl_residual_process *calibration;
  /* Bit t: a calibration of the fit of target t by fewer than DL_SETTLED_BELOW
   * configurations moves neither constants nor effects, but the estimates of
   * work like its runs' alone: more would make estimates of other work worse.
   */
  unsigned settled;
  /* Fits of a model whose targets a table lacks are ignored: models of serving
   * are installed beside models of training. */
  bool optional;
  bool inference;    /* of rows of inference, which others leave out */
  size_t input_size; /* bytes of the inputs, which begin with a dl_grouping */
  /* Logarithms of the targets. c: the constants themselves; fx: logarithms of
   * the effects, 0 where nothing is known. */
  void (*predict)(const double *c, const double *fx, const void *inputs,
                  double *log_target);
  /* Predictions with their derivatives, n_targets of them. */
  void (*gradient)(const double *c, const double *fx, const void *inputs,
                   double *log_target, struct dl_gradient *g);
  /* Finds what bounds the work by constants c, in coordinates whose distance
   * the residual process takes, and its shares of time: to->bound and to->rate.
   * NULL: not known, and no fit can be calibrated. */
  void (*bound)(const double *c, const void *inputs, struct dl_place *to);
  /* Whether a GPU that the fit lacks may have rates of its own in these shares,
   * which widens intervals. NULL: it may. */
  bool (*own_rates)(const void *inputs);
  /* The sum of the squares ((log_target - mean) scale)^2, and half its gradient
   * into *g; a derivative that is not finite may stay out. mean: measured
   * logarithms, scale: the inverse of their standard deviations; 0: not
   * measured. NULL: it follows from `gradient`. */
  double (*squares)(const double *c, const double *fx, const void *inputs,
                    const double *mean, const double *scale,
                    struct dl_gradient *g);
};

#endif
