/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/run_logs.h"

#include <math.h>
#include <string.h>

#include "logs/readings/gaps.h"
#include "logs/readings/node_join.h"

/* Share of a run that a companion may not cover. */
#define APART_SHARE 0.02

/* A companion that cannot be read is not joined to its run. */
static enum dl_status read_companion(struct dl_source *source,
                                     const struct dl_log_options *options,
                                     const struct dl_summary_options *o,
                                     struct dl_log_summary *summary,
                                     struct dl_diag *d) {
  struct dl_diag own = {0};
  struct dl_log *log;
  enum dl_status status = dl_source_open(source, options, &log, &own);
  if (status == DL_OK)
    status = dl_log_summarise(summary, log, o, &own);
  if (status != DL_OK && own.status == DL_EINPUT) {
    dl_warn(d, "%s; not included in the run", own.error);
    dl_diag_free(&own);
    summary->duration_s = NAN;
    return DL_OK;
  }
  dl_diag_take(d, &own);
  return status;
}

/* Drops the energies of a companion that covers only a part of the trace, since
 * the energies of other times would be missing in the sum. Programs may start
 * and stop a little apart. */
static void check_companion(struct dl_log_summary *log, const char *path,
                            const struct dl_log_summary *trace,
                            struct dl_diag *d) {
  const struct dl_log_span *a = &log->span, *b = &trace->span;
  double covered_s;
  if (log->samples > 0) {
    int64_t from = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
    int64_t to = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
    covered_s = (double)(dl_gaps_removed(trace->hole, trace->n_holes, to) -
                         dl_gaps_removed(trace->hole, trace->n_holes, from)) /
                1e9;
  } else if (log->n_runs == 1) {
    covered_s = log->run[0].duration_s;
  } else {
    if (log->n_marks == 0)
      dl_warn_at(d, path, 0, "no sample at the time of the run: not included");
    return;
  }
  double apart_s = fabs(trace->duration_s - covered_s);
  double allowed_s = fmax(APART_SHARE * trace->duration_s,
                          2 * fmax(trace->interval_s, log->interval_s));
  if (!(apart_s > allowed_s))
    return;
  dl_warn_at(d, path, 0,
             "covers %.6g s of the run's %.6g s: its energy is not included",
             covered_s, trace->duration_s);
  for (size_t i = 0; i < DL_N_METER_KINDS; i++)
    log->kind[i] = dl_kind_unknown;
  for (size_t i = 0; i < log->n_runs; i++)
    dl_run_clear(&log->run[i]);
  log->n_runs = 0;
}

/* The first companion of a trace among the sources from index k - 1 on that
 * belong to it, NULL: none is left. */
static struct dl_source *companion_from(const struct dl_run_logs *x, size_t k) {
  struct dl_source *source = x->all->source;
  while (k > 0 && source[k - 1].role == DL_LOG_PRIMARY)
    k = source[k - 1].next;
  return k > 0 ? &source[k - 1] : NULL;
}

/* Summarises the logs of a node: its trace i first. */
static enum dl_status read_node(const struct dl_run_logs *x, size_t i,
                                struct dl_log_summary *log, size_t *n,
                                struct dl_diag *d) {
  struct dl_source *trace = &x->all->source[i], *ram = NULL, *s;
  struct dl_log_options options = x->o->log;
  struct dl_log *log_of_trace;
  struct dl_summary_options o = {
      .meter = x->o->meter,
      .curve = x->o->find_epochs || trace->joined,
      .progress = x->progress,
      .ctx = x->ctx,
  };
  for (s = companion_from(x, trace->first); s; s = companion_from(x, s->next))
    if (!ram && s->role == DL_LOG_MEMORY)
      ram = s;
    else
      o.curve = true; /* a companion may contain the ends of epochs */
  DL_TRY(dl_source_open(trace, &options, &log_of_trace, d));
  o.curve = o.curve || log_of_trace->has_epochs || x->o->split_idle_s > 0 ||
            x->o->hours;
  options.drop_last = 0; /* companions end with the trace */
  enum dl_status status =
      ram ? dl_source_open(ram, &options, &o.ram, d) : DL_OK;
  if (status != DL_OK) {
    dl_log_free(log_of_trace);
    return status;
  }
  *n = 1;
  status = dl_log_summarise(log, log_of_trace, &o, d);
  o.ram = NULL;
  o.is_companion = log->samples > 0;
  o.trace = log->span;
  o.hole = log->hole;
  o.n_holes = log->n_holes;
  for (s = companion_from(x, trace->first);
       s && status == DL_OK && *n < DL_RUN_LOGS_MAX;
       s = companion_from(x, s->next)) {
    if (s == ram)
      continue;
    status = read_companion(s, &options, &o, &log[*n], d);
    if (status == DL_OK && log[*n].duration_s >= 0)
      check_companion(&log[*n], s->path, log, d);
    *n += status == DL_OK;
  }
  return status;
}

/* Adds the node of trace k to the run. */
static enum dl_status add_node(const struct dl_run_logs *x, size_t k,
                               struct dl_log_summary *run, struct dl_diag *d) {
  struct dl_log_summary node[DL_RUN_LOGS_MAX];
  const char *path = x->all->source[k].path;
  size_t n = 0;
  memset(node, 0, sizeof node);
  enum dl_status status = read_node(x, k, node, &n, d);
  if (status == DL_OK && node->samples < 2)
    status = dl_fail_at(d, DL_EINPUT, path, 0, "fewer than two samples");
  if (status == DL_OK) {
    dl_node_flatten(node, n);
    status = dl_node_add(run, node, path, d);
  }
  for (size_t i = 0; i <= n && i < DL_RUN_LOGS_MAX; i++)
    dl_log_summary_free(&node[i]);
  return status;
}

enum dl_status dl_run_logs_read(const struct dl_run_logs *x, size_t i,
                                struct dl_log_summary log[DL_RUN_LOGS_MAX],
                                size_t *n, struct dl_diag *d) {
  const struct dl_source *source = x->all->source;
  DL_TRY(read_node(x, i, log, n, d));
  size_t nodes = source[i].origin ? source[i].origin->n_nodes : 0;
  if (!source[i].joined) {
    if (nodes > 1)
      dl_warn_at(d, source[i].path, 0,
                 "of one of the %zu nodes of the job: give the recordings of "
                 "the others, too",
                 nodes);
    return DL_OK;
  }
  dl_node_flatten(log, *n);
  *n = 1;
  for (size_t k = source[i].first; k > 0; k = source[k - 1].next)
    if (source[k - 1].joined)
      DL_TRY(add_node(x, k - 1, log, d));
  dl_node_end(log, source[i].path, d);
  if (nodes > log->n_joined)
    dl_warn_at(d, source[i].path, 0,
               "recordings of %zu of the %zu nodes of the job", log->n_joined,
               nodes);
  return DL_OK;
}
