/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/regression/regression.h"

#include <string.h>

#include "math/regression/regression_methods.h"

const struct dl_regression *const dl_regressions[DL_N_REGRESSIONS] = {
    &dl_ols,     &dl_ridge,    &dl_krr,   &dl_physical,
    &dl_serving, &dl_language, &dl_tuned, &dl_cpu,
};

const struct dl_regression *dl_regression_find(const char *name) {
  for (size_t i = 0; i < DL_N_REGRESSIONS; i++)
    if (strcmp(dl_regressions[i]->name, name) == 0)
      return dl_regressions[i];
  return NULL;
}
