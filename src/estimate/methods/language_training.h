/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training and fine-tuning of language models by the physical method
 * (physics/language/language_cost.h): tokens a second of all GPUs, and what
 * each draws,
 *
 *   T = tokens / rate,   E = P n T
 *
 * with the tokens of all epochs, of which validation counts a third: it has no
 * backward pass. The interval joins the intervals of rate and power. */

#ifndef DL_ESTIMATE_METHODS_LANGUAGE_TRAINING_H
#define DL_ESTIMATE_METHODS_LANGUAGE_TRAINING_H

#include "estimate/methods/estimator.h"

/* Whether a job trains a language model, and there are fits of such. */
bool dl_trains_language(const struct dl_engine *ctx, const struct dl_job *job);

/* Duration of the whole run, s, of the GPUs alone, and with their input; NaN
 * where unknown. */
double dl_language_work_s(const struct dl_job *job,
                          const struct dl_job_predictions *p);
double dl_language_duration(const struct dl_job *job,
                            const struct dl_job_predictions *p);

/* Variances of time and power as the intervals have them: beyond what the fit
 * leaves open, the software, the board, and what no run of the fit had. */
void dl_language_deviations(const struct dl_engine *ctx,
                            const struct dl_job *job,
                            const struct dl_job_predictions *p,
                            struct dl_expected *e);

/* Estimates as the estimate() of an estimator does. */
void dl_estimate_language(const struct dl_engine *ctx, const struct dl_job *job,
                          const struct dl_job_predictions *p,
                          struct dl_estimate *est);

#endif
