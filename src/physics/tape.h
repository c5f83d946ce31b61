/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with their derivatives by the logarithms of the parameters (automatic
 * differentiation, backwards): what the formulas of a physics are computed in,
 * so that their derivatives need no code of their own. Each step of a formula
 * is noted on a tape, with its derivatives by the one or two values that it is
 * made of; one pass from a result back over the tape multiplies them up. */

#ifndef DL_PHYSICS_TAPE_H
#define DL_PHYSICS_TAPE_H

#include <assert.h>

#include "physics/physics.h"

enum {
  DL_TAPE_PARAMETERS = 37, /* constants, then effects; of any physics */
  DL_TAPE_STEPS = 512      /* parameters, then steps; of the longest formula */
};

struct dl_tape {
  unsigned n;
  unsigned of[DL_TAPE_STEPS][2]; /* the steps that each is made of */
  double by[DL_TAPE_STEPS][2];   /* its derivatives by these */
};

/* A value that step `at` of a tape is; tape NULL: no parameter changes it. */
struct dl_taped {
  double x;
  struct dl_tape *tape;
  unsigned at;
};

static inline void dl_tape_begin(struct dl_tape *t) {
  t->n = DL_TAPE_PARAMETERS;
}

/* A number that no parameter changes. */
static inline struct dl_taped dl_taped_of(double x) {
  return (struct dl_taped){.x = x};
}

/* x = f(a, b), with its derivatives by a and b. */
static inline struct dl_taped dl_taped_step(double x, struct dl_taped a,
                                            double by_a, struct dl_taped b,
                                            double by_b) {
  struct dl_tape *t = a.tape ? a.tape : b.tape;
  if (!t)
    return dl_taped_of(x);
  assert(t->n < DL_TAPE_STEPS);
  t->of[t->n][0] = a.at;
  t->of[t->n][1] = b.at;
  t->by[t->n][0] = a.tape ? by_a : 0;
  t->by[t->n][1] = b.tape ? by_b : 0;
  return (struct dl_taped){x, t, t->n++};
}

/* y = f(a) by its value and its slope. */
static inline struct dl_taped dl_taped_function(struct dl_taped a, double y,
                                                double slope) {
  return dl_taped_step(y, a, slope, dl_taped_of(0), 0);
}

static inline struct dl_taped dl_taped_sum(struct dl_taped a,
                                           struct dl_taped b) {
  return dl_taped_step(a.x + b.x, a, 1, b, 1);
}

static inline struct dl_taped dl_taped_scaled(struct dl_taped a, double by) {
  return dl_taped_function(a, a.x * by, by);
}

static inline struct dl_taped dl_taped_product(struct dl_taped a,
                                               struct dl_taped b) {
  return dl_taped_step(a.x * b.x, a, b.x, b, a.x);
}

static inline struct dl_taped dl_taped_ratio(struct dl_taped a,
                                             struct dl_taped b) {
  double x = a.x / b.x;
  return dl_taped_step(x, a, 1 / b.x, b, -x / b.x);
}

/* a by parameter i, whose value is c, to the power of n. tape NULL: the value
 * alone, here and in the next. */
struct dl_taped dl_taped_times(struct dl_tape *tape, struct dl_taped a,
                               size_t i, double c, double n);

/* base^(n c): parameter i, whose value is c, is in the exponent. */
struct dl_taped dl_taped_exponential(struct dl_tape *tape, double base,
                                     size_t i, double c, double n);

/* (a^4 + b^4)^(1/4): work that overlaps. Not both 0. */
struct dl_taped dl_taped_overlap(struct dl_taped a, struct dl_taped b);

/* A board at its power limit (power_limit.h), which demands `wanted`: returns
 * the power that it draws, and sets *slow to the factor by which the time on
 * the GPU grows. base: static power, with the memory's by its chips. */
struct dl_taped dl_taped_limit(struct dl_taped wanted, struct dl_taped limit,
                               struct dl_taped kappa, struct dl_taped base,
                               struct dl_taped *slow);

/* Derivatives of the logarithm of a. */
void dl_taped_gradient(struct dl_taped a, const struct dl_physics *physics,
                       struct dl_gradient *g);

#endif
