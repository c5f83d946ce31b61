/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver of importers: lines or rows in, blocks of readings and runs out.
 *
 * What is wrong with a line is held back until another one follows: on the
 * last line it means that the file was cut off, or is still being written.
 * Readings are held back by as many lines as shall not count at the end. */

#include "logs/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/csv_stream.h"
#include "io/lines.h"
#include "logs/readings/power_meter.h"

enum { BLOCK = 512, METERS_MAX = 1024 };

/* The end of 2100, in ns since 1970. */
#define TIME_MAX (INT64_C(4133980800) * DL_SECOND)

/* Of times without a date: what is late by less is not of the next day. */
#define DAY (INT64_C(86400) * DL_SECOND)
#define LATE_MAX (INT64_C(60) * DL_SECOND)

/* Rows of tables are few: small buffers, one thread. */
static const struct dl_csv_tuning table_tuning = {.block_size = (size_t)1 << 18,
                                                  .chunk_size = (size_t)1 << 18,
                                                  .n_threads = 1};

struct problem {
  size_t line;
  char *text;
};

struct dl_log {
  struct dl_log_options o;
  const struct dl_importer *importer;
  void *state;
  struct dl_lines *lines;
  struct dl_csv *csv;               /* of tables */
  const struct dl_csv_block *block; /* rows being handed over */
  size_t row;                       /* next of them */
  struct dl_diag *d;                /* of the call that is going on */
  size_t line;                      /* that is being read */
  bool at_end, no_memory;

  struct dl_meter_info *meter;
  size_t n_meters, meters_cap, last_meter;

  struct dl_reading *reading;
  size_t *reading_line;
  size_t n_readings, readings_cap, lines_cap;
  size_t n_out; /* readings handed out by the last call */
  struct dl_run *run;
  size_t n_runs, runs_cap;
  struct problem *problem;
  size_t n_problems, problems_cap;

  enum dl_clock clock;
  int64_t days, last_of_day; /* of times without a date, in ns */
  bool assumed_time;
};

/* --- what importers call */

void *dl_log_state(struct dl_log *log) {
  return log->state;
}

long dl_log_column(const struct dl_log *log, const char *name) {
  return log->csv ? dl_csv_find(log->csv, name) : -1;
}

static bool is_meter(const struct dl_meter_info *m, enum dl_meter_kind kind,
                     const char *id) {
  return m->kind == kind &&
         (id == m->id || (id && m->id && strcmp(id, m->id) == 0));
}

static uint32_t new_meter(struct dl_log *log, enum dl_meter_kind kind,
                          const char *id, const char *name) {
  void *meters = log->meter;
  if (log->n_meters == METERS_MAX) {
    dl_log_bad(log, "more than %d meters in one log", METERS_MAX);
    return METERS_MAX; /* no reading of it is taken */
  }
  char *own_id = id ? dl_strdup(id) : NULL;
  char *own_name = name && *name ? dl_strdup(name) : NULL;
  if ((id && !own_id) || !dl_grow(&meters, &log->meters_cap, log->n_meters + 1,
                                  sizeof *log->meter)) {
    free(own_id);
    free(own_name);
    log->no_memory = true;
    return 0; /* nothing is handed out from here on */
  }
  log->meter = meters;
  log->meter[log->n_meters] =
      (struct dl_meter_info){kind, own_id, own_name, NAN};
  return (uint32_t)log->n_meters++;
}

uint32_t dl_log_meter(struct dl_log *log, enum dl_meter_kind kind,
                      const char *id, const char *name) {
  size_t n = log->n_meters;
  /* The same again, or the next one in turn. */
  if (n > 0 && is_meter(&log->meter[log->last_meter], kind, id))
    return (uint32_t)log->last_meter;
  for (size_t i = 1; i < n; i++) {
    size_t k = (log->last_meter + i) % n;
    if (is_meter(&log->meter[k], kind, id))
      return (uint32_t)(log->last_meter = k);
  }
  uint32_t made = new_meter(log, kind, id, name);
  if (made < log->n_meters)
    log->last_meter = made;
  return made;
}

void dl_log_limit(struct dl_log *log, uint32_t meter, double limit_w) {
  if (meter < log->n_meters && limit_w > 0)
    log->meter[meter].limit_w = limit_w;
}

void dl_log_reading(struct dl_log *log, const struct dl_reading *r) {
  char fault[DL_FAULT_SIZE];
  if (r->meter >= log->n_meters) /* too many meters, which has been told */
    return;
  if (dl_meter_fault(fault, log->meter[r->meter].kind, r)) {
    dl_log_bad(log, "impossible %s", fault);
    return;
  }
  if (log->n_readings >= log->readings_cap ||
      log->n_readings >= log->lines_cap) {
    void *readings = log->reading, *lines = log->reading_line;
    bool ok = dl_grow(&readings, &log->readings_cap, log->n_readings + 1,
                      sizeof *log->reading);
    log->reading = readings;
    ok = ok && dl_grow(&lines, &log->lines_cap, log->n_readings + 1,
                       sizeof *log->reading_line);
    log->reading_line = lines;
    if (!ok) {
      log->no_memory = true;
      return;
    }
  }
  log->reading[log->n_readings] = *r;
  log->reading_line[log->n_readings++] = log->line;
}

bool dl_log_time(struct dl_log *log, const char *s, size_t len, int64_t *ns) {
  struct dl_timestamp t;
  if (!dl_parse_timestamp(s, len, &t))
    return false;
  if (!t.dated) {
    int64_t step = t.ns - log->last_of_day;
    if (step < -DAY / 2 && log->days < TIME_MAX)
      log->days += DAY;
    else if (step > DAY - LATE_MAX && log->days > 0) /* before midnight */
      log->days -= DAY;
    log->last_of_day = t.ns;
    log->clock = DL_CLOCK_DAY;
    t.ns += log->days;
  }
  if (t.ns < 0 || t.ns > TIME_MAX)
    return false;
  if (t.zoned)
    log->clock = DL_CLOCK_ZONED;
  *ns = t.ns;
  return true;
}

int64_t dl_log_time_of(struct dl_log *log, size_t i) {
  double interval = log->o.interval_s > 0 ? log->o.interval_s : 1;
  if (!log->assumed_time && !(log->o.interval_s > 0))
    dl_warn(log->d,
            "%s: no times in this log: one sample a second assumed; "
            "--interval says otherwise",
            dl_lines_path(log->lines));
  log->assumed_time = true;
  return dl_log_time_since(log, (double)i * interval);
}

int64_t dl_log_time_since(struct dl_log *log, double seconds) {
  log->clock = DL_CLOCK_RELATIVE;
  return llround(fmin(fmax(seconds, 0), 4e9) * 1e9);
}

struct dl_run *dl_log_run(struct dl_log *log) {
  void *runs = log->run;
  if (!dl_grow(&runs, &log->runs_cap, log->n_runs + 1, sizeof *log->run)) {
    log->no_memory = true;
    return NULL;
  }
  log->run = runs;
  struct dl_run *r = &log->run[log->n_runs];
  if (!dl_run_init(r)) {
    log->no_memory = true;
    return NULL;
  }
  r->line = log->line;
  log->n_runs++;
  return r;
}

static char *formatted(struct dl_log *log, const char *fmt, va_list args) {
  char *text = NULL;
  if (vasprintf(&text, fmt, args) >= 0)
    return text;
  log->no_memory = true;
  return NULL;
}

bool dl_log_bad(struct dl_log *log, const char *fmt, ...) {
  void *problems = log->problem;
  va_list args;
  va_start(args, fmt);
  char *text = formatted(log, fmt, args);
  va_end(args);
  if (!text || !dl_grow(&problems, &log->problems_cap, log->n_problems + 1,
                        sizeof *log->problem)) {
    free(text);
    log->no_memory = true;
    return false;
  }
  log->problem = problems;
  log->problem[log->n_problems++] = (struct problem){log->line, text};
  return false;
}

void dl_log_warn(struct dl_log *log, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  char *text = formatted(log, fmt, args);
  va_end(args);
  if (text)
    dl_warn_at(log->d, dl_lines_path(log->lines), log->line, "%s", text);
  free(text);
}

/* --- opening */

static const struct dl_importer *recognise(const struct dl_head *head) {
  for (size_t i = 0; i < dl_importer_count(); i++)
    if (dl_importer_at(i)->probe(head))
      return dl_importer_at(i);
  return NULL;
}

static enum dl_status start(struct dl_log *log, const char *path,
                            struct dl_diag *d) {
  struct dl_head head = {.path = path};
  enum dl_status status = dl_lines_open(&log->lines, path, d);
  if (status != DL_OK)
    return status;
  head.text = dl_lines_head(log->lines, &head.len);
  log->importer = log->o.from ? log->o.from : recognise(&head);
  if (!log->importer)
    return dl_fail_at(d, DL_EINPUT, dl_lines_path(log->lines), 0,
                      "no importer knows this kind of file; see 'dlest list "
                      "importers', and --from");
  log->state = dl_calloc(1, log->importer->state_size + 1);
  if (!log->state)
    return dl_fail_memory(d);
  if (log->importer->row) {
    FILE *f = dl_lines_stream(log->lines);
    if (!f)
      return dl_fail_memory(d);
    status = dl_csv_open_stream(&log->csv, f, dl_lines_path(log->lines),
                                log->importer->delimiter, &table_tuning, d);
  }
  log->line = 1;
  log->d = d;
  if (status == DL_OK && log->importer->begin)
    status = log->importer->begin(log, &head, d);
  return status;
}

enum dl_status dl_log_open(struct dl_log **out, const char *path,
                           const struct dl_log_options *o, struct dl_diag *d) {
  struct dl_log *log = dl_calloc(1, sizeof *log);
  *out = NULL;
  if (!log)
    return dl_fail_memory(d);
  log->o = *o;
  enum dl_status status = start(log, path, d);
  if (status != DL_OK) {
    dl_log_free(log);
    return status;
  }
  *out = log;
  return DL_OK;
}

static void free_runs(struct dl_log *log) {
  for (size_t i = 0; i < log->n_runs; i++)
    dl_run_clear(&log->run[i]);
  log->n_runs = 0;
}

void dl_log_free(struct dl_log *log) {
  if (!log)
    return;
  if (log->state && log->importer->free)
    log->importer->free(log->state);
  free(log->state);
  dl_csv_free(log->csv);
  dl_lines_free(log->lines);
  for (size_t i = 0; i < log->n_meters; i++) {
    free(log->meter[i].id);
    free(log->meter[i].name);
  }
  free(log->meter);
  free(log->reading);
  free(log->reading_line);
  free_runs(log);
  free(log->run);
  for (size_t i = 0; i < log->n_problems; i++)
    free(log->problem[i].text);
  free(log->problem);
  free(log);
}

void dl_log_drop_last(struct dl_log *log, size_t n_lines) {
  log->o.drop_last = n_lines;
}

const char *dl_log_path(const struct dl_log *log) {
  return dl_lines_path(log->lines);
}

const struct dl_importer *dl_log_importer(const struct dl_log *log) {
  return log->importer;
}

size_t dl_log_n_meters(const struct dl_log *log) {
  return log->n_meters;
}

const struct dl_meter_info *dl_log_meter_info(const struct dl_log *log,
                                              uint32_t meter) {
  return &log->meter[meter];
}

enum dl_clock dl_log_clock(const struct dl_log *log) {
  return log->clock;
}

/* --- reading */

/* Reports what was wrong with lines up to `last`. */
static void report(struct dl_log *log, size_t last, struct dl_diag *d) {
  size_t n = 0;
  while (n < log->n_problems && log->problem[n].line <= last) {
    dl_skip_at(d, dl_log_path(log), log->problem[n].line, "%s",
               log->problem[n].text);
    free(log->problem[n++].text);
  }
  if (n == 0)
    return;
  log->n_problems -= n;
  memmove(log->problem, log->problem + n,
          log->n_problems * sizeof *log->problem);
}

/* Behind the last line. */
static void end(struct dl_log *log, bool cut_off, struct dl_diag *d) {
  size_t drop = log->o.drop_last;
  size_t last = log->line > drop ? log->line - drop : 0;
  log->at_end = true;
  if (log->importer->end)
    log->importer->end(log);
  while (log->n_readings > 0 && log->reading_line[log->n_readings - 1] > last)
    log->n_readings--;
  if (drop == 0 && !cut_off && log->n_problems > 0 &&
      log->problem[log->n_problems - 1].line == log->line && !log->csv) {
    struct problem *p = &log->problem[--log->n_problems];
    dl_warn_at(d, dl_log_path(log), p->line, "last line not used: %s", p->text);
    free(p->text);
  }
  report(log, last, d);
}

static enum dl_status read_line(struct dl_log *log, struct dl_diag *d) {
  struct dl_line line;
  enum dl_status status = dl_lines_next(log->lines, &line, d);
  if (status != DL_OK)
    return status;
  if (!line.s) {
    end(log, false, d);
    return DL_OK;
  }
  log->line = line.number;
  if (!line.ended) {
    /* Its last number may lack digits, which nothing tells. */
    if (log->o.drop_last == 0 && line.s[strspn(line.s, " \t")] != '\0')
      dl_warn_at(d, dl_log_path(log), line.number,
                 "last line not used: it has no end and may be cut off");
    end(log, true, d);
    return DL_OK;
  }
  if (line.s[strspn(line.s, " \t")] == '\0')
    return DL_OK;
  log->importer->line(log, line.s, line.len);
  return DL_OK;
}

/* The next rows. A table that ends within quotes was cut off there: what comes
 * before counts. */
static enum dl_status next_rows(struct dl_log *log, struct dl_diag *d) {
  struct dl_diag own;
  dl_diag_init(&own);
  enum dl_status status = dl_csv_next(log->csv, &log->block, &own);
  if (status == DL_EINPUT) {
    dl_warn(d, "%s; what is before is used", own.error);
    free(own.error);
    own.error = NULL;
    log->block = NULL;
    status = DL_OK;
  }
  if (dl_csv_at_end(log->csv) && dl_lines_cut(log->lines) > 0)
    dl_diag_forgive(&own, dl_log_path(log), dl_lines_cut(log->lines));
  dl_diag_take(d, &own);
  log->row = 0;
  return status;
}

static enum dl_status read_row(struct dl_log *log, struct dl_diag *d) {
  if (!log->block || log->row == log->block->n_rows) {
    enum dl_status status = next_rows(log, d);
    if (status != DL_OK)
      return status;
    if (!log->block) {
      end(log, false, d);
      return DL_OK;
    }
  }
  log->line = log->block->line[log->row];
  if (dl_csv_at_end(log->csv) && log->line == dl_lines_cut(log->lines)) {
    dl_warn_at(d, dl_log_path(log), log->line,
               "last line not used: it has no end and may be cut off");
    log->row++;
    return DL_OK;
  }
  log->importer->row(log, log->block->cell + log->row * log->block->n_cols);
  log->row++;
  return DL_OK;
}

/* Readings that may be handed out. */
static size_t ready(const struct dl_log *log) {
  size_t n = log->n_readings;
  if (!log->at_end && log->o.drop_last > 0)
    while (n > 0 && log->reading_line[n - 1] + log->o.drop_last > log->line)
      n--;
  return n;
}

static void take_back(struct dl_log *log) {
  log->n_readings -= log->n_out;
  if (log->n_out > 0 && log->n_readings > 0) {
    memmove(log->reading, log->reading + log->n_out,
            log->n_readings * sizeof *log->reading);
    memmove(log->reading_line, log->reading_line + log->n_out,
            log->n_readings * sizeof *log->reading_line);
  }
  log->n_out = 0;
  free_runs(log);
}

enum dl_status dl_log_next(struct dl_log *log, struct dl_log_block *block,
                           struct dl_diag *d) {
  size_t hold = log->o.drop_last;
  log->d = d;
  take_back(log);
  *block = (struct dl_log_block){0};
  while (!log->at_end && log->n_runs < 64 &&
         (log->n_readings < BLOCK + 2 * hold || ready(log) == 0)) {
    enum dl_status status = log->csv ? read_row(log, d) : read_line(log, d);
    if (status != DL_OK)
      return status;
    if (log->no_memory || (log->n_runs > 0 && log->run[log->n_runs - 1].failed))
      return dl_fail_memory(d);
    if (log->n_problems > 0 && !log->at_end)
      report(log, log->line > hold + 1 ? log->line - hold - 1 : 0, d);
  }
  log->n_out = ready(log);
  *block = (struct dl_log_block){log->reading, log->reading_line, log->n_out,
                                 log->run, log->n_runs};
  return DL_OK;
}

size_t dl_log_bytes(const struct dl_log *log) {
  return dl_lines_bytes(log->lines);
}
