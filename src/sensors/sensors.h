/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensors of power and energy on this machine: what there is, and readings. */

#ifndef DL_SENSORS_SENSORS_H
#define DL_SENSORS_SENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "logs/importers/importer.h"

enum { DL_SENSOR_NAME = 96 };

struct dl_sensor_kind;

/* Something that measures one device. */
struct dl_sensor {
  const struct dl_sensor_kind *kind;
  enum dl_meter_kind part;   /* GPU, CPU, memory or node */
  char name[DL_SENSOR_NAME]; /* of the device: "NVIDIA H200", "package-0" */
  char id[DL_SENSOR_NAME];   /* UUID, or path below the root of sysfs */
  size_t index;              /* of the device, as its driver counts; of a
                                new sensor the next of its kind and part */
  size_t channel;            /* of a chip with several */
  size_t more; /* devices of the driver behind `index` that it stands for, too:
                  dies of one board, partitions of one GPU */
  double limit_w;     /* power limit; NaN: unknown */
  const char *method; /* what the power is: "instantaneous"; or NULL */
  bool assumed;       /* not measured, but by an assumption */
  void *state;        /* of the kind; owned */

  /* The last reading; NaN: not measured. */
  double power_w;
  double energy_j; /* since the first reading; it never falls */
  double util;     /* 0 to 1 */
  double memory_b; /* in use, bytes */
  double clock_hz; /* of the processors */

  bool gave_power, gave_energy; /* a reading had one */

  /* Set by the kind. */
  double counter_j; /* raw value of an energy counter; NaN: none */
  double wraps_j;   /* the counter goes from here to 0; 0: it does not */

  /* Members of the recorder. */
  double used_j;  /* since the first reading */
  double last_w;  /* last power that is known; NaN: none */
  double since_s; /* time since then */

  /* Private to sensors.c. */
  double total_j; /* since the first reading */
  bool lost;      /* it could be read before, and cannot any more */
};

/* Sensors of this machine, and what could be measured with more rights. */
struct dl_sensors {
  struct dl_sensor *s; /* owned */
  size_t n, cap;
  struct dl_sensor_note *note; /* owned */
  size_t n_notes, notes_cap;
  const char *root;        /* of sysfs: $DLEST_SYSFS, or "/sys" */
  double cpu_tdp_w;        /* assume the CPUs' power from it; NaN: do not */
  struct dl_strlist taken; /* PCI addresses of GPUs that a library measures,
                              which other kinds leave out */
};

/* Why a kind of sensor does not measure a part, and what helps. */
struct dl_sensor_note {
  const struct dl_sensor_kind *kind;
  enum dl_meter_kind part;
  char *text; /* owned */
  bool stays; /* also where the part is measured */
};

/* A kind of sensor: a file and a row of the table in sensors.c. If two kinds
 * measure one part, the first in the table is used, unless the second is for
 * `other` devices. */
struct dl_sensor_kind {
  const char *name, *summary;
  bool other;
  /* Variables that list the devices a program sees, "A|B": the first that is
   * set counts. NULL: there is no such list. */
  const char *visible;
  /* Adds the sensors that can be read (dl_sensors_add), and notes on those that
   * exist and cannot (dl_sensors_note). */
  void (*find)(const struct dl_sensor_kind *kind, struct dl_sensors *s);
  /* Sets power_w, counter_j, util, memory_b and clock_hz of a sensor, NaN for
   * what it has not. False: it cannot be read any more. */
  bool (*read)(struct dl_sensor *sensor);
  /* Whether the n characters at `name` name the sensor in a list of visible
   * devices; NULL: they are the beginning of its id. */
  bool (*is_named)(const struct dl_sensor *s, const char *name, size_t n);
  void (*free)(struct dl_sensor *sensor); /* its state; NULL: free() */
};

/* Finds all sensors; cpu_tdp_w as in struct dl_sensors. Free *s also after an
 * error. */
void dl_sensors_find(struct dl_sensors *s, double cpu_tdp_w);
void dl_sensors_free(struct dl_sensors *s);

/* Reads all. Counters are carried over resets and wrap-arounds. Warns once of a
 * sensor that cannot be read any more. Returns how many gave a value. */
size_t dl_sensors_read(struct dl_sensors *s, struct dl_diag *d);

/* Counts energies from the last reading on. */
void dl_sensors_restart(struct dl_sensors *s);

/* Adds the sensor that assumes the power of all CPUs by a TDP. */
void dl_sensors_assume_cpus(struct dl_sensors *s, double tdp_w);

/* Whether any of them measures; others are assumed. */
bool dl_sensors_measure(const struct dl_sensors *s);

/* Whether a kind other than `kind` (NULL: any) measures a part. */
bool dl_sensors_has(const struct dl_sensors *s,
                    const struct dl_sensor_kind *kind, enum dl_meter_kind part);

/* The CPUs of this machine by /proc/cpuinfo, or the file $DLEST_CPUINFO: their
 * model, and the cores of all of them that the machine (a virtual one, perhaps
 * only a part of a CPU) has. False: they are unknown. */
bool dl_machine_cpus(char model[DL_SENSOR_NAME], size_t *sockets,
                     size_t *cores);

/* For the kinds. Adds a sensor, all of whose readings are NaN; it is valid
 * until the next one is added. */
struct dl_sensor *dl_sensors_add(struct dl_sensors *s,
                                 const struct dl_sensor_kind *kind,
                                 enum dl_meter_kind part);

/* Adds a sensor whose state is a copy of its folder of sysfs, and whose id is
 * the folder's name. */
struct dl_sensor *dl_sensors_add_folder(struct dl_sensors *s,
                                        const struct dl_sensor_kind *kind,
                                        enum dl_meter_kind part,
                                        const char *folder);
void dl_sensors_note(struct dl_sensors *s, const struct dl_sensor_kind *kind,
                     enum dl_meter_kind part, const char *format, ...)
    DL_PRINTF(4, 5);

/* Whether two sensors show one counter, as the dies of a socket may do. */
bool dl_sensors_mirrored(struct dl_sensor *a, struct dl_sensor *b);

/* Frees and removes sensor i. */
void dl_sensors_remove(struct dl_sensors *s, size_t i);

/* Keeps the GPUs of a list of indices and of beginnings of UUIDs, "0,2"; "all"
 * keeps all of them, NULL those that a program sees (kind->visible). Sensors of
 * other parts stay. Error (DL_EUSAGE): `gpus` names a GPU that is not there. */
enum dl_status dl_sensors_select(struct dl_sensors *s, const char *gpus,
                                 struct dl_diag *d);

#endif
