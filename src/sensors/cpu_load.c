/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assumes that the power of CPUs without a sensor is their load times a TDP
 * that is stated, or the catalogue's. The load, from /proc/stat, is the share
 * of the time since the last reading in which the CPUs were neither idle nor
 * waiting for a device (proc_stat(5)). */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sensors/sensor_kinds.h"

struct cpu_load {
  double tdp_w;
  double busy, all; /* ticks up to the last reading */
};

/* Ticks of all CPUs since the machine started. */
static bool read_ticks(double *busy, double *all) {
  unsigned long long t[8] = {0};
  FILE *f = fopen("/proc/stat", "re");
  if (!f)
    return false;
  int n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1],
                 &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
  fclose(f);
  *all = 0;
  for (int i = 0; i < n; i++)
    *all += (double)t[i];
  *busy = *all - (double)t[3] - (double)t[4]; /* idle, iowait */
  return n >= 5;
}

static bool read_load(struct dl_sensor *s) {
  struct cpu_load *l = s->state;
  double busy, all;
  if (!read_ticks(&busy, &all))
    return false;
  if (all > l->all)
    s->util = (busy - l->busy) / (all - l->all);
  l->busy = busy;
  l->all = all;
  s->power_w = s->util * l->tdp_w;
  return true;
}

/* Adds a number to the n of a set, unless it is there. */
static void add_number(unsigned long **set, size_t *n, unsigned long x) {
  for (size_t i = 0; i < *n; i++)
    if ((*set)[i] == x)
      return;
  *set = dl_reallocarray(*set, *n + 1, sizeof **set);
  (*set)[(*n)++] = x;
}

bool dl_machine_cpus(char model[DL_SENSOR_NAME], size_t *sockets,
                     size_t *cores) {
  const char *path = getenv("DLEST_CPUINFO");
  DL_FREED unsigned long *socket = NULL, *core = NULL;
  unsigned long at = 0, number;
  char line[512], form[32];
  FILE *f = fopen(path ? path : "/proc/cpuinfo", "re");
  model[0] = '\0';
  *sockets = *cores = 0;
  snprintf(form, sizeof form, "model name : %%%d[^\n]", DL_SENSOR_NAME - 1);
  /* "physical id" stands before "core id", which is of its socket. */
  while (f && fgets(line, sizeof line, f)) {
    if (!*model)
      sscanf(line, form, model);
    if (sscanf(line, "physical id : %lu", &at) == 1)
      add_number(&socket, sockets, at);
    if (sscanf(line, "core id : %lu", &number) == 1)
      add_number(&core, cores, at << 32 | number);
  }
  if (f)
    fclose(f);
  return *model && *cores > 0;
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  double busy, all;
  if (isnan(s->cpu_tdp_w) || !read_ticks(&busy, &all))
    return;
  struct cpu_load *l = dl_calloc(1, sizeof *l);
  struct dl_sensor *new = dl_sensors_add(s, kind, DL_METER_CPU);
  *l = (struct cpu_load){s->cpu_tdp_w, 0, 0};
  new->state = l;
  new->assumed = true;
  new->method = "assumed: load x TDP";
  snprintf(new->name, sizeof new->name, "load of all CPUs x %g W",
           s->cpu_tdp_w);
  snprintf(new->id, sizeof new->id, "/proc/stat");
}

const struct dl_sensor_kind dl_sensor_cpu_load = {
    .name = "cpu-load",
    .summary = "CPUs, assumed: load x TDP, where record has no sensor",
    .find = find,
    .read = read_load,
};
