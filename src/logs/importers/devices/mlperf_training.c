/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power of a node in MLPerf Training, as its submissions log it (v4.0 on, a
 * file of each node, power/result_0/node_0.txt):
 *
 *   :::MLLOG {"namespace": "", "time_ms": 1700000000000, "event_type":
 *   "POINT_IN_TIME", "key": "power_reading", "value": 9500.0, "metadata":
 *   {"file": "p.py", "lineno": 88, "host": "node_0"}}
 *
 * Values are W. Readings count up to power_measurement_stop. conversion_eff is
 * the efficiency of the power supplies: MLPerf divides by it, readings are used
 * as they are. Other keys are ignored, and so is what precedes ":::MLLOG" in a
 * line. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/json_read.h"
#include "logs/log.h"

#define MARK ":::MLLOG"
#define KEY "\"power_reading\""

static bool probe(const struct dl_head *head) {
  const char *s = strstr(head->text, MARK);
  return s && strstr(s, KEY);
}

static const char *lacks(const struct dl_head *head) {
  return strstr(head->text, MARK " {")
             ? "a log of MLPerf Training without a key 'power_reading': give "
               "the power logs of its nodes (power/*/node_*.txt)"
             : NULL;
}

static bool add_reading(struct dl_log *log, const dl_json *entry) {
  struct dl_json_value time = dl_json_get(entry, "time_ms");
  struct dl_json_value watts = dl_json_get(entry, "value");
  const dl_json *metadata = dl_json_member(entry, "metadata");
  const char *host = dl_json_get(metadata, "host").text;
  struct dl_reading r = dl_reading_at(0, 0);
  char text[64];
  snprintf(text, sizeof text, "%.0f", time.number);
  if (time.type != DL_JSON_NUMBER ||
      !dl_log_time(log, text, strlen(text), &r.ns))
    return dl_log_bad(log, "key 'time_ms': invalid time '%.40s'",
                      time.type == DL_JSON_NUMBER ? text : "");
  if (watts.type != DL_JSON_NUMBER || watts.number < 0)
    return dl_log_bad(log, "key 'value': invalid power");
  r.power_w = watts.number;
  r.meter = dl_log_meter(log, DL_METER_NODE, host, NULL);
  if (host)
    dl_log_host(log, r.meter, host);
  dl_log_reading(log, &r);
  return true;
}

/* The keys that matter. */
enum key { OTHER_KEY = -1, STOP, EFFICIENCY, READING };

static enum key key_of(const dl_json *entry) {
  static const char *const keys[] = {[STOP] = "power_measurement_stop",
                                     [EFFICIENCY] = "conversion_eff",
                                     [READING] = "power_reading"};
  return (enum key)dl_text_index(
      keys, DL_LENGTH(keys), dl_text_or(dl_json_get(entry, "key").text, ""));
}

static bool line(struct dl_log *log, char *s) {
  bool *stopped = log->state;
  DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
  dl_json *entry;
  char *text = strstr(s, MARK);
  if (!text)
    return true;
  text += strlen(MARK);
  if (dl_json_parse(&entry, text, strlen(text), log->path, &own) != DL_OK)
    return dl_log_bad(log, "not valid JSON behind ':::MLLOG'");
  double value = dl_json_get(entry, "value").number;
  bool ok = true;
  switch (key_of(entry)) {
  case STOP:
    *stopped = true;
    break;
  case EFFICIENCY:
    if (value < 1)
      dl_log_warn(log,
                  "conversion_eff is %g: the power at the plug is that of the "
                  "readings divided by it, and readings are used as they are",
                  value);
    break;
  case READING:
    ok = *stopped || add_reading(log, entry);
    break;
  case OTHER_KEY:
    break;
  }
  dl_json_free(entry);
  return ok;
}

const struct dl_importer dl_import_mlperf_training = {
    .name = "mlperf-training",
    .summary = "power log of a node in MLPerf Training (:::MLLOG)",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(bool),
    .probe = probe,
    .lacks = lacks,
    .line = line,
};
