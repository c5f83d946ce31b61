/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job: the run that is to be estimated, as one row of a frame gives it. */

#ifndef DL_ESTIMATE_JOB_H
#define DL_ESTIMATE_JOB_H

#include "model/predictor.h"
#include "physics/training/physical.h"
#include "run/frame.h"

/* What the models say of a job; NaN where they say nothing. */
struct dl_said {
  struct dl_prediction power, epoch, time;
};

/* Inference by the physical method (inference.h), of the whole run on all GPUs;
 * NaN and NULL where unknown. */
struct dl_served {
  bool tokens;      /* a language model: prefill and decode are told apart */
  double requests;  /* or samples */
  double batch;     /* at once */
  double latency_s; /* of a batch, from its start to its end */
  double time_s;    /* all of it, with what GPUs idle */
  double prefill_s, decode_s, idle_s; /* forward passes are a prefill */
  double prefill_j, decode_j, idle_j;
  double power_w;       /* of one GPU at work */
  double idle_w;        /* of one GPU between requests */
  bool idle_assumed;    /* by the fit, not by the descriptor */
  double most_a_second; /* requests that can be served, at that batch */
  /* Of the time at work; they add up for a language model. */
  double memory_s, compute_s, layers_s, exchange_s, host_s;
  const char *bound; /* which of them, or "prompts", takes longest */
  const char *lacks; /* what is missing */
};

/* Numbers are NaN where unknown. */
struct dl_job {
  const char *arch, *gpu; /* names as given; NULL without */
  const char *phase;      /* "inference"; NULL and all else: training */
  const char *precision;  /* "fp16", ...; NULL without */
  const char *framework;  /* "pytorch", ...; NULL without */
  const char *scaling;    /* "strong"; NULL and all else: weak (parallel.h) */
  struct dl_row_descriptors found;
  const struct dl_row *row;
  double n_gpus;
  double batch_size;
  double image_px;
  double seq_len; /* tokens a sample */
  double tokens;  /* trained on, in the whole run */
  double prompt_tokens, output_tokens, requests; /* of inference */
  double request_rate;                           /* 1/s: requests that come */
  double idle_s;                                 /* after each batch */
  double train_samples, val_samples;
  double epochs;
  double frozen_base; /* 1: only the classifier is trained */
  double classes;     /* of it, where the row gives them */
  double macs_g;      /* one forward pass of one sample */
  double params_m, acts_m;
  double launches; /* kernels of a forward pass */
  double ram_gb;
  double utilisation; /* of the GPU, for methods that ask (0 .. 1) */
  double efficiency;  /* share of the peak rate reached, for flops */
  double peak_tflops; /* at the precision assumed (frame.c) */
  double tdp_w;
  double idle_w; /* of a GPU with nothing to do */
  double bandwidth_gb_s;
  double duration_s;       /* of the whole run, where the user gave it */
  struct dl_said said;     /* by dl_ask_models: regressions on features */
  struct dl_said physical; /* and the physical method */
  struct dl_said serving;  /* of language models that serve: of a request */
  struct dl_served served; /* inference by the physical method */
  struct dl_physical_parts parts; /* of its epoch on one GPU; bound NULL:
                                     not known */
};

/* Where rows hold what a job has. */
struct dl_job_slots {
  struct dl_quantity at[36];
};

enum dl_status dl_job_bind(struct dl_job_slots *s, struct dl_frame *f,
                           struct dl_diag *d);

/* The job of a row. Tokens, where given, make the samples: tokens / seq_len of
 * them, seen once, and none to validate. The row must live as long as the job.
 */
void dl_job_read(struct dl_job *job, const struct dl_job_slots *s,
                 const struct dl_row *row);

#endif
