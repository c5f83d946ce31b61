/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distinguishes the devices of a log without a column that identifies them: it
 * lists them in turn, in rounds of rows that follow each other closely. */

#ifndef DL_LOGS_IMPORTERS_DEVICE_TURNS_H
#define DL_LOGS_IMPORTERS_DEVICE_TURNS_H

#include "logs/importers/importer.h"

struct dl_turns {
  /* Set by the caller: how rows state their time. */
  char separator;
  size_t n_fields; /* others are no rows */
  int time;        /* field; as in dl_log_time, or */
  double unit_s; /* of relative times, which are numbers; NaN: there are none */
  int value;     /* field of a power or an energy */
  int of; /* only rows count that have the first row's value in this field;
             -1: all */

  size_t n;         /* devices; 0 or 1: one */
  size_t turn;      /* of the last row, from 0 */
  int64_t last_ns;  /* time of the last row; INT64_MIN: none */
  int64_t pause_ns; /* a longer step begins a round */
  size_t n_rounds;  /* that have ended */
  size_t n_odd;     /* of them, with more or fewer rows than devices */
};

/* Finds the number of devices by the times of the first rows. Most complete
 * rounds must have that many rows. Warns about several devices, and if rows
 * come in rounds of different lengths (then n is 1). Rows of one second may be
 * samples of one device: their values decide (readings/same_times.h). */
void dl_turns_find(struct dl_turns *t, struct dl_log *log,
                   const struct dl_head *head);

/* Refuses a log in which rows with one value of the field `of`, for example a
 * host, come from several devices that nothing distinguishes. */
enum dl_status dl_turns_refuse(struct dl_turns t, struct dl_log *log,
                               const struct dl_head *head, struct dl_diag *d);

/* The device of the next row, from 0. Where a row is missing, those behind it
 * in the round count for the devices before theirs. */
size_t dl_turns_next(struct dl_turns *t, int64_t ns);

/* Warns if there were such rounds. */
void dl_turns_end(const struct dl_turns *t, struct dl_log *log);

#endif
