/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass of dlest report over all jobs. */

#ifndef DL_CLI_PASSES_REPORT_PASS_H
#define DL_CLI_PASSES_REPORT_PASS_H

#include "cli/options/hours_options.h"
#include "cli/options/input_options.h"
#include "cli/views/report_rows.h"
#include "logs/log.h"

struct dl_report_options {
  struct dl_strlist users, accounts;
  struct dl_log_options log;
  struct dl_cluster cluster;
  struct dl_footprint foot;
  const char *hours_path; /* of intensities by the hour; or NULL */
  struct dl_hours hours;  /* owned; foot.hours, if there is a path */
  int64_t since, until;   /* ns on the clock of the jobs */
  const char *totals;     /* written to; or NULL */
  const char *title;      /* of the report, or NULL */
  bool keys[DL_N_KEYS], each_job;
  size_t top;        /* groups with the most idle GPU time; 0: all groups */
  bool all, explain; /* text prints each job, the sources of estimates */
};

struct dl_report_pass {
  struct dl_cli *cli;
  const struct dl_report_options *o;
  struct dl_accounting *accounting;
  struct dl_group_totals *tally; /* NULL: no groups */
  struct dl_stream *stream;      /* NULL before the first job */
  FILE *f;                       /* for lines of jobs; NULL: none */
  struct dl_sums sums;
  struct dl_footprint whole; /* of all jobs, for their report */
  bool totals;               /* files are totals: there are no jobs in them */
  char months[2][DL_MONTH_SIZE]; /* "2024-03": first and last; "": unknown */
  size_t never_ran, undated, n_naive; /* naive: starts without a zone */
  size_t unfinished;                  /* jobs that had not ended */
  size_t n_rows;            /* of tables whose importers do not take a shard */
  struct dl_seen_rows seen; /* rows of all files */
};

/* Begins the table of jobs, once. */
enum dl_status dl_report_begin(struct dl_report_pass *w);

/* Reads all files, adds up jobs and writes their lines if w->f is set. Parts of
 * a file are imported and formatted by all threads; jobs are added up and
 * written in their order. */
enum dl_status dl_report_read(struct dl_report_pass *w);

#endif
