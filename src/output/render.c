/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats. To add one: a file with its struct dl_format, and a row. */

#include "output/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/format.h"
#include "output/formats/text_table.h"

static const struct dl_format *const FORMATS[] = {
    &dl_format_text,       &dl_format_json,  &dl_format_csv,
    &dl_format_markdown,   &dl_format_latex, &dl_format_boamps,
    &dl_format_prometheus,
};

size_t dl_format_count(void) {
  return sizeof FORMATS / sizeof *FORMATS;
}

const struct dl_format *dl_format_at(size_t i) {
  return i < dl_format_count() ? FORMATS[i] : NULL;
}

const struct dl_format *dl_format_find(const char *name) {
  for (size_t i = 0; i < dl_format_count(); i++)
    if (!strcmp(FORMATS[i]->name, name))
      return FORMATS[i];
  return NULL;
}

bool dl_wants_colour(FILE *f) {
  const char *no_color = getenv("NO_COLOR"); /* https://no-color.org */
  const char *term = getenv("TERM");
  if ((no_color && no_color[0]) || !term || !strcmp(term, "dumb"))
    return false;
  int fd = fileno(f);
  return fd >= 0 && isatty(fd);
}

struct dl_stream *dl_stream_new(FILE *f, const struct dl_column *columns,
                                size_t n) {
  struct dl_stream *s = dl_calloc(1, sizeof *s);
  if (!s)
    return NULL;
  s->f = f;
  s->n_cols = n;
  s->columns = dl_calloc(n, sizeof *columns);
  if (!s->columns) {
    free(s);
    return NULL;
  }
  if (n > 0)
    memcpy(s->columns, columns, n * sizeof *columns);
  return s;
}

void dl_stream_tail(struct dl_stream *s, const struct dl_report *r) {
  s->tail = r;
}

void dl_stream_free(struct dl_stream *s) {
  if (!s)
    return;
  dl_table_free(s->head);
  dl_layout_free(s->layout);
  dl_text_free(&s->line);
  free(s->columns);
  free(s);
}

enum dl_status dl_stream_write(struct dl_stream *s, struct dl_text *rows,
                               struct dl_diag *d) {
  fwrite_unlocked(dl_text_str(rows), 1, rows->len, s->f);
  bool failed = rows->failed;
  dl_text_clear(rows);
  return dl_written(s->f, false, !failed, d);
}

enum dl_status dl_written(FILE *f, bool flush, bool memory, struct dl_diag *d) {
  if (!memory)
    return dl_fail_memory(d);
  errno = 0;
  bool flushed = !flush || fflush(f) == 0;
  if (flushed && !ferror(f))
    return DL_OK;
  if (errno == 0 && fputc('\n', f) != EOF) /* an earlier write failed: why? */
    fflush(f);
  return dl_fail_errno(d, "<output>", "cannot write", errno ? errno : EIO);
}
