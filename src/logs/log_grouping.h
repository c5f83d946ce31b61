/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which logs belong to one run.
 *
 * A companion (psutil, perf, an epoch log) belongs to the trace in the same
 * folder whose name has the same digits: cpu-20221205T095541.csv to
 * gpu-20221205T095541.csv. Otherwise it belongs to the only trace in its
 * folder, or the only trace of all, provided it is the only log of its format
 * there. Otherwise it is a run of its own. */

#ifndef DL_LOGS_LOG_GROUPING_H
#define DL_LOGS_LOG_GROUPING_H

#include "io/shard.h"
#include "logs/log.h"

struct dl_source {
  const char *path;                   /* not owned */
  const struct dl_importer *importer; /* NULL: could not be opened */
  enum dl_log_role role;              /* of the importer */
  bool once;             /* stdin or a pipe, which opens only once */
  struct dl_log *opened; /* if `once` */
  char *error;           /* owned; why there is no importer */
  enum dl_status status;
  size_t run; /* index of the source it belongs to; its own: none */
};

struct dl_log_grouping {
  struct dl_source *source;
  size_t n;
};

/* Opens all files. Fails only if out of memory: a problem with a file is stored
 * with its source. Without `join` each log is a run of its own. */
enum dl_status dl_log_grouping_make(struct dl_log_grouping *g,
                                    char *const *paths, size_t n,
                                    const struct dl_log_options *o, bool join,
                                    struct dl_diag *d);

/* Keeps the part of the runs that a shard takes, with all of their logs, in
 * their order. Tables of runs stay together: a row that is in several of them
 * counts once. Error (DL_EINPUT): a table of jobs and traces, which belong to
 * the jobs. */
enum dl_status dl_log_grouping_take_shard(struct dl_log_grouping *g,
                                          const struct dl_shard *shard,
                                          struct dl_diag *d);
void dl_log_grouping_free(struct dl_log_grouping *g);

#endif
