/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fit bound to a plan: predictions for its rows. */

#ifndef DL_MODEL_PREDICTOR_H
#define DL_MODEL_PREDICTOR_H

#include "model/model.h"
#include "physics/fit_row.h"
#include "run/plan.h"

struct dl_predictor;

/* Both are borrowed and must outlive the predictor. `coverage`: of the
 * intervals (0 .. 1). `rarely`: features are computed when a row is predicted,
 * not for every row. Errors (DL_EUSAGE): the plan lacks a name that the fit
 * needs. */
enum dl_status dl_predictor_new(struct dl_predictor **p,
                                const struct dl_fit *fit, struct dl_row_plan *f,
                                double coverage, bool rarely,
                                struct dl_diag *d);
void dl_predictor_free(struct dl_predictor *p); /* accepts NULL */

/* A row of the plan to a predictor. What a physics says of it is worked out
 * once for all that follows: borrowed from one place in memory, not copied. */
struct dl_predictor_row {
  const struct dl_predictor *p;
  const struct dl_row *row;
  const struct dl_row_bounds *bounds; /* by what is new to the fit */
  /* Members for a physics: */
  const char *lacks; /* the first required quantity that is unknown, or NULL */
  struct dl_inputs inputs;
  struct dl_fit_row of_fit; /* where nothing is lacking */
  bool spread_known, spread_of_new_arch, spread_of_new_gpu;
  double spread[DL_MAX_TARGETS];
};

/* Thread-safe, as all that takes such a row. */
void dl_predictor_take(const struct dl_predictor *p, const struct dl_row *row,
                       struct dl_predictor_row *out);

struct dl_prediction {
  double value;     /* of the target, in its unit; NaN: not possible */
  double low, high; /* interval; NaN without one */
  enum dl_held_out_group novelty; /* whose residuals gave the interval */
  size_t groups;                  /* so many of them */
  bool all_seen;  /* the row's own group is among them: others are wider apart
                     from it than the runs that are like the row's */
  bool of_stack;  /* they are groups of times with its software stack */
  bool own_runs;  /* a run of a calibration was of its network on its GPU */
  size_t repeats; /* so many runs of a calibration measured its very
                     configuration, whose repeats gave the interval; 0: none */
  double extrapolation; /* part of the relative half-width due to variables
                           outside of their training range */
  unsigned outside;     /* bit i: variable i (fit->range) is outside */
};

enum dl_status dl_predict(struct dl_predictor_row *at,
                          struct dl_prediction *out, struct dl_diag *d);

/* Bounds of log(value / prediction) of the target of `p` for a row given to
 * another predictor of its physics, or to p: by what is new of the row to p,
 * and as wide as the joint posterior of the row's fit has it, but for variables
 * outside of their training range. */
struct dl_log_bounds {
  double low, high;
  enum dl_held_out_group novelty;
  size_t groups;  /* whose residuals gave a time's bounds */
  bool all_seen;  /* nothing is new: as for another GPU, which is more */
  bool apart;     /* none of the fit's own rows had the software of the row */
  size_t repeats; /* as of a prediction */
};

/* False without, or where the target is no logarithm. */
bool dl_predictor_bounds(const struct dl_predictor *p,
                         struct dl_predictor_row *at,
                         struct dl_log_bounds *out);

/* Bounds of log(time / prediction), by the residuals of the rows with its
 * software and by what is new of it among these. `apart`: none of the fit's own
 * rows had that software. The bounds are then another laboratory's, as with
 * anything that is new, unless the fit was calibrated with such work. False
 * without. */
bool dl_predictor_times(struct dl_predictor_row *at, const char *software,
                        struct dl_log_bounds *out);

/* Name of the first variable that the fit needs and the row lacks, or NULL. */
const char *dl_predictor_lacks(const struct dl_predictor *p,
                               const struct dl_row *row);

#endif
