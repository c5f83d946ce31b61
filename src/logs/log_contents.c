/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the readings and runs of a log: the functions that importers call,
 * and the import of one line. log.c reads the file. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/lines.h"
#include "logs/log_private.h"
#include "logs/readings/power_meter.h"

enum { METERS_MAX = 1024 };

/* The end of the year 2100, in ns since 1970. */
#define TIME_MAX_NS (INT64_C(4133980800) * DL_SECOND)

/* A time of day that is earlier by less than LATE_MAX_NS belongs to the current
 * day. */
#define DAY_NS (INT64_C(86400) * DL_SECOND)
#define LATE_MAX_NS (INT64_C(60) * DL_SECOND)

/* --- called by importers */

long dl_log_column(const struct dl_log *log, const char *name) {
  return log->csv ? dl_csv_find(log->csv, name) : -1;
}

/* Whether two names denote different devices. Tools write a text in brackets,
 * "[Unknown Error]", for a device that does not answer, which is no name. */
static bool is_other_name(const char *name, const char *other) {
  return strcmp(name, other) != 0 && *name != '\0' && *name != '[' &&
         *other != '[';
}

bool dl_log_names_sum(const char *id) {
  static const char sums[] = "total|sum|all|overall|combined|average|avg|mean",
                    parts[] = "gpu|gpus|cpu|cpus|device|devices|power|node";
  bool sum = false, other = false;
  for (size_t len; id && *id != '\0'; id += len) {
    len = strcspn(id, ": _-.");
    bool is = len > 0 && dl_word_among(sums, id, len) >= 0;
    other |= len > 0 && !is && dl_word_among(parts, id, len) < 0;
    sum |= is;
    if (sum && !other && (id[len] == '\0' || id[len] == ':'))
      return true;
    if (id[len] == ':')
      sum = other = false;
    len += id[len] != '\0';
  }
  return false;
}

static bool has_parts(const struct dl_log *log, const struct dl_meter_info *m) {
  bool parts = false;
  for (size_t i = 0; i < log->n_meters && !parts; i++)
    parts = log->meter[i].kind == m->kind && !log->meter[i].is_sum;
  return parts;
}

/* Drops meters that turn out to be sums of others, and what they read. */
static void drop_sums(struct dl_log *log) {
  size_t n = 0;
  for (size_t i = 0; i < log->n_meters; i++) {
    struct dl_meter_info *m = &log->meter[i];
    if (!m->is_sum || m->dropped || !has_parts(log, m))
      continue;
    m->dropped = true;
    dl_log_warn(log, "device '%.60s' is a sum or a mean of others: not counted",
                m->id);
  }
  for (size_t i = 0; i < log->n_readings; i++)
    if (!log->meter[log->reading[i].meter].dropped)
      log->reading[n++] = log->reading[i];
  log->n_readings = n;
}

uint32_t dl_log_meter(struct dl_log *log, enum dl_meter_kind kind,
                      const char *id, const char *name) {
  /* Most readings come from the last meter again, or from the next one. */
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
  log->meter[log->n_meters] = (struct dl_meter_info){
      kind, own_id, own_name, NULL, NAN, 0, false, false, dl_log_names_sum(id),
      false};
  log->last_meter = log->n_meters++;
  log->any_sum |= log->meter[log->last_meter].is_sum;
  if (log->any_sum)
    drop_sums(log);
  return (uint32_t)log->last_meter;
}

void dl_log_host(struct dl_log *log, uint32_t meter, const char *host) {
  if (meter < log->n_meters && !log->meter[meter].host && *host)
    log->meter[meter].host = dl_strdup(host);
}

void dl_log_uuid(struct dl_log *log, uint32_t meter) {
  if (meter < log->n_meters)
    log->meter[meter].of_uuid = true;
}

void dl_log_limit(struct dl_log *log, uint32_t meter, double limit_w) {
  if (meter < log->n_meters && limit_w > 0 && isfinite(limit_w))
    log->meter[meter].limit_w = limit_w;
}

size_t dl_log_nodes(const struct dl_log *log, enum dl_meter_kind kind) {
  struct dl_intern hosts = {0};
  bool all = true;
  for (size_t i = 0; i < log->n_meters; i++) {
    const struct dl_meter_info *info = &log->meter[i];
    if (info->kind == kind && info->host)
      dl_intern(&hosts, info->host);
    all &= info->kind != kind || info->host;
  }
  size_t n = all ? hosts.n : 0;
  dl_intern_free(&hosts);
  return n;
}

void dl_log_later_header(struct dl_log *log) {
  log->after_header = true;
}

void dl_log_other_device(struct dl_log *log) {
  log->other_device = true;
}

void dl_log_comment(struct dl_log *log, const char *text) {
  char word[16], host[sizeof log->origin.host];
  int end = 0; /* more words describe a device of a recording, or a count */
  if (sscanf(text, "#%*[ #]%15[a-z]%*[: =]%63s %n", word, host, &end) != 2 ||
      dl_word_among("host|hostname|node|server", word, strlen(word)) < 0 ||
      text[end] != '\0' || strcmp(host, log->origin.host) == 0)
    return;
  if (log->origin.host[0] != '\0') {
    dl_log_other_device(log);
    dl_log_warn(log,
                "a comment names '%s', one before '%s': devices with one "
                "index count as one; make one log of each node",
                host, log->origin.host);
  }
  snprintf(log->origin.host, sizeof log->origin.host, "%s", host);
}

/* Whether a reading is outside the window that counts. */
static bool is_outside(struct dl_log *log, int64_t ns) {
  const struct dl_log_options *o = &log->o;
  if (!log->any_reading)
    log->first_ns = ns;
  log->any_reading = true;
  return ns < dl_time_bound_ns(&o->since, log->first_ns, log->zoned,
                               INT64_MIN) ||
         ns > dl_time_bound_ns(&o->until, log->first_ns, log->zoned, INT64_MAX);
}

void dl_log_reading(struct dl_log *log, const struct dl_reading *r) {
  char fault[DL_FAULT_SIZE];
  if (is_outside(log, r->ns))
    return;
  if (r->meter >= log->n_meters || /* too many meters: already reported */
      log->meter[r->meter].dropped)
    return;
  if (dl_reading_fault(fault, log->meter[r->meter].kind, r)) {
    dl_log_bad(log, "impossible %s", fault);
    return;
  }
  DL_GROW(log->reading, log->readings_cap, log->n_readings + 1);
  log->reading[log->n_readings] = *r;
  log->reading[log->n_readings].after_header = log->after_header;
  log->reading[log->n_readings].other_device = log->other_device;
  log->after_header = log->other_device = false;
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

/* --- problems of lines */

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

/* --- lines */

void dl_log_forget_line(struct dl_log *log) {
  while (log->n_problems > 0 &&
         log->problem[log->n_problems - 1].line == log->line)
    free(log->problem[--log->n_problems].text);
}

void dl_log_warn_uncertain(struct dl_log *log, const char *value) {
  dl_warn_at(log->d, log->path, log->line,
             "last line without a line end: its last value '%.40s' may be cut "
             "off",
             value);
}

/* Imports a last line without a line end, if it has all its fields. One reading
 * less does no harm, so a reading is used only if its last field is certainly
 * complete; a row of a table of jobs is used because it stands for a job. */
static bool import_open_line(struct dl_log *log, char *s) {
  bool whole = dl_line_is_whole(log->above, s);
  DL_FREED char *last = dl_strdup(dl_last_field(s));
  if (log->o.drop_last > 0)
    return false;
  if ((whole || log->importer->has_jobs) && log->importer->line(log, s)) {
    if (!whole)
      dl_log_warn_uncertain(log, last);
    return true;
  }
  dl_log_forget_line(log);
  dl_warn_at(log->d, log->path, log->line, DL_LOG_CUT_OFF);
  return false;
}

bool dl_log_import_line(struct dl_log *log, const struct dl_line *line) {
  log->line = line->number;
  log->len = line->len;
  if (*line->s <= ' ' && line->s[strspn(line->s, " \t")] == '\0')
    return true;
  if (!line->ended)
    return import_open_line(log, line->s);
  dl_lines_above_add(log->above, line->s, line->len);
  log->importer->line(log, line->s);
  return true;
}
