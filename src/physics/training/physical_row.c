/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row of the design as a load: units, and what stands in for facts that a
 * descriptor lacks. */

#include <math.h>

#include "physics/training/physical_private.h"

/* Kernels a convolution or dense layer brings with it (its normalisation,
 * activation, sum), and those of a network of which nothing is known: the
 * middle of torchvision's. */
#define KERNELS_A_LAYER 3.2
#define USUAL_KERNELS 250

double dl_physical_key(enum dl_bearer by, const double *row) {
  if (by == DL_BY_GPU)
    return row[DL_PC_GPU];
  /* A network whose facts are in doubt is one of its own on each data set. */
  double doubtful = row[DL_PC_FACTS_DOUBT] > 0
                        ? row[DL_PC_ARCH] / 3 + row[DL_PC_DATASET] / 7
                        : 0;
  if (by == DL_BY_ARCH)
    return doubtful > 0 ? doubtful : row[DL_PC_ARCH];
  if (by == DL_BY_FACTS)
    return doubtful;
  /* A machine without a name is known by its GPU and the source, if any, and
   * so is what runs on it. */
  double named = row[by == DL_BY_HOST ? DL_PC_HOST : DL_PC_FRAMEWORK];
  if (named > 0)
    return named;
  return row[DL_PC_SOURCE] / 3 + row[DL_PC_GPU] / 7;
}

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

void dl_physical_load(const double *row, struct dl_load *l) {
  bool known = row[DL_PC_TRAFFIC] > 0;
  double elements = known ? row[DL_PC_TRAFFIC] : activations(row);
  *l = (struct dl_load){
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
      .mid_run = row[DL_PC_DOUBT] > 0,
      .in_tensor = (int)row[DL_PC_IN_TENSOR],
      .has_tensor = row[DL_PC_HAS_TENSOR] > 0,
  };
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

void dl_physical_targets(const double *c, const double *fx,
                         const struct dl_load *load, double ram_w,
                         double out[DL_PT_TIME + 1]) {
  struct dl_cost cost;
  dl_physical_epoch(c, fx, load, &cost);
  out[DL_PT_POWER] = log(cost.energy / cost.time);
  out[DL_PT_ENERGY] = log(cost.energy + ram_w * cost.time);
  out[DL_PT_TIME] = log(cost.time);
}

void dl_physical_effects(const struct dl_physical *s, const double *row,
                         double fx[DL_N_EFFECTS]) {
  for (size_t i = 0; i < DL_N_EFFECTS; i++)
    fx[i] = 0;
  for (size_t k = 0; k < DL_N_BEARERS; k++) {
    double key = dl_physical_key((enum dl_bearer)k, row);
    for (size_t b = 0; b < s->by[k].n; b++)
      if (!(s->by[k].b[b].key < key) && !(s->by[k].b[b].key > key))
        for (size_t i = 0; i < DL_N_EFFECTS; i++)
          fx[i] += s->by[k].b[b].fx[i];
  }
}
