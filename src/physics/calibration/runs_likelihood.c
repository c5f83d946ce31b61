/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The likelihood of the runs of a calibration. */

#include "physics/calibration/runs_likelihood.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

/* How many repeats would leave the doubt that the mean of so many runs has: of
 * GPUs that waited more than scatter (dl_residual_repeats). */
static double runs_worth(const struct dl_residual_process *process, double n,
                         const struct dl_grouping *inputs) {
  double doubt = inputs->waiting_sd / process->repeat_sd;
  return doubt > 0 ? 1 / (1 / n + 2 * doubt * doubt) : n;
}

enum dl_status dl_runs_likelihood_make(struct dl_runs_likelihood *l,
                                       const struct dl_hierarchical_fit *from,
                                       struct dl_diag *d) {
  const struct dl_residual_process *process = from->physics->calibration;
  const struct dl_residual_gp *old = &from->calibration_residuals;
  size_t n = l->n = l->configs.n_measurements;
  l->gp.point = dl_calloc(n + old->n, sizeof *l->gp.point);
  l->expected = dl_calloc(n, sizeof *l->expected);
  l->noise = dl_calloc(n + old->n, sizeof *l->noise);
  for (size_t i = 0; i < n; i++) {
    const struct dl_measurement *m = &l->configs.m[i];
    const struct dl_grouping *inputs = l->configs.inputs[m->config];
    struct dl_place place =
        dl_fit_place(from, &l->configs.names[m->config], inputs);
    l->gp.point[i] = (struct dl_residual_point){
        .place = place,
        .target = m->target,
        .runs = runs_worth(process, m->weight, inputs),
        .value = m->mean};
    l->expected[i] = dl_expected_residual(from, &place, m->target);
    l->noise[i] = dl_residual_noise(process, m->weight) +
                  inputs->misfit_sd * inputs->misfit_sd;
  }
  for (size_t i = 0; i < old->n; i++) {
    l->gp.point[n + i] = old->point[i];
    l->noise[n + i] = dl_residual_noise(process, 1);
  }
  l->gp.n = n + old->n;
  dl_residual_gp_sort(&l->gp);
  return dl_residual_precision_make(&l->precision, &l->gp, process, l->noise,
                                    d);
}

void dl_runs_likelihood_free(struct dl_runs_likelihood *l) {
  dl_configurations_free(&l->configs);
  dl_parameter_map_free(&l->map);
  dl_residual_precision_free(&l->precision);
  dl_residual_gp_free(&l->gp);
  free(l->expected);
  free(l->noise);
}

enum dl_status dl_held_out_points_make(struct dl_held_out_points *held,
                                       const struct dl_runs_likelihood *l,
                                       const bool *out, struct dl_diag *d) {
  const struct dl_residual_precision *k = &l->precision;
  int gsl = 0;
  held->n_groups = k->n_groups;
  held->m = dl_calloc(k->n_groups, sizeof *held->m);
  held->place = dl_calloc(k->n_groups, sizeof *held->place);
  held->M = dl_calloc(k->n_groups, sizeof *held->M);
  for (size_t g = 0; g < k->n_groups && !gsl; g++) {
    const struct dl_precision_part *all = &k->group[g];
    size_t *place = dl_calloc(all->n, sizeof *place), m = 0;
    for (size_t i = all->first; i < all->first + all->n; i++)
      if (l->gp.order[i] < l->n && out[l->gp.order[i]])
        place[m++] = i;
    held->place[g] = place;
    held->m[g] = m;
    if (m == 0)
      continue;
    held->M[g] = gsl_matrix_alloc(m, m);
    dl_residual_precision_among(k, g, place, m, held->M[g]);
    gsl = gsl_linalg_cholesky_decomp1(held->M[g]);
  }
  return gsl ? dl_fail(d, DL_EINPUT, "covariance of the runs: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

void dl_held_out_points_free(struct dl_held_out_points *held) {
  for (size_t g = 0; g < held->n_groups; g++) {
    free(held->place[g]);
    gsl_matrix_free(held->M[g]);
  }
  free(held->m);
  free(held->place);
  free(held->M);
}

void dl_runs_misfit(const struct dl_runs_likelihood *l, const double *theta,
                    double *r) {
  dl_predict_measurements(&l->map, theta, r);
  for (size_t i = 0; i < l->n; i++)
    r[i] += l->expected[i] - l->configs.m[i].mean;
}

/* x: gp.n; at the points that are held out, (P_SS)^-1 x, and 0 at others. */
static void solve_held(const struct dl_runs_likelihood *l,
                       const struct dl_held_out_points *held, double *x) {
  DL_FREED double *at = dl_calloc(l->gp.n, sizeof *at);
  for (size_t g = 0; g < held->n_groups; g++) {
    size_t m = held->m[g];
    const size_t *place = held->place[g];
    if (m == 0)
      continue;
    DL_SCOPED(gsl_vector_free_local) gsl_vector *v = gsl_vector_alloc(m);
    for (size_t i = 0; i < m; i++)
      gsl_vector_set(v, i, x[l->gp.order[place[i]]]);
    gsl_linalg_cholesky_svx(held->M[g], v);
    for (size_t i = 0; i < m; i++)
      at[l->gp.order[place[i]]] = gsl_vector_get(v, i);
  }
  memcpy(x, at, l->gp.n * sizeof *x);
}

/* Takes what the other measurements make likely out of the misfits of those
 * that are held out, whose weights become 0: K^-1 (r - r_S), where r_S is such
 * that they are. */
static void weigh_without(const struct dl_runs_likelihood *l,
                          const struct dl_held_out_points *held, double *misfit,
                          double *weight) {
  size_t n = l->gp.n;
  DL_FREED double *likely = dl_calloc(n, sizeof *likely);
  DL_FREED double *change = dl_calloc(n, sizeof *change);
  memcpy(likely, weight, n * sizeof *likely);
  solve_held(l, held, likely);
  memcpy(change, likely, n * sizeof *change);
  dl_residual_precision_apply(&l->precision, change);
  for (size_t i = 0; i < n; i++)
    weight[i] -= change[i];
  for (size_t g = 0; g < held->n_groups; g++)
    for (size_t i = 0; i < held->m[g]; i++) {
      size_t point = l->gp.order[held->place[g][i]];
      weight[point] = 0;
      misfit[point] += likely[point];
    }
}

double dl_runs_weigh(const struct dl_runs_likelihood *l,
                     const struct dl_held_out_points *held, double *misfit,
                     double *weight) {
  double squares = 0;
  memset(weight, 0, l->gp.n * sizeof *weight);
  memcpy(weight, misfit, l->n * sizeof *weight);
  for (size_t g = 0; held && g < held->n_groups; g++)
    for (size_t i = 0; i < held->m[g]; i++)
      weight[l->gp.order[held->place[g][i]]] = 0;
  dl_residual_precision_apply(&l->precision, weight);
  if (held)
    weigh_without(l, held, misfit, weight);
  for (size_t i = 0; i < l->n; i++)
    squares += misfit[i] * weight[i];
  return squares;
}

/* Sums over the blocks of a group. */
struct group_sums {
  const struct dl_precision_part *group;
  const size_t *place; /* m: held out */
  size_t m;
  gsl_matrix *G;  /* p x p */
  gsl_matrix *YJ; /* rank x p: Y' J; NULL for rank 0 */
  gsl_matrix *W;  /* m x p: of K^-1 J; NULL for m = 0 */
};

/* YJ += Y' J */
static void add_common(struct group_sums *s, const struct dl_precision_part *of,
                       const struct dl_derivatives *b) {
  size_t rank = s->YJ->size1;
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *Z = gsl_matrix_alloc(rank, b->p);
  gsl_matrix_const_view Y = gsl_matrix_const_submatrix(
      s->group->Y, of->first - s->group->first, 0, of->n, rank);
  gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, &Y.matrix, b->J, 0, Z);
  for (size_t i = 0; i < rank; i++)
    for (size_t j = 0; j < b->p; j++)
      *gsl_matrix_ptr(s->YJ, i, b->param[j]) += gsl_matrix_get(Z, i, j);
}

/* G += J' D^-1 J; the rows of D^-1 J that are held out go to W. */
static void add_block(struct group_sums *s, const struct dl_precision_part *of,
                      struct dl_derivatives *b) {
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *H = gsl_matrix_alloc(b->p, b->p);
  gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, of->R,
                 b->J);
  gsl_blas_dsyrk(CblasLower, CblasTrans, 1, b->J, 0, H);
  for (size_t i = 0; i < b->p; i++)
    for (size_t j = 0; j <= i; j++)
      *gsl_matrix_ptr(s->G, b->param[i], b->param[j]) +=
          gsl_matrix_get(H, i, j);
  if (!s->W)
    return;
  gsl_blas_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasNonUnit, 1, of->R,
                 b->J);
  for (size_t i = 0; i < s->m; i++)
    for (size_t j = 0; j < b->p && s->place[i] >= of->first &&
                       s->place[i] < of->first + of->n;
         j++)
      gsl_matrix_set(s->W, i, b->param[j],
                     gsl_matrix_get(b->J, s->place[i] - of->first, j));
}

/* W - Y_S (Y' J) are the rows of K^-1 J that are held out; G loses
 * W' (P_SS)^-1 W. */
static void hold_out(struct group_sums *s, const gsl_matrix *M) {
  if (s->YJ) {
    DL_SCOPED(gsl_matrix_free_local)
    gsl_matrix *Y = gsl_matrix_alloc(s->m, s->YJ->size1);
    for (size_t i = 0; i < s->m; i++) {
      gsl_vector_const_view row =
          gsl_matrix_const_row(s->group->Y, s->place[i] - s->group->first);
      gsl_matrix_set_row(Y, i, &row.vector);
    }
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, -1, Y, s->YJ, 1, s->W);
  }
  gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, M, s->W);
  gsl_blas_dsyrk(CblasLower, CblasTrans, -1, s->W, 1, s->G);
}

void dl_runs_information(const struct dl_runs_likelihood *l,
                         const struct dl_held_out_points *held,
                         const double *theta, gsl_matrix *G) {
  const struct dl_residual_precision *k = &l->precision;
  size_t p = l->map.p;
  gsl_matrix_set_zero(G);
  for (size_t g = 0; g < k->n_groups; g++) {
    const struct dl_precision_part *group = &k->group[g];
    struct group_sums s = {.group = group, .G = G};
    if (held && held->m[g] > 0) {
      s.place = held->place[g];
      s.m = held->m[g];
      s.W = gsl_matrix_calloc(s.m, p);
    }
    s.YJ = group->Y ? gsl_matrix_calloc(group->Y->size2, p) : NULL;
    for (size_t i = 0; i < group->n_blocks; i++) {
      const struct dl_precision_part *of = &k->block[group->first_block + i];
      DL_SCOPED(dl_derivatives_free) struct dl_derivatives b;
      dl_derivatives_make(&b, &l->map, theta, l->gp.order + of->first, of->n,
                          NULL);
      if (b.p > 0 && s.YJ)
        add_common(&s, of, &b);
      if (b.p > 0)
        add_block(&s, of, &b);
    }
    if (s.YJ)
      gsl_blas_dsyrk(CblasLower, CblasTrans, -1, s.YJ, 1, G);
    if (s.W)
      hold_out(&s, held->M[g]);
    gsl_matrix_free(s.YJ);
    gsl_matrix_free(s.W);
  }
}
