/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libcsv, or without it (configure --without-libcsv) the part of it that dlest
 * uses, under the names of libcsv. */

#ifndef DL_IO_CSV_PARSER_H
#define DL_IO_CSV_PARSER_H

#ifndef DL_OWN_CSV
#include <csv.h>
#define DL_CSV_PARSER "libcsv"
#else
#include <stdbool.h>
#include <stddef.h>

/* The version of libcsv whose results are the same. */
enum { CSV_MAJOR = 3, CSV_MINOR = 0, CSV_RELEASE = 3 };
#define DL_CSV_PARSER "built-in CSV parser as libcsv"

/* Options: an open quote at the end is an error (both of the strict ones);
 * line ends of blank lines are reported; fields end with NUL (always). */
enum {
  CSV_STRICT = 1,
  CSV_REPALL_NL = 2,
  CSV_STRICT_FINI = 4,
  CSV_APPEND_NULL = 8
};

struct csv_parser {
  enum { ROW_NOT_BEGUN, FIELD_NOT_BEGUN, FIELD_BEGUN, FIELD_MIGHT_END } state;
  bool quoted;
  unsigned char delim, options;
  size_t spaces; /* last bytes of the field that are blanks */
  char *entry;   /* the field so far */
  size_t entry_pos, entry_size, block_size;
  void *(*realloc)(void *, size_t);
};

/* Functions for a field and for the end of a row: the byte there, or -1. */
typedef void csv_on_field(void *s, size_t len, void *data);
typedef void csv_on_row(int end, void *data);

int csv_init(struct csv_parser *p, unsigned char options);
void csv_free(struct csv_parser *p);
int csv_set_opts(struct csv_parser *p, unsigned char options);
void csv_set_delim(struct csv_parser *p, unsigned char c);
unsigned char csv_get_delim(struct csv_parser *p);
void csv_set_realloc_func(struct csv_parser *p, void *(*f)(void *, size_t));
void csv_set_blk_size(struct csv_parser *p, size_t size);
size_t csv_parse(struct csv_parser *p, const void *s, size_t len,
                 csv_on_field *on_field, csv_on_row *on_row, void *data);
int csv_fini(struct csv_parser *p, csv_on_field *on_field, csv_on_row *on_row,
             void *data);
#endif

#endif
