/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What importers of finished runs share. */

#ifndef DL_LOGS_IMPORTERS_TABLES_RUNS_ROWS_H
#define DL_LOGS_IMPORTERS_TABLES_RUNS_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/constants.h"
#include "logs/importers/importer.h"

/* A cell with a quantity: *x is the number times `scale`, NaN where there is
 * no such column (at < 0) or the cell says nothing. What is no number, below 0
 * or beyond 1e300 is reported and false. */
bool dl_run_cell(struct dl_log *log, const char *const *cell, long at,
                 const char *name, double scale, double *x);

/* Whether a cell has a text, and not a word for none. */
bool dl_run_has_text(const char *const *cell, long at);

/* Sets a cell where x is in the column's range, and leaves it otherwise. */
void dl_run_put(struct dl_run *r, const char *column, double x);

/* The same for a mean power. */
void dl_run_put_power(struct dl_run *r, const char *column, double energy_j,
                      double duration_s);

/* The number of epochs, and the means over them. */
void dl_run_put_epochs(struct dl_run *r, double epochs);

/* Sets start_time to `before_s` before t. */
void dl_run_put_time(struct dl_run *r, const struct dl_timestamp *t,
                     double before_s);

/* The same for a cell with a time; what is none is a warning. */
void dl_run_put_start(struct dl_log *log, struct dl_run *r,
                      const char *const *cell, long at, double before_s);

/* Hands on a run that was put together from several lines; *r is empty
 * afterwards. */
void dl_run_hand_on(struct dl_log *log, struct dl_run *r);

#endif
