/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a table of samples: which columns measure what of which
 * device. */

#ifndef DL_LOGS_IMPORTERS_TABLES_SAMPLE_HEADER_H
#define DL_LOGS_IMPORTERS_TABLES_SAMPLE_HEADER_H

#include "logs/importers/device_columns.h"
#include "logs/importers/device_turns.h"
#include "logs/importers/tables/sample_columns.h"

enum {
  DL_SAMPLE_FIELDS = 256,
  DL_SAMPLE_CHANNELS = 96,
  DL_SAMPLE_LINE = 8192,
  DL_SAMPLE_NAME = 64,
  DL_SAMPLE_QUANTITIES = DL_SAMPLE_UTIL + 1
};

/* Columns of one meter, or of one meter per device that the rows name. */
struct dl_sample_channel {
  enum dl_meter_kind kind;
  long index; /* of the device, from the columns' names; -1: none */
  int at[DL_SAMPLE_QUANTITIES];
  double scale[DL_SAMPLE_QUANTITIES];
  bool util_has_unit;
  bool mean;      /* the power is called a mean */
  bool no_unit;   /* it has none */
  bool deltas;    /* the energy is each interval's */
  bool by_row;    /* each row has its own device, by `more` columns */
  bool made;      /* meter is set */
  uint32_t meter; /* if the rows do not name the device */
  int64_t last_ns;
};

enum dl_sample_clock { DL_TIME_UNKNOWN, DL_TIME_POINTS, DL_TIME_FROM_START };

struct dl_samples {
  char separator;
  bool took_comma; /* a decimal comma was read */
  size_t n_fields;
  int time, label[DL_LABEL_OTHER]; /* fields; -1: none */
  double unit_s;
  char time_name[DL_SAMPLE_NAME];
  char unclear[DL_SAMPLE_NAME]; /* a column whose meter is unclear */
  char twice[DL_SAMPLE_NAME];   /* a name that two columns have */
  char run[DL_SAMPLE_NAME];     /* that the rows are of */
  char like[2][DL_SAMPLE_NAME]; /* columns of one quantity: used, left out */
  char unread[DL_SAMPLE_NAME];  /* a column of a meter that no other is of */
  double epoch;                 /* number of the last row's; NaN: none yet */
  int64_t last_ns;              /* of the last row */
  enum dl_sample_clock clock;
  struct dl_turns turns; /* of GPUs, without a column that identifies them */
  struct dl_device_columns more; /* columns that distinguish devices */
  char more_name[2][DL_SAMPLE_NAME];
  bool of_sensors; /* a column says what the row measures: */
  int sensor;
  char sensor_name[DL_SAMPLE_NAME];
  bool warned_part;
  char header[DL_SAMPLE_LINE];
  size_t n_channels;
  struct dl_sample_channel channel[DL_SAMPLE_CHANNELS];
};

/* Reads a header from its fields, which `separator` separates. False if they
 * are none. */
bool dl_samples_header(struct dl_samples *s, char **field, size_t n_fields,
                       char separator);

/* Finds the header: the first line that is not a comment, or a comment
 * itself. */
bool dl_samples_find(struct dl_samples *s, const struct dl_head *head);

/* Whether a channel has a power or an energy. */
bool dl_samples_measures(const struct dl_sample_channel *c);

/* Finds what distinguishes devices apart from the columns that are called so.
 * Refuses values of a node that differ between the rows of its devices, and
 * numbers without a unit that are no watts. */
enum dl_status dl_samples_devices(struct dl_samples *s, struct dl_log *log,
                                  const struct dl_head *head,
                                  struct dl_diag *d);

/* Finds in a later header the columns that dl_samples_devices() found. */
void dl_samples_keep_devices(const struct dl_samples *old,
                             struct dl_samples *new, char *const *field);

/* The field that identifies the device of a row; -1: none. */
int dl_samples_device_field(const struct dl_samples *s);

/* Copies a name, cut to its size. */
void dl_samples_name(char to[DL_SAMPLE_NAME], const char *from);

#endif
