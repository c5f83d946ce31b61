/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the energy of each node of a cluster once.
 *
 * Slurm reports the energy of whole nodes, so jobs that share a node each
 * report all of its energy. dlest counts it in the job that is read first, and
 * gives a later job the energy of the rest of its time. Times that follow each
 * other within seconds become one span: a node has as many spans as it had
 * pauses. */

#ifndef DL_LOGS_SLURM_NODE_TIMES_H
#define DL_LOGS_SLURM_NODE_TIMES_H

#include <stdint.h>

#include "logs/seen/seen_times.h"

/* Counts `seconds` from `start` (s since 1970) on the nodes of a list,
 * "gpu[01-04,7],cpu1". Returns the share of this time that had not been counted
 * before, averaged over the nodes; 1 if the list names no nodes. */
double dl_node_times_add(struct dl_seen_times *t, const char *list,
                         int64_t start, double seconds);

#endif
