/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimators behind one interface: a job in, an energy out.
 *
 * Adding one is one file that defines a dl_estimator and one row in the
 * table of estimators.c. */

#ifndef DL_ESTIMATE_METHODS_ESTIMATOR_H
#define DL_ESTIMATE_METHODS_ESTIMATOR_H

#include "estimate/predictions.h"

enum { DL_MOST_OUTSIDE = 24 };

/* An estimator says this of a job; NaN and NULL where it does not. */
struct dl_estimate {
  enum dl_method id; /* of an estimator; UNKNOWN: another method */
  const char *method;
  const char *boundary;        /* "gpu", "gpu+ram", ... */
  struct dl_interval energy_j; /* of the whole run, all GPUs; x NaN: not
                                  possible */
  const char *interval_from;   /* what was held out for it: "config", "arch",
                                  "gpu", "rows" */
  size_t interval_groups;      /* how many groups it is based on */
  bool all_seen;               /* none of these is new of the job */
  struct dl_interval power_w;  /* mean, all GPUs, within the boundary */
  double memory_w;             /* part of it that is the node's memory; 0 */
  double waits_w;              /* of all GPUs in start-up and idle tail; 0 */
  struct dl_interval duration_s;
  const char *duration_from; /* "given", or the method it comes from */
  bool loader_assumed;       /* and it waits for one not described, of */
  double loader_workers;     /* so many processes per GPU */
  double loader_rate;        /* samples per second of one that is described;
                                NaN */
  double loader_doubt;       /* 90 % half-width of its logarithm */
  double loader_core_s;      /* time of cores that reads and decodes all
                                samples; NaN: not known */
  double capped;             /* by this share the power of a node's accelerators
                                may be lower, if their limits are lowered */
  const char *model;         /* file of the fitted model */
  const char *outside[DL_MOST_OUTSIDE]; /* quantities beyond its range */
  size_t n_outside;
  const char *lacks;     /* name of a quantity that is missing */
  bool other_precision;  /* than the runs of its fit had: dlest does not
                            recommend  it */
  bool software_matters; /* it is wider or longer because no software stack is
                            given */
  /* dl_estimate_throughput sets these for a training on all GPUs: samples and
   * tokens of the training set per second, and the model's FLOPs (without what
   * is computed again) by what the GPUs could do at their peak. */
  double samples_per_s, tokens_per_s, mfu;
  double busy_share; /* of the time in which the GPUs work, where something is
                        known of the run; NaN */
  const char *precision; /* of the job */
};

struct dl_estimator {
  enum dl_method id;
  const char *name;
  const char *summary;
  const char *source; /* who published it */
  /* Whether dlest would use it where it can: higher wins. With a duration
   * given, and without. 0: only for comparison. */
  int rank_given, rank_open;
  bool needs_regressions; /* takes the predictions of the regressions */
  /* It takes these from descriptors, by kind and field ("gpu.tdp_w"),
   * NULL-terminated; NULL: nothing. 'dlest check' reads them. */
  const char *const *needs;
  /* Fills in *est, of which the method, the duration (p->duration_s) and its
   * origin are set, numbers are NaN and the rest is 0. */
  void (*estimate)(const struct dl_engine *ctx, const struct dl_job *job,
                   const struct dl_job_predictions *p, struct dl_estimate *est);
};

/* The time of a training at the peak rate of all GPUs, s; NaN where its work is
 * unknown. */
double dl_least_duration(const struct dl_job *job);

/* Slows the predictions of the physical method down to the peak rate, unless
 * runs of the very configuration measured more. */
void dl_bound_by_peak(struct dl_job_predictions *p, const struct dl_job *job);

/* Fills in the throughput of an estimate whose duration is known, and the
 * precision. */
void dl_estimate_throughput(struct dl_estimate *est, const struct dl_job *job);

/* All of them, ending with NULL. */
extern const struct dl_estimator *const dl_estimators[];
const struct dl_estimator *dl_estimator_find(const char *name);

/* Index of the estimate that dlest itself would use, or -1. */
long dl_recommended(const struct dl_estimate *est, size_t n,
                    bool duration_given);

/* Says in words what was not known of a training or forward pass ("activations
 * and kernels"); NULL where all was. *doubt, if not NULL, is the half-width by
 * which the logarithm of a 90 % interval of energy grows, in squares; 0 where
 * all was counted. */
const char *dl_facts_assumed(const struct dl_job *job, double *doubt);

#endif
