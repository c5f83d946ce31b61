/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CSV reader: the file in blocks of text, its header, and the rows that
 * io/csv_rows.h makes of each block; at the end, cells that are written. */

#include "io/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/memory.h"
#include "io/csv_header.h"
#include "io/csv_parser.h"
#include "io/csv_rows.h"
#include "io/lines.h"

#define BLOCK_SIZE ((size_t)1 << 18)

struct dl_csv {
  char *path;
  FILE *f;
  off_t origin; /* where the file was when it was handed over; pipes: -1 */
  struct dl_csv_header header;
  struct dl_csv_rows rows;
  XXH3_state_t *hash;
  struct dl_diag *d; /* of the call in progress */

  /* The text. */
  char *text;
  size_t block_size; /* bytes read at a time */
  size_t len, start; /* of text; of the part to be parsed next */
  bool eof;          /* the file ends behind text */
  bool done;         /* all of it has been parsed */
  bool ahead;        /* the block has been read and not handed out */

  struct dl_csv_block block; /* handed out last */
  size_t n_rows;             /* handed out so far, with earlier blocks */
};

/* Reads the next block of text, at least `least` bytes unless the file ends. */
static enum dl_status read_text(struct dl_csv *csv, size_t least) {
  size_t want = csv->block_size > least ? csv->block_size : least;
  csv->start = 0;
  csv->len = fread(csv->text, 1, want, csv->f);
  XXH3_128bits_update(csv->hash, csv->text, csv->len);
  csv->eof = csv->len < want;
  if (csv->eof && ferror(csv->f))
    return dl_fail_errno(csv->d, csv->path, "cannot read", errno);
  return DL_OK;
}

/* Reads up to the end of the header, however many blocks that takes. */
static enum dl_status read_header(struct dl_csv *csv) {
  struct dl_csv_header *h = &csv->header;
  for (;;) {
    csv->start += dl_csv_header_read(
        h, &csv->rows.parser, csv->text + csv->start, csv->len - csv->start);
    if (h->binary)
      return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0,
                        "not a CSV file: binary data");
    if (h->n_bytes > DL_CSV_ROW_MAX)
      return dl_csv_rows_too_long(&csv->rows, h->name_line);
    if (h->done || csv->eof)
      break;
    DL_TRY(read_text(csv, 0));
  }
  if (!h->done && !dl_csv_header_end(h, &csv->rows.parser))
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, h->name_line,
                      "quote not closed");
  return dl_csv_header_check(h, csv->path, csv->d);
}

/* Finds what separates columns where it is not known: a header without a comma
 * has semicolons, behind which decimals have commas, or tabs. */
static void find_delimiter(struct dl_csv *csv) {
  size_t n = 0;
  while (n < csv->len && !memchr("\r\n,", csv->text[n], 3))
    n++;
  bool plain = n == csv->len || csv->text[n] != ',';
  if (plain && memchr(csv->text, ';', n)) {
    csv_set_delim(&csv->rows.parser, ';');
    csv->rows.commas = true;
  } else if (plain && memchr(csv->text, '\t', n)) {
    csv_set_delim(&csv->rows.parser, '\t');
  }
}

static enum dl_status start_reading(struct dl_csv *csv, bool any) {
  DL_TRY(read_text(csv, DL_CSV_LOOK_SIZE));
  if (any)
    find_delimiter(csv);
  if (csv->len == 0)
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0, "empty file");
  if (csv->len >= 3 && memcmp(csv->text, "\xEF\xBB\xBF", 3) == 0)
    csv->start = 3;
  const char *what = dl_not_plain_text(csv->text, csv->len);
  if (what)
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0, "%s", what);
  if (dl_csv_looks_binary(csv->text, csv->len))
    return dl_fail_at(csv->d, DL_EINPUT, csv->path, 0,
                      "not a CSV file: binary data");
  enum dl_status status = read_header(csv);
  dl_csv_rows_begin(&csv->rows, &csv->header);
  return status;
}

/* Allocates what a reader needs whatever the file. */
static void prepare(struct dl_csv *csv, const char *path, char delimiter) {
  size_t most =
      csv->block_size > DL_CSV_LOOK_SIZE ? csv->block_size : DL_CSV_LOOK_SIZE;
  csv->path = dl_strdup(path);
  csv->hash = XXH3_createState();
  csv->text = dl_malloc(most);
  if (!csv->hash)
    dl_end_without_memory();
  XXH3_128bits_reset(csv->hash);
  dl_csv_rows_init(&csv->rows, csv->path, delimiter);
  csv->rows.d = csv->d;
}

enum dl_status dl_csv_open_stream(struct dl_csv **csv, FILE *f,
                                  const char *path, char delimiter,
                                  size_t block_size, struct dl_diag *d) {
  struct dl_csv *c = dl_calloc(1, sizeof *c);
  *csv = NULL;
  c->f = f;
  c->d = d;
  c->block_size = block_size > 0 ? block_size : BLOCK_SIZE;
  c->header.line = 1;
  c->origin = ftello(f);
  prepare(c, path, delimiter ? delimiter : ',');
  enum dl_status status = start_reading(c, !delimiter);
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
  return dl_csv_open_stream(csv, f, dl_input_name(path), delimiter, 0, d);
}

void dl_csv_free(struct dl_csv *csv) {
  if (!csv)
    return;
  dl_csv_rows_free(&csv->rows);
  free(csv->text);
  dl_intern_free(&csv->header.names);
  free(csv->header.empty);
  XXH3_freeState(csv->hash);
  dl_close_input(csv->f);
  free(csv->path);
  free(csv);
}

DL_FREES(dl_csv_free, struct dl_csv)

const char *dl_csv_path(const struct dl_csv *csv) {
  return csv->path;
}

size_t dl_csv_n_cols(const struct dl_csv *csv) {
  return csv->header.n_cols;
}

const char *dl_csv_name(const struct dl_csv *csv, size_t col) {
  return csv->header.names.s[col];
}

void dl_csv_let_grow(struct dl_csv *csv) {
  csv->rows.grows = true;
}

static bool is_empty(const struct dl_csv *csv, long col) {
  return csv->header.empty && csv->header.empty[col];
}

long dl_csv_find(const struct dl_csv *csv, const char *name) {
  long col = dl_intern_find(&csv->header.names, name);
  return col >= 0 && is_empty(csv, col) ? -1 : col;
}

bool dl_csv_is_empty(const struct dl_csv *csv, const char *name) {
  long col = dl_intern_find(&csv->header.names, name);
  return col >= 0 && is_empty(csv, col);
}

/* Reads and parses the next block. */
static void next_block(struct dl_csv *csv) {
  struct dl_csv_rows *r = &csv->rows;
  if (csv->start == csv->len && !csv->eof)
    r->status = read_text(csv, 0);
  if (r->status != DL_OK)
    return;
  dl_csv_rows_parse(r, csv->text + csv->start, csv->len - csv->start);
  csv->start = csv->len;
  csv->done = csv->eof && r->status == DL_OK;
  if (csv->done)
    dl_csv_rows_end(r);
}

/* Sees to it that the block holds the next rows, if there are any. */
static void read_rows(struct dl_csv *csv) {
  if (csv->ahead)
    return;
  if (csv->done)
    csv->rows.n = 0;
  else
    do
      next_block(csv);
    while (csv->rows.status == DL_OK && csv->rows.n == 0 && !csv->done);
  csv->ahead = true;
}

/* A second reader of the file, from its beginning; NULL: a pipe. A descriptor
 * made by dup() would share the reader's offset. */
static struct dl_csv *read_again(struct dl_csv *csv, struct dl_diag *quiet) {
  char path[32];
  struct dl_csv *again = NULL;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(csv->f));
  FILE *f = csv->origin >= 0 ? fopen(path, "r") : NULL;
  if (f && fseeko(f, csv->origin, SEEK_SET) == 0)
    dl_csv_open_stream(&again, f, csv->path,
                       (char)csv_get_delim(&csv->rows.parser), csv->block_size,
                       quiet);
  else if (f)
    dl_close_input(f);
  return again;
}

/* Looks for values in the columns that have none in the first block. */
static void look_further(struct dl_csv *csv) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  const struct dl_csv_block *block = NULL;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *again = read_again(csv, &quiet);
  enum dl_status status = again ? DL_OK : DL_EINPUT;
  while (status == DL_OK && csv->header.n_empty > 0 &&
         (status = dl_csv_next(again, &block, &quiet)) == DL_OK && block)
    dl_csv_header_look(&csv->header, block->cell, block->n_rows);
  if (status != DL_OK)
    dl_csv_header_keep_all(&csv->header);
}

enum dl_status dl_csv_drop_empty(struct dl_csv *csv, struct dl_diag *d) {
  csv->d = csv->rows.d = d;
  read_rows(csv);
  if (csv->rows.status != DL_OK)
    return csv->rows.status;
  dl_csv_header_look(&csv->header, csv->rows.cell, csv->rows.n);
  if (!csv->done && csv->header.n_empty > 0)
    look_further(csv);
  return DL_OK;
}

enum dl_status dl_csv_next(struct dl_csv *csv,
                           const struct dl_csv_block **block,
                           struct dl_diag *d) {
  *block = NULL;
  csv->d = csv->rows.d = d;
  read_rows(csv);
  csv->ahead = false;
  if (csv->rows.status == DL_OK && csv->rows.n == 0 && csv->rows.open_quote > 0)
    csv->rows.status = dl_fail_at(d, DL_EINPUT, csv->path, csv->rows.open_quote,
                                  "quote not closed");
  if (csv->rows.status == DL_OK && csv->rows.n > 0) {
    csv->n_rows += csv->rows.n;
    csv->block = (struct dl_csv_block){csv->rows.n, csv->rows.n_cols,
                                       csv->rows.cell, csv->rows.row_line};
    *block = &csv->block;
  }
  return csv->rows.status;
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

bool dl_csv_is_cut(const struct dl_csv *csv) {
  const struct dl_csv_rows *r = &csv->rows;
  const char *const *last = r->cell + r->n * r->n_cols - 1;
  return r->last_is_open &&
         !(r->n > 1 &&
           dl_ends_like(last[0], last[-(ptrdiff_t)r->n_cols],
                        r->n > 2 ? last[-2 * (ptrdiff_t)r->n_cols] : NULL));
}

/* Returns the bytes of the file; 0 if they are unknown. */
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

bool dl_csv_is_plain(const char *cell, size_t *len) {
  static const bool stops[256] = {
      ['\0'] = true, [','] = true, ['"'] = true, ['\r'] = true, ['\n'] = true};
  size_t n = 0;

  while (!stops[(unsigned char)cell[n]])
    n++;
  *len = n;
  return cell[n] == '\0' && (n == 0 || (!dl_csv_is_blank(cell[0]) &&
                                        !dl_csv_is_blank(cell[n - 1])));
}

void dl_csv_write_cell(FILE *f, const char *cell) {
  size_t len;
  if (dl_csv_is_plain(cell, &len)) {
    fwrite(cell, 1, len, f);
    return;
  }
  DL_TEXT(quoted);
  dl_csv_add_cell(&quoted, cell);
  fwrite(quoted.s, 1, quoted.len, f);
}

void dl_csv_add_cell(struct dl_text *t, const char *cell) {
  size_t len;

  if (dl_csv_is_plain(cell, &len)) {
    dl_text_add_n(t, cell, len);
    return;
  }
  dl_text_add(t, "\"");
  for (const char *quote; (quote = strchr(cell, '"')); cell = quote + 1) {
    dl_text_add_n(t, cell, (size_t)(quote - cell));
    dl_text_add(t, "\"\"");
  }
  dl_text_add(t, cell);
  dl_text_add(t, "\"");
}

void dl_csv_versions(struct dl_text *t) {
  unsigned x = XXH_versionNumber();
  dl_text_printf(t, DL_CSV_PARSER " %d.%d.%d, xxHash %u.%u.%u", CSV_MAJOR,
                 CSV_MINOR, CSV_RELEASE, x / 10000, x / 100 % 100, x % 100);
}
