/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins the logs of several nodes into one summary of the run. */

#ifndef DL_LOGS_READINGS_NODE_JOIN_H
#define DL_LOGS_READINGS_NODE_JOIN_H

#include "logs/readings/log_summary.h"

/* Moves the measurements of companions into the trace, log[0], and frees the
 * companions: kinds of meters that the trace lacks, with their energy curves,
 * and ends of epochs. */
void dl_node_flatten(struct dl_log_summary *log, size_t n);

/* Adds the flat summary of a node to the run's: energies, powers, GPUs, curves.
 * Each epoch ends for all nodes at one time; if the ends of an epoch are more
 * than a second apart, the clock of `from` is moved. `path` is the log of
 * `from`, for messages. Error (DL_EINPUT): they have no time in common. */
enum dl_status dl_node_add(struct dl_log_summary *to,
                           const struct dl_log_summary *from, const char *path,
                           struct dl_diag *d);

/* Ends the sum: drops quantities that only some nodes measured, with a
 * warning. */
void dl_node_end(struct dl_log_summary *to, const char *path,
                 struct dl_diag *d);

#endif
