/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log being read: readings and runs come out, whatever its format. */

#ifndef DL_LOGS_LOG_H
#define DL_LOGS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "logs/importers/importer.h"

struct dl_log_options {
  const struct dl_importer *from; /* NULL: recognised by content */
  size_t drop_last;               /* lines at the end that do not count */
  double interval_s;              /* of logs without times; 0: 1 s */
};

struct dl_meter_info {
  enum dl_meter_kind kind;
  char *id;       /* NULL: none */
  char *name;     /* NULL: unknown */
  double limit_w; /* NaN: unknown */
};

/* Opens a file ("-": stdin) and finds its importer. DL_EINPUT where none
 * knows it. `o` must outlive the log. */
enum dl_status dl_log_open(struct dl_log **log, const char *path,
                           const struct dl_log_options *o, struct dl_diag *d);
void dl_log_free(struct dl_log *log);

/* Replaces that option, before the first dl_log_next. */
void dl_log_drop_last(struct dl_log *log, size_t n_lines);

const char *dl_log_path(const struct dl_log *log);
const struct dl_importer *dl_log_importer(const struct dl_log *log);

size_t dl_log_n_meters(const struct dl_log *log);
const struct dl_meter_info *dl_log_meter_info(const struct dl_log *log,
                                              uint32_t meter);

/* What dl_log_next found; lives until the next call. */
struct dl_log_block {
  const struct dl_reading *reading;
  const size_t *line; /* of each reading */
  size_t n_readings;
  struct dl_run *run; /* the caller may move a run out and dl_run_init it */
  size_t n_runs;
};

/* More of the log; both counts are 0 at its end only. Lines that cannot be
 * used are reported (dl_skip_at); a last line that is cut off is a warning. */
enum dl_status dl_log_next(struct dl_log *log, struct dl_log_block *block,
                           struct dl_diag *d);

/* What its times are: of a zone, of the clock on the wall, relative, or times
 * of day on the wall, which count from 1970-01-01. */
enum dl_clock {
  DL_CLOCK_WALL,
  DL_CLOCK_ZONED,
  DL_CLOCK_RELATIVE,
  DL_CLOCK_DAY
};
enum dl_clock dl_log_clock(const struct dl_log *log);

/* Bytes of the file that have been read. */
size_t dl_log_bytes(const struct dl_log *log);

#endif
