/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of sensors, in the order of the table in sensors.c. */

#ifndef DL_SENSORS_SENSOR_KINDS_H
#define DL_SENSORS_SENSOR_KINDS_H

#include "sensors/sensors.h"

extern const struct dl_sensor_kind dl_sensor_nvml, dl_sensor_amd_smi,
    dl_sensor_gpu_hwmon, dl_sensor_jetson, dl_sensor_powercap,
    dl_sensor_perf_event, dl_sensor_cray, dl_sensor_acpi, dl_sensor_ipmi,
    dl_sensor_cpu_load;

#endif
