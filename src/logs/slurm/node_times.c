/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/node_times.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"

/* Jobs that follow each other overlap by what the clocks round, and leave
 * pauses in which no job runs. */
#define OVERLAP_S 2
#define PAUSE_S 5

enum { NAME_SIZE = 256, MOST_NODES = 1 << 20 };

struct span {
  int64_t from, to;
};

/* Spans of a node in order, without overlap. */
struct node {
  struct span *span;
  size_t n, cap;
};

struct dl_node_times {
  struct dl_intern names;
  struct node *node; /* one a name */
  size_t cap;
};

void dl_node_times_free(struct dl_node_times *t) {
  if (!t)
    return;
  for (size_t i = 0; i < t->names.n; i++)
    free(t->node[i].span);
  free(t->node);
  dl_intern_free(&t->names);
  free(t);
}

/* Adds a span to those of a node, which it joins where they touch. Returns how
 * much of it was there. */
static int64_t add_span(struct node *node, struct span new) {
  int64_t covered = 0;
  size_t low = 0, high = node->n; /* the first that ends at its beginning */
  while (low < high) {
    size_t mid = (low + high) / 2;
    if (node->span[mid].to + PAUSE_S < new.from)
      low = mid + 1;
    else
      high = mid;
  }
  size_t end = low;
  struct span all = new;
  for (; end < node->n && node->span[end].from <= new.to + PAUSE_S; end++) {
    const struct span *s = &node->span[end];
    int64_t from = s->from > new.from ? s->from : new.from;
    int64_t to = s->to < new.to ? s->to : new.to;
    covered += to > from ? to - from : 0;
    all.from = s->from < all.from ? s->from : all.from;
    all.to = s->to > all.to ? s->to : all.to;
  }
  DL_GROW(node->span, node->cap, node->n + 1);
  memmove(node->span + low + 1, node->span + end,
          (node->n - end) * sizeof *node->span);
  node->span[low] = all;
  node->n = node->n + 1 - (end - low);
  return covered;
}

static int64_t add_node(struct dl_node_times *t, const char *name,
                        struct span span) {
  size_t before = t->names.n;
  long i = dl_intern(&t->names, name);
  DL_GROW(t->node, t->cap, t->names.n);
  if (t->names.n > before)
    t->node[i] = (struct node){0};
  return add_span(&t->node[i], span);
}

/* A list of nodes, "gpu[01-04,7]-ib,cpu1", that is walked through. */
struct hosts {
  const char *s; /* the rest of it */
  char name[NAME_SIZE];
  int prefix;               /* length of what precedes the brackets */
  const char *range;        /* next one in brackets; NULL: none */
  const char *suffix;       /* behind them, */
  int suffix_len;           /* of that length */
  unsigned long next, last; /* of a range; next > last: none */
  int width;
};

/* Takes the next range of the brackets, "01-04" or "7". */
static bool next_range(struct hosts *h) {
  char *end;
  if (!h->range || !isdigit((unsigned char)*h->range))
    return false;
  h->width = (int)strspn(h->range, "0123456789");
  h->next = h->last = strtoul(h->range, &end, 10);
  if (*end == '-' && isdigit((unsigned char)end[1]))
    h->last = strtoul(end + 1, &end, 10);
  h->range = *end == ',' ? end + 1 : NULL;
  return h->width < 10;
}

/* Takes the next element of the list: one with several brackets is one node.
 * False after the last one. */
static bool next_element(struct hosts *h) {
  const char *s = h->s, *open = NULL, *close = NULL;
  size_t n_open = 0, n = 0;
  for (bool within = false; s[n] && (within || s[n] != ','); n++) {
    if (s[n] == '[' && n_open++ == 0)
      open = s + n;
    if (s[n] == ']' && !close)
      close = s + n;
    within = s[n] == '[' || (within && s[n] != ']');
  }
  if (n == 0 || n >= NAME_SIZE - 24)
    return false;
  h->s = s + n + (s[n] == ',');
  memcpy(h->name, s, n);
  h->name[n] = '\0';
  h->range = NULL;
  if (n_open != 1 || !close || close < open)
    return true;
  h->prefix = (int)(open - s);
  h->range = open + 1;
  h->suffix = close + 1;
  h->suffix_len = (int)(s + n - h->suffix);
  next_range(h);
  return true;
}

/* Puts the name of the next node into h->name; false after the last one. */
static bool next_host(struct hosts *h) {
  if (h->next > h->last && !next_range(h)) {
    if (!next_element(h))
      return false;
    if (h->next > h->last) /* without a range */
      return true;
  }
  snprintf(h->name + h->prefix, sizeof h->name - (size_t)h->prefix, "%0*lu%.*s",
           h->width, h->next++, h->suffix_len, h->suffix);
  return true;
}

double dl_node_times_take(struct dl_node_times **t, const char *list,
                          int64_t start, double seconds) {
  struct hosts h = {.s = list, .next = 1};
  double covered = 0, all = 0;
  if (!(seconds >= 1) || !(seconds < 1e9) || strncmp(list, "None", 4) == 0)
    return 1;
  if (!*t)
    *t = dl_calloc(1, sizeof **t);
  const struct span span = {start, start + (int64_t)seconds};
  for (size_t i = 0; i < MOST_NODES && next_host(&h); i++) {
    covered += (double)add_node(*t, h.name, span);
    all += (double)(span.to - span.from);
  }
  double each = all > 0 ? covered * (double)(span.to - span.from) / all : 0;
  return each > OVERLAP_S || 2 * covered > all ? 1 - covered / all : 1;
}
