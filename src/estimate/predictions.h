/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fitted models predict this of a job, once for all estimators. */

#ifndef DL_ESTIMATE_PREDICTIONS_H
#define DL_ESTIMATE_PREDICTIONS_H

#include "estimate/conditioning/conditioned.h"
#include "estimate/read_job.h"
#include "model/predictor.h"
#include "physics/language/language_parts.h"
#include "physics/training/training_parts.h"

/* The fits that estimators use, by method and target. */
enum dl_fit_of {
  DL_PRE_POWER, /* regressions on features: gpu_power_w, epoch_energy_j, */
  DL_PRE_EPOCH, /* epoch_s */
  DL_PRE_TIME,
  DL_PHYSICAL_POWER, /* the physical method, of training: these, too */
  DL_PHYSICAL_EPOCH,
  DL_PHYSICAL_TIME,
  DL_SERVING_POWER, /* and of language models that serve: request_power_w, */
  DL_SERVING_EPOCH, /* request_energy_j, */
  DL_SERVING_TIME,  /* request_s */
  DL_LANGUAGE_RATE, /* and of language models that are trained: tokens_per_s */
  DL_CPU_TIME,      /* and of a sample on CPUs: request_s */
  DL_TUNED_TIME,    /* and of inference by tuned software: request_s */
  DL_N_FITS
};

/* A fit bound to the plan; p is NULL without one. */
struct dl_bound_fit {
  struct dl_predictor *p;
  const struct dl_fit *fit;
  const char *model; /* its file */
};

struct dl_estimator;

/* The models and the estimators that estimate the rows of a plan
 * (engine.h). */
struct dl_engine {
  struct dl_bound_fit fit[DL_N_FITS];
  const struct dl_estimator **method; /* owned list */
  size_t n;
  bool needs_regressions;     /* one takes the regressions in any case */
  bool needs_physical_energy; /* one takes energies of the physical method,
                         whose time others take too */
  /* Families of the accelerators whose trainings of language models the fit
   * saw; without any it is not known (dl_engine_learn_families). */
  struct dl_strlist families;
  double coverage;         /* of the intervals */
  struct dl_engine *at_90; /* owned: an engine at 90 %, whose intervals say how
                              uncertain work is; NULL: this one */
  double of_90;            /* half-widths, relative to the ones at 90 % */
  struct dl_job_fields fields; /* what counts as known: at first all */
};

/* Inference by the physical method (inference.h), of the whole run on all GPUs;
 * NaN and NULL where unknown. */
struct dl_served {
  bool tokens;      /* a language model: prefill and decode are separate */
  bool on_cpu;      /* the CPUs do the work, by the physics of CPUs */
  bool tuned;       /* by tuned software */
  double requests;  /* or samples */
  double batch;     /* at once */
  double latency_s; /* of a batch, from its start to its end */
  double time_s;    /* all of it, with what GPUs idle */
  double prefill_s, decode_s, idle_s; /* forward passes are a prefill */
  double prefill_j, decode_j, idle_j;
  double power_w;       /* of one GPU at work */
  double idle_w;        /* of one GPU between requests */
  double static_w;      /* of one that works, but for its work */
  bool idle_assumed;    /* by the fit, not by the descriptor */
  bool too_slow;        /* for the requests that arrive per second */
  double most_a_second; /* requests that can be served, at that batch; at a
                           rate, at the largest batch */
  /* These share the time at work; they add up for a language model. */
  double memory_s, compute_s, layers_s, exchange_s, host_s;
  double input_s; /* what input adds to the time at work */
  /* The time that plain software adds on the host, which is part of all that;
     and what it would add where a job may run by it (plain_software.h). */
  double plain_s, plain_j, maybe_s, maybe_j;
  const char *bound; /* which of them, or "prompts", takes longest */
  const char *lacks; /* what is missing */
};

struct dl_job_predictions {
  struct dl_prediction of[DL_N_FITS]; /* NaN: none, or not needed */
  struct dl_physical_parts parts;     /* of an epoch on one GPU by the physical
                                         method; bound NULL: unknown */
  struct dl_served served;
  /* Bounds of the mean power of a training whose duration is not known:
     logarithms, relative to the estimate; NaN: none. */
  double power_low, power_high;
  bool power_repeats; /* repeats of its configuration gave them */
  bool language;      /* a language model is trained; its optimizer step: */
  struct dl_language_parts step; /* NaN power: unknown */
  double slower; /* by this, at least 1, than without the bound of the peak */
  struct dl_conditioned conditioned; /* by what is known of the run */
  double duration_s;         /* of the run: the user's, or the first that can
                                be predicted; NaN */
  const char *duration_from; /* "given", or the method; NULL */
};

/* Predicts what estimators need of a job. */
enum dl_status dl_predictions_make(struct dl_job_predictions *p,
                                   const struct dl_engine *ctx,
                                   const struct dl_job *job, struct dl_diag *d);

#endif
