/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of kinds of sensors, and what they share: counters that go on over
 * resets, sensors that vanish. */

#include "sensors/sensors.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "sensors/sensor_kinds.h"

static const struct dl_sensor_kind *const kinds[] = {
    &dl_sensor_nvml,     &dl_sensor_gpu_hwmon,  &dl_sensor_jetson,
    &dl_sensor_powercap, &dl_sensor_perf_event, &dl_sensor_cray,
    &dl_sensor_acpi,     &dl_sensor_ipmi,       &dl_sensor_cpu_load,
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

size_t dl_sensor_kind_count(void) {
  return N_KINDS;
}

const struct dl_sensor_kind *dl_sensor_kind_at(size_t i) {
  return kinds[i];
}

struct dl_sensor *dl_sensors_add(struct dl_sensors *s,
                                 const struct dl_sensor_kind *kind,
                                 enum dl_meter_kind part) {
  DL_GROW(s->s, s->cap, s->n + 1);
  size_t index = 0;
  for (size_t i = 0; i < s->n; i++)
    index += s->s[i].kind == kind && s->s[i].part == part;
  struct dl_sensor *new = &s->s[s->n++];
  *new = (struct dl_sensor){.kind = kind,
                            .part = part,
                            .index = index,
                            .limit_w = NAN,
                            .power_w = NAN,
                            .energy_j = NAN,
                            .util = NAN,
                            .memory_b = NAN,
                            .clock_hz = NAN,
                            .counter_j = NAN,
                            .last_w = NAN};
  return new;
}

struct dl_sensor *dl_sensors_add_folder(struct dl_sensors *s,
                                        const struct dl_sensor_kind *kind,
                                        enum dl_meter_kind part,
                                        const char *folder) {
  char *copy = dl_strdup(folder);
  struct dl_sensor *new = dl_sensors_add(s, kind, part);
  new->state = copy;
  snprintf(new->id, sizeof new->id, "%.90s", dl_path_name(folder));
  return new;
}

bool dl_sensors_measure(const struct dl_sensors *s) {
  for (size_t i = 0; i < s->n; i++)
    if (!s->s[i].assumed)
      return true;
  return false;
}

bool dl_sensors_has(const struct dl_sensors *s,
                    const struct dl_sensor_kind *kind,
                    enum dl_meter_kind part) {
  for (size_t i = 0; i < s->n; i++)
    if (s->s[i].kind != kind && s->s[i].part == part)
      return true;
  return false;
}

void dl_sensors_note(struct dl_sensors *s, const struct dl_sensor_kind *kind,
                     enum dl_meter_kind part, const char *format, ...) {
  va_list args;
  char text[512];
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  DL_GROW(s->note, s->notes_cap, s->n_notes + 1);
  s->note[s->n_notes++] = (struct dl_sensor_note){kind, part, dl_strdup(text)};
}

static void free_sensor(struct dl_sensor *s) {
  if (s->kind->free)
    s->kind->free(s);
  else
    free(s->state);
}

void dl_sensors_remove(struct dl_sensors *s, size_t i) {
  free_sensor(&s->s[i]);
  s->n--;
  memmove(&s->s[i], &s->s[i + 1], (s->n - i) * sizeof *s->s);
}

/* Removes the sensors of a kind for parts that another kind measures. */
static void drop_doubles(struct dl_sensors *s,
                         const struct dl_sensor_kind *kind) {
  bool doubled[DL_METER_NODE + 1];
  for (unsigned i = 0; i <= DL_METER_NODE; i++)
    doubled[i] = !kind->other && dl_sensors_has(s, kind, (enum dl_meter_kind)i);
  for (size_t i = s->n; i-- > 0;)
    if (s->s[i].kind == kind && doubled[s->s[i].part])
      dl_sensors_remove(s, i);
}

/* Removes notes about parts that are measured in another way. */
static void drop_notes(struct dl_sensors *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->n_notes; i++)
    if (s->note[i].part != DL_METER_GPU &&
        dl_sensors_has(s, NULL, s->note[i].part))
      free(s->note[i].text);
    else
      s->note[n++] = s->note[i];
  s->n_notes = n;
}

void dl_sensors_find(struct dl_sensors *s, double cpu_tdp_w) {
  const char *root = getenv("DLEST_SYSFS");
  *s = (struct dl_sensors){.root = root && *root ? root : "/sys",
                           .cpu_tdp_w = cpu_tdp_w};
  for (size_t i = 0; i < N_KINDS; i++) {
    kinds[i]->find(kinds[i], s);
    drop_doubles(s, kinds[i]);
  }
  drop_notes(s);
}

void dl_sensors_free(struct dl_sensors *s) {
  for (size_t i = 0; i < s->n; i++)
    free_sensor(&s->s[i]);
  for (size_t i = 0; i < s->n_notes; i++)
    free(s->note[i].text);
  free(s->s);
  free(s->note);
  *s = (struct dl_sensors){0};
}

/* The energy since the reading before: a counter that fell has started anew,
 * at 0 or at its end. */
static double increase(const struct dl_sensor *s, double before) {
  double now = s->counter_j;
  if (now >= before)
    return now - before;
  return s->wraps_j > before ? s->wraps_j - before + now : now;
}

void dl_sensors_restart(struct dl_sensors *s) {
  for (size_t i = 0; i < s->n; i++) {
    s->s[i].total_j = 0;
    if (!isnan(s->s[i].energy_j))
      s->s[i].energy_j = 0;
  }
}

size_t dl_sensors_read(struct dl_sensors *s, struct dl_diag *d) {
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++) {
    struct dl_sensor *r = &s->s[i];
    double before = r->counter_j;
    bool ok = r->kind->read(r);
    if (!ok) {
      r->power_w = r->util = r->memory_b = r->clock_hz = r->energy_j = NAN;
      r->counter_j = before;
      if (!r->lost)
        dl_warn(d, "%s %s: cannot be read any more", r->kind->name, r->name);
      r->lost = true;
      continue;
    }
    r->lost = false;
    r->gave_power |= !isnan(r->power_w);
    r->gave_energy |= !isnan(r->counter_j);
    n++;
    if (isnan(r->counter_j))
      continue;
    r->total_j += isnan(before) ? 0 : increase(r, before);
    r->energy_j = r->total_j;
  }
  return n;
}
