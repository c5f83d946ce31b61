/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading text by lines, in constant memory and without copying.
 *
 * LF, CRLF and a UTF-8 byte order mark are accepted. Compressed, UTF-16 and
 * binary files are refused with a hint. */

#ifndef DL_IO_LINES_H
#define DL_IO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"

/* A longer line is reported and skipped. */
#define DL_LINE_MAX ((size_t)64 * 1024)

/* Text being read; callers read `path` and `bytes` alone. */
struct dl_lines {
  char *path;   /* "<stdin>" for "-"; owned */
  size_t bytes; /* read from the file so far */

  /* Private. */
  FILE *f;
  char *data; /* the buffer, with room for the NUL of a last line */
  size_t start, len;
  size_t stop;   /* of the whole lines that dl_lines_next hands out */
  size_t number; /* of the last line */
  bool eof, too_long;
  char last_byte;  /* that the stream gave */
  size_t replayed; /* of the head, by the stream */
};

struct dl_line {
  char *s; /* without its end, NUL-terminated; may be changed; lives until
              the next call. NULL: the text is at its end */
  size_t len;
  size_t number; /* in the file, from 1 */
  bool ended;    /* a line end followed: false on a last line only */
};

/* If the beginning of a file is no plain text, tells what it is and what to do:
 * "compressed; pass it through zcat". Returns NULL otherwise. */
const char *dl_not_plain_text(const char *data, size_t len);

/* Opens a file ("-": stdin) and reads its beginning. */
enum dl_status dl_lines_open(struct dl_lines **l, const char *path,
                             struct dl_diag *d);
void dl_lines_free(struct dl_lines *l);

/* Reads a text in place of the rest of the file. */
enum dl_status dl_lines_read_text(struct dl_lines *l, const char *text,
                                  size_t len, struct dl_diag *d);

/* Returns the first 16 KiB of the text, or all of a shorter one,
 * NUL-terminated. It is valid before dl_lines_next only. */
const char *dl_lines_head(const struct dl_lines *l, size_t *len);

/* Reads the next line. Lines with a NUL byte or longer than DL_LINE_MAX are
 * reported (dl_skip_at) and skipped. */
enum dl_status dl_lines_next(struct dl_lines *l, struct dl_line *line,
                             struct dl_diag *d);

/* Lines with their ends, one after the other, to be split by several threads.
 * Starts as zero bytes; s is owned. */
struct dl_lines_block {
  char *s;
  size_t len, cap; /* there is room for one byte behind len */
  size_t first;    /* number of the first line */
  bool last;       /* the text ends here; its last line may lack an end */
};

/* Appends whole lines until the block has `want` bytes, the text ends or a line
 * is skipped, so that no line between the lines of a block is missing. It is
 * used in place of dl_lines_next; dl_lines_split refuses lines that have a NUL
 * byte or are too long. */
enum dl_status dl_lines_take(struct dl_lines *l, struct dl_lines_block *b,
                             size_t want, struct dl_diag *d);

/* Takes the next line out of *s .. end, and reports lines that it skips, as
 * dl_lines_next does; line->number holds the number of the line before. Returns
 * false at the end. */
bool dl_lines_split(const char *path, char **s, char *end, struct dl_line *line,
                    struct dl_diag *d);

/* Whether the end of a last line without a line end is complete: it equals the
 * end of a line above, or has the form of both: equal words, and as many
 * decimals and last digits. `other` may be NULL, or belong to a header. */
bool dl_ends_like(const char *s, const char *above, const char *other);

/* The last lines above one, if they are short. Starts as zero bytes. */
enum { DL_ABOVE = 2, DL_ABOVE_MOST = 512 };
typedef char dl_lines_above[DL_ABOVE][DL_ABOVE_MOST]; /* the newest first; "":
                                                         unknown */

/* Remembers a line; call it before the line is changed. */
void dl_lines_above_add(dl_lines_above a, const char *s, size_t len);

/* Returns the last field of a line, behind the last comma, semicolon, bar or
 * tab, else blank. */
const char *dl_last_field(const char *s);

/* Whether a last line without an end has as many fields as the lines above it,
 * and its last field ends like theirs (dl_ends_like). */
bool dl_line_is_whole(dl_lines_above a, const char *s);

/* Returns the number of the last line that the stream gave, if no line end
 * followed it; else 0. */
size_t dl_lines_cut(const struct dl_lines *l);

/* Returns the whole text from its beginning as a stream, in place of
 * dl_lines_next. The caller closes it, before dl_lines_free. */
FILE *dl_lines_stream(struct dl_lines *l);

#endif
