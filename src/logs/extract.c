/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces are read in parallel. Their results are returned in the order of the
 * logs, and so are tables of runs, which are read when it is their turn. If a
 * table contains jobs of a scheduler, traces wait for their job. */

#include "logs/extract.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "logs/importers/tables/run_overlaps.h"
#include "logs/epochs/hourly_emissions.h"
#include "logs/log_grouping.h"
#include "logs/log_part.h"
#include "logs/run_logs.h"
#include "logs/split_runs.h"
#include "logs/readings/measure.h"
#include "logs/slurm/held_jobs.h"
#include "logs/slurm/job_energy.h"
#include "logs/slurm/settle_jobs.h"
#include "logs/seen/seen_rows.h"

struct extraction {
  const struct dl_extract_options *o;
  struct dl_log_grouping logs;
  bool only; /* a single log was given */
  size_t n_extra;
  bool jobs; /* a table of jobs is among the logs */
  struct dl_waiting_run *waiting;
  size_t n_waiting;
  size_t n_runs;                  /* returned, or waiting */
  struct dl_seen_rows seen;       /* of all tables of jobs */
  size_t bytes_done, bytes_total; /* total 0: unknown */
  struct trace_outcome *
      *outcome;          /* of each log; NULL: not known yet, or returned */
  size_t next;           /* log whose result is returned next */
  enum dl_status status; /* of returning results */
  atomic_bool stop;
};

/* The result of a trace. */
struct trace_outcome {
  enum dl_status status;
  struct dl_diag diag;
  bool has_run;
  struct dl_run run; /* as measured */
  char **extra;
  struct dl_run *listed; /* runs that the log itself contains, owned */
  size_t n_listed;
  struct dl_run *device; /* GPUs that the run measured (log_summary.h), owned */
  size_t n_devices;
};

static void free_extra(const struct extraction *x, char **extra) {
  for (size_t i = 0; extra && i < x->n_extra; i++)
    free(extra[i]);
  free(extra);
}

static void free_outcome(const struct extraction *x,
                         struct trace_outcome *out) {
  dl_run_clear(&out->run);
  for (size_t i = 0; i < out->n_listed; i++)
    dl_run_clear(&out->listed[i]);
  free(out->listed);
  for (size_t i = 0; i < out->n_devices; i++)
    dl_run_clear(&out->device[i]);
  free(out->device);
  if (out->extra)
    free_extra(x, out->extra);
  dl_diag_free(&out->diag);
  free(out);
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

/* The place of the name of a run in the path of its log: the file's, or of a
 * folder above it. */
static size_t run_name_at(const struct dl_source *s) {
  size_t at = (size_t)(dl_path_name(s->path) - s->path);
  for (size_t i = 0; i < s->importer->folders_up && at > 0; i++)
    for (at--; at > 0 && s->path[at - 1] != '/';)
      at--;
  return at;
}

/* Sets the file, the format and, unless known, the run_id: the file's name
 * without folders and extension. */
static void set_origin(struct dl_run *run, const struct dl_source *s) {
  const char *name = s->path + run_name_at(s);
  bool is_stdin = dl_is_stdio(s->path);
  if (!s->importer->has_jobs || !run->file) /* a job may be of another table */
    dl_run_lend_text(run, DL_RUN_file, is_stdin ? "<stdin>" : s->path);
  dl_run_lend_text(run, DL_RUN_format, s->importer->name);
  if (is_stdin || run->run_id)
    return;
  size_t n =
      s->importer->folders_up > 0 ? strcspn(name, "/") : dl_path_stem(name);
  DL_FREED char *id = dl_strndup(name, n);
  dl_run_copy_text(run, DL_RUN_run_id, id);
}

/* Applies the user's settings, if any; returns the extra cells, or NULL. */
static char **apply_settings(struct extraction *x, const char *path,
                             struct dl_run *run, struct dl_diag *d) {
  if (!x->o->settings)
    return NULL;
  char **extra = dl_calloc(x->n_extra, sizeof *extra);
  const double logged = run->n_gpus;
  dl_settings_apply(x->o->settings, path, run, extra, d);
  if (logged > 0 && run->n_gpus > logged && !isnan(run->gpu_energy_j))
    dl_warn_at(d, path, 0,
               "n_gpus is set to %g, but the log has %g: the energy is that of "
               "the GPUs of the log",
               run->n_gpus, logged);
  return extra;
}

/* A mean power that no GPU has, or no computer: mistaken units. */
static void check_units(const struct dl_run *run, const char *path, size_t line,
                        struct dl_diag *d) {
  const double least_w = 1, most_w = 3000, most_node_w = 5e4;
  const double per_gpu = run->gpu_power_w / fmax(run->n_gpus, 1);
  const double all = run->energy_j / run->duration_s / fmax(run->n_gpus, 1);
  char watts[DL_NUMBER_SIZE], limit[DL_NUMBER_SIZE];
  if (run->gpu_power_w > DL_MOST_OF_LIMIT * run->gpu_limit_w)
    dl_warn_at(d, path, line,
               "mean power of %s W, more than the power limit of the GPUs of "
               "%s W: not plausible; check the unit of the column",
               dl_format_digits(watts, run->gpu_power_w, 3),
               dl_format_digits(limit, run->gpu_limit_w, 3));
  else if (per_gpu < least_w ||
           per_gpu > (line == 0 || run->n_gpus > 0 ? most_w : most_node_w))
    dl_warn_at(d, path, line,
               "mean power of %s W per GPU: not plausible; check the unit of "
               "the column",
               dl_format_digits(watts, per_gpu, 3));
  else if (isnan(per_gpu) && all > most_node_w)
    dl_warn_at(d, path, line,
               "mean power of %s W: not plausible; check the units of energy "
               "and time",
               dl_format_digits(watts, all, 3));
}

/* A run without energy, and measurements that contradict each other. */
static void check_power(const struct dl_run *run, size_t samples,
                        const char *path, struct dl_diag *d) {
  if (isnan(run->energy_j) && run->duration_s <= 0)
    dl_warn_at(d, path, 0,
               "all %zu samples have the same time: the run has no energy",
               samples);
  else if (isnan(run->energy_j))
    dl_warn_at(d, path, 0,
               "a device has no power in any of %zu samples: the run has no "
               "energy; check that each device reports its power",
               samples);
  else
    check_units(run, path, 0, d);
  const double parts_j = dl_or(run->gpu_energy_j, 0) +
                         dl_or(run->cpu_energy_j, 0) +
                         dl_or(run->ram_energy_j, 0);
  if (run->node_energy_j < 0.95 * parts_j)
    dl_warn_at(d, path, 0,
               "the node takes less energy than its parts (%.3g and %.3g J): "
               "check what the columns measure",
               run->node_energy_j, parts_j);
}

static enum dl_status make_run(struct extraction *x, const char *path,
                               struct dl_log_summary *log, size_t n,
                               struct trace_outcome *out) {
  const double least_s = 2e-4; /* 5 kHz */
  struct dl_diag *d = &out->diag;
  enum dl_status status = DL_OK;
  if (log->samples == 0 && log->n_runs > 0) {
    out->listed = log->run;
    out->n_listed = log->n_runs;
    log->run = NULL;
    log->n_runs = 0;
    return DL_OK;
  }
  if (log->samples < 2) {
    dl_skip_at(d, path, 0,
               log->samples == 0 ? "no samples"
                                 : "one sample only: nothing to integrate");
    return DL_OK;
  }
  dl_measure(&out->run, log, n);
  /* A companion without samples, but with a run, adds that run's values. */
  for (size_t i = 1; i < n; i++)
    if (log[i].samples == 0 && log[i].n_runs == 1) {
      dl_run_fill(&out->run, &log[i].run[0]);
      dl_measure_boundary(&out->run);
    }
  check_power(&out->run, log->samples, path, d);
  out->device = log->device;
  out->n_devices = log->n_devices;
  log->device = NULL;
  log->n_devices = 0;
  if (log->span.clock == DL_CLOCK_RELATIVE && log->interval_s >= 100)
    dl_warn_at(d, path, 0,
               "samples are %.4g s apart: check the unit of the times "
               "(milliseconds?)",
               log->interval_s);
  else if (log->span.clock == DL_CLOCK_RELATIVE && log->interval_s < least_s)
    dl_warn_at(d, path, 0,
               "samples are %.3g s apart: check the unit of the times (days?)",
               log->interval_s);
  if (x->o->inspect) {
#pragma omp critical(dl_extract_inspect)
    status = x->o->inspect(x->o->ctx, log, d);
  }
  if (status == DL_OK && log->curve.n > 1)
    status = dl_epochs_add(&out->run, log, n,
                           x->o->find_epochs ? &x->o->epochs : NULL, d);
  if (status == DL_OK && x->o->hours)
    status = dl_emissions_of_trace(&out->run, log, x->o->hours, path, d);
  if (status == DL_OK)
    out->extra = apply_settings(x, path, &out->run, d);
  out->has_run = status == DL_OK;
  return status;
}

static void extract_trace(struct extraction *x, size_t i,
                          struct trace_outcome *out) {
  struct dl_log_summary log[DL_RUN_LOGS_MAX];
  size_t n = 0;
  memset(log, 0, sizeof log);
  set_origin(&out->run, &x->logs.source[i]);
  const struct dl_run_logs logs = {.all = &x->logs,
                                   .o = x->o,
                                   .progress =
                                       x->o->progress ? add_progress : NULL,
                                   .ctx = x};
  out->status = dl_run_logs_read(&logs, i, log, &n, &out->diag);
  if (out->status == DL_OK)
    out->status =
        dl_split_runs(&logs, i, log, &out->listed, &out->n_listed, &out->diag);
  for (size_t k = 0; k < out->n_listed; k++)
    check_power(&out->listed[k], log->samples, x->logs.source[i].path,
                &out->diag);
  if (out->status == DL_OK && out->n_listed == 0)
    out->status = make_run(x, x->logs.source[i].path, log, n, out);
  for (size_t k = 0; k <= n && k < DL_RUN_LOGS_MAX; k++)
    dl_log_summary_free(&log[k]);
}

/* --- tables of runs */

static enum dl_status return_run(struct extraction *x,
                                 const struct dl_source *s, struct dl_run *run,
                                 bool only_job, struct dl_diag *d) {
  const double steady_s = 5; /* counters of energy are slow */
  set_origin(run, s);
  if (x->o->hours && !(run->co2e_g >= 0))
    DL_TRY(dl_emissions_of_run(run, x->o->hours, s->path, d));
  struct dl_waiting_run *log =
      dl_job_log(x->waiting, x->n_waiting, run, only_job);
  if (log)
    dl_job_add(run, log, d);
  char **extra = apply_settings(x, s->path, run, d);
  for (size_t i = 0; log && i < x->n_extra; i++)
    if (!extra[i]) {
      extra[i] = log->extra[i];
      log->extra[i] = NULL;
    }
  double time_share;
  dl_run_overlaps_add(&x->seen.hardware, run, NULL, s->path, &time_share);
  if (run->duration_s >= steady_s)
    check_units(run, s->path, run->line, d);
  enum dl_status status = x->o->sink(x->o->ctx, run, extra, d);
  x->n_runs += status == DL_OK;
  free_extra(x, extra);
  return status;
}

/* Whether a later log is a table of jobs, too. */
static bool more_jobs(const struct extraction *x, const struct dl_source *s) {
  for (const struct dl_source *l = s + 1; l < x->logs.source + x->logs.n; l++)
    if (l->role == DL_LOG_RUNS && l->importer->has_jobs)
      return true;
  return false;
}

static enum dl_status extract_table(struct extraction *x, struct dl_source *s,
                                    struct dl_diag *d) {
  struct dl_log_block block;
  struct dl_log *log;
  enum dl_status status = DL_OK;
  size_t n = 0, before = x->n_runs, waiting = dl_held_jobs_n(&x->seen);
  DL_TRY(dl_source_open(s, &x->o->log, &log, d));
  log->o.seen = &x->seen;
  log->o.more = more_jobs(x, s);
  struct dl_log_part *part = dl_log_part_new(log);
  while (status == DL_OK) {
    status = dl_log_part_next(log, part, &block, d);
    if (status != DL_OK || block.n_runs + block.n_readings == 0)
      break;
    n += block.n_runs;
    for (size_t i = 0; status == DL_OK && i < block.n_runs; i++)
      status = return_run(x, s, &block.run[i], n == 1, d);
  }
  size_t of_table = x->n_runs - before + dl_held_jobs_n(&x->seen);
  if (status == DL_OK && of_table <= waiting && !log->completes)
    dl_skip_at(d, log->path, 0, "no runs");
  dl_log_part_free(part);
  dl_log_free(log);
  return status;
}

/* --- all logs */

/* Reports that a log cannot be used: the error of the command if it is the only
 * log. */
static enum dl_status skip_log(const struct extraction *x,
                               enum dl_status status, const char *error,
                               struct dl_diag *d) {
  if (x->only || status == DL_OK)
    return dl_fail(d, status, "%s", error);
  dl_skip_at(d, NULL, 0, "%s", error);
  return DL_OK;
}

/* Returns the result of log i. */
static enum dl_status return_outcome(struct extraction *x, size_t i,
                                     struct trace_outcome *out,
                                     struct dl_diag *d) {
  struct dl_source *s = &x->logs.source[i];
  enum dl_status status = DL_OK;
  if (s->run != i)
    return DL_OK;
  if (!s->importer)
    return skip_log(x, s->status, s->error, d);
  if (s->role == DL_LOG_RUNS)
    return x->jobs ? DL_OK : extract_table(x, s, d);
  if (out->status != DL_OK && out->diag.error) {
    DL_FREED char *error = out->diag.error;
    out->diag.error = NULL;
    dl_diag_take(d, &out->diag);
    status = skip_log(x, out->status, error, d);
    return status;
  }
  dl_diag_take(d, &out->diag);
  for (size_t k = 0; status == DL_OK && k < out->n_listed; k++)
    status = return_run(x, s, &out->listed[k], out->n_listed == 1, d);
  if (status != DL_OK || !out->has_run)
    return status;
  dl_run_overlaps_add_devices(&x->seen.hardware, out->device, out->n_devices);
  x->n_runs++;
  if (!x->jobs)
    return x->o->sink(x->o->ctx, &out->run, out->extra, d);
  x->waiting[x->n_waiting++] =
      (struct dl_waiting_run){s->path, out->run, out->extra, false};
  out->run = dl_run_unknown;
  out->extra = NULL;
  return DL_OK;
}

/* Returns all results whose turn it is. Any thread that has finished a log does
 * this, one at a time, so that no thread waits for an earlier log. */
static void return_ready(struct extraction *x, struct dl_diag *d) {
  for (; x->next < x->logs.n && x->outcome[x->next]; x->next++) {
    struct trace_outcome *out = x->outcome[x->next];
    if (x->status == DL_OK)
      x->status = return_outcome(x, x->next, out, d);
    atomic_store(&x->stop, x->status != DL_OK);
    free_outcome(x, out);
    x->outcome[x->next] = NULL;
  }
}

static enum dl_status extract_all(struct extraction *x, struct dl_diag *d) {
  DL_FREED struct trace_outcome **all = dl_calloc(x->logs.n, sizeof *all);
  x->outcome = all;
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < x->logs.n; i++) {
    const struct dl_source *s = &x->logs.source[i];
    struct trace_outcome *out = dl_calloc(1, sizeof *out);
    out->run = dl_run_unknown;
    if (!atomic_load(&x->stop) && s->importer && s->run == i &&
        s->role != DL_LOG_RUNS)
      extract_trace(x, i, out);
#pragma omp critical(dl_extract_return)
    {
      x->outcome[i] = out;
      return_ready(x, d);
    }
  }
  return x->status;
}

/* Returns the jobs in their order, then the traces that belong to none. */
static enum dl_status return_jobs(struct extraction *x, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; status == DL_OK && i < x->logs.n; i++)
    if (x->logs.source[i].role == DL_LOG_RUNS)
      status = extract_table(x, &x->logs.source[i], d);
  for (size_t i = 0; status == DL_OK && i < x->n_waiting; i++)
    if (!x->waiting[i].taken) {
      dl_warn_at(d, x->waiting[i].path, 0, "belongs to none of the jobs");
      status =
          x->o->sink(x->o->ctx, &x->waiting[i].run, x->waiting[i].extra, d);
    }
  return status;
}

/* Refuses options that choose samples for logs that have none, and a second
 * reading of a pipe. */
static enum dl_status check_windows(const struct extraction *x,
                                    struct dl_diag *d) {
  const struct dl_log_options *o = &x->o->log;
  bool window = o->since.is != DL_BOUND_NONE || o->until.is != DL_BOUND_NONE;
  bool splits = x->o->split_idle_s > 0;
  for (size_t i = 0; i < x->logs.n; i++) {
    const struct dl_source *s = &x->logs.source[i];
    if (s->role == DL_LOG_RUNS && (window || splits))
      return dl_fail_at(d, DL_EUSAGE, s->path, 0,
                        "a table of runs: --since, --until and --split-idle "
                        "choose the samples of a log");
    if (splits && (s->once || s->joined))
      return dl_fail_at(d, DL_EUSAGE, dl_input_name(s->path), 0,
                        "--split-idle takes logs of one node that can be read "
                        "twice: files, without --join");
  }
  return DL_OK;
}

enum dl_status dl_extract(char *const *paths, size_t n,
                          const struct dl_extract_options *o,
                          struct dl_diag *d) {
  struct extraction x = {.o = o, .only = n == 1};
  enum dl_status status = DL_OK;
  enum dl_log_joining join = o->nodes ? DL_JOIN_ALL : DL_JOIN_LOGS;
  dl_log_grouping_make(&x.logs, paths, n, &o->log,
                       o->alone ? DL_JOIN_NONE : join, d);
  if (o->shard.count > 0)
    status = dl_log_grouping_take_shard(&x.logs, &o->shard, d);
  if (status != DL_OK) {
    dl_log_grouping_free(&x.logs);
    return status;
  }
  status = check_windows(&x, d);
  if (status != DL_OK) {
    dl_log_grouping_free(&x.logs);
    return status;
  }
  n = x.logs.n;
  x.n_extra = o->settings ? dl_settings_extra(o->settings)->n : 0;
  bool jobs = false, traces = false, sized = true;
  for (size_t i = 0; i < n; i++) {
    const struct dl_source *s = &x.logs.source[i];
    bool table = s->role == DL_LOG_RUNS;
    struct stat st;
    jobs = jobs || (table && s->importer->has_jobs);
    traces = traces || (s->importer && !table);
    sized = sized && stat(s->path, &st) == 0 && S_ISREG(st.st_mode);
    if (sized && s->role != DL_LOG_MEMORY)
      x.bytes_total += (size_t)st.st_size;
  }
  x.jobs = jobs && traces;
  x.bytes_total = sized ? x.bytes_total : 0;
  x.waiting = dl_calloc(n, sizeof *x.waiting);
  status = extract_all(&x, d);
  if (status == DL_OK && x.jobs)
    status = return_jobs(&x, d);
  for (size_t i = 0; i < x.n_waiting; i++) {
    dl_run_clear(&x.waiting[i].run);
    free_extra(&x, x.waiting[i].extra);
  }
  free(x.waiting);
  dl_warn_shared_nodes(&x.seen, d);
  dl_run_overlaps_warn(&x.seen.hardware, d);
  dl_seen_rows_free(&x.seen);
  dl_log_grouping_free(&x.logs);
  if (status == DL_OK && x.n_runs == 0 && o->shard.count == 0)
    return dl_fail(d, DL_EINPUT, "no runs in %s",
                   x.only ? "this log" : "these logs");
  return status;
}
