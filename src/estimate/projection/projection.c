/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/projection/projection.h"

#include <math.h>
#include <string.h>

#include "estimate/projection/projection_private.h"

static const struct dl_projector projectors[] = {
    {"step", "measured so far, and the rest by the present regime",
     dl_project_step},
    {"step-energy", "STEP-E: mean epoch energy in a window",
     dl_project_step_energy},
    {"step-power", "STEP-P: mean power in a window, times the duration",
     dl_project_step_power},
    {"carbontracker", "mean energy of the first epochs, times their number",
     dl_project_carbontracker},
};

enum { N_PROJECTORS = sizeof projectors / sizeof *projectors };

const struct dl_projector *dl_projector_at(size_t i) {
  return i < N_PROJECTORS ? &projectors[i] : NULL;
}

const struct dl_projector *dl_projector_find(const char *name) {
  for (size_t i = 0; i < N_PROJECTORS; i++)
    if (strcmp(projectors[i].name, name) == 0)
      return &projectors[i];
  return NULL;
}

void dl_projection_defaults(struct dl_projection_options *o) {
  *o = (struct dl_projection_options){.n_low = NAN,
                                      .n_high = NAN,
                                      .duration_s = NAN,
                                      .stable = 10,
                                      .window = 5,
                                      .k = 1,
                                      .coverage = 0.9};
}

static bool finite_from_zero(double x) {
  return isfinite(x) && x >= 0;
}

static enum dl_status check_seen(const struct dl_measured_epochs *epochs,
                                 struct dl_diag *d) {
  for (size_t i = 0; i < epochs->n; i++) {
    double e = epochs->energy_j[i], s = epochs->duration_s[i];
    if (!finite_from_zero(e) || e == 0)
      return dl_fail(d, DL_EINPUT, "epoch %zu has no energy: %g J", i, e);
    if (!finite_from_zero(s) || s == 0)
      return dl_fail(d, DL_EINPUT, "epoch %zu has no duration: %g s", i, s);
    if (epochs->power_w && !finite_from_zero(epochs->power_w[i]))
      return dl_fail(d, DL_EINPUT, "epoch %zu has no mean power", i);
  }
  if (!finite_from_zero(epochs->head_s) || !finite_from_zero(epochs->head_j) ||
      !finite_from_zero(epochs->open_s) || !finite_from_zero(epochs->open_j))
    return dl_fail(d, DL_EINPUT,
                   "time or energy outside of epochs is negative or unknown");
  return DL_OK;
}

static enum dl_status check_options(const struct dl_measured_epochs *epochs,
                                    const struct dl_projection_options *o,
                                    struct dl_diag *d) {
  if (!(isfinite(o->n_low) && isfinite(o->n_high) && o->n_low >= 1 &&
        o->n_low <= o->n_high))
    return dl_fail(d, DL_EINPUT,
                   "invalid number of epochs of the whole training: %g to %g",
                   o->n_low, o->n_high);
  if (o->n_high < (double)epochs->n)
    return dl_fail(d, DL_EINPUT,
                   "%zu epochs are over already, which is more than the "
                   "%g of the whole training",
                   epochs->n, o->n_high);
  for (size_t i = 0; i < o->n_phases; i++)
    if (!(isfinite(o->phase[i]) && o->phase[i] > 0))
      return dl_fail(d, DL_EINPUT, "invalid length of phase %zu: %g epochs",
                     i + 1, o->phase[i]);
  if (o->window == 0 || o->k == 0)
    return dl_fail(d, DL_EINPUT, "a window of no epochs");
  if (!(o->coverage > 0 && o->coverage < 1))
    return dl_fail(d, DL_EINPUT, "invalid coverage: %g", o->coverage);
  double so_far = epochs->head_s + epochs->open_s +
                  dl_projection_sum(epochs->duration_s, epochs->n);
  /* Sums of equal numbers may differ in their last bits. */
  if (o->duration_s < so_far * (1 - 1e-9))
    return dl_fail(d, DL_EINPUT,
                   "%g s are over already, which is more than the %g s of the "
                   "whole training",
                   so_far, o->duration_s);
  return DL_OK;
}

enum dl_status dl_project(struct dl_projection *p,
                          const struct dl_projector *by,
                          const struct dl_measured_epochs *epochs,
                          const struct dl_projection_options *o,
                          struct dl_diag *d) {
  *p = (struct dl_projection){.energy_j = NAN,
                              .low_j = NAN,
                              .high_j = NAN,
                              .duration_s = NAN,
                              .duration_low_s = NAN,
                              .duration_high_s = NAN,
                              .power_w = NAN,
                              .duration_given = !isnan(o->duration_s),
                              .level_j = NAN,
                              .level_share = NAN,
                              .scatter = NAN,
                              .drift = NAN,
                              .drift_se = NAN,
                              .outliers = NAN,
                              .last_change = NAN,
                              .pattern_share = NAN,
                              .verdict = DL_PROJECTION_NOT_YET};
  DL_TRY(check_seen(epochs, d));
  DL_TRY(check_options(epochs, o, d));
  return by->project(p, epochs, o, d);
}
