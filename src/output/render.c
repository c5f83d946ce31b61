/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry of formats, and what all of them share. */

#include "output/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/format.h"
#include "output/formats/document.h"

const struct dl_format *const dl_formats[] = {
    &dl_format_text,     &dl_format_json,        &dl_format_csv,
    &dl_format_markdown, &dl_format_latex,       &dl_format_html,
    &dl_format_boamps,   &dl_format_prometheus,  &dl_format_card,
    &dl_format_paper,    &dl_format_paper_latex, NULL,
};

const struct dl_format *dl_format_find(const char *name) {
  for (size_t i = 0; dl_formats[i]; i++)
    if (!strcmp(dl_formats[i]->name, name))
      return dl_formats[i];
  return NULL;
}

const struct dl_format *dl_format_of_file(const char *path) {
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && dl_formats[i]; i++)
    if (dl_formats[i]->extension &&
        strcmp(dl_formats[i]->extension, dot + 1) == 0)
      return dl_formats[i];
  return NULL;
}

/* `status`, or an error where f did not take everything written so far; `flush`
 * to include the buffered part. */
static enum dl_status check_written(FILE *f, bool flush, enum dl_status status,
                                    struct dl_diag *d) {
  if (status != DL_OK)
    return status;
  errno = 0;
  bool flushed = !flush || fflush(f) == 0;
  if (flushed && !ferror(f))
    return DL_OK;
  if (errno == 0 && fputc('\n', f) != EOF) /* an earlier write failed: why? */
    fflush(f);
  return dl_fail_errno(d, "<output>", "cannot write", errno ? errno : EIO);
}

enum dl_status dl_format_report(const struct dl_format *format,
                                const struct dl_report *r, FILE *f,
                                const struct dl_screen *screen,
                                struct dl_diag *d) {
  enum dl_status status = DL_OK;
  if (format->document)
    dl_document_report(format->document, r, f, screen, false);
  else
    status = format->report(format, r, f, d);
  return check_written(f, true, status, d);
}

/* Streams */

enum dl_status dl_stream_begin(struct dl_stream **out,
                               const struct dl_format *format, FILE *f,
                               const struct dl_table_form *table,
                               struct dl_diag *d) {
  struct dl_stream *s = *out = dl_calloc(1, sizeof *s);
  *s = (struct dl_stream){.format = format, .f = f, .key = table->key};
  s->columns = dl_calloc(table->n, sizeof *s->columns);
  if (table->n > 0)
    memcpy(s->columns, table->columns, table->n * sizeof *s->columns);
  s->n_cols = table->n;
  enum dl_status status = DL_OK;
  if (format->document)
    s->head = dl_table_new(NULL, s->columns, s->n_cols);
  else
    status = format->begin(s, d);
  return check_written(f, false, status, d);
}

/* Appends a row to a text. */
static void add(const struct dl_stream *s, const struct dl_value *values,
                struct dl_text *to) {
  if (s->format->document)
    dl_document_add(s, values, to);
  else
    s->format->add(s, values, to);
}

enum dl_status dl_stream_row(struct dl_stream *s, const struct dl_value *values,
                             struct dl_text *to, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  if (to) {
    add(s, values, to);
    return DL_OK;
  }
  if (s->format->document)
    dl_document_row(s, values);
  else if (s->format->row)
    status = s->format->row(s, values, d);
  else {
    s->format->add(s, values, &s->line);
    return dl_stream_write(s, &s->line, d);
  }
  return check_written(s->f, false, status, d);
}

bool dl_format_adds(const struct dl_format *format) {
  return format->add;
}

bool dl_stream_adds(const struct dl_stream *s) {
  return dl_format_adds(s->format) || s->layout;
}

enum dl_status dl_stream_write(struct dl_stream *s, struct dl_text *rows,
                               struct dl_diag *d) {
  fwrite(dl_text_str(rows), 1, rows->len, s->f);
  dl_text_clear(rows);
  return check_written(s->f, false, DL_OK, d);
}

void dl_stream_tail(struct dl_stream *s, const struct dl_report *r) {
  s->tail = r;
}

enum dl_status dl_stream_end(struct dl_stream *s, struct dl_diag *d) {
  if (!s)
    return DL_OK;
  FILE *f = s->f;
  enum dl_status status = DL_OK;
  if (s->format->document)
    dl_document_end(s);
  else if (s->format->end)
    status = s->format->end(s, d);
  dl_table_free(s->head);
  dl_layout_free(s->layout);
  dl_text_free(&s->line);
  free(s->columns);
  free(s);
  return check_written(f, true, status, d);
}
