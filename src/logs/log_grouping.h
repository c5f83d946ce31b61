/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which logs belong to one run.
 *
 * A companion (psutil, perf, an epoch log) goes to the trace in the same folder
 * whose name has the same digits: cpu-20221205T095541.csv to
 * gpu-20221205T095541.csv. Without one it goes to the only trace in its folder,
 * or the only trace at all, where it is the only log of its kind there. Else
 * it is a run of its own. */

#ifndef DL_LOGS_LOG_GROUPING_H
#define DL_LOGS_LOG_GROUPING_H

#include "logs/log.h"

struct dl_source {
  const char *path;                   /* not owned */
  const struct dl_importer *importer; /* NULL: could not be opened */
  struct dl_log *opened;              /* stdin or a pipe, which open once */
  char *error;                        /* owned; why there is no importer */
  enum dl_status status;
  size_t run; /* the source that this one goes to; itself: none */
};

struct dl_plan {
  struct dl_source *source;
  size_t n;
};

/* Looks at all files. Only memory running out fails: what is wrong with a
 * file is kept with it. With `join` false each is on its own. */
enum dl_status dl_plan_make(struct dl_plan *p, char *const *paths, size_t n,
                            const struct dl_log_options *o, bool join,
                            struct dl_diag *d);
void dl_plan_free(struct dl_plan *p);

#endif
