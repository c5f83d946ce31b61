/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line without a quote, where no earlier quote is open, is a row. libcsv
 * decides on all others, as it does when the rows are read. */

#include "io/csv_seam.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_SIZE ((size_t)1 << 20)

static void on_row(int end, void *ctx) {
  struct dl_csv_seam *s = ctx;
  (void)end;
  s->ended = true;
}

/* Reads a line that may be a later header as a row. */
static void look_for_header(struct dl_csv_seam *s, const char *text, size_t n) {
  for (const char *cell = text; cell;
       cell =
           memchr(cell, csv_get_delim(&s->parser), (size_t)(text + n - cell))) {
    cell += cell > text;
    while (dl_csv_is_blank(*cell))
      cell++;
    if (dl_csv_begins_number(cell))
      return;
  }
  dl_csv_rows_parse(s->rows, text, n);
}

/* Takes a line of n bytes, or the beginning of one. Returns true if a row ends
 * with it. */
static bool take_line(struct dl_csv_seam *s, const char *text, size_t n) {
  bool whole = n > 0 && text[n - 1] == '\n';
  s->offset += (off_t)n;
  s->line += whole;
  if (whole && !s->parsing && !memchr(text, '"', n)) {
    if (s->rows)
      look_for_header(s, text, n);
    return true;
  }
  csv_parse(&s->parser, text, whole ? n - 1 : n, NULL, on_row, s);
  s->ended = false; /* by a CR within the line: not looked for */
  if (whole)
    csv_parse(&s->parser, "\n", 1, NULL, on_row, s);
  s->parsing = !s->ended;
  return s->ended;
}

/* Finds the first seam in a block that is not before `least`. */
static bool search_block(struct dl_csv_seam *s, const char *text, size_t len,
                         off_t least) {
  for (const char *end = text + len; text < end;) {
    const char *lf = memchr(text, '\n', (size_t)(end - text));
    size_t n = (size_t)((lf ? lf + 1 : end) - text);
    if (take_line(s, text, n) && s->offset >= least)
      return true;
    text += n;
  }
  return false;
}

enum dl_status dl_csv_seam_find(struct dl_csv_seam *seam, FILE *f,
                                const char *path, unsigned char delimiter,
                                off_t least, struct dl_diag *d) {
  if (seam->offset >= least)
    return DL_OK;
  DL_FREED char *text = dl_malloc(BLOCK_SIZE);
  seam->parsing = seam->ended = false;
  csv_init(&seam->parser, CSV_REPALL_NL);
  csv_set_delim(&seam->parser, delimiter);
  csv_set_realloc_func(&seam->parser, dl_realloc);
  bool found = false;
  enum dl_status status = DL_OK;
  size_t len = 1;
  if (fseeko(f, seam->offset, SEEK_SET) != 0)
    status = dl_fail_errno(d, path, "cannot seek", errno);
  while (status == DL_OK && !found && len > 0) {
    len = fread(text, 1, BLOCK_SIZE, f);
    found = search_block(seam, text, len, least);
    if (len == 0 && ferror(f))
      status = dl_fail_errno(d, path, "cannot read", errno);
  }
  csv_free(&seam->parser);
  return status;
}
