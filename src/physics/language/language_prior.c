/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/language/language_prior.h"

#include <math.h>

#include "physics/language/language_inputs.h"

double dl_language_prior_s_per_token(const struct dl_physics_row *row) {
  struct dl_language_inputs in;
  struct dl_language_cost cost;
  double c[DL_N_LANGUAGE];
  const double fx[DL_N_LANGUAGE_EFFECTS] = {0};
  if (dl_language_inputs_read(row, &in) || dl_language_inputs_check(&in))
    return NAN;
  for (size_t i = 0; i < DL_N_LANGUAGE; i++)
    c[i] = dl_language_physics.constant[i].median;
  dl_language_cost_of(c, fx, &in, &cost);
  return cost.time / cost.tokens;
}
