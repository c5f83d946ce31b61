/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA Jetson: the rails of its INA3221 chips (of Thor an INA238, too),
 * voltage times current. Which rail feeds what: NVIDIA Jetson Linux Developer
 * Guide, "Software-Based Power Consumption Modeling" and "INA3221 Power
 * Monitor"; Jetson AGX Xavier Series Product Design Guide, "Power Monitor";
 * jetson_stats, issues 51 (POM_5V_IN is the whole board) and 344 (VIN_SYS_5V0
 * is the 5 V rail alone). */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

enum { CHANNELS = 4 }; /* hwmon counts from 1, iio from 0 */

/* Rails of each part. */
static const char *const gpu_rails[] = {
    "VDD_GPU_SOC", "VDD_GPU",        "VDD_SYS_GPU", "POM_5V_GPU",
    "GPU",         "VDD_CPU_GPU_CV", "VDD_CPU_GPU", NULL};
static const char *const cpu_rails[] = {"VDD_CPU_CV", "VDD_CPU_SOC_MSS",
                                        "VDD_CPU",    "VDD_SYS_CPU",
                                        "POM_5V_CPU", "CPU",
                                        NULL};
static const char *const memory_rails[] = {
    "VDDRQ", "VDD_SYS_DDR", "VDD_5V0_DDR", "VDDQ_VDD2_1V8AO", NULL};
static const char *const node_rails[] = {
    "VDD_IN",    /* TX1, TX2, Xavier NX, Orin NX, Orin Nano */
    "POM_5V_IN", /* Nano, TX1 */
    "VIN",       /* Thor, with its carrier board */
    NULL};
static const char *const *const rails[] = {[DL_METER_GPU] = gpu_rails,
                                           [DL_METER_CPU] = cpu_rails,
                                           [DL_METER_RAM] = memory_rails,
                                           [DL_METER_NODE] = node_rails};

/* The rails that a module is fed by, where none of them is the whole. */
static const char *const inputs[] = {
    "VDD_GPU_SOC|VDD_CPU_CV|VIN_SYS_5V0",  /* AGX Orin; VDDQ is of the 5 V */
    "VDD_GPU|VDD_CPU_SOC_MSS|VIN_SYS_5V0", /* Thor */
    "GPU|CPU|SOC|CV|VDDRQ|SYS5V",          /* AGX Xavier */
};

/* Rails whose powers a sensor adds. */
struct jetson_rail {
  struct jetson_rail *next; /* NULL: none */
  size_t channel;
  char *folder;
};

static double rail_w(const char *folder, size_t channel) {
  char name[32];
  snprintf(name, sizeof name, "in_power%zu_input", channel); /* of iio, mW */
  double mw = dl_sysfs_number(folder, name);
  if (!isnan(mw))
    return mw * 1e-3;
  snprintf(name, sizeof name, "in%zu_input", channel);
  double mv = dl_sysfs_number(folder, name);
  snprintf(name, sizeof name, "curr%zu_input", channel);
  return mv * 1e-3 * dl_sysfs_number(folder, name) * 1e-3;
}

static bool read_rails(struct dl_sensor *s) {
  s->power_w = 0;
  for (const struct jetson_rail *r = s->state; r; r = r->next)
    s->power_w += rail_w(r->folder, r->channel);
  return !isnan(s->power_w);
}

static void free_rails(struct dl_sensor *s) {
  for (struct jetson_rail *r = s->state, *next; r; r = next) {
    next = r->next;
    free(r->folder);
    free(r);
  }
}

static void add_to(struct dl_sensor *s, const char *folder, size_t channel) {
  struct jetson_rail *r = dl_calloc(1, sizeof *r);
  *r = (struct jetson_rail){s->state, channel, dl_strdup(folder)};
  s->state = r;
}

/* Whether a chip has one of the names "A|B". */
static bool is_chip(const char *folder, const char *names) {
  char name[DL_SENSOR_NAME];
  return dl_sysfs_text(folder, "name", name, sizeof name) &&
         dl_word_among(names, name, strlen(name)) >= 0;
}

static bool label_of(const char *folder, size_t channel,
                     char label[DL_SENSOR_NAME]) {
  char name[32];
  if (is_chip(folder, "ina238")) /* of one channel, without a label */
    return channel == 1 && snprintf(label, DL_SENSOR_NAME, "VIN") > 0;
  snprintf(name, sizeof name, "in%zu_label", channel);
  if (dl_sysfs_text(folder, name, label, DL_SENSOR_NAME))
    return true;
  snprintf(name, sizeof name, "rail_name_%zu", channel);
  return dl_sysfs_text(folder, name, label, DL_SENSOR_NAME);
}

/* Finds a rail that can be read, by its label. */
static bool find_rail(const struct dl_strlist *chips, const char *wanted,
                      size_t len, const char **folder, size_t *channel) {
  char label[DL_SENSOR_NAME];
  for (size_t i = 0; i < chips->n; i++)
    for (size_t k = 0; k < CHANNELS; k++)
      if (label_of(chips->s[i], k, label) && strlen(label) == len &&
          strncmp(label, wanted, len) == 0 && !isnan(rail_w(chips->s[i], k))) {
        *folder = chips->s[i];
        *channel = k;
        return true;
      }
  return false;
}

/* A sensor of the sum of rails, "A|B", if all of them are there. */
static bool add_sensor(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                       const struct dl_strlist *chips, const char *names,
                       enum dl_meter_kind part) {
  const char *folder;
  size_t channel, len;
  for (const char *at = names; *at; at += len + (at[len] == '|')) {
    len = strcspn(at, "|");
    if (!find_rail(chips, at, len, &folder, &channel))
      return false;
  }
  struct dl_sensor *new = dl_sensors_add(s, kind, part);
  for (const char *at = names; *at; at += len + (at[len] == '|')) {
    len = strcspn(at, "|");
    find_rail(chips, at, len, &folder, &channel);
    add_to(new, folder, channel);
    if (*new->name)
      strncat(new->name, " + ", sizeof new->name - strlen(new->name) - 1);
    snprintf(new->name + strlen(new->name),
             sizeof new->name - strlen(new->name), "%.*s", (int)len, at);
  }
  snprintf(new->id, sizeof new->id, "%.90s", dl_path_name(folder));
  return true;
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist all = {0}, chips = {0};
  bool whole = false, jetson = false;
  dl_sysfs_find(s->root, "class/hwmon/hwmon*", &all);
  dl_sysfs_find(s->root, "bus/iio/devices/iio:device*", &all);
  for (size_t i = 0; i < all.n; i++)
    jetson = jetson || is_chip(all.s[i], "ina3221|ina3221x");
  for (size_t i = 0; i < all.n && jetson; i++)
    if (is_chip(all.s[i], "ina3221|ina3221x|ina238"))
      dl_strlist_add(&chips, all.s[i]);
  for (size_t i = 0; node_rails[i] && !whole; i++)
    whole = add_sensor(kind, s, &chips, node_rails[i], DL_METER_NODE);
  for (enum dl_meter_kind k = DL_METER_GPU; k < DL_METER_NODE; k++)
    for (size_t i = 0; rails[k][i]; i++)
      add_sensor(kind, s, &chips, rails[k][i], k);
  for (size_t i = 0; i < DL_LENGTH(inputs) && !whole; i++)
    whole = add_sensor(kind, s, &chips, inputs[i], DL_METER_NODE);
}

const struct dl_sensor_kind dl_sensor_jetson = {
    .name = "jetson",
    .summary = "NVIDIA Jetson: rails of its INA3221 chips",
    .find = find,
    .read = read_rails,
    .free = free_rails,
};
