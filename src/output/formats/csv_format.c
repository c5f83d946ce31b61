/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV: one table, keys as header. Absent values are empty cells, lists are
 * joined by ';'. Files have the exact text; a terminal gets it without unsafe
 * characters. For spreadsheets there is a variant that marks texts which they
 * would evaluate as formulas (CWE-1236). */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "io/csv.h"
#include "output/format.h"
#include "output/screen.h"

/* A row as it is put together: cells between commas. */
struct csv_row {
  struct dl_text *t;
  bool screen;      /* for a terminal */
  bool spreadsheet; /* an apostrophe before texts that begin like a formula */
  size_t n;         /* cells */
  bool empty;       /* nothing but one empty cell so far */
};

static bool is_terminal(FILE *f) {
  int fd = fileno(f);
  return fd >= 0 && isatty(fd);
}

/* Numbers that are texts, of the user's own table, stay as they are. */
static bool is_formula(const char *text) {
  double x;
  return text[0] && strchr("=+-@\t\r", text[0]) && !dl_parse_double(text, &x);
}

/* Begins the next cell of a row; where its n bytes may be written. */
static char *next_cell(struct csv_row *r, bool empty, size_t n) {
  char *to = dl_text_room(r->t, n + 1);
  r->empty = empty && r->n == 0;
  if (r->n++ > 0)
    *to++ = ',';
  return to;
}

/* Text as a terminal or a spreadsheet gets it. */
static void marked_cell(struct csv_row *r, const char *text) {
  DL_TEXT(own);
  if (r->spreadsheet && is_formula(text))
    dl_text_add(&own, "'");
  if (r->screen)
    dl_utf8_clean(&own, text, false);
  else
    dl_text_add(&own, text);
  dl_csv_add_cell(r->t, dl_text_str(&own));
}

static void cell(struct csv_row *r, const char *text) {
  size_t len = 0;
  bool marked = r->screen || r->spreadsheet;
  bool plain = !marked && dl_csv_is_plain(text, &len);
  char *to = next_cell(r, !text[0], plain ? len : 0);
  if (plain)
    memcpy(to, text, len);
  dl_text_take(r->t, to + (plain ? len : 0));
  if (marked)
    marked_cell(r, text);
  else if (!plain)
    dl_csv_add_cell(r->t, text);
}

static void strings_cell(struct csv_row *r, const struct dl_value *v) {
  DL_TEXT(t);
  if (v->n_strings == 1 && v->strings[0]) {
    cell(r, v->strings[0]);
    return;
  }
  for (size_t i = 0; i < v->n_strings; i++) {
    dl_text_add(&t, i > 0 ? ";" : "");
    dl_text_add(&t, dl_text_or(v->strings[i], ""));
  }
  cell(r, dl_text_str(&t));
}

/* Readers skip blank lines, so that a lone empty cell needs its quotes. */
static void end_row(struct csv_row *r) {
  if (r->n > 0)
    dl_text_add(r->t, r->empty ? "\"\"\n" : "\n");
}

static void value_cell(struct csv_row *r, const struct dl_value *v) {
  char *to;
  switch (dl_value_absent(v) ? DL_NULL : v->type) {
  case DL_NULL:
    dl_text_take(r->t, next_cell(r, true, 0));
    break;
  case DL_NUMBER: /* needs no quotes */
    to = next_cell(r, false, DL_NUMBER_SIZE);
    dl_text_take(r->t, to + dl_put_short(to, v->number));
    break;
  case DL_COUNT:
    to = next_cell(r, false, DL_NUMBER_SIZE);
    dl_text_take(r->t, to + snprintf(to, DL_NUMBER_SIZE, "%zu", v->count));
    break;
  case DL_BOOL:
    cell(r, v->count ? "true" : "false");
    break;
  case DL_STRING:
    cell(r, v->string);
    break;
  case DL_STRINGS:
    strings_cell(r, v);
    break;
  }
}

/* Adds the keys as a row; `r` is an empty row. */
static void header(struct csv_row r, const struct dl_column *columns,
                   size_t n) {
  for (size_t i = 0; i < n; i++)
    if (columns[i].key)
      cell(&r, columns[i].key);
  end_row(&r);
}

/* Adds values as a row; `r` is an empty row. */
static void values_row(struct csv_row r, const struct dl_column *columns,
                       size_t n, const struct dl_value *values) {
  for (size_t i = 0; i < n; i++)
    if (columns[i].key)
      value_cell(&r, &values[i]);
  end_row(&r);
}

/* Writes what a text holds and empties it. */
static void flush(FILE *f, struct dl_text *t) {
  fwrite(dl_text_str(t), 1, t->len, f);
  dl_text_clear(t);
}

/* Takes the values at the top of a report, `identifying` alone or all; returns
 * how many. */
static size_t take_values(const struct dl_report *r, bool identifying,
                          struct dl_column *columns, struct dl_value *values) {
  size_t n = 0;
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    if (node->type != DL_REPORT_VALUE || !node->key ||
        (identifying && !node->identifies))
      continue;
    columns[n].key = node->key;
    values[n++] = node->value;
  }
  return n;
}

/* The main table, with what its rows are about in front. */
static void table(FILE *f, struct csv_row row, const struct dl_report *r) {
  const struct dl_table *t = r->main;
  const size_t most = r->n_nodes + t->n_cols;
  DL_FREED struct dl_column *columns = dl_calloc(most, sizeof *columns);
  DL_FREED struct dl_value *values = dl_calloc(most, sizeof *values);
  size_t n = take_values(r, true, columns, values);
  memcpy(columns + n, t->columns, t->n_cols * sizeof *columns);
  header(row, columns, n + t->n_cols);
  for (size_t i = 0; i < t->n_rows; i++) {
    flush(f, row.t);
    memcpy(values + n, t->values + i * t->n_cols, t->n_cols * sizeof *values);
    values_row(row, columns, n + t->n_cols, values);
  }
  flush(f, row.t);
}

/* A report without a table: its own values are one row. */
static enum dl_status values_of(FILE *f, struct csv_row row,
                                const struct dl_report *r, struct dl_diag *d) {
  DL_FREED struct dl_column *columns = dl_calloc(r->n_nodes, sizeof *columns);
  DL_FREED struct dl_value *values = dl_calloc(r->n_nodes, sizeof *values);
  const size_t n = take_values(r, false, columns, values);
  header(row, columns, n);
  values_row(row, columns, n, values);
  flush(f, row.t);
  return n > 0 ? DL_OK
               : dl_fail(d, DL_EUSAGE, "there is no table to write as CSV");
}

static enum dl_status csv_report(const struct dl_format *format,
                                 const struct dl_report *r, FILE *f,
                                 struct dl_diag *d) {
  DL_TEXT(text);
  struct csv_row row = {.t = &text,
                        .screen = is_terminal(f),
                        .spreadsheet = format != &dl_format_csv};
  if (!r->main)
    return values_of(f, row, r, d);
  table(f, row, r);
  return DL_OK;
}

/* An empty row of a stream, which is appended to a text. */
static struct csv_row row_of_stream(const struct dl_stream *s,
                                    struct dl_text *to) {
  return (struct csv_row){
      .t = to, .screen = s->screen, .spreadsheet = s->format != &dl_format_csv};
}

static enum dl_status csv_begin(struct dl_stream *s, struct dl_diag *d) {
  (void)d;
  s->screen = is_terminal(s->f);
  header(row_of_stream(s, &s->line), s->columns, s->n_cols);
  flush(s->f, &s->line);
  return DL_OK;
}

static void csv_add(const struct dl_stream *s, const struct dl_value *values,
                    struct dl_text *to) {
  values_row(row_of_stream(s, to), s->columns, s->n_cols, values);
}

static const struct dl_format spreadsheet = {
    .name = "csv",
    .summary = "CSV with marked formulas",
    .whole = true,
    .report = csv_report,
    .begin = csv_begin,
    .add = csv_add,
};

const struct dl_format dl_format_csv = {
    .name = "csv",
    .summary = "the main table, for spreadsheets and data frames",
    .whole = true,
    .extension = "csv",
    .spreadsheet = &spreadsheet,
    .report = csv_report,
    .begin = csv_begin,
    .add = csv_add,
};
