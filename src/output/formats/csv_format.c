/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV: one table, keys as header. Absent values are empty cells, lists are
 * joined by ';'. */

#include "base/number.h"
#include "base/text.h"
#include "io/csv.h"
#include "output/format.h"

/* A row as it is put together: cells between commas. */
struct row {
  struct dl_text *t;
  size_t n;
  bool empty; /* nothing but one empty cell so far */
};

static void cell(struct row *r, const char *text) {
  if (r->n++ > 0)
    dl_text_add_n(r->t, ",", 1);
  r->empty = r->n == 1 && !text[0];
  dl_csv_add_cell(r->t, text);
}

/* Readers skip blank lines, so that a lone empty cell needs its quotes. */
static void end_row(struct row *r) {
  if (r->n > 0)
    dl_text_add(r->t, r->empty ? "\"\"\n" : "\n");
}

/* False when memory is out. */
static bool value_cell(struct row *r, const struct dl_value *v) {
  char buf[DL_NUMBER_SIZE] = "";
  struct dl_text t = {0};
  const char *text = buf;
  switch (dl_value_absent(v) ? DL_NULL : v->type) {
  case DL_NULL:
    break;
  case DL_NUMBER:
    dl_format_short(buf, v->number);
    break;
  case DL_COUNT:
    snprintf(buf, sizeof buf, "%zu", v->count);
    break;
  case DL_BOOL:
    text = v->count ? "true" : "false";
    break;
  case DL_STRING:
    text = v->string;
    break;
  case DL_STRINGS:
    for (size_t i = 0; i < v->n_strings; i++)
      dl_text_printf(&t, "%s%s", i > 0 ? ";" : "",
                     v->strings[i] ? v->strings[i] : "");
    text = dl_text_str(&t);
    break;
  }
  cell(r, text);
  bool ok = !t.failed;
  dl_text_free(&t);
  return ok;
}

static void header(struct dl_text *t, const struct dl_column *columns,
                   size_t n) {
  struct row r = {.t = t};
  for (size_t i = 0; i < n; i++)
    if (columns[i].key)
      cell(&r, columns[i].key);
  end_row(&r);
}

static bool values_row(struct dl_text *t, const struct dl_column *columns,
                       size_t n, const struct dl_value *values) {
  struct row r = {.t = t};
  bool ok = true;
  for (size_t i = 0; i < n; i++)
    if (columns[i].key)
      ok = value_cell(&r, &values[i]) && ok;
  end_row(&r);
  return ok && !t->failed;
}

/* Writes what a text holds and empties it. */
static void flush(FILE *f, struct dl_text *t) {
  fwrite_unlocked(dl_text_str(t), 1, t->len, f);
  dl_text_clear(t);
}

static bool table(FILE *f, const struct dl_table *t) {
  struct dl_text rows = {0};
  bool ok = true;
  header(&rows, t->columns, t->n_cols);
  for (size_t i = 0; i < t->n_rows; i++) {
    flush(f, &rows);
    ok = values_row(&rows, t->columns, t->n_cols, t->values + i * t->n_cols) &&
         ok;
  }
  flush(f, &rows);
  dl_text_free(&rows);
  return ok;
}

static bool has_scalars(const struct dl_report *r) {
  for (size_t i = 0; i < r->n_nodes; i++)
    if (r->nodes[i].type == DL_REPORT_VALUE && r->nodes[i].key)
      return true;
  return false;
}

/* A report without a table: its own values are a row. */
static bool scalars(FILE *f, const struct dl_report *r) {
  struct dl_text head = {0}, line = {0};
  struct row keys = {.t = &head};
  struct row row = {.t = &line};
  bool ok = true;
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    if (node->type != DL_REPORT_VALUE || !node->key)
      continue;
    cell(&keys, node->key);
    ok = value_cell(&row, &node->value) && ok;
  }
  end_row(&keys);
  end_row(&row);
  ok = ok && !head.failed && !line.failed;
  flush(f, &head);
  flush(f, &line);
  dl_text_free(&head);
  dl_text_free(&line);
  return ok;
}

static enum dl_status csv_report(const struct dl_report *r, FILE *f,
                                 struct dl_diag *d) {
  if (!r->main && !has_scalars(r))
    return dl_fail(d, DL_EUSAGE, "there is no table to write as CSV");
  bool ok = r->main ? table(f, r->main) : scalars(f, r);
  return ok ? DL_OK : dl_fail_memory(d);
}

static enum dl_status csv_begin(struct dl_stream *s, struct dl_diag *d) {
  header(&s->line, s->columns, s->n_cols);
  flush(s->f, &s->line);
  return s->line.failed ? dl_fail_memory(d) : DL_OK;
}

static bool csv_add(const struct dl_stream *s, const struct dl_value *values,
                    struct dl_text *to) {
  return values_row(to, s->columns, s->n_cols, values);
}

static enum dl_status
csv_row(struct dl_stream *s, const struct dl_value *values, struct dl_diag *d) {
  bool ok = csv_add(s, values, &s->line);
  flush(s->f, &s->line);
  return ok ? DL_OK : dl_fail_memory(d);
}

const struct dl_format dl_format_csv = {
    .name = "csv",
    .summary = "the main table, for spreadsheets and data frames",
    .report = csv_report,
    .begin = csv_begin,
    .row = csv_row,
    .add = csv_add,
};
