/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/estimate: the rows of the registry, and what they share. */

#ifndef DL_ESTIMATE_METHODS_METHODS_H
#define DL_ESTIMATE_METHODS_METHODS_H

#include "estimate/methods/estimator.h"

#define DL_ESTIMATORS(ROW)                                                     \
  ROW(dl_physical_method)                                                      \
  ROW(dl_pre_epoch)                                                            \
  ROW(dl_pre_power)                                                            \
  ROW(dl_green_algorithms)                                                     \
  ROW(dl_tdp)                                                                  \
  ROW(dl_flops)

#define DL_ESTIMATOR(estimator) extern const struct dl_estimator estimator;
DL_ESTIMATORS(DL_ESTIMATOR)
#undef DL_ESTIMATOR

/* Time before the first step of a training whose duration is not given, s, and
 * the time beside its steps, as a share of theirs. */
double dl_startup_s(const struct dl_job *job);
double dl_overhead(const struct dl_job *job);

/* An assumed start-up may take 1 / this of it, or so many times as long. */
#define DL_STARTUP_FACTOR 3

/* Duration of a training whose steps take so long, s, and the other way. */
double dl_with_overhead(const struct dl_job *job, double steps_s);
double dl_without_overhead(const struct dl_job *job, double duration_s);

/* Sets the estimate of inference, given what conditions it. */
void dl_estimate_inference(const struct dl_engine *ctx,
                           const struct dl_job *job,
                           const struct dl_job_predictions *p,
                           struct dl_estimate *est);

/* Duration of the whole run in seconds, NaN where it is unknown. */
bool dl_pre_learnt_precision(const struct dl_job *job); /* FP32, TF32 */
double dl_pre_duration(const struct dl_job *job,
                       const struct dl_job_predictions *p);
double dl_physical_duration(const struct dl_job *job,
                            const struct dl_job_predictions *p);

/* The runs that models of images lack at the precision of a job ("measured runs
 * in int8"), in training and inference; or NULL. */
const char *dl_unlearnt_precision(const struct dl_job *job);

/* Why models of measured trainings do not apply to a job, or NULL. */
const char *dl_beyond_training(const struct dl_job *job);

/* Name of what a fit lacks to predict a job. */
const char *dl_fit_lacks(const struct dl_bound_fit *b,
                         const struct dl_job *job);

/* Adds a part, which is given at 90 %, to the relative half-width of an
 * interval. Bounds below 0 are as far as 0: log gives -infinity, low_j becomes
 * 0. */
void dl_widen(const struct dl_engine *ctx, struct dl_estimate *est, double by);

/* By how much the lower end of a time moves, of 90 % and of the logarithm,
 * where the software is not given, and both ends where no speeds of it were
 * published: in 16 bits tuned software takes down to 1 / 1.7 of the time of
 * eager mode (ResNet-50 on an H100). */
double dl_software_doubt(const struct dl_run *run);

/* By how much the upper end of a time moves, of 90 % and of the logarithm,
 * where networks with attention train on several GPUs in 16 bits by software
 * that is not given: what was published of them takes up to 3 times the time of
 * a benchmark's steps (docs/lab/published-speeds.md). */
double dl_recipe_doubt(const struct dl_job *job);

/* Turns the interval of the power at work into the interval of the mean power
 * of GPUs that work for work_s, s, and wait for their input at static_w, W: at
 * the longest wait it is the lowest. */
struct dl_input_wait;
void dl_widen_power(struct dl_estimate *est, double work_s, double static_w,
                    const struct dl_input_wait *wait);

/* Notes what the prediction interval is based on, and which quantities are
 * outside the range of the training data. */
void dl_note_interval(struct dl_estimate *est, const struct dl_fit *fit,
                      const struct dl_prediction *p);

/* Notes both for a fit of image networks, or NULL, and adds the number of
 * GPUs. */
void dl_note_limits(const struct dl_engine *ctx, struct dl_estimate *est,
                    const struct dl_fit *fit, const struct dl_job *job,
                    const struct dl_prediction *p);

#endif
