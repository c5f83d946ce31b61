/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of the runs table under other names: with another unit behind them,
 * or as tools call them. */

#ifndef DL_RUN_COLUMN_NAMES_H
#define DL_RUN_COLUMN_NAMES_H

#include <stdbool.h>

#include "base/text.h"

enum { DL_MOST_NAME = 64 };

/* Writes a name in lower case, letters and digits alone. False: it is too long
 * to be compared. */
bool dl_fold_column(const char *name, char to[DL_MOST_NAME]);

/* Finds the unit at the end of "energy_kwh", "energy (kWh)" or "Energy [kWh]",
 * whose name without it is then folded to stem; or returns NULL. */
const struct dl_named_unit *dl_stated_unit(const char *name,
                                           char stem[DL_MOST_NAME]);

/* Returns the column that a folded name is called, or NULL. The unit of a
 * column that such a name does not state is not assumed. */
const char *dl_column_called(const char *folded);

/* Returns the column that a name with a unit behind it stands for ("energy_j"
 * of "energy_kwh"), or NULL. *factor is the factor of the unit, 1 without one.
 */
const char *dl_column_in_unit(const char *name, double *factor);

#endif
