/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Epochs that take longer at regular distances: projection_private.h. */

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/projection/projection_private.h"

/* Most recent epochs that are searched, and the longest distance. */
enum { MOST_EPOCHS = 512, MOST_EVERY = 64, LEAST_EPOCHS = 4 };

/* A new level may show a pattern from so many epochs on. */
enum { LEAST_AFTER = 8 };

static const double least_excess = 0.04;  /* less is no matter of counts */
static const double least_scatter = 0.01; /* repeats of one epoch differ so */
static const double clear = 5;            /* excess by scatter */
static const double alike = 0.25;         /* of the excess: how far they */
static const double alike_two = 0.15;     /* differ; and where two are seen */
static const double least_ratio = 1.02;   /* to both neighbours */
static const double most_off = 0.2;       /* share that may differ */
static const double most_others = 0.25;   /* stalls by longer epochs */

/* Epochs a ... n - 1; of them those i with i % every == first. */
struct comb {
  size_t a, n, every, first;
};

static bool holds(const struct comb *c, size_t i) {
  return i % c->every == c->first;
}

/* The first of them. */
static size_t start_of(const struct comb *c) {
  return c->a + (c->first + c->every - c->a % c->every) % c->every;
}

/* Returns what ordinary epochs up to a distance away take: a level that changes
 * in between must not look like a pattern. */
static double ordinary_near(const struct comb *c, const double *x, size_t i) {
  double work[2 * MOST_EVERY + 1];
  size_t m = 0, from = i > c->a + c->every ? i - c->every : c->a;
  for (size_t j = from; j < c->n && j <= i + c->every; j++)
    if (j != i && !holds(c, j))
      work[m++] = x[j];
  return gsl_stats_median(work, 1, m);
}

/* Whether enough of them exceed their neighbours, which costs little. */
static bool may_hold(const struct comb *c, const double *x) {
  size_t seen = 0, low = 0;
  for (size_t i = start_of(c); i < c->n; i += c->every, seen++) {
    double before = i > c->a ? x[i - 1] : x[i + 1];
    double after = i + 1 < c->n ? x[i + 1] : before;
    low += x[i] < least_ratio * (before + after) / 2;
  }
  return seen >= 2 && (double)low <= most_off * (double)seen;
}

/* Excess by ordinary epochs: median over the longer ones, and scatter of the
 * others. */
struct contrast {
  double excess, scatter;
  size_t seen, off, others;
};

static void contrast_of(struct contrast *k, const struct comb *c,
                        const double *x, double *z) {
  DL_FREED double *of = dl_calloc(c->n - c->a, sizeof *of);
  size_t m = 0;
  *k = (struct contrast){0};
  for (size_t i = c->a; i < c->n; i++)
    z[i - c->a] = x[i] / ordinary_near(c, x, i) - 1;
  for (size_t i = start_of(c); i < c->n; i += c->every)
    of[k->seen++] = z[i - c->a];
  k->excess =
      k->seen == 2 ? (of[0] + of[1]) / 2 : gsl_stats_median(of, 1, k->seen);
  for (size_t i = c->a; i < c->n; i++)
    if (!holds(c, i)) {
      of[m++] = fabs(z[i - c->a]);
      k->others += z[i - c->a] > k->excess / 2;
    }
  k->scatter = fmax(1.4826 * gsl_stats_median(of, 1, m), least_scatter);
  double most = (k->seen > 2 ? alike : alike_two / 2) * k->excess;
  most = fmax(most, 3 * k->scatter);
  for (size_t i = start_of(c); i < c->n; i += c->every)
    k->off += fabs(z[i - c->a] - k->excess) > most;
}

static bool is_pattern(const struct contrast *k) {
  return k->excess >= least_excess && k->excess >= clear * k->scatter &&
         (double)k->off <= (k->seen < 5 ? 0 : most_off * (double)k->seen) &&
         (double)k->others <= most_others * (double)k->seen;
}

/* Mean excess and its standard error, in the unit of x. */
static void excess_of(const struct comb *c, const double *x, double scatter,
                      double *mean, double *se) {
  double sum = 0, squares = 0, level = 0, n = 0;
  for (size_t i = start_of(c); i < c->n; i += c->every, n++) {
    double base = ordinary_near(c, x, i), over = x[i] - base;
    sum += over;
    squares += over * over;
    level += base;
  }
  *mean = sum / n;
  double own = sqrt(fmax(squares - sum * sum / n, 0) / (n - 1));
  *se = fmax(own, scatter * level / n) / sqrt(n);
}

/* The least distance that holds for the epochs from c->a on. */
static bool find_from(struct dl_energy_pattern *p, struct comb *c,
                      const struct dl_measured_epochs *epochs, double *z) {
  struct contrast energy, duration;
  size_t most = (c->n - c->a) / 2;
  most = most < MOST_EVERY ? most : MOST_EVERY;
  for (c->every = 2; c->every <= most; c->every++)
    for (c->first = 0; c->first < c->every; c->first++) {
      if (!may_hold(c, epochs->energy_j) || !may_hold(c, epochs->duration_s))
        continue;
      contrast_of(&energy, c, epochs->energy_j, z);
      contrast_of(&duration, c, epochs->duration_s, z);
      if (!is_pattern(&energy) || !is_pattern(&duration))
        continue;
      *p = (struct dl_energy_pattern){.every = c->every,
                                      .first = c->first,
                                      .n = energy.seen,
                                      .share = energy.excess};
      excess_of(c, epochs->energy_j, energy.scatter, &p->energy_j,
                &p->energy_se);
      excess_of(c, epochs->duration_s, duration.scatter, &p->duration_s,
                &p->duration_se);
      return true;
    }
  return false;
}

void dl_pattern_find(struct dl_energy_pattern *p,
                     const struct dl_measured_epochs *epochs, size_t from) {
  struct comb c = {from + 1, epochs->n, 0, 0}; /* without the warm-up */
  *p = (struct dl_energy_pattern){0};
  if (c.n > c.a + MOST_EPOCHS)
    c.a = c.n - MOST_EPOCHS;
  if (c.n < c.a + LEAST_EPOCHS)
    return;
  DL_FREED double *z = dl_calloc(c.n - c.a, sizeof *z);
  /* A change of level hides a pattern of all epochs, not one of the last. */
  while (!find_from(p, &c, epochs, z) && c.n - c.a >= 2 * LEAST_AFTER)
    c.a += (c.n - c.a) / 2;
}

bool dl_pattern_holds(const struct dl_energy_pattern *p, size_t i) {
  return p->every > 0 && i % p->every == p->first;
}

double dl_pattern_count(const struct dl_energy_pattern *p, double from,
                        double to) {
  if (p->every == 0 || to <= from)
    return 0;
  double every = (double)p->every, first = (double)p->first;
  return ceil((floor(to) - first) / every) - ceil((from - first) / every);
}

void dl_pattern_remove(const struct dl_energy_pattern *p, double excess,
                       const double *x, size_t n, double *ordinary) {
  for (size_t i = 0; i < n; i++)
    ordinary[i] = dl_pattern_holds(p, i)
                      ? fmax(x[i] - excess, x[i] / (2 * (1 + p->share)))
                      : x[i];
}
