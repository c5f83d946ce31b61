/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which logs belong to one run.
 *
 * A companion (psutil, perf, an epoch log) belongs to the trace in its folder
 * whose name has equal digits: cpu-20221205T095541.csv to
 * gpu-20221205T095541.csv. Otherwise it belongs to the only trace in its
 * folder, or the only trace of all, provided it is the only log of its format
 * there. Otherwise it is a run of its own. Before all that, NAME-epochs.csv
 * belongs to the trace NAME.csv.
 *
 * Recordings of the nodes of a job (dlest record) are one run: their traces
 * belong to the first of them, their companions to their own trace. */

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
  size_t run;   /* index of the source it belongs to; its own: none */
  size_t first; /* index + 1 of the first source that belongs to it; 0: none */
  size_t next;  /* index + 1 of the next source of the run; 0: none */
  bool joined;  /* a trace of one of several nodes, the first one included */
  struct dl_log_origin *origin; /* owned; NULL: the log does not say */
};

/* Which logs are joined to one run. */
enum dl_log_joining {
  DL_JOIN_NONE, /* nothing */
  DL_JOIN_LOGS, /* companions and their traces; nodes of one job */
  DL_JOIN_ALL   /* all traces are of nodes of one run */
};

struct dl_log_grouping {
  struct dl_source *source;
  size_t n;
};

/* Opens all files. A problem with a file is stored with its source. */
void dl_log_grouping_make(struct dl_log_grouping *g, char *const *paths,
                          size_t n, const struct dl_log_options *o,
                          enum dl_log_joining join, struct dl_diag *d);

/* Keeps the part of the runs that a shard takes, with all of their logs, in
 * their order. Tables of runs stay together: a row that is in several of them
 * counts once. Error (DL_EINPUT): a table of jobs and traces, which belong to
 * the jobs. */
enum dl_status dl_log_grouping_take_shard(struct dl_log_grouping *g,
                                          const struct dl_shard *shard,
                                          struct dl_diag *d);
void dl_log_grouping_free(struct dl_log_grouping *g);

/* Opens a source, which has an importer, for the caller; one that opens only
 * once has been opened. */
enum dl_status dl_source_open(struct dl_source *s,
                              const struct dl_log_options *o,
                              struct dl_log **log, struct dl_diag *d);

#endif
