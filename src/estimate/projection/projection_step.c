/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest's own projection: what was measured, and for the rest the level of the
 * present regime (docs/step.md).
 *
 *   1. Regimes by change points (projection_regimes.c), from the beginning of
 *      the planned phase that is going on.
 *   2. Stable are the epochs of the last regime but its first, which holds
 *      set-up and caches that fill. One epoch alone is taken with a discount.
 *   3. Their level and its interval: projection_level.c.
 *   4. A phase to come has an unknown level: within a factor of four of the
 *      present one at 90 %. */

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/projection/projection_private.h"

static const double first_share = 0.7;    /* a coming epoch by the first one */
static const double coming_spread = 0.84; /* log(4) / 1.645 */
static const double most_unsure = 0.1;    /* standard error of a stable level */

/* Standard error of the number of epochs to come: where the epochs were
 * detected in the power; and where they are given, for what a training ends
 * with beside its epochs. */
static const double miscount_found = 0.7, miscount_given = 0.2;

enum { LEAST_STABLE = 3 }; /* epochs */

/* Where the epochs lie that count, and how many are to come. */
struct plan {
  size_t start;     /* of the planned phase that is going on */
  size_t from;      /* of the stable epochs; */
  size_t n;         /* their number */
  size_t n_epochs;  /* measured, all of them */
  bool other_phase; /* they are of the phase before */
  double doubt;     /* level before the last change by the present one, where
                     * so few epochs may have been stalls; else 1 */
  double phase_end; /* of the one that is going on, epochs */
};

/* Finds the planned phase that epoch n belongs to. */
static void find_phase(struct plan *p, size_t *previous, size_t n,
                       const struct dl_projection_options *o) {
  double start = 0, before = 0;
  p->phase_end = INFINITY;
  for (size_t i = 0; i < o->n_phases; i++) {
    if (i + 1 == o->n_phases || start + o->phase[i] > (double)n) {
      p->phase_end = i + 1 == o->n_phases ? INFINITY : start + o->phase[i];
      break;
    }
    before = start;
    start += o->phase[i];
  }
  p->start = (size_t)fmin(ceil(start), (double)n);
  *previous = (size_t)fmin(ceil(before), (double)n);
}

static void find_stable(struct plan *p, struct dl_projection *out,
                        const struct dl_measured_epochs *epochs,
                        const struct dl_projection_options *o) {
  size_t previous, n = epochs->n;
  find_phase(p, &previous, n, o);
  p->other_phase = p->start == n && n > 0;
  size_t start = p->other_phase ? previous : p->start;
  struct dl_regimes r;
  dl_regimes_find(&r, epochs->energy_j + start, n - start);
  p->from = start + r.start;
  p->n = n - p->from;
  if (p->n > 1) { /* without the first */
    p->from++;
    p->n--;
  }
  p->doubt = r.n > 1 && p->n < LEAST_STABLE ? 1 / r.last_change : 1;
  out->n_regimes = r.n;
  out->last_change = r.last_change;
}

static void find_level(struct dl_level *l, const struct plan *p,
                       const struct dl_measured_epochs *epochs, const double *x,
                       bool stalls, double *work) {
  dl_level_find(l, x + p->from, p->n, stalls, work);
  if (epochs->block_j && p->n > 1)
    l->disturbance =
        dl_level_within(epochs->block_j + p->from * DL_EPOCH_BLOCKS, p->n);
  l->miscount = epochs->found ? miscount_found : miscount_given;
  l->n_epochs = p->from + p->n;
  if (l->recent == 1)
    l->recent = p->doubt;
  l->first_only = p->from == p->start && p->n == 1 && !p->other_phase;
  if (l->first_only && p->start == 0)
    l->mean *= first_share;
}

/* The rest of a training of N epochs. */
static struct dl_spread rest_of(const struct dl_level *l, const struct plan *p,
                                double n_total, double coverage,
                                struct dl_spread *coming) {
  double n = (double)p->n_epochs;
  double end = p->other_phase ? n : fmin(n_total, p->phase_end);
  struct dl_spread r = dl_level_rest(l, end - n, coverage);
  double value = (n_total - end) * l->mean;
  double t = coming_spread * gsl_cdf_ugaussian_Pinv((1 + coverage) / 2);
  *coming = (struct dl_spread){value, -value * expm1(-t), value * expm1(t)};
  return (struct dl_spread){r.value + value, hypot(r.below, coming->below),
                            hypot(r.above, coming->above)};
}

/* Of a training of n_low to n_high epochs, of which `past` was measured in
 * whole epochs and `open` since. */
static struct dl_spread whole(const struct dl_level *l, const struct plan *p,
                              double past, double open,
                              const struct dl_projection_options *o,
                              struct dl_spread *coming) {
  double low = fmax(o->n_low, (double)p->n_epochs);
  struct dl_spread least = rest_of(l, p, low, o->coverage, coming);
  struct dl_spread most = rest_of(l, p, o->n_high, o->coverage, coming);
  double value = fmax((least.value + most.value) / 2, open);
  double bottom = fmax(least.value - least.below, open);
  double top = fmax(most.value + most.above, open);
  return (struct dl_spread){past + value, value - bottom, top - value};
}

static void judge(struct dl_projection *p, const struct plan *plan,
                  const struct dl_level *l, double rest) {
  if (plan->other_phase)
    p->reason = "a planned phase begins, of which no epoch is over";
  else if (l->first_only)
    p->reason = "only one epoch is over, which holds the warm-up";
  else if (l->n < LEAST_STABLE)
    p->reason = "fewer than three epochs are over since the warm-up or the "
                "last change";
  else if (l->recent != 1)
    p->reason = "the last two epochs are far from the ones before: a new "
                "regime, or disturbed";
  else if (dl_level_drifts(l, rest)) {
    p->verdict = DL_PROJECTION_DRIFTING;
    p->reason = "the level moves from epoch to epoch";
  } else if (p->n_regimes > 2) {
    p->verdict = DL_PROJECTION_DRIFTING;
    p->reason = "the level has changed more than once";
  } else if (p->level_share > most_unsure)
    p->reason = "epochs differ too much for a level yet";
  else {
    p->verdict = DL_PROJECTION_STABLE;
    if (plan->phase_end < INFINITY &&
        (double)(plan->from + l->n) + rest > plan->phase_end)
      p->reason = "a planned phase is to come whose level is unknown";
  }
}

/* With the duration given: as many epochs as it has room for, each at the
 * present power. */
static void take_duration(struct dl_projection_options *o,
                          struct dl_level *energy, const struct plan *plan,
                          const struct dl_measured_epochs *epochs,
                          double past_s, double *work) {
  struct dl_level duration;
  double *watts = work + epochs->n;
  for (size_t i = 0; i < epochs->n; i++)
    watts[i] = epochs->energy_j[i] / epochs->duration_s[i];
  find_level(&duration, plan, epochs, epochs->duration_s, false, work);
  find_level(energy, plan, epochs, watts, false, work);
  energy->miscount = 0; /* the time is known */
  if (energy->first_only && plan->start == 0)
    energy->mean /= first_share; /* the power of the first one is like others */
  energy->mean *= duration.mean;
  o->n_low = o->n_high =
      (double)epochs->n + fmax(o->duration_s - past_s, 0) / duration.mean;
}

static void report_level(struct dl_projection *p, const struct plan *plan,
                         const struct dl_level *l) {
  p->level_j = l->mean;
  p->scatter = l->scatter;
  p->level_share = l->scatter / sqrt((double)l->n);
  p->drift = l->drift;
  p->drift_se = l->drift_se;
  p->outliers = l->outliers;
  p->stable_from = plan->from;
  p->n_stable = plan->n;
}

static void fill(struct dl_projection *p,
                 const struct dl_measured_epochs *epochs,
                 const struct dl_projection_options *options,
                 const struct plan *plan, double *work) {
  struct dl_projection_options o = *options;
  struct dl_level energy, duration;
  struct dl_spread coming;
  double past_s =
      epochs->head_s + dl_projection_sum(epochs->duration_s, epochs->n);
  double past_j =
      epochs->head_j + dl_projection_sum(epochs->energy_j, epochs->n);
  find_level(&energy, plan, epochs, epochs->energy_j, true, work);
  report_level(p, plan, &energy);
  judge(p, plan, &energy, o.n_high - (double)epochs->n);
  if (p->duration_given) {
    take_duration(&o, &energy, plan, epochs, past_s, work);
    p->duration_s = p->duration_low_s = p->duration_high_s = o.duration_s;
  } else {
    find_level(&duration, plan, epochs, epochs->duration_s, true, work);
    struct dl_spread s =
        whole(&duration, plan, past_s, epochs->open_s, &o, &coming);
    p->duration_s = s.value;
    p->duration_low_s = s.value - s.below;
    p->duration_high_s = s.value + s.above;
  }
  struct dl_spread j =
      whole(&energy, plan, past_j, epochs->open_j, &o, &coming);
  p->energy_j = j.value;
  p->low_j = j.value - j.below;
  p->high_j = j.value + j.above;
  p->coming_low_j = coming.value - coming.below;
  p->coming_high_j = coming.value + coming.above;
  p->power_w = dl_projection_sum(epochs->energy_j + plan->from, plan->n) /
               dl_projection_sum(epochs->duration_s + plan->from, plan->n);
}

enum dl_status dl_project_step(struct dl_projection *p,
                               const struct dl_measured_epochs *epochs,
                               const struct dl_projection_options *o,
                               struct dl_diag *d) {
  struct plan plan = {.n_epochs = epochs->n};
  (void)d;
  if (epochs->n == 0) {
    p->lacks = "no epoch is over yet";
    return DL_OK;
  }
  find_stable(&plan, p, epochs, o);
  DL_FREED double *work = dl_calloc(2 * epochs->n, sizeof *work);
  fill(p, epochs, o, &plan, work);
  return DL_OK;
}
