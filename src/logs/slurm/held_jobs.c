/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/held_jobs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "logs/slurm/job_fault.h"

/* A run of a job that waits. Its texts and steps are owned. */
struct held_run {
  struct dl_cluster_job job;
  struct dl_job_rows rows;
  struct dl_job_step *step;
  char *path;  /* of its table */
  size_t next; /* index + 1 of the next run of the job; 0: none */
  bool gone;   /* its later state counts */
};

struct dl_held_jobs {
  struct held_run *job;
  size_t n, cap;
  struct dl_intern keys;
  size_t *first; /* run of each key + 1; 0: none */
  size_t first_cap;
  struct dl_cluster_job *rest;
};

static void free_job(struct held_run *h) {
#define FREE(name) free((char *)h->job.name);
  DL_CLUSTER_TEXTS(FREE)
#undef FREE
  free((char *)h->rows.nodes);
  free(h->path);
  free(h->step);
}

void dl_held_jobs_free(struct dl_held_jobs *h) {
  if (!h)
    return;
  for (size_t i = 0; i < h->n; i++)
    free_job(&h->job[i]);
  free(h->job);
  free(h->first);
  free(h->rest);
  dl_intern_free(&h->keys);
  free(h);
}

/* Cluster, number and part identify a job in all its runs. They are the first
 * bytes of a seen job. */
enum { KEY_SIZE = offsetof(struct dl_seen_job, start) };

/* Whether two groups of rows describe one run of a job. If the start is
 * unknown, only a run that has not ended can be completed by the other group.
 */
static bool is_same_run(const struct dl_job_rows *a,
                        const struct dl_job_rows *b) {
  if (!a->has_line || !b->has_line)
    return true;
  return a->timed == b->timed &&
         (a->job.start == b->job.start ||
          (!a->timed && (a->unfinished || b->unfinished)));
}

static struct held_run *find(const struct dl_held_jobs *h,
                             const struct dl_job_rows *rows) {
  long k = h ? dl_intern_find(&h->keys, &rows->job) : -1;
  for (size_t i = k < 0 ? 0 : h->first[k]; i > 0; i = h->job[i - 1].next)
    if (!h->job[i - 1].gone && is_same_run(&h->job[i - 1].rows, rows))
      return &h->job[i - 1];
  return NULL;
}

static const char *own(const char *s) {
  return s ? dl_strdup(s) : NULL;
}

static void set_job(struct held_run *h, const char *path,
                    const struct dl_cluster_job *job,
                    const struct dl_job_rows *rows,
                    const struct dl_job_step *steps) {
  h->job = *job;
#define OWN(name) h->job.name = own(job->name);
  DL_CLUSTER_TEXTS(OWN)
#undef OWN
  h->path = dl_strdup(path);
  h->rows = *rows;
  h->rows.nodes = own(rows->nodes);
  h->step = dl_calloc(rows->n_steps + 1, sizeof *h->step);
  if (rows->n_steps > 0)
    memcpy(h->step, steps, rows->n_steps * sizeof *h->step);
}

static void add_job(struct dl_held_jobs **out, const char *path,
                    const struct dl_cluster_job *job,
                    const struct dl_job_rows *rows,
                    const struct dl_job_step *steps) {
  if (!*out) {
    *out = dl_calloc(1, sizeof **out);
    (*out)->keys.size = KEY_SIZE;
  }
  struct dl_held_jobs *h = *out;
  size_t before = h->keys.n;
  long k = dl_intern(&h->keys, &rows->job);
  DL_GROW(h->first, h->first_cap, h->keys.n);
  if (h->keys.n > before)
    h->first[k] = 0;
  DL_GROW(h->job, h->cap, h->n + 1);
  h->job[h->n] = (struct held_run){.next = h->first[k]};
  set_job(&h->job[h->n], path, job, rows, steps);
  h->first[k] = ++h->n;
}

/* Counts the steps that a waiting job already has. */
static size_t known_steps(const struct held_run *h,
                          const struct dl_job_rows *rows,
                          const struct dl_job_step *steps) {
  size_t known = 0;
  for (size_t i = 0; i < rows->n_steps; i++)
    for (size_t k = 0; k < h->rows.n_steps; k++)
      if (h->step[k].name == steps[i].name) {
        known++;
        break;
      }
  return known;
}

/* Joins the steps of two groups of rows of a job. One of them has the job's own
 * row, which gives everything but the steps. */
static void merge(struct held_run *h, const char *path,
                  const struct dl_cluster_job *job,
                  const struct dl_job_rows *rows,
                  const struct dl_job_step *steps) {
  struct dl_job_fault unused[DL_JOB_FAULTS];
  struct held_run old = *h;
  const struct dl_job_step *last = rows->has_line ? old.step : steps;
  if (rows->has_line)
    set_job(h, path, job, rows, steps);
  const struct dl_job_rows *more = rows->has_line ? &old.rows : rows;
  struct dl_job_rows *all = &h->rows;
  h->step = dl_reallocarray(h->step, all->n_steps + more->n_steps + 1,
                            sizeof *h->step);
  memcpy(h->step + all->n_steps, last, more->n_steps * sizeof *h->step);
  all->n_steps += more->n_steps;
  for (int i = DL_SLURM_NUMBERED; i < DL_SLURM_STEPS; i++)
    all->energy_j[i] += more->energy_j[i];
  all->step_s = fmax(all->step_s, more->step_s);
  if (!isnan(more->busy_gpu_s))
    all->busy_gpu_s = dl_or(all->busy_gpu_s, 0) + more->busy_gpu_s;
  dl_job_figures(&h->job, all, unused);
  if (rows->has_line)
    free_job(&old);
}

/* Whether a state of a run is later than another. */
static bool is_later(const struct dl_cluster_job *job,
                     const struct dl_job_rows *rows, const struct held_run *h) {
  double now_s = dl_or(job->duration_s, -1);
  double then_s = dl_or(h->job.duration_s, -1);
  if (now_s != then_s)
    return now_s > then_s;
  if (rows->unfinished != h->rows.unfinished)
    return h->rows.unfinished;
  return rows->n_steps > h->rows.n_steps;
}

static void warn_states(struct dl_log *log, struct dl_log *part, const char *id,
                        size_t line) {
  size_t last = part->line;
  part->line = line;
  if (!log->warned_states)
    dl_log_warn(part, "job %s is here in several states: the latest counts",
                id);
  log->warned_states = true;
  part->line = last;
}

/* Replaces a job that waits by rows that count in its place, or wait too. */
static enum dl_hold replace(struct held_run *h, const struct dl_log *log,
                            const struct dl_cluster_job *job,
                            const struct dl_job_rows *rows,
                            const struct dl_job_step *steps, bool wait) {
  h->gone = !wait;
  if (h->gone)
    return DL_HOLD_NOT;
  free_job(h);
  set_job(h, log->path, job, rows, steps);
  return DL_HOLD_WAITS;
}

enum dl_hold dl_hold_job(struct dl_log *log, struct dl_log *part,
                         const struct dl_cluster_job *job,
                         const struct dl_job_rows *rows,
                         const struct dl_job_step *steps, bool wait) {
  struct held_run *h = find(log->o.seen->held, rows);
  bool any, counts;
  if (h && h->rows.has_line != rows->has_line) {
    size_t known = known_steps(h, rows, steps);
    if (known == 0) {
      merge(h, log->path, job, rows, steps);
      log->completes = true;
      return DL_HOLD_WAITS;
    }
    if (known < (rows->has_line ? h->rows.n_steps : rows->n_steps))
      return DL_HOLD_NOT;
    dl_warn_repeat(log, part, rows->line);
    return rows->has_line ? replace(h, log, job, rows, steps, wait)
                          : DL_HOLD_SKIPPED;
  }
  if (h) {
    log->completes |= h->job.duration_s != job->duration_s;
    if (h->job.duration_s != job->duration_s)
      warn_states(log, part, job->run_id, rows->line);
    else
      dl_warn_repeat(log, part, rows->line);
    return is_later(job, rows, h) ? replace(h, log, job, rows, steps, wait)
                                  : DL_HOLD_SKIPPED;
  }
  if (!wait)
    return DL_HOLD_NOT;
  counts = dl_job_counts(log, rows, &any);
  if (counts && rows->unfinished) {
    log->completes = true;
    warn_states(log, part, job->run_id, rows->line);
    return DL_HOLD_SKIPPED;
  }
  if (counts || (any && !rows->unfinished))
    return DL_HOLD_NOT;
  add_job(&log->o.seen->held, log->path, job, rows, steps);
  return DL_HOLD_WAITS;
}

size_t dl_held_jobs_n(const struct dl_seen_rows *seen) {
  size_t n = 0;
  for (size_t i = 0; seen->held && i < seen->held->n; i++)
    n += !seen->held->job[i].gone;
  return n;
}

bool dl_hold_run(struct dl_log *log, struct dl_log *part,
                 const struct dl_cluster_job *job) {
  struct dl_job_rows rows = {.has_line = true, .line = job->line};
  struct dl_timestamp start;
  if (!job->run_id || !job->state || !job->start_time ||
      !dl_parse_start(job->start_time, &start))
    return true;
  rows.job.cluster = 1; /* apart from clusters, whose names are hashed */
  dl_job_number(&rows.job, job->run_id, strlen(job->run_id));
  rows.job.start = start.ns / DL_SECOND;
  rows.timed = true;
  rows.unfinished = dl_slurm_is_unfinished(job->state);
  if (dl_hold_job(log, part, job, &rows, NULL, rows.unfinished) != DL_HOLD_NOT)
    return false;
  dl_remember_job(log, &rows, NULL);
  return true;
}

const struct dl_cluster_job *dl_held_jobs_rest(struct dl_seen_rows *seen,
                                               const struct dl_shard *shard,
                                               const char *path, size_t *n) {
  struct dl_held_jobs *h = seen->held;
  *n = 0;
  if (!h)
    return NULL;
  free(h->rest);
  h->rest = dl_calloc(h->n + 1, sizeof *h->rest);
  for (size_t i = 0; i < h->n; i++) {
    if (h->job[i].gone || (path && strcmp(h->job[i].path, path) != 0))
      continue;
    h->job[i].gone = true;
    dl_share_nodes(seen, shard, &h->job[i].job, &h->job[i].rows);
    h->rest[*n] = h->job[i].job;
    h->rest[(*n)++].path = path ? NULL : h->job[i].path;
  }
  return h->rest;
}
