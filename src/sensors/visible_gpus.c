/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of devices as CUDA, ROCm and Slurm have them (CUDA C++ Programming
 * Guide, "CUDA Environment Variables"; ROCm documentation, "GPU isolation
 * techniques"; srun(1)). */

#include "sensors/sensors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whether the n characters at `name` are an index or name of a GPU. */
static bool is_named(const struct dl_sensor *s, const char *name, size_t n) {
  char *end;
  unsigned long index = strtoul(name, &end, 10);
  if (n == 0)
    return false;
  if (isdigit((unsigned char)*name) && end == name + n)
    return index == s->index;
  return s->kind->is_named ? s->kind->is_named(s, name, n)
                           : strncasecmp(s->id, name, n) == 0;
}

/* Whether a list names a GPU. As with CUDA, devices behind one that does not
 * exist ("-1") are not visible. */
static bool is_visible(const struct dl_sensor *s, const char *visible) {
  for (const char *at = visible; *at && *at != '-'; at += *at == ',') {
    size_t n = strcspn(at, ",");
    if (is_named(s, at, n))
      return true;
    at += n;
  }
  return false;
}

/* Whether several tasks of Slurm share the node: each may see a GPU of its own
 * only, and one of them records those of all. */
static bool has_tasks(void) {
  const char *n = getenv("SLURM_STEP_TASKS_PER_NODE");
  n = n ? n : getenv("SLURM_NTASKS_PER_NODE");
  return n && atoi(n) > 1;
}

/* The list of GPUs that a program sees; NULL: all. */
static const char *visible_list(const struct dl_sensors *s,
                                const struct dl_sensor_kind *kind) {
  const char *list = NULL, *names = kind->visible ? kind->visible : "";
  char name[64];
  if (*names && has_tasks() && getenv("SLURM_JOB_GPUS"))
    names = "SLURM_JOB_GPUS";
  for (; *names && !list; names += strspn(names, "|")) {
    size_t n = strcspn(names, "|"), listed = 1, there = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, names);
    names += n;
    list = getenv(name);
    if (!list || strncmp(name, "SLURM_", 6) != 0)
      continue;
    /* Slurm counts the node's GPUs. Where it hides those of other jobs, the
     * driver shows no others, from 0 on. */
    for (const char *p = list; *p; p++)
      listed += *p == ',';
    for (size_t i = 0; i < s->n; i++)
      there += s->s[i].kind == kind && s->s[i].part == DL_METER_GPU;
    if (there == listed)
      return NULL;
  }
  return list;
}

/* By which number a program that uses CUDA calls a GPU is known where GPUs are
 * equal, or CUDA_DEVICE_ORDER has the driver's order. */
static void warn_order(const struct dl_sensors *s, const char *list,
                       struct dl_diag *d) {
  const char *order = getenv("CUDA_DEVICE_ORDER");
  const char *name = NULL;
  bool differ = false;
  for (size_t i = 0; i < s->n; i++)
    if (s->s[i].part == DL_METER_GPU &&
        strcmp(s->s[i].kind->name, "nvml") == 0) {
      differ |= name && strcmp(name, s->s[i].name) != 0;
      name = s->s[i].name;
    }
  if (differ && list && isdigit((unsigned char)*list) &&
      !(order && strcmp(order, "PCI_BUS_ID") == 0))
    dl_warn(d,
            "CUDA_VISIBLE_DEVICES=%s: the GPUs differ, and CUDA may count them "
            "in another order than the driver; set "
            "CUDA_DEVICE_ORDER=PCI_BUS_ID",
            list);
}

/* Names of a list given by the user that no GPU has. */
static enum dl_status check_list(const struct dl_sensors *s, const char *gpus,
                                 struct dl_diag *d) {
  for (const char *at = gpus; *at; at += *at == ',') {
    size_t n = strcspn(at, ","), there = 0;
    bool named = false;
    for (size_t i = 0; i < s->n; i++)
      if (s->s[i].part == DL_METER_GPU && s->s[i].kind->visible) {
        named |= is_named(&s->s[i], at, n);
        there++;
      }
    if (!named)
      return dl_fail(d, DL_EUSAGE,
                     "--gpus: no GPU '%.*s' among the %zu of this machine; see "
                     "'dlest list sensors'",
                     (int)n, at, there);
    at += n;
  }
  return DL_OK;
}

enum dl_status dl_sensors_select(struct dl_sensors *s, const char *gpus,
                                 struct dl_diag *d) {
  if (gpus && strcmp(gpus, "all") == 0)
    return DL_OK;
  if (gpus)
    DL_TRY(check_list(s, gpus, d));
  if (!gpus)
    warn_order(s, getenv("CUDA_VISIBLE_DEVICES"), d);
  for (size_t k = 0; k < dl_sensor_kind_count(); k++) {
    const struct dl_sensor_kind *kind = dl_sensor_kind_at(k);
    const char *list = !kind->visible ? NULL
                       : gpus         ? gpus
                                      : visible_list(s, kind);
    for (size_t i = s->n; list && i-- > 0;)
      if (s->s[i].kind == kind && s->s[i].part == DL_METER_GPU &&
          !is_visible(&s->s[i], list))
        dl_sensors_remove(s, i);
  }
  return DL_OK;
}
