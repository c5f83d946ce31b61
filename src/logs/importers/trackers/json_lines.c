/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON object a line, with a time and figures under the names of columns of
 * a table of samples (tables/sample_columns.h). Weights & Biases keep the
 * history of their stream "events" so (wandb-events.jsonl, and what their API
 * gives as JSON lines):
 *
 *   {"system.gpu.0.powerWatts": 301.2, "system.gpu.0.gpu": 97.0, "_timestamp":
 *   1700000000.5, "_runtime": 15.2}
 *
 * The objects are read as rows of such a table, whose columns are the keys of
 * the first objects that say something of a sample: members of members are
 * named "gpu.power_w", elements of arrays "gpus.0.power_w", by the `index` that
 * they have or their place. {"value": 100, "unit": "W"} is "100 W".
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
#include "base/text.h"
#include "io/json_read.h"
#include "logs/importers/importers.h"
#include "logs/importers/tables/sample_header.h"
#include "logs/log.h"

enum { MOST_PROCESSES = 1000000, MOST_ROWS = 256, MOST_DEPTH = 4 };

#define SEPARATOR ';'

/* Members that group others without saying of what: Telegraf's JSON has them.
 */
#define GROUPS "fields|tags|labels"

/* The table that the objects are rows of. */
struct json_table {
  struct dl_samples samples; /* first: the state of the importer of samples */
  struct dl_strlist key;     /* of each column */
  bool *measure;             /* it has a power or an energy; owned */
  size_t measure_cap;
  bool has_time;
  long process;              /* of trackio's names, from 1 on; 0: none */
  char late[DL_SAMPLE_NAME]; /* a power or an energy that has no column */
  bool said_late;
};

/* A visit of the members of an object. */
struct visit {
  struct json_table *t;
  char prefix[2 * DL_SAMPLE_NAME];
  int depth;
  bool finds; /* columns; otherwise values of those that are known */
  char (*cell)[DL_SAMPLE_NAME]; /* of each column; owned */
  long process;
  bool several; /* processes */
  bool timed;   /* the column of times has a value */
};

/* Takes "rank0/" off a name. */
static const char *without_process(struct visit *v, const char *key) {
  char *end;
  if (strncmp(key, "rank", 4) != 0 || !isdigit((unsigned char)key[4]))
    return key;
  long rank = strtol(key + 4, &end, 10);
  if (*end != '/' || rank >= MOST_PROCESSES)
    return key;
  const long process = rank + 1;
  v->several = v->several || (v->process > 0 && v->process != process);
  v->process = process;
  return end + 1;
}

/* Writes a value as the cell of a table. */
static void put_cell(char cell[DL_SAMPLE_NAME], const struct dl_json_value *v) {
  char number[DL_NUMBER_SIZE];
  if (v->type == DL_JSON_NUMBER)
    dl_format_short(number, v->number);
  dl_samples_name(cell, v->type == DL_JSON_NUMBER ? number : v->text);
  for (char *s = cell; *s != '\0'; s++)
    if (strchr(";\"\r\n\t#", *s))
      *s = ' ';
}

/* Adds a column, if its name says something of a sample. */
static void add_column(struct json_table *t, const char *key,
                       const struct dl_json_value *v) {
  struct dl_sample_column c;
  struct dl_timestamp time;
  enum dl_meter_kind kind;
  size_t rank;
  double x;
  bool quantity = dl_sample_column(key, &c), is_time, text;
  enum dl_sample_label label = dl_sample_label(key, false);
  bool run = dl_same_text(key, "run_id");
  is_time = !quantity && dl_sample_time(key, &rank) > 0;
  text = v->type == DL_JSON_TEXT && strlen(v->text) < DL_SAMPLE_NAME;
  if (dl_strlist_find(&t->key, key) >= 0 || t->key.n == DL_SAMPLE_FIELDS ||
      strpbrk(key, ";\"\r\n\t#") || dl_parse_double(key, &x) ||
      dl_parse_timestamp(key, strlen(key), &time) ||
      (label == DL_LABEL_OTHER && !run) ||
      !(quantity || is_time || label != DL_LABEL_NONE || text ||
        dl_device_named(key) || dl_sample_unread(key, &kind)))
    return;
  DL_GROW(t->measure, t->measure_cap, t->key.n + 1);
  t->measure[t->key.n] = quantity && c.quantity != DL_SAMPLE_UTIL;
  t->has_time |= is_time;
  dl_strlist_add(&t->key, key);
}

static void take_member(void *ctx, const char *key, const dl_json *value);

/* The numbers of the devices that the elements of an array are of: those that
 * they state, which stay when a device is missing or the order changes, or else
 * their places. */
static void number_elements(const dl_json *array, size_t n, size_t *number) {
  static const char *const names[] = {"index",     "gpu_index", "gpu_id",
                                      "device_id", "id",        "gpu"};
  bool stated = true;
  for (size_t i = 0; i < n && stated; i++) {
    struct dl_json_value v = {.type = DL_JSON_ABSENT};
    for (size_t k = 0; k < DL_LENGTH(names) && v.type != DL_JSON_NUMBER; k++)
      v = dl_json_get(dl_json_at(array, i), names[k]);
    stated = v.type == DL_JSON_NUMBER && v.number >= 0 &&
             v.number < MOST_PROCESSES && v.number == floor(v.number);
    number[i] = stated ? (size_t)v.number : 0;
    for (size_t k = 0; k < i; k++)
      stated = stated && number[k] != number[i];
  }
  for (size_t i = 0; i < n && !stated; i++)
    number[i] = i;
}

/* Visits the elements of an array as members with a number. Of arrays of
 * numbers only powers and energies belong to devices. */
static void take_array(struct visit *v, const dl_json *array) {
  struct dl_sample_column c;
  char name[16];
  size_t n = dl_json_size(array), number[DL_SAMPLE_CHANNELS];
  n = n < DL_SAMPLE_CHANNELS ? n : DL_SAMPLE_CHANNELS;
  number_elements(array, n, number);
  for (size_t i = 0; i < n; i++) {
    const dl_json *element = dl_json_at(array, i);
    if (dl_json_value_of(element).type != DL_JSON_OTHER &&
        !(dl_sample_column(v->prefix, &c) && c.quantity != DL_SAMPLE_UTIL))
      return;
    snprintf(name, sizeof name, "%zu", number[i]);
    take_member(v, name, element);
  }
}

/* Makes {"value": 100, "unit": "W"} the text "100 W". */
static void join_unit(struct dl_json_value *x, const dl_json *value,
                      char text[DL_SAMPLE_NAME]) {
  char number[DL_NUMBER_SIZE];
  struct dl_json_value n = dl_json_get(value, "value"),
                       unit = dl_json_get(value, "unit");
  if (n.type != DL_JSON_NUMBER || unit.type != DL_JSON_TEXT)
    return;
  dl_format_short(number, n.number);
  snprintf(text, DL_SAMPLE_NAME, "%s %.12s", number, unit.text);
  *x = (struct dl_json_value){DL_JSON_TEXT, NAN, text};
}

static void take_member(void *ctx, const char *key, const dl_json *value) {
  struct visit *v = ctx;
  struct dl_json_value x = dl_json_value_of(value);
  char with_unit[DL_SAMPLE_NAME];
  if (x.type == DL_JSON_OTHER)
    join_unit(&x, value, with_unit);
  char name[sizeof v->prefix];
  int length = *v->prefix
                   ? snprintf(name, sizeof name, "%s.%s", v->prefix, key)
                   : snprintf(name, sizeof name, "%s", without_process(v, key));
  if (length < 0 || (size_t)length >= sizeof name)
    return;
  if (x.type == DL_JSON_OTHER && v->depth < MOST_DEPTH) {
    struct visit in = *v;
    in.depth++;
    if (dl_word_among(GROUPS, key, strlen(key)) < 0)
      memcpy(in.prefix, name, sizeof name);
    if (dl_json_size(value) > 0)
      take_array(&in, value);
    else
      dl_json_each(value, take_member, &in);
    v->process = in.process;
    v->several = in.several;
  }
  if (x.type != DL_JSON_NUMBER && x.type != DL_JSON_TEXT)
    return;
  if (v->finds)
    add_column(v->t, name, &x);
  long column = v->cell ? dl_strlist_find(&v->t->key, name) : -1;
  struct dl_sample_column c;
  if (column >= 0)
    put_cell(v->cell[column], &x);
  else if (v->cell && v->t->late[0] == '\0' && dl_sample_column(name, &c) &&
           c.quantity != DL_SAMPLE_UTIL &&
           dl_sample_label(name, false) != DL_LABEL_OTHER)
    dl_samples_name(v->t->late, name);
}

/* Writes the row of an object. False if it has no power and no energy. */
static bool put_row(struct visit *v, const dl_json *j, struct dl_text *row) {
  const struct json_table *t = v->t;
  bool measures = false;
  v->cell = dl_calloc(t->key.n, sizeof *v->cell);
  dl_json_each(j, take_member, v);
  for (size_t i = 0; i < t->key.n; i++) {
    bool empty = v->cell[i][0] == '\0';
    measures |= t->measure[i] && !empty;
    v->timed |= (int)i == t->samples.time && !empty;
    dl_text_printf(row, "%s%s", i > 0 ? ";" : "", v->cell[i]);
  }
  free(v->cell);
  v->cell = NULL;
  return measures;
}

/* Hands over the first objects: lines of the head, or elements of an array. */
static void each_first(const struct dl_head *head, const dl_json *rows,
                       void (*take)(void *ctx, const dl_json *j), void *ctx) {
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  char text[DL_HEAD_LINE];
  size_t at = 0;
  for (size_t i = 0; i < MOST_ROWS; i++) {
    dl_json *j = NULL;
    if (rows && i >= dl_json_size(rows))
      return;
    if (!rows &&
        (!dl_head_line(head, &at, text, sizeof text) || text[0] != '{' ||
         dl_json_parse(&j, text, strlen(text), head->path, &own) != DL_OK))
      return;
    take(ctx, rows ? dl_json_at(rows, i) : j);
    dl_json_free(j);
  }
}

static void find_columns(void *ctx, const dl_json *j) {
  struct visit v = {.t = ctx, .finds = true};
  dl_json_each(j, take_member, &v);
}

/* A beginning of the table, as text. */
struct first_rows {
  struct json_table *t;
  struct dl_text text;
};

static void add_row(void *ctx, const dl_json *j) {
  struct first_rows *r = ctx;
  struct visit v = {.t = r->t};
  DL_TEXT(row);
  if (put_row(&v, j, &row))
    dl_text_printf(&r->text, "%s\n", dl_text_str(&row));
}

static void free_state(void *state) {
  struct json_table *t = state;
  dl_strlist_free(&t->key);
  free(t->measure);
}

/* Whether some objects have both a time and a power or an energy. */
static bool has_samples(const struct json_table *t) {
  bool measures = false;
  for (size_t i = 0; i < t->key.n; i++)
    measures |= t->measure[i];
  return measures && t->has_time;
}

static bool probe(const struct dl_head *head) {
  struct json_table t = {.process = 0};
  each_first(head, NULL, find_columns, &t);
  bool is = has_samples(&t);
  free_state(&t);
  return is;
}

/* Begins the table of samples, of which the first objects are rows. */
static enum dl_status begin_table(struct dl_log *log,
                                  const struct dl_head *head,
                                  const dl_json *rows, struct dl_diag *d) {
  struct json_table *t = log->state;
  struct first_rows r = {.t = t};
  each_first(head, rows, find_columns, t);
  if (!has_samples(t))
    return dl_fail_at(d, DL_EINPUT, log->path, 1,
                      "no object with a time and a power or an energy");
  for (size_t i = 0; i < t->key.n; i++) {
    const char *key = t->key.s[i];
    dl_text_printf(&r.text, "%s%s", i > 0 ? ";" : "",
                   dl_same_text(key, "run_id") ? "run" : key);
  }
  dl_text_add(&r.text, "\n");
  each_first(head, rows, add_row, &r);
  const struct dl_head table = {
      .text = dl_text_str(&r.text), .len = r.text.len, .path = head->path};
  enum dl_status status = dl_import_samples.begin(log, &table, d);
  dl_text_free(&r.text);
  return status;
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  return begin_table(log, head, NULL, d);
}

static bool add_object(struct dl_log *log, const dl_json *j) {
  struct json_table *t = log->state;
  struct visit v = {.t = t};
  DL_TEXT(row);
  if (!put_row(&v, j, &row))
    return true;
  if (v.several || (t->process > 0 && v.process > 0 && v.process != t->process))
    return dl_log_bad(log,
                      "GPUs of a second process, 'rank%ld/', which may be "
                      "the same ones; make a log of each process",
                      v.process - 1);
  if (v.process > 0)
    t->process = v.process;
  if (t->late[0] != '\0' && !t->said_late)
    dl_log_warn(log, "'%s' is in none of the first objects: not counted",
                t->late);
  t->said_late = t->late[0] != '\0';
  if (!v.timed)
    return dl_log_bad(log, "no time, such as '_timestamp'");
  return dl_import_samples.line(log, row.s);
}

static bool line(struct dl_log *log, char *s) {
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  dl_json *j;
  if (dl_json_parse(&j, s, strlen(s), log->path, &own) != DL_OK)
    return dl_log_bad(log, "not a JSON object");
  bool ok = add_object(log, j);
  dl_json_free(j);
  return ok;
}

static void end(struct dl_log *log) {
  dl_import_samples.end(log);
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
  const struct dl_head head = {.path = log->path};
  enum dl_status status = begin_table(log, &head, rows, d);
  for (size_t i = 0; status == DL_OK && i < dl_json_size(rows); i++) {
    log->line = i + 1;
    add_object(log, dl_json_at(rows, i));
  }
  dl_json_free(j);
  return status;
}

const struct dl_importer dl_import_json_array = {
    .name = "json-array",
    .summary = "an array of JSON objects: what Weights & Biases' API gives",
    .state_size = sizeof(struct json_table),
    .probe = is_array,
    .text = array,
    .end = end,
    .free = free_state,
};

const struct dl_importer dl_import_json_lines = {
    .name = "json-lines",
    .summary =
        "a JSON object a line: Weights & Biases' history of events, trackio",
    .state_size = sizeof(struct json_table),
    .probe = probe,
    .begin = begin,
    .line = line,
    .end = end,
    .free = free_state,
};
