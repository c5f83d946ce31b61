/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job: the run that is to be estimated. */

#ifndef DL_ESTIMATE_JOB_H
#define DL_ESTIMATE_JOB_H

#include "run/plan.h"

/* Values of a training that are known before it is estimated
 * (conditioning/known.h). Of the whole run, all its GPUs; NaN: not known. */
struct dl_known {
  double run_s;
  double steps_s; /* of it, the shortest time known of all its steps */
  bool of_work;   /* the steps that take so long are known; else a run lasts
                     run_s, whatever it does */
  double util;    /* mean GPU utilization, a share */
  double power_w; /* mean power of all GPUs */
  double static_w, least_static_w; /* what all GPUs draw that wait, by the fit
                                      that is conditioned, and its lower end */
  double most_w; /* the most that they draw by that fit at the utilization */
  double misfit; /* of all that is known to that fit, standard deviations */
  const char *impossible; /* column whose value no training can have: 0, or
                             tokens where there are none; or NULL */
};

/* Numbers are NaN where unknown. Estimators only read a job. */
struct dl_job {
  const struct dl_row *row; /* what features of fits are computed from */
  const struct dl_run *run; /* of the row */
  struct dl_row_descriptors found;
  /* Settled from the run and its descriptors: */
  double seq_len; /* tokens per sample: the run's, or the architecture's */
  bool fills;     /* its epochs, or samples, are as many as its duration has
                     time for */
  double epochs;  /* training on a number of tokens is one epoch of */
  double train_samples, val_samples; /* those that batches hold;
                                        tokens / seq_len samples */
  double tdp_w;
  double idle_w; /* of a GPU that the job holds, with nothing to do */
  double bandwidth_gb_s;
  bool peak_given; /* the run's peak_tflops is the user's */
  struct dl_known known;
  bool contradictory; /* what is known contradicts itself */
};

/* Whether a training lasts for a known time that does not follow from its
 * number of epochs. It has none, unless its speed is known. */
bool dl_lasts_so_long(const struct dl_job *job);

/* The data set of a job: its own, or the usual one, whose sizes it has; NULL:
 * neither. */
const char *dl_job_dataset(const struct dl_job *job);

/* The network of a job that generates images by denoising; else NULL. */
const struct dl_architecture *dl_generator(const struct dl_job *job);

/* These count the denoising steps of a sample of such a job, and the passes of
 * the network in each, beside each other in one batch; else 1. */
double dl_denoising_steps(const struct dl_job *job);
double dl_passes_per_step(const struct dl_job *job);

/* Parameters, 1e6, in rows of embeddings of which a step updates those that its
 * samples look up: not read whole, not exchanged, without states. */
double dl_sparse_params_m(const struct dl_job *job);

#endif
