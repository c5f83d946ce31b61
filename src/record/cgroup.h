/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control groups, version 2 (cgroups(7)): Linux counts the CPU time of all
 * processes in one, also of those that have ended. */

#ifndef DL_RECORD_CGROUP_H
#define DL_RECORD_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

/* Start from {0}. */
struct dl_cgroup {
  struct dl_text folder; /* in sysfs; empty: none */
  pid_t *pid;            /* processes at the last listing; owned */
  size_t n, cap;
};

/* Finds the group of a process below `sysfs`. False: there is none, or its CPU
 * time cannot be read. */
bool dl_cgroup_find(struct dl_cgroup *g, const char *sysfs, pid_t pid);

/* Lists the processes in it and in groups below. False: that cannot be
 * read. */
bool dl_cgroup_list(struct dl_cgroup *g);

/* CPU seconds of all its processes since it was made; NaN: unknown. */
double dl_cgroup_seconds(const struct dl_cgroup *g);

void dl_cgroup_free(struct dl_cgroup *g);

#endif
