/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy budget of the commands with --budget-kwh. */

#ifndef DL_CLI_OPTIONS_BUDGET_H
#define DL_CLI_OPTIONS_BUDGET_H

#include "base/diag.h"

/* Fails with DL_EBUDGET where energy_j (NaN: unknown, is not) is over the
 * budget, kWh (INFINITY: without one). `what` begins the message: "a run
 * takes". */
enum dl_status dl_check_budget(const char *what, double energy_j,
                               double budget_kwh, struct dl_diag *d);

#endif
