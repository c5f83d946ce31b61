/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitoring chips of sysfs (class/hwmon), which several kinds of sensors look
 * through. */

#ifndef DL_SENSORS_HWMON_H
#define DL_SENSORS_HWMON_H

#include "sensors/sensors.h"

/* Lists of GPUs that a program sees with ROCm; the first that is set counts. */
#define DL_ROCM_VISIBLE                                                        \
  "ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|CUDA_VISIBLE_DEVICES|"             \
  "SLURM_JOB_GPUS"

/* Calls `add` with the folder of each chip of one of the names ("amdgpu|xe"),
 * and its name. */
void dl_hwmon_find(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                   const char *names,
                   void (*add)(const struct dl_sensor_kind *kind,
                               struct dl_sensors *s, const char *folder,
                               const char *name));

/* Adds a sensor whose state is the folder's path (owned). */
struct dl_sensor *dl_hwmon_add(const struct dl_sensor_kind *kind,
                               struct dl_sensors *s, enum dl_meter_kind part,
                               const char *folder, const char *name);

/* The PCI address of a chip without its function, "0000:c1:00"; false: it has
 * none. */
enum { DL_PCI_SIZE = 16 };
bool dl_hwmon_pci(const char *folder, char to[DL_PCI_SIZE]);

/* For sensors of GPUs: their name, identifier and limit; a reading; whether a
 * list of ROCm names one. */
void dl_hwmon_describe_gpu(struct dl_sensor *s, const char *folder);
bool dl_hwmon_read_gpu(struct dl_sensor *s, const char *folder);
bool dl_hwmon_is_named(const struct dl_sensor *s, const char *name, size_t n);

#endif
