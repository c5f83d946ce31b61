/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest's own projection: what was measured, and for the rest the level of the
 * present regime (docs/lab/step.md).
 *
 *   1. Regimes by change points (projection_regimes.c), from the beginning of
 *      the planned phase that is going on.
 *   2. Stable are the epochs of the last regime but its first, which holds
 *      set-up and caches that fill. One epoch alone is taken with a discount.
 *   3. Where every k-th epoch takes longer (projection_pattern.c), 1 and 2 see
 *      the epochs without that excess, and the rest holds it as often as such
 *      epochs are to come.
 *   4. Their level and its interval: projection_level.c.
 *   5. A phase to come has an unknown level: within a factor of four of the
 *      present one at 90 %. */

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/projection/projection_private.h"

static const double first_share = 0.7;    /* a coming epoch by the first one */
static const double coming_spread = 0.84; /* log(4) / 1.645 */
static const double most_unsure = 0.1;    /* standard error of a stable level */

/* A drift that may be forbids a verdict where it widens the interval so. */
static const double most_off = 3;

/* Standard error of the number of epochs to come: where the epochs were
 * detected in the power; and where they are given, for what a training ends
 * with beside its epochs. */
static const double miscount_found = 0.7, miscount_given = 0.2;

/* A number of epochs found may be too high by so much. */
static const double most_over = 0.05;

/* Doubt of a pattern seen n times, by n^2. */
static const double chance = 2.44;

enum { LEAST_STABLE = 3 }; /* epochs */

/* A plan says where the epochs lie that count, and how many are to come. */
struct plan {
  size_t start;     /* of the planned phase that is going on */
  size_t from;      /* of the stable epochs; */
  size_t n;         /* their number */
  size_t n_epochs;  /* measured, all of them */
  bool other_phase; /* they are of the phase before */
  double doubt;     /* level before the last change by the present one, where
                     * so few epochs may have been stalls; else 1 */
  double phase_end; /* of the one that is going on, epochs */
  size_t previous;  /* start of the phase before */
  struct dl_energy_pattern pattern;
  double parts; /* epochs that each of those found may be; 1: no sign of it */
};

/* Finds the planned phase that epoch n belongs to. */
static void find_phase(struct plan *p, size_t n,
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
  p->previous = (size_t)fmin(ceil(before), (double)n);
  p->other_phase = p->start == n && n > 0;
}

/* The first epoch of the phase that is projected from. */
static size_t phase_start(const struct plan *p) {
  return p->other_phase ? p->previous : p->start;
}

static void find_stable(struct plan *p, struct dl_projection *out,
                        const struct dl_measured_epochs *epochs) {
  size_t n = epochs->n, start = phase_start(p);
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

/* Scatter of the stable epochs by their parts, of the ordinary ones where there
 * is a pattern. */
static double scatter_within(const struct plan *p,
                             const struct dl_measured_epochs *epochs) {
  enum { PARTS = DL_EPOCH_BLOCKS };
  DL_FREED double *part = dl_calloc(p->n * PARTS, sizeof *part);
  size_t n = 0;
  for (size_t i = p->from; i < p->from + p->n; i++)
    if (!dl_pattern_holds(&p->pattern, i))
      memcpy(part + n++ * PARTS, epochs->block_j + i * PARTS,
             PARTS * sizeof *part);
  return n > 1 ? dl_level_within(part, n) : NAN;
}

static void find_level(struct dl_level *l, const struct plan *p,
                       const struct dl_measured_epochs *epochs, const double *x,
                       bool stalls, double *work) {
  dl_level_find(l, x + p->from, p->n, stalls, work);
  double within = epochs->block_j ? scatter_within(p, epochs) : NAN;
  if (!isnan(within))
    l->disturbance = within;
  dl_level_weigh_drift(l, within);
  l->miscount = epochs->found ? miscount_found : miscount_given;
  l->n_epochs = p->from + p->n;
  if (l->recent == 1)
    l->recent = p->doubt;
  l->first_only = p->from == p->start && p->n == 1 && !p->other_phase;
  if (l->first_only && p->start == 0)
    l->mean *= first_share;
}

/* Adds the excess of `count` epochs of the pattern to a sum: as uncertain as
 * the sum, by its own standard error, and downwards by the doubt whether what
 * was seen n times was chance: n = 2 allows for none to come, at 90 %. */
static void add_pattern(struct dl_spread *r, const struct dl_level *l,
                        const struct dl_energy_pattern *p, double count,
                        double coverage) {
  double t = gsl_cdf_ugaussian_Pinv((1 + coverage) / 2);
  double more = count * l->extra;
  if (count == 0 || !(r->value > 0))
    return;
  double own = t * count * l->extra_se, grown = 1 + more / r->value;
  double seen = (double)p->n;
  r->below =
      hypot(hypot(r->below * grown, own), t * more * chance / (seen * seen));
  r->above = hypot(r->above * grown, own);
  r->value += more;
}

/* The rest of a training of N epochs. */
static struct dl_spread rest_of(const struct dl_level *l, const struct plan *p,
                                double n_total, double coverage) {
  double n = (double)p->n_epochs;
  double end = p->other_phase ? n : fmin(n_total, p->phase_end);
  struct dl_spread r = dl_level_rest(l, end - n, coverage);
  add_pattern(&r, l, &p->pattern, dl_pattern_count(&p->pattern, n, end),
              coverage);
  double value = (n_total - end) * l->mean +
                 dl_pattern_count(&p->pattern, end, n_total) * l->extra;
  double t = coming_spread * gsl_cdf_ugaussian_Pinv((1 + coverage) / 2);
  return (struct dl_spread){r.value + value, hypot(r.below, -value * expm1(-t)),
                            hypot(r.above, value * expm1(t))};
}

/* Projects a training of n_low to n_high epochs, of which `past` was measured
 * in whole epochs and `open` since. */
static struct dl_spread whole(const struct dl_level *l, const struct plan *p,
                              double past, double open,
                              const struct dl_projection_options *o) {
  double low = fmax(o->n_low, (double)p->n_epochs);
  struct dl_spread least = rest_of(l, p, low, o->coverage);
  struct dl_spread most = rest_of(l, p, o->n_high, o->coverage);
  double value = fmax((least.value + most.value) / 2, open);
  double bottom = fmax(least.value - least.below, open);
  double top = fmax(most.value + most.above, open);
  return (struct dl_spread){past + value, value - bottom, top - value};
}

/* Whether a drift that may be is most of the interval. */
static bool may_drift_out(const struct dl_level *l, double rest) {
  struct dl_level still = *l;
  for (size_t k = 0; k < DL_DRIFTS; k++)
    still.drift_weight[k] = k == 0;
  struct dl_spread r = dl_level_rest(l, rest, 0.9),
                   none = dl_level_rest(&still, rest, 0.9);
  return r.above > most_off * none.above || r.below > most_off * none.below;
}

static void judge(struct dl_projection *p, const struct plan *plan,
                  const struct dl_level *l, double rest) {
  if (plan->parts > 1)
    p->reason = "each epoch found may be several, as what begins it recurs "
                "within it: see --epoch-length";
  else if (plan->other_phase)
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
  else if (may_drift_out(l, rest))
    p->reason = "a drift that these epochs do not exclude is most of the "
                "interval: wait for more epochs; see the drift with --details";
  else {
    p->verdict = DL_PROJECTION_STABLE;
    if (plan->phase_end < INFINITY &&
        (double)(plan->from + l->n) + rest > plan->phase_end)
      p->reason = "a planned phase is to come whose level is unknown";
    else if (plan->pattern.n == 2)
      p->reason = "longer epochs at an equal distance were seen twice only, "
                  "which may be chance";
  }
}

/* Plans as many epochs as the given duration has room for, each at the present
 * power. */
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
  if (plan->pattern.every > 0) { /* means over all epochs */
    energy->mean += plan->pattern.energy_j / (double)plan->pattern.every;
    duration.mean += plan->pattern.duration_s / (double)plan->pattern.every;
  }
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
  p->pattern_every = plan->pattern.every;
  p->pattern_first = plan->pattern.first;
  p->pattern_seen = plan->pattern.n;
  p->pattern_share = plan->pattern.every > 0 ? plan->pattern.share : NAN;
}

/* Returns the least total if each epoch found is several: then more of the
 * training is over. */
static double least_by_parts(const struct plan *p, double past, double open,
                             const struct dl_spread *total, double n_low) {
  double n = (double)p->n_epochs, rest = total->value - past;
  double share = (n_low / p->parts - n) / fmax(n_low - n, 1);
  double low = rest - total->below;
  return past + fmax(open, low * fmax(share, 0));
}

/* Projects from the ordinary epochs: those measured, without the excess of the
 * pattern. */
static void fill(struct dl_projection *p,
                 const struct dl_measured_epochs *epochs,
                 const struct dl_measured_epochs *ordinary,
                 const struct dl_projection_options *options,
                 const struct plan *plan, double *work) {
  struct dl_projection_options o = *options;
  struct dl_level energy, duration;
  double past_s =
      epochs->head_s + dl_projection_sum(epochs->duration_s, epochs->n);
  double past_j =
      epochs->head_j + dl_projection_sum(epochs->energy_j, epochs->n);
  find_level(&energy, plan, ordinary, ordinary->energy_j, true, work);
  report_level(p, plan, &energy);
  judge(p, plan, &energy, o.n_high - (double)epochs->n);
  if (p->duration_given) {
    take_duration(&o, &energy, plan, ordinary, past_s, work);
    p->duration_s = p->duration_low_s = p->duration_high_s = o.duration_s;
  } else {
    energy.extra = plan->pattern.energy_j;
    energy.extra_se = plan->pattern.energy_se;
    find_level(&duration, plan, ordinary, ordinary->duration_s, true, work);
    duration.extra = plan->pattern.duration_s;
    duration.extra_se = plan->pattern.duration_se;
    struct dl_spread s = whole(&duration, plan, past_s, epochs->open_s, &o);
    p->duration_s = s.value;
    p->duration_low_s = s.value - s.below;
    if (plan->parts > 1)
      p->duration_low_s =
          fmin(p->duration_low_s,
               least_by_parts(plan, past_s, epochs->open_s, &s, o.n_low));
    p->duration_high_s = s.value + s.above;
  }
  struct dl_spread j = whole(&energy, plan, past_j, epochs->open_j, &o);
  p->energy_j = j.value;
  p->low_j = j.value - j.below;
  if (plan->parts > 1)
    p->low_j = fmin(p->low_j,
                    least_by_parts(plan, past_j, epochs->open_j, &j, o.n_low));
  p->high_j = j.value + j.above;
  p->power_w = dl_projection_sum(epochs->energy_j + plan->from, plan->n) /
               dl_projection_sum(epochs->duration_s + plan->from, plan->n);
}

enum dl_status dl_project_step(struct dl_projection *p,
                               const struct dl_measured_epochs *epochs,
                               const struct dl_projection_options *o,
                               struct dl_diag *d) {
  struct plan plan = {.n_epochs = epochs->n, .parts = 1};
  (void)d;
  if (epochs->n == 0) {
    p->lacks = "no epoch is over yet";
    return DL_OK;
  }
  size_t n = epochs->n;
  DL_FREED double *work = dl_calloc(4 * n, sizeof *work);
  double *energy_j = work + 2 * n, *duration_s = work + 3 * n;
  find_phase(&plan, n, o);
  if (epochs->parts > 1 &&
      (double)n * epochs->parts <= o->n_high * (1 + most_over))
    plan.parts = epochs->parts;
  dl_pattern_find(&plan.pattern, epochs, phase_start(&plan));
  dl_pattern_remove(&plan.pattern, plan.pattern.energy_j, epochs->energy_j, n,
                    energy_j);
  dl_pattern_remove(&plan.pattern, plan.pattern.duration_s, epochs->duration_s,
                    n, duration_s);
  struct dl_measured_epochs ordinary = *epochs;
  ordinary.energy_j = energy_j;
  ordinary.duration_s = duration_s;
  find_stable(&plan, p, &ordinary);
  fill(p, epochs, &ordinary, o, &plan, work);
  return DL_OK;
}
