/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUs and memory by the energy events of Linux's perf, where powercap may be
 * read by root only but perf by everyone. The PMU "power" of sysfs names its
 * events, their scale and one CPU per socket (Linux's
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events). */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#define HAS_PERF
#endif

#include "base/memory.h"
#include "base/number.h"
#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

struct energy_event {
  int fd;
  double scale; /* J per count */
};

static bool read_counter(struct dl_sensor *s) {
  const struct energy_event *c = s->state;
  uint64_t count;
  if (read(c->fd, &count, sizeof count) != sizeof count)
    return false;
  s->counter_j = (double)count * c->scale;
  return true;
}

static void free_counter(struct dl_sensor *s) {
  DL_FREED struct energy_event *c = s->state;
  close(c->fd);
}

/* Opens an event on a CPU; -1 and errno. */
static int open_event(uint32_t type, uint64_t config, int cpu) {
#ifdef HAS_PERF
  struct perf_event_attr attr = {
      .type = type, .size = sizeof attr, .config = config};
  return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
                      PERF_FLAG_FD_CLOEXEC);
#else
  (void)type, (void)config, (void)cpu;
  errno = ENOSYS;
  return -1;
#endif
}

/* "event=0x02" */
static bool read_config(const char *folder, const char *event,
                        uint64_t *config) {
  char text[64];
  if (!dl_sysfs_text(folder, event, text, sizeof text) ||
      strncmp(text, "event=", 6) != 0)
    return false;
  char *end;
  *config = strtoull(text + 6, &end, 0);
  return end > text + 6 && *end == '\0';
}

/* An event on each CPU of "0,18" or "0-1". */
static void add_event(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                      const char *folder, const char *event,
                      enum dl_meter_kind part, bool *denied) {
  char cpus[256], file[64];
  uint64_t config;
  double type = dl_sysfs_number(folder, "type");
  snprintf(file, sizeof file, "events/%s", event);
  if (isnan(type) || !read_config(folder, file, &config) ||
      !dl_sysfs_text(folder, "cpumask", cpus, sizeof cpus))
    return;
  snprintf(file, sizeof file, "events/%s.scale", event);
  double scale = dl_sysfs_number(folder, file);
  for (char *at = cpus; *at && scale > 0; at += *at == ',') {
    int last, cpu = (int)strtol(at, &at, 10);
    last = *at == '-' ? (int)strtol(at + 1, &at, 10) : cpu;
    for (; cpu <= last; cpu++) {
      int fd = open_event((uint32_t)type, config, cpu);
      *denied |= fd < 0 && (errno == EACCES || errno == EPERM);
      if (fd < 0)
        continue;
      struct energy_event *c = dl_calloc(1, sizeof *c);
      struct dl_sensor *new = dl_sensors_add(s, kind, part);
      *c = (struct energy_event){fd, scale};
      new->state = c;
      snprintf(new->name, sizeof new->name, "%s of CPU %d", event, cpu);
      snprintf(new->id, sizeof new->id, "power/%s/", event);
    }
    if (*at != ',' && *at != '\0')
      break;
  }
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  char folder[512];
  bool denied = false;
  if (dl_sensors_has(s, kind, DL_METER_CPU))
    return;
  snprintf(folder, sizeof folder, "%s/bus/event_source/devices/power", s->root);
  add_event(kind, s, folder, "energy-pkg", DL_METER_CPU, &denied);
  add_event(kind, s, folder, "energy-ram", DL_METER_RAM, &denied);
  if (denied)
    dl_sensors_note(s, kind, DL_METER_CPU,
                    "energy events of the CPU may be read by root only: sudo "
                    "sysctl kernel.perf_event_paranoid=0");
}

const struct dl_sensor_kind dl_sensor_perf_event = {
    .name = "perf",
    .summary = "CPUs and memory: energy events of perf, without powercap",
    .find = find,
    .read = read_counter,
    .free = free_counter,
};
