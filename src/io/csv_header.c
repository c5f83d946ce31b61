/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/csv_header.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void on_name(void *s, size_t len, void *data) {
  struct dl_csv_header *h = data;

  (void)len;
  if (!dl_strlist_add(&h->names, s))
    h->failed = true;
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

static bool is_control(char c) {
  return ((unsigned char)c < 32 && strchr("\t\n\r", c) == NULL) || c == '\0' ||
         c == 127;
}

size_t dl_csv_header_read(struct dl_csv_header *h, struct csv_parser *parser,
                          const char *text, size_t len) {
  size_t i;

  /* libcsv does not say where a row ends, hence byte by byte. */
  for (i = 0; i < len && !h->done; i++) {
    h->binary = h->binary || is_control(text[i]);
    count_line(h, text[i]);
    if (csv_parse(parser, text + i, 1, on_name, on_header, h) != 1)
      h->failed = true;
    h->last_byte = text[i];
  }
  h->n_bytes += i;
  return i;
}

bool dl_csv_header_end(struct dl_csv_header *h, struct csv_parser *parser) {
  csv_set_opts(parser, CSV_APPEND_NULL | CSV_STRICT | CSV_STRICT_FINI);
  return csv_fini(parser, on_name, on_header, h) == 0;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A name that is there twice, or NULL. *failed when memory is out. */
static const char *find_duplicate(const struct dl_strlist *names,
                                  bool *failed) {
  char **sorted = dl_calloc(names->n, sizeof *sorted);
  const char *found = NULL;

  *failed = sorted == NULL;
  if (sorted == NULL)
    return NULL;
  memcpy(sorted, names->s, names->n * sizeof *sorted);
  qsort(sorted, names->n, sizeof *sorted, compare_names);
  for (size_t i = 1; i < names->n && found == NULL; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0)
      found = sorted[i];
  free(sorted);
  return found;
}

enum dl_status dl_csv_header_check(const struct dl_csv_header *h,
                                   const char *path, struct dl_diag *d) {
  const char *twice;
  bool failed;

  if (h->names.n == 0)
    return dl_fail_at(d, DL_EINPUT, path, 0, "no header");
  for (size_t i = 0; i < h->names.n; i++)
    if (h->names.s[i][0] == '\0')
      return dl_fail_at(d, DL_EINPUT, path, h->name_line,
                        "column %zu has no name", i + 1);
  twice = find_duplicate(&h->names, &failed);
  if (failed)
    return dl_fail_memory(d);
  if (twice != NULL)
    return dl_fail_at(d, DL_EINPUT, path, h->name_line, "duplicate column '%s'",
                      twice);
  return DL_OK;
}

bool dl_csv_looks_binary(const char *data, size_t len) {
  size_t n = len < DL_CSV_LOOK_SIZE ? len : DL_CSV_LOOK_SIZE;

  for (size_t i = 0; i < n; i++)
    if (data[i] > 0 && data[i] < 32 && strchr("\t\n\f\r", data[i]) == NULL)
      return true;
  return false;
}
