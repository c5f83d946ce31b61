/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grafana: what "Inspect", "Data", "Series joined by time", "Download CSV"
 * saves of a panel of Prometheus whose legend is not set: a column Time and one
 * per series, whose name is the metric with its labels,
 *
 *   "Time","DCGM_FI_DEV_POWER_USAGE{gpu=""0"", Hostname=""n1"", ...}",...
 *   "Time","{__name__=""DCGM_FI_DEV_POWER_USAGE"", gpu=""0"", ...}",...
 *
 * Times are dates or milliseconds since 1970; values may have their unit
 * ("250 W"). A legend such as "GPU 0" says no quantity: such columns have to be
 * renamed (gpu0_power_w), and the table is one of samples. */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/csv.h"
#include "logs/importers/trackers/metric_series.h"
#include "logs/log.h"

struct grafana {
  long time;
  long *at; /* column of each series; owned */
  size_t at_cap;
  struct dl_metric_meters meters;
};

/* Appends the names and values of labels, a="x", b="y", by turns. */
static void read_labels(struct dl_strlist *labels, const char *s) {
  while (*s) {
    DL_TEXT(name);
    DL_TEXT(value);
    s += strspn(s, "{, ");
    size_t n = strcspn(s, "=");
    if (s[n] != '=' || s[n + 1] != '"')
      return;
    dl_text_add_n(&name, s, n);
    for (s += n + 2; *s && *s != '"'; s++) {
      s += s[0] == '\\' && s[1];
      dl_text_add_n(&value, s, 1);
    }
    dl_strlist_add(labels, dl_text_str(&name));
    dl_strlist_add(labels, dl_text_str(&value));
    s += *s == '"';
    s += strspn(s, "}");
  }
}

/* The value of a label: of __name__ too. */
static const char *label_of(const void *ctx, const char *label) {
  const struct dl_strlist *l = ctx;
  for (size_t i = 0; i < l->n; i += 2)
    if (strcmp(l->s[i], label) == 0)
      return l->s[i + 1];
  return NULL;
}

/* Adds the series that the name of a column describes. */
static bool add_series(struct dl_metric_meters *m, const char *name) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist labels = {0};
  DL_TEXT(metric);
  size_t n = strcspn(name, "{ ");
  read_labels(&labels, name + strcspn(name, "{"));
  dl_text_add_n(&metric, name, n);
  const char *own = n == 0 ? label_of(&labels, "__name__") : NULL;
  return dl_metric_meters_add(m, own ? own : dl_text_str(&metric), label_of,
                              &labels);
}

static bool probe(const struct dl_head *head) {
  static const char *const starts[] = {"\"Time\",", "Time,"};
  const char *s = head->text, *end;
  bool timed = false;
  if (strncmp(s, "\xEF\xBB\xBF", 3) == 0)
    s += 3;
  for (size_t i = 0; i < DL_LENGTH(starts) && !timed; i++)
    timed = strncmp(s, starts[i], strlen(starts[i])) == 0;
  end = s + strcspn(s, "\r\n");
  const char *brace = timed ? strchr(s, '{') : NULL;
  return brace && brace < end;
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct grafana *g = log->state;
  size_t n = dl_csv_n_cols(log->csv);
  g->meters.n_series = 0;
  g->time = dl_log_column(log, "Time");
  if (g->time < 0)
    return dl_fail_at(d, DL_EINPUT, head->path, 1, "column 'Time' is missing");
  for (size_t i = 0; i < n; i++)
    if (add_series(&g->meters, dl_csv_name(log->csv, i))) {
      DL_GROW(g->at, g->at_cap, g->meters.n_series);
      g->at[g->meters.n_series - 1] = (long)i;
    }
  return dl_metric_meters_check(&g->meters, head->path, 1, d);
}

/* Grafana writes what a series lacks as nothing, "null" or "undefined". */
static bool is_nothing(const char *cell) {
  return !*cell || dl_word_among("null|undefined|-", cell, strlen(cell)) >= 0;
}

static bool row(struct dl_log *log, const char *const *cell) {
  static const enum dl_dimension dimension[] = {DL_POWER, DL_ENERGY_UNIT,
                                                DL_SHARE};
  struct grafana *g = log->state;
  int64_t ns;
  double x;
  if (!dl_cell_time(log, "Time", cell[g->time], &ns))
    return false;
  for (size_t i = 0; i < g->meters.n_series; i++) {
    const struct dl_metric_series *series = &g->meters.series[i];
    const char *s = cell[g->at[i]];
    size_t len = strlen(s);
    /* A unit in the cell replaces the unit of the metric. */
    double scale = series->scale;
    if (is_nothing(s))
      continue;
    if (!dl_cell_value(s, len, dimension[series->quantity], scale, &x) || x < 0)
      return dl_log_bad(log, "column '%.80s': invalid number '%.40s'",
                        dl_csv_name(log->csv, (size_t)g->at[i]), s);
    dl_metric_value(&g->meters, i, x / scale);
  }
  dl_metric_flush(&g->meters, log, ns);
  return true;
}

static void free_state(void *state) {
  struct grafana *g = state;
  free(g->at);
  dl_metric_meters_free(&g->meters);
}

const struct dl_importer dl_import_grafana = {
    .name = "grafana",
    .summary = "Grafana: a panel of Prometheus, series joined by time, as CSV",
    .state_size = sizeof(struct grafana),
    .probe = probe,
    .begin = begin,
    .row = row,
    .free = free_state,
};
