/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The epochs of a run: from a log of their end times, or detected in its power,
 * utilization and memory utilization.
 *
 * Epoch e reaches from the last sample of epoch e - 1 (for e = 0, with a log of
 * end times, from the first sample of the run) to the last sample that is not
 * later than its end; that sample begins the next one, so that energies add up
 * (del Rey et al. 2024, arXiv 2307.05520). What lies before the first and
 * after the last detected epoch are parts of their own. */

#ifndef DL_LOGS_EPOCHS_EPOCHS_H
#define DL_LOGS_EPOCHS_EPOCHS_H

#include "logs/readings/log_summary.h"
#include "math/signal/cycles.h"
#include "run/run.h"

/* Adds the epochs of a run, their number and its verdict, from the energy
 * curves of its n logs, the first of which is the trace. Any log may contain
 * the end times. With options epochs are detected if no log has their
 * end times; NULL: they are not.
 * The curve of the trace must have two points. */
enum dl_status dl_epochs_add(struct dl_run *run,
                             const struct dl_log_summary *log, size_t n,
                             const struct dl_cycles_options *o,
                             struct dl_diag *d);

#endif
