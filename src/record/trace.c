/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes recordings. */

#include "config.h"

#include "record/trace.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

/* Columns of a sensor, as bits. */
static const unsigned POWER = 1, ENERGY = 2, UTIL = 4, MEMORY = 8, CLOCK = 16;

static const char *const parts[] = {[DL_METER_GPU] = "gpu",
                                    [DL_METER_CPU] = "cpu",
                                    [DL_METER_RAM] = "ram",
                                    [DL_METER_NODE] = "node"};

static enum dl_status check(struct dl_trace *t, struct dl_diag *d) {
  errno = 0;
  if (fflush(t->f) == 0 && !ferror(t->f))
    return DL_OK;
  return dl_fail_errno(d, t->path, "cannot write", errno ? errno : EIO);
}

/* The device in the names of columns: gpu0, cpu1, node. */
static void write_device(FILE *f, const struct dl_sensors *s, size_t i) {
  size_t index = 0;
  for (size_t k = 0; k < i; k++)
    index += s->s[k].part == s->s[i].part;
  fputs(parts[s->s[i].part], f);
  if (s->s[i].part != DL_METER_NODE || index > 0)
    fprintf(f, "%zu", index);
  if (s->s[i].assumed) /* readers of recordings count what is measured */
    fputs("_assumed", f);
}

static void write_columns(struct dl_trace *t, const struct dl_sensors *s) {
  static const char *const names[] = {"power_w", "energy_j", "util_pct",
                                      "memory_used_gb", "clock_mhz"};
  fputs("timestamp", t->f);
  for (size_t i = 0; i < s->n; i++)
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
      if (t->columns[i] & 1U << k) {
        fputc(',', t->f);
        write_device(t->f, s, i);
        fprintf(t->f, "_%s", names[k]);
      }
  fputc('\n', t->f);
}

/* The columns of a sensor: the quantities that its last reading gave. */
static unsigned columns_of(const struct dl_sensor *r) {
  unsigned columns = r->gave_power || !r->gave_energy ? POWER : 0;
  if (r->gave_energy)
    columns |= ENERGY;
  if (!isnan(r->util))
    columns |= UTIL;
  if (!isnan(r->memory_b))
    columns |= MEMORY;
  if (!isnan(r->clock_hz))
    columns |= CLOCK;
  return columns;
}

enum dl_status dl_trace_begin(struct dl_trace *t, const struct dl_sensors *s,
                              struct dl_diag *d) {
  FILE *f = t->f;
  t->columns = dl_calloc(s->n, sizeof *t->columns);
  fprintf(f, "# dlest record %s\n", PACKAGE_VERSION);
  if (t->command)
    fprintf(f, "# command: %s\n", t->command);
  if (t->host)
    fprintf(f, "# host: %s\n", t->host);
  if (t->job)
    fprintf(f, "# job: %s\n", t->job);
  if (t->n_nodes > 1)
    fprintf(f, "# node: %zu of %zu\n", t->node, t->n_nodes);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *r = &s->s[i];
    fputs("# ", f);
    write_device(f, s, i);
    fprintf(f, ": %s, %s, by %s", r->name, r->id, r->kind->name);
    if (!isnan(r->limit_w))
      fprintf(f, ", limit %.0f W", r->limit_w);
    if (r->method)
      fprintf(f, ", power %s", r->method);
    fputc('\n', f);
    t->columns[i] = columns_of(r);
  }
  write_columns(t, s);
  return check(t, d);
}

void dl_trace_comment(struct dl_trace *t, const char *format, ...) {
  va_list args;
  fputs("# ", t->f);
  va_start(args, format);
  vfprintf(t->f, format, args);
  va_end(args);
  fputc('\n', t->f);
}

void dl_trace_free(struct dl_trace *t) {
  free(t->columns);
  *t = (struct dl_trace){0};
}

void dl_time_stamp(int64_t ns, char to[DL_STAMP_SIZE]) {
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm tm;
  gmtime_r(&seconds, &tm);
  size_t n = strftime(to, DL_STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
  snprintf(to + n, DL_STAMP_SIZE - n, ".%03dZ", (int)(ns / 1000000 % 1000));
}

/* A value with `digits` decimals; nothing where it is unknown. */
static void write_value(FILE *f, double x, int digits) {
  fputc(',', f);
  if (!isnan(x))
    fprintf(f, "%.*f", digits, x);
}

enum dl_status dl_trace_sample(struct dl_trace *t, const struct dl_sensors *s,
                               int64_t ns, struct dl_diag *d) {
  char stamp[DL_STAMP_SIZE];
  dl_time_stamp(ns, stamp);
  fputs(stamp, t->f);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *r = &s->s[i];
    if (t->columns[i] & POWER)
      write_value(t->f, r->power_w, 3);
    if (t->columns[i] & ENERGY)
      write_value(t->f, r->energy_j, 3);
    if (t->columns[i] & UTIL)
      write_value(t->f, r->util * 100, 1);
    if (t->columns[i] & MEMORY)
      write_value(t->f, r->memory_b * 1e-9, 3);
    if (t->columns[i] & CLOCK)
      write_value(t->f, r->clock_hz * 1e-6, 0);
  }
  fputc('\n', t->f);
  return check(t, d);
}
