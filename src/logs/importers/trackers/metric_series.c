/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/trackers/metric_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "logs/log.h"

#define METRIC(name, measures, what, unit)                                     \
  { .metric = (name), .kind = (measures), .quantity = (what), .scale = (unit) }
static const struct dl_metric_series metrics[] = {
    METRIC("DCGM_FI_DEV_POWER_USAGE", DL_METER_GPU, DL_SAMPLE_POWER, 1),
    /* mJ since the driver was loaded */
    METRIC("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", DL_METER_GPU,
           DL_SAMPLE_ENERGY, 1e-3),
    METRIC("DCGM_FI_DEV_GPU_UTIL", DL_METER_GPU, DL_SAMPLE_UTIL, 0.01),
    METRIC("nvidia_smi_power_draw_watts", DL_METER_GPU, DL_SAMPLE_POWER, 1),
    METRIC("nvidia_smi_utilization_gpu_ratio", DL_METER_GPU, DL_SAMPLE_UTIL, 1),
    METRIC("nvidia_smi_power_draw_instant_watts", DL_METER_GPU, DL_SAMPLE_POWER,
           1),
    METRIC("gpu_power_usage_W", DL_METER_GPU, DL_SAMPLE_POWER, 1),
    METRIC("gpu_utilization_Percentage", DL_METER_GPU, DL_SAMPLE_UTIL, 0.01),
    /* each zone of each socket */
    METRIC("kepler_node_cpu_watts", DL_METER_CPU, DL_SAMPLE_POWER, 1),
    METRIC("kepler_node_cpu_joules_total", DL_METER_CPU, DL_SAMPLE_ENERGY, 1),
    METRIC("kepler_node_platform_watts", DL_METER_NODE, DL_SAMPLE_POWER, 1),
    METRIC("kepler_node_platform_joules_total", DL_METER_NODE, DL_SAMPLE_ENERGY,
           1),
    METRIC("scaph_host_power_microwatts", DL_METER_CPU, DL_SAMPLE_POWER, 1e-6),
    METRIC("ipmi_dcmi_power_consumption_watts", DL_METER_NODE, DL_SAMPLE_POWER,
           1),
};

/* The value of the first of several labels; "" where there is none. */
static const char *any_label(dl_label_fn *label, const void *ctx,
                             const char *const *names) {
  for (; *names; names++) {
    const char *value = label(ctx, *names);
    if (value && *value)
      return value;
  }
  return "";
}

/* Kepler's zones of a processor: cores and uncore are parts of a package. */
static bool zone_kind(struct dl_metric_series *s, const char *zone) {
  static const char *const measured[] = {"package", "dram"};
  if (!zone || s->kind != DL_METER_CPU)
    return true;
  if (strncmp(zone, measured[1], strlen(measured[1])) == 0)
    s->kind = DL_METER_RAM;
  return s->kind == DL_METER_RAM ||
         strncmp(zone, measured[0], strlen(measured[0])) == 0;
}

static bool read_series(struct dl_metric_series *s, const char *metric,
                        dl_label_fn *label, const void *ctx) {
  static const char *const uuids[] = {"UUID", "uuid", NULL};
  static const char *const hosts[] = {
      "Hostname", "hostname",          "kubernetes_node", "nodename", "host",
      "node",     "exported_instance", "instance",        NULL};
  static const char *const zones[] = {"path", "zone", NULL};
  static const char *const gpus[] = {"gpu", "device", "index", NULL};
  static const char *const names[] = {"modelName", "name", "devicename", NULL};
  size_t i = 0;
  while (i < DL_LENGTH(metrics) && strcmp(metrics[i].metric, metric) != 0)
    i++;
  if (i == DL_LENGTH(metrics))
    return false;
  *s = metrics[i];
  if (!zone_kind(s, label(ctx, "zone")))
    return false;
  bool gpu = s->kind == DL_METER_GPU;
  const char *uuid = gpu ? any_label(label, ctx, uuids) : "";
  bool known = *uuid != '\0';
  if (strncmp(uuid, "GPU-", 4) == 0) /* nvidia_gpu_exporter leaves it out */
    uuid += 4;
  snprintf(s->id, sizeof s->id, "%.80s", uuid); /* until the next label */
  snprintf(s->host, sizeof s->host, "%.79s", any_label(label, ctx, hosts));
  if (!known)
    strcpy(s->id, s->host);
  char *port = strrchr(s->host, ':'); /* of the exporter; id keeps it */
  if (port && port[1 + strspn(port + 1, "0123456789")] == '\0')
    *port = '\0';
  size_t n = strlen(s->id);
  if (gpu && !known)
    snprintf(s->id + n, sizeof s->id - n, ":%.60s",
             any_label(label, ctx, gpus));
  if (s->kind == DL_METER_CPU || s->kind == DL_METER_RAM)
    snprintf(s->id + n, sizeof s->id - n, ":%.70s",
             any_label(label, ctx, zones));
  if (gpu)
    snprintf(s->name, sizeof s->name, "%.79s", any_label(label, ctx, names));
  return true;
}

bool dl_metric_meters_add(struct dl_metric_meters *m, const char *metric,
                          dl_label_fn *label, const void *ctx) {
  struct dl_metric_series s;
  size_t i = 0;
  if (!read_series(&s, metric, label, ctx))
    return false;
  while (i < m->n && (m->meter[i].series.kind != s.kind ||
                      strcmp(m->meter[i].series.id, s.id) != 0))
    i++;
  s.meter = i;
  DL_GROW(m->series, m->cap_series, m->n_series + 1);
  m->series[m->n_series++] = s;
  if (i < m->n)
    return true;
  DL_GROW(m->meter, m->cap, m->n + 1);
  m->meter[m->n++] =
      (struct dl_metric_meter){.series = s, .now = dl_reading_at(0, 0)};
  return true;
}

/* Two exporters name one GPU in two ways, where no label has its UUID. */
static void doubt_exporters(const struct dl_metric_meters *m, const char *path,
                            size_t line, struct dl_diag *d) {
  const char *first = NULL;
  for (size_t i = 0; i < m->n; i++) {
    const struct dl_metric_series *s = &m->meter[i].series;
    if (s->kind != DL_METER_GPU)
      continue;
    first = first ? first : s->metric;
    if (strncmp(first, s->metric, strcspn(first, "_") + 1) == 0)
      continue;
    dl_warn_at(d, path, line,
               "GPUs of %s and of %s count beside each other: if they are the "
               "same ones, query one of them",
               first, s->metric);
    return;
  }
}

enum dl_status dl_metric_meters_check(const struct dl_metric_meters *m,
                                      const char *path, size_t line,
                                      struct dl_diag *d) {
  for (size_t i = 0; i < m->n_series; i++)
    if (m->series[i].quantity != DL_SAMPLE_UTIL) {
      doubt_exporters(m, path, line, d);
      return DL_OK;
    }
  return dl_fail_at(d, DL_EINPUT, path, line,
                    "no series of power or energy; query "
                    "DCGM_FI_DEV_POWER_USAGE, nvidia_smi_power_draw_watts, "
                    "kepler_node_cpu_watts or "
                    "ipmi_dcmi_power_consumption_watts");
}

void dl_metric_value(struct dl_metric_meters *m, size_t series, double value) {
  const struct dl_metric_series *s = &m->series[series];
  struct dl_metric_meter *of = &m->meter[s->meter];
  double *const values[] = {[DL_SAMPLE_POWER] = &of->now.power_w,
                            [DL_SAMPLE_ENERGY] = &of->now.energy_j,
                            [DL_SAMPLE_UTIL] = &of->now.util};
  double *to = values[s->quantity];
  double x = value * s->scale;
  if (!isnan(*to) && *to != x && of->from[s->quantity] == s->metric)
    m->differs = s->metric;
  if (!isnan(*to) || !isfinite(x) || (s->quantity == DL_SAMPLE_UTIL && x > 1))
    return;
  *to = x;
  of->from[s->quantity] = s->metric;
  of->filled = true;
}

void dl_metric_flush(struct dl_metric_meters *m, struct dl_log *log,
                     int64_t ns) {
  if (m->differs && !m->reported) {
    dl_skip_at(log->d, log->path, 0,
               "%s: series of one device differ, the first counts; no label "
               "(UUID, Hostname, instance) distinguishes devices",
               m->differs);
    m->reported = true;
  }
  for (size_t i = 0; i < m->n; i++) {
    struct dl_metric_meter *of = &m->meter[i];
    if (!of->filled)
      continue;
    of->now.ns = ns;
    const char *id = of->series.id[0] ? of->series.id : NULL;
    const char *name = of->series.name[0] ? of->series.name : NULL;
    of->now.meter = dl_log_meter(log, of->series.kind, id, name);
    dl_log_host(log, of->now.meter, of->series.host);
    dl_log_reading(log, &of->now);
    of->now = dl_reading_at(0, 0);
    of->filled = false;
  }
}

void dl_metric_meters_free(struct dl_metric_meters *m) {
  free(m->series);
  free(m->meter);
  *m = (struct dl_metric_meters){0};
}
