/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUs and memory by RAPL, as Linux's powercap shows it: energy counters in uJ
 * below class/powercap, of Intel and AMD processors alike ("intel-rapl:0" is a
 * socket, "intel-rapl:0:1" a part of it). */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

static bool read_zone(struct dl_sensor *s) {
  s->counter_j = dl_sysfs_number(s->state, "energy_uj") * 1e-6;
  return !isnan(s->counter_j);
}

/* The socket of a zone: "package-0" of "package-0-die-1"; a part has the socket
 * of the zone around it. */
static size_t socket_of(const char *path, char name[DL_SENSOR_NAME]) {
  char package[512];
  const char *zone = dl_path_name(path);
  const char *part = strrchr(zone, ':');
  bool whole = part == strchr(zone, ':');
  snprintf(package, sizeof package, "%.*s",
           whole ? (int)strlen(path) : (int)(part - path), path);
  if (!dl_sysfs_text(package, "name", name, DL_SENSOR_NAME))
    *name = '\0';
  const char *die = strstr(name, "-die-");
  return die ? (size_t)(die - name) : strlen(name);
}

/* If the dies of a socket show one common counter, as two generations of AMD's
 * Threadripper and EPYC do (CodeCarbon, issues 1274 and 1379), only one of them
 * counts. */
static void drop_mirror(const struct dl_sensor_kind *kind,
                        struct dl_sensors *s) {
  struct dl_sensor *new = &s->s[s->n - 1];
  char socket[DL_SENSOR_NAME], other[DL_SENSOR_NAME];
  size_t n = socket_of(new->state, socket);
  for (size_t i = 0; i + 1 < s->n; i++) {
    struct dl_sensor *x = &s->s[i];
    if (x->kind != kind || x->part != new->part ||
        socket_of(x->state, other) != n || strncmp(socket, other, n) != 0 ||
        !dl_sensors_mirrored(x, new))
      continue;
    dl_sensors_note(s, kind, new->part,
                    "%s (%s) shows the counter of %s (%s), which counts once",
                    new->id, new->name, x->id, x->name);
    s->note[s->n_notes - 1].stays = true;
    dl_sensors_remove(s, s->n - 1);
    return;
  }
}

static void add_zone(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                     const char *path, size_t *denied) {
  char name[DL_SENSOR_NAME];
  if (!dl_sysfs_text(path, "name", name, sizeof name))
    return;
  bool package = strncmp(name, "package", 7) == 0;
  bool memory = dl_is_word(name, "dram");
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
  drop_mirror(kind, s);
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist paths = {0};
  size_t denied = 0;
  /* "intel-rapl-mmio:0" accesses that counter in another way. */
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
