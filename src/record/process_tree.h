/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time of a program with all processes that it started: how much of the
 * CPUs' work is its own. */

#ifndef DL_RECORD_PROCESS_TREE_H
#define DL_RECORD_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/cgroup.h"

/* Start from {.root = ...}. */
struct dl_process_tree {
  pid_t root;        /* all processes below it count; 0: no tree */
  bool own;          /* the root is dlest itself, and does not count */
  const char *sysfs; /* where control groups are looked for; NULL: nowhere */

  /* The times come from the program's control group, which holds nothing but
   * the tree and dlest. This is decided at the first reading; once another
   * process is in the group, or a process of the tree in another group, the
   * tree counts. */
  bool by_group;

  /* Private. */
  pid_t *pid; /* found at the last search; owned */
  size_t n, cap;
  int64_t searched_ns, search_cost_ns;
  double seconds, busy_s; /* at the last reading; NaN: none yet */
  struct dl_cgroup group;
  bool with_self; /* dlest is in the group */
};

/* Reads the CPU seconds since the last reading, of the tree and of all
 * processes of the machine. Processes are searched for every 5 s, or less often
 * if that takes long; their time counts from their start, and the time of an
 * ended process is included in its parent's. False: unknown, as at the first
 * reading. */
bool dl_process_tree_read(struct dl_process_tree *t, double *own_s,
                          double *busy_s);

/* Processes of the tree that run now; *first is one of them. */
size_t dl_process_tree_alive(struct dl_process_tree *t, pid_t *first);

void dl_process_tree_free(struct dl_process_tree *t);

#endif
