/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the columns of a table, apart from known ones, that distinguish its
 * devices: rows repeatedly have equal identifiers and times, and differ only in
 * these columns, which have few different values. The names of the columns do
 * not matter. */

#ifndef DL_LOGS_IMPORTERS_DEVICE_COLUMNS_H
#define DL_LOGS_IMPORTERS_DEVICE_COLUMNS_H

#include "logs/importers/importer.h"

enum { DL_DEVICE_FIELDS = 256, DL_DEVICE_CHOICES = 8, DL_DEVICE_VALUES = 16 };

enum dl_field_role {
  DL_FIELD_OTHER,
  DL_FIELD_TIME,
  DL_FIELD_DEVICE,  /* identifies it */
  DL_FIELD_MEASURED /* or otherwise known to identify none */
};

/* How rows are read. */
struct dl_device_table {
  char separator;
  size_t n_fields;   /* others are no rows */
  char *const *name; /* of the fields; NULL: unknown */
  unsigned char role[DL_DEVICE_FIELDS];
};

struct dl_device_columns {
  size_t n; /* columns, of which each row has a combination of values */
  int field[2];
  int host;         /* of them, the one that names the node; -1: none */
  size_t n_devices; /* in the first rows */
  /* Columns each of which would do; the first is used, if n is 1. */
  size_t n_choices;
  int choice[DL_DEVICE_CHOICES];
  /* Columns that may name the device of all rows of a part of the table, and
   * their last values. */
  size_t n_seldom;
  int seldom[DL_DEVICE_CHOICES];
  char value[DL_DEVICE_CHOICES][64];
};

/* Finds them in the first rows. n is 0 if the known columns do. */
void dl_device_columns_find(struct dl_device_columns *c,
                            const struct dl_head *head,
                            const struct dl_device_table *table);

/* Says which were found, if any. */
void dl_device_columns_warn(const struct dl_device_columns *c,
                            const struct dl_device_table *table,
                            struct dl_log *log);

/* Notes in the log where one of the columns that change seldom does. */
void dl_device_columns_follow(struct dl_device_columns *c, char *const *field,
                              struct dl_log *log);

/* Appends ":VALUE" of each column to an identifier, which has room for `size`
 * bytes. */
void dl_device_columns_id(const struct dl_device_columns *c, char *const *field,
                          char *id, size_t size);

/* The different values of a field in the first rows, "" behind them. */
void dl_device_values(const struct dl_head *head,
                      const struct dl_device_table *table, int field,
                      char value[DL_DEVICE_VALUES][64]);

/* Whether a field differs between neighbouring rows of one time, in more than a
 * twentieth of those among the first rows. */
bool dl_device_differs(const struct dl_head *head,
                       const struct dl_device_table *table, int field);

/* Whether the numbers of a field are those of intervals in the first rows, and
 * not of a counter: those of a device fall again and again, also against the
 * rows before the last one, as the counters of devices in turn do not. */
bool dl_device_falls(const struct dl_head *head,
                     const struct dl_device_table *table,
                     const struct dl_device_columns *more, int field);

/* Whether each of the first rows has a text in a field that begins with a
 * letter, and no other has. */
bool dl_device_each_named(const struct dl_head *head,
                          const struct dl_device_table *table, int field);

/* Whether a column of that name numbers or names devices: rank, hostname. */
bool dl_device_named(const char *name);

#endif
