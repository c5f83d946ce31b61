/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/csv_chunk.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv_stream.h"

/* libcsv's buffer for a cell grows by this. */
#define CELL_BLOCK ((size_t)256 << 10)

/* Cells up to this size are copied as a whole, which is faster. It is no more
 * than CELL_BLOCK, and there is room for it behind the cells in the arena. */
#define SHORT_CELL 16

static bool is_blank(char c) {
  return c == CSV_SPACE || c == CSV_TAB;
}

/* Line ends in a quoted cell. */
static size_t count_breaks(const char *s, size_t len) {
  size_t n = 0;

  for (size_t i = 0; i < len; i++)
    if (s[i] == '\n' || (s[i] == '\r' && (i + 1 == len || s[i + 1] != '\n')))
      n++;
  return n;
}

static void set_error(struct dl_csv_chunk *c, enum dl_csv_error error) {
  if (c->error != DL_CSV_FINE)
    return;
  c->error = error;
  c->error_line = c->line;
  if (error == DL_CSV_OPEN_QUOTE)
    c->error_line += c->row_breaks;
}

/* Room for one more row. */
static bool reserve_row(struct dl_csv_chunk *c) {
  void *cell = c->cell, *line = c->row_line;
  bool ok;

  ok = dl_grow(&cell, &c->cells_cap, (c->n_rows + 1) * c->n_cols,
               sizeof *c->cell) &&
       dl_grow(&line, &c->row_lines_cap, c->n_rows + 1, sizeof *c->row_line);
  c->cell = cell;
  c->row_line = line;
  return ok;
}

/* Looks for what few texts have in a cell. */
static void inspect_cell(struct dl_csv_chunk *c, const char *s, size_t len) {
  if (c->nul_bytes && memchr(s, '\0', len) != NULL)
    c->row_has_nul = true;
  if (c->inspect) {
    c->row_breaks += count_breaks(s, len);
    c->row_bytes += len + 1;
    if (c->row_bytes > DL_CSV_ROW_MAX)
      set_error(c, DL_CSV_ROW_TOO_LONG);
  }
}

/* libcsv: a cell, with a NUL behind it. */
static void on_cell(void *s, size_t len, void *data) {
  struct dl_csv_chunk *c = data;

  if (c->inspect || c->nul_bytes)
    inspect_cell(c, s, len);
  if (c->n_fields < c->n_cols) {
    if (len < SHORT_CELL)
      memcpy(c->arena_end, s, SHORT_CELL);
    else
      memcpy(c->arena_end, s, len + 1);
    c->cell[c->n_rows * c->n_cols + c->n_fields] = c->arena_end;
    c->arena_end += len + 1;
  }
  c->n_fields++;
}

static void skip_row(struct dl_csv_chunk *c) {
  void *skip = c->skip;

  c->arena_end = c->row_start;
  if (!dl_grow(&skip, &c->skips_cap, c->n_skips + 1, sizeof *c->skip)) {
    set_error(c, DL_CSV_NO_MEMORY);
    return;
  }
  c->skip = skip;
  c->skip[c->n_skips].line = c->line;
  c->skip[c->n_skips].n_fields = c->row_has_nul ? 0 : c->n_fields;
  c->n_skips++;
}

static void keep_row(struct dl_csv_chunk *c) {
  c->row_line[c->n_rows] = c->line;
  c->n_rows++;
  if (!reserve_row(c)) {
    c->n_rows--; /* its place is used again */
    c->arena_end = c->row_start;
    set_error(c, DL_CSV_NO_MEMORY);
  }
}

/* libcsv: the end of a row, or of a blank line (CSV_REPALL_NL). `end` is the
 * character there, -1 at the end of the text. */
static void on_row(int end, void *data) {
  struct dl_csv_chunk *c = data;

  if (c->n_fields == 0) {
    if (end == '\n' && c->after_cr) {
      c->after_cr = false;
      return;
    }
  } else {
    if (c->n_fields == c->n_cols && !c->row_has_nul)
      keep_row(c);
    else
      skip_row(c);
    c->row_start = c->arena_end;
    c->line += c->row_breaks;
    c->n_fields = 0;
    c->row_bytes = 0;
    c->row_breaks = 0;
    c->row_has_nul = false;
  }
  if (end != -1)
    c->line++;
  c->after_cr = end == '\r';
}

bool dl_csv_chunk_init(struct dl_csv_chunk *c, size_t n_cols, char delimiter) {
  c->n_cols = n_cols;
  c->parser = dl_calloc(1, sizeof *c->parser);
  if (c->parser == NULL)
    return false;
  csv_init(c->parser, CSV_APPEND_NULL | CSV_REPALL_NL);
  csv_set_delim(c->parser, (unsigned char)delimiter);
  csv_set_blk_size(c->parser, CELL_BLOCK);
  return true;
}

void dl_csv_chunk_free(struct dl_csv_chunk *c) {
  if (c->parser != NULL)
    csv_free(c->parser);
  free(c->parser);
  free(c->cell);
  free(c->row_line);
  free(c->skip);
  free(c->arena);
}

/* Drops the rows of the last text, moves the unfinished row to the start of
 * the arena and makes room for all cells that `len` bytes may bring: each
 * takes a byte more than its text, which is that of the separator. */
static bool start_text(struct dl_csv_chunk *c, size_t len) {
  size_t held = (size_t)(c->arena_end - c->row_start);
  size_t n_held = c->n_fields < c->n_cols ? c->n_fields : c->n_cols;
  size_t want = held + c->parser->entry_pos + len + 1 + SHORT_CELL;
  size_t row = c->n_rows * c->n_cols;
  char *arena = c->arena;

  if (want > c->arena_cap) {
    want += want / 8;
    arena = malloc(want);
    if (arena == NULL)
      return false;
  }
  if (held > 0)
    memmove(arena, c->row_start, held);
  for (size_t i = 0; i < n_held; i++)
    c->cell[i] = arena + (c->cell[row + i] - c->row_start);
  if (arena != c->arena) {
    free(c->arena);
    c->arena = arena;
    c->arena_cap = want;
  }
  c->row_start = arena;
  c->arena_end = arena + held;
  c->n_rows = 0;
  c->n_skips = 0;
  return reserve_row(c);
}

/* Has libcsv parse a part of the text. */
static void feed(struct dl_csv_chunk *c, const char *text, size_t len) {
  if (len > 0 && is_blank(text[0]))
    c->after_cr = false;
  if (csv_parse(c->parser, text, len, on_cell, on_row, c) != len)
    set_error(c, DL_CSV_NO_MEMORY);
}

/* Ends the row that the text leaves unfinished, unless it is within quotes:
 * strict mode tells. */
static void end_text(struct dl_csv_chunk *c) {
  csv_set_opts(c->parser,
               CSV_APPEND_NULL | CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI);
  if (csv_fini(c->parser, on_cell, on_row, c) != 0)
    set_error(c, DL_CSV_OPEN_QUOTE);
  csv_set_opts(c->parser, CSV_APPEND_NULL | CSV_REPALL_NL);
}

void dl_csv_chunk_parse(struct dl_csv_chunk *c, const char *text, size_t len,
                        bool quotes, bool last) {
  const char *end = text + len, *cr = text;

  c->error = DL_CSV_FINE;
  c->inspect = quotes || len > DL_CSV_ROW_MAX;
  c->nul_bytes = c->nul_bytes || memchr(text, '\0', len) != NULL;
  if (!start_text(c, len)) {
    set_error(c, DL_CSV_NO_MEMORY);
    return;
  }
  /* libcsv passes blanks at the start of a line over silently, so that "CR,
   * blank, LF" looks like a CRLF. Parts that start with the blank tell them
   * apart. */
  while (cr < end && (cr = memchr(cr, '\r', (size_t)(end - cr))) != NULL) {
    cr++;
    if (cr < end && is_blank(*cr)) {
      feed(c, text, (size_t)(cr - text));
      text = cr;
    }
  }
  feed(c, text, (size_t)(end - text));
  if (c->row_bytes + c->parser->entry_pos > DL_CSV_ROW_MAX)
    set_error(c, DL_CSV_ROW_TOO_LONG);
  if (last)
    end_text(c);
}
