/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/shard.h"

bool dl_shard_takes(const struct dl_shard *s, uint64_t number) {
  return s->count == 0 || number % s->count == s->index;
}

/* Computes floor(n * i / count) without the product, which may overflow. */
static size_t bound(size_t n, size_t i, size_t count) {
  return n / count * i +
         (size_t)((double)(n % count) * (double)i / (double)count);
}

void dl_shard_range(const struct dl_shard *s, size_t n, size_t *first,
                    size_t *end) {
  *first = s->count == 0 ? 0 : bound(n, s->index, s->count);
  *end = s->count == 0 ? n : bound(n, s->index + 1, s->count);
}
