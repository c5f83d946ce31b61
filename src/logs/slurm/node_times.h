/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the energy of each node was counted. Slurm's energies are those of whole
 * nodes: jobs that share a node have its energy each. A node is counted once,
 * in the job that is read first; a later job has the energy of the rest of its
 * time. Times that follow each other within seconds are one span, so that there
 * are as many spans as pauses of the nodes. */

#ifndef DL_LOGS_SLURM_NODE_TIMES_H
#define DL_LOGS_SLURM_NODE_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct dl_node_times;

void dl_node_times_free(struct dl_node_times *t); /* accepts NULL */

/* The share of the time from `start` for `seconds` (since 1970) on the nodes of
 * a list, "gpu[01-04,7],cpu1", that was not counted before, on the mean; it
 * counts now. 1 where the list is none. *t is NULL before the first. */
double dl_node_times_take(struct dl_node_times **t, const char *list,
                          int64_t start, double seconds);

#endif
