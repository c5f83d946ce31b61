/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/numeric/records.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"

/* Slot where a record is, or where it would go. */
static size_t *find_slot(const struct dl_records *t, const void *record) {
  size_t i = (size_t)XXH3_64bits(record, t->size) & (t->n_slots - 1);
  while (t->slot[i] &&
         memcmp(dl_records_at(t, t->slot[i] - 1), record, t->size) != 0)
    i = (i + 1) & (t->n_slots - 1);
  return &t->slot[i];
}

static void widen(struct dl_records *t) {
  size_t n = t->n_slots ? 2 * t->n_slots : 32;
  size_t *slots = dl_calloc(n, sizeof *slots);
  free(t->slot);
  t->slot = slots;
  t->n_slots = n;
  for (size_t i = 0; i < t->n; i++)
    *find_slot(t, dl_records_at(t, i)) = i + 1;
}

size_t dl_records_add(struct dl_records *t, const void *record) {
  if (2 * (t->n + 1) > t->n_slots)
    widen(t);
  size_t *slot = find_slot(t, record);
  if (*slot == 0) {
    t->record = dl_grown(t->record, &t->cap, t->n + 1, t->size);
    memcpy(dl_records_at(t, t->n), record, t->size);
    *slot = ++t->n;
  }
  return *slot - 1;
}

void dl_records_free(struct dl_records *t) {
  free(t->record);
  free(t->slot);
  *t = (struct dl_records){0};
}
