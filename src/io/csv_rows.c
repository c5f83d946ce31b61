/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "io/csv_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"

/* libcsv's buffer for a cell grows by this many bytes. */
#define CELL_BLOCK ((size_t)256 << 10)

const char dl_csv_absent[1] = "";

/* A later header may have so many fields more than the one before. */
enum { MORE_FIELDS = 256 };

void dl_csv_rows_init(struct dl_csv_rows *r, const char *path, char delimiter) {
  *r = (struct dl_csv_rows){.path = path, .line = 1};
  csv_init(&r->parser, CSV_APPEND_NULL);
  csv_set_realloc_func(&r->parser, dl_realloc);
  csv_set_delim(&r->parser, (unsigned char)delimiter);
  csv_set_blk_size(&r->parser, CELL_BLOCK);
}

void dl_csv_rows_begin(struct dl_csv_rows *r, struct dl_csv_header *header) {
  r->header = header;
  r->n_cols = r->n_named = header->n_cols;
  r->most_fields = r->n_cols + MORE_FIELDS;
  r->line = header->line;
  r->after_cr = header->last_byte == '\r';
  csv_set_opts(&r->parser, CSV_APPEND_NULL | CSV_REPALL_NL);
}

void dl_csv_rows_free(struct dl_csv_rows *r) {
  csv_free(&r->parser);
  free(r->cell);
  free(r->row_line);
  free(r->arena);
  free(r->column);
}

enum dl_status dl_csv_rows_too_long(const struct dl_csv_rows *r, size_t line) {
  return dl_fail_at(r->d, DL_EINPUT, r->path, line,
                    r->quotes ? "row longer than %zu MiB, or quote not closed"
                              : "row longer than %zu MiB",
                    DL_CSV_ROW_MAX >> 20);
}

/* Records the first error; the rows of the block are dropped with it. */
static void set_status(struct dl_csv_rows *r, enum dl_status status) {
  if (r->status == DL_OK)
    r->status = status;
}

/* Makes room for one more row. */
static void reserve_row(struct dl_csv_rows *r) {
  DL_GROW(r->cell, r->cells_cap, r->n * r->n_cols + r->most_fields);
  DL_GROW(r->row_line, r->row_lines_cap, r->n + 1);
}

/* Puts a point in the place of the comma of a number, "-0,25" or "1,5e3". */
static void set_point(char *cell) {
  char *s = cell + strspn(cell, " +-");
  size_t whole = strspn(s, "0123456789"), part;
  if (whole == 0 || s[whole] != ',')
    return;
  part = strspn(s + whole + 1, "0123456789");
  const char *end = s + whole + 1 + part;
  if (*end == 'e' || *end == 'E')
    end += 1 + strspn(end + 1, "+-0123456789");
  if (part > 0 && end[strspn(end, " ")] == '\0')
    s[whole] = '.';
}

/* libcsv: a cell, with a NUL behind it. */
static void on_cell(void *s, size_t len, void *data) {
  struct dl_csv_rows *r = data;
  if (r->nul_bytes && memchr(s, '\0', len))
    r->row_has_nul = true;
  if (r->quotes)
    r->row_breaks += dl_csv_count_breaks(s, len);
  r->row_bytes += len + 1;
  if (r->row_bytes > DL_CSV_ROW_MAX)
    set_status(r, dl_csv_rows_too_long(r, r->line));
  if (r->n_fields < r->most_fields) {
    memcpy(r->arena_end, s, len + 1);
    if (r->commas)
      set_point(r->arena_end);
    r->cell[r->n * r->n_cols + r->n_fields] = r->arena_end;
    r->arena_end += len + 1;
  }
  r->n_fields++;
}

/* The cells of the row that is being read. */
static const char **row_cells(const struct dl_csv_rows *r) {
  return r->cell + r->n * r->n_cols;
}

/* Adds the new columns of the header to the rows before it. */
static void widen_rows(struct dl_csv_rows *r) {
  size_t before = r->n_cols, now = r->header->n_cols;
  r->n_cols = now;
  r->most_fields = now + MORE_FIELDS;
  reserve_row(r);
  for (size_t i = r->n; i-- > 0;) {
    memmove(r->cell + i * now, r->cell + i * before, before * sizeof *r->cell);
    for (size_t c = before; c < now; c++)
      r->cell[i * now + c] = dl_csv_absent;
  }
}

/* If the row is a header, reads those that follow by it. */
static bool take_header(struct dl_csv_rows *r) {
  const char *const *cell = row_cells(r);
  size_t n = r->n_fields;
  if (r->row_has_nul || n > r->most_fields)
    return false;
  for (size_t i = 0; i < n; i++) /* soon true of most rows */
    if (dl_csv_begins_number(cell[i]))
      return false;
  DL_FREED size_t *column = dl_malloc(n * sizeof *column);
  if (!dl_csv_header_again(r->header, cell, n, column))
    return false;
  bool as_before = n == r->n_cols;
  for (size_t i = 0; i < n; i++) {
    as_before = as_before && column[i] == i;
    if (column[i] < r->n_cols)
      continue;
    if (!r->grows) {
      set_status(r, dl_fail_at(r->d, DL_EINPUT, r->path, r->line,
                               "a later header with a column '%.40s' that the "
                               "first one lacks: make a table of each",
                               cell[i]));
      return true;
    }
    column[i] = (size_t)dl_intern(&r->header->names, cell[i]);
    r->header->n_cols = r->header->names.n;
  }
  free(r->column);
  r->column = as_before ? NULL : column;
  column = as_before ? column : NULL;
  r->n_named = n;
  if (r->header->n_cols > r->n_cols)
    widen_rows(r);
  return true;
}

/* Puts the cells of a row into the order of the columns. */
static void order_cells(struct dl_csv_rows *r) {
  const char **cell = row_cells(r);
  DL_FREED const char **field = dl_malloc(r->n_named * sizeof *field);
  memcpy(field, cell, r->n_named * sizeof *field);
  for (size_t c = 0; c < r->n_cols; c++)
    cell[c] = dl_csv_absent;
  for (size_t i = 0; i < r->n_named; i++)
    cell[r->column[i]] = field[i];
}

/* Adds the row that has been read to the block, or reports it. */
static void end_row(struct dl_csv_rows *r) {
  if (r->status != DL_OK || take_header(r)) {
    r->arena_end = r->row_start;
  } else if (r->n_fields == r->n_named && !r->row_has_nul) {
    if (r->column)
      order_cells(r);
    r->row_line[r->n++] = r->line;
    reserve_row(r);
  } else {
    r->arena_end = r->row_start;
    if (r->row_has_nul)
      dl_skip_at(r->d, r->path, r->line, "NUL byte");
    else
      dl_skip_at(r->d, r->path, r->line, "expected %zu fields, found %zu",
                 r->n_named, r->n_fields);
  }
  r->row_start = r->arena_end;
  r->line += r->row_breaks;
  r->n_fields = r->row_bytes = r->row_breaks = 0;
  r->row_has_nul = false;
}

/* libcsv: the end of a row, or of a blank line (CSV_REPALL_NL). `end` is the
 * character there, -1 at the end of the text. */
static void on_row(int end, void *data) {
  struct dl_csv_rows *r = data;
  if (r->n_fields > 0) {
    end_row(r);
  } else if (end == '\n' && r->after_cr) {
    r->after_cr = false;
    return;
  }
  if (end != -1)
    r->line++;
  r->after_cr = end == '\r';
}

/* Drops the rows of the block, moves an unfinished row to the start of the
 * arena and makes room for all cells that `len` bytes may bring: each takes a
 * NUL in place of its separator. */
static void start_block(struct dl_csv_rows *r, size_t len) {
  size_t held = (size_t)(r->arena_end - r->row_start);
  size_t want = held + r->parser.entry_pos + len + 1;
  size_t most = r->most_fields, row = r->n * r->n_cols;
  char *arena = r->arena;
  if (want > r->arena_cap) {
    want += want / 8;
    arena = dl_malloc(want);
  }
  if (held > 0)
    memmove(arena, r->row_start, held);
  for (size_t i = 0; i < most && i < r->n_fields; i++)
    r->cell[i] = arena + (r->cell[row + i] - r->row_start);
  if (arena != r->arena) {
    free(r->arena);
    r->arena = arena;
    r->arena_cap = want;
  }
  r->row_start = arena;
  r->arena_end = arena + held;
  r->n = 0;
  reserve_row(r);
}

/* Has libcsv parse a part of the text. */
static void feed(struct dl_csv_rows *r, const char *text, size_t len) {
  if (len > 0 && dl_csv_is_blank(text[0]))
    r->after_cr = false;
  csv_parse(&r->parser, text, len, on_cell, on_row, r);
}

/* libcsv skips blanks at the start of a line silently, so that "CR, blank, LF"
 * looks like a CRLF; parts that start with the blank distinguish them. */
void dl_csv_rows_parse(struct dl_csv_rows *r, const char *text, size_t len) {
  const char *cr = text, *end = text + len;
  start_block(r, len);
  r->quotes = r->quotes || memchr(text, '"', len);
  r->nul_bytes = r->nul_bytes || memchr(text, '\0', len);
  while (cr < end && (cr = memchr(cr, '\r', (size_t)(end - cr)))) {
    cr++;
    if (cr < end && dl_csv_is_blank(*cr)) {
      feed(r, text, (size_t)(cr - text));
      text = cr;
    }
  }
  feed(r, text, (size_t)(end - text));
  if (r->row_bytes + r->parser.entry_pos > DL_CSV_ROW_MAX)
    set_status(r, dl_csv_rows_too_long(r, r->line));
}

/* A quote that is open is an error in libcsv's strict mode. */
void dl_csv_rows_end(struct dl_csv_rows *r) {
  csv_set_opts(&r->parser,
               CSV_APPEND_NULL | CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI);
  size_t n = r->n;
  if (csv_fini(&r->parser, on_cell, on_row, r) != 0)
    r->open_quote = r->line + r->row_breaks;
  r->last_is_open = r->n > n;
}
