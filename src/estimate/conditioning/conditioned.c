/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate of a training, given known values. */

#include "estimate/conditioning/conditioned.h"

#include <math.h>

#include "physics/conditioning/gpu_waiting.h"
#include "physics/training/training_without_waiting.h"

/* Variance of the logarithm of a time of which nothing is known. */
#define ANY_TIME 1e6

static double util_variance(double util) {
  double sd = dl_training_util_sd(util);
  return sd * sd;
}

/* The mean power of GPUs that are busy for a known share of the time, at most:
 * two standard deviations of that share. */
static double most_power(const struct dl_expected *e, double util,
                         double of_static) {
  double busy = util / e->util * exp(2 * dl_training_util_sd(e->util));
  busy = isnan(util) ? NAN : fmin(busy, 1);
  return busy * e->most_w + (1 - busy) * e->static_w * of_static;
}

/* The start-up within a known duration. An assumed one is shorter where the run
 * takes less than expected. */
static double startup_in(const struct dl_expected *e,
                         const struct dl_known *known) {
  double expected = exp(e->time) + e->startup_s;
  if (!(e->startup_s > 0))
    return 0;
  return e->startup_s *
         (e->startup_sd > 0 ? fmin(known->run_s / expected, 1) : 1);
}

/* Widens an energy by a start-up of s in run_s that may take longer or less, at
 * a power that is less_w below the steps'. */
static void doubt_startup(struct dl_interval *j, double s, double run_s,
                          double factor, double less_w) {
  double less = fmax(fmin(s * factor, run_s) - s, 0) * fmax(less_w, 0);
  double more = s * (1 - 1 / factor) * fmax(less_w, 0);
  j->low = j->x * exp(-hypot(log(j->x / j->low), log1p(-less / j->x)));
  j->high = j->x * exp(hypot(log(j->high / j->x), log1p(more / j->x)));
}

void dl_allow_waiting(struct dl_interval *j, double static_j, double coverage) {
  /* The share of the time that all but a tail of the runs work. */
  double works = (1 - coverage) / 2 / DL_WAITS;
  if (works < 1 && static_j < j->low)
    j->low = works * j->low + (1 - works) * static_j;
}

/* The energy of a known power and time. */
static struct dl_interval metered(const struct dl_known *known,
                                  double coverage) {
  double factor = dl_meter_factor(coverage), j = known->power_w * known->run_s;
  return (struct dl_interval){j, j / factor, j * factor};
}

/* The energy of the steps, and of waiting beyond them within a factor. */
static struct dl_interval with_rest(const struct dl_gpu_waiting *w,
                                    double rest_j, double factor) {
  return (struct dl_interval){exp(w->energy) + rest_j,
                              exp(w->energy_low) + rest_j / factor,
                              exp(w->energy_high) + rest_j * factor};
}

void dl_condition(struct dl_conditioned *out, const struct dl_expected *e,
                  const struct dl_known *known, double coverage) {
  /* The time says nothing of the speed if the work is not known. */
  bool free = !known->of_work && !isnan(known->run_s);
  double startup = startup_in(e, known);
  double steps = free ? known->run_s : known->steps_s - startup;
  /* The run takes this time beyond its steps. */
  double rest = isnan(steps) ? 0 : known->run_s - steps;
  /* The mean power of the steps. */
  double power = known->power_w;
  if (rest > 0)
    power = (power * known->run_s - e->static_w * rest) / steps;
  /* Else it works all the time, but for the input. */
  bool watched = !free || !isnan(known->util) || !isnan(known->power_w);
  const struct dl_gpu_waiting_prior prior = {
      .time = free ? log(steps) : e->time,
      .power = e->power,
      .var_time = free ? ANY_TIME : e->var_time,
      .var_power = e->var_power,
      .cov = free ? 0 : e->cov,
      .var_alone = e->var_alone,
      .most_power = log(e->most_w),
      .static_share = e->static_w / exp(e->power),
      .surplus_share = e->surplus_w / exp(e->power),
      .surplus_sd = e->surplus_sd,
      .var_util = util_variance(e->util),
      .waits = watched ? DL_WAITS : 0,
      .input = free ? e->input - e->time : e->input,
      .var_input = e->var_input + (free ? e->var_time : 0),
      .by_work = free};
  const struct dl_gpu_waiting_known of_steps = {
      .time = log(steps),
      .power = power > 0 ? log(power) : (double)NAN,
      .util = log(known->util) - log(e->util) +
              (rest > 0 ? log(known->run_s / steps) : 0)};
  struct dl_gpu_waiting w;
  dl_gpu_waiting_posterior(&prior, &of_steps, coverage, &w);
  double of_static = dl_static_factor(e->var_power, coverage);
  out->applies = true;
  out->energy_j = !isnan(known->run_s) && !isnan(known->power_w)
                      ? metered(known, coverage)
                      : with_rest(&w, rest * e->static_w, of_static);
  if (startup > 0 && isnan(known->power_w))
    doubt_startup(&out->energy_j, startup, known->run_s,
                  dl_normal_factor(e->startup_sd, coverage),
                  exp(w.energy) / steps - e->static_w);
  out->duration_s.x = isnan(steps) ? exp(w.time) : known->run_s;
  out->duration_s.low = exp(w.time_low);
  out->duration_s.high = exp(w.time_high);
  out->power_w.low = exp(w.power_low);
  out->power_w.high = exp(w.power_high);
  out->busy = rest > 0 ? w.busy * steps / known->run_s : w.busy;
  out->misfit = w.misfit;
  out->static_w = e->static_w;
  out->least_static_w = e->static_w / of_static;
  out->most_w = most_power(e, known->util, of_static);
}
