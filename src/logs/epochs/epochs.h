/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The epochs of a run: from a log of their ends, or found in its power.
 *
 * Epoch e reaches from the last sample of the epoch before (the run's first
 * one for e = 0, where a log gives the ends) to the last sample that is not
 * later than its end; that sample begins the next one, so that energies add up
 * (del Rey et al., arXiv 2307.05520). What lies before the first epoch that
 * was found, and behind the last one, are parts of their own. */

#ifndef DL_LOGS_EPOCHS_EPOCHS_H
#define DL_LOGS_EPOCHS_EPOCHS_H

#include "logs/readings/log_summary.h"
#include "run/run.h"

struct dl_epochs_options {
  bool find;     /* in the power, where no log gives them */
  double hint_s; /* about how long one is; 0: unknown */
  /* Of a training that goes on: its epochs in all, and those of its first
   * phase; 0: it has ended, and unknown. */
  double n_total, n_first;
};

/* Fills in the epochs of a run, their number and how sure it is, from the
 * curves of its n logs, the first of which is the trace. Marks (ends of
 * epochs) may come from any of them. Does nothing where there are none and
 * none are to be found. */
enum dl_status dl_epochs_add(struct dl_run *run, const struct dl_track *track,
                             size_t n, const struct dl_epochs_options *o,
                             struct dl_diag *d);

#endif
