/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs an importer over the lines or rows of a log, and collects its readings
 * and runs in blocks.
 *
 * A problem with a line is reported once another line follows: on the last line
 * it means that the file is incomplete or still being written. Readings are
 * kept back by as many lines as are to be ignored at the end. */

#include "logs/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/file.h"
#include "io/csv.h"
#include "io/json_read.h"
#include "io/lines.h"
#include "logs/importers/importers.h"
#include "logs/importers/unknown_format.h"
#include "logs/log_private.h"
#include "logs/readings/power_meter.h"
#include "logs/seen_rows.h"

enum { BLOCK_READINGS = 512, BLOCK_RUNS = 64, METERS_MAX = 1024 };

/* The end of the year 2100, in ns since 1970. */
#define TIME_MAX_NS (INT64_C(4133980800) * DL_SECOND)

/* A time of day that is earlier by less than LATE_MAX_NS belongs to the same
 * day. */
#define DAY_NS (INT64_C(86400) * DL_SECOND)
#define LATE_MAX_NS (INT64_C(60) * DL_SECOND)

/* Bytes of a table read at once: tables have few rows. */
#define TABLE_BLOCK ((size_t)1 << 18)

/* --- called by importers */

long dl_log_column(const struct dl_log *log, const char *name) {
  return log->csv ? dl_csv_find(log->csv, name) : -1;
}

/* Whether a device is another one: two of a name have one model. What tools
 * write of a device that does not answer, "[Unknown Error]", is no model. */
static bool is_other_name(const char *name, const char *other) {
  return strcmp(name, other) != 0 && *name != '\0' && *name != '[' &&
         *other != '[';
}

uint32_t dl_log_meter(struct dl_log *log, enum dl_meter_kind kind,
                      const char *id, const char *name) {
  /* Most often the same meter again, or the next one in turn. */
  for (size_t i = 0, k = log->last_meter; i < log->n_meters; i++, k++) {
    if (k == log->n_meters)
      k = 0;
    const struct dl_meter_info *m = &log->meter[k];
    if (m->kind == kind && dl_same_text(id, m->id) &&
        !(name && m->name && is_other_name(name, m->name)))
      return (uint32_t)(log->last_meter = k);
  }
  if (log->n_meters == METERS_MAX) {
    dl_log_bad(log, "more than %d meters in one log", METERS_MAX);
    return METERS_MAX; /* dl_log_reading ignores it */
  }
  char *own_id = id ? dl_strdup(id) : NULL;
  char *own_name = name && *name ? dl_strdup(name) : NULL;
  DL_GROW(log->meter, log->meters_cap, log->n_meters + 1);
  log->meter[log->n_meters] =
      (struct dl_meter_info){kind, own_id, own_name, NULL, NAN, false};
  log->last_meter = log->n_meters;
  return (uint32_t)log->n_meters++;
}

void dl_log_host(struct dl_log *log, uint32_t meter, const char *host) {
  if (meter < log->n_meters && !log->meter[meter].host && *host)
    log->meter[meter].host = dl_strdup(host);
}

void dl_log_limit(struct dl_log *log, uint32_t meter, double limit_w) {
  if (meter < log->n_meters && limit_w > 0)
    log->meter[meter].limit_w = limit_w;
}

void dl_log_later_header(struct dl_log *log) {
  log->after_header = true;
}

void dl_log_reading(struct dl_log *log, const struct dl_reading *r) {
  char fault[DL_FAULT_SIZE];
  if (r->meter >= log->n_meters) /* too many meters: already reported */
    return;
  if (dl_reading_fault(fault, log->meter[r->meter].kind, r)) {
    dl_log_bad(log, "impossible %s", fault);
    return;
  }
  DL_GROW(log->reading, log->readings_cap, log->n_readings + 1);
  log->reading[log->n_readings] = *r;
  log->reading[log->n_readings].after_header = log->after_header;
  log->after_header = false;
  log->reading[log->n_readings++].line = log->line;
}

bool dl_log_time(struct dl_log *log, const char *s, size_t len, int64_t *ns) {
  struct dl_timestamp t;
  if (!dl_parse_timestamp(s, len, &t))
    return false;
  if (!t.dated) {
    int64_t step = t.ns - log->last_of_day_ns;
    if (step < -DAY_NS / 2 && log->days_ns < TIME_MAX_NS)
      log->days_ns += DAY_NS;
    else if (step > DAY_NS - LATE_MAX_NS && log->days_ns > 0)
      log->days_ns -= DAY_NS; /* a late reading from before midnight */
    log->last_of_day_ns = t.ns;
    log->clock = DL_CLOCK_DAY;
    t.ns += log->days_ns;
  }
  if (t.ns < 0 || t.ns > TIME_MAX_NS)
    return false;
  if (t.dated && log->any_date && log->zoned != t.zoned) {
    if (!log->mixed_zones)
      dl_log_warn(log, "times with and without a time zone are mixed: those "
                       "unlike the first are not used");
    log->mixed_zones = true;
    return false;
  }
  log->zoned = t.zoned;
  log->any_date = log->any_date || t.dated;
  if (t.zoned)
    log->clock = DL_CLOCK_ZONED;
  *ns = t.ns;
  return true;
}

int64_t dl_log_time_of(struct dl_log *log, size_t i) {
  double interval_s = log->o.interval_s > 0 ? log->o.interval_s : 1;
  if (!log->assumed_time && !(log->o.interval_s > 0))
    dl_warn(log->d,
            "%s: no times in this log: one sample a second assumed; "
            "--interval says otherwise",
            log->path);
  log->assumed_time = true;
  return dl_log_time_since(log, (double)i * interval_s);
}

int64_t dl_log_time_since(struct dl_log *log, double seconds) {
  log->clock = DL_CLOCK_RELATIVE;
  return llround(fmin(fmax(seconds, -4e9), 4e9) * 1e9);
}

struct dl_run *dl_log_run(struct dl_log *log) {
  DL_GROW(log->run, log->runs_cap, log->n_runs + 1);
  if (log->n_runs == log->n_blank) /* those before were cleared */
    log->run[log->n_blank++] = dl_run_unknown;
  log->run[log->n_runs].line = log->line;
  return &log->run[log->n_runs++];
}

struct dl_cluster_job *dl_log_job(struct dl_log *log) {
  DL_GROW(log->job, log->jobs_cap, log->n_jobs + 1);
  log->job[log->n_jobs] = (struct dl_cluster_job){.line = log->line};
  return &log->job[log->n_jobs++];
}

void dl_log_add_run(struct dl_log *log, struct dl_run *run) {
  if (run->line == 0)
    run->line = log->line;
  *dl_log_run(log) = *run;
  *run = dl_run_unknown;
}

struct dl_run *dl_log_open_run(struct dl_log *log) {
  if (!log->in_run)
    log->open_run = dl_run_unknown;
  log->in_run = true;
  return &log->open_run;
}

void dl_log_close_run(struct dl_log *log, bool add) {
  if (log->in_run && add)
    dl_log_add_run(log, &log->open_run);
  else if (log->in_run)
    dl_run_clear(&log->open_run);
  log->in_run = false;
}

bool dl_log_bad(struct dl_log *log, const char *fmt, ...) {
  struct dl_text text = {0};
  va_list args;
  if (!log)
    return false;
  va_start(args, fmt);
  dl_text_vprintf(&text, fmt, args);
  va_end(args);
  DL_GROW(log->problem, log->problems_cap, log->n_problems + 1);
  log->problem[log->n_problems++] = (struct dl_log_problem){log->line, text.s};
  return false;
}

void dl_log_warn(struct dl_log *log, const char *fmt, ...) {
  DL_TEXT(text);
  va_list args;
  va_start(args, fmt);
  dl_text_vprintf(&text, fmt, args);
  va_end(args);
  dl_warn_at(log->d, log->path, log->line, "%s", dl_text_str(&text));
}

/* --- opening */

static enum dl_status fail_unknown(const struct dl_log *log,
                                   const struct dl_head *head,
                                   struct dl_diag *d) {
  const char *why = dl_unknown_format(head);
  if (why)
    return dl_fail_at(d, DL_EINPUT, log->path, 0, "unknown log format: %s",
                      why);
  return dl_fail_at(d, DL_EINPUT, log->path, 0,
                    "unknown log format; see 'dlest list importers', and "
                    "--from");
}

enum dl_status dl_log_open(struct dl_log **out, const char *path,
                           const struct dl_log_options *o, struct dl_diag *d) {
  struct dl_log *log = *out = dl_calloc(1, sizeof *log);
  struct dl_head head = {.path = path};
  log->o = *o;
  log->o.seen = o->seen ? o->seen : &log->own_seen;
  log->d = d;
  log->line = 1;
  log->importer = o->from;
  enum dl_status status = dl_lines_open(&log->lines, path, d);
  if (status == DL_OK) {
    log->path = log->lines->path;
    head.text = dl_lines_head(log->lines, &head.len);
    for (size_t i = 0; !log->importer && dl_importers[i]; i++)
      if (dl_importers[i]->probe(&head))
        log->importer = dl_importers[i];
    if (!log->importer)
      status = fail_unknown(log, &head, d);
  }
  if (status == DL_OK) /* there is an importer, or the above failed
                        * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    log->state = dl_calloc(1, log->importer->state_size + 1);
  if (status == DL_OK && log->importer->row) {
    FILE *f = dl_lines_stream(log->lines);
    status = dl_csv_open_stream(&log->csv, f, log->path,
                                log->importer->delimiter, TABLE_BLOCK, d);
  }
  if (status == DL_OK && log->csv) {
    dl_csv_let_grow(log->csv);
    log->n_columns = dl_csv_n_cols(log->csv);
  }
  if (status == DL_OK && log->importer->begin)
    status = log->importer->begin(log, &head, d);
  if (status != DL_OK) {
    dl_log_free(log);
    *out = NULL;
  }
  return status;
}

void dl_log_free_contents(struct dl_log *log) {
  if (log->state && log->importer->free)
    log->importer->free(log->state);
  free(log->state);
  if (log->in_run)
    dl_run_clear(&log->open_run);
  for (size_t i = 0; i < log->n_meters; i++) {
    free(log->meter[i].id);
    free(log->meter[i].name);
    free(log->meter[i].host);
  }
  free(log->meter);
  free(log->reading);
  while (log->n_runs > 0)
    dl_run_clear(&log->run[--log->n_runs]);
  free(log->run);
  free(log->job);
  for (size_t i = 0; i < log->n_problems; i++)
    free(log->problem[i].text);
  free(log->problem);
}

void dl_log_free(struct dl_log *log) {
  if (!log)
    return;
  dl_log_free_contents(log);
  free(log->carry.s);
  dl_seen_rows_free(&log->own_seen);
  dl_csv_free(log->csv);
  dl_lines_free(log->lines);
  free(log);
}

DL_FREES(dl_log_free, struct dl_log)

/* --- reading */

void dl_log_report(struct dl_log *log, size_t last) {
  size_t n = 0;
  for (; n < log->n_problems && log->problem[n].line <= last; n++) {
    dl_skip_at(log->d, log->path, log->problem[n].line, "%s",
               log->problem[n].text);
    free(log->problem[n].text);
  }
  if (n == 0) /* there may be no list */
    return;
  log->n_problems -= n;
  memmove(log->problem, log->problem + n,
          log->n_problems * sizeof *log->problem);
}

void dl_log_report_last(struct dl_log *log, bool cut_off) {
  size_t drop = log->o.drop_last;
  size_t last = log->line > drop ? log->line - drop : 0;
  dl_log_report(log, drop == 0 && last > 0 ? last - 1 : last);
  if (log->n_problems == 0)
    return;
  struct dl_log_problem *p = &log->problem[log->n_problems - 1];
  if (drop == 0 && !cut_off && p->line == log->line && !log->csv &&
      !log->importer->text) {
    dl_warn_at(log->d, log->path, p->line, "last line skipped: %s", p->text);
    free(p->text);
    log->n_problems--;
  }
  dl_log_report(log, last);
}

/* After the last line; cut_off: it was incomplete and has been reported. */
static void end(struct dl_log *log, bool cut_off) {
  size_t drop = log->o.drop_last;
  size_t last = log->line > drop ? log->line - drop : 0;
  log->at_end = true;
  if (log->importer->end)
    log->importer->end(log);
  while (log->n_readings > 0 && log->reading[log->n_readings - 1].line > last)
    log->n_readings--;
  dl_log_report_last(log, cut_off);
}

static enum dl_status read_line(struct dl_log *log) {
  struct dl_line line;
  DL_TRY(dl_lines_next(log->lines, &line, log->d));
  if (!line.s)
    end(log, false);
  else if (!dl_log_import_line(log, &line))
    end(log, true);
  return DL_OK;
}

/* Imports all of a log that is one text. */
static enum dl_status read_text(struct dl_log *log) {
  DL_TEXT(text);
  char piece[1 << 14];
  size_t n;
  FILE *f = dl_lines_stream(log->lines);
  while (text.len <= DL_JSON_MOST_BYTES &&
         (n = fread(piece, 1, sizeof piece, f)) > 0)
    dl_text_add_n(&text, piece, n);
  bool failed = ferror(f);
  dl_close_input(f);
  if (failed)
    return dl_fail_at(log->d, DL_EFAILED, log->path, 0, "cannot read");
  if (text.len > DL_JSON_MOST_BYTES)
    return dl_fail_at(log->d, DL_EINPUT, log->path, 0,
                      "more than %d MiB: split the range of times",
                      DL_JSON_MOST_BYTES >> 20);
  DL_TRY(log->importer->text(log, dl_text_str(&text), text.len, log->d));
  end(log, false);
  return DL_OK;
}

/* Whether a row with this hash was read before, with a warning; otherwise
 * remembers it. */
static bool is_repeat(struct dl_log *log, uint64_t hash) {
  if (!dl_seen_has(log->o.seen, hash)) {
    dl_seen_add(log->o.seen, hash);
    return false;
  }
  if (!log->warned_repeat)
    dl_log_warn(log, DL_LOG_REPEATED);
  log->warned_repeat = true;
  return true;
}

/* The next rows of the table. If it ends within quotes, it was cut off there:
 * the rows before count. */
static enum dl_status next_rows(struct dl_log *log) {
  struct dl_diag own = {0};
  enum dl_status status = dl_csv_next(log->csv, &log->block, &own);
  if (status == DL_EINPUT) {
    dl_warn(log->d, "%s; what is before is used", own.error);
    free(own.error);
    own.error = NULL;
    log->block = NULL;
    status = DL_OK;
  }
  if (dl_csv_at_end(log->csv) && dl_lines_cut(log->lines) > 0)
    dl_diag_forgive(&own, log->path, dl_lines_cut(log->lines));
  dl_diag_take(log->d, &own);
  log->row = 0;
  if (status != DL_OK || dl_csv_n_cols(log->csv) == log->n_columns)
    return status;
  log->n_columns = dl_csv_n_cols(log->csv);
  return log->importer->begin(log, &(struct dl_head){.path = log->path},
                              log->d);
}

static enum dl_status read_row(struct dl_log *log) {
  if (!log->block || log->row == log->block->n_rows) {
    DL_TRY(next_rows(log));
    if (!log->block) {
      end(log, false);
      return DL_OK;
    }
  }
  size_t row = log->row++, n = log->block->n_cols;
  const char *const *cell = log->block->cell + row * n;
  uint64_t hash = DL_SEEN_START;
  log->line = log->block->line[row];
  for (size_t i = 0; i < n; i++)
    hash = dl_seen_hash(hash, cell[i], strlen(cell[i]) + 1);
  bool cut = log->row == log->block->n_rows && dl_csv_is_cut(log->csv);
  bool taken = !cut || log->importer->role == DL_LOG_RUNS;
  if (taken && is_repeat(log, hash))
    return DL_OK;
  taken = taken && log->importer->row(log, cell);
  if (cut && taken) {
    dl_log_warn_uncertain(log, cell[n - 1]);
  } else if (cut) {
    dl_log_forget_line(log);
    dl_warn_at(log->d, log->path, log->line, DL_LOG_CUT_OFF);
  }
  return DL_OK;
}

/* How many readings may be returned. */
static size_t ready(const struct dl_log *log) {
  size_t n = log->n_readings;
  if (!log->at_end && log->o.drop_last > 0)
    while (n > 0 && log->reading[n - 1].line + log->o.drop_last > log->line)
      n--;
  return n;
}

enum dl_status dl_log_next(struct dl_log *log, struct dl_log_block *block,
                           struct dl_diag *d) {
  size_t hold = log->o.drop_last;
  log->d = d;
  log->n_readings -= log->n_used;
  if (log->n_used > 0 && log->n_readings > 0)
    memmove(log->reading, log->reading + log->n_used,
            log->n_readings * sizeof *log->reading);
  while (log->n_runs > 0)
    dl_run_clear(&log->run[--log->n_runs]);
  *block = (struct dl_log_block){0};
  size_t left = ready(log);
  while (!log->at_end && log->n_runs < BLOCK_RUNS &&
         (log->n_readings < BLOCK_READINGS + 2 * hold || ready(log) <= left)) {
    DL_TRY(log->csv              ? read_row(log)
           : log->importer->text ? read_text(log)
                                 : read_line(log));
    if (log->n_problems > 0 && !log->at_end)
      dl_log_report(log, log->line > hold + 1 ? log->line - hold - 1 : 0);
  }
  log->bytes = log->lines->bytes;
  log->n_used = ready(log);
  *block =
      (struct dl_log_block){log->reading, log->n_used, log->run, log->n_runs};
  return DL_OK;
}
