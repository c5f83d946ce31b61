/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression of servers: glue between the registry and serving_model.h. */

#include "physics/serving/serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/regression/regression_methods.h"
#include "physics/serving/serving_private.h"

static const char *const bearer_names[] = {
    [DL_SB_GPU] = "gpu", [DL_SB_ARCH] = "arch", [DL_SB_PROMPTS] = "prompts"};

double dl_serving_key(enum dl_serving_bearer by, const double *row) {
  if (by == DL_SB_GPU)
    return row[DL_SC_GPU];
  if (by == DL_SB_ARCH)
    return row[DL_SC_ARCH];
  return row[DL_SC_PROMPT_DOUBT] > 0 ? row[DL_SC_PROMPTS] : 0;
}

void dl_serving_load_of(const double *row, struct dl_serving_load *l) {
  *l = (struct dl_serving_load){
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
}

void dl_serving_targets(const double *c, const double *fx,
                        const struct dl_serving_load *l,
                        double out[DL_ST_POWER + 1]) {
  struct dl_serving_cost cost;
  dl_serving_round(c, fx, l, &cost);
  double time = log(cost.time_s / l->batch), power = log(cost.power_w);
  out[DL_ST_TIME] = time;
  out[DL_ST_POWER] = power;
  out[DL_ST_ENERGY] = time + power + log(l->n_gpus);
}

void dl_serving_effects(const struct dl_serving *s, const double *row,
                        double fx[DL_N_SERVING_EFFECTS]) {
  for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++)
    fx[i] = 0;
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++) {
    double key = dl_serving_key((enum dl_serving_bearer)k, row);
    for (size_t b = 0; b < s->by[k].n; b++)
      if (!(s->by[k].k[b].key < key) && !(s->by[k].k[b].key > key))
        for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++)
          fx[i] += s->by[k].k[b].fx[i];
  }
}

static void serving_free(void *state) {
  struct dl_serving *s = state;
  if (!s)
    return;
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++)
    free(s->by[k].k);
  free(s);
}

static enum dl_status check_columns(size_t p, struct dl_diag *d) {
  if (p == DL_SC_N)
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "the serving method takes its own features; leave --features "
                 "out");
}

static enum dl_status check_rows(const gsl_matrix *X, struct dl_diag *d) {
  static const enum dl_serving_column positive[] = {
      DL_SC_BATCH,        DL_SC_TOKEN_WEIGHTS, DL_SC_WEIGHT_BYTES, DL_SC_GPUS,
      DL_SC_PEAK,         DL_SC_BANDWIDTH,     DL_SC_LINK,         DL_SC_TDP,
      DL_SC_STEP_WEIGHTS, DL_SC_LAYERS};
  for (size_t i = 0; i < X->size1; i++) {
    for (size_t j = 0; j < sizeof positive / sizeof *positive; j++)
      if (!(gsl_matrix_get(X, i, positive[j]) > 0))
        return dl_fail(d, DL_EINPUT,
                       "row %zu: batch, GPUs, weights, layers, peak rate, "
                       "bandwidth and TDP must be above 0",
                       i + 1);
    if (!(gsl_matrix_get(X, i, DL_SC_PROMPT) +
              gsl_matrix_get(X, i, DL_SC_ANSWER) >
          0))
      return dl_fail(d, DL_EINPUT, "row %zu: neither prompt nor answer", i + 1);
  }
  return DL_OK;
}

static enum dl_status fit(void **state, const gsl_matrix *X,
                          const gsl_vector *y, const gsl_vector *w,
                          double *hyper, const char *const *names,
                          struct dl_diag *d) {
  (void)hyper, (void)names;
  enum dl_status status = dl_check_fit(X, y, w, d);
  if (status == DL_OK)
    status = check_columns(X->size2, d);
  if (status == DL_OK)
    status = check_rows(X, d);
  if (status != DL_OK)
    return status;
  struct dl_serving *s = dl_calloc(1, sizeof *s);
  status = s ? dl_serving_solve(s, X, y, w, d) : dl_fail_memory(d);
  if (status == DL_OK)
    *state = s;
  else
    serving_free(s);
  return status;
}

/* Constants, effects and load of a row under a state. */
static void set_up(const struct dl_serving *s, const double *row,
                   double c[DL_N_SERVING], double fx[DL_N_SERVING_EFFECTS],
                   struct dl_serving_load *load) {
  for (size_t i = 0; i < DL_N_SERVING; i++)
    c[i] = exp(s->theta[i]);
  dl_serving_effects(s, row, fx);
  dl_serving_load_of(row, load);
}

static enum dl_status predict(const void *state, const gsl_matrix *X,
                              gsl_vector *out, struct dl_diag *d) {
  enum dl_status status = dl_check_predict(DL_SC_N, X, out, d);
  for (size_t i = 0; i < X->size1 && status == DL_OK; i++) {
    const double *row = gsl_matrix_const_ptr(X, i, 0);
    double c[DL_N_SERVING], fx[DL_N_SERVING_EFFECTS], y[DL_ST_POWER + 1];
    struct dl_serving_load load;
    set_up(state, row, c, fx, &load);
    dl_serving_targets(c, fx, &load, y);
    gsl_vector_set(out, i, y[(size_t)row[DL_SC_TARGET]]);
  }
  return status;
}

/* One row a bearer: its key, then its effects. */
static bool save_bearers(struct dl_arrays *to, const struct dl_serving *s,
                         size_t k) {
  if (s->by[k].n == 0)
    return true;
  gsl_matrix *m = gsl_matrix_alloc(s->by[k].n, 1 + DL_N_SERVING_EFFECTS);
  for (size_t b = 0; m && b < s->by[k].n; b++) {
    gsl_matrix_set(m, b, 0, s->by[k].k[b].key);
    for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++)
      gsl_matrix_set(m, b, 1 + i, s->by[k].k[b].fx[i]);
  }
  bool ok = m && dl_arrays_add_matrix(to, bearer_names[k], m);
  gsl_matrix_free(m);
  return ok;
}

static enum dl_status save(const void *state, struct dl_arrays *to,
                           struct dl_diag *d) {
  const struct dl_serving *s = state;
  gsl_vector_const_view theta =
      gsl_vector_const_view_array(s->theta, DL_N_SERVING);
  gsl_vector_const_view error =
      gsl_vector_const_view_array(s->error, DL_N_SERVING);
  bool ok = dl_arrays_add_vector(to, "constants", &theta.vector) &&
            dl_arrays_add_vector(to, "errors", &error.vector);
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++)
    ok = ok && save_bearers(to, s, k);
  return ok ? DL_OK : dl_fail_memory(d);
}

static enum dl_status restore_bearers(struct dl_serving *s,
                                      const struct dl_arrays *from, size_t k,
                                      struct dl_diag *d) {
  if (!dl_arrays_find(from, bearer_names[k]))
    return DL_OK;
  const struct dl_array *a =
      dl_check_array(from, bearer_names[k], 0, 1 + DL_N_SERVING_EFFECTS, d);
  if (!a)
    return DL_EINPUT;
  s->by[k].k = dl_calloc(a->rows, sizeof *s->by[k].k);
  if (!s->by[k].k)
    return dl_fail_memory(d);
  s->by[k].n = a->rows;
  for (size_t b = 0; b < a->rows; b++) {
    const double *row = a->data + b * a->cols;
    s->by[k].k[b].key = row[0];
    memcpy(s->by[k].k[b].fx, row + 1, sizeof s->by[k].k[b].fx);
  }
  return DL_OK;
}

static enum dl_status restore(void **state, const struct dl_arrays *from,
                              size_t p, struct dl_diag *d) {
  enum dl_status status = check_columns(p, d);
  const struct dl_array *theta =
      status == DL_OK ? dl_check_array(from, "constants", DL_N_SERVING, 1, d)
                      : NULL;
  const struct dl_array *error =
      theta ? dl_check_array(from, "errors", DL_N_SERVING, 1, d) : NULL;
  if (!theta || !error)
    return DL_EINPUT;
  struct dl_serving *s = dl_calloc(1, sizeof *s);
  if (!s)
    return dl_fail_memory(d);
  memcpy(s->theta, theta->data, sizeof s->theta);
  memcpy(s->error, error->data, sizeof s->error);
  for (size_t k = 0; k < DL_N_SERVING_BEARERS && status == DL_OK; k++)
    status = restore_bearers(s, from, k, d);
  if (status == DL_OK)
    *state = s;
  else
    serving_free(s);
  return status;
}

void dl_serving_explain(const void *state, const double *row,
                        struct dl_serving_parts *parts) {
  static const char *const names[] = {"memory",   "compute", "layers",
                                      "exchange", "host",    "prompts"};
  double c[DL_N_SERVING], fx[DL_N_SERVING_EFFECTS];
  struct dl_serving_load load;
  struct dl_serving_cost cost;
  set_up(state, row, c, fx, &load);
  dl_serving_round(c, fx, &load, &cost);
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
    .save = save,
    .restore = restore,
    .free = serving_free,
    .raw = true,
};
