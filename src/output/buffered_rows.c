/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/buffered_rows.h"

#define STREAM_HEAD 1000 /* rows that decide the widths of a stream */

/* Head and rows of t; its foot comes when all rows are there. */
static void put_rows(struct dl_printer *p, const struct dl_row_writer *writer,
                     const struct dl_layout *l, const struct dl_table *t) {
  if (t->n_rows == 0 && writer->none) {
    writer->none(p);
    return;
  }
  writer->head(p, l);
  for (size_t i = 0; i < t->n_rows; i++)
    writer->row(p, l, t->values + i * t->n_cols, t->marks[i]);
}

static void put_foot(struct dl_printer *p, const struct dl_row_writer *writer,
                     const struct dl_layout *l, size_t n_rows) {
  if (writer->foot && (n_rows > 0 || !writer->none))
    writer->foot(p, l);
}

void dl_held_table(struct dl_printer *p, const struct dl_row_writer *writer,
                   const struct dl_table *t) {
  struct dl_layout *l = dl_layout_new(t, &writer->style);
  if (!l) {
    p->failed = true;
    return;
  }
  if (dl_layout_columns(l) > 0) {
    put_rows(p, writer, l, t);
    put_foot(p, writer, l, t->n_rows);
  }
  dl_layout_free(l);
}

enum dl_status dl_held_begin(struct dl_stream **s, FILE *f,
                             const struct dl_row_writer *writer,
                             const struct dl_column *columns, size_t n,
                             struct dl_diag *d) {
  *s = dl_stream_new(f, columns, n);
  if (*s)
    (*s)->head = dl_table_new(NULL, columns, n);
  if (*s && (*s)->head) {
    (*s)->writer = writer;
    return DL_OK;
  }
  dl_stream_free(*s);
  *s = NULL;
  return dl_fail_memory(d);
}

/* Writes the rows held back; from then on each is written as it comes. */
static bool release_head(struct dl_stream *s) {
  s->layout = dl_layout_new(s->head, &s->writer->style);
  if (!s->layout)
    return false;
  struct dl_printer p = {.f = s->f};
  if (dl_layout_columns(s->layout) > 0)
    put_rows(&p, s->writer, s->layout, s->head);
  s->n_rows = s->head->n_rows;
  dl_table_free(s->head);
  s->head = NULL;
  return !p.failed;
}

enum dl_status dl_held_row(struct dl_stream *s, const struct dl_value *values,
                           struct dl_diag *d) {
  bool ok;
  if (s->head) {
    ok = dl_table_append(s->head, values, NULL);
    if (ok && s->head->n_rows == STREAM_HEAD)
      ok = release_head(s);
  } else {
    struct dl_printer p = {.f = s->f};
    s->writer->row(&p, s->layout, values, NULL);
    ok = !p.failed;
  }
  return dl_written(s->f, false, ok, d);
}

enum dl_status dl_held_end(struct dl_stream *s, struct dl_diag *d) {
  if (!s)
    return DL_OK;
  FILE *f = s->f;
  bool ok = !s->head || release_head(s);
  struct dl_printer p = {.f = f};
  if (ok && dl_layout_columns(s->layout) > 0)
    put_foot(&p, s->writer, s->layout, s->n_rows);
  dl_stream_free(s);
  return dl_written(f, true, ok && !p.failed, d);
}
