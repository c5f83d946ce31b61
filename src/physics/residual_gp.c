/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaussian process regression of residuals. */

#include "physics/residual_gp.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

static bool is_bounded(const struct dl_place *p) {
  double sum = 0;
  for (size_t i = 0; i < DL_BOUND_AXES; i++)
    sum += fabs(p->bound[i]);
  return sum > 0;
}

/* 1 / (1 + e^2 / (2 length^2)); 0 where one is not known. */
static double bound_alike(const struct dl_residual_process *process,
                          const struct dl_place *p, const struct dl_place *q) {
  double e2 = 0, length = process->bound_length;
  if (!is_bounded(p) || !is_bounded(q))
    return 0;
  for (size_t i = 0; i < DL_BOUND_AXES; i++)
    e2 += (p->bound[i] - q->bound[i]) * (p->bound[i] - q->bound[i]);
  return 1 / (1 + e2 / (2 * length * length));
}

static int compare_pairs(const struct dl_place *a, const struct dl_place *b) {
  if (a->gpu != b->gpu)
    return (a->gpu > b->gpu) - (a->gpu < b->gpu);
  return (a->arch > b->arch) - (a->arch < b->arch);
}

static bool shares(const struct dl_residual_component *c,
                   const struct dl_residual_point *a,
                   const struct dl_residual_point *b) {
  return c->targets >> a->target & c->targets >> b->target & 1;
}

/* The components of a point's software. */
static const struct dl_residual_component *
components_of(const struct dl_residual_process *process,
              const struct dl_residual_point *p) {
  return process->tuned && p->place.tuned ? process->tuned : process->component;
}

/* The variance that two standard deviations share: the smaller one's. */
static double shared_variance(double a, double b) {
  double sd = fmin(a, b);
  return sd * sd;
}

double dl_residual_in_common(const struct dl_residual_process *process,
                             const struct dl_residual_point *a,
                             const struct dl_residual_point *b) {
  const struct dl_residual_component *c = components_of(process, a),
                                     *e = components_of(process, b);
  double alike = 0, rates = 0;
  if (a->place.gpu != b->place.gpu)
    return 0;
  for (size_t i = 0; i < process->n_components; i++) {
    if (!shares(&c[i], a, b))
      continue;
    alike += shared_variance(c[i].bound, e[i].bound);
    for (size_t k = 0; k < DL_RATE_AXES; k++)
      rates += shared_variance(c[i].rate[k], e[i].rate[k]) * a->place.rate[k] *
               b->place.rate[k];
  }
  if (alike > 0)
    alike *= bound_alike(process, &a->place, &b->place);
  return alike + rates;
}

double dl_residual_in_pair(const struct dl_residual_process *process,
                           const struct dl_residual_point *a,
                           const struct dl_residual_point *b) {
  const struct dl_place *p = &a->place, *q = &b->place;
  double d2 = 0, sum = 0;
  if (compare_pairs(p, q) != 0)
    return 0;
  for (size_t i = 0; i < DL_PLACE_AXES; i++)
    d2 += (p->x[i] - q->x[i]) * (p->x[i] - q->x[i]);
  bool bounded = is_bounded(p) && is_bounded(q);
  /* In calibrations networks without a name differ, unless all else is equal.
   */
  if (bounded && p->arch == 0 && bound_alike(process, p, q) < 1)
    return 0;
  double length = bounded ? process->near_length : 1;
  double near = d2 > 0 ? exp(-d2 / (2 * length * length)) : 1;
  bool same = !(d2 > 0) && !(p->exact < q->exact) && !(p->exact > q->exact);
  const struct dl_residual_component *c = components_of(process, a),
                                     *e = components_of(process, b);
  for (size_t i = 0; i < process->n_components; i++)
    if (shares(&c[i], a, b))
      sum += shared_variance(c[i].group, e[i].group) +
             shared_variance(c[i].near, e[i].near) * near +
             (same ? shared_variance(c[i].own, e[i].own) : 0);
  return sum;
}

double dl_residual_covariance(const struct dl_residual_process *process,
                              const struct dl_residual_point *a,
                              const struct dl_residual_point *b) {
  return dl_residual_in_pair(process, a, b) +
         dl_residual_in_common(process, a, b);
}

double dl_residual_noise(const struct dl_residual_process *process, double n) {
  return process->repeat_sd * process->repeat_sd / n +
         process->floor_sd * process->floor_sd;
}

double dl_residual_repeats(const struct dl_residual_process *process, double n,
                           double coverage) {
  const double degrees = 3;
  double once = process->repeat_sd * process->repeat_sd;
  double scale =
      sqrt(once * (1 + 1 / n) / 2 + process->floor_sd * process->floor_sd);
  return gsl_cdf_tdist_Pinv((1 + coverage) / 2, degrees) * scale;
}

void dl_residual_gp_free(struct dl_residual_gp *gp) {
  free(gp->point);
  free(gp->order);
  *gp = (struct dl_residual_gp){0};
}

/* Orders points by GPU and architecture, then as they come. */
static int by_pair(const void *a, const void *b) {
  const struct dl_residual_point *p =
      *(const struct dl_residual_point *const *)a;
  const struct dl_residual_point *q =
      *(const struct dl_residual_point *const *)b;
  int pairs = compare_pairs(&p->place, &q->place);
  return pairs ? pairs : (p > q) - (p < q);
}

void dl_residual_gp_sort(struct dl_residual_gp *gp) {
  const struct dl_residual_point **sorted = dl_calloc(gp->n, sizeof *sorted);
  free(gp->order);
  gp->order = dl_calloc(gp->n, sizeof *gp->order);
  for (size_t i = 0; i < gp->n; i++)
    sorted[i] = &gp->point[i];
  qsort((void *)sorted, gp->n, sizeof *sorted, by_pair);
  gp->bounded = false;
  for (size_t i = 0; i < gp->n; i++) {
    gp->order[i] = (size_t)(sorted[i] - gp->point);
    gp->bounded |= is_bounded(&gp->point[i].place);
  }
  free((void *)sorted);
}

/* The end of the block of points in gp->order that begins at `first`. */
static size_t block_end(const struct dl_residual_gp *gp, size_t first) {
  const struct dl_residual_point *p = gp->point;
  size_t end = first + 1;
  while (end < gp->n && compare_pairs(&p[gp->order[first]].place,
                                      &p[gp->order[end]].place) == 0)
    end++;
  return end;
}

/* Solves one block, n points of gp->order. */
static int fit_block(struct dl_residual_gp *gp, const size_t *order, size_t n,
                     const struct dl_residual_process *process,
                     const double *count) {
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *K = gsl_matrix_alloc(n, n);
  DL_SCOPED(gsl_vector_free_local) gsl_vector *r = gsl_vector_alloc(n);
  for (size_t i = 0; i < n; i++) {
    const struct dl_residual_point *p = &gp->point[order[i]];
    gsl_vector_set(r, i, p->weight);
    for (size_t j = 0; j <= i; j++)
      gsl_matrix_set(K, i, j,
                     dl_residual_covariance(process, p, &gp->point[order[j]]));
    *gsl_matrix_ptr(K, i, i) += dl_residual_noise(process, count[order[i]]);
  }
  int gsl = gsl_linalg_cholesky_decomp1(K);
  if (!gsl)
    gsl = gsl_linalg_cholesky_svx(K, r);
  for (size_t i = 0; !gsl && i < n; i++)
    gp->point[order[i]].weight = gsl_vector_get(r, i);
  return gsl;
}

enum dl_status dl_residual_gp_fit(struct dl_residual_gp *gp,
                                  const struct dl_residual_process *process,
                                  const double *count, struct dl_diag *d) {
  int gsl = 0;
  dl_residual_gp_sort(gp);
  for (size_t first = 0, end; !gsl && first < gp->n; first = end) {
    end = block_end(gp, first);
    gsl = fit_block(gp, gp->order + first, end - first, process, count);
  }
  return gsl ? dl_fail(d, DL_EINPUT, "kriging of the residuals: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

/* The order of points by what may covary: an architecture on a GPU, or all of a
 * GPU where what bounds them is known. */
static int compare_blocks(const struct dl_residual_gp *gp,
                          const struct dl_place *a, const struct dl_place *b) {
  return gp->bounded && a->gpu == b->gpu ? 0 : compare_pairs(a, b);
}

/* Finds where in gp->order the points begin that may covary with a place. */
static size_t first_near(const struct dl_residual_gp *gp,
                         const struct dl_place *place) {
  size_t low = 0, high = gp->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_blocks(gp, &gp->point[gp->order[middle]].place, place) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double dl_residual_gp_at(const struct dl_residual_gp *gp,
                         const struct dl_residual_process *process,
                         const struct dl_place *place, size_t target) {
  struct dl_residual_point here = {.place = *place, .target = target};
  double sum = 0;
  for (size_t i = first_near(gp, place); i < gp->n; i++) {
    const struct dl_residual_point *p = &gp->point[gp->order[i]];
    if (compare_blocks(gp, &p->place, place) != 0)
      break;
    sum += p->weight * dl_residual_covariance(process, &here, p);
  }
  return sum;
}

double dl_residual_gp_nearest(const struct dl_residual_gp *gp,
                              const struct dl_residual_process *process,
                              const struct dl_place *place, size_t target) {
  struct dl_residual_point here = {.place = *place, .target = target};
  double most = 0;
  memset(here.place.rate, 0, sizeof here.place.rate);
  for (size_t i = first_near(gp, place); i < gp->n; i++) {
    const struct dl_residual_point *p = &gp->point[gp->order[i]];
    if (compare_blocks(gp, &p->place, place) != 0)
      break;
    most = fmax(most, dl_residual_covariance(process, &here, p));
  }
  return most > 0 ? most / dl_residual_covariance(process, &here, &here) : 0;
}

/* Coordinates are computed anew, but from equal numbers. */
static bool agree(const double *a, const double *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (fabs(a[i] - b[i]) > 1e-9)
      return false;
  return true;
}

const struct dl_residual_point *
dl_residual_gp_find(const struct dl_residual_gp *gp,
                    const struct dl_place *place, size_t target) {
  for (size_t i = first_near(gp, place); i < gp->n; i++) {
    const struct dl_residual_point *p = &gp->point[gp->order[i]];
    if (compare_blocks(gp, &p->place, place) != 0)
      break;
    if (p->target == target && compare_pairs(&p->place, place) == 0 &&
        p->place.tuned == place->tuned &&
        agree(p->place.x, place->x, DL_PLACE_AXES) &&
        agree(&p->place.exact, &place->exact, 1) &&
        agree(p->place.bound, place->bound, DL_BOUND_AXES) &&
        agree(p->place.rate, place->rate, DL_RATE_AXES))
      return p;
  }
  return NULL;
}

void dl_residual_gp_append(struct dl_residual_gp *gp,
                           const struct dl_residual_gp *more) {
  if (more->n > 0) {
    struct dl_residual_point *all =
        dl_reallocarray(gp->point, gp->n + more->n, sizeof *all);
    memcpy(all + gp->n, more->point, more->n * sizeof *all);
    gp->point = all;
    gp->n += more->n;
  }
  dl_residual_gp_sort(gp);
}
