/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/seen/seen_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_seen_times_free(struct dl_seen_times *t) {
  for (size_t i = 0; i < t->names.n; i++)
    free(t->of[i].span);
  free(t->of);
  dl_intern_free(&t->names);
}

struct dl_seen_spans *dl_seen_spans_of(struct dl_seen_times *t,
                                       const char *name) {
  size_t before = t->names.n;
  long i = dl_intern(&t->names, name);
  DL_GROW(t->of, t->cap, t->names.n);
  if (t->names.n > before)
    t->of[i] = (struct dl_seen_spans){0};
  return &t->of[i];
}

size_t dl_seen_spans_after(const struct dl_seen_spans *s, double time) {
  size_t low = 0, high = s->n;
  while (low < high) {
    size_t mid = (low + high) / 2;
    if (s->span[mid].to <= time)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

void dl_seen_spans_replace(struct dl_seen_spans *s, size_t at, size_t end,
                           struct dl_seen_span span) {
  DL_GROW(s->span, s->cap, s->n + 1);
  memmove(s->span + at + 1, s->span + end, (s->n - end) * sizeof *s->span);
  s->span[at] = span;
  s->n = s->n + 1 - (end - at);
}
