/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins the logs of several nodes to one of the run. */

#ifndef DL_LOGS_READINGS_NODE_JOIN_H
#define DL_LOGS_READINGS_NODE_JOIN_H

#include "logs/readings/log_summary.h"

/* Puts what companions measured into the trace, log[0], and frees them: kinds
 * of meters that it lacks, with their energy curves, and ends of epochs. */
void dl_node_flatten(struct dl_log_summary *log, size_t n);

/* What of all nodes is in a sum. Start from {0}. */
struct dl_node_sum {
  size_t n;                      /* nodes */
  size_t with[DL_N_METER_KINDS]; /* of which have such meters */
};

/* Adds a flat summary to that of the run: energies, powers, GPUs, curves. The
 * clock of `from` is moved where the ends of the same epochs are more than a
 * second apart: each epoch ends for all nodes at the same time. `path` is that
 * of `from`, for messages. Error (DL_EINPUT): they have no time in common. */
enum dl_status dl_node_add(struct dl_node_sum *sum, struct dl_log_summary *to,
                           const struct dl_log_summary *from, const char *path,
                           struct dl_diag *d);

/* Ends a sum: drops, with a warning, quantities that only some nodes have. */
void dl_node_end(const struct dl_node_sum *sum, struct dl_log_summary *to,
                 const char *path, struct dl_diag *d);

#endif
