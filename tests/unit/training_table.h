/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of trainings made from known constants: every GPU with every network
 * and batch. */

#ifndef DL_TESTS_TRAINING_TABLE_H
#define DL_TESTS_TRAINING_TABLE_H

#include <math.h>
#include <string.h>

#include "math/regression/regression.h"
#include "physics/observations.h"
#include "physics/training/training_cost.h"
#include "unit.h"

enum { GPUS = 3, ARCHS = 3, BATCHES = 3, ROWS = GPUS * ARCHS * BATCHES };

/* Constants off their priors' medians by up to half a standard deviation, each
 * its own way. */
static UNUSED void true_constants(double c[DL_N_TRAINING_CONSTANTS]) {
  for (size_t i = 0; i < DL_N_TRAINING_CONSTANTS; i++) {
    const struct dl_physics_constant *info = &dl_training_physics.constant[i];
    c[i] = info->median * exp(0.5 * info->sd * cos(2.1 * (double)i));
  }
}

static const double gpu_facts[GPUS][4] = {/* TFLOP/s, GB/s, W, GDDR6 */
                                          {35.6, 936, 350, 1},
                                          {20.3, 448, 220, 1},
                                          {14.1, 900, 250, 0}};
static const double arch_facts[ARCHS][5] = {
    /* GMACs, elements, kernels, parameters, samples */
    {4.09, 26, 175, 25.6, 9000},
    {0.31, 14, 150, 3.5, 24000},
    {15.5, 30, 40, 138, 4000}};

/* Rows of a table, all measured. */
struct table {
  size_t n;
  struct dl_training_inputs in[ROWS];
  double value[ROWS][DL_N_PHYSICAL_TARGETS];
  struct dl_observed observed[ROWS];
  size_t target;
  struct dl_observations rows; /* by sample */
};

static UNUSED struct dl_design sample(struct table *t) {
  t->rows = (struct dl_observations){
      .n = t->n, .row = t->observed, .target = t->target};
  return (struct dl_design){.rows = &t->rows, .target = t->target};
}

static UNUSED void make_row(struct dl_training_inputs *in, size_t gpu,
                            size_t arch, double batch) {
  static const char *const gpus[] = {"g0", "g1", "g2"},
                           *const hosts[] = {"h0", "h1", "h2"},
                           *const archs[] = {"a0", "a1", "a2"},
                           *const datasets[] = {"d0", "d1", "d2"};
  const double *g = gpu_facts[gpu], *a = arch_facts[arch];
  const struct dl_level_names machine = {DL_NAME_SOURCE, DL_NAME_GPU};
  memset(in, 0, sizeof *in);
  in->batch = batch;
  in->clock = 1;
  in->train = a[4];
  in->val = a[4] / 4;
  in->flops = 2e9 * a[0];
  in->bytes = 4e6 * a[1];
  in->bytes_known = 1;
  in->kernels = a[2];
  in->weights = 4e6 * a[3];
  in->peak = 1e12 * g[0];
  in->has_tensor = 1;
  in->bandwidth = 1e9 * g[1];
  in->tdp = in->limit = g[2];
  in->gddr = g[3] > 0 ? g[1] : 0;
  in->ram_w = 5;
  in->n_gpus = 1;
  struct dl_grouping *p = &in->grouping;
  p->name[DL_NAME_GPU] = gpus[gpu];
  p->name[DL_NAME_HOST] = hosts[gpu];
  p->name[DL_NAME_ARCH] = archs[arch];
  p->name[DL_NAME_DATASET] = datasets[arch];
  p->name[DL_NAME_SOURCE] = "s";
  p->level[DL_FACTOR_HOST].name = DL_NAME_HOST;
  p->unnamed[DL_FACTOR_HOST].within = DL_NAME_GPU;
  p->level[DL_FACTOR_GPU].name = DL_NAME_GPU;
  p->level[DL_FACTOR_ARCH].name = DL_NAME_ARCH;
  p->level[DL_FACTOR_FRAMEWORK] = machine;
  p->x[0] = log(batch) / 0.7;
  p->x[1] = log(224) / 0.35;
  p->x[2] = log(in->train) / 1.4;
}

/* Sets what a row would measure on a host `slower` times as slow. */
static UNUSED void measure(struct table *t, size_t i, double slower) {
  double c[DL_N_TRAINING_CONSTANTS], fx[DL_N_TRAINING_EFFECTS] = {0};
  true_constants(c);
  fx[DL_EFFECT_HOST_LAUNCH] = fx[DL_EFFECT_HOST_EPOCH] = log(slower);
  dl_training_physics.predict(c, fx, &t->in[i], t->value[i]);
}

static UNUSED void add_row(struct table *t, enum dl_physical_target target) {
  size_t i = t->n++;
  t->observed[i] = (struct dl_observed){&t->in[i], t->value[i]};
  t->target = target;
}

/* All GPUs, networks and batches. */
static UNUSED void make_table(struct table *t, double first_batch,
                              enum dl_physical_target target) {
  t->n = 0;
  for (size_t g = 0; g < GPUS; g++)
    for (size_t a = 0; a < ARCHS; a++)
      for (size_t b = 0; b < BATCHES; b++) {
        make_row(&t->in[t->n], g, a, first_batch * pow(4, (double)b));
        measure(t, t->n, 1);
        add_row(t, target);
      }
}

#endif
