/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HPE Cray EX nodes: the node controller's pm_counters, files like
 * "accel0_energy" with "1234567 J 1700000000000000 us" (Martin et al., "Cray XC
 * Power Monitoring and Management", Cray User Group 2014). */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

/* Files are FOLDER/NAME_power (W) and FOLDER/NAME_energy (J); the node's have
 * no NAME. */
static const char *const counters[] = {
    "",       "cpu",    "cpu0",   "cpu1",   "memory", "accel0", "accel1",
    "accel2", "accel3", "accel4", "accel5", "accel6", "accel7",
};

static enum dl_meter_kind part_of(const char *name) {
  switch (*name) {
  case '\0':
    return DL_METER_NODE;
  case 'c':
    return DL_METER_CPU;
  case 'm':
    return DL_METER_RAM;
  default:
    return DL_METER_GPU;
  }
}

static double value(const struct dl_sensor *s, const char *quantity) {
  char file[DL_SENSOR_NAME + 8];
  snprintf(file, sizeof file, "%s%s%s", s->id, *s->id ? "_" : "", quantity);
  return dl_sysfs_number(s->state, file);
}

static bool read_counter(struct dl_sensor *s) {
  s->power_w = value(s, "power");
  s->counter_j = value(s, "energy");
  return !isnan(s->power_w) || !isnan(s->counter_j);
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  char folder[512];
  bool cpu = false;
  snprintf(folder, sizeof folder, "%s/cray/pm_counters", s->root);
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    const char *name = counters[i];
    struct dl_sensor probe = {.state = folder};
    snprintf(probe.id, sizeof probe.id, "%s", name);
    /* Sockets are parts of "cpu". */
    if ((cpu && strncmp(name, "cpu", 3) == 0) || !read_counter(&probe))
      continue;
    cpu = cpu || dl_is_word(name, "cpu");
    struct dl_sensor *new =
        dl_sensors_add_folder(s, kind, part_of(name), folder);
    const char *digit = strpbrk(name, "0123456789");
    new->index = digit ? (size_t)(*digit - '0') : 0;
    snprintf(new->id, sizeof new->id, "%s", name);
    snprintf(new->name, sizeof new->name, "%s", *name ? name : "node");
  }
}

const struct dl_sensor_kind dl_sensor_cray = {
    .name = "cray",
    .summary = "HPE Cray nodes: pm_counters of node, CPU, memory and GPUs",
    .find = find,
    .read = read_counter,
};
