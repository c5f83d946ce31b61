/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON object a line, with a time and figures under the names of columns of
 * a table of samples (tables/sample_columns.h). Weights & Biases keep the
 * history of their stream "events" so (wandb-events.jsonl, and what their API
 * gives as JSON lines):
 *
 *   {"system.gpu.0.powerWatts": 301.2, "system.gpu.0.gpu": 97.0, "_timestamp":
 *   1700000000.5, "_runtime": 15.2}
 *
 * trackio names the process of a training before them, "rank0/gpu/0/power",
 * and adds sums of its GPUs, "rank0/gpu/total_power". Processes of one node may
 * name the same GPU, so that a log is of one of them.
 *
 * Objects without a power or an energy, of other metrics, are skipped. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "io/json_read.h"
#include "logs/importers/tables/sample_columns.h"
#include "logs/log.h"

enum { MOST_CHANNELS = 64 };

/* The readings of an object, of one moment. */
struct moment {
  double time_s;
  size_t rank; /* of the time's name */
  char text[96];
  struct {
    struct dl_sample_column column;
    struct dl_reading r;
  } channel[MOST_CHANNELS];
  size_t n;
  bool measures;
  long process; /* of trackio's names, from 1 on; 0: none */
  bool several; /* processes */
};

static void take_value(struct moment *m, const struct dl_sample_column *c,
                       double x) {
  size_t i = 0;
  while (i < m->n && !(m->channel[i].column.kind == c->kind &&
                       m->channel[i].column.index == c->index))
    i++;
  if (i == MOST_CHANNELS)
    return;
  if (i == m->n) {
    m->channel[m->n].column = *c;
    m->channel[m->n++].r = dl_reading_at(0, 0);
  }
  struct dl_reading *r = &m->channel[i].r;
  x *= c->scale;
  if (c->quantity == DL_SAMPLE_UTIL)
    r->util = x <= 1 ? x : (double)NAN;
  else
    *(c->quantity == DL_SAMPLE_POWER ? &r->power_w : &r->energy_j) = x;
  m->measures = m->measures || c->quantity != DL_SAMPLE_UTIL;
}

enum { MOST_PROCESSES = 1000000 };

/* Takes "rank0/" off a name. */
static const char *without_process(struct moment *m, const char *key) {
  char *end;
  if (strncmp(key, "rank", 4) != 0 || !isdigit((unsigned char)key[4]))
    return key;
  long rank = strtol(key + 4, &end, 10);
  if (*end != '/' || rank >= MOST_PROCESSES)
    return key;
  const long process = rank + 1;
  m->several = m->several || (m->process > 0 && m->process != process);
  m->process = process;
  return end + 1;
}

static void take_member(void *ctx, const char *key, const dl_json *value) {
  struct moment *m = ctx;
  struct dl_json_value v = dl_json_value_of(value);
  struct dl_sample_column c;
  size_t rank = 0;
  double unit_s = dl_sample_time(key, &rank);
  if (unit_s > 0 && rank < m->rank && v.type != DL_JSON_ABSENT) {
    m->rank = rank;
    m->time_s = v.type == DL_JSON_NUMBER ? v.number * unit_s : (double)NAN;
    snprintf(m->text, sizeof m->text, "%.80s", v.text ? v.text : "");
  } else if (v.type == DL_JSON_NUMBER && v.number >= 0 &&
             dl_sample_column(without_process(m, key), &c)) {
    take_value(m, &c, v.number);
  }
}

static void read_moment(struct moment *m, const dl_json *j) {
  *m = (struct moment){.time_s = NAN, .rank = SIZE_MAX};
  dl_json_each(j, take_member, m);
}

static bool probe(const struct dl_head *head) {
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  char text[DL_HEAD_LINE];
  struct moment m = {0};
  dl_json *j;
  for (size_t at = 0; dl_head_line(head, &at, text, sizeof text);) {
    if (text[0] != '{' ||
        dl_json_parse(&j, text, strlen(text), head->path, &own) != DL_OK)
      return false;
    read_moment(&m, j);
    dl_json_free(j);
    if (m.measures && m.rank < SIZE_MAX)
      return true;
  }
  return false;
}

static bool read_time(struct dl_log *log, const struct moment *m, int64_t *ns) {
  char number[DL_NUMBER_SIZE];
  if (isnan(m->time_s))
    return dl_log_time(log, m->text, strlen(m->text), ns);
  if (m->time_s < DL_SINCE_1970_S) {
    *ns = dl_log_time_since(log, m->time_s);
    return true;
  }
  dl_format_short(number, m->time_s);
  return dl_log_time(log, number, strlen(number), ns);
}

/* Whether a channel is the sum or mean of devices that are measured. */
static bool sums_up(const struct moment *m, const struct dl_sample_column *c) {
  bool measured = false;
  for (size_t i = 0; i < m->n; i++)
    measured |=
        m->channel[i].column.kind == c->kind &&
        m->channel[i].column.index >= 0 &&
        (!isnan(m->channel[i].r.power_w) || !isnan(m->channel[i].r.energy_j));
  return c->index < 0 && measured;
}

static bool add_moment(struct dl_log *log, const dl_json *j) {
  struct moment m;
  int64_t ns;
  long *process = log->state;
  read_moment(&m, j);
  if (!m.measures)
    return true;
  if (m.several || (*process > 0 && m.process > 0 && m.process != *process))
    return dl_log_bad(log,
                      "GPUs of a second process, 'rank%ld/', which may be "
                      "the same ones; make a log of each process",
                      m.process - 1);
  if (m.process > 0)
    *process = m.process;
  if (m.rank == SIZE_MAX || !read_time(log, &m, &ns))
    return dl_log_bad(log, "no time, such as '_timestamp'");
  for (size_t i = 0; i < m.n; i++) {
    const struct dl_sample_column *c = &m.channel[i].column;
    char id[24] = "";
    if (sums_up(&m, c))
      continue;
    if (c->index >= 0)
      snprintf(id, sizeof id, "%ld", c->index);
    m.channel[i].r.meter = dl_log_meter(log, c->kind, *id ? id : NULL, NULL);
    m.channel[i].r.ns = ns;
    dl_log_reading(log, &m.channel[i].r);
  }
  return true;
}

static bool line(struct dl_log *log, char *s) {
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  dl_json *j;
  if (dl_json_parse(&j, s, strlen(s), log->path, &own) != DL_OK)
    return dl_log_bad(log, "not a JSON object");
  bool ok = add_moment(log, j);
  dl_json_free(j);
  return ok;
}

/* run.history(stream="events", pandas=False), saved as JSON, is an array. */
static bool is_array(const struct dl_head *head) {
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (*s++ != '[')
    return false;
  s += strspn(s, " \t\r\n");
  return *s == '{' && strstr(s, "\"_timestamp\"") && strstr(s, "gpu.");
}

static enum dl_status array(struct dl_log *log, const char *s, size_t len,
                            struct dl_diag *d) {
  dl_json *j = NULL;
  DL_TEXT(object);
  dl_text_add(&object, "{\"rows\":");
  dl_text_add_n(&object, s, len);
  dl_text_add(&object, "}");
  DL_TRY(dl_json_parse(&j, object.s, object.len, log->path, d));
  const dl_json *rows = dl_json_member(j, "rows");
  for (size_t i = 0; i < dl_json_size(rows); i++) {
    log->line = i + 1;
    if (!add_moment(log, dl_json_at(rows, i)))
      break;
  }
  dl_json_free(j);
  return DL_OK;
}

const struct dl_importer dl_import_json_array = {
    .name = "json-array",
    .summary = "an array of JSON objects: what Weights & Biases' API gives",
    .state_size = sizeof(long),
    .probe = is_array,
    .text = array,
};

const struct dl_importer dl_import_json_lines = {
    .name = "json-lines",
    .summary =
        "a JSON object a line: Weights & Biases' history of events, trackio",
    .state_size = sizeof(long),
    .probe = probe,
    .line = line,
};
