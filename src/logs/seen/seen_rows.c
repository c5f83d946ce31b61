/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of hashes. */

#include "logs/seen/seen_rows.h"

#include <stdlib.h>

#include "base/memory.h"

enum { SLOTS_MIN = 1024 };

/* The hash function is FNV-1a. */
uint64_t dl_seen_hash(uint64_t hash, const void *bytes, size_t n) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ b[i]) * UINT64_C(1099511628211);
  return hash;
}

/* Returns the slot that holds a hash, or the free slot for it. */
static size_t find(const uint64_t *slot, size_t n_slots, uint64_t hash) {
  size_t i = (hash ^ hash >> 32) & (n_slots - 1);
  while (slot[i] != 0 && slot[i] != hash)
    i = (i + 1) & (n_slots - 1);
  return i;
}

bool dl_seen_has(const struct dl_seen_rows *s, uint64_t hash) {
  return s->n_slots > 0 && s->slot[find(s->slot, s->n_slots, hash)] != 0;
}

void dl_seen_add(struct dl_seen_rows *s, uint64_t hash) {
  if (2 * (s->n + 1) > s->n_slots) {
    size_t n_slots = s->n_slots > 0 ? 2 * s->n_slots : SLOTS_MIN;
    uint64_t *slot = dl_calloc(n_slots, sizeof *slot);
    for (size_t i = 0; i < s->n_slots; i++)
      if (s->slot[i] != 0)
        slot[find(slot, n_slots, s->slot[i])] = s->slot[i];
    free(s->slot);
    s->slot = slot;
    s->n_slots = n_slots;
  }
  size_t at = find(s->slot, s->n_slots, hash);
  s->n += s->slot[at] == 0;
  s->slot[at] = hash;
}
