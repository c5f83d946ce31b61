/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names/intern.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"

static size_t size_of(const struct dl_intern *t, const char *s) {
  return t->size > 0 ? t->size : strlen(s) + 1;
}

/* Finds the slot where s is, or where it would go. */
static size_t *find_slot(const struct dl_intern *t, const char *s) {
  size_t n = size_of(t, s), i = (size_t)dl_hash_bytes(s, n) & (t->n_slots - 1);
  while (t->slot[i] && (t->size > 0 ? memcmp(t->s[t->slot[i] - 1], s, n)
                                    : strcmp(t->s[t->slot[i] - 1], s)) != 0)
    i = (i + 1) & (t->n_slots - 1);
  return &t->slot[i];
}

static void widen(struct dl_intern *t) {
  size_t n = t->n_slots ? 2 * t->n_slots : 32;
  size_t *slots = dl_calloc(n, sizeof *slots);
  free(t->slot);
  t->slot = slots;
  t->n_slots = n;
  for (size_t i = 0; i < t->n; i++)
    *find_slot(t, t->s[i]) = i + 1;
}

long dl_intern_find(const struct dl_intern *t, const void *s) {
  if (t->n_slots == 0)
    return -1;
  return (long)*find_slot(t, s) - 1;
}

long dl_intern(struct dl_intern *t, const void *s) {
  long found = dl_intern_find(t, s);
  if (found >= 0)
    return found;
  if (2 * (t->n + 1) > t->n_slots)
    widen(t);
  DL_GROW(t->s, t->cap, t->n + 1);
  size_t size = size_of(t, s);
  t->s[t->n++] = memcpy(dl_malloc(size), s, size);
  *find_slot(t, s) = t->n;
  return (long)t->n - 1;
}

void dl_intern_free(struct dl_intern *t) {
  for (size_t i = 0; i < t->n; i++)
    free(t->s[i]);
  free(t->s);
  free(t->slot);
  *t = (struct dl_intern){0};
}

uint64_t dl_hash_bytes(const void *bytes, size_t n) {
  return XXH3_64bits(bytes, n);
}
