/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/node_times.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Because clocks round, consecutive jobs overlap by up to OVERLAP_S. Pauses of
 * up to PAUSE_S between jobs are not kept. */
#define OVERLAP_S 2
#define PAUSE_S 5

enum { NAME_SIZE = 256, MOST_NODES = 1 << 20 };

/* Counts a span of a node, and joins it to the spans that it touches. Returns
 * how many of its seconds had been counted before. */
static double add_span(struct dl_seen_spans *node, struct dl_seen_span new) {
  double covered_s = 0;
  /* Times are whole seconds: the pause to an earlier span is PAUSE_S or less
   * if it ends later than PAUSE_S + 1 before. */
  size_t first = dl_seen_spans_after(node, new.from - PAUSE_S - 1);
  size_t end = first;
  struct dl_seen_span all = new;
  for (; end < node->n && node->span[end].from <= new.to + PAUSE_S; end++) {
    const struct dl_seen_span *s = &node->span[end];
    covered_s += fmax(fmin(s->to, new.to) - fmax(s->from, new.from), 0);
    all.from = fmin(s->from, all.from);
    all.to = fmax(s->to, all.to);
  }
  dl_seen_spans_replace(node, first, end, all);
  return covered_s;
}

/* Position in a list of nodes, "gpu[01-04,7]-ib,cpu1". */
struct node_list {
  const char *rest;         /* the elements that were not read yet */
  char name[NAME_SIZE];     /* of the node read last */
  int prefix;               /* length of the text before the brackets */
  const char *range;        /* next range in the brackets; NULL: none is left */
  const char *suffix;       /* text after the brackets */
  int suffix_len;           /* length of the suffix */
  unsigned long next, last; /* numbers left in a range; next > last: none */
  int width;                /* least number of digits of a number */
};

/* Reads the next range in the brackets, "01-04" or "7". */
static bool next_range(struct node_list *l) {
  char *end;
  if (!l->range || !isdigit((unsigned char)*l->range))
    return false;
  l->width = (int)strspn(l->range, "0123456789");
  l->next = l->last = strtoul(l->range, &end, 10);
  if (*end == '-' && isdigit((unsigned char)end[1]))
    l->last = strtoul(end + 1, &end, 10);
  l->range = *end == ',' ? end + 1 : NULL;
  return l->width < 10;
}

/* Reads the next element of the list. An element with several brackets counts
 * as one node. Returns false after the last element. */
static bool next_element(struct node_list *l) {
  const char *s = l->rest, *open = NULL, *close = NULL;
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
  l->rest = s + n + (s[n] == ',');
  memcpy(l->name, s, n);
  l->name[n] = '\0';
  l->range = NULL;
  if (n_open != 1 || !close || close < open)
    return true;
  l->prefix = (int)(open - s);
  l->range = open + 1;
  l->suffix = close + 1;
  l->suffix_len = (int)(s + n - l->suffix);
  next_range(l);
  return true;
}

/* Copies the name of the next node to l->name; returns false after the last
 * node. */
static bool next_node(struct node_list *l) {
  if (l->next > l->last && !next_range(l)) {
    if (!next_element(l))
      return false;
    if (l->next > l->last) /* the element has no range */
      return true;
  }
  snprintf(l->name + l->prefix, sizeof l->name - (size_t)l->prefix, "%0*lu%.*s",
           l->width, l->next++, l->suffix_len, l->suffix);
  return true;
}

double dl_node_times_add(struct dl_seen_times *t, const char *list,
                         int64_t start, double seconds) {
  struct node_list l = {.rest = list, .next = 1};
  double covered_s = 0, all_s = 0;
  if (!(seconds >= 1) || !(seconds < 1e9) || strncmp(list, "None", 4) == 0)
    return 1;
  const double whole_s = floor(seconds), from = (double)start;
  const struct dl_seen_span span = {from, from + whole_s, 0};
  for (size_t i = 0; i < MOST_NODES && next_node(&l); i++) {
    covered_s += add_span(dl_seen_spans_of(t, l.name), span);
    all_s += whole_s;
  }
  double each_s = all_s > 0 ? covered_s * whole_s / all_s : 0;
  bool shared = each_s > OVERLAP_S || 2 * covered_s > all_s;
  return shared ? 1 - covered_s / all_s : 1;
}
