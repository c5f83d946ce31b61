/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical regression: rows of a design as inputs of the physics of
 * training. */

#include "physics/training/physical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/regression/regression_methods.h"
#include "physics/rows/row_regression.h"

/* Kernels a convolution or dense layer brings with it (its normalisation,
 * activation, sum), and those of a network of which nothing is known: the
 * middle of torchvision's. */
#define KERNELS_A_LAYER 3.2
#define USUAL_KERNELS 250

/* Length scales of the residual process, in factors of e. */
#define LENGTH_BATCH 0.7
#define LENGTH_PX 0.35
#define LENGTH_SAMPLES 1.4

/* How uncertain a row's time is, by how uncertain its power: of the input
 * pipeline nothing is known. */
#define TIME_UNCERTAINTY 4

/* Outputs of convolutions about follow sqrt(MACs) x side of the image. */
static double activations(const double *row) {
  if (row[DL_PC_ACTS] > 0)
    return row[DL_PC_ACTS];
  return sqrt(row[DL_PC_MACS]) * fmax(row[DL_PC_PX], 32) / 35;
}

static double kernels(const double *row) {
  if (row[DL_PC_KERNELS] > 0)
    return row[DL_PC_KERNELS];
  if (row[DL_PC_LAYERS] > 0)
    return KERNELS_A_LAYER * row[DL_PC_LAYERS];
  return USUAL_KERNELS;
}

/* A machine without a name is known by its GPU and the source, if any, and so
 * is what runs on it; a network whose facts are uncertain is one of its own on
 * each data set. */
static void group(const double *row, struct dl_grouping *g) {
  bool uncertain = row[DL_PC_FACTS_DOUBT] > 0;
  double on_data = row[DL_PC_ARCH] / 3 + row[DL_PC_DATASET] / 7;
  double machine = row[DL_PC_SOURCE] / 3 + row[DL_PC_GPU] / 7;
  g->level[DL_BY_HOST] = row[DL_PC_HOST] > 0 ? row[DL_PC_HOST] : machine;
  g->unnamed[DL_BY_HOST] = 0 + row[DL_PC_GPU] / 7;
  g->level[DL_BY_GPU] = row[DL_PC_GPU];
  g->level[DL_BY_ARCH] = uncertain && on_data > 0 ? on_data : row[DL_PC_ARCH];
  g->level[DL_BY_FRAMEWORK] =
      row[DL_PC_FRAMEWORK] > 0 ? row[DL_PC_FRAMEWORK] : machine;
  g->level[DL_BY_FACTS] = uncertain ? on_data : 0;
  g->level_sd = row[DL_PC_FACTS_DOUBT];
  g->sd[DL_PT_POWER] = g->sd[DL_PT_ENERGY] = row[DL_PC_DOUBT];
  g->sd[DL_PT_TIME] = TIME_UNCERTAINTY * row[DL_PC_DOUBT];
  g->misfit_sd = hypot(row[DL_PC_DOUBT], row[DL_PC_FACTS_DOUBT]);
  g->partial = row[DL_PC_DOUBT] > 0;
  g->place = (struct dl_place){{log(row[DL_PC_BATCH]) / LENGTH_BATCH,
                                log(fmax(row[DL_PC_PX], 1)) / LENGTH_PX,
                                log(row[DL_PC_TRAIN]) / LENGTH_SAMPLES},
                               row[DL_PC_FROZEN],
                               row[DL_PC_GPU],
                               row[DL_PC_ARCH]};
}

void dl_training_inputs_of(const double *row, struct dl_training_inputs *in) {
  bool known = row[DL_PC_TRAFFIC] > 0;
  double elements = known ? row[DL_PC_TRAFFIC] : activations(row);
  *in = (struct dl_training_inputs){
      .source = row[DL_PC_SOURCE],
      .dataset = row[DL_PC_DATASET],
      .batch = row[DL_PC_BATCH],
      .train = row[DL_PC_TRAIN],
      .val = row[DL_PC_VAL],
      .frozen = row[DL_PC_FROZEN],
      .flops = 2e9 * row[DL_PC_MACS],
      .bytes = 1e6 * elements * row[DL_PC_ELEMENT],
      .bytes_known = known,
      .kernels = kernels(row),
      .weights = 4e6 * row[DL_PC_WEIGHTS],
      .head = 4e6 * row[DL_PC_HEAD],
      .peak = 1e12 * row[DL_PC_PEAK],
      .bandwidth = 1e9 * row[DL_PC_BANDWIDTH],
      .tdp = row[DL_PC_TDP],
      .limit = row[DL_PC_LIMIT] > 0 ? row[DL_PC_LIMIT] : row[DL_PC_TDP],
      .gddr = row[DL_PC_GDDR] > 0 ? row[DL_PC_BANDWIDTH] : 0,
      .server = row[DL_PC_SERVER],
      .ram_w = row[DL_PC_RAM_W],
      .mid_run = row[DL_PC_DOUBT] > 0,
      .in_tensor = (int)row[DL_PC_IN_TENSOR],
      .has_tensor = row[DL_PC_HAS_TENSOR] > 0,
  };
  group(row, &in->grouping);
}

double dl_physical_measured(const double *row, enum dl_physical_target target) {
  double power = row[DL_PC_POWER], time = row[DL_PC_TIME];
  double x = target == DL_PT_POWER   ? power
             : target == DL_PT_TIME  ? time
             : row[DL_PC_ENERGY] > 0 ? row[DL_PC_ENERGY]
             : power > 0             ? (power + row[DL_PC_RAM_W]) * time
                                     : 0;
  return x > 0 ? x : NAN;
}

static void read_row(const double *row, void *inputs, double *value) {
  static const size_t column[] = {[DL_PT_POWER] = DL_PC_POWER,
                                  [DL_PT_ENERGY] = DL_PC_ENERGY,
                                  [DL_PT_TIME] = DL_PC_TIME};
  dl_training_inputs_of(row, inputs);
  for (size_t t = 0; t < DL_N_PHYSICAL_TARGETS; t++)
    if (t + 1 != (size_t)row[DL_PC_TARGET])
      value[t] = row[column[t]] > 0 ? log(row[column[t]]) : NAN;
}

static enum dl_status check(const double *row, size_t i, struct dl_diag *d) {
  static const enum dl_physical_column positive[] = {
      DL_PC_BATCH, DL_PC_TRAIN, DL_PC_MACS,
      DL_PC_PEAK,  DL_PC_TDP,   DL_PC_BANDWIDTH};
  for (size_t j = 0; j < sizeof positive / sizeof *positive; j++)
    if (!(row[positive[j]] > 0))
      return dl_fail(d, DL_EINPUT,
                     "row %zu: batch, samples, work, peak rate, bandwidth "
                     "and TDP must be above 0",
                     i + 1);
  return DL_OK;
}

static const struct dl_row_physics rows = {
    .physics = &dl_training_physics,
    .n_columns = DL_PC_N,
    .target_column = DL_PC_TARGET,
    .read = read_row,
    .check = check,
};

static enum dl_status fit(void **state, const struct dl_sample *data,
                          double *hyper, struct dl_diag *d) {
  (void)hyper;
  return dl_row_fit(state, &rows, data, d);
}

static enum dl_status adapt(void **state, const void *from, const gsl_matrix *X,
                            const gsl_vector *y, struct dl_diag *d) {
  return dl_row_adapt(state, from, &rows, X, y, d);
}

static enum dl_status predict(const void *state, const gsl_matrix *X,
                              gsl_vector *out, struct dl_diag *d) {
  return dl_row_predict(state, &rows, X, out, d);
}

static enum dl_status restore(void **state, const struct dl_arrays *from,
                              size_t p, struct dl_diag *d) {
  return dl_row_restore(state, &rows, from, p, d);
}

void dl_physical_explain(const void *state, const double *row,
                         struct dl_physical_parts *parts) {
  static const char *const names[] = {"compute", "memory", "kernels", "launch"};
  const struct dl_hierarchical_fit *s = state;
  double fx[DL_MAX_EFFECTS];
  struct dl_training_inputs in;
  struct dl_cost cost;
  dl_training_inputs_of(row, &in);
  dl_effects_of(s->physics, s->by, &in.grouping, fx);
  dl_training_epoch(s->c, fx, &in, &cost);
  *parts = (struct dl_physical_parts){.time_s = cost.time,
                                      .gpu_energy_j = cost.energy,
                                      .gpu_power_w = cost.energy / cost.time,
                                      .compute_s = cost.compute,
                                      .memory_s = cost.memory,
                                      .kernels_s = cost.kernels,
                                      .launch_s = cost.launch,
                                      .fixed_s = cost.fixed};
  const double part[] = {cost.compute, cost.memory, cost.kernels, cost.launch};
  size_t most = 0;
  for (size_t i = 1; i < 4; i++)
    if (part[i] > part[most])
      most = i;
  parts->bound = names[most];
}

size_t dl_physical_constants(const void *state,
                             struct dl_physical_constant *list, size_t most) {
  const struct dl_hierarchical_fit *s = state;
  size_t n = 0;
  for (size_t i = 0; i < s->physics->n_constants && n < most; i++) {
    const struct dl_physics_constant *c = &s->physics->constant[i];
    list[n++] = (struct dl_physical_constant){
        c->name,     c->unit,   c->summary, exp(s->theta[i]),
        s->error[i], c->median, c->sd};
  }
  return n;
}

const struct dl_regression dl_physical = {
    .name = "physical",
    .summary = "arithmetic, memory traffic and launches, with priors",
    .fit = fit,
    .predict = predict,
    .save = dl_row_save,
    .restore = restore,
    .free = dl_row_free,
    .adapt = adapt,
    .raw = true,
};
