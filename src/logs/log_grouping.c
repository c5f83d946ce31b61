/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/log_grouping.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/names/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "logs/log_copies.h"

static bool is_companion(const struct dl_source *s) {
  return s->role == DL_LOG_COMPANION || s->role == DL_LOG_MEMORY;
}

/* Finds the importer. */
static void find_importer(struct dl_source *s, const struct dl_log_options *o) {
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  struct dl_log *log = NULL;
  s->status = dl_log_open(&log, s->path, o, &own);
  s->role = DL_LOG_UNREADABLE;
  if (s->status == DL_OK) {
    s->importer = log->importer;
    s->role = log->importer->role;
    const struct dl_log_origin *from = &log->origin;
    if (*from->job || *from->host || from->n_nodes > 0) { /* most do not say */
      s->origin = dl_malloc(sizeof *from);
      *s->origin = *from;
    }
  } else if (own.error) {
    s->error = dl_strdup(own.error);
  }
  if (o->drop_last > 0 && is_companion(s)) /* it ends with the trace */
    log->o.drop_last = 0;
  if (s->once)
    s->opened = log;
  else
    dl_log_free(log);
}

/* --- companions and their traces */

/* How a companion and its trace have a key in common, from the strictest. */
enum way { BY_NAME, BY_DIGITS, BY_FOLDER, ANYWHERE, N_WAYS };

/* The key of a source: the folder, with BY_NAME also the file's name without
 * "-epochs" at its end, with BY_DIGITS the groups of digits in it; "" if there
 * are none. With `kind` the importer's name makes
 * keys of different formats differ. */
static void make_key(struct dl_text *key, const struct dl_source *s,
                     enum way way, bool kind) {
  const char *name = dl_path_name(s->path);
  size_t n = dl_path_stem(name);
  bool any = false;
  dl_text_clear(key);
  if (way != ANYWHERE)
    dl_text_add_n(key, s->path, (size_t)(name - s->path));
  static const char suffix[] = "-epochs";
  size_t len = sizeof suffix - 1;
  if (way == BY_NAME && n > len && memcmp(name + n - len, suffix, len) == 0)
    n -= len;
  else if (way == BY_NAME && is_companion(s))
    n = 0;
  if (way == BY_NAME)
    dl_text_add_n(key, name, n);
  for (size_t i = 0; way == BY_DIGITS && i < n; i++) {
    if (name[i] < '0' || name[i] > '9')
      continue;
    if (i > 0 && any && (name[i - 1] < '0' || name[i - 1] > '9'))
      dl_text_add(key, ".");
    dl_text_add_n(key, name + i, 1);
    any = true;
  }
  if (way == BY_DIGITS && !any)
    dl_text_clear(key);
  else
    dl_text_printf(key, "|%d|%s", (int)way, kind ? s->importer->name : "");
}

/* Sources by key. */
struct source_index {
  struct dl_intern keys;
  long *source; /* one per key; -1: several have it */
  size_t cap;
};

static void add_key(struct source_index *x, const char *key, size_t source) {
  size_t known = x->keys.n;
  long id = dl_intern(&x->keys, key);
  DL_GROW(x->source, x->cap, x->keys.n);
  x->source[id] = (size_t)id < known ? -1 : (long)source;
}

/* The only source with that key, or -1. */
static long find(const struct source_index *x, const struct dl_text *key) {
  long id = key->len > 0 ? dl_intern_find(&x->keys, dl_text_str(key)) : -1;
  return id < 0 ? -1 : x->source[id];
}

/* Keys of many traces take memory: they are made where there is a companion to
 * find one. */
static void join_companions(struct dl_log_grouping *g) {
  struct source_index x = {0};
  DL_TEXT(key);
  bool any = false;
  for (size_t i = 0; i < g->n; i++)
    any |= is_companion(&g->source[i]);
  if (!any)
    return;
  for (size_t i = 0; i < g->n; i++) {
    struct dl_source *s = &g->source[i];
    bool companion = is_companion(s);
    for (int way = 0; way < N_WAYS; way++) {
      if (!companion && s->role != DL_LOG_PRIMARY)
        continue;
      make_key(&key, s, (enum way)way, companion);
      if (key.len > 0)
        add_key(&x, dl_text_str(&key), i);
    }
  }
  for (size_t i = 0; i < g->n; i++) {
    struct dl_source *s = &g->source[i];
    for (int way = 0; is_companion(s) && way < N_WAYS; way++) {
      make_key(&key, s, (enum way)way, false);
      long trace = find(&x, &key);
      make_key(&key, s, (enum way)way, true);
      if (trace >= 0 && find(&x, &key) >= 0) {
        s->run = (size_t)trace;
        break;
      }
    }
  }
  dl_intern_free(&x.keys);
  free(x.source);
}

/* --- nodes of a job */

/* The source whose run source i belongs to: its trace's, or the first node's.
 */
static size_t root_of(const struct dl_log_grouping *g, size_t i) {
  while (g->source[i].run != i)
    i = g->source[i].run;
  return i;
}

static void join_to(struct dl_log_grouping *g, long first, size_t i) {
  struct dl_source *s = &g->source[i];
  if (first < 0 || (size_t)first == i)
    return;
  s->run = (size_t)first;
  s->joined = g->source[first].joined = true;
}

/* "JOB" or "JOB|HOST" of a trace of a node; false: it has none. */
static bool make_job_key(struct dl_text *key, const struct dl_source *s,
                         bool host) {
  const struct dl_log_origin *o = s->origin;
  dl_text_clear(key);
  if (s->role != DL_LOG_PRIMARY || !o || !*o->job || !*o->host)
    return false;
  dl_text_add(key, o->job);
  if (host)
    dl_text_printf(key, "|%s", o->host);
  return true;
}

/* The first trace of each job. Where a node has several of a job, which of them
 * belong together is unknown: -1, and a warning. */
static long *find_jobs(struct dl_log_grouping *g, struct dl_intern *jobs,
                       struct dl_diag *d) {
  DL_SCOPED(dl_intern_free) struct dl_intern hosts = {0};
  DL_TEXT(key);
  long *first = dl_calloc(g->n, sizeof *first);
  for (size_t i = 0; i < g->n; i++) {
    const struct dl_source *s = &g->source[i];
    if (!make_job_key(&key, s, false))
      continue;
    size_t n_jobs = jobs->n, n_hosts = hosts.n;
    long job = dl_intern(jobs, dl_text_str(&key));
    make_job_key(&key, s, true);
    long host = dl_intern(&hosts, dl_text_str(&key));
    if ((size_t)job == n_jobs)
      first[job] = (long)i;
    if ((size_t)host == n_hosts || first[job] < 0)
      continue;
    first[job] = -1;
    dl_warn(d,
            "several recordings of job %s on %s: not joined; join those of one "
            "run with --join",
            s->origin->job, s->origin->host);
  }
  return first;
}

static void join_nodes(struct dl_log_grouping *g, struct dl_diag *d) {
  DL_SCOPED(dl_intern_free) struct dl_intern jobs = {0};
  DL_TEXT(key);
  DL_FREED long *first = find_jobs(g, &jobs, d);
  for (size_t i = 0; i < g->n; i++)
    if (make_job_key(&key, &g->source[i], false))
      join_to(g, first[dl_intern_find(&jobs, dl_text_str(&key))], i);
}

static void join_all(struct dl_log_grouping *g, struct dl_diag *d) {
  DL_SCOPED(dl_intern_free) struct dl_intern hosts = {0};
  long first = -1;
  for (size_t i = 0; i < g->n; i++) {
    const struct dl_source *s = &g->source[i];
    size_t n = hosts.n;
    if (s->role != DL_LOG_PRIMARY)
      continue;
    first = first < 0 ? (long)i : first;
    join_to(g, first, i);
    const char *host = s->origin ? s->origin->host : "";
    if (*host)
      dl_intern(&hosts, host);
    if (*host && hosts.n == n)
      dl_warn_at(d, s->path, 0,
                 "of the same host as another log, '%s': a device that both "
                 "measured counts twice",
                 host);
  }
}

/* Lists the sources that belong to each, in their order. */
static void link_sources(struct dl_log_grouping *g) {
  struct dl_source *s = g->source;
  for (size_t i = 0; i < g->n; i++)
    s[i].first = s[i].next = 0;
  for (size_t i = g->n; i-- > 0;)
    if (s[i].run != i) {
      s[i].next = s[s[i].run].first;
      s[s[i].run].first = i + 1;
    }
}

static void list_sources(struct dl_log_grouping *g, char *const *paths) {
  for (size_t i = 0; i < g->n; i++) {
    struct stat st;
    bool file = !dl_is_stdio(paths[i]) && stat(paths[i], &st) == 0 &&
                S_ISREG(st.st_mode);
    g->source[i] =
        (struct dl_source){.path = paths[i], .run = i, .once = !file};
  }
}

void dl_log_grouping_make(struct dl_log_grouping *g, char *const *paths,
                          size_t n, const struct dl_log_options *o,
                          enum dl_log_joining join, struct dl_diag *d) {
  *g = (struct dl_log_grouping){dl_calloc(n, sizeof *g->source), n};
  list_sources(g, paths);
  if (n > 1)
    dl_log_repeats_refuse(g);
    /* Files in parallel; pipes, which may wait for each other, in order. */
#pragma omp parallel for schedule(dynamic, 8)
  for (size_t i = 0; i < n; i++)
    if (!g->source[i].once && !g->source[i].error)
      find_importer(&g->source[i], o);
  for (size_t i = 0; i < n; i++)
    if (g->source[i].once)
      find_importer(&g->source[i], o);
  if (n > 1)
    dl_log_copies_refuse(g);
  if (join != DL_JOIN_NONE && n > 1)
    join_companions(g);
  if (join == DL_JOIN_LOGS && n > 1)
    join_nodes(g, d);
  if (join == DL_JOIN_ALL)
    join_all(g, d);
  link_sources(g);
}

static void free_source(struct dl_source *s) {
  dl_log_free(s->opened);
  free(s->error);
  free(s->origin);
}

/* Refuses a table of jobs beside traces: which job a trace belongs to is known
 * once all are read. */
static enum dl_status check_jobs(const struct dl_log_grouping *g,
                                 struct dl_diag *d) {
  const char *jobs = NULL;
  bool traces = false;
  for (size_t i = 0; i < g->n; i++) {
    const struct dl_source *s = &g->source[i];
    if (s->role == DL_LOG_RUNS && s->importer->has_jobs)
      jobs = s->path;
    traces = traces || (s->importer && s->role != DL_LOG_RUNS);
  }
  return jobs && traces
             ? dl_fail_at(d, DL_EINPUT, jobs, 0,
                          "--shard would separate jobs from their logs; leave "
                          "the table of jobs out, or --shard")
             : DL_OK;
}

/* Numbers the runs; number[i] is the number of source i's run. Returns how many
 * runs there are. */
static size_t number_runs(const struct dl_log_grouping *g, size_t *number) {
  size_t n = 0, tables = SIZE_MAX;
  for (size_t i = 0; i < g->n; i++) {
    const struct dl_source *s = &g->source[i];
    if (s->run != i)
      continue;
    bool table = s->role == DL_LOG_RUNS;
    number[i] = table && tables != SIZE_MAX ? tables : n++;
    if (table)
      tables = number[i];
  }
  for (size_t i = 0; i < g->n; i++)
    number[i] = number[root_of(g, i)];
  return n;
}

enum dl_status dl_log_grouping_take_shard(struct dl_log_grouping *g,
                                          const struct dl_shard *shard,
                                          struct dl_diag *d) {
  size_t first, end, kept = 0;
  DL_TRY(check_jobs(g, d));
  size_t *number = dl_calloc(2 * g->n, sizeof *number), *now = number + g->n;
  dl_shard_range(shard, number_runs(g, number), &first, &end);
  for (size_t i = 0; i < g->n; i++) {
    if (number[i] < first || number[i] >= end) {
      free_source(&g->source[i]);
      continue;
    }
    now[i] = kept;
    g->source[kept++] = g->source[i];
  }
  g->n = kept;
  for (size_t i = 0; i < g->n; i++)
    g->source[i].run = now[g->source[i].run];
  link_sources(g);
  free(number);
  return DL_OK;
}

enum dl_status dl_source_open(struct dl_source *s,
                              const struct dl_log_options *o,
                              struct dl_log **log, struct dl_diag *d) {
  struct dl_log_options own = *o;
  own.from = s->importer;
  *log = s->opened;
  s->opened = NULL;
  return *log ? DL_OK : dl_log_open(log, s->path, &own, d);
}

void dl_log_grouping_free(struct dl_log_grouping *g) {
  for (size_t i = 0; g->source && i < g->n; i++)
    free_source(&g->source[i]);
  free(g->source);
  *g = (struct dl_log_grouping){0};
}
