/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers: what reads one kind of log. One file each, one row in the table
 * of importers.c.
 *
 * A log holds readings of meters over time (nvidia-smi), or finished runs
 * (CodeCarbon's emissions.csv), or both. Its importer gets it line by line,
 * or, where it is a table that may quote its cells, row by row, and says what
 * it found with the dl_log_... functions below. It keeps nothing but its
 * state, which lives as long as the log and starts as zero bytes.
 *
 * An importer judges a line by that line: what is missing at the end of a file
 * that was cut off, is no concern of its. It neither sorts nor repairs times:
 * that is done behind it. */

#ifndef DL_LOGS_IMPORTERS_IMPORTER_H
#define DL_LOGS_IMPORTERS_IMPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/timestamp.h"
#include "run/run.h"

struct dl_log;

/* What a meter measures; DL_METER_EPOCH is none: its readings have a time only,
 * the end of an epoch. */
enum dl_meter_kind {
  DL_METER_GPU,
  DL_METER_CPU,
  DL_METER_RAM,
  DL_METER_NODE,
  DL_METER_EPOCH
};

/* One sample of one meter. NaN: the log does not say. */
struct dl_reading {
  int64_t ns;     /* time, as in dl_timestamp */
  uint32_t meter; /* from dl_log_meter */
  double power_w;
  double util;        /* share of the time the device was busy, 0..1 */
  double memory_util; /* the same of its memory; 0 where the log does not say */
  double energy_j;    /* a counter that only grows, until it is reset */
};

/* The beginning of a file, for recognising it. */
struct dl_head {
  const char *text; /* NUL-terminated; its last line may be cut off */
  size_t len;
  const char *path;
};

/* What a log is to a run. */
enum dl_log_role {
  DL_LOG_PRIMARY,   /* a trace of its own: nvidia-smi */
  DL_LOG_COMPANION, /* goes with the trace of the same run: perf */
  DL_LOG_MEMORY,    /* the same, joined sample by sample: psutil */
  DL_LOG_RUNS       /* has the runs themselves: emissions.csv */
};

struct dl_importer {
  const char *name;    /* "nvidia-smi": what --from takes */
  const char *summary; /* what writes such logs, for `dlest list importers` */
  enum dl_log_role role;
  bool has_jobs;     /* DL_LOG_RUNS: jobs of a scheduler, metered by node */
  size_t state_size; /* of log's state */

  /* Whether the file is of this kind. Of several that say so the first in the
   * table is taken. Must not say so of another kind's files. */
  bool (*probe)(const struct dl_head *head);

  /* Before the first line or row, which `head` shows; may be NULL. A file that
   * --from named may be of any kind. */
  enum dl_status (*begin)(struct dl_log *log, const struct dl_head *head,
                          struct dl_diag *d);

  /* One of the two: */

  /* A line: NUL-terminated, without its end; may be changed. Blank lines are
   * not handed over. Returns true where the line was used, or knowingly passed
   * over (a header, a comment); otherwise the value of dl_log_bad. */
  bool (*line)(struct dl_log *log, char *s, size_t len);

  /* A row of a table with a header; cells as in io/csv.h. In `begin` and here
   * dl_log_column finds columns by name. */
  bool (*row)(struct dl_log *log, const char *const *cell);
  char delimiter; /* of the table; 0: a comma */

  /* Behind the last line; may be NULL. */
  void (*end)(struct dl_log *log);

  /* Frees what the state points to; may be NULL. */
  void (*free)(void *state);
};

size_t dl_importer_count(void);
const struct dl_importer *dl_importer_at(size_t i);
const struct dl_importer *dl_importer_find(const char *name);

/* --- what importers call */

void *dl_log_state(struct dl_log *log);

/* Index of a column of the table, or -1. */
long dl_log_column(const struct dl_log *log, const char *name);

/* The meter with that kind and identifier ("0", a UUID, "package-0"; NULL:
 * there is one only), made where it is new. `name` is that of the device, NULL
 * where unknown. Cheap to call for every line when `kind` and `id` are those
 * of the call before. */
uint32_t dl_log_meter(struct dl_log *log, enum dl_meter_kind kind,
                      const char *id, const char *name);

/* Limit of a GPU's power, W. */
void dl_log_limit(struct dl_log *log, uint32_t meter, double limit_w);

/* Hands on a reading. */
void dl_log_reading(struct dl_log *log, const struct dl_reading *r);

/* Reads a timestamp into *ns for a reading. Times of day without a date are
 * carried on over midnight. False where s is none, or lies before 1970 or
 * behind 2100: differences of what this gives do not overflow. */
bool dl_log_time(struct dl_log *log, const char *s, size_t len, int64_t *ns);

/* For logs without any time: the time of sample `i` (0, 1, ...), by the
 * interval that the user gave, 1 s without. Says once that it is assumed. */
int64_t dl_log_time_of(struct dl_log *log, size_t i);

/* For logs whose times count from their own beginning. */
int64_t dl_log_time_since(struct dl_log *log, double seconds);

/* A new run, to be filled at once: the pointer lives until the next call.
 * NULL: out of memory, which is kept until the end. */
struct dl_run *dl_log_run(struct dl_log *log);

/* The line or row cannot be used: says why ("column 'x': invalid number
 * 'abc'"). Returns false. */
bool dl_log_bad(struct dl_log *log, const char *fmt, ...) DL_PRINTF(2, 3);

/* Something about the file that is worth a warning, once a text; with the
 * current line. */
void dl_log_warn(struct dl_log *log, const char *fmt, ...) DL_PRINTF(2, 3);

/* --- and small tools for reading cells */

/* A number with an optional unit behind it, "85.23 W"; NaN and true for "",
 * "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "-", "nan"; false for
 * everything else. */
bool dl_cell_number(const char *s, size_t len, double *x);

/* Cuts s at each `separator` in place and trims the fields; at most `most` of
 * them, *n is how many there are in all. */
void dl_cell_split(char *s, char separator, char **field, size_t most,
                   size_t *n);

/* The same at blanks: runs of them count as one. */
void dl_cell_words(char *s, char **field, size_t most, size_t *n);

/* Whether the head's first line that is not blank has all these fields,
 * between `separator`s, in any order and case; ends with NULL. */
bool dl_head_has(const struct dl_head *head, char separator,
                 const char *const *names);

#endif
