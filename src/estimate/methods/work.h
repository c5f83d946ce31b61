/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a job in FLOPs, and how long it takes at a share of the peak.
 *
 *   training     2 MACs x (3 x training samples + validation samples) x epochs
 *                (1 x with a frozen backbone, 2 x with LoRA, which needs no
 *                gradients of the weights that it leaves; 1 x more under full
 *                activation checkpointing, attention's alone if selective)
 *   inference    2 MACs x requests; of a diffusion model x denoising steps x
 *                passes per step; of a language model that writes tokens
 *     prefill    2 MACs of a pass over the prompt x requests
 *     decode     a step a token, for a batch of requests at once:
 *                max(FLOPs / (peak x efficiency), bytes / bandwidth),
 *                bytes = weights + keys and values of all requests so far
 *
 * A mixture of E experts of which a token takes k reads, with b requests at
 * once, the share 1 - (1 - k/E)^b of them. Each of the D tokens of an answer
 * counts a step, the first (which the prefill yields) too. GPUs share all work
 * and their bandwidth adds up. */

#ifndef DL_ESTIMATE_METHODS_WORK_H
#define DL_ESTIMATE_METHODS_WORK_H

#include "estimate/job.h"

/* Totals of the run, all GPUs; NaN where unknown. */
struct dl_work {
  bool inference;
  bool writes;        /* prefill and decode are distinguished */
  double flop;        /* all of it */
  double model_flop;  /* training: without what checkpointing computes again */
  double train_share; /* of these, not for validation */
  double duration_s;  /* and its time */
  double prefill_flop, prefill_s;
  double decode_flop, decode_s;
  double decode_bytes; /* read from memory */
  const char *lacks;   /* what is missing, or NULL */
};

void dl_work_of(const struct dl_job *job, struct dl_work *w);

/* FLOPs of a training step for each of its samples; NaN where unknown. */
double dl_work_step_flop(const struct dl_job *job);

/* The peak rate, 1e12 FLOP/s: job->peak_tflops, but the rate of the job's
 * precision (all but tf32) where that peak_tflops is what any job has on this
 * accelerator. */
double dl_work_peak_tflops(const struct dl_job *job);

/* The highest rate that the arithmetic of the job's precision has, 1e12 FLOP/s:
 * all of TF32, and of FP32 where 16 bits are no faster. */
double dl_work_most_tflops(const struct dl_job *job);

/* The time of so many FLOPs of a forward pass at that rate of a GPU, s; in FP32
 * at the rate of TF32, in which frameworks compute convolutions. */
double dl_work_least_pass_s(const struct dl_job *job, double flop);

/* Whether a network has dense layers alone, which the accelerator cannot
 * compute in TF32. */
bool dl_work_is_plain_dense(const struct dl_job *job);

/* The rate that a precision is named for and the accelerator does not have:
 * "FP16 tensor"; the one taken in its place goes to *used. NULL where it has
 * it, where the precision needs none, and where the user gave peak_tflops. */
const char *dl_work_lacks_rate(const struct dl_job *job, const char **used);

/* The utilization of green-algorithms, a share: the user's, else that which is
 * known, else the default. */
double dl_work_utilisation(const struct dl_job *job);

/* Bytes of a number at the job's precision; 4 without one. */
double dl_work_bytes(const struct dl_job *job);

#endif
