/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/accounting/group_totals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timestamp.h"
#include "logs/slurm/slurm.h"

#define MIXED "mixed"

struct group {
  struct dl_sums sums;
  char *key[DL_N_KEYS]; /* owned; NULL: unknown */
  bool by_name;         /* sorted by its names */
  bool by_idle;         /* sorted by its idle GPU time first */
};

struct dl_group_totals {
  bool keys[DL_N_KEYS];
  struct dl_intern names; /* of all keys of a group, in one text */
  struct group *group;    /* one a name */
  size_t n, cap;
  size_t last;         /* the group that was looked for last */
  struct dl_text name; /* being looked for */
};

/* The boundary that sums share from now on. */
static void add_boundary(struct dl_sums *s, const char *boundary) {
  if (!boundary)
    boundary = "unknown";
  if (s->boundary[0] == '\0')
    snprintf(s->boundary, sizeof s->boundary, "%s", boundary);
  else if (strcmp(s->boundary, boundary) != 0)
    snprintf(s->boundary, sizeof s->boundary, MIXED);
}

enum {
  DURATION,
  GPU,
  TOLD_GPU,
  IDLE_GPU,
  ENERGY,
  MEASURED,
  CORES,
  CORES_LOW,
  CORES_HIGH,
  FAILED,
  EMITTING
};

double *dl_sums_at(struct dl_sums *s, size_t i) {
  static const size_t at[DL_N_SUMS] = {offsetof(struct dl_sums, duration_s),
                                       offsetof(struct dl_sums, gpu_s),
                                       offsetof(struct dl_sums, known_gpu_s),
                                       offsetof(struct dl_sums, idle_gpu_s),
                                       offsetof(struct dl_sums, energy_j),
                                       offsetof(struct dl_sums, measured_j),
                                       offsetof(struct dl_sums, cores_j),
                                       offsetof(struct dl_sums, cores_low_j),
                                       offsetof(struct dl_sums, cores_high_j),
                                       offsetof(struct dl_sums, failed_j),
                                       offsetof(struct dl_sums, emitting_j)};
  return (double *)(void *)((char *)s + at[i]);
}

/* Adds x + rest to a sum, which stays the double nearest to what it stands
 * for. */
static void add(struct dl_sums *s, size_t i, double x, double rest) {
  double *sum = dl_sums_at(s, i), total = *sum + x, part = total - *sum;
  double lost = (*sum - (total - part)) + (x - part);
  double all = s->rest[i] + rest + lost;
  *sum = total + all;
  s->rest[i] = all - (*sum - total);
}

void dl_sums_add(struct dl_sums *s, const struct dl_accounted *job) {
  const struct dl_cluster_job *of = job->job;
  const bool failed = of->state && dl_slurm_has_failed(of->state);
  s->jobs++;
  s->failed += failed;
  add(s, DURATION, dl_or(job->duration_s, 0), 0);
  add(s, GPU, dl_or(job->gpu_s, 0), 0);
  if (!isnan(job->idle_gpu_s)) {
    add(s, TOLD_GPU, job->gpu_s, 0);
    add(s, IDLE_GPU, job->idle_gpu_s, 0);
  }
  if (job->from == DL_ENERGY_UNKNOWN) {
    s->unknown++;
    s->unknown_mig += of->n_gpus > 0 && of->gpu_share < 1;
    s->unknown_cpu += !(of->n_gpus > 0);
    return;
  }
  add(s, ENERGY, job->energy_j, 0);
  add(s, FAILED, failed ? job->energy_j : 0, 0);
  add(s, EMITTING, job->energy_j * dl_or(job->g_kwh, 0), 0);
  add_boundary(s, job->boundary);
  if (job->from == DL_ENERGY_MEASURED) {
    s->measured++;
    add(s, MEASURED, job->energy_j, 0);
  } else {
    s->estimated++;
    s->at_tdp += job->from == DL_ENERGY_GPU_TDP;
  }
  if (job->from == DL_ENERGY_CORES) {
    add(s, CORES, job->energy_j, 0);
    add(s, CORES_LOW, dl_or(job->low_j, job->energy_j), 0);
    add(s, CORES_HIGH, dl_or(job->high_j, job->energy_j), 0);
  }
}

void dl_sums_join(struct dl_sums *s, const struct dl_sums *more) {
  struct dl_sums m = *more;
  s->jobs += m.jobs;
  s->measured += m.measured;
  s->estimated += m.estimated;
  s->unknown += m.unknown;
  s->at_tdp += m.at_tdp;
  s->failed += m.failed;
  s->unknown_mig += m.unknown_mig;
  s->unknown_cpu += m.unknown_cpu;
  for (size_t i = 0; i < DL_N_SUMS; i++)
    add(s, i, *dl_sums_at(&m, i), m.rest[i]);
  if (m.boundary[0])
    add_boundary(s, m.boundary);
}

double dl_sums_idle(const struct dl_sums *s) {
  return s->known_gpu_s > 0 ? s->idle_gpu_s / s->known_gpu_s : NAN;
}

double dl_sums_energy(const struct dl_sums *s) {
  return s->measured + s->estimated > 0 ? s->energy_j : NAN;
}

struct dl_group_totals *dl_group_totals_new(const bool keys[DL_N_KEYS]) {
  struct dl_group_totals *t = dl_calloc(1, sizeof *t);
  memcpy(t->keys, keys, sizeof t->keys);
  return t;
}

static void free_keys(struct group *g) {
  for (size_t k = 0; k < DL_N_KEYS; k++)
    free(g->key[k]);
}

void dl_group_totals_free(struct dl_group_totals *t) {
  if (!t)
    return;
  for (size_t i = 0; i < t->n; i++)
    free_keys(&t->group[i]);
  free(t->group);
  dl_intern_free(&t->names);
  dl_text_free(&t->name);
  free(t);
}

/* The text of a time that begins with its month (2024-03), on the clock that it
 * was taken from; NULL: unknown. */
static const char *dated(const char *start, char buf[DL_TIMESTAMP_SIZE]) {
  struct dl_timestamp t;
  if (start && strspn(start, "0123456789") == 4 && start[4] == '-')
    return start;
  if (!start || !dl_parse_start(start, &t))
    return NULL;
  return dl_format_timestamp(buf, t.ns + t.zone_s * DL_SECOND, false);
}

/* The text of a key, without its end where it goes on; NULL: unknown. */
static const char *key_of(const struct dl_cluster_job *r, enum dl_key key,
                          char buf[DL_TIMESTAMP_SIZE], size_t *len) {
  const char *const text[DL_N_KEYS] = {r->user, r->project, r->partition,
                                       r->state, r->gpu};
  bool month = key == DL_KEY_MONTH;
  const char *s = month ? dated(r->start_time, buf) : text[key];
  *len = s ? strlen(s) : 0;
  if (month && *len > 7)
    *len = 7; /* 2024-03-... */
  return s;
}

/* Whether a group has these keys. */
static bool is_group(const struct group *g, const char *const key[DL_N_KEYS],
                     const size_t len[DL_N_KEYS]) {
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (!g->key[k] != !key[k] ||
        (key[k] && (strncmp(g->key[k], key[k], len[k]) != 0 ||
                    g->key[k][len[k]] != '\0')))
      return false;
  return true;
}

/* The group with these keys, key[k] len[k] characters long or NULL. */
static struct group *find_group(struct dl_group_totals *t,
                                const char *const key[DL_N_KEYS],
                                const size_t len[DL_N_KEYS]) {
  /* Jobs of one month follow each other. */
  if (t->last < t->n && is_group(&t->group[t->last], key, len))
    return &t->group[t->last];
  dl_text_clear(&t->name);
  for (size_t k = 0; k < DL_N_KEYS; k++) {
    dl_text_add(&t->name, key[k] ? "\1" : "\2"); /* empty is not unknown */
    if (key[k])
      dl_text_add_n(&t->name, key[k], len[k]);
  }
  t->last = (size_t)dl_intern(&t->names, t->name.s);
  if (t->last < t->n)
    return &t->group[t->last];
  DL_GROW(t->group, t->cap, t->n + 1);
  struct group *g = &t->group[t->n++];
  *g = (struct group){.by_name = t->keys[DL_KEY_MONTH],
                      .by_idle = t->keys[DL_KEY_GPU]};
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (key[k])
      g->key[k] = dl_strndup(key[k], len[k]);
  return g;
}

void dl_group_totals_add(struct dl_group_totals *t,
                         const struct dl_cluster_job *job,
                         const struct dl_accounted *figures) {
  const char *key[DL_N_KEYS];
  size_t len[DL_N_KEYS] = {0};
  char month[DL_TIMESTAMP_SIZE];
  for (size_t k = 0; k < DL_N_KEYS; k++)
    key[k] = t->keys[k] ? key_of(job, k, month, &len[k]) : NULL;
  dl_sums_add(&find_group(t, key, len)->sums, figures);
}

void dl_group_totals_join(struct dl_group_totals *t,
                          const char *const key[DL_N_KEYS],
                          const struct dl_sums *sums) {
  const char *used[DL_N_KEYS];
  size_t len[DL_N_KEYS] = {0};
  for (size_t k = 0; k < DL_N_KEYS; k++) {
    used[k] = t->keys[k] ? key[k] : NULL;
    len[k] = used[k] ? strlen(used[k]) : 0;
  }
  dl_sums_join(&find_group(t, used, len)->sums, sums);
}

size_t dl_group_totals_n(const struct dl_group_totals *t) {
  return t->n;
}

static int by_names(const struct group *a, const struct group *b) {
  for (size_t k = 0; k < DL_N_KEYS; k++) {
    const char *x = a->key[k] ? a->key[k] : "";
    int c = strcmp(x, b->key[k] ? b->key[k] : "");
    if (c != 0)
      return c;
  }
  return 0;
}

static int compare(const void *pa, const void *pb) {
  const struct group *a = pa, *b = pb;
  if (!a->by_name && a->by_idle && a->sums.idle_gpu_s != b->sums.idle_gpu_s)
    return a->sums.idle_gpu_s > b->sums.idle_gpu_s ? -1 : 1;
  if (!a->by_name && a->sums.energy_j != b->sums.energy_j)
    return a->sums.energy_j > b->sums.energy_j ? -1 : 1;
  return by_names(a, b);
}

void dl_group_totals_sort(struct dl_group_totals *t) {
  if (t->n > 1)
    qsort(t->group, t->n, sizeof *t->group, compare);
}

void dl_group_totals_top(struct dl_group_totals *t, size_t n) {
  for (size_t i = 0; i < t->n; i++) {
    t->group[i].by_name = false;
    t->group[i].by_idle = true;
  }
  dl_group_totals_sort(t);
  for (; t->n > n; t->n--)
    free_keys(&t->group[t->n - 1]);
}

const struct dl_sums *dl_group_totals_at(const struct dl_group_totals *t,
                                         size_t i, const char *key[DL_N_KEYS]) {
  for (size_t k = 0; k < DL_N_KEYS; k++)
    key[k] = t->group[i].key[k];
  return &t->group[i].sums;
}
