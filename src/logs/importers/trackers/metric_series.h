/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time series of Prometheus: which meter a metric with its labels is. Metrics
 * of NVIDIA's dcgm-exporter, of nvidia_gpu_exporter (1.0 to 1.4),
 * nvitop-exporter, Kepler (0.10 on), Scaphandre (1.0) and of ipmi_exporter. */

#ifndef DL_LOGS_IMPORTERS_TRACKERS_METRIC_SERIES_H
#define DL_LOGS_IMPORTERS_TRACKERS_METRIC_SERIES_H

#include "logs/importers/importer.h"
#include "logs/importers/tables/sample_columns.h"

struct dl_metric_series {
  const char *metric; /* static */
  enum dl_meter_kind kind;
  enum dl_sample_quantity quantity;
  double scale;  /* to W, J, or a share of 1 */
  char id[160];  /* of the device; "": none */
  char name[80]; /* of the device; "": unknown */
  char host[80]; /* its node; "": unknown */
  size_t meter;  /* index in dl_metric_meters */
};

/* The value of a label until the next call, or NULL. */
typedef const char *dl_label_fn(const void *ctx, const char *label);

/* Series, and their meters with values of one moment. Starts as zero bytes. */
struct dl_metric_meters {
  struct dl_metric_series *series; /* in the order of the log; owned */
  size_t n_series, cap_series;
  struct dl_metric_meter {
    struct dl_metric_series series; /* the first of it */
    struct dl_reading now;
    const char *from[3]; /* metrics of the values of now, by quantity */
    bool filled;
  } * meter; /* owned */
  size_t n, cap;
  const char *differs; /* a metric with two values of one device at a time */
  bool reported;
};

/* Reads a series from its metric and labels, and adds it, with a meter if it is
 * the first of one. False for metrics that are no power, energy or utilization
 * of a device. */
bool dl_metric_meters_add(struct dl_metric_meters *m, const char *metric,
                          dl_label_fn *label, const void *ctx);

/* Fails without a series of power or energy. */
enum dl_status dl_metric_meters_check(const struct dl_metric_meters *m,
                                      const char *path, size_t line,
                                      struct dl_diag *d);

/* Adds a value of a series at the current time. The first value of a quantity
 * counts: series of one device that differ in other labels (its MIG slices, the
 * pods that use it) repeat its value. If their values differ, the labels do not
 * distinguish devices, and the next flush reports it. */
void dl_metric_value(struct dl_metric_meters *m, size_t series, double value);

/* Makes readings of the moment, and begins the next. */
void dl_metric_flush(struct dl_metric_meters *m, struct dl_log *log,
                     int64_t ns);

void dl_metric_meters_free(struct dl_metric_meters *m);

#endif
