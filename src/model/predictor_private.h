/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Insides of a predictor, shared by predictor.c and memo.c. */

#ifndef DL_MODEL_PREDICTOR_PRIVATE_H
#define DL_MODEL_PREDICTOR_PRIVATE_H

#include "model/predictor.h"

/* A formula and the slots of its variables. */
struct bound {
  struct dl_formula *formula;
  size_t *vars;
};

/* Residual bounds for a kind of row. */
struct bounds {
  bool known;
  double low, high;
  enum dl_left_out novelty;
};

struct dl_predictor {
  const struct dl_fit *fit;
  const struct dl_frame *frame;
  struct bound *feature;
  size_t n_features;
  struct bound offset;        /* formula NULL without one */
  size_t *range_slot;         /* one a range */
  double spread;              /* of a variable's power, see extrapolation */
  struct bounds bounds[2][2]; /* [architecture is new][GPU is new] */
};

/* Name of the first variable that a formula needs and the cells lack. */
const char *dl_bound_lacks(const struct bound *b, const struct dl_cell *cells);

/* dl_predict, with features that are known already (NULL: they are not). */
enum dl_status dl_predict_with(const struct dl_predictor *p,
                               const double *features,
                               const struct dl_cell *cells,
                               const struct dl_row_descriptors *row,
                               struct dl_prediction *out, struct dl_diag *d);

#endif
