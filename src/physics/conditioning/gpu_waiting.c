/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Working and waiting: the posterior by integration over d = -log b. */

#include "physics/conditioning/gpu_waiting.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>

/* The rule's nodes: 0 for a run that does not wait, then FIRST to LAST in
 * steps. Busy shares below exp(-6) are none. */
enum { NODES = 302, FIRST = 1 };
#define STEP 0.02

/* The standard error of the static power (constant pa). */
#define STATIC_SD 0.2

/* A measured mean power: meters of boards are right to within 5 % (Yang,
 * Adamek, Armour 2024, arXiv 2312.02741), taken as an interval of 90 %. */
#define POWER_SD 0.03

/* One d. */
struct waiting_node {
  double weight; /* logarithm, then the probability */
  double busy;
  /* Means and variances of logarithms, given d and what is known. */
  double energy, variance;
  double time, var_time;
  double power, var_power;
  double misfit; /* squared deviations of what is known, in variances */
};

static double log_normal(double x, double variance) {
  return -0.5 * (x * x / variance + log(2 * M_PI * variance));
}

/* Weights a node by the density of something known, so far from its mean. */
static void weigh(struct waiting_node *n, double off, double variance) {
  n->weight += log_normal(off, variance);
  n->misfit += off * off / variance;
}

/* The power of work so far from its expected time, a logarithm, where a
 * utilization says how long it took: slower work draws less, but its dynamic
 * energy does not fall, so that it takes no less, as a whole, than faster work
 * and waiting. */
static double watched_power(const struct dl_gpu_waiting_prior *q, double power,
                            double off) {
  double slope = q->cov / q->var_time, share = fmin(q->static_share, 1);
  double alike = log(share + (1 - share) * exp(-off));
  if (off <= 0 || !(slope > -1 && slope < 0))
    return off > 0 ? fmax(power, q->power + alike)
                   : fmin(power, q->power + alike);
  /* From there on the power falls too fast. */
  double last = fmin(log(share / (1 + slope)), 0), from = last / slope;
  if (off <= from)
    return power;
  return q->power + log(share + (exp(last) - share) * exp(from - off));
}

/* The mean: a GPU waits at static power, whatever it draws at work. */
static double watched_mean(const struct waiting_node *n,
                           const struct dl_gpu_waiting_prior *q, double power) {
  double waiting = (1 - n->busy) * q->static_share;
  return q->power + log(n->busy * exp(power - q->power) + waiting);
}

/* Given the time: log W = time - d. */
static void with_time(struct waiting_node *n,
                      const struct dl_gpu_waiting_prior *q,
                      const struct dl_gpu_waiting_known *known, double d,
                      double factor) {
  double off = known->time - d - q->time;
  double power = fmin(q->power + q->cov / q->var_time * off,
                      fmax(q->power, q->most_power));
  double left = q->var_power - q->cov * q->cov / q->var_time;
  /* Slow work draws less, but no GPU less than the static power. */
  double least = q->power + log(q->static_share), mean = power + factor;
  if (!isnan(known->util))
    mean = watched_mean(n, q, watched_power(q, power, off));
  weigh(n, off, q->var_time);
  n->time = known->time;
  n->energy = known->time + fmax(mean, least);
  n->variance = left;
  if (isnan(known->power))
    return;
  weigh(n, known->power - mean, left + POWER_SD * POWER_SD);
  n->energy = known->time + known->power;
  n->variance = POWER_SD * POWER_SD;
}

static void without_time(struct waiting_node *n,
                         const struct dl_gpu_waiting_prior *q,
                         const struct dl_gpu_waiting_known *known, double d,
                         double factor) {
  double off = known->power - factor - q->power;
  double both = q->cov + q->var_power; /* covariance of energy and power */
  n->time = q->time + d;
  n->energy = n->time + q->power + factor;
  n->variance = q->var_time + q->var_power + 2 * q->cov;
  n->var_time = q->var_alone;
  n->power = q->power + factor;
  n->var_power = q->var_power;
  if (isnan(known->power))
    return;
  double var = q->var_power + POWER_SD * POWER_SD;
  weigh(n, off, var);
  n->time += q->cov / var * off;
  n->energy = n->time + known->power;
  n->variance -= both * both / var;
}

/* The share of a known time that is beyond the work, and not waiting for the
 * input, where nothing says that GPUs waited. */
static double surplus_of(const struct dl_gpu_waiting_prior *q,
                         const struct dl_gpu_waiting_known *known,
                         double busy) {
  if (!(q->surplus_share > q->static_share) || isnan(known->time) ||
      !isnan(known->util) || !isnan(known->power) || q->by_work)
    return 0;
  double input = isnan(q->input) ? 0 : exp(q->input - known->time);
  return fmax(1 - hypot(busy, input), 0);
}

static void at_node(struct waiting_node *n,
                    const struct dl_gpu_waiting_prior *q,
                    const struct dl_gpu_waiting_known *known, double d) {
  n->busy = exp(-d);
  n->misfit = 0;
  double surplus = surplus_of(q, known, n->busy);
  double waiting = (1 - n->busy - surplus) * q->static_share;
  double slow = surplus * q->surplus_share;
  double factor = log(n->busy + waiting + slow);
  if (isnan(known->time))
    without_time(n, q, known, d, factor);
  else
    with_time(n, q, known, d, factor);
  if (!isnan(known->util))
    weigh(n, known->util + d, q->var_util);
  double off = hypot(waiting * STATIC_SD, slow * q->surplus_sd);
  double share = off / (n->busy + waiting + slow);
  if (isnan(known->power)) {
    n->variance += share * share;
    n->var_power += share * share;
  }
}

/* Probability that the input makes work of time `work` wait for less than d. */
static double input_below(const struct dl_gpu_waiting_prior *q, double work,
                          double variance, double d) {
  double input = work + log(expm1(2 * d)) / 2;
  return gsl_cdf_ugaussian_P((input - q->input) / sqrt(variance));
}

/* Probability of a node's d; the input's between its neighbours' middles. */
static double prior_of(const struct dl_gpu_waiting_prior *q,
                       const struct dl_gpu_waiting_known *known, size_t i,
                       double d) {
  bool described = !isnan(q->input), last = i == NODES - 1;
  if (i < FIRST)
    return described ? 0 : 1 - q->waits;
  double waits = q->waits * STEP * exp(-d) * (i == FIRST || last ? 0.5 : 1);
  if (!described)
    return waits;
  bool timed = !isnan(known->time) || q->by_work;
  double work = timed ? known->time - d : q->time;
  if (q->by_work)
    work = 0;
  double variance = q->var_input + (timed ? 0 : q->var_time);
  double above = i == FIRST ? 0 : input_below(q, work, variance, d - STEP / 2);
  double until = last ? 1 : input_below(q, work, variance, d + STEP / 2);
  return waits + (1 - q->waits) * (until - above);
}

/* Makes probabilities of logarithms. Returns the logarithm of the density of
 * the known values. */
static double normalise(struct waiting_node *n) {
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < NODES; i++)
    most = fmax(most, n[i].weight);
  for (size_t i = 0; i < NODES; i++)
    sum += n[i].weight = exp(n[i].weight - most);
  for (size_t i = 0; i < NODES; i++)
    n[i].weight /= sum;
  return most + log(sum);
}

/* The posterior over d. Returns as normalise does. */
static double find_posterior(struct waiting_node *n,
                             const struct dl_gpu_waiting_prior *q,
                             const struct dl_gpu_waiting_known *known) {
  for (size_t i = 0; i < NODES; i++) {
    double d = i < FIRST ? 0 : (double)(i - FIRST) * STEP;
    n[i].weight = log(prior_of(q, known, i, d));
    at_node(&n[i], q, known, d);
  }
  return normalise(n);
}

/* Probabilities below it change no quantile. */
#define NEGLIGIBLE 1e-10

/* The nodes that matter: their values of a quantity, and their deviations. */
struct mixture {
  double weight[NODES], value[NODES], sd[NODES];
  size_t n;
  double mean, spread; /* of all */
};

enum quantity { ENERGY, TIME, POWER };

static void mix(struct mixture *m, const struct waiting_node *n,
                enum quantity of) {
  double mean = 0, square = 0;
  m->n = 0;
  for (size_t i = 0; i < NODES; i++) {
    const double value[] = {n[i].energy, n[i].time, n[i].power};
    const double variance[] = {n[i].variance, n[i].var_time, n[i].var_power};
    double x = value[of];
    if (!(n[i].weight > NEGLIGIBLE))
      continue;
    m->weight[m->n] = n[i].weight;
    m->value[m->n] = x;
    m->sd[m->n++] = sqrt(variance[of]);
    mean += n[i].weight * x;
    square += n[i].weight * (x * x + variance[of]);
  }
  m->mean = mean;
  m->spread = sqrt(fmax(square - mean * mean, 0));
}

/* Probability that the quantity is below x, and its density. */
static double below(const struct mixture *m, double x, double *density) {
  double sum = 0;
  *density = 0;
  for (size_t i = 0; i < m->n; i++)
    if (m->sd[i] > 0) {
      double z = (x - m->value[i]) / m->sd[i];
      sum += m->weight[i] * erfc(-z * M_SQRT1_2) / 2;
      *density += m->weight[i] * exp(-z * z / 2) / m->sd[i];
    } else {
      sum += m->weight[i] * (x >= m->value[i]);
    }
  *density *= M_SQRT1_2 * M_2_SQRTPI / 2;
  return sum;
}

/* Finds a quantile by Newton's method, and by bisection where it leaves the
 * interval, which is within ten standard deviations of any node. */
static double quantile(const struct mixture *m, double share) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < m->n; i++) {
    low = fmin(low, m->value[i] - 10 * m->sd[i]);
    high = fmax(high, m->value[i] + 10 * m->sd[i]);
  }
  double x = m->mean + m->spread * gsl_cdf_ugaussian_Pinv(share);
  for (int i = 0; i < 60 && high - low > 1e-6; i++) {
    double density, off;
    if (!(x > low && x < high))
      x = (low + high) / 2;
    off = below(m, x, &density) - share;
    if (off < 0)
      low = x;
    else
      high = x;
    if (fabs(off) < 1e-7 * density)
      return x;
    x -= off / density;
  }
  return (low + high) / 2;
}

/* Mean and quantiles of the energy. */
enum { MEAN, LOW, HIGH, VALUES };

static void energies_of(const struct waiting_node *n, double coverage,
                        double *value) {
  struct mixture m;
  mix(&m, n, ENERGY);
  value[MEAN] = 0;
  for (size_t i = 0; i < NODES; i++)
    value[MEAN] += n[i].weight * n[i].energy;
  value[LOW] = quantile(&m, (1 - coverage) / 2);
  value[HIGH] = quantile(&m, (1 + coverage) / 2);
}

/* --- Energies that do not fall while the time grows. */

/* Times in steps of TIME_STEP from the expected time on. At the last a training
 * waits. */
enum { TIMES = 21 };
#define TIME_STEP 0.2

/* Isotonic regression of y by pooling neighbours that fall: each pool of
 * neighbouring times has one estimate. */
static void regress(const double *y, const double *weight, double *fitted) {
  double sum[TIMES], mean[TIMES];
  size_t size[TIMES], n = 0;
  for (size_t i = 0; i < TIMES; i++) {
    double its_sum = weight[i], its_mean = y[i];
    size_t its_size = 1;
    for (; n > 0 && mean[n - 1] > its_mean; n--) {
      double both = sum[n - 1] + its_sum;
      its_mean = (sum[n - 1] * mean[n - 1] + its_sum * its_mean) / both;
      its_sum = both;
      its_size += size[n - 1];
    }
    sum[n] = its_sum;
    mean[n] = its_mean;
    size[n++] = its_size;
  }
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < size[k]; i++)
      *fitted++ = mean[k];
}

/* The regression between two times; the value itself where nothing was pooled.
 */
static double between(const double *y, const double *fitted, double off,
                      double value) {
  size_t i = (size_t)off;
  double share = off - (double)i;
  bool moved = fabs(fitted[i] - y[i]) > 0 || fabs(fitted[i + 1] - y[i + 1]) > 0;
  return moved ? (1 - share) * fitted[i] + share * fitted[i + 1] : value;
}

/* Replaces the values of the known time by their regression on the time. */
static void let_rise(double *value, const struct dl_gpu_waiting_prior *q,
                     const struct dl_gpu_waiting_known *known,
                     double coverage) {
  struct waiting_node n[NODES];
  double y[VALUES][TIMES], density[TIMES], weight[TIMES], fitted[TIMES];
  double off = (known->time - q->time) / TIME_STEP;
  if (!(off > 0 && off < TIMES - 1))
    return;
  for (size_t i = 0; i < TIMES; i++) {
    struct dl_gpu_waiting_known at = *known;
    double of_time[VALUES];
    at.time = q->time + (double)i * TIME_STEP;
    density[i] = find_posterior(n, q, &at);
    energies_of(n, coverage, of_time);
    weight[i] = exp(density[i] - density[0]);
    for (size_t k = 0; k < VALUES; k++)
      y[k][i] = of_time[k];
  }
  for (size_t k = 0; k < VALUES; k++) {
    regress(y[k], weight, fitted);
    value[k] = between(y[k], fitted, off, value[k]);
  }
}

static void interval_of(const struct waiting_node *n, enum quantity of,
                        double coverage, double *low, double *high) {
  struct mixture m;
  mix(&m, n, of);
  *low = quantile(&m, (1 - coverage) / 2);
  *high = quantile(&m, (1 + coverage) / 2);
}

void dl_gpu_waiting_posterior(const struct dl_gpu_waiting_prior *prior,
                              const struct dl_gpu_waiting_known *known,
                              double coverage, struct dl_gpu_waiting *out) {
  struct waiting_node n[NODES];
  double energy[VALUES];
  find_posterior(n, prior, known);
  /* Waits longer than the last node's explain longer times. */
  double beyond = known->time - (NODES - 1 - FIRST) * STEP - prior->time;
  if (beyond > 0)
    n[NODES - 1].misfit -= beyond * beyond / prior->var_time;
  energies_of(n, coverage, energy);
  if (isnan(known->power))
    let_rise(energy, prior, known, coverage);
  *out = (struct dl_gpu_waiting){.energy = energy[MEAN],
                                 .energy_low = energy[LOW],
                                 .energy_high = energy[HIGH],
                                 .time_low = NAN,
                                 .time_high = NAN,
                                 .power_low = NAN,
                                 .power_high = NAN};
  if (isnan(known->time))
    interval_of(n, TIME, coverage, &out->time_low, &out->time_high);
  if (isnan(known->time) && isnan(known->power))
    interval_of(n, POWER, coverage, &out->power_low, &out->power_high);
  out->misfit = INFINITY;
  for (size_t i = 0; i < NODES; i++) {
    out->misfit = fmin(out->misfit, sqrt(n[i].misfit));
    out->time += n[i].weight * n[i].time;
    out->busy += n[i].weight * n[i].busy;
  }
}

double dl_interval_sd(double low, double high, double coverage) {
  return fmax(high, -low) / gsl_cdf_ugaussian_Pinv((1 + coverage) / 2);
}

double dl_normal_factor(double sd, double coverage) {
  return exp(sd * gsl_cdf_ugaussian_Pinv((1 + coverage) / 2));
}

double dl_static_factor(double var_power, double coverage) {
  return dl_normal_factor(sqrt(var_power + STATIC_SD * STATIC_SD), coverage);
}

double dl_meter_factor(double coverage) {
  return dl_normal_factor(POWER_SD, coverage);
}
