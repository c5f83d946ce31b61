/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader: blocks of text in, chunks of rows out.
 *
 * There are two buffers. While the chunks of one are parsed the other one is
 * filled, as one task more in the same parallel loop. The chunks copy their
 * cells, so a buffer is free again when the loop ends, and each chunk is handed
 * out as a block.
 *
 * Without quotes a CR or LF is the end of a row wherever it stands, and the
 * text may be cut there; what is behind the last one is carried over to the
 * next buffer. From the first quote on this does not hold, so the rest of the
 * file is parsed by one chunk, whose parser lives on from block to block. */

#include "io/csv.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#include <xxhash.h>

#include "base/file.h"
#include "base/memory.h"
#include "io/csv_chunk.h"
#include "io/csv_header.h"
#include "io/csv_stream.h"

/* A chunk is large enough for threads to be worth waking; there are as many
 * in a block as there are threads, within the memory that is meant. */
#define CHUNK_SIZE ((size_t)1 << 20)
#define BLOCK_CHUNKS_MIN 4
#define CHUNKS_MAX 16

/* The least that is read at first: what a byte order mark and the look for
 * binary data need. */
#define FIRST_SIZE DL_CSV_LOOK_SIZE

struct buffer {
  char *data;
  size_t len, cap;
  bool eof;  /* the file ends behind it */
  int error; /* of reading it, an errno value */
};

/* A part of a buffer for a chunk. */
struct part {
  const char *text;
  size_t len;
};

struct dl_csv {
  char *path;
  FILE *f;
  struct dl_csv_tuning tuning;
  struct dl_csv_header header;
  XXH3_state_t *hash;
  enum dl_status status; /* of the error that ended the reading */

  struct buffer buffer[2];
  int current;  /* the buffer with the text that comes next */
  size_t start; /* of the text that comes next */
  bool quotes;  /* one has been seen behind the header */
  bool done;    /* all text has been parsed */

  struct dl_csv_chunk chunk[CHUNKS_MAX];
  size_t n_chunks; /* of the last buffer */
  size_t next;     /* chunk that is handed out next */
  size_t line;     /* where that chunk starts; not used with quotes */
  bool after_cr;   /* the text before that chunk ends with CR */
  struct dl_csv_block block;
  size_t n_rows; /* handed out */
};

/* Room for `want` bytes; without it the reading ends here. */
static bool make_room(struct buffer *b, size_t want) {
  void *data = b->data;

  if (!dl_grow(&data, &b->cap, want, 1)) {
    b->error = ENOMEM;
    b->eof = true;
    return false;
  }
  b->data = data;
  return true;
}

/* Fills a buffer until it has `want` bytes or the file ends. */
static void fill(struct dl_csv *csv, struct buffer *b, size_t want) {
  size_t n;

  if (b->len >= want || b->eof || !make_room(b, want))
    return;
  n = fread(b->data + b->len, 1, want - b->len, csv->f);
  XXH3_128bits_update(csv->hash, b->data + b->len, n);
  b->len += n;
  if (b->len < want) {
    b->error = ferror(csv->f) ? errno : 0;
    b->eof = true;
  }
}

static enum dl_status check_read(struct dl_csv *csv, const struct buffer *b,
                                 struct dl_diag *d) {
  if (b->error == ENOMEM)
    return dl_fail_memory(d);
  if (b->error != 0)
    return dl_fail_errno(d, csv->path, "cannot read", b->error);
  return DL_OK;
}

static enum dl_status fail_too_long(struct dl_csv *csv, size_t line,
                                    struct dl_diag *d) {
  return dl_fail_at(d, DL_EINPUT, csv->path, line,
                    csv->quotes ? "row longer than %zu MiB, or quote not closed"
                                : "row longer than %zu MiB",
                    DL_CSV_ROW_MAX >> 20);
}

/* Reads up to the end of the header, however many buffers that takes. */
static enum dl_status read_header(struct dl_csv *csv, struct dl_diag *d) {
  struct dl_csv_header *h = &csv->header;
  struct buffer *b = &csv->buffer[csv->current];
  enum dl_status status;

  for (;;) {
    csv->start +=
        dl_csv_header_read(h, b->data + csv->start, b->len - csv->start);
    if (h->failed)
      return dl_fail_memory(d);
    if (h->binary)
      return dl_fail_at(d, DL_EINPUT, csv->path, 0,
                        "not a CSV file: binary data");
    if (h->n_bytes > DL_CSV_ROW_MAX)
      return fail_too_long(csv, h->name_line, d);
    if (h->done || b->eof)
      break;
    b->len = 0;
    csv->start = 0;
    fill(csv, b, csv->tuning.block_size);
  }
  status = check_read(csv, b, d);
  if (status != DL_OK)
    return status;
  if (!h->done && !dl_csv_header_end(h))
    return dl_fail_at(d, DL_EINPUT, csv->path, h->name_line,
                      "quote not closed");
  return h->failed ? dl_fail_memory(d) : dl_csv_header_check(h, csv->path, d);
}

static enum dl_status start_reading(struct dl_csv *csv, struct dl_diag *d) {
  struct buffer *b = &csv->buffer[0];
  size_t want = csv->tuning.block_size;
  enum dl_status status;

  fill(csv, b, want > FIRST_SIZE ? want : FIRST_SIZE);
  status = check_read(csv, b, d);
  if (status != DL_OK)
    return status;
  if (b->len == 0)
    return dl_fail_at(d, DL_EINPUT, csv->path, 0, "empty file");
  if (b->len >= 3 && memcmp(b->data, "\xEF\xBB\xBF", 3) == 0)
    csv->start = 3;
  if (dl_csv_looks_binary(b->data, b->len))
    return dl_fail_at(d, DL_EINPUT, csv->path, 0,
                      "not a CSV file: binary data");
  status = read_header(csv, d);
  csv->line = csv->header.line;
  csv->after_cr = csv->header.last_byte == '\r';
  return status;
}

static void default_tuning(struct dl_csv_tuning *t) {
  size_t n;

  t->chunk_size = CHUNK_SIZE;
#ifdef _OPENMP
  t->n_threads = omp_get_max_threads();
#else
  t->n_threads = 1;
#endif
  n = (size_t)t->n_threads;
  n = n < BLOCK_CHUNKS_MIN ? BLOCK_CHUNKS_MIN : n;
  t->block_size = (n > CHUNKS_MAX ? CHUNKS_MAX : n) * CHUNK_SIZE;
}

/* Allocates what a reader needs whatever the file. */
static bool prepare(struct dl_csv *csv, const char *path, char delimiter) {
  csv->path = dl_strdup(path);
  csv->hash = XXH3_createState();
  if (csv->path == NULL || csv->hash == NULL)
    return false;
  XXH3_128bits_reset(csv->hash);
  return dl_csv_header_init(&csv->header, delimiter);
}

static bool prepare_chunks(struct dl_csv *csv, char delimiter) {
  for (size_t i = 0; i < CHUNKS_MAX; i++)
    if (!dl_csv_chunk_init(&csv->chunk[i], csv->header.names.n, delimiter))
      return false;
  return true;
}

enum dl_status dl_csv_open_stream(struct dl_csv **csv, FILE *f,
                                  const char *path, char delimiter,
                                  const struct dl_csv_tuning *tuning,
                                  struct dl_diag *d) {
  struct dl_csv *c = dl_calloc(1, sizeof *c);
  enum dl_status status;

  *csv = NULL;
  if (delimiter == 0)
    delimiter = ',';
  if (c == NULL) {
    dl_close_input(f);
    return dl_fail_memory(d);
  }
  c->f = f;
  if (tuning != NULL)
    c->tuning = *tuning;
  else
    default_tuning(&c->tuning);
  if (!prepare(c, path, delimiter))
    status = dl_fail_memory(d);
  else
    status = start_reading(c, d);
  if (status == DL_OK && !prepare_chunks(c, delimiter))
    status = dl_fail_memory(d);
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
                            delimiter, NULL, d);
}

void dl_csv_free(struct dl_csv *csv) {
  if (csv == NULL)
    return;
  for (size_t i = 0; i < CHUNKS_MAX; i++)
    dl_csv_chunk_free(&csv->chunk[i]);
  free(csv->buffer[0].data);
  free(csv->buffer[1].data);
  dl_csv_header_free(&csv->header);
  XXH3_freeState(csv->hash);
  dl_close_input(csv->f);
  free(csv->path);
  free(csv);
}

const char *dl_csv_path(const struct dl_csv *csv) {
  return csv->path;
}

size_t dl_csv_n_cols(const struct dl_csv *csv) {
  return csv->header.names.n;
}

const char *dl_csv_name(const struct dl_csv *csv, size_t col) {
  return csv->header.names.s[col];
}

long dl_csv_find(const struct dl_csv *csv, const char *name) {
  return dl_strlist_find(&csv->header.names, name);
}

/* Length of the text up to the end of its last row, 0 without one. A CR at the
 * very end does not count: a LF may follow it. */
static size_t whole_rows(const char *text, size_t len) {
  const char *lf = memrchr(text, '\n', len);
  size_t n = lf == NULL ? 0 : (size_t)(lf - text) + 1;
  const char *cr;

  if (len < n + 2)
    return n;
  cr = memrchr(text + n, '\r', len - n - 1);
  return cr == NULL ? n : (size_t)(cr - text) + 1;
}

/* Splits a text of whole rows. Returns the number of parts. */
static size_t split(const struct dl_csv *csv, const char *text, size_t len,
                    struct part part[CHUNKS_MAX]) {
  size_t most = len / csv->tuning.chunk_size, n = 0;

  if (most > CHUNKS_MAX)
    most = CHUNKS_MAX;
  while (len > 0) {
    size_t take = len;

    if (n + 1 < most)
      take = whole_rows(text, len / (most - n));
    if (take == 0)
      take = len;
    part[n].text = text;
    part[n].len = take;
    n++;
    text += take;
    len -= take;
  }
  return n;
}

/* Parses parts of the current buffer, one by a chunk, and fills the other one,
 * which becomes the current one. */
static void parse_parts(struct dl_csv *csv, const struct part *part, size_t n,
                        bool last) {
  struct buffer *other = &csv->buffer[1 - csv->current];
  bool quotes = csv->quotes;

#pragma omp parallel for schedule(dynamic, 1) num_threads(csv->tuning.n_threads)
  for (size_t i = 0; i <= n; i++) {
    if (i == 0 && !last)
      fill(csv, other, csv->tuning.block_size);
    else if (i > 0)
      dl_csv_chunk_parse(&csv->chunk[i - 1], part[i - 1].text, part[i - 1].len,
                         quotes, last && i == n);
  }
  csv->n_chunks = n;
  csv->next = 0;
  csv->current = 1 - csv->current;
  csv->start = 0;
  csv->done = last;
}

/* Parses the text without quotes up to the end of its last row. */
static enum dl_status parse_plain(struct dl_csv *csv, struct dl_diag *d) {
  struct buffer *b = &csv->buffer[csv->current];
  struct buffer *other = &csv->buffer[1 - csv->current];
  const char *text = b->data + csv->start;
  size_t len = b->len - csv->start, use, n;
  struct part part[CHUNKS_MAX];

  use = b->eof ? len : whole_rows(text, len);
  if (len - use > DL_CSV_ROW_MAX)
    return fail_too_long(csv, csv->line, d);
  if (use == 0 && !b->eof) {
    fill(csv, b, b->len * 2); /* and try again */
    return DL_OK;
  }
  other->len = len - use;
  if (!make_room(other, other->len + 1))
    return dl_fail_memory(d);
  memcpy(other->data, text + use, other->len);
  n = split(csv, text, use, part);
  for (size_t i = 0; i < n; i++) {
    csv->chunk[i].line = 0;
    csv->chunk[i].after_cr = i == 0 && csv->after_cr;
  }
  parse_parts(csv, part, n, b->eof);
  return DL_OK;
}

/* Parses all text, by the one chunk that knows what came before. */
static void parse_quoted(struct dl_csv *csv) {
  struct buffer *b = &csv->buffer[csv->current];
  struct part part = {b->data + csv->start, b->len - csv->start};

  csv->buffer[1 - csv->current].len = 0;
  parse_parts(csv, &part, 1, b->eof);
}

/* Parses the text that comes next. */
static enum dl_status parse_more(struct dl_csv *csv, struct dl_diag *d) {
  struct buffer *b = &csv->buffer[csv->current];
  size_t len = b->len - csv->start;
  enum dl_status status = check_read(csv, b, d);

  if (status != DL_OK)
    return status;
  if (!csv->quotes && memchr(b->data + csv->start, '"', len) != NULL) {
    csv->quotes = true;
    csv->chunk[0].line = csv->line;
    csv->chunk[0].after_cr = csv->after_cr;
  }
  if (!csv->quotes)
    return parse_plain(csv, d);
  parse_quoted(csv);
  return DL_OK;
}

/* Reports what was wrong in a chunk whose lines are counted from `line`. */
static enum dl_status report(struct dl_csv *csv, const struct dl_csv_chunk *c,
                             size_t line, struct dl_diag *d) {
  for (size_t i = 0; i < c->n_skips; i++) {
    const struct dl_csv_skip *s = &c->skip[i];

    if (s->n_fields == 0)
      dl_skip_at(d, csv->path, line + s->line, "NUL byte");
    else
      dl_skip_at(d, csv->path, line + s->line, "expected %zu fields, found %zu",
                 c->n_cols, s->n_fields);
  }
  line += c->error_line;
  switch (c->error) {
  case DL_CSV_FINE:
    return DL_OK;
  case DL_CSV_NO_MEMORY:
    return dl_fail_memory(d);
  case DL_CSV_ROW_TOO_LONG:
    return fail_too_long(csv, line, d);
  case DL_CSV_OPEN_QUOTE:
    return dl_fail_at(d, DL_EINPUT, csv->path, line, "quote not closed");
  }
  return DL_OK;
}

/* Makes a chunk the block that is handed out. */
static enum dl_status take_chunk(struct dl_csv *csv, struct dl_csv_chunk *c,
                                 struct dl_diag *d) {
  bool open_quote = c->error == DL_CSV_OPEN_QUOTE && c->n_rows > 0;
  size_t line = csv->quotes ? 0 : csv->line;
  enum dl_status status;

  if (open_quote)
    c->error = DL_CSV_FINE;
  status = report(csv, c, line, d);

  if (line > 0) {
    for (size_t i = 0; i < c->n_rows; i++)
      c->row_line[i] += line;
    csv->line += c->line;
    csv->after_cr = c->after_cr;
  }
  if (status == DL_OK)
    csv->n_rows += c->n_rows;
  csv->block.n_rows = c->n_rows;
  csv->block.n_cols = c->n_cols;
  csv->block.cell = c->cell;
  csv->block.line = c->row_line;
  if (open_quote) { /* the rows first, then this chunk once more */
    c->error = DL_CSV_OPEN_QUOTE;
    c->n_rows = c->n_skips = 0;
    csv->next--;
  }
  return status;
}

enum dl_status dl_csv_next(struct dl_csv *csv,
                           const struct dl_csv_block **block,
                           struct dl_diag *d) {
  *block = NULL;
  while (csv->status == DL_OK) {
    if (csv->next < csv->n_chunks) {
      csv->status = take_chunk(csv, &csv->chunk[csv->next++], d);
      if (csv->status == DL_OK && csv->block.n_rows > 0) {
        *block = &csv->block;
        break;
      }
    } else if (csv->done) {
      break;
    } else {
      csv->status = parse_more(csv, d);
    }
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
  return csv->done && csv->next == csv->n_chunks;
}

size_t dl_csv_expected_rows(const struct dl_csv *csv) {
  struct stat st;
  if (fstat(fileno(csv->f), &st) != 0 || !S_ISREG(st.st_mode))
    return 0;
  double share = (double)csv->tuning.chunk_size / (double)(st.st_size + 1);
  return share < 1 ? (size_t)((double)csv->block.n_rows / share * 1.02) : 0;
}
