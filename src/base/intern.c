/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Slot where s is, or where it would go. The hash is FNV-1a: keys are short,
 * and hostile ones would only slow the table. */
static size_t *find_slot(const struct dl_intern *t, const char *s) {
  uint64_t h = 14695981039346656037u;
  for (const char *p = s; *p; p++)
    h = (h ^ (unsigned char)*p) * 1099511628211u;
  size_t i = (size_t)(h ^ (h >> 32)) & (t->n_slots - 1);
  while (t->slot[i] && strcmp(t->s[t->slot[i] - 1], s) != 0)
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

long dl_intern_find(const struct dl_intern *t, const char *s) {
  if (t->n_slots == 0)
    return -1;
  return (long)*find_slot(t, s) - 1;
}

long dl_intern(struct dl_intern *t, const char *s) {
  long found = dl_intern_find(t, s);
  if (found >= 0)
    return found;
  if (2 * (t->n + 1) > t->n_slots)
    widen(t);
  DL_GROW(t->s, t->cap, t->n + 1);
  t->s[t->n++] = dl_strdup(s);
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
