/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prometheus: the answer of its HTTP API to a query of a range,
 *
 *   GET /api/v1/query_range?query=DCGM_FI_DEV_POWER_USAGE&start=...
 *   {"status":"success","data":{"resultType":"matrix","result":[{"metric":
 *    {"__name__":"DCGM_FI_DEV_POWER_USAGE","gpu":"0",...},
 *    "values":[[1709629200,"250.5"],...]},...]}}
 *
 * Series without the name of a metric, as functions and sums give them, are
 * left out. */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/json_read.h"
#include "logs/importers/trackers/metric_series.h"
#include "logs/log.h"

struct series_sample {
  int64_t ns;
  size_t series; /* in the order of the answer */
  double value;
};

struct answer {
  struct series_sample *sample;
  size_t n, cap;
  struct dl_metric_meters meters;
};

static const char *label_of(const void *metric, const char *label) {
  return dl_json_get(metric, label).text;
}

static bool probe(const struct dl_head *head) {
  const char *s = head->text + strspn(head->text, " \t\r\n");
  return *s == '{' && strstr(s, "\"status\"") &&
         (strstr(s, "\"resultType\"") || strstr(s, "\"errorType\""));
}

static bool add_sample(struct dl_log *log, struct answer *a,
                       const dl_json *pair) {
  struct dl_json_value time = dl_json_value_at(pair, 0),
                       value = dl_json_value_at(pair, 1);
  const size_t series = a->meters.n_series - 1;
  char clock[64];
  double x;
  int64_t ns;
  if (time.type != DL_JSON_NUMBER || value.type != DL_JSON_TEXT ||
      !dl_cell_number(value.text, strlen(value.text), &x) || x < 0)
    return dl_log_bad(log, "%s of '%.80s': invalid sample '%.40s'",
                      a->meters.series[series].metric,
                      a->meters.series[series].id,
                      value.text ? value.text : "");
  int len = snprintf(clock, sizeof clock, "%.3f", time.number);
  if (len >= (int)sizeof clock || !dl_log_time(log, clock, (size_t)len, &ns))
    return dl_log_bad(log, "invalid time '%s'", clock);
  if (!(x <= 1e300)) /* NaN: the series was stale */
    return true;
  DL_GROW(a->sample, a->cap, a->n + 1);
  a->sample[a->n++] = (struct series_sample){ns, series, x};
  return true;
}

/* Returns whether the series is one that is used. */
static bool add_series(struct dl_log *log, struct answer *a,
                       const dl_json *result) {
  const dl_json *metric = dl_json_member(result, "metric");
  const dl_json *values = dl_json_member(result, "values");
  const char *name = label_of(metric, "__name__");
  if (!name || !dl_metric_meters_add(&a->meters, name, label_of, metric))
    return false;
  for (size_t i = 0; i < dl_json_size(values); i++)
    add_sample(log, a, dl_json_at(values, i));
  return true;
}

static int by_time(const void *a, const void *b) {
  const struct series_sample *x = a, *y = b;
  if (x->ns != y->ns)
    return x->ns < y->ns ? -1 : 1;
  return (x->series > y->series) - (x->series < y->series);
}

/* Readings of all series in the order of their times. */
static void add_readings(struct dl_log *log, struct answer *a) {
  if (a->n > 1)
    qsort(a->sample, a->n, sizeof *a->sample, by_time);
  for (size_t i = 0; i < a->n; i++) {
    const struct series_sample *s = &a->sample[i];
    dl_metric_value(&a->meters, s->series, s->value);
    if (i + 1 == a->n || a->sample[i + 1].ns != s->ns)
      dl_metric_flush(&a->meters, log, s->ns);
  }
}

static enum dl_status read_answer(struct dl_log *log, struct answer *a,
                                  const dl_json *j, struct dl_diag *d) {
  const dl_json *data = dl_json_member(j, "data");
  const dl_json *results = dl_json_member(data, "result");
  const char *type = dl_json_get(data, "resultType").text;
  size_t n = dl_json_size(results), used = 0;
  if (dl_is_word(dl_json_get(j, "status").text, "error")) {
    const char *kind = dl_json_get(j, "errorType").text;
    const char *error = dl_json_get(j, "error").text;
    return dl_fail_at(
        d, DL_EINPUT, log->path, 0, "the query failed: %.40s: %.200s",
        dl_text_or(kind, "error"), dl_text_or(error, "no reason given"));
  }
  if (!dl_is_word(type, "matrix"))
    return dl_fail_at(d, DL_EINPUT, log->path, 0,
                      "the answer has no range of times; use query_range");
  for (size_t i = 0; i < n; i++)
    used += add_series(log, a, dl_json_at(results, i));
  DL_TRY(dl_metric_meters_check(&a->meters, log->path, 0, d));
  if (used < n)
    dl_warn_at(d, log->path, 0,
               "%zu of %zu series are of no power, energy or utilization and "
               "left out",
               n - used, n);
  add_readings(log, a);
  return DL_OK;
}

static enum dl_status text(struct dl_log *log, const char *s, size_t len,
                           struct dl_diag *d) {
  struct answer a = {0};
  dl_json *j;
  enum dl_status status = dl_json_parse(&j, s, len, log->path, d);
  if (status == DL_OK)
    status = read_answer(log, &a, j, d);
  dl_json_free(j);
  free(a.sample);
  dl_metric_meters_free(&a.meters);
  return status;
}

const struct dl_importer dl_import_prometheus = {
    .name = "prometheus",
    .summary = "Prometheus: the answer of /api/v1/query_range (JSON)",
    .probe = probe,
    .text = text,
};
