/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Meaning of the columns of a table of samples, by their names. */

#ifndef DL_LOGS_IMPORTERS_TABLES_SAMPLE_COLUMNS_H
#define DL_LOGS_IMPORTERS_TABLES_SAMPLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "logs/importers/importer.h"

enum dl_sample_quantity { DL_SAMPLE_POWER, DL_SAMPLE_ENERGY, DL_SAMPLE_UTIL };

struct dl_sample_column {
  enum dl_meter_kind kind;
  bool names_meter; /* the name has a meter; otherwise a GPU is assumed */
  long index;       /* of the device, from the name; -1: none */
  enum dl_sample_quantity quantity;
  double scale; /* to W, J, or a share of 1 */
  bool no_unit; /* the name has no unit */
  bool mean;    /* the name calls it one */
  bool delta;   /* an energy of each interval, by its name */
  bool total;   /* the name has no meter and calls it a total */
};

/* Reads "gpu0_power_w", "Power [mW]", "energy_mj", "GPU util (%)". False for
 * other quantities and unclear units. */
bool dl_sample_column(const char *name, struct dl_sample_column *c);

/* Whether a name that dl_sample_column() does not read seems to be of a power
 * or an energy, and of which meter: a GPU where it does not say so. */
bool dl_sample_unread(const char *name, enum dl_meter_kind *kind);

enum dl_sample_sensor {
  DL_SENSOR_UNKNOWN,
  DL_SENSOR_PART, /* of what another one measures */
  DL_SENSOR_WHOLE
};

/* Finds by its name ("CPU Package", "CPU Cores", "dram") what a sensor
 * measures. */
enum dl_sample_sensor dl_sample_sensor(const char *name,
                                       enum dl_meter_kind *kind);

/* Seconds per unit of a column of times, 0 for other names. Columns of a lower
 * *rank are preferred. */
double dl_sample_time(const char *name, size_t *rank);

enum dl_sample_label {
  DL_LABEL_NONE,
  DL_LABEL_UUID,
  DL_LABEL_INDEX,
  DL_LABEL_NAME,
  DL_LABEL_HOST,
  DL_LABEL_DATE,  /* precedes a column `time` */
  DL_LABEL_RUN,   /* of runs in one table */
  DL_LABEL_EPOCH, /* number of the epoch, which may have decimals */
  DL_LABEL_OTHER  /* of a table that has no samples */
};

/* Other columns, which describe a sample or the table. Weights & Biases call
 * runs by a name and an id. */
enum dl_sample_label dl_sample_label(const char *name, bool wandb);

/* Explains why a table that looks like one of samples is not read; NULL for
 * other files. */
const char *dl_sample_lacks(const struct dl_head *head);

/* Whether a column is one of Weights & Biases alone. */
bool dl_sample_is_wandb(const char *name);

#endif
