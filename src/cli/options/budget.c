/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --budget-kwh. */

#include "base/constants.h"
#include "cli/options/budget.h"

#include "base/number.h"

enum dl_status dl_check_budget(const char *what, double energy_j,
                               double budget_kwh, struct dl_diag *d) {
  char kwh[DL_NUMBER_SIZE];
  if (!(energy_j > budget_kwh * DL_J_PER_KWH))
    return DL_OK;
  return dl_fail(d, DL_EBUDGET, "%s %s kWh, over the budget of %g kWh", what,
                 dl_format_digits(kwh, energy_j / DL_J_PER_KWH, 3), budget_kwh);
}
