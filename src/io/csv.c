/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CSV reader: blocks of text in, blocks of rows out.
 *
 * libcsv parses the text and calls back for each cell and each row end. Its
 * parser keeps its state between blocks, so that a row may begin in one block
 * and end in the next; the cells of such a row move to the start of the next
 * block's memory. */

#include "io/csv.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/memory.h"
#include "io/csv_header.h"
#include "io/csv_seam.h"

#define BLOCK_SIZE ((size_t)1 << 20)
#define ROW_MAX ((size_t)16 << 20)

/* libcsv's buffer for a cell grows by this. */
#define CELL_BLOCK ((size_t)256 << 10)

struct dl_csv {
  char *path;
  FILE *f;
  struct dl_csv_header header;
  XXH3_state_t *hash;
  struct csv_parser parser;
  struct dl_diag *d;     /* of the call in progress */
  enum dl_status status; /* of the error that ended the reading */

  /* The text. */
  char *text;
  size_t block_size; /* bytes read at a time */
  size_t left;       /* bytes that may still be read */
  size_t len, start; /* of text; of the part to be parsed next */
  bool eof;          /* the file ends behind text */
  bool done;         /* all of it has been parsed */
  bool ahead;        /* the block has been read and not handed out */
  bool quotes;       /* there has been a quote behind the header */
  bool nul_bytes;    /* there has been a NUL byte */
  size_t open_quote; /* line of a quote that is never closed, or 0 */

  /* The rows of the block. */
  struct dl_csv_block block;
  const char **cell; /* n_rows x n_cols */
  size_t cells_cap;
  size_t *row_line; /* n_rows */
  size_t row_lines_cap;
  char *arena; /* their cells, each with its NUL */
  size_t arena_cap;
  char *arena_end; /* where the next cell goes */
  size_t n_rows;   /* handed out so far, with earlier blocks */

  /* The row that is being read. */
  size_t line;       /* where it starts */
  bool after_cr;     /* a LF that comes next belongs to a CR before it */
  size_t n_fields;   /* seen so far */
  size_t row_bytes;  /* of these */
  size_t row_breaks; /* line ends within them */
  bool row_has_nul;
  char *row_start; /* its first cell in the arena */
};

static enum dl_status fail_too_long(struct dl_csv *csv, size_t line) {
  return dl_fail_at(csv->d, DL_EINPUT, csv->path, line,
                    csv->quotes ? "row longer than %zu MiB, or quote not closed"
                                : "row longer than %zu MiB",
                    ROW_MAX >> 20);
}

/* Reads the next block of text, at least `least` bytes unless the file ends. */
static enum dl_status read_text(struct dl_csv *csv, size_t least) {
  size_t want = csv->block_size > least ? csv->block_size : least;
  if (want > csv->left)
    want = csv->left;
  csv->start = 0;
  csv->len = fread(csv->text, 1, want, csv->f);
  csv->left -= csv->len;
  XXH3_128bits_update(csv->hash, csv->text, csv->len);
  csv->eof = csv->len < want || csv->left == 0;
  if (csv->eof && ferror(csv->f))
    return dl_fail_errno(csv->d, csv->path, "cannot read", errno);
  return DL_OK;
}

/* Reads up to the end of the header, however many blocks that takes. */
static enum dl_status read_header(struct dl_csv *csv) {
  struct dl_csv_header *h = &csv->header;
  for (;;) {
    csv->start += dl_csv_header_read(h, &csv->parser, csv->text + csv->start,
                                     csv->len - csv->start);
    if (h->failed)
      return dl_fail_memory(csv->d);
    if (h->binary)
      return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0,
                        "not a CSV file: binary data");
    if (h->n_bytes > ROW_MAX)
      return fail_too_long(csv, h->name_line);
    if (h->done || csv->eof)
      break;
    enum dl_status status = read_text(csv, 0);
    if (status != DL_OK)
      return status;
  }
  if (!h->done && !dl_csv_header_end(h, &csv->parser))
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, h->name_line,
                      "quote not closed");
  return h->failed ? dl_fail_memory(csv->d)
                   : dl_csv_header_check(h, csv->path, csv->d);
}

static enum dl_status start_reading(struct dl_csv *csv) {
  enum dl_status status = read_text(csv, DL_CSV_LOOK_SIZE);
  if (status != DL_OK)
    return status;
  if (csv->len == 0)
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0, "empty file");
  if (csv->len >= 3 && memcmp(csv->text, "\xEF\xBB\xBF", 3) == 0)
    csv->start = 3;
  if (dl_csv_looks_binary(csv->text, csv->len))
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0,
                      "not a CSV file: binary data");
  status = read_header(csv);
  csv->line = csv->header.line;
  csv->after_cr = csv->header.last_byte == '\r';
  csv->block.n_cols = csv->header.n_cols;
  csv_set_opts(&csv->parser, CSV_APPEND_NULL | CSV_REPALL_NL);
  return status;
}

/* Allocates what a reader needs whatever the file. */
static bool prepare(struct dl_csv *csv, const char *path, char delimiter) {
  size_t most =
      csv->block_size > DL_CSV_LOOK_SIZE ? csv->block_size : DL_CSV_LOOK_SIZE;
  csv->path = dl_strdup(path);
  csv->hash = XXH3_createState();
  csv->text = dl_malloc(most);
  if (!csv->path || !csv->hash || !csv->text)
    return false;
  XXH3_128bits_reset(csv->hash);
  csv_set_delim(&csv->parser, (unsigned char)delimiter);
  csv_set_blk_size(&csv->parser, CELL_BLOCK);
  return true;
}

enum dl_status dl_csv_open_stream(struct dl_csv **csv, FILE *f,
                                  const char *path, char delimiter,
                                  size_t block_size, struct dl_diag *d) {
  struct dl_csv *c = dl_calloc(1, sizeof *c);
  *csv = NULL;
  if (!c) {
    dl_close_input(f);
    return dl_fail_memory(d);
  }
  c->f = f;
  c->d = d;
  c->block_size = block_size > 0 ? block_size : BLOCK_SIZE;
  c->left = SIZE_MAX;
  c->header.line = 1;
  csv_init(&c->parser, CSV_APPEND_NULL);
  csv_set_realloc_func(&c->parser, dl_realloc);
  enum dl_status status = prepare(c, path, delimiter ? delimiter : ',')
                              ? start_reading(c)
                              : dl_fail_memory(d);
  if (status != DL_OK) {
    dl_csv_free(c);
    return status;
  }
  *csv = c;
  return DL_OK;
}

enum dl_status dl_csv_open(struct dl_csv **csv, const char *path,
                           char delimiter, struct dl_diag *d) {
  FILE *f;
  enum dl_status status = dl_open_input(&f, path, d);
  *csv = NULL;
  if (status != DL_OK)
    return status;
  return dl_csv_open_stream(csv, f, strcmp(path, "-") == 0 ? "<stdin>" : path,
                            delimiter, 0, d);
}

/* Moves a seam to where a part of the file begins. */
static enum dl_status find_seam(struct dl_csv *csv, struct dl_csv_seam *seam,
                                off_t least) {
  return dl_csv_seam_find(seam, csv->f, csv->path, csv_get_delim(&csv->parser),
                          least, csv->d);
}

enum dl_status dl_csv_take_shard(struct dl_csv *csv,
                                 const struct dl_shard *shard,
                                 struct dl_diag *d) {
  struct stat st;
  csv->d = d;
  if (shard->count == 0)
    return DL_OK;
  if (fstat(fileno(csv->f), &st) != 0 || !S_ISREG(st.st_mode))
    return dl_fail_at(d, DL_EUSAGE, csv->path, 0,
                      "--shard cannot split a pipe; write the table to a file");
  /* The LF of a CRLF that ends the header is data here, and no line. */
  struct dl_csv_seam start = {ftello(csv->f) - (off_t)(csv->len - csv->start),
                              csv->line - csv->after_cr};
  size_t first, end;
  dl_shard_range(shard, (size_t)(st.st_size - start.offset), &first, &end);
  struct dl_csv_seam from = start;
  enum dl_status status = find_seam(csv, &from, start.offset + (off_t)first);
  struct dl_csv_seam to = from;
  if (status == DL_OK && shard->index + 1 == shard->count)
    to.offset = st.st_size;
  else if (status == DL_OK)
    status = find_seam(csv, &to, start.offset + (off_t)end);
  if (status == DL_OK && fseeko(csv->f, from.offset, SEEK_SET) != 0)
    status = dl_fail_errno(d, csv->path, "cannot seek", errno);
  csv->left = (size_t)(to.offset - from.offset);
  csv->start = csv->len = 0;
  csv->eof = csv->left == 0;
  if (from.offset > start.offset) {
    csv->line = from.line;
    csv->after_cr = false;
  }
  return status;
}

void dl_csv_free(struct dl_csv *csv) {
  if (!csv)
    return;
  csv_free(&csv->parser);
  free(csv->cell);
  free(csv->row_line);
  free(csv->arena);
  free(csv->text);
  dl_intern_free(&csv->header.names);
  dl_intern_free(&csv->header.empty);
  XXH3_freeState(csv->hash);
  dl_close_input(csv->f);
  free(csv->path);
  free(csv);
}

const char *dl_csv_path(const struct dl_csv *csv) {
  return csv->path;
}

size_t dl_csv_n_cols(const struct dl_csv *csv) {
  return csv->header.n_cols;
}

const char *dl_csv_name(const struct dl_csv *csv, size_t col) {
  return csv->header.names.s[col];
}

long dl_csv_find(const struct dl_csv *csv, const char *name) {
  return dl_csv_is_empty(csv, name) ? -1
                                    : dl_intern_find(&csv->header.names, name);
}

bool dl_csv_is_empty(const struct dl_csv *csv, const char *name) {
  return dl_intern_find(&csv->header.empty, name) >= 0;
}

/* Records the first error; the rows of the block are dropped with it. */
static void set_status(struct dl_csv *csv, enum dl_status status) {
  if (csv->status == DL_OK)
    csv->status = status;
}

/* Makes room for one more row. */
static bool reserve_row(struct dl_csv *csv) {
  void *cell = csv->cell, *line = csv->row_line;
  size_t n = csv->block.n_rows + 1;
  bool ok = dl_grow(&cell, &csv->cells_cap, n * csv->block.n_cols,
                    sizeof *csv->cell) &&
            dl_grow(&line, &csv->row_lines_cap, n, sizeof *csv->row_line);
  csv->cell = cell;
  csv->row_line = line;
  return ok;
}

/* libcsv: a cell, with a NUL behind it. */
static void on_cell(void *s, size_t len, void *data) {
  struct dl_csv *csv = data;
  if (csv->nul_bytes && memchr(s, '\0', len))
    csv->row_has_nul = true;
  if (csv->quotes)
    csv->row_breaks += dl_csv_count_breaks(s, len);
  csv->row_bytes += len + 1;
  if (csv->row_bytes > ROW_MAX)
    set_status(csv, fail_too_long(csv, csv->line));
  if (csv->n_fields < csv->block.n_cols) {
    memcpy(csv->arena_end, s, len + 1);
    csv->cell[csv->block.n_rows * csv->block.n_cols + csv->n_fields] =
        csv->arena_end;
    csv->arena_end += len + 1;
  }
  csv->n_fields++;
}

/* Adds the row that has been read to the block, or reports it. */
static void end_row(struct dl_csv *csv) {
  if (csv->n_fields == csv->block.n_cols && !csv->row_has_nul) {
    csv->row_line[csv->block.n_rows++] = csv->line;
    if (!reserve_row(csv)) {
      csv->block.n_rows--; /* its place is used again */
      csv->arena_end = csv->row_start;
      set_status(csv, dl_fail_memory(csv->d));
    }
  } else {
    csv->arena_end = csv->row_start;
    if (csv->row_has_nul)
      dl_skip_at(csv->d, csv->path, csv->line, "NUL byte");
    else
      dl_skip_at(csv->d, csv->path, csv->line, "expected %zu fields, found %zu",
                 csv->block.n_cols, csv->n_fields);
  }
  csv->row_start = csv->arena_end;
  csv->line += csv->row_breaks;
  csv->n_fields = csv->row_bytes = csv->row_breaks = 0;
  csv->row_has_nul = false;
}

/* libcsv: the end of a row, or of a blank line (CSV_REPALL_NL). `end` is the
 * character there, -1 at the end of the text. */
static void on_row(int end, void *data) {
  struct dl_csv *csv = data;
  if (csv->n_fields > 0) {
    end_row(csv);
  } else if (end == '\n' && csv->after_cr) {
    csv->after_cr = false;
    return;
  }
  if (end != -1)
    csv->line++;
  csv->after_cr = end == '\r';
}

/* Drops the rows of the block, moves an unfinished row to the start of the
 * arena and makes room for all cells that `len` bytes may bring: each takes a
 * byte more than its text, which is that of the separator. */
static bool start_block(struct dl_csv *csv, size_t len) {
  size_t held = (size_t)(csv->arena_end - csv->row_start);
  size_t want = held + csv->parser.entry_pos + len + 1;
  size_t n_cols = csv->block.n_cols, row = csv->block.n_rows * n_cols;
  char *arena = csv->arena;
  if (want > csv->arena_cap) {
    want += want / 8;
    arena = dl_malloc(want);
    if (!arena)
      return false;
  }
  if (held > 0)
    memmove(arena, csv->row_start, held);
  for (size_t i = 0; i < n_cols && i < csv->n_fields; i++)
    csv->cell[i] = arena + (csv->cell[row + i] - csv->row_start);
  if (arena != csv->arena) {
    free(csv->arena);
    csv->arena = arena;
    csv->arena_cap = want;
  }
  csv->row_start = arena;
  csv->arena_end = arena + held;
  csv->block.n_rows = 0;
  return reserve_row(csv);
}

/* Has libcsv parse a part of the text. */
static void feed(struct dl_csv *csv, const char *text, size_t len) {
  if (len > 0 && dl_csv_is_blank(text[0]))
    csv->after_cr = false;
  if (csv_parse(&csv->parser, text, len, on_cell, on_row, csv) != len)
    set_status(csv, dl_fail_memory(csv->d));
}

/* Parses the text that has been read. libcsv skips blanks at the start of a
 * line silently, so that "CR, blank, LF" looks like a CRLF; parts that start
 * with the blank distinguish them. */
static void parse_text(struct dl_csv *csv) {
  const char *text = csv->text + csv->start, *end = csv->text + csv->len;
  const char *cr = text;
  size_t len = (size_t)(end - text);
  csv->quotes = csv->quotes || memchr(text, '"', len);
  csv->nul_bytes = csv->nul_bytes || memchr(text, '\0', len);
  while (cr < end && (cr = memchr(cr, '\r', (size_t)(end - cr)))) {
    cr++;
    if (cr < end && dl_csv_is_blank(*cr)) {
      feed(csv, text, (size_t)(cr - text));
      text = cr;
    }
  }
  feed(csv, text, (size_t)(end - text));
  csv->start = csv->len;
  if (csv->row_bytes + csv->parser.entry_pos > ROW_MAX)
    set_status(csv, fail_too_long(csv, csv->line));
}

/* Ends the row that the file leaves unfinished, unless it is within quotes,
 * which is an error in strict mode. */
static void end_text(struct dl_csv *csv) {
  csv_set_opts(&csv->parser,
               CSV_APPEND_NULL | CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI);
  if (csv_fini(&csv->parser, on_cell, on_row, csv) != 0)
    csv->open_quote = csv->line + csv->row_breaks;
  csv->done = true;
}

/* Reads and parses the next block. */
static void next_block(struct dl_csv *csv) {
  if (csv->start == csv->len && !csv->eof)
    set_status(csv, read_text(csv, 0));
  if (csv->status != DL_OK)
    return;
  if (!start_block(csv, csv->len - csv->start)) {
    set_status(csv, dl_fail_memory(csv->d));
    return;
  }
  parse_text(csv);
  if (csv->eof && csv->status == DL_OK)
    end_text(csv);
}

/* Sees to it that the block holds the next rows, if there are any. */
static void read_rows(struct dl_csv *csv) {
  if (csv->ahead)
    return;
  if (csv->done)
    csv->block.n_rows = 0;
  else
    do
      next_block(csv);
    while (csv->status == DL_OK && csv->block.n_rows == 0 && !csv->done);
  csv->ahead = true;
}

enum dl_status dl_csv_drop_empty(struct dl_csv *csv, struct dl_diag *d) {
  csv->d = d;
  read_rows(csv);
  bool whole = csv->status == DL_OK && csv->done;
  return whole && !dl_csv_header_drop_empty(&csv->header, csv->cell,
                                            csv->block.n_rows)
             ? dl_fail_memory(d)
             : csv->status;
}

enum dl_status dl_csv_next(struct dl_csv *csv,
                           const struct dl_csv_block **block,
                           struct dl_diag *d) {
  *block = NULL;
  csv->d = d;
  read_rows(csv);
  csv->ahead = false;
  if (csv->status == DL_OK && csv->block.n_rows == 0 && csv->open_quote > 0)
    csv->status = dl_fail_at(d, DL_EINPUT, csv->path, csv->open_quote,
                             "quote not closed");
  if (csv->status == DL_OK && csv->block.n_rows > 0) {
    csv->n_rows += csv->block.n_rows;
    csv->block.cell = csv->cell;
    csv->block.line = csv->row_line;
    *block = &csv->block;
  }
  return csv->status;
}

void dl_csv_digest(const struct dl_csv *csv, char hex[33], size_t *rows) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(csv->hash));
  for (size_t i = 0; i < sizeof canonical.digest; i++)
    snprintf(hex + 2 * i, 3, "%02x", canonical.digest[i]);
  *rows = csv->n_rows;
}

bool dl_csv_at_end(const struct dl_csv *csv) {
  return csv->done;
}

/* Bytes of the file; 0 where that is unknown. */
static double file_size(const struct dl_csv *csv) {
  struct stat st;
  bool known = fstat(fileno(csv->f), &st) == 0 && S_ISREG(st.st_mode);
  return known ? (double)st.st_size : 0;
}

double dl_csv_share(const struct dl_csv *csv) {
  double size = file_size(csv);
  return size > 0 ? (double)ftello(csv->f) / size : 0;
}

size_t dl_csv_expected_rows(const struct dl_csv *csv) {
  double size = file_size(csv);
  double share = (double)csv->block_size / (size + 1);
  return size > 0 && share < 1
             ? (size_t)((double)csv->block.n_rows / share * 1.02)
             : 0;
}
