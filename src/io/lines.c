/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/portable.h"

/* The size of dl_lines.data: the longest line fits, and one read brings many
 * lines. */
#define BUFFER_SIZE ((size_t)120 * 1024)

/* This many bytes are enough to recognise a format. No more is read at first,
 * so that probing many files is quick. */
#define HEAD_SIZE ((size_t)16 * 1024)

/* Reads once more; a pipe gives what it has. */
static enum dl_status fill(struct dl_lines *l, size_t most, struct dl_diag *d) {
  ssize_t n;
  do
    n = read(fileno(l->f), l->data + l->len, most - l->len);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return dl_fail_errno(d, l->path, "cannot read", errno);
  l->len += (size_t)n;
  l->bytes += (size_t)n;
  l->eof = n == 0;
  l->data[l->len] = '\0';
  return DL_OK;
}

static size_t count_lines(const char *s, size_t len) {
  size_t n = 0;
  for (const char *end = s + len; s < end; n++) {
    s = memchr(s, '\n', (size_t)(end - s));
    if (!s)
      return n;
    s++;
  }
  return n;
}

const char *dl_not_plain_text(const char *data, size_t len) {
  static const char *const first_bytes_and_meaning[][2] = {
      {"\x1f\x8b", "compressed; pass it through zcat"},
      {"BZh", "compressed; pass it through bzcat"},
      {"\xfd"
       "7zXZ",
       "compressed; pass it through xzcat"},
      {"\x28\xb5\x2f\xfd", "compressed; pass it through zstdcat"},
      {"PK\x03\x04",
       "a ZIP archive or a workbook (.xlsx); unpack it, or save it as CSV"},
      {"PAR1", "a Parquet file; write it as CSV"},
      {"\x89HDF", "an HDF5 file; write it as CSV"},
      {"\x93NUMPY", "a NumPy array; write it with numpy.savetxt"},
      {"SQLite format 3", "an SQLite database; write the table as CSV"},
      {":W&B", "a file of Weights & Biases; export the run's history as CSV"},
      {"%PDF", "a PDF file"},
      {"\xff\xfe", "UTF-16 text; pass it through iconv -f utf-16"},
      {"\xfe\xff", "UTF-16 text; pass it through iconv -f utf-16"},
  };
  for (size_t i = 0; i < DL_LENGTH(first_bytes_and_meaning); i++) {
    const char *bytes = first_bytes_and_meaning[i][0];
    size_t n = strlen(bytes);
    if (len >= n && memcmp(data, bytes, n) == 0)
      return first_bytes_and_meaning[i][1];
  }
  return NULL;
}

/* Refuses a file that is no text. */
static enum dl_status check_text(struct dl_lines *l, struct dl_diag *d) {
  const char *what = dl_not_plain_text(l->data, l->len);
  if (what)
    return dl_fail_at(d, DL_EINPUT, l->path, 0, "%s", what);
  size_t n = l->len < 64 ? l->len : 64;
  if (n > 3 && l->data[0] > ' ' && l->data[1] == '\0' && l->data[2] > ' ' &&
      l->data[3] == '\0')
    return dl_fail_at(d, DL_EINPUT, l->path, 0,
                      "UTF-16 text; pass it through iconv -f utf-16le");
  if (memmem(l->data, n, "brain.Event:", 12))
    return dl_fail_at(d, DL_EINPUT, l->path, 0,
                      "events of TensorBoard; export the scalars as CSV");
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)l->data[i] < 32 &&
        (l->data[i] == '\0' || !strchr("\t\n\f\r", l->data[i])))
      return dl_fail_at(d, DL_EINPUT, l->path, 0, "not a text file");
  if (l->len >= 3 && memcmp(l->data, "\xEF\xBB\xBF", 3) == 0)
    l->start = 3;
  return l->len == l->start ? dl_fail_at(d, DL_EINPUT, l->path, 0, "empty file")
                            : DL_OK;
}

/* Fills the buffer from the start of l->f. A pipe is read on, too: its pieces
 * must not decide what is recognised. */
static enum dl_status read_head(struct dl_lines *l, struct dl_diag *d) {
  do
    DL_TRY(fill(l, HEAD_SIZE, d));
  while (!l->eof && l->len < HEAD_SIZE);
  return check_text(l, d);
}

enum dl_status dl_lines_open(struct dl_lines **out, const char *path,
                             struct dl_diag *d) {
  FILE *f;
  *out = NULL;
  enum dl_status status = dl_open_input(&f, path, d);
  if (status != DL_OK)
    return status;
  struct dl_lines *l = dl_calloc(1, sizeof *l);
  l->f = f;
  l->path = dl_strdup(dl_input_name(path));
  l->data = dl_malloc(BUFFER_SIZE + 1);
  status = read_head(l, d);
  if (status != DL_OK) {
    dl_lines_free(l);
    return status;
  }
  posix_fadvise(fileno(f), 0, 0, POSIX_FADV_SEQUENTIAL);
  *out = l;
  return DL_OK;
}

enum dl_status dl_lines_read_text(struct dl_lines *l, const char *text,
                                  size_t len, struct dl_diag *d) {
  FILE *f = tmpfile();
  if (!f)
    return dl_fail_errno(d, l->path, "cannot make a temporary file", errno);
  bool written = fwrite(text, 1, len, f) == len && fflush(f) == 0;
  dl_close_input(l->f);
  l->f = f;
  l->start = l->len = l->stop = l->number = 0;
  l->eof = l->too_long = false;
  if (!written || fseek(f, 0, SEEK_SET) != 0)
    return dl_fail_errno(d, l->path, "cannot write a temporary file", errno);
  return read_head(l, d);
}

void dl_lines_free(struct dl_lines *l) {
  if (!l)
    return;
  dl_close_input(l->f);
  free(l->data);
  free(l->path);
  free(l);
}

const char *dl_lines_head(const struct dl_lines *l, size_t *len) {
  *len = l->len - l->start;
  return l->data + l->start;
}

/* Reads on until whole lines begin at l->start, and returns their bytes: 0 at
 * the end of the text, whose last line may lack its end. A line that fills the
 * buffer is reported and left out. */
static enum dl_status whole_lines(struct dl_lines *l, size_t *n,
                                  struct dl_diag *d) {
  for (;;) {
    char *from = l->data + l->start;
    size_t left = l->len - l->start;
    const char *end =
        l->too_long ? memchr(from, '\n', left) : dl_last_byte(from, '\n', left);
    *n = end ? (size_t)(end + 1 - from) : left;
    if ((end || l->eof) && !l->too_long)
      return DL_OK;
    if (end || l->eof) { /* the rest of such a line */
      l->start += *n;
      l->number++;
      l->too_long = false;
      continue;
    }
    if (left > DL_LINE_MAX + 1 && !l->too_long) { /* not even a CR is missing */
      dl_skip_at(d, l->path, l->number + 1, "line longer than %zu KiB",
                 DL_LINE_MAX / 1024);
      l->too_long = true;
    }
    l->len = l->too_long ? 0 : left;
    memmove(l->data, from, l->len);
    l->start = l->stop = 0;
    DL_TRY(fill(l, BUFFER_SIZE, d));
  }
}

bool dl_lines_split(const char *path, char **at, char *end,
                    struct dl_line *line, struct dl_diag *d) {
  while (*at < end) {
    char *s = *at, *stop = memchr(s, '\n', (size_t)(end - s));
    line->ended = stop != NULL;
    if (!stop)
      stop = end;
    *at = stop + line->ended;
    line->s = s;
    line->len = (size_t)(stop - s) - (stop > s && stop[-1] == '\r');
    line->number++;
    s[line->len] = '\0';
    if (line->len > DL_LINE_MAX)
      dl_skip_at(d, path, line->number, "line longer than %zu KiB",
                 DL_LINE_MAX / 1024);
    else if (memchr(s, '\0', line->len))
      dl_skip_at(d, path, line->number, "NUL byte");
    else
      return true;
  }
  return false;
}

enum dl_status dl_lines_take(struct dl_lines *l, struct dl_lines_block *b,
                             size_t want, struct dl_diag *d) {
  while (b->len < want) {
    size_t n, before = l->number;
    DL_TRY(whole_lines(l, &n, d));
    b->last = n == 0;
    /* Lines of a block follow each other: none between them was left out. */
    if (n == 0 || (b->len > 0 && l->number > before))
      break;
    DL_GROW(b->s, b->cap, b->len + n + 1);
    if (b->len == 0)
      b->first = l->number + 1;
    memcpy(b->s + b->len, l->data + l->start, n);
    b->len += n;
    l->number += count_lines(l->data + l->start, n);
    l->start += n;
  }
  return DL_OK;
}

enum dl_status dl_lines_next(struct dl_lines *l, struct dl_line *line,
                             struct dl_diag *d) {
  *line = (struct dl_line){0};
  for (;;) {
    char *at = l->data + l->start;
    line->number = l->number;
    bool found = dl_lines_split(l->path, &at, l->data + l->stop, line, d);
    l->start = (size_t)(at - l->data);
    l->number = line->number;
    if (found)
      return DL_OK;
    size_t n;
    DL_TRY(whole_lines(l, &n, d));
    if (n == 0) {
      line->s = NULL;
      return DL_OK;
    }
    l->stop = l->start + n;
  }
}

/* Whether two texts are equal but for the digits. Numbers before a point or a
 * word may differ in length, those behind a point or at the end may not. */
static bool same_form(const char *a, const char *b) {
  bool decimals = false;
  while (*a != '\0' || *b != '\0') {
    size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
    if ((n == 0) != (m == 0))
      return false;
    bool fixed = decimals || a[n] == '\0' || b[m] == '\0';
    if (fixed && n != m)
      return false;
    a += n;
    b += m;
    if (*a != *b)
      return false;
    decimals = *a == '.';
    a += *a != '\0';
    b += *b != '\0';
  }
  return true;
}

bool dl_ends_like(const char *s, const char *above, const char *other) {
  if (strcmp(s, above) == 0 || (other && strcmp(s, other) == 0))
    return true;
  bool is_name = other && !strpbrk(other, "0123456789"); /* of a header */
  return strpbrk(s, "0123456789") && same_form(s, above) &&
         (!other || is_name || same_form(s, other));
}

void dl_lines_above_add(dl_lines_above a, const char *s, size_t len) {
  memcpy(a[1], a[0], strlen(a[0]) + 1);
  len = len < DL_ABOVE_MOST ? len : 0;
  memcpy(a[0], s, len);
  a[0][len] = '\0';
}

static const char *separators_of(const char *s) {
  return strpbrk(s, ",;|\t") ? ",;|\t" : " ";
}

const char *dl_last_field(const char *s) {
  const char *separators = separators_of(s), *last = s;
  for (; *s != '\0'; s++)
    if (strchr(separators, *s))
      last = s + 1;
  return last + strspn(last, " \t");
}

static size_t count_fields(const char *s) {
  const char *separators = separators_of(s);
  size_t n = 0;
  for (bool within = false; *s != '\0'; s++) {
    bool ends = strchr(separators, *s) != NULL;
    n += ends && (within || *s != ' ');
    within = !ends;
  }
  return n;
}

bool dl_line_is_whole(dl_lines_above a, const char *s) {
  size_t n = count_fields(s);
  const char *other = a[1][0] == '\0' ? NULL : a[1];
  if (a[0][0] == '\0' || count_fields(a[0]) != n)
    return false;
  if (other && count_fields(other) != n)
    other = NULL; /* a header, or a line of another kind */
  return dl_ends_like(dl_last_field(s), dl_last_field(a[0]),
                      other ? dl_last_field(other) : NULL);
}

size_t dl_lines_cut(const struct dl_lines *l) {
  return l->last_byte == '\n' || l->last_byte == '\r' ? 0 : l->number + 1;
}

/* Gives the head once more, then the rest of the file. */
static ssize_t replay(void *cookie, char *buf, size_t size) {
  struct dl_lines *l = cookie;
  size_t left = l->len - l->replayed;
  if (size == 0)
    return 0;
  if (left == 0) {
    ssize_t n = read(fileno(l->f), buf, size);
    if (n > 0) {
      l->bytes += (size_t)n;
      l->last_byte = buf[n - 1];
      l->number += count_lines(buf, (size_t)n);
    }
    return n;
  }
  if (size > left)
    size = left;
  memcpy(buf, l->data + l->replayed, size);
  l->last_byte = buf[size - 1];
  l->number += count_lines(buf, size);
  l->replayed += size;
  return (ssize_t)size;
}

FILE *dl_lines_stream(struct dl_lines *l) {
  l->replayed = l->start;
  FILE *f = dl_stream(l, replay, NULL);
  if (!f)
    dl_end_without_memory();
  return f;
}
