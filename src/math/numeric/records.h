/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of equal size to small numbers: each distinct record gets the next
 * number. A hash table. */

#ifndef DL_MATH_NUMERIC_RECORDS_H
#define DL_MATH_NUMERIC_RECORDS_H

#include <stddef.h>

/* Start from {.size = bytes of a record}. */
struct dl_records {
  size_t size;
  char *record; /* n of them by number, owned */
  size_t n, cap;
  size_t *slot; /* open addressing: number + 1, or 0 */
  size_t n_slots;
};

/* Number of a record, entering a copy if it is new. Records are equal if their
 * bytes are. */
size_t dl_records_add(struct dl_records *t, const void *record);

/* Record i, borrowed until one is added. */
static inline void *dl_records_at(const struct dl_records *t, size_t i) {
  return t->record + i * t->size;
}

void dl_records_free(struct dl_records *t);

#endif
