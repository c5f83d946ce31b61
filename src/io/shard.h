/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of an input, for work that several processes share.
 *
 * The parts 0 .. count - 1 of an input are disjoint and add up to the whole,
 * for any count, also above the number of items. */

#ifndef DL_IO_SHARD_H
#define DL_IO_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DL_MOST_SHARDS = 1000000 };

/* Starts as zero bytes: the whole input. */
struct dl_shard {
  size_t index; /* from 0 */
  size_t count; /* 0: the whole */
};

/* Whether an item with this number, or hash, is in the part: its remainder is
 * `index`. */
bool dl_shard_takes(const struct dl_shard *s, uint64_t number);

/* Computes the part [*first, *end) of n items in their order. */
void dl_shard_range(const struct dl_shard *s, size_t n, size_t *first,
                    size_t *end);

#endif
