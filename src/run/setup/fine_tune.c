/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/fine_tune.h"

#include <math.h>
#include <string.h>

/* Rank of adapters that is not given. */
#define USUAL_RANK 16

enum dl_fine_tune dl_fine_tune_of(const struct dl_run *r) {
  if (r->fine_tune == DL_TUNE_LORA || r->fine_tune == DL_TUNE_QLORA)
    return r->fine_tune;
  return r->fine_tune == DL_TUNE_HEAD || r->frozen_base > 0 ? DL_TUNE_HEAD
                                                            : DL_TUNE_FULL;
}

double dl_smallest_product(const struct dl_transformer *t) {
  double kv = t->kv_heads > 1 ? t->kv_heads * t->head_dim : INFINITY;
  if (t->kv_rank > 0)
    kv = t->q_rank > 0 ? fmin(t->kv_rank, t->q_rank) : t->kv_rank;
  return fmin(fmin(t->hidden, t->ffn), fmin(t->heads * t->head_dim, kv));
}

double dl_usual_rank(const struct dl_transformer *t) {
  return t ? fmin(USUAL_RANK, dl_smallest_product(t)) : USUAL_RANK;
}

/* The products that the recipes of the software and of the network adapt. */
static enum dl_adapted adapted_by(const struct dl_run *r,
                                  const struct dl_transformer *t) {
  const enum dl_software stack = dl_stack_of(r);
  if (stack == DL_SOFTWARE_NGC || stack == DL_SOFTWARE_MLPERF)
    return DL_ADAPTED_ATTENTION;
  return t->mel > 0 ? DL_ADAPTED_QUERIES_VALUES : DL_ADAPTED_ALL;
}

static double adapted_sides(const struct dl_run *r,
                            const struct dl_transformer *t, double targets) {
  return t ? dl_transformer_adapted_sides(t, adapted_by(r, t), targets) : 0;
}

double dl_adapted_sides(const struct dl_run *r,
                        const struct dl_transformer *t) {
  const double n = t ? t->seq : 0;
  return adapted_sides(r, t, n > 0 ? dl_transformer_targets(t, n) / n : 1);
}

/* Layers with adapters by all layers, and both sides of an adapter by the root
 * of a layer's weights: of SD 1.5 .98 M for .80 at rank 4, FLUX.1 3.9 for 4.7.
 */
#define ADAPTED_LAYERS 0.5

double dl_adapted_layers(const struct dl_architecture *arch) {
  return ADAPTED_LAYERS * dl_or(arch->layers, 0);
}

double dl_adapter_params(const struct dl_run *r,
                         const struct dl_architecture *arch) {
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  double rank = dl_or(r->lora_rank, dl_usual_rank(t));
  if (t || !arch || !(arch->layers > 0))
    return rank * adapted_sides(r, t, 1);
  return rank * dl_adapted_layers(arch) *
         sqrt(1e6 * dl_or(r->params_m, 0) / arch->layers);
}
