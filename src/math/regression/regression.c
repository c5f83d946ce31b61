/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/regression/regression.h"

#include <string.h>

#include "math/regression/regression_methods.h"

static const struct dl_regression *const registry[] = {
    &dl_ols, &dl_ridge, &dl_krr, &dl_physical, &dl_serving, &dl_language,
};

size_t dl_regression_count(void) {
  return sizeof registry / sizeof *registry;
}

const struct dl_regression *dl_regression_at(size_t i) {
  return i < dl_regression_count() ? registry[i] : NULL;
}

const struct dl_regression *dl_regression_find(const char *name) {
  for (size_t i = 0; i < dl_regression_count(); i++)
    if (strcmp(registry[i]->name, name) == 0)
      return registry[i];
  return NULL;
}
