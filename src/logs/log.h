/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a log of any format: returns readings and runs. */

#ifndef DL_LOGS_LOG_H
#define DL_LOGS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "io/lines.h"
#include "io/shard.h"
#include "logs/importers/importer.h"
#include "logs/importers/time_bound.h"
#include "logs/seen/seen_rows.h"
#include "logs/slurm/cluster_job.h"

#define DL_LOG_REPEATED "repeated rows are skipped"

struct dl_log_options {
  const struct dl_importer *from;    /* NULL: recognised by content */
  size_t drop_last;                  /* ignore this many lines at the end */
  double interval_s;                 /* of logs without times; 0: 1 s */
  const char *columns;               /* "timestamp,power.draw" of logs without a
                                        header; NULL: as the log has them */
  struct dl_time_bound since, until; /* samples outside are left out */
  bool accounting; /* refuse tables of jobs with neither times nor energies */
  /* Rows of tables of runs that were read, of this log and others: they count
   * once. NULL: of this log only. */
  struct dl_seen_rows *seen;
  bool more; /* further tables of these jobs follow: jobs that wait for a later
                state (slurm/held_jobs.h) stay in `seen` */
  /* The jobs that an importer of accounting returns: those whose number, or
   * the hash of it, is in the shard. All rows of a job are. */
  struct dl_shard shard;
};

struct dl_meter_info {
  enum dl_meter_kind kind;
  char *id;       /* NULL: none */
  char *name;     /* NULL: unknown */
  char *host;     /* its node; NULL: unknown */
  double limit_w; /* NaN: unknown */
  double sum_j;   /* of energies that a log has of each interval */
  bool of_uuid;   /* its id is from a column of UUIDs */
  bool elsewhere; /* another meter's power includes this one's */
  bool is_sum;    /* its id is "total" or the like */
  bool dropped;   /* the sum of other meters, whose readings are not taken */
};

/* The kinds of times in logs. */
enum dl_clock {
  DL_CLOCK_WALL,     /* local time without a time zone */
  DL_CLOCK_ZONED,    /* with a time zone */
  DL_CLOCK_RELATIVE, /* since some start */
  DL_CLOCK_DAY       /* local times of day; they count from 1970-01-01 */
};

struct dl_csv;
struct dl_csv_block;
struct dl_log_problem {
  size_t line;
  char *text;
};

struct dl_log {
  /* For callers and importers to read. */
  const struct dl_importer *importer;
  const char *path;            /* "<stdin>" for "-" */
  struct dl_meter_info *meter; /* found so far */
  size_t n_meters;
  enum dl_clock clock; /* of the times read so far */
  struct dl_log_origin {
    char job[160], host[64]; /* "" unknown */
    size_t n_nodes;          /* of the job; 0: unknown */
  } origin;                  /* set by the importer when the log is opened */
  size_t bytes;              /* read from the file */
  void *state;               /* of the importer */
  size_t len;                /* of the line being imported */
  dl_lines_above above;      /* the lines before it */
  struct dl_run open_run; /* while in_run: of the importer (dl_log_open_run) */
  bool in_run;
  bool has_epochs;  /* set by the importer when the log is opened */
  int64_t first_ns; /* of the first reading; see any_reading */
  bool any_reading;
  bool taken_for_one;      /* readings of several devices, with a warning */
  bool any_sum;            /* a meter is_sum */
  struct dl_rounds rounds; /* of logs without times */

  struct dl_log_options o;

  /* Private to log.c and log_part.c. */
  struct dl_lines *lines;
  struct dl_csv *csv;               /* of tables */
  const struct dl_csv_block *block; /* of the table, being imported */
  size_t row;                       /* next row of it */
  size_t n_columns;                 /* when the importer began last */
  struct dl_diag *d;                /* of the current call */
  size_t line;                      /* being imported */
  bool at_end;
  size_t meters_cap, last_meter;
  struct dl_reading *reading;
  size_t n_readings, readings_cap;
  size_t n_used; /* readings that the next call drops: those returned, or as
                    many of them as the caller sets */
  struct dl_run *run;
  size_t n_runs, runs_cap, n_blank; /* n_blank: of them, runs or unknown */
  struct dl_cluster_job *job;       /* of importers with parts */
  size_t n_jobs, jobs_cap;
  struct dl_log_problem *problem; /* lines that cannot be used */
  size_t n_problems, problems_cap;
  int64_t days_ns, last_of_day_ns;   /* of times without a date */
  bool any_date, zoned, mixed_zones; /* of the first time with a date */
  bool assumed_time, warned_repeat, warned_states, after_header, other_device;
  bool completes; /* a job of another table has a later state or rows here */
  struct dl_seen_rows own_seen; /* used by default */
  struct dl_lines_block carry;  /* read, and of the next part */
};

/* Opens a file ("-": stdin) and finds its importer. DL_EINPUT if no importer
 * recognises it. */
enum dl_status dl_log_open(struct dl_log **log, const char *path,
                           const struct dl_log_options *o, struct dl_diag *d);
void dl_log_free(struct dl_log *log); /* accepts NULL */

/* Number of nodes that the meters of a kind belong to; 0 if a meter does not
 * state its node. */
size_t dl_log_nodes(const struct dl_log *log, enum dl_meter_kind kind);

/* Frees the record of rows and jobs that several logs share. */
void dl_seen_rows_free(struct dl_seen_rows *s);
void dl_log_free_local(struct dl_log **at);

/* Readings and runs from dl_log_next(), valid until its next call. */
struct dl_log_block {
  const struct dl_reading *reading;
  size_t n_readings;
  struct dl_run *run; /* the caller may move a run out and set
                         dl_run_unknown */
  size_t n_runs;
};

/* Reads on in a log without parts (log_part.h); both counts are 0 only at the
 * end. Lines that cannot be
 * used are reported (dl_skip_at); an incomplete last line is a warning. */
enum dl_status dl_log_next(struct dl_log *log, struct dl_log_block *block,
                           struct dl_diag *d);

#endif
