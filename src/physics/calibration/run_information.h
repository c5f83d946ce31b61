/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Information that runs would give a fit, before they are measured.
 *
 * With the errors of a calibration linearised about its prior (calibration.h),
 * two logarithms have the covariance
 *
 *   C = J L L' J' + K
 *
 * J: their derivatives by constants and effects; L: the factor of the prior's
 * covariance; K: the residuals' covariance. A run that measures the points P
 * with the noise N leaves
 *
 *   C - C_P (C_PP + N)^-1 C_P'
 *
 * whatever it measures (Rasmussen & Williams 2006, Gaussian Processes for
 * Machine Learning, section 2.2), so that the best run can be chosen without
 * any measurement (Krause, Singh & Guestrin 2008, JMLR 9, 235-284). */

#ifndef DL_PHYSICS_CALIBRATION_RUN_INFORMATION_H
#define DL_PHYSICS_CALIBRATION_RUN_INFORMATION_H

#include "physics/hierarchical_fit.h"

/* A run that could be measured, or was. */
struct dl_information_run {
  const void *inputs;
  unsigned measured; /* bit t: target t */
};

/* All borrowed. */
struct dl_information_request {
  const struct dl_hierarchical_fit *from;
  const struct dl_information_run *run; /* n_runs */
  size_t n_runs;
  const void *const *wanted; /* n_wanted: inputs of what is to be estimated */
  size_t n_wanted;
  /* Sum of these multiples of the logarithms of each one's targets. */
  const double *quantity;
};

struct dl_run_information;

/* *out is owned by the caller; it borrows the request. Errors (DL_EINPUT): a
 * state without its posterior, or with runs of an earlier calibration. */
enum dl_status
dl_run_information_new(struct dl_run_information **out,
                       const struct dl_information_request *request,
                       struct dl_diag *d);
void dl_run_information_free(struct dl_run_information *p); /* accepts NULL */

/* The variances of the errors of the wanted quantities, n_wanted of them,
 * against one measurement of each; borrowed. */
const double *dl_variance_before(const struct dl_run_information *p);

/* Variances after each of n runs, from number `first` on, alone: n x n_wanted.
 * Thread-safe. */
void dl_variance_after(const struct dl_run_information *p, size_t first,
                       size_t n, double *variance);

/* Run number `run` is measured from now on. */
void dl_run_information_measure(struct dl_run_information *p, size_t run);

#endif
