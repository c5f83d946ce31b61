/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/passes/report_pass.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/portable.h"
#include "base/timestamp.h"
#include "logs/importers/tables/run_overlaps.h"
#include "logs/log_part.h"
#include "logs/slurm/held_jobs.h"
#include "logs/slurm/slurm.h"
#include "output/format.h"

/* Files below this size are not worth a second thread. */
#define SMALL_FILE (1 << 20)

/* Parts per thread: one in work, others waiting for their turn. */
enum { SLOTS_PER_THREAD = 3 };

/* A part of a file on its way from reading to writing. */
struct slot {
  struct dl_log_part *part;
  struct dl_accounted *job; /* those that count */
  size_t n, cap;
  size_t written; /* jobs before are */
  struct dl_text rows;
};

struct pipeline {
  struct dl_report_pass *w;
  struct dl_log *log;
  size_t before; /* bytes of the logs before this one */
  size_t total;  /* of all, 0: unknown */
  size_t bytes;  /* of this one that have been read */
  struct slot *slot;
  size_t n_slots;
  enum dl_status counted, written;
  struct dl_diag writing; /* errors of it */
  atomic_bool stop;
};

static bool among(const struct dl_strlist *l, const char *name) {
  return l->n == 0 || (name && dl_strlist_find(l, name) >= 0);
}

/* Whether the job began when it should have. */
static bool in_time(struct dl_report_pass *w, const char *path,
                    const struct dl_cluster_job *job) {
  const char *start = job->start_time;
  struct dl_timestamp t;
  if (w->o->since == INT64_MIN && w->o->until == INT64_MAX)
    return true;
  if (!start) {
    w->undated++;
    return false;
  }
  if (!dl_parse_start(start, &t)) {
    dl_skip_at(&w->cli->diag, path, job->line,
               "column 'start_time': invalid time '%.40s'", start);
    return false;
  }
  int64_t wall = t.ns + (int64_t)t.zone_s * DL_SECOND;
  return wall >= w->o->since && wall < w->o->until;
}

enum dl_status dl_report_begin(struct dl_report_pass *w) {
  struct dl_column columns[DL_JOB_COLUMNS];
  if (w->stream)
    return DL_OK;
  dl_job_headings(columns, &w->o->foot);
  return dl_stream_begin(
      &w->stream, w->cli->format, w->f,
      &(struct dl_table_form){"jobs", columns, DL_JOB_COLUMNS}, &w->cli->diag);
}

/* Whether a job is among those that are reported. */
static bool takes(struct dl_report_pass *w, const char *path,
                  const struct dl_cluster_job *job) {
  if (!among(&w->o->users, job->user) || !among(&w->o->accounts, job->project))
    return false;
  if (job->duration_s == 0 && !job->start_time) {
    w->never_ran++;
    return false;
  }
  return in_time(w, path, job);
}

/* Sets the mean carbon intensity of the time of a job. */
static enum dl_status set_intensity(struct dl_report_pass *w,
                                    const struct dl_cluster_job *job,
                                    struct dl_accounted *c) {
  struct dl_timestamp t;
  c->g_kwh = NAN;
  if (!w->o->foot.hours || isnan(c->energy_j))
    return DL_OK;
  if (!job->start_time || !dl_parse_start(job->start_time, &t) ||
      isnan(c->duration_s))
    return dl_fail_at(&w->cli->diag, DL_EINPUT, job->path, job->line,
                      "a job without a start and a duration: its carbon "
                      "intensity by the hour is unknown");
  w->n_naive += !t.zoned;
  return dl_hours_mean(w->o->foot.hours, t.ns,
                       dl_time_after(t.ns, c->duration_s), &c->g_kwh,
                       &w->cli->diag);
}

/* Notes the month of a job that begins as "2024-03-05T10:00:00". */
static void note_month(struct dl_report_pass *w,
                       const struct dl_cluster_job *job) {
  const char *s = job->start_time;
  char *first = w->months[0], *last = w->months[1];
  const size_t n = DL_MONTH_SIZE - 1;
  if (!s || strspn(s, "0123456789") != strlen("2024") || s[4] != '-' ||
      strspn(s + 5, "0123456789") != strlen("03"))
    return;
  if (!first[0] || memcmp(s, first, n) < 0)
    memcpy(first, s, n);
  if (memcmp(s, last, n) > 0)
    memcpy(last, s, n);
}

/* Adds a job up. */
static enum dl_status count(struct dl_report_pass *w,
                            const struct dl_cluster_job *job,
                            struct dl_accounted *c) {
  DL_TRY(dl_account(w->accounting, job, c, &w->cli->diag));
  DL_TRY(set_intensity(w, job, c));
  w->unfinished += job->state && dl_slurm_is_unfinished(job->state);
  dl_sums_add(&w->sums, c);
  note_month(w, job);
  if (w->tally)
    dl_group_totals_add(w->tally, job, c);
  return DL_OK;
}

/* The next row of a part, into a text (by any thread) or, NULL, the stream. */
static enum dl_status put_job(struct dl_report_pass *w, struct slot *s,
                              struct dl_text *to) {
  const struct dl_accounted *c = &s->job[s->written++];
  struct dl_value v[DL_JOB_COLUMNS];
  dl_job_values(c->job, c, &w->o->foot, v);
  return dl_stream_row(w->stream, v, to, &w->cli->diag);
}

/* Writes rows of a part as long as they depend on those before them. */
static enum dl_status write_first(struct dl_report_pass *w, struct slot *s) {
  if (s->n > 0)
    DL_TRY(dl_report_begin(w));
  while (s->written < s->n && !dl_stream_adds(w->stream))
    DL_TRY(put_job(w, s, NULL));
  return DL_OK;
}

/* In the order of the parts. */
static enum dl_status count_jobs(struct pipeline *p, struct slot *s) {
  struct dl_report_pass *w = p->w;
  struct dl_diag *d = &w->cli->diag;
  enum dl_status status = dl_log_part_settle(p->log, s->part, d);
  size_t n;
  const struct dl_cluster_job *job = dl_log_part_jobs(s->part, &n);
  s->n = s->written = 0;
  DL_GROW(s->job, s->cap, n);
  for (size_t i = 0; status == DL_OK && i < n; i++) {
    if (!p->log->importer->has_jobs &&
        !dl_shard_takes(&w->o->log.shard, w->n_rows++))
      continue;
    if (!takes(w, p->log->path, &job[i]))
      continue;
    status = count(w, &job[i], &s->job[s->n++]);
  }
  if (status == DL_OK && w->f)
    status = write_first(w, s);
  p->bytes = dl_log_part_bytes(s->part);
  dl_progress_bar_bytes(&w->cli->bar, p->before + p->bytes, p->total);
  return status;
}

static void format_jobs(struct dl_report_pass *w, struct slot *s) {
  while (w->f && s->written < s->n)
    put_job(w, s, &s->rows);
}

/* In the order of the parts. */
static enum dl_status write_jobs(struct pipeline *p, struct slot *s) {
  return s->rows.len > 0 ? dl_stream_write(p->w->stream, &s->rows, &p->writing)
                         : DL_OK;
}

/* Sends parts through: each stage of a part follows the one before, and the
 * stages that must keep the order follow their counterparts in the part before.
 */
static void run_stages(struct pipeline *p) {
  for (size_t i = 0; !atomic_load(&p->stop); i++) {
    struct slot *s = &p->slot[i % p->n_slots];
#pragma omp taskwait depend(inout : s->part)
    if (!dl_log_part_read(p->log, s->part))
      break;
#pragma omp task depend(inout : s->part)
    dl_log_part_import(s->part);
#pragma omp task depend(inout : s->part, p->counted)
    {
      if (p->counted == DL_OK)
        p->counted = count_jobs(p, s);
      if (p->counted != DL_OK) {
        s->n = s->written = 0; /* nothing of this part is written */
        atomic_store(&p->stop, true);
      }
    }
#pragma omp task depend(inout : s->part)
    format_jobs(p->w, s);
#pragma omp task depend(inout : s->part, p->written)
    {
      if (p->written == DL_OK)
        p->written = write_jobs(p, s);
      if (p->written != DL_OK)
        atomic_store(&p->stop, true);
    }
  }
}

static enum dl_status read_parts(struct pipeline *p, bool small) {
  p->n_slots = small ? 1 : SLOTS_PER_THREAD * (size_t)dl_threads();
  p->slot = dl_calloc(p->n_slots, sizeof *p->slot);
  for (size_t i = 0; i < p->n_slots; i++)
    p->slot[i].part = dl_log_part_new(p->log);
  p->writing = (struct dl_diag){0};
#pragma omp parallel if (!small)
#pragma omp single
  run_stages(p);
  dl_diag_take(&p->w->cli->diag, &p->writing);
  for (size_t i = 0; i < p->n_slots; i++) {
    dl_log_part_free(p->slot[i].part);
    free(p->slot[i].job);
    dl_text_free(&p->slot[i].rows);
  }
  free(p->slot);
  return p->counted != DL_OK ? p->counted : p->written;
}

/* Bytes of the logs that are plain files; 0: one is none. */
static size_t total_bytes(const struct dl_cli *cli) {
  size_t total = 0;
  struct stat st;
  for (size_t i = 0; i < cli->n_arguments; i++) {
    if (stat(cli->argument[i], &st) != 0 || !S_ISREG(st.st_mode))
      return 0;
    total += (size_t)st.st_size;
  }
  return total;
}

/* Reads a file, behind *done of `total` bytes. */
static enum dl_status read_file(struct dl_report_pass *w, const char *path,
                                size_t total, size_t *done) {
  struct dl_diag *d = &w->cli->diag;
  struct pipeline p = {.w = w, .before = *done, .total = total};
  struct dl_log_options o = w->o->log;
  struct stat st;
  o.seen = &w->seen;
  o.accounting = true;
  o.more = path != w->cli->argument[w->cli->n_arguments - 1];
  enum dl_status status = dl_log_open(&p.log, path, &o, d);
  if (status != DL_OK)
    return status;
  const struct dl_importer *from = p.log->importer;
  if (from->role != DL_LOG_RUNS)
    status = dl_fail_at(d, DL_EINPUT, p.log->path, 0,
                        "a log of %s has no jobs: dlest extract makes a table "
                        "of runs of it",
                        from->name);
  bool small =
      stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < SMALL_FILE;
  if (status == DL_OK)
    status = read_parts(&p, small);
  *done += p.bytes;
  dl_log_free(p.log);
  return status;
}

/* The jobs that waited for a later state, where the last file is no accounting
 * that reports them. */
static enum dl_status report_rest(struct dl_report_pass *w) {
  size_t n;
  const struct dl_cluster_job *job =
      dl_held_jobs_rest(&w->seen, &w->o->log.shard, NULL, &n);
  enum dl_status status = DL_OK;
  for (size_t i = 0; status == DL_OK && i < n; i++) {
    struct dl_accounted c;
    struct slot one = {.job = &c, .n = 1};
    if (!takes(w, NULL, &job[i]))
      continue;
    status = count(w, &job[i], &c);
    if (status == DL_OK && w->f)
      status = dl_report_begin(w);
    if (status == DL_OK && w->f)
      status = put_job(w, &one, NULL);
  }
  return status;
}

enum dl_status dl_report_read(struct dl_report_pass *w) {
  size_t total = total_bytes(w->cli), done = 0;
  enum dl_status status = DL_OK;
  if (w->f)
    dl_cli_rows_follow(w->cli);
  for (size_t i = 0; status == DL_OK && i < w->cli->n_arguments; i++)
    status = read_file(w, w->cli->argument[i], total, &done);
  if (status == DL_OK)
    status = report_rest(w);
  dl_progress_bar_clear(&w->cli->bar);
  struct dl_diag *d = &w->cli->diag;
  if (w->never_ran > 0)
    dl_warn(d,
            w->never_ran == 1 ? "%zu job never ran and is skipped"
                              : "%zu jobs never ran and are skipped",
            w->never_ran);
  if (w->undated > 0)
    dl_warn(d,
            w->undated == 1 ? "%zu job without a start time is skipped"
                            : "%zu jobs without a start time are skipped",
            w->undated);
  if (w->n_naive > 0)
    dl_warn(d,
            "start times of %zu jobs without a time zone are taken for UTC: "
            "run sacct with TZ=UTC",
            w->n_naive);
  dl_warn_shared_nodes(&w->seen, d);
  dl_run_overlaps_warn(&w->seen.hardware, d);
  dl_accounting_warn(w->accounting, d);
  if (status == DL_OK && w->sums.jobs == 0 && w->o->log.shard.count == 0)
    status = dl_fail(d, DL_EINPUT, "no jobs match");
  return status;
}
