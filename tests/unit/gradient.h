/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The derivatives of a physics against central differences. */

#ifndef TEST_GRADIENT_H
#define TEST_GRADIENT_H

#include <math.h>
#include <string.h>

#include "physics/physics.h"
#include "unit.h"

#define GRADIENT_STEP 1e-4
#define GRADIENT_MATCH 1e-6

/* One derivative, by constant `constant` or, where that is n_constants or more,
 * by an effect. */
static void check_derivative(const struct dl_physics *physics, const double *c,
                             const double *fx, const void *inputs,
                             size_t parameter, const struct dl_gradient *g) {
  double moved_c[DL_MAX_CONSTANTS], moved_fx[DL_MAX_EFFECTS];
  double y[4][DL_MAX_TARGETS]; /* at -2, -1, 1 and 2 steps */
  size_t effect = parameter - physics->n_constants;
  bool constant = parameter < physics->n_constants;
  for (int side = 0; side < 4; side++) {
    double step = GRADIENT_STEP * (side < 2 ? side - 2 : side - 1);
    memcpy(moved_c, c, physics->n_constants * sizeof *c);
    memcpy(moved_fx, fx, physics->n_effects * sizeof *fx);
    if (constant)
      moved_c[parameter] *= exp(step);
    else
      moved_fx[effect] += step;
    physics->predict(moved_c, moved_fx, inputs, y[side]);
  }
  for (size_t t = 0; t < physics->n_targets; t++) {
    double got = constant ? g[t].c[parameter] : g[t].fx[effect];
    /* Without the third derivative, which is large near a power limit. */
    double want =
        (8 * (y[2][t] - y[1][t]) - (y[3][t] - y[0][t])) / (12 * GRADIENT_STEP);
    if (!(fabs(got - want) <= GRADIENT_MATCH * fmax(1, fabs(want))))
      fail_msg("target %zu by %s: %.9g, want %.9g", t,
               constant ? physics->constant[parameter].name
                        : physics->effect[effect].name,
               got, want);
  }
}

static void check_gradient(const struct dl_physics *physics, const double *c,
                           const double *fx, const void *inputs) {
  struct dl_gradient g[DL_MAX_TARGETS];
  double y[DL_MAX_TARGETS], same[DL_MAX_TARGETS];
  physics->gradient(c, fx, inputs, y, g);
  physics->predict(c, fx, inputs, same);
  assert_memory_equal(y, same, physics->n_targets * sizeof *y);
  for (size_t i = 0; i < physics->n_constants + physics->n_effects; i++)
    check_derivative(physics, c, fx, inputs, i, g);
}

#endif
