/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feature sets that `fit` tries by itself: a physical account of what a
 * training step costs, in logarithms.
 *
 * Constants and sets come from a study on the runs of del Rey et al.
 * (docs/lab/estimation.md lists those tried): about 25 ms of host work a
 * training step, 0.1 ms of input a 128-pixel image, 70 % of the peak rate, 40
 * activations per second and byte per second of bandwidth. A fit corrects them
 * by a factor and, where features are listed, by powers of those. */

#ifndef DL_MODEL_FITTING_RECIPE_H
#define DL_MODEL_FITTING_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "math/regression/regression.h"

struct dl_recipe {
  const char *target; /* canonical column, fitted in logarithm */
  const char *name;
  const char *features; /* comma-separated formulas; "" for a physics, which
                           reads its inputs itself */
  const char *offset;   /* formula, or NULL */
  size_t least_gpus;    /* different ones in a table to try it on, unless no
                           other recipe fits: free powers of descriptors of
                           three GPUs are a coincidence */
  const char *summary;
  const struct dl_regression *method; /* the one it is for, of a physics; NULL:
                                         any regression */
};

/* Recipe i into *recipe; false: there are no more. */
bool dl_recipe_at(size_t i, struct dl_recipe *recipe);

#endif
