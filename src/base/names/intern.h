/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table that maps strings, or records of equal size, to small numbers:
 * each distinct one gets the next number. */

#ifndef DL_BASE_NAMES_INTERN_H
#define DL_BASE_NAMES_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}, or for records as {.size = bytes of one}. */
struct dl_intern {
  size_t size; /* 0: strings */
  char **s; /* the distinct ones by number, owned; they stay where they are */
  size_t n;
  size_t cap;
  size_t *slot; /* open addressing: number + 1, or 0 */
  size_t n_slots;
};

/* Returns the number of s, 0 or more, and enters a copy if it is new. Records
 * are equal if their bytes are. */
long dl_intern(struct dl_intern *t, const void *s);

/* Returns the number of s, or -1 if it is not there. */
long dl_intern_find(const struct dl_intern *t, const void *s);

void dl_intern_free(struct dl_intern *t);

/* Returns the hash (XXH3) of n bytes. Different bytes almost never have equal
 * hashes. */
uint64_t dl_hash_bytes(const void *bytes, size_t n);

#endif
