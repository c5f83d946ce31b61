/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA Jetson: the rails of its INA3221 chips, voltage times current. VDD_IN
 * is the whole module; which rail feeds what: NVIDIA Jetson Linux Developer
 * Guide, "Software-Based Power Consumption Modeling" and "INA3221 Power
 * Monitor". */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sensors/hwmon.h"
#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

enum { CHANNELS = 3 };

static const struct {
  const char *rail;
  enum dl_meter_kind part;
} rails[] = {
    {"VDD_IN", DL_METER_NODE},
    {"VIN_SYS_5V0", DL_METER_NODE},
    {"VDD_GPU_SOC", DL_METER_GPU},
    {"VDD_GPU", DL_METER_GPU},
    {"GPU", DL_METER_GPU},
    {"VDD_CPU_GPU_CV", DL_METER_GPU},
    {"VDD_CPU_CV", DL_METER_CPU},
    {"VDD_CPU", DL_METER_CPU},
    {"CPU", DL_METER_CPU},
    {"VDDRQ", DL_METER_RAM},
    {"VDDQ_VDD2_1V8AO", DL_METER_RAM},
};

static double product(const char *folder, size_t channel) {
  char name[32];
  snprintf(name, sizeof name, "in%zu_input", channel);
  double mv = dl_sysfs_number(folder, name);
  snprintf(name, sizeof name, "curr%zu_input", channel);
  return mv * 1e-3 * dl_sysfs_number(folder, name) * 1e-3;
}

static bool read_rail(struct dl_sensor *s) {
  s->power_w = product(s->state, s->channel);
  return !isnan(s->power_w);
}

static void add_rail(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                     const char *folder, size_t channel) {
  char name[32], label[DL_SENSOR_NAME];
  snprintf(name, sizeof name, "in%zu_label", channel);
  if (!dl_sysfs_text(folder, name, label, sizeof label) ||
      isnan(product(folder, channel)))
    return;
  for (size_t i = 0; i < sizeof rails / sizeof *rails; i++)
    if (strcmp(label, rails[i].rail) == 0)
      dl_hwmon_add(kind, s, rails[i].part, folder, label)->channel = channel;
}

static void add_chip(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                     const char *folder, const char *name) {
  (void)name;
  for (size_t i = 1; i <= CHANNELS; i++)
    add_rail(kind, s, folder, i);
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  dl_hwmon_find(kind, s, "ina3221", add_chip);
}

const struct dl_sensor_kind dl_sensor_jetson = {
    .name = "jetson",
    .summary = "NVIDIA Jetson: rails of its INA3221 chips",
    .find = find,
    .read = read_rail,
};
