/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/log_grouping.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/text.h"

enum { NOBODY = -1, SEVERAL = -2 };

/* What has been read of it cannot be read again. */
static bool opens_once(const char *path) {
  struct stat st;
  return strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode);
}

static bool is_companion(const struct dl_source *s) {
  return s->importer && (s->importer->role == DL_LOG_COMPANION ||
                         s->importer->role == DL_LOG_MEMORY);
}

/* False: out of memory. */
static bool look_at(struct dl_source *s, const struct dl_log_options *o) {
  struct dl_diag own;
  struct dl_log *log = NULL;
  dl_diag_init(&own);
  s->status = dl_log_open(&log, s->path, o, &own);
  if (s->status == DL_OK)
    s->importer = dl_log_importer(log);
  else if (own.error)
    s->error = dl_strdup(own.error);
  if (log && is_companion(s)) /* the end of the trace is what counts */
    dl_log_drop_last(log, 0);
  if (log && opens_once(s->path))
    s->opened = log;
  else
    dl_log_free(log);
  dl_diag_free(&own);
  return s->status == DL_OK || s->error;
}

/* Files side by side; pipes, which may wait for each other, in their order. */
static bool look_at_all(struct dl_plan *p, const struct dl_log_options *o) {
  bool failed = false;
#pragma omp parallel for schedule(dynamic, 8) reduction(|| : failed)
  for (size_t i = 0; i < p->n; i++)
    if (!opens_once(p->source[i].path) && !look_at(&p->source[i], o))
      failed = true;
  for (size_t i = 0; i < p->n; i++)
    if (opens_once(p->source[i].path) && !look_at(&p->source[i], o))
      failed = true;
  return !failed;
}

/* A file's folder; with `digits` also the groups of digits in its name, nothing
 * where there are none. */
static void key_of(struct dl_text *key, const char *path, bool digits) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  bool any = false;
  dl_text_clear(key);
  dl_text_add_n(key, path, (size_t)(name - path));
  for (size_t i = 0; digits && i < n; i++) {
    if (name[i] < '0' || name[i] > '9')
      continue;
    if (i > 0 && any && (name[i - 1] < '0' || name[i - 1] > '9'))
      dl_text_add(key, ".");
    dl_text_add_n(key, name + i, 1);
    any = true;
  }
  if (digits && !any)
    dl_text_clear(key); /* nothing to go by */
}

/* Sources by a key: the number of the one that has it, NOBODY or SEVERAL. */
struct places {
  struct dl_intern keys;
  long *source;
  size_t cap;
};

static bool enter(struct places *t, const char *key, size_t source) {
  size_t known = t->keys.n;
  long id = dl_intern(&t->keys, key);
  void *sources = t->source;
  if (id < 0 || !dl_grow(&sources, &t->cap, t->keys.n, sizeof *t->source))
    return false;
  t->source = sources;
  t->source[id] = (size_t)id < known ? SEVERAL : (long)source;
  return true;
}

static long find(const struct places *t, const char *key) {
  long id = dl_intern_find(&t->keys, key);
  return id < 0 || !t->source ? NOBODY : t->source[id];
}

/* Keys of a source, from the most particular on; the importer's name tells
 * companions of one kind from those of others. */
enum { BY_DIGITS, BY_FOLDER, ANYWHERE, N_WAYS };

static void way_key(struct dl_text *key, const struct dl_source *s, int way) {
  dl_text_clear(key);
  if (way != ANYWHERE)
    key_of(key, s->path, way == BY_DIGITS);
  if (way == BY_DIGITS && key->len == 0)
    return;
  dl_text_printf(key, "|%d", way);
}

static void kind_key(struct dl_text *key, const struct dl_source *s, int way) {
  way_key(key, s, way);
  if (key->len > 0)
    dl_text_printf(key, "|%s", s->importer->name);
}

static bool is_trace(const struct dl_source *s) {
  return s->importer && s->importer->role == DL_LOG_PRIMARY;
}

static bool enter_all(const struct dl_plan *p, struct places *t,
                      struct dl_text *key) {
  bool ok = true;
  for (size_t i = 0; ok && i < p->n; i++)
    for (int way = 0; ok && way < N_WAYS; way++) {
      if (is_trace(&p->source[i]))
        way_key(key, &p->source[i], way);
      else if (is_companion(&p->source[i]))
        kind_key(key, &p->source[i], way);
      else
        continue;
      ok = key->len == 0 || enter(t, dl_text_str(key), i);
    }
  return ok;
}

/* The trace that a companion goes to: both must be the only ones of their
 * kind. */
static long trace_of(const struct dl_source *s, const struct places *t,
                     struct dl_text *key) {
  for (int way = 0; way < N_WAYS; way++) {
    way_key(key, s, way);
    long trace = key->len > 0 ? find(t, dl_text_str(key)) : NOBODY;
    kind_key(key, s, way);
    if (trace >= 0 && find(t, dl_text_str(key)) >= 0)
      return trace;
  }
  return NOBODY;
}

static enum dl_status join_companions(struct dl_plan *p, struct dl_diag *d) {
  struct places places = {0};
  struct dl_text key = {0};
  bool ok = enter_all(p, &places, &key);
  for (size_t i = 0; ok && i < p->n; i++) {
    if (!is_companion(&p->source[i]))
      continue;
    long trace = trace_of(&p->source[i], &places, &key);
    if (trace >= 0)
      p->source[i].run = (size_t)trace;
  }
  ok = ok && !key.failed;
  dl_intern_free(&places.keys);
  free(places.source);
  dl_text_free(&key);
  return ok ? DL_OK : dl_fail_memory(d);
}

enum dl_status dl_plan_make(struct dl_plan *p, char *const *paths, size_t n,
                            const struct dl_log_options *o, bool join,
                            struct dl_diag *d) {
  *p = (struct dl_plan){dl_calloc(n, sizeof *p->source), n};
  enum dl_status status = p->source ? DL_OK : dl_fail_memory(d);
  for (size_t i = 0; status == DL_OK && i < n; i++) {
    p->source[i].path = paths[i];
    p->source[i].run = i;
  }
  if (status == DL_OK && !look_at_all(p, o))
    status = dl_fail_memory(d);
  if (status == DL_OK && join)
    status = join_companions(p, d);
  if (status != DL_OK)
    dl_plan_free(p);
  return status;
}

void dl_plan_free(struct dl_plan *p) {
  for (size_t i = 0; p->source && i < p->n; i++) {
    dl_log_free(p->source[i].opened);
    free(p->source[i].error);
  }
  free(p->source);
  *p = (struct dl_plan){0};
}
