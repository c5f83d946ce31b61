/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of kinds of sensors, and what they share: counters that go on over
 * resets, sensors that vanish, lists of the devices that a program sees. */

#include "sensors/sensors.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "sensors/sensor_kinds.h"

static const struct dl_sensor_kind *const kinds[] = {
    &dl_sensor_nvml,     &dl_sensor_amd_smi,  &dl_sensor_gpu_hwmon,
    &dl_sensor_jetson,   &dl_sensor_powercap, &dl_sensor_perf_event,
    &dl_sensor_cray,     &dl_sensor_acpi,     &dl_sensor_ipmi,
    &dl_sensor_cpu_load,
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

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
  s->note[s->n_notes++] = (struct dl_sensor_note){
      .kind = kind, .part = part, .text = dl_strdup(text)};
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

/* If b shows the counter of a, each reading of b lies between two readings of
 * a. The counter may change in between, so close counters are compared several
 * times. */
bool dl_sensors_mirrored(struct dl_sensor *a, struct dl_sensor *b) {
  enum { TRIES = 4, PAUSE_US = 15000, CLOSE_J = 100 };
  for (int i = 0; i < TRIES; i++) {
    if (!a->kind->read(a) || !b->kind->read(b))
      return false;
    double before = a->counter_j;
    if (!a->kind->read(a) || !(fabs(b->counter_j - before) < CLOSE_J))
      return false;
    if (before > 0 && before <= b->counter_j && b->counter_j <= a->counter_j)
      return true;
    usleep(PAUSE_US);
  }
  return false;
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
    if (s->note[i].part != DL_METER_GPU && !s->note[i].stays &&
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

void dl_sensors_assume_cpus(struct dl_sensors *s, double tdp_w) {
  s->cpu_tdp_w = tdp_w;
  dl_sensor_cpu_load.find(&dl_sensor_cpu_load, s);
}

void dl_sensors_free(struct dl_sensors *s) {
  for (size_t i = 0; i < s->n; i++)
    free_sensor(&s->s[i]);
  for (size_t i = 0; i < s->n_notes; i++)
    free(s->note[i].text);
  free(s->s);
  free(s->note);
  dl_strlist_free(&s->taken);
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

/* Lists of devices as CUDA, ROCm and Slurm have them (CUDA C++ Programming
 * Guide, "CUDA Environment Variables"; ROCm documentation, "GPU isolation
 * techniques"; srun(1)). */

/* Whether the n characters at `name` are an index or name of a GPU. */
static bool is_named(const struct dl_sensor *s, const char *name, size_t n) {
  char *end;
  unsigned long index = strtoul(name, &end, 10);
  if (n == 0)
    return false;
  if (isdigit((unsigned char)*name) && end == name + n)
    return index >= s->index && index <= s->index + s->more;
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

/* Whether several tasks of Slurm share the node. Each task may see only its own
 * GPU, and one of them records all GPUs. */
static bool has_tasks(void) {
  const char *n = getenv("SLURM_STEP_TASKS_PER_NODE");
  n = n ? n : getenv("SLURM_NTASKS_PER_NODE");
  return n && atoi(n) > 1;
}

/* The list of GPUs that a program sees; NULL: all. */
static const char *visible_list(const struct dl_sensors *s,
                                const struct dl_sensor_kind *kind) {
  const char *list = NULL, *names = dl_text_or(kind->visible, "");
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
    /* Slurm counts the node's GPUs. If it hides the GPUs of other jobs, the
     * driver numbers the visible ones from 0 on. */
    for (const char *p = list; *p; p++)
      listed += *p == ',';
    for (size_t i = 0; i < s->n; i++)
      there += s->s[i].kind == kind && s->s[i].part == DL_METER_GPU;
    if (there == listed)
      return NULL;
  }
  return list;
}

/* The number of a GPU in CUDA is known if all GPUs are equal, or if
 * CUDA_DEVICE_ORDER sets the driver's order. */
static void warn_order(const struct dl_sensors *s, const char *list,
                       struct dl_diag *d) {
  const char *order = getenv("CUDA_DEVICE_ORDER");
  const char *name = NULL;
  bool differ = false;
  for (size_t i = 0; i < s->n; i++)
    if (s->s[i].part == DL_METER_GPU && s->s[i].kind == &dl_sensor_nvml) {
      differ |= name && strcmp(name, s->s[i].name) != 0;
      name = s->s[i].name;
    }
  if (differ && list && isdigit((unsigned char)*list) &&
      !dl_is_word(order, "PCI_BUS_ID"))
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
  if (dl_is_word(gpus, "all"))
    return DL_OK;
  if (gpus)
    DL_TRY(check_list(s, gpus, d));
  if (!gpus)
    warn_order(s, getenv("CUDA_VISIBLE_DEVICES"), d);
  for (size_t k = 0; k < N_KINDS; k++) {
    const struct dl_sensor_kind *kind = kinds[k];
    const char *list = NULL;
    if (kind->visible)
      list = gpus ? gpus : visible_list(s, kind);
    for (size_t i = s->n; list && i-- > 0;)
      if (s->s[i].kind == kind && s->s[i].part == DL_METER_GPU &&
          !is_visible(&s->s[i], list))
        dl_sensors_remove(s, i);
  }
  return DL_OK;
}
