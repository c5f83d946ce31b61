/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Projections as published. They give no interval: where the number of epochs
 * is a range, low and high are the projections for its ends. */

#include <math.h>

#include "estimate/projection/projection_private.h"

static double power_of(const struct dl_measured_epochs *epochs, size_t i) {
  return epochs->power_w ? epochs->power_w[i]
                         : epochs->energy_j[i] / epochs->duration_s[i];
}

/* Fewest and most epochs that are possible still. */
static double fewest(const struct dl_measured_epochs *epochs,
                     const struct dl_projection_options *o) {
  return fmax(o->n_low, (double)epochs->n);
}

static void horizon(struct dl_projection *p, double base_s, double epoch_s,
                    double low, double high,
                    const struct dl_projection_options *o) {
  if (p->duration_given) {
    p->duration_s = p->duration_low_s = p->duration_high_s = o->duration_s;
    return;
  }
  p->duration_s = base_s + (low + high) / 2 * epoch_s;
  if (low < high) {
    p->duration_low_s = base_s + low * epoch_s;
    p->duration_high_s = base_s + high * epoch_s;
  }
}

/* The window, and what both forms of STEP share; false: not reached yet. */
static bool window(struct dl_projection *p,
                   const struct dl_measured_epochs *epochs,
                   const struct dl_projection_options *o) {
  size_t s = o->stable, w = o->window;
  if (s > epochs->n || w > epochs->n - s) {
    p->lacks = "the window of stable epochs is not over yet";
    return false;
  }
  p->stable_from = s;
  p->n_stable = w;
  p->verdict = DL_PROJECTION_STABLE;
  p->reason = "assumed, as published";
  double n = (double)w;
  p->level_j = dl_projection_sum(epochs->energy_j + s, w) / n;
  double watts = 0;
  for (size_t i = s; i < s + w; i++)
    watts += power_of(epochs, i);
  p->power_w = watts / n;
  horizon(p, epochs->head_s + dl_projection_sum(epochs->duration_s, s),
          dl_projection_sum(epochs->duration_s + s, w) / n,
          fewest(epochs, o) - (double)s, o->n_high - (double)s, o);
  return true;
}

enum dl_status dl_project_step_power(struct dl_projection *p,
                                     const struct dl_measured_epochs *epochs,
                                     const struct dl_projection_options *o,
                                     struct dl_diag *d) {
  (void)d;
  if (window(p, epochs, o)) {
    p->energy_j = p->power_w * p->duration_s;
    if (fewest(epochs, o) < o->n_high) {
      p->low_j = p->power_w * p->duration_low_s;
      p->high_j = p->power_w * p->duration_high_s;
    }
  }
  return DL_OK;
}

enum dl_status dl_project_step_energy(struct dl_projection *p,
                                      const struct dl_measured_epochs *epochs,
                                      const struct dl_projection_options *o,
                                      struct dl_diag *d) {
  (void)d;
  if (window(p, epochs, o)) {
    size_t s = o->stable;
    double before = epochs->head_j + dl_projection_sum(epochs->energy_j, s);
    double low = fewest(epochs, o) - (double)s, high = o->n_high - (double)s;
    p->energy_j = before + (low + high) / 2 * p->level_j;
    if (low < high) {
      p->low_j = before + low * p->level_j;
      p->high_j = before + high * p->level_j;
    }
  }
  return DL_OK;
}

enum dl_status dl_project_carbontracker(struct dl_projection *p,
                                        const struct dl_measured_epochs *epochs,
                                        const struct dl_projection_options *o,
                                        struct dl_diag *d) {
  (void)d;
  if (o->k > epochs->n) {
    p->lacks = "fewer epochs are over than the rule takes";
    return DL_OK;
  }
  double low = fewest(epochs, o), high = o->n_high, n = (double)o->k;
  double energy_j = dl_projection_sum(epochs->energy_j, o->k);
  double duration_s = dl_projection_sum(epochs->duration_s, o->k);
  p->verdict = DL_PROJECTION_STABLE;
  p->reason = "assumed, as published";
  p->n_stable = o->k;
  p->level_j = energy_j / n;
  p->power_w = energy_j / duration_s;
  p->energy_j = (low + high) / 2 * p->level_j;
  if (low < high) {
    p->low_j = low * p->level_j;
    p->high_j = high * p->level_j;
  }
  horizon(p, 0, duration_s / n, low, high, o);
  return DL_OK;
}
