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

/* A longer line is reported and left out. */
#define DL_LINE_MAX ((size_t)64 * 1024)

struct dl_lines;

struct dl_line {
  char *s; /* without its end, NUL-terminated; may be changed; lives until
              the next call. NULL: the text is at its end */
  size_t len;
  size_t number; /* in the file, from 1 */
  bool ended;    /* a line end followed: false on a last line only */
};

/* Opens a file ("-": stdin) and reads its beginning. */
enum dl_status dl_lines_open(struct dl_lines **l, const char *path,
                             struct dl_diag *d);
void dl_lines_free(struct dl_lines *l);

/* "<stdin>" for "-". */
const char *dl_lines_path(const struct dl_lines *l);

/* The first 16 KiB of the text, or all of a shorter one, NUL-terminated. Valid
 * before dl_lines_next only. */
const char *dl_lines_head(const struct dl_lines *l, size_t *len);

/* The next line. Lines with a NUL byte or longer than DL_LINE_MAX are
 * reported (dl_skip_at) and left out. */
enum dl_status dl_lines_next(struct dl_lines *l, struct dl_line *line,
                             struct dl_diag *d);

/* Bytes read from the file so far. */
size_t dl_lines_bytes(const struct dl_lines *l);

/* The number of the last line that the stream gave, where no line end followed
 * it; else 0. */
size_t dl_lines_cut(const struct dl_lines *l);

/* The whole text from its beginning as a stream, in place of
 * dl_lines_next; NULL: out of memory. The stream is the caller's to close,
 * before dl_lines_free. */
FILE *dl_lines_stream(struct dl_lines *l);

#endif
