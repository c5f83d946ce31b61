/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/split_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "logs/epochs/busy_spans.h"
#include "logs/epochs/epochs.h"
#include "logs/epochs/hourly_emissions.h"
#include "logs/readings/measure.h"

static struct dl_time_bound bound_at(int64_t ns) {
  return (struct dl_time_bound){.is = DL_BOUND_TIME,
                                .time = {.ns = ns, .dated = true}};
}

/* Makes a run of the samples within a span: the log's name and a number. */
static enum dl_status read_span(const struct dl_run_logs *logs, size_t i,
                                const struct dl_time_span *span,
                                struct dl_run *run, size_t *n,
                                struct dl_diag *d) {
  const char *name = dl_path_name(logs->all->source[i].path);
  struct dl_log_summary log[DL_RUN_LOGS_MAX];
  struct dl_extract_options o = *logs->o;
  struct dl_run_logs own = *logs;
  size_t n_logs = 0;
  DL_TEXT(id);
  memset(log, 0, sizeof log);
  own.o = &o;
  own.progress = NULL;
  o.split_idle_s = 0;
  o.log.since = bound_at(span->from_ns);
  o.log.until = bound_at(span->to_ns);
  enum dl_status status = dl_run_logs_read(&own, i, log, &n_logs, d);
  if (status == DL_OK && log->samples > 1) {
    *run = dl_run_unknown;
    dl_measure(run, log, n_logs);
    dl_text_add_n(&id, name, dl_path_stem(name));
    dl_text_printf(&id, "-%zu", ++*n);
    dl_run_copy_text(run, DL_RUN_run_id, dl_text_str(&id));
    if (log->curve.n > 1)
      status =
          dl_epochs_add(run, log, n_logs, o.find_epochs ? &o.epochs : NULL, d);
    if (status == DL_OK && o.hours)
      status = dl_emissions_of_trace(run, log, o.hours,
                                     logs->all->source[i].path, d);
  }
  for (size_t k = 0; k <= n_logs && k < DL_RUN_LOGS_MAX; k++)
    dl_log_summary_free(&log[k]);
  return status;
}

enum dl_status dl_split_runs(const struct dl_run_logs *logs, size_t i,
                             const struct dl_log_summary *log,
                             struct dl_run **run, size_t *n,
                             struct dl_diag *d) {
  const double idle_s = logs->o->split_idle_s;
  DL_FREED struct dl_time_span *span = NULL;
  char time[DL_NUMBER_SIZE];
  enum dl_status status = DL_OK;
  size_t spans = idle_s > 0 ? dl_busy_spans(&log->curve, idle_s, &span) : 0;
  *n = 0;
  if (spans < 2)
    return DL_OK;
  *run = dl_calloc(spans, sizeof **run);
  for (size_t k = 0; k < spans && status == DL_OK; k++)
    status = read_span(logs, i, &span[k], &(*run)[*n], n, d);
  dl_warn_at(d, logs->all->source[i].path, 0,
             "split into %zu runs at idle times of %s or more, whose energy is "
             "in none of them",
             *n, dl_format_duration(time, idle_s));
  return status;
}
