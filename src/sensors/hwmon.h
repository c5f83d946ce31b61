/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitoring chips of sysfs (class/hwmon), which several kinds of sensors look
 * through. */

#ifndef DL_SENSORS_HWMON_H
#define DL_SENSORS_HWMON_H

#include "sensors/sensors.h"

/* Calls `add` with the folder of each chip of one of the names ("amdgpu|xe"),
 * and its name. */
void dl_hwmon_find(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                   const char *names,
                   void (*add)(const struct dl_sensor_kind *kind,
                               struct dl_sensors *s, const char *folder,
                               const char *name));

/* A sensor whose state is the folder's path (owned). NULL: out of memory. */
struct dl_sensor *dl_hwmon_add(const struct dl_sensor_kind *kind,
                               struct dl_sensors *s, enum dl_meter_kind part,
                               const char *folder, const char *name);

#endif
