/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON. One row of a table takes one line, in a report as in a stream, so that
 * both give equal texts and line tools work on them.
 *
 * The structure is written here rather than through json_dumpf: jansson
 * (2.14) prints every real with one number of digits, 0.1 as
 * 0.10000000000000001 if it has to read back, and holds a whole document in
 * memory. Strings go through jansson. */

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/number.h"
#include "base/text.h"
#include "output/format.h"
#include "output/screen.h"

#define SCHEMA 1

struct json_writer {
  FILE *f;
  bool one_line; /* and without absent values */
};

static void newline(struct json_writer *w, int depth) {
  if (!w->one_line)
    fprintf(w->f, "\n%*s", 2 * depth, "");
}

/* Whether a string is its own JSON form: spares most strings jansson. */
static bool is_plain(const char *s) {
  while (*s >= ' ' && *s <= '~' && *s != '"' && *s != '\\')
    s++;
  return !*s;
}

/* jansson escapes what JSON requires; other unsafe characters are escaped here,
 * so that a document can be shown on a terminal without a loss. */
static void put_escaped(struct json_writer *w, const char *s) {
  DL_TEXT(clean);
  dl_utf8_clean(&clean, s, true);
  json_t *string = json_string(dl_text_str(&clean));
  DL_FREED char *text = json_dumps(string, JSON_ENCODE_ANY);
  unsigned point;
  for (const char *at = text; *at;) {
    size_t n = dl_utf8_next(at, &point);
    if (dl_utf8_is_unsafe(point))
      fprintf(w->f, "\\u%04X", point);
    else
      fwrite(at, 1, n, w->f); /* the caller asks ferror */
    at += n;
  }
  json_decref(string);
}

static void put_string(struct json_writer *w, const char *s) {
  if (!s)
    fputs("null", w->f);
  else if (is_plain(s))
    fprintf(w->f, "\"%s\"", s);
  else
    put_escaped(w, s);
}

static void put_key(struct json_writer *w, const char *key) {
  put_string(w, key);
  fputs(": ", w->f);
}

static void put_strings(struct json_writer *w, const char *const *s, size_t n) {
  fputc('[', w->f);
  for (size_t i = 0; i < n; i++) {
    fputs(i > 0 ? ", " : "", w->f);
    put_string(w, s[i]);
  }
  fputc(']', w->f);
}

static void put_value(struct json_writer *w, const struct dl_value *v) {
  char buf[DL_NUMBER_SIZE];
  switch (dl_value_absent(v) ? DL_NULL : v->type) {
  case DL_NULL:
    fputs("null", w->f);
    return;
  case DL_NUMBER:
    fputs(dl_format_short(buf, v->number), w->f);
    return;
  case DL_COUNT:
    fprintf(w->f, "%zu", v->count);
    return;
  case DL_BOOL:
    fputs(v->count ? "true" : "false", w->f);
    return;
  case DL_STRING:
    put_string(w, v->string);
    return;
  case DL_STRINGS:
    put_strings(w, v->strings, v->n_strings);
    return;
  }
}

static void put_row(struct json_writer *w, const struct dl_column *columns,
                    size_t n, const struct dl_value *values) {
  const char *between = "";
  fputc('{', w->f);
  for (size_t i = 0; i < n; i++) {
    if (!columns[i].key)
      continue;
    fputs(between, w->f);
    put_key(w, columns[i].key);
    put_value(w, &values[i]);
    between = ", ";
  }
  fputc('}', w->f);
}

/* An element of an array that is written one element a line. */
static void next_element(struct json_writer *w, size_t i, int depth) {
  if (i > 0)
    fputs(w->one_line ? ", " : ",", w->f);
  newline(w, depth + 1);
}

static void end_elements(struct json_writer *w, size_t n, int depth) {
  if (n > 0)
    newline(w, depth);
  fputc(']', w->f);
}

static void put_table(struct json_writer *w, const struct dl_table *t,
                      int depth) {
  fputc('[', w->f);
  for (size_t i = 0; i < t->n_rows; i++) {
    next_element(w, i, depth);
    put_row(w, t->columns, t->n_cols, t->values + i * t->n_cols);
  }
  end_elements(w, t->n_rows, depth);
}

static void put_report(struct json_writer *w, const struct dl_report *r,
                       int depth);

static void put_list(struct json_writer *w, const struct dl_report_node *node,
                     int depth) {
  fputc('[', w->f);
  for (size_t i = 0; i < node->n_reports; i++) {
    next_element(w, i, depth);
    put_report(w, node->reports[i], depth + 1);
  }
  end_elements(w, node->n_reports, depth);
}

static void put_node(struct json_writer *w, const struct dl_report_node *node,
                     int depth) {
  put_key(w, node->key);
  switch (node->type) {
  case DL_REPORT_VALUE:
    put_value(w, &node->value);
    return;
  case DL_REPORT_GROUP:
    if (node->n_reports > 0)
      put_report(w, node->reports[0], depth);
    return;
  case DL_REPORT_LIST:
    put_list(w, node, depth);
    return;
  case DL_REPORT_TABLE:
    put_table(w, node->table, depth);
    return;
  case DL_REPORT_CHART:
  case DL_REPORT_SAY:
    return;
  }
}

/* The opening of a document; its first members. */
static void put_head(struct json_writer *w) {
  fprintf(w->f, "{\n  \"schema\": %d,\n  \"dlest\": ", SCHEMA);
  put_string(w, PACKAGE_VERSION);
}

/* The members of r, behind n others; how many there are then. */
static size_t put_members(struct json_writer *w, const struct dl_report *r,
                          size_t n, int depth) {
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    bool absent =
        node->type == DL_REPORT_VALUE && dl_value_absent(&node->value);
    if (!node->key || (w->one_line && absent))
      continue;
    next_element(w, n++, depth);
    put_node(w, node, depth + 1);
  }
  return n;
}

static void put_report(struct json_writer *w, const struct dl_report *r,
                       int depth) {
  size_t n = 0;
  if (depth == 0 && !w->one_line) {
    put_head(w);
    n = 1;
  } else
    fputc('{', w->f);
  n = put_members(w, r, n, depth);
  if (n > 0)
    newline(w, depth);
  fputc('}', w->f);
}

static enum dl_status json_report(const struct dl_format *format,
                                  const struct dl_report *r, FILE *f,
                                  struct dl_diag *d) {
  struct json_writer w = {.f = f};
  (void)format, (void)d;
  put_report(&w, r, 0);
  fputc('\n', f);
  return DL_OK;
}

void dl_json_line(FILE *f, const struct dl_report *r) {
  struct json_writer w = {.f = f, .one_line = true};
  put_report(&w, r, 0);
  fputc('\n', f);
}

static enum dl_status json_begin(struct dl_stream *s, struct dl_diag *d) {
  struct json_writer w = {.f = s->f};
  (void)d;
  put_head(&w);
  fputc(',', s->f);
  newline(&w, 1);
  put_key(&w, s->key);
  fputc('[', s->f);
  return DL_OK;
}

static enum dl_status json_row(struct dl_stream *s,
                               const struct dl_value *values,
                               struct dl_diag *d) {
  struct json_writer w = {.f = s->f};
  (void)d;
  next_element(&w, s->n_rows++, 1);
  put_row(&w, s->columns, s->n_cols, values);
  return DL_OK;
}

static void put_warnings(struct json_writer *w, const struct dl_diag *d) {
  fputc('[', w->f);
  for (size_t i = 0; i < d->n_warnings; i++) {
    next_element(w, i, 1);
    put_string(w, d->warnings[i]);
  }
  if (d->n_more > 0) {
    next_element(w, d->n_warnings, 1);
    fprintf(w->f, "\"%zu more warnings\"", d->n_more);
  }
  end_elements(w, d->n_warnings + d->n_more, 1);
}

static enum dl_status json_end(struct dl_stream *s, struct dl_diag *d) {
  struct json_writer w = {.f = s->f};
  end_elements(&w, s->n_rows, 1);
  if (s->tail)
    put_members(&w, s->tail, 1, 0);
  fputc(',', w.f);
  newline(&w, 1);
  put_key(&w, "warnings");
  put_warnings(&w, d);
  fputs("\n}\n", w.f);
  return DL_OK;
}

const struct dl_format dl_format_json = {
    .name = "json",
    .summary = "everything, exact, for programs",
    .whole = true,
    .extension = "json",
    .report = json_report,
    .begin = json_begin,
    .row = json_row,
    .end = json_end,
};

void dl_json_version(struct dl_text *t) {
  dl_text_printf(t, "jansson %s", jansson_version_str());
}
