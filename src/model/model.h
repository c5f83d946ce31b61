/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model: one or more fitted targets, as they are kept in a file.
 *
 * A fit predicts one quantity of a run ("target") by
 *
 *   link(target) - offset = regression(scaled features)
 *
 * with link = log or identity, and offset the link of a known factor or
 * addend. Features, offset and target are text formulas over the names of a
 * plan (run/plan.h). */

#ifndef DL_MODEL_MODEL_H
#define DL_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "math/cross_validation/metrics.h"
#include "math/regression/regression.h"
#include "math/regression/scale.h"
#include "model/calibration_runs.h"

/* Format of model files; the states of physics differ in format 1. */
#define DL_MODEL_FORMAT 2

/* Grouping factor of a set of held-out residuals. */
enum dl_held_out_group {
  DL_HELD_OUT_CONFIG, /* a configuration */
  DL_HELD_OUT_ARCH,
  DL_HELD_OUT_GPU,
  DL_HELD_OUT_ROWS, /* random rows: where a table has no groups */
  DL_HELD_OUT_PAIR, /* a network on a GPU, both of which others have; times */
  DL_HELD_OUT_SETTING, /* all runs with one value of a setting (dl_range) */
  DL_N_HELD_OUT
};

/* "config", "arch", "gpu", "rows", "pair", "setting". */
const char *dl_held_out_group_name(enum dl_held_out_group left);

/* Residuals of one group when it was held out: log(y / prediction) for a
 * logarithmic target, else y - prediction. That many quantiles at most stand
 * for the rows of the group. */
enum { DL_GROUP_RESIDUALS = 21 };

struct dl_group_residuals {
  char *name; /* owned */
  size_t n;   /* rows */
  size_t n_values;
  double value[DL_GROUP_RESIDUALS]; /* ascending */
  /* Whether intervals are as wide as a run's spread (dl_run_spreads), which is
   * kept for these rows. Else one width holds for all. */
  bool by_run;
  double spread[DL_GROUP_RESIDUALS];
};

struct dl_residuals {
  struct dl_group_residuals *g; /* owned */
  size_t n;                     /* groups; 0: not available */
  struct dl_scores pooled;      /* scores under this protocol */
};

/* Residuals of times, of the rows of one software stack. */
struct dl_time_residuals {
  char *software; /* "eager", "ngc", ...; owned */
  struct dl_residuals held_out[DL_N_HELD_OUT];
};

/* Training range of a variable that the features use. */
struct dl_range {
  char *name; /* owned */
  double low, high;
  /* Residuals of each value of a setting that several configurations share,
   * when it was held out; a group's name is the value. */
  struct dl_residuals held_out;
};

struct dl_fit {
  char *target;   /* "gpu_power_w" */
  char *unit;     /* "W", or NULL */
  char *boundary; /* "gpu", "gpu+ram", ..., or NULL */
  bool log_target;
  char *offset; /* formula, or NULL */
  struct dl_strlist features;
  struct dl_range *range; /* n_ranges variables, owned */
  size_t n_ranges;
  bool scaled;
  struct dl_scale scale; /* when scaled */
  const struct dl_regression *method;
  double hyper[DL_MAX_HYPER];
  void *state; /* of the method */
  /* Values of a calibrated fit before: the next calibration starts from them.
   */
  void *state_before; /* owned; NULL: the fit was not calibrated */
  size_t n_before, configurations_before;
  size_t n_gpus_before; /* the first of those seen */
  struct dl_residuals held_out_residuals[DL_N_HELD_OUT];
  struct dl_time_residuals *times; /* of a physics with times; owned */
  size_t n_times;
  struct dl_strlist archs, gpus; /* seen in training */
  size_t n;                      /* rows */
  size_t configurations;         /* distinct ones among them */
};

struct dl_model {
  char *path;                      /* of its file, or NULL */
  char *source;                    /* the table it was fitted on */
  char *digest;                    /* XXH3-128 of that table */
  size_t rows;                     /* of that table */
  char *citation;                  /* or NULL */
  char *options;                   /* command line that made it */
  char *version;                   /* of dlest */
  struct dl_calibration_runs runs; /* that it was calibrated with */
  struct dl_fit *fit;
  size_t n_fits;
  struct dl_model *next; /* another one to ask, or NULL; owned */
};

void dl_fit_free(struct dl_fit *f);
void dl_residuals_free(struct dl_residuals *r);
void dl_model_free(struct dl_model *m); /* accepts NULL */
void dl_model_free_local(struct dl_model **at);

/* The residuals of times of a software stack, or NULL. */
const struct dl_time_residuals *dl_fit_times(const struct dl_fit *f,
                                             const char *software);

/* Likewise; they are added where there are none. */
struct dl_time_residuals *dl_fit_add_times(struct dl_fit *f,
                                           const char *software);

/* The fit for a target among m and those after it, by the method of a physics
 * or (NULL) a regression on features; *owner is the model that holds it. NULL:
 * none. */
const struct dl_fit *dl_model_search(const struct dl_model *m,
                                     const char *target, const char *physics,
                                     const struct dl_model **owner);

/* Mean and standard deviation by which feature i is standardised; NaN where
 * features are taken as they are. */
double dl_fit_feature_mean(const struct dl_fit *f, size_t i);
double dl_fit_feature_sd(const struct dl_fit *f, size_t i);

/* Reads and writes model files (models/model.rng). `schema` is that file's
 * path, NULL to skip validation (files that ship). */
enum dl_status dl_model_read(struct dl_model **m, const char *path,
                             const char *schema, struct dl_diag *d);
enum dl_status dl_model_write(const struct dl_model *m, const char *path,
                              struct dl_diag *d);

#endif
