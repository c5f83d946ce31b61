/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUs and memory by RAPL, as Linux's powercap shows it: energy counters in uJ
 * below class/powercap, of Intel and AMD processors alike ("intel-rapl:0" is a
 * socket, "intel-rapl:0:1" a part of it). */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

static bool read_zone(struct dl_sensor *s) {
  s->counter_j = dl_sysfs_number(s->state, "energy_uj") * 1e-6;
  return !isnan(s->counter_j);
}

static void add_zone(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                     const char *path, size_t *denied) {
  char name[DL_SENSOR_NAME];
  if (!dl_sysfs_text(path, "name", name, sizeof name))
    return;
  bool package = strncmp(name, "package", 7) == 0;
  bool memory = strcmp(name, "dram") == 0;
  if (!package && !memory) /* cores and the like are parts of a package */
    return;
  if (!dl_sysfs_readable(path, "energy_uj")) {
    *denied += dl_sysfs_exists(path, "energy_uj");
    return;
  }
  enum dl_meter_kind part = package ? DL_METER_CPU : DL_METER_RAM;
  struct dl_sensor *new = dl_sensors_add_folder(s, kind, part, path);
  new->wraps_j = dl_sysfs_number(path, "max_energy_range_uj") * 1e-6;
  if (!(new->wraps_j > 0))
    new->wraps_j = 0;
  snprintf(new->name, sizeof new->name, "%s", name);
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist paths = {0};
  size_t denied = 0;
  /* "intel-rapl-mmio:0" is the same counter by another way. */
  dl_sysfs_find(s->root, "class/powercap/intel-rapl:*", &paths);
  for (size_t i = 0; i < paths.n; i++)
    add_zone(kind, s, paths.s[i], &denied);
  if (denied > 0)
    dl_sensors_note(s, kind, DL_METER_CPU,
                    "energy of CPU and memory may be read by root only: "
                    "sudo chmod a+r %s/class/powercap/intel-rapl:*/energy_uj",
                    s->root);
}

const struct dl_sensor_kind dl_sensor_powercap = {
    .name = "powercap",
    .summary = "CPUs and memory: RAPL energy counters",
    .find = find,
    .read = read_zone,
};
