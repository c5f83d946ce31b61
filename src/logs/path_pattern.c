/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns such as {arch}/gpu-{run_id}.csv, matched against paths. */

#include "logs/path_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void add_span(struct dl_strlist *l, const char *s, size_t n) {
  DL_FREED char *copy = dl_strndup(s, n);
  dl_strlist_add(l, copy);
}

enum dl_status dl_pattern_parse(struct dl_pattern *p, const char *text,
                                struct dl_diag *d) {
  const char *s = text;
  for (;;) {
    size_t n = strcspn(s, "{}");
    add_span(&p->literal, s, n);
    if (s[n] == '\0')
      break;
    size_t len = strcspn(s + n + 1, "{}/");
    if (s[n] == '}' || s[n + 1 + len] != '}' || len == 0)
      return dl_fail(d, DL_EUSAGE,
                     "path pattern '%s': expected names in braces, like "
                     "{arch}/gpu-{run_id}.csv",
                     text);
    if (n == 0 && p->names.n > 0)
      return dl_fail(d, DL_EUSAGE,
                     "path pattern '%s': nothing between two names", text);
    add_span(&p->names, s + n + 1, len);
    if (dl_strlist_find(&p->names, p->names.s[p->names.n - 1]) !=
        (long)p->names.n - 1)
      return dl_fail(d, DL_EUSAGE, "path pattern '%s': name '%s' twice", text,
                     p->names.s[p->names.n - 1]);
    s += n + 1 + len + 1;
  }
  return p->names.n > 0 ? DL_OK
                        : dl_fail(d, DL_EUSAGE,
                                  "path pattern '%s': no name in braces", text);
}

void dl_pattern_free(struct dl_pattern *p) {
  dl_strlist_free(&p->names);
  dl_strlist_free(&p->literal);
}

/* The match of a path that is in progress. */
struct pattern_match {
  const struct dl_pattern *p;
  const char *path;
  size_t len;         /* of the path */
  bool *failed;       /* literal i at s: failed[i * (len + 1) + s - path] */
  const char **value; /* of each name: where it begins in the path, */
  size_t *value_len;  /* and its length */
};

/* Matches the rest of a path at s against the pattern from literal `i` on, the
 * names with as few characters as possible. Failures are remembered, which
 * keeps the time quadratic. */
static bool match_from(struct pattern_match *m, size_t i, const char *s) {
  char *const *literal = m->p->literal.s;
  size_t n = strlen(literal[i]);
  bool *failed = &m->failed[i * (m->len + 1) + (size_t)(s - m->path)];
  if (*failed || strncmp(s, literal[i], n) != 0)
    return false;
  s += n;
  if (i == m->p->names.n && *s == '\0')
    return true;
  size_t most = i < m->p->names.n ? strcspn(s, "/") : 0;
  for (size_t len = 1; len <= most; len++) {
    const char *next = literal[i + 1];
    if (strncmp(s + len, next, strlen(next)) != 0)
      continue;
    m->value[i] = s;
    m->value_len[i] = len;
    if (match_from(m, i + 1, s + len))
      return true;
  }
  *failed = true;
  return false;
}

bool dl_pattern_match(const struct dl_pattern *p, const char *path,
                      char **value) {
  struct pattern_match m = {.p = p, .path = path, .len = strlen(path)};
  bool found = false;
  m.failed = dl_calloc((p->names.n + 1) * (m.len + 1), sizeof *m.failed);
  m.value = dl_calloc(p->names.n, sizeof *m.value);
  m.value_len = dl_calloc(p->names.n, sizeof *m.value_len);
  for (const char *s = path; !found && s;) {
    found = match_from(&m, 0, s);
    s = strchr(s, '/');
    s += s != NULL;
  }
  for (size_t i = 0; found && i < p->names.n; i++)
    value[i] = dl_strndup(m.value[i], m.value_len[i]);
  free(m.failed);
  free(m.value);
  free(m.value_len);
  return found;
}
