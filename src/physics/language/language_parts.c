/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of an optimizer step of a language model. */

#include "physics/language/language_parts.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "physics/training/training_without_waiting.h"

enum { PARTS = 5 };

static void list_parts(const struct dl_language_cost *cost,
                       double part[PARTS]) {
  const double all[PARTS] = {cost->compute, cost->attention,
                             cost->memory + cost->optimizer, cost->launch,
                             cost->exchange};
  memcpy(part, all, sizeof all);
}

/* The time if plain software had that share. */
static double time_with(const struct dl_fit_row *row, double untuned) {
  const struct dl_language_inputs *of = (const void *)row->inputs;
  struct dl_language_inputs in = *of;
  struct dl_language_cost cost;
  in.untuned = untuned;
  dl_language_cost_of(row->fit->c, row->fx, &in, &cost);
  return cost.time;
}

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
      exp(row->fx[DL_LANG_EFFECT_GPU_POWER] +
          row->fx[DL_LANG_EFFECT_SOURCE_POWER]);
  const double part[] = {cost->compute, cost->attention,
                         cost->memory + cost->optimizer, cost->launch,
                         cost->exchange};
  parts->bound = names[gsl_stats_max_index(part, 1, DL_LENGTH(part))];
  double kernels = cost->compute + cost->attention + cost->memory +
                   cost->optimizer + cost->exchange;
  parts->gpu_share = kernels / fmax(kernels, cost->launch);
  parts->untuned = inputs->untuned;
  parts->if_tuned = parts->if_plain = 0;
  if (inputs->unknown) {
    parts->if_tuned = log(time_with(row, 0) / cost->time);
    parts->if_plain = log(time_with(row, 1) / cost->time);
  }
}

void dl_language_bound(const double *c, const void *inputs,
                       struct dl_place *to) {
  const double none[DL_N_LANGUAGE_EFFECTS] = {0};
  struct dl_language_cost cost;
  double sum = 0;
  dl_language_cost_of(c, none, inputs, &cost);
  list_parts(&cost, to->bound);
  for (size_t i = 0; i < PARTS; i++)
    sum += to->bound[i];
  for (size_t i = 0; i < PARTS; i++)
    to->bound[i] /= sum;
}

void dl_language_without_waiting(const struct dl_hierarchical_fit *fit,
                                 double util, struct dl_language_inputs *inputs,
                                 double value[DL_N_LANGUAGE_TARGETS]) {
  struct dl_fit_row row;
  struct dl_language_parts parts;
  dl_fit_row_make(&row, fit, inputs);
  dl_language_parts_of(&row, &parts);
  double busy = util / parts.gpu_share;
  if (!(busy < 1))
    return;
  double mean = exp(value[DL_LANG_TARGET_POWER]);
  double power = (mean - (1 - busy) * parts.static_w) / busy;
  value[DL_LANG_TARGET_RATE] -= log(busy);
  value[DL_LANG_TARGET_POWER] = log(fmax(power, parts.static_w));
  if (isnan(mean))
    value[DL_LANG_TARGET_POWER] = NAN;
  inputs->grouping.waiting_sd = dl_training_util_sd(parts.gpu_share);
  inputs->grouping.misfit_sd =
      hypot(inputs->grouping.misfit_sd, inputs->grouping.waiting_sd);
}
