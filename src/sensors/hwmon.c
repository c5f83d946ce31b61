/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitoring chips of sysfs: GPUs of AMD and Intel, and the node's power meter
 * that ACPI describes. Names and units of the files: Linux's
 * Documentation/hwmon/sysfs-interface. */

#include "sensors/hwmon.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

void dl_hwmon_find(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                   const char *names,
                   void (*add)(const struct dl_sensor_kind *kind,
                               struct dl_sensors *s, const char *folder,
                               const char *name)) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist paths = {0}, wanted = {0};
  char name[DL_SENSOR_NAME];
  dl_sysfs_find(s->root, "class/hwmon/hwmon*", &paths);
  dl_strlist_split(&wanted, names, '|');
  for (size_t i = 0; i < paths.n; i++)
    if (dl_sysfs_text(paths.s[i], "name", name, sizeof name) &&
        dl_strlist_find(&wanted, name) >= 0)
      add(kind, s, paths.s[i], name);
}

struct dl_sensor *dl_hwmon_add(const struct dl_sensor_kind *kind,
                               struct dl_sensors *s, enum dl_meter_kind part,
                               const char *folder, const char *name) {
  struct dl_sensor *new = dl_sensors_add_folder(s, kind, part, folder);
  snprintf(new->name, sizeof new->name, "%s", name);
  return new;
}

/* uW: the mean if the chip reports one, else the present value. */
static double power_w(const char *folder) {
  double mean = dl_sysfs_number(folder, "power1_average");
  return 1e-6 * (isnan(mean) ? dl_sysfs_number(folder, "power1_input") : mean);
}

/* uJ, of the board; some cards of Intel count their GPU alone. */
static double energy_j(const char *folder) {
  double board = dl_sysfs_number(folder, "energy1_input");
  return 1e-6 *
         (isnan(board) ? dl_sysfs_number(folder, "energy2_input") : board);
}

/* ROCm's names are GPU- and the identifier. */
bool dl_hwmon_is_named(const struct dl_sensor *s, const char *name, size_t n) {
  size_t prefix = n > 4 && strncasecmp(name, "GPU-", 4) == 0 ? 4 : 0;
  return strncasecmp(s->id, name + prefix, n - prefix) == 0;
}

bool dl_hwmon_read_gpu(struct dl_sensor *s, const char *folder) {
  s->power_w = power_w(folder);
  s->counter_j = energy_j(folder);
  s->util = 0.01 * dl_sysfs_number(folder, "device/gpu_busy_percent");
  s->memory_b = dl_sysfs_number(folder, "device/mem_info_vram_used");
  s->clock_hz = dl_sysfs_number(folder, "freq1_input");
  return !isnan(s->power_w) || !isnan(s->counter_j);
}

static bool read_gpu(struct dl_sensor *s) {
  return dl_hwmon_read_gpu(s, s->state);
}

bool dl_hwmon_pci(const char *folder, char to[DL_PCI_SIZE]) {
  DL_TEXT(path);
  char line[DL_SENSOR_NAME];
  bool found = false;
  dl_text_printf(&path, "%s/device/uevent", folder);
  FILE *f = fopen(dl_text_str(&path), "re");
  while (f && !found && fgets(line, sizeof line, f))
    found = sscanf(line, "PCI_SLOT_NAME=%15[^.\n]", to) == 1;
  if (f)
    fclose(f);
  return found;
}

void dl_hwmon_describe_gpu(struct dl_sensor *s, const char *folder) {
  char text[DL_SENSOR_NAME];
  if (dl_sysfs_text(folder, "device/product_name", text, sizeof text) && *text)
    snprintf(s->name, sizeof s->name, "%s", text);
  if (dl_sysfs_text(folder, "device/unique_id", text, sizeof text) && *text)
    snprintf(s->id, sizeof s->id, "%s", text);
  s->limit_w = 1e-6 * dl_sysfs_number(folder, "power1_cap");
}

static void add_gpu(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                    const char *folder, const char *name) {
  char pci[DL_PCI_SIZE];
  if (!dl_sysfs_exists(folder, "power1_average") &&
      !dl_sysfs_exists(folder, "power1_input") &&
      !dl_sysfs_exists(folder, "energy1_input") &&
      !dl_sysfs_exists(folder, "energy2_input"))
    return;
  if (dl_hwmon_pci(folder, pci) && dl_strlist_find(&s->taken, pci) >= 0)
    return;
  dl_hwmon_describe_gpu(dl_hwmon_add(kind, s, DL_METER_GPU, folder, name),
                        folder);
}

static void find_gpus(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  dl_hwmon_find(kind, s, "amdgpu|i915|xe", add_gpu);
}

const struct dl_sensor_kind dl_sensor_gpu_hwmon = {
    .name = "hwmon",
    .summary = "AMD and Intel GPUs: power or energy, utilization, memory",
    .other = true,
    .visible = DL_ROCM_VISIBLE,
    .find = find_gpus,
    .read = read_gpu,
    .is_named = dl_hwmon_is_named,
};

static bool read_meter(struct dl_sensor *s) {
  s->power_w = power_w(s->state);
  return !isnan(s->power_w);
}

static void add_meter(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                      const char *folder, const char *name) {
  if (!isnan(power_w(folder)))
    dl_hwmon_add(kind, s, DL_METER_NODE, folder, name);
  else if (dl_sysfs_exists(folder, "power1_average"))
    dl_sensors_note(s, kind, DL_METER_NODE,
                    "%s/power1_average cannot be read; it may need root",
                    folder);
}

static void find_meter(const struct dl_sensor_kind *kind,
                       struct dl_sensors *s) {
  dl_hwmon_find(kind, s, "power_meter", add_meter);
}

const struct dl_sensor_kind dl_sensor_acpi = {
    .name = "acpi",
    .summary = "the node: power meter that ACPI describes",
    .find = find_meter,
    .read = read_meter,
};
