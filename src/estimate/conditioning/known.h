/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a training that are known before it is estimated: times, speed, GPU
 * utilization and power, given by options or by columns of a table.
 *
 * Times nest: steps take no longer than their epochs, and these no longer than
 * the run. The speed of the steps is a throughput (samples_per_s, tokens_per_s)
 * or a step time (step_s, of a batch on each accelerator); epochs have epoch_s,
 * the run duration_s. */

#ifndef DL_ESTIMATE_CONDITIONING_KNOWN_H
#define DL_ESTIMATE_CONDITIONING_KNOWN_H

#include <stdbool.h>

#include "base/text.h"
#include "estimate/job.h"
#include "run/setup/option_words.h"

/* Which measured columns of a table count as known. */
enum {
  DL_KNOW_DURATION = 1, /* how long the run lasts, whatever work it does */
  DL_KNOW_TIME = 2,     /* all times: also how long its work takes */
  DL_KNOW_UTIL = 4,
  DL_KNOW_POWER = 8,
  DL_KNOW_ALL = DL_KNOW_TIME | DL_KNOW_UTIL | DL_KNOW_POWER
};

/* Reads a set of words ("time,gpu_util", "none"). False for any other. */
bool dl_known_words(const char *words, unsigned *known);

/* Sets how many epochs a run of known duration has by the known time of an
 * epoch, or else the known speed, where their number is not given; or how many
 * samples, where the samples of an epoch are not known either. */
void dl_known_fill(struct dl_job *job, unsigned which);

/* Reads what a job's run gives. */
void dl_known_of(const struct dl_job *job, unsigned which,
                 struct dl_known *known);

/* Whether known times need more than the peak rate of the precision that is
 * assumed; both are of all GPUs, 1e12 FLOP/s. */
bool dl_known_beats_assumed(const struct dl_job *job, double *needs,
                            double *most);

/* Whether the known values of a job contradict each other or the limits of its
 * GPUs; appends both figures to *why, unless that is NULL. */
bool dl_known_contradicts(const struct dl_job *job,
                          struct dl_message_style *why);

/* The power of a GPU that waits in a training, W: no less than its static power
 * by a fit, idle, or with a context. */
double dl_waiting_w(const struct dl_job *job, double static_w);

/* The most that all GPUs draw, W: their limit, but images do not reach one
 * above the TDP. INFINITY: not known. */
double dl_limit_of_all_w(const struct dl_job *job);

#endif
