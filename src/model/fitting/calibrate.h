/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fit brought to one's own machine by a few measured runs. */

#ifndef DL_MODEL_FITTING_CALIBRATE_H
#define DL_MODEL_FITTING_CALIBRATE_H

#include "model/training/training_table.h"
#include "model/model.h"

/* How far off a fit is on the runs: before, after learning from all others of
 * them (left_out: a configuration, or one of DL_LEFT_OUT_SETS sets of them, is
 * left out in turn; NaN for a single configuration), and after learning from
 * all of them. Mean absolute percentage errors, as fractions; NaN where the
 * target, or the time, was not measured. The worst run measured `worst` times
 * the estimate before, in that line of the table (0: none). */
enum { DL_LEFT_OUT_SETS = 20 };
struct dl_calibration {
  size_t runs, configurations;
  struct dl_calibration_errors {
    double before, left_out, after, worst;
    size_t worst_line;
  } of_target, of_time; /* of_time: of a fit of energies, which has a time */
  /* A run whose GPUs would draw more than their limit while they work: nothing
   * is learnt then. Line 0: none. */
  size_t over_line;
  double over_util, over_power_w, over_limit_w; /* of a GPU */
  size_t waited; /* runs whose utilization says so: their work alone counts */
  bool again;    /* by an earlier version, which did not keep the runs */
  size_t gpus;   /* of the runs */
  /* The GPU with most configurations that still counts as unseen ("": none),
   * and how many it has. */
  char unseen_gpu[48];
  size_t unseen_configurations;
};

/* Whether its method can learn from runs. */
bool dl_can_be_calibrated(const struct dl_fit *fit);

/* Updates a fit of a physics by the rows of t, which has the rows of the
 * physics and two formulas, the target and the GPU utilization; the prior is
 * the posterior of the fit before any calibration: t has the runs of all.
 * DL_NOT_MEASURED stands for a value that a row lacks: its other quantities
 * teach alone. A run whose utilization is lower than its work's has waited
 * (training_waiting.h). The fit's state is replaced, and the first one kept; a
 * GPU with DL_CALIBRATED_CONFIGS configurations or more counts as seen from
 * then on; others keep the interval of an unseen GPU. Errors, which the first
 * function finds: DL_EUSAGE for a method that cannot learn so, DL_EINPUT for no
 * usable row or a target that is not above 0. */
enum { DL_CALIBRATED_CONFIGS = 5, DL_NOT_MEASURED = -1 };
enum dl_status dl_calibrate_check(const struct dl_fit *fit,
                                  const struct dl_training *t,
                                  struct dl_diag *d);
enum dl_status dl_calibrate(struct dl_fit *fit, const struct dl_training *t,
                            struct dl_calibration *c, struct dl_diag *d);

/* Makes a fit what it was before any calibration. */
void dl_uncalibrate(struct dl_fit *fit);

/* Warns of what is suspicious in the errors of a target: a run, of those that
 * the table of the calibration had in this order from line 2 on, that the
 * estimate misses by many times, and runs of `input` that contradict each
 * other. */
void dl_calibration_warn(const struct dl_calibration_errors *errors,
                         const char *target,
                         const struct dl_calibration_runs *runs,
                         const char *input, struct dl_diag *d);

#endif
