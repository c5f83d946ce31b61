/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strings to small numbers: each distinct string gets the next number. A hash
 * table. */

#ifndef DL_BASE_INTERN_H
#define DL_BASE_INTERN_H

#include <stddef.h>

/* Start from {0}. */
struct dl_intern {
  char **s; /* the distinct strings by number, owned */
  size_t n;
  size_t cap;
  size_t *slot; /* open addressing: number + 1, or 0 */
  size_t n_slots;
};

/* Number of s, entering a copy if it is new; 0 or more. */
long dl_intern(struct dl_intern *t, const char *s);

/* Number of s, or -1 if it is not there. */
long dl_intern_find(const struct dl_intern *t, const char *s);

void dl_intern_free(struct dl_intern *t);

#endif
