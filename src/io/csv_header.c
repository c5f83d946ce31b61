/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/csv_header.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv_parser.h"

static void on_name(void *s, size_t len, void *data) {
  struct dl_csv_header *h = data;
  size_t known = h->names.n;
  long i = dl_intern(&h->names, s);
  h->n_cols++;
  if (len == 0 && h->unnamed == 0)
    h->unnamed = h->n_cols;
  else if ((size_t)i < known)
    h->twice = h->names.s[i];
}

static void on_header(int end, void *data) {
  struct dl_csv_header *h = data;

  (void)end;
  h->done = true;
}

static void count_line(struct dl_csv_header *h, char c) {
  if (c == '\r' || (c == '\n' && h->last_byte != '\r'))
    h->line++;
  else if (h->name_line == 0 && c != '\n' && c != ' ' && c != '\t')
    h->name_line = h->line;
}

size_t dl_csv_header_read(struct dl_csv_header *h, struct csv_parser *parser,
                          const char *text, size_t len) {
  size_t i;

  /* libcsv does not say where a row ends, hence byte by byte. */
  for (i = 0; i < len && !h->done; i++) {
    h->binary |= iscntrl((unsigned char)text[i]) &&
                 (!text[i] || !strchr("\t\n\r", text[i]));
    count_line(h, text[i]);
    csv_parse(parser, text + i, 1, on_name, on_header, h);
    h->last_byte = text[i];
  }
  h->n_bytes += i;
  return i;
}

bool dl_csv_header_end(struct dl_csv_header *h, struct csv_parser *parser) {
  csv_set_opts(parser, CSV_APPEND_NULL | CSV_STRICT | CSV_STRICT_FINI);
  return csv_fini(parser, on_name, on_header, h) == 0;
}

enum dl_status dl_csv_header_check(const struct dl_csv_header *h,
                                   const char *path, struct dl_diag *d) {
  if (h->n_cols == 0)
    return dl_fail_at(d, DL_EINPUT, path, 0, "no header");
  if (h->unnamed > 0)
    return dl_fail_at(d, DL_EINPUT, path, h->name_line,
                      "column %zu has no name", h->unnamed);
  const char *other = h->n_cols == 1 ? strpbrk(h->names.s[0], ";\t|") : NULL;
  if (other) {
    char quoted[] = {'\'', *other, '\'', '\0'};
    return dl_fail_at(d, DL_EINPUT, path, h->name_line,
                      "columns are separated by %s: write them with commas, "
                      "and decimals with points",
                      *other == '\t' ? "tabs" : quoted);
  }
  if (h->twice)
    return dl_fail_at(d, DL_EINPUT, path, h->name_line, "duplicate column '%s'",
                      h->twice);
  return DL_OK;
}

/* Whether two names differ in case and blanks alone. */
static bool is_like(const char *a, const char *b) {
  for (;; a++, b++) {
    a += strspn(a, " \t");
    b += strspn(b, " \t");
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
      return false;
    if (*a == '\0')
      return true;
  }
}

/* Returns the column of a name, n_cols without one. Most often it is at its
 * earlier place. */
static size_t column_like(const struct dl_csv_header *h, const char *name,
                          size_t place) {
  if (place < h->n_cols && strcmp(h->names.s[place], name) == 0)
    return place;
  long at = dl_intern_find(&h->names, name);
  for (size_t c = 0; at < 0 && c < h->n_cols; c++)
    if (is_like(h->names.s[c], name))
      at = (long)c;
  return at < 0 ? h->n_cols : (size_t)at;
}

bool dl_csv_header_again(const struct dl_csv_header *h, const char *const *cell,
                         size_t n, size_t *column) {
  size_t least = h->n_cols < n ? h->n_cols : n, known = 0;
  for (size_t i = 0; i < n; i++)
    if (cell[i][0] == '\0' || dl_csv_begins_number(cell[i]))
      return false;
  DL_FREED bool *seen = dl_calloc(h->n_cols + 1, sizeof *seen);
  for (size_t i = 0; i < n; i++) {
    size_t c = column[i] = column_like(h, cell[i], i);
    if (c < h->n_cols && seen[c])
      return false;
    seen[c] = true;
    known += c < h->n_cols;
    if (2 * (i + 1 - known) > n)
      return false;
  }
  return known == h->n_cols || (known >= 2 && 2 * known >= least);
}

void dl_csv_header_look(struct dl_csv_header *h, const char *const *cell,
                        size_t rows) {
  if (rows > 0 && !h->empty) {
    h->empty = dl_malloc(h->n_cols * sizeof *h->empty);
    memset(h->empty, true, h->n_cols * sizeof *h->empty);
    h->n_empty = h->n_cols;
  }
  for (size_t k = 0; k < h->n_cols && rows > 0; k++) {
    size_t i = 0;
    while (h->empty[k] && i < rows && cell[i * h->n_cols + k][0] == '\0')
      i++;
    h->n_empty -= h->empty[k] && i < rows;
    h->empty[k] = h->empty[k] && i == rows;
  }
}

void dl_csv_header_keep_all(struct dl_csv_header *h) {
  free(h->empty);
  h->empty = NULL;
  h->n_empty = 0;
}

size_t dl_csv_count_breaks(const char *s, size_t len) {
  size_t n = 0;
  for (size_t i = 0; i < len; i++)
    if (s[i] == '\n' || (s[i] == '\r' && (i + 1 == len || s[i + 1] != '\n')))
      n++;
  return n;
}

bool dl_csv_looks_binary(const char *data, size_t len) {
  size_t n = len < DL_CSV_LOOK_SIZE ? len : DL_CSV_LOOK_SIZE;

  for (size_t i = 0; i < n; i++)
    if (data[i] > 0 && data[i] < 32 && strchr("\t\n\f\r", data[i]) == NULL)
      return true;
  return false;
}
