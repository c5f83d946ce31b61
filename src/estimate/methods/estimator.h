/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimators behind one interface: a job in, an energy out.
 *
 * Adding one is one file that defines a dl_estimator and one row in the
 * table of estimators.c. */

#ifndef DL_ESTIMATE_METHODS_ESTIMATOR_H
#define DL_ESTIMATE_METHODS_ESTIMATOR_H

#include "estimate/job.h"
#include "model/predictor.h"

enum { DL_MOST_OUTSIDE = 24 };

/* What an estimator says; NaN and NULL where it does not. */
struct dl_estimate {
  const char *method;
  const char *boundary;      /* "gpu", "gpu+ram", ... */
  double energy_j;           /* of the whole run, all GPUs; NaN: not possible */
  double low_j, high_j;      /* interval, NaN without one */
  const char *interval_from; /* what was left out for it: "config", "arch",
                                "gpu", "rows" */
  size_t interval_groups;    /* how many of these it rests on */
  double power_w;            /* mean, all GPUs, within the boundary */
  double memory_w;           /* part of it that is the node's memory; 0 */
  double duration_s;
  const char *duration_from; /* "given", or the method it comes from */
  const char *model;         /* file of the fitted model */
  const char *outside[DL_MOST_OUTSIDE]; /* quantities beyond its range */
  size_t n_outside;
  const char *lacks; /* name of a quantity that is missing */
};

/* A fit bound to the frame; p is NULL without one. */
struct dl_bound_fit {
  struct dl_predictor *p;
  const struct dl_fit *fit;
  const char *model; /* its file */
};

/* The fits of the targets that estimators ask for. */
struct dl_fits {
  struct dl_bound_fit power; /* gpu_power_w */
  struct dl_bound_fit epoch; /* epoch_energy_j */
  struct dl_bound_fit time;  /* epoch_s */
};

/* What estimators share: the models. */
struct dl_context {
  struct dl_fits pre;      /* regressions on features */
  struct dl_fits physical; /* the physical method */
  struct dl_fits serving;  /* of requests: request_power_w, _energy_j, _s */
  bool asks_pre;           /* an estimator asks the former in any case */
};

struct dl_estimator {
  const char *name;
  const char *summary;
  const char *source; /* who published it */
  /* Whether dlest would use it where it can: higher wins. With a duration
   * given, and without. 0: only for comparison. */
  int rank_given, rank_open;
  bool asks_pre; /* takes what the regressions say of a job (job->said) */
  /* What it takes from descriptors, by kind and field ("gpu.tdp_w"),
   * NULL-terminated; NULL: nothing. For 'dlest check'. */
  const char *const *needs;
  /* The duration of the job has been settled: job->duration_s (NaN when
   * nothing gives one) and est->duration_s, est->duration_from. */
  enum dl_status (*estimate)(const struct dl_context *ctx,
                             const struct dl_job *job, struct dl_estimate *est,
                             struct dl_diag *d);
};

size_t dl_estimator_count(void);
const struct dl_estimator *dl_estimator_at(size_t i);
const struct dl_estimator *dl_estimator_find(const char *name);

/* Has the models predict once what several estimators need of a job; what
 * none needs stays NaN. Comes before the two below. */
enum dl_status dl_ask_models(const struct dl_context *ctx, struct dl_job *job,
                             struct dl_diag *d);

/* Settles the duration of a job: the user's, else the physical method's, else
 * PRE's, else the one of FLOPs; NaN and NULL when none is possible. */
void dl_settle_duration(const struct dl_job *job, double *duration_s,
                        const char **from);

/* Runs one estimator on a job (its duration settled beforehand). */
enum dl_status dl_run_estimator(const struct dl_estimator *e,
                                const struct dl_context *ctx,
                                const struct dl_job *job, double duration_s,
                                const char *duration_from,
                                struct dl_estimate *est, struct dl_diag *d);

/* Index of the estimate that dlest itself would use, or -1. */
long dl_recommended(const struct dl_estimate *est, size_t n,
                    bool duration_given);

#endif
