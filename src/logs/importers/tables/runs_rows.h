/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions for importers of finished runs. */

#ifndef DL_LOGS_IMPORTERS_TABLES_RUNS_ROWS_H
#define DL_LOGS_IMPORTERS_TABLES_RUNS_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/constants.h"
#include "logs/importers/importer.h"

/* Reads a quantity from a cell: *x is the number times `scale`, NaN if there is
 * no such column (at < 0) or no value. Reports, and returns false for, a cell
 * that is no number, below `low` (0, or less), or above 1e300. */
bool dl_run_cell(struct dl_log *log, const char *const *cell, long at,
                 double scale, double low, double *x);

/* Finds the columns of a table: at[c] is the index of the first name of column
 * c that is there, or -1. */
void dl_run_columns_find(struct dl_log *log,
                         const struct dl_cell_column *columns, size_t n,
                         long *at);

/* Reads numbers that are not negative from n columns. */
bool dl_run_cells(struct dl_log *log, const char *const *cell, const long *at,
                  const struct dl_cell_column *columns, size_t n, double *x);

/* Whether a cell has a text, other than a word for "none". */
bool dl_run_has_text(const char *const *cell, long at);

/* Sets a number if it is in the range of the column. */
void dl_run_put(struct dl_run *r, enum dl_run_id column, double x);

/* Sets the energy of a kind of meter, J, and the mean power over duration_s,
 * W. */
void dl_run_put_energy(struct dl_run *r, enum dl_meter_kind kind,
                       double energy_j, double duration_s);

/* Sets the number of epochs, and the means over them. */
void dl_run_put_epochs(struct dl_run *r, double epochs);

/* Sets start_time to `before_s` before t. */
void dl_run_put_time(struct dl_run *r, const struct dl_timestamp *t,
                     double before_s);

/* Sets start_time to `before_s` before the time in a cell; warns if the cell
 * has no time. */
void dl_run_put_start(struct dl_log *log, struct dl_run *r,
                      const char *const *cell, long at, double before_s);

#endif
