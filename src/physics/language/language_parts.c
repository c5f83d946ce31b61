/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an optimizer step of a language model consists of. */

#include "physics/language/language_parts.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"

void dl_language_parts_of(const struct dl_fit_row *row,
                          struct dl_language_parts *parts) {
  static const char *const names[] = {"compute", "attention", "memory",
                                      "launch", "exchange"};
  const double *c = row->fit->c;
  const struct dl_language_inputs *inputs = (const void *)row->inputs;
  struct dl_language_cost *cost = &parts->cost;
  dl_language_cost_of(c, row->fx, inputs, cost);
  parts->static_w =
      (c[DL_LANG_PA] * inputs->tdp + c[DL_LANG_PB] * inputs->gddr) *
      exp(row->fx[DL_LANG_EFFECT_GPU_POWER]);
  const double part[] = {cost->compute, cost->attention,
                         cost->memory + cost->optimizer, cost->launch,
                         cost->exchange};
  parts->bound = names[gsl_stats_max_index(part, 1, DL_LENGTH(part))];
}
