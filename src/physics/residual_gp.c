/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/residual_gp.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

double dl_residual_covariance(const struct dl_residual_process *process,
                              const struct dl_residual_point *a,
                              const struct dl_residual_point *b) {
  const struct dl_place *p = &a->place, *q = &b->place;
  if (p->gpu != q->gpu || p->arch != q->arch)
    return 0;
  double d2 = 0, sum = 0;
  for (size_t i = 0; i < DL_PLACE_AXES; i++)
    d2 += (p->x[i] - q->x[i]) * (p->x[i] - q->x[i]);
  bool same = !(d2 > 0) && !(p->exact < q->exact) && !(p->exact > q->exact);
  for (size_t i = 0; i < process->n_components; i++) {
    const struct dl_residual_component *c = &process->component[i];
    if (c->targets >> a->target & c->targets >> b->target & 1)
      sum += c->group * c->group + c->near * c->near * exp(-d2 / 2) +
             (same ? c->own * c->own : 0);
  }
  return sum;
}

double dl_residual_noise(const struct dl_residual_process *process, double n) {
  return process->repeat_sd * process->repeat_sd / n +
         process->floor_sd * process->floor_sd;
}

void dl_residual_gp_free(struct dl_residual_gp *gp) {
  free(gp->point);
  *gp = (struct dl_residual_gp){0};
}

enum dl_status dl_residual_gp_fit(struct dl_residual_gp *gp,
                                  const struct dl_residual_process *process,
                                  const double *count, struct dl_diag *d) {
  size_t n = gp->n;
  gsl_matrix *K = gsl_matrix_alloc(n, n);
  gsl_vector *r = gsl_vector_alloc(n);
  int gsl = K && r ? 0 : GSL_ENOMEM;
  for (size_t i = 0; !gsl && i < n; i++) {
    gsl_vector_set(r, i, gp->point[i].weight);
    for (size_t j = 0; j < n; j++)
      gsl_matrix_set(
          K, i, j,
          dl_residual_covariance(process, &gp->point[i], &gp->point[j]));
    *gsl_matrix_ptr(K, i, i) += dl_residual_noise(process, count[i]);
  }
  if (!gsl)
    gsl = gsl_linalg_cholesky_decomp1(K);
  if (!gsl)
    gsl = gsl_linalg_cholesky_svx(K, r);
  for (size_t i = 0; !gsl && i < n; i++)
    gp->point[i].weight = gsl_vector_get(r, i);
  gsl_matrix_free(K);
  gsl_vector_free(r);
  if (gsl == GSL_ENOMEM)
    return dl_fail_memory(d);
  return gsl ? dl_fail(d, DL_EINPUT, "kriging of the residuals: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

double dl_residual_gp_at(const struct dl_residual_gp *gp,
                         const struct dl_residual_process *process,
                         const struct dl_place *place, size_t target) {
  struct dl_residual_point here = {*place, target, 0};
  double sum = 0;
  for (size_t i = 0; i < gp->n; i++)
    sum += gp->point[i].weight *
           dl_residual_covariance(process, &here, &gp->point[i]);
  return sum;
}

bool dl_residual_gp_append(struct dl_residual_gp *gp,
                           const struct dl_residual_gp *more) {
  if (more->n == 0)
    return true;
  struct dl_residual_point *all =
      reallocarray(gp->point, gp->n + more->n, sizeof *all);
  if (!all)
    return false;
  memcpy(all + gp->n, more->point, more->n * sizeof *all);
  gp->point = all;
  gp->n += more->n;
  return true;
}
