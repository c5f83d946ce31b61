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
  struct dl_metric_series *series;
  size_t n, at_cap, series_cap;
  struct dl_metric_meters meters;
};

enum { LABEL_SIZE = 256 };

/* A text with labels: a="x", b="y". */
struct grafana_labels {
  const char *s;
  char *value; /* found last; LABEL_SIZE, borrowed */
};

/* The value of a label: of __name__ too. */
static const char *label_of(const void *ctx, const char *label) {
  const struct grafana_labels *l = ctx;
  size_t len = strlen(label);
  for (const char *s = l->s; *s;) {
    s += strspn(s, "{, ");
    bool is = strncmp(s, label, len) == 0 && s[len] == '=';
    s += strcspn(s, "=");
    if (s[0] != '=' || s[1] != '"')
      return NULL;
    size_t n = 0;
    for (s += 2; *s && *s != '"'; s++) {
      s += s[0] == '\\' && s[1];
      if (n + 1 < LABEL_SIZE)
        l->value[n++] = *s;
    }
    l->value[n] = '\0';
    if (is)
      return l->value;
    s += *s == '"';
    s += strspn(s, "}");
  }
  return NULL;
}

/* Reads the metric and the labels of a series from the name of a column. */
static bool read_name(const char *name, struct dl_metric_series *series) {
  char metric[LABEL_SIZE], value[LABEL_SIZE];
  const struct grafana_labels l = {name + strcspn(name, "{"), value};
  size_t n = strcspn(name, "{ ");
  if (*l.s == '{' && n == 0) {
    const char *s = label_of(&l, "__name__");
    snprintf(metric, sizeof metric, "%s", s ? s : "");
  } else {
    snprintf(metric, sizeof metric, "%.*s", n < sizeof metric ? (int)n : 0,
             name);
  }
  return dl_metric_series(series, metric, label_of, &l);
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
  struct dl_metric_series series;
  bool measures = false;
  size_t n = dl_csv_n_cols(log->csv);
  g->n = 0;
  g->time = dl_log_column(log, "Time");
  if (g->time < 0)
    return dl_fail_at(d, DL_EINPUT, head->path, 1, "column 'Time' is missing");
  for (size_t i = 0; i < n; i++) {
    if (!read_name(dl_csv_name(log->csv, i), &series))
      continue;
    DL_GROW(g->at, g->at_cap, g->n + 1);
    DL_GROW(g->series, g->series_cap, g->n + 1);
    dl_metric_meters_add(&g->meters, &series);
    g->at[g->n] = (long)i;
    g->series[g->n++] = series;
    measures |= series.quantity != DL_SAMPLE_UTIL;
  }
  return measures ? DL_OK
                  : dl_fail_at(d, DL_EINPUT, head->path, 1,
                               "no series of power or energy; query %s",
                               DL_METRICS_USED);
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
  for (size_t i = 0; i < g->n; i++) {
    const struct dl_metric_series *series = &g->series[i];
    const char *s = cell[g->at[i]];
    size_t len = strlen(s);
    /* A unit in the cell replaces the unit of the metric. */
    double scale = series->scale;
    if (is_nothing(s))
      continue;
    if (!dl_cell_value(s, len, dimension[series->quantity], scale, &x) || x < 0)
      return dl_log_bad(log, "column '%.80s': invalid number '%.40s'",
                        dl_csv_name(log->csv, (size_t)g->at[i]), s);
    dl_metric_value(&g->meters, series, x / scale);
  }
  dl_metric_flush(&g->meters, log, ns);
  return true;
}

static void free_state(void *state) {
  struct grafana *g = state;
  free(g->at);
  free(g->series);
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
