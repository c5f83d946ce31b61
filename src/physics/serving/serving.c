/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The serving regression: rows of a design as inputs of the physics of LLM
 * serving. */

#include "physics/serving/serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/regression/regression_methods.h"
#include "physics/rows/row_regression.h"

void dl_serving_inputs_of(const double *row, struct dl_serving_inputs *in) {
  *in = (struct dl_serving_inputs){
      .batch = row[DL_SC_BATCH],
      .prompt = row[DL_SC_PROMPT],
      .answer = row[DL_SC_ANSWER],
      .weights = 1e6 * row[DL_SC_STEP_WEIGHTS],
      .experts = 1e6 * row[DL_SC_EXPERTS],
      .share = row[DL_SC_SHARE],
      .token_weights = 1e6 * row[DL_SC_TOKEN_WEIGHTS],
      .pair_macs = row[DL_SC_PAIR_MACS],
      .kept = row[DL_SC_KEPT],
      .layers = row[DL_SC_LAYERS],
      .width = row[DL_SC_WIDTH],
      .weight_bytes = row[DL_SC_WEIGHT_BYTES],
      .kept_bytes = row[DL_SC_KEPT_BYTES],
      .n_gpus = row[DL_SC_GPUS],
      .peak = 1e12 * row[DL_SC_PEAK],
      .bandwidth = 1e9 * row[DL_SC_BANDWIDTH],
      .link = 1e9 * row[DL_SC_LINK],
      .tdp = row[DL_SC_TDP],
      .old = row[DL_SC_OLD] > 0,
  };
  struct dl_grouping *g = &in->grouping;
  g->level[DL_SB_GPU] = row[DL_SC_GPU];
  g->level[DL_SB_ARCH] = row[DL_SC_ARCH];
  g->level[DL_SB_PROMPTS] =
      row[DL_SC_PROMPT_DOUBT] > 0 ? row[DL_SC_PROMPTS] : 0;
  g->level_sd = row[DL_SC_PROMPT_DOUBT];
}

/* Times and powers are taken where both are there, else the target. */
static void read_row(const double *row, void *inputs, double *value) {
  dl_serving_inputs_of(row, inputs);
  size_t target = (size_t)row[DL_SC_TARGET] - 1;
  double y = value[target];
  for (size_t t = 0; t < DL_N_SERVING_TARGETS; t++)
    value[t] = NAN;
  if (row[DL_SC_TIME] > 0 && row[DL_SC_POWER] > 0) {
    value[DL_ST_TIME] = log(row[DL_SC_TIME]);
    value[DL_ST_POWER] = log(row[DL_SC_POWER]);
  } else {
    value[target] = y;
  }
}

static enum dl_status check(const double *row, size_t i, struct dl_diag *d) {
  static const enum dl_serving_column positive[] = {
      DL_SC_BATCH,        DL_SC_TOKEN_WEIGHTS, DL_SC_WEIGHT_BYTES, DL_SC_GPUS,
      DL_SC_PEAK,         DL_SC_BANDWIDTH,     DL_SC_LINK,         DL_SC_TDP,
      DL_SC_STEP_WEIGHTS, DL_SC_LAYERS};
  for (size_t j = 0; j < sizeof positive / sizeof *positive; j++)
    if (!(row[positive[j]] > 0))
      return dl_fail(d, DL_EINPUT,
                     "row %zu: batch, GPUs, weights, layers, peak rate, "
                     "bandwidth and TDP must be above 0",
                     i + 1);
  if (!(row[DL_SC_PROMPT] + row[DL_SC_ANSWER] > 0))
    return dl_fail(d, DL_EINPUT, "row %zu: neither prompt nor answer", i + 1);
  return DL_OK;
}

static const struct dl_row_physics rows = {
    .physics = &dl_serving_physics,
    .n_columns = DL_SC_N,
    .target_column = DL_SC_TARGET,
    .read = read_row,
    .check = check,
};

static enum dl_status fit(void **state, const struct dl_sample *data,
                          double *hyper, struct dl_diag *d) {
  (void)hyper;
  return dl_row_fit(state, &rows, data, d);
}

static enum dl_status predict(const void *state, const gsl_matrix *X,
                              gsl_vector *out, struct dl_diag *d) {
  return dl_row_predict(state, &rows, X, out, d);
}

static enum dl_status restore(void **state, const struct dl_arrays *from,
                              size_t p, struct dl_diag *d) {
  return dl_row_restore(state, &rows, from, p, d);
}

void dl_serving_explain(const void *state, const double *row,
                        struct dl_serving_parts *parts) {
  static const char *const names[] = {"memory",   "compute", "layers",
                                      "exchange", "host",    "prompts"};
  const struct dl_hierarchical_fit *s = state;
  double fx[DL_MAX_EFFECTS];
  struct dl_serving_inputs in;
  struct dl_serving_cost cost;
  dl_serving_inputs_of(row, &in);
  dl_effects_of(s->physics, s->by, &in.grouping, fx);
  dl_serving_cost_of(s->c, fx, &in, &cost);
  *parts = (struct dl_serving_parts){
      .time_s = cost.time_s,
      .energy_j = cost.prefill_j + cost.decode_j,
      .prefill_s = cost.prefill_s,
      .decode_s = cost.decode_s,
      .prefill_j = cost.prefill_j,
      .decode_j = cost.decode_j,
      .memory_s = cost.memory_s,
      .compute_s = cost.compute_s,
      .layers_s = cost.layers_s,
      .exchange_s = cost.exchange_s,
      .host_s = cost.host_s,
      .awake_w = cost.base_w,
  };
  const double part[] = {cost.memory_s,   cost.compute_s, cost.layers_s,
                         cost.exchange_s, cost.host_s,    cost.prefill_s};
  size_t most = 0;
  for (size_t i = 1; i < sizeof part / sizeof *part; i++)
    if (part[i] > part[most])
      most = i;
  parts->bound = names[most];
}

const struct dl_regression dl_serving = {
    .name = "serving",
    .summary = "language models that serve requests, with priors",
    .fit = fit,
    .predict = predict,
    .save = dl_row_save,
    .restore = restore,
    .free = dl_row_free,
    .raw = true,
};
