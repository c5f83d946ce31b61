/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces are read side by side; what comes out is told in the order of the
 * logs, and so are tables of runs, which are read in their turn. Where such a
 * table holds a scheduler's jobs, traces wait for theirs. */

#include "logs/extract.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "logs/log_grouping.h"
#include "logs/readings/measure.h"
#include "logs/slurm/job_energy.h"

/* Logs of one run beside its trace. */
enum { COMPANIONS_MAX = 8 };

struct extraction {
  const struct dl_extract_options *o;
  struct dl_plan plan;
  size_t n_extra;
  bool jobs; /* a table of jobs is among the logs */
  struct dl_waiting *waiting;
  size_t n_waiting;
  size_t n_runs; /* handed out, or waiting */
  size_t bytes_done, bytes_total;
};

/* What a trace gave. */
struct outcome {
  enum dl_status status;
  struct dl_diag diag;
  bool has_run;
  struct dl_run run; /* as measured */
  char **extra;
  struct dl_run *given; /* runs that the log itself has */
  size_t n_given;
};

/* Outcomes by log, and whose turn it is to be told. */
struct turns {
  struct outcome **outcome; /* NULL: not there yet, or told */
  size_t next;
  enum dl_status status;
  atomic_bool stop;
};

static void free_extra(const struct extraction *x, char **extra) {
  for (size_t i = 0; extra && i < x->n_extra; i++)
    free(extra[i]);
  free(extra);
}

static void free_outcome(const struct extraction *x, struct outcome *out) {
  dl_run_clear(&out->run);
  for (size_t i = 0; i < out->n_given; i++)
    dl_run_clear(&out->given[i]);
  free(out->given);
  free_extra(x, out->extra);
  dl_diag_free(&out->diag);
}

static void add_progress(void *ctx, size_t bytes) {
  struct extraction *x = ctx;
#pragma omp critical(dl_extract_progress)
  {
    x->bytes_done += bytes;
    x->o->progress(x->o->ctx, x->bytes_done, x->bytes_total);
  }
}

/* --- one run from its logs */

static bool is_memory(const struct dl_source *s) {
  return s->importer && s->importer->role == DL_LOG_MEMORY;
}

/* A companion that cannot be read is left out of its run, not the run. */
static enum dl_status read_companion(struct extraction *x, struct dl_source *s,
                                     const struct dl_track_options *like,
                                     const struct dl_track *trace,
                                     struct dl_track *t, struct dl_diag *d) {
  struct dl_diag own;
  struct dl_track_options o = *like;
  struct dl_log *opened = s->opened;
  s->opened = NULL;
  dl_diag_init(&own);
  o.ram_log = NULL;
  o.ram_opened = NULL;
  o.log.drop_last = 0;
  o.other_ns = trace->first_ns;
  o.other_end_ns = trace->last_ns;
  o.other_clock = trace->clock;
  (void)x;
  enum dl_status status = dl_track_read(t, s->path, opened, &o, &own);
  if (status != DL_OK && own.status == DL_EINPUT) {
    dl_warn(d, "%s; left out of the run", own.error);
    dl_diag_free(&own);
    return DL_OK;
  }
  dl_diag_take(d, &own);
  return status;
}

/* Beside the memory log: one of them may say where epochs end. */
static bool has_companions(const struct extraction *x, size_t i, size_t ram) {
  for (size_t k = 0; k < x->plan.n; k++)
    if (k != i && k != ram && x->plan.source[k].run == i)
      return true;
  return false;
}

static enum dl_status read_tracks(struct extraction *x, size_t i,
                                  struct dl_track *track, size_t *n,
                                  struct dl_diag *d) {
  struct dl_source *s = &x->plan.source[i];
  struct dl_track_options o = {
      .log = x->o->log,
      .meter = x->o->meter,
      .progress = x->o->progress ? add_progress : NULL,
      .ctx = x,
  };
  o.log.from = s->importer;
  size_t ram = x->plan.n;
  for (size_t k = 0; k < x->plan.n && ram == x->plan.n; k++)
    if (k != i && x->plan.source[k].run == i && is_memory(&x->plan.source[k]))
      ram = k;
  if (ram < x->plan.n) {
    o.ram_log = x->plan.source[ram].path;
    o.ram_opened = &x->plan.source[ram].opened;
  }
  o.curve = x->o->epochs.find || has_companions(x, i, ram);
  struct dl_log *opened = s->opened;
  s->opened = NULL;
  *n = 1;
  enum dl_status status = dl_track_read(&track[0], s->path, opened, &o, d);
  for (size_t k = 0; status == DL_OK && k < x->plan.n && *n < COMPANIONS_MAX;
       k++)
    if (k != i && k != ram && x->plan.source[k].run == i) {
      o.log.from = x->plan.source[k].importer;
      status =
          read_companion(x, &x->plan.source[k], &o, &track[0], &track[*n], d);
      *n += status == DL_OK;
    }
  return status;
}

/* The file's name without folders and ending. */
static void set_run_id(struct dl_run *run, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  if (strcmp(path, "-") == 0)
    return;
  char *id =
      dl_strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
  dl_run_set_text(run, "run_id", id);
  run->failed = run->failed || !id;
  free(id);
}

static void set_origin(struct dl_run *run, const struct dl_source *s) {
  dl_run_set_text(run, "file", strcmp(s->path, "-") == 0 ? "<stdin>" : s->path);
  dl_run_set_text(run, "format", s->importer->name);
  if (!dl_run_get_text(run, "run_id"))
    set_run_id(run, s->path);
}

/* Settings and what follows from them. */
static enum dl_status complete(struct extraction *x, const struct dl_source *s,
                               struct dl_run *run, char ***extra,
                               struct dl_diag *d) {
  *extra = dl_calloc(x->n_extra, sizeof **extra);
  if (!*extra)
    return dl_fail_memory(d);
  enum dl_status status =
      x->o->settings
          ? dl_settings_apply(x->o->settings, s->path, run, *extra, d)
          : DL_OK;
  return status == DL_OK && run->failed ? dl_fail_memory(d) : status;
}

/* What companions have in place of samples: one run, which is this one. */
static void fill_from_companions(struct dl_run *run, struct dl_track *track,
                                 size_t n) {
  for (size_t i = 1; i < n; i++)
    if (track[i].samples == 0 && track[i].n_runs == 1) {
      dl_run_fill(run, &track[i].run[0]);
      dl_measure_boundary(run);
    }
}

static enum dl_status make_run(struct extraction *x, size_t i,
                               struct dl_track *track, size_t n,
                               struct outcome *out) {
  struct dl_source *s = &x->plan.source[i];
  struct dl_diag *d = &out->diag;
  enum dl_status status;
  if (track->samples == 0 && track->n_runs > 0) {
    out->given = track->run;
    out->n_given = track->n_runs;
    track->run = NULL;
    track->n_runs = 0;
    return DL_OK;
  }
  if (track->samples < 2) {
    dl_skip_at(d, s->path, 0,
               track->samples == 0 ? "no samples"
                                   : "one sample only: nothing to integrate");
    return DL_OK;
  }
  if (!dl_run_init(&out->run))
    return dl_fail_memory(d);
  set_origin(&out->run, s);
  dl_measure(&out->run, track, n);
  fill_from_companions(&out->run, track, n);
  if (x->o->inspect) {
#pragma omp critical(dl_extract_inspect)
    status = x->o->inspect(x->o->ctx, track, d);
    if (status != DL_OK)
      return status;
  }
  status = dl_epochs_add(&out->run, track, n, &x->o->epochs, d);
  if (status == DL_OK)
    status = complete(x, s, &out->run, &out->extra, d);
  out->has_run = status == DL_OK;
  return status;
}

static void extract_trace(struct extraction *x, size_t i, struct outcome *out) {
  struct dl_track track[COMPANIONS_MAX];
  size_t n = 0;
  memset(track, 0, sizeof track);
  out->status = read_tracks(x, i, track, &n, &out->diag);
  if (out->status == DL_OK)
    out->status = make_run(x, i, track, n, out);
  for (size_t k = 0; k < COMPANIONS_MAX; k++)
    dl_track_free(&track[k]);
}

/* --- tables of runs */

static enum dl_status tell_run(struct extraction *x, const struct dl_source *s,
                               struct dl_run *run, bool only_job,
                               struct dl_diag *d) {
  char **extra = NULL;
  set_origin(run, s);
  struct dl_waiting *log = dl_job_log(x->waiting, x->n_waiting, run, only_job);
  if (log)
    dl_job_add(run, log, d);
  enum dl_status status = complete(x, s, run, &extra, d);
  for (size_t i = 0; log && status == DL_OK && i < x->n_extra; i++)
    if (!extra[i]) {
      extra[i] = log->extra[i];
      log->extra[i] = NULL;
    }
  if (status == DL_OK)
    status = x->o->sink(x->o->ctx, run, extra, d);
  x->n_runs += status == DL_OK;
  free_extra(x, extra);
  return status;
}

static enum dl_status tell_block(struct extraction *x,
                                 const struct dl_source *s,
                                 const struct dl_log_block *block,
                                 bool only_job, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; status == DL_OK && i < block->n_runs; i++)
    status = tell_run(x, s, &block->run[i], only_job, d);
  return status;
}

static enum dl_status extract_table(struct extraction *x, struct dl_source *s,
                                    struct dl_diag *d) {
  struct dl_log_options o = x->o->log;
  struct dl_log_block block;
  struct dl_log *log = s->opened;
  enum dl_status status = DL_OK;
  s->opened = NULL;
  o.from = s->importer;
  if (!log)
    status = dl_log_open(&log, s->path, &o, d);
  size_t n = 0, before = x->n_runs;
  while (status == DL_OK) {
    status = dl_log_next(log, &block, d);
    if (status != DL_OK || block.n_runs + block.n_readings == 0)
      break;
    n += block.n_runs;
    status = tell_block(x, s, &block, n == 1, d);
  }
  if (status == DL_OK && x->n_runs == before)
    dl_skip_at(d, dl_log_path(log), 0, "no runs");
  dl_log_free(log);
  return status;
}

/* --- all of them */

static bool is_table(const struct dl_source *s) {
  return s->importer && s->importer->role == DL_LOG_RUNS;
}

/* Tells a log's fault: the only log's is the whole command's. */
static enum dl_status tell_fault(const struct extraction *x,
                                 enum dl_status status, const char *error,
                                 struct dl_diag *d) {
  if (x->plan.n == 1 || status == DL_OK)
    return dl_fail(d, status, "%s", error);
  dl_skip_at(d, NULL, 0, "%s", error);
  return DL_OK;
}

static enum dl_status keep_waiting(struct extraction *x, const char *path,
                                   struct outcome *out) {
  x->waiting[x->n_waiting++] =
      (struct dl_waiting){path, out->run, out->extra, false};
  out->run = (struct dl_run){0};
  out->extra = NULL;
  x->n_runs++;
  return DL_OK;
}

/* In its turn: what came of a log. */
static enum dl_status tell(struct extraction *x, size_t i, struct outcome *out,
                           struct dl_diag *d) {
  struct dl_source *s = &x->plan.source[i];
  if (s->run != i)
    return DL_OK;
  if (!s->importer)
    return tell_fault(x, s->status, s->error, d);
  if (is_table(s))
    return x->jobs ? DL_OK : extract_table(x, s, d);
  if (out->status != DL_OK && out->diag.error) {
    char *error = dl_strdup(out->diag.error);
    free(out->diag.error);
    out->diag.error = NULL;
    dl_diag_take(d, &out->diag);
    enum dl_status status =
        error ? tell_fault(x, out->status, error, d) : dl_fail_memory(d);
    free(error);
    return status;
  }
  dl_diag_take(d, &out->diag);
  enum dl_status status = DL_OK;
  for (size_t k = 0; status == DL_OK && k < out->n_given; k++)
    status = tell_run(x, s, &out->given[k], out->n_given == 1, d);
  if (status != DL_OK || !out->has_run)
    return status;
  if (x->jobs)
    return keep_waiting(x, s->path, out);
  x->n_runs++;
  return x->o->sink(x->o->ctx, &out->run, out->extra, d);
}

/* Tells all outcomes that are next in turn. Whoever is done with a log does
 * this, one at a time, so that nobody waits for a log before his own. */
static void tell_ready(struct extraction *x, struct turns *t,
                       struct dl_diag *d) {
  for (; t->next < x->plan.n && t->outcome[t->next]; t->next++) {
    struct outcome *out = t->outcome[t->next];
    if (t->status == DL_OK)
      t->status = tell(x, t->next, out, d);
    atomic_store(&t->stop, t->status != DL_OK);
    free_outcome(x, out);
    free(out);
    t->outcome[t->next] = NULL;
  }
}

static enum dl_status extract_all(struct extraction *x, struct dl_diag *d) {
  struct turns t = {dl_calloc(x->plan.n, sizeof(struct outcome *)), 0, DL_OK,
                    false};
  if (!t.outcome)
    return dl_fail_memory(d);
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < x->plan.n; i++) {
    const struct dl_source *s = &x->plan.source[i];
    struct outcome *out = dl_calloc(1, sizeof *out);
    if (out)
      dl_diag_init(&out->diag);
    if (out && !atomic_load(&t.stop) && s->importer && s->run == i &&
        !is_table(s))
      extract_trace(x, i, out);
#pragma omp critical(dl_extract_tell)
    {
      if (out) {
        t.outcome[i] = out;
        tell_ready(x, &t, d);
      } else {
        t.status = dl_fail_memory(d);
        atomic_store(&t.stop, true);
      }
    }
  }
  for (size_t i = t.next; i < x->plan.n; i++)
    if (t.outcome[i]) { /* only where memory has run out */
      free_outcome(x, t.outcome[i]);
      free(t.outcome[i]);
    }
  free(t.outcome);
  return t.status;
}

/* Jobs in their order, then the traces that none has taken. */
static enum dl_status tell_jobs(struct extraction *x, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; status == DL_OK && i < x->plan.n; i++)
    if (is_table(&x->plan.source[i]))
      status = extract_table(x, &x->plan.source[i], d);
  for (size_t i = 0; status == DL_OK && i < x->n_waiting; i++)
    if (!x->waiting[i].taken) {
      dl_warn_at(d, x->waiting[i].path, 0, "belongs to none of the jobs");
      status =
          x->o->sink(x->o->ctx, &x->waiting[i].run, x->waiting[i].extra, d);
    }
  return status;
}

/* Whether both a scheduler's jobs and traces are there. */
static bool has_jobs(const struct dl_plan *p) {
  bool jobs = false, traces = false;
  for (size_t i = 0; i < p->n; i++) {
    const struct dl_source *s = &p->source[i];
    jobs = jobs || (is_table(s) && s->importer->has_jobs);
    traces = traces || (s->importer && !is_table(s));
  }
  return jobs && traces;
}

static size_t total_bytes(const struct dl_plan *p) {
  size_t sum = 0;
  struct stat st;
  for (size_t i = 0; i < p->n; i++) {
    if (stat(p->source[i].path, &st) != 0 || !S_ISREG(st.st_mode))
      return 0;
    if (!is_memory(&p->source[i]))
      sum += (size_t)st.st_size;
  }
  return sum;
}

enum dl_status dl_extract(char *const *paths, size_t n,
                          const struct dl_extract_options *o,
                          struct dl_diag *d) {
  struct extraction x = {.o = o};
  enum dl_status status =
      dl_plan_make(&x.plan, paths, n, &o->log, !o->alone, d);
  if (status != DL_OK)
    return status;
  x.n_extra = o->settings ? dl_settings_extra(o->settings)->n : 0;
  x.jobs = has_jobs(&x.plan);
  x.bytes_total = o->progress ? total_bytes(&x.plan) : 0;
  x.waiting = dl_calloc(n, sizeof *x.waiting);
  status = x.waiting ? extract_all(&x, d) : dl_fail_memory(d);
  if (status == DL_OK && x.jobs)
    status = tell_jobs(&x, d);
  for (size_t i = 0; x.waiting && i < x.n_waiting; i++) {
    dl_run_clear(&x.waiting[i].run);
    free_extra(&x, x.waiting[i].extra);
  }
  free(x.waiting);
  dl_plan_free(&x.plan);
  if (status == DL_OK && x.n_runs == 0)
    return dl_fail(d, DL_EINPUT, "no runs in %s",
                   n == 1 ? "this log" : "these logs");
  return status;
}
