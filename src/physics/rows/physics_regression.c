/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression: checks, fits, saves and restores. */

#include "physics/rows/physics_regression.h"

#include <stdlib.h>

#include "base/memory.h"
#include "math/regression/regression_methods.h"
#include "physics/hierarchical_fit.h"

enum dl_status dl_physics_check_rows(const struct dl_physics *physics,
                                     const struct dl_observations *rows,
                                     struct dl_diag *d) {
  if (!rows)
    return dl_fail(d, DL_EUSAGE,
                   "the %s method takes its own features; leave --features out",
                   physics->name);
  for (size_t i = 0; i < rows->n; i++) {
    const char *reason = physics->check(rows->row[i].inputs);
    if (reason)
      return dl_fail(d, DL_EINPUT, "row %zu: %s", i + 1, reason);
  }
  return DL_OK;
}

enum dl_status dl_physics_fit(const struct dl_regression *r, void **state,
                              const struct dl_design *s, double *hyper,
                              struct dl_diag *d) {
  struct dl_hierarchical_problem own = {0}, *q = s->problem;
  enum dl_status status =
      q ? DL_OK : dl_physics_check_rows(r->physics, s->rows, d);
  (void)hyper;
  if (status != DL_OK)
    return status;
  if (!q) {
    dl_hierarchical_problem_make(&own, r->physics, s->rows);
    q = &own;
  }
  struct dl_hierarchical_fit *new = dl_hierarchical_fit_new(r->physics);
  status = dl_hierarchical_fit_solve(new, q, s->target, d);
  dl_hierarchical_problem_free(&own);
  if (status == DL_OK)
    *state = new;
  else
    dl_hierarchical_fit_free(new);
  return status;
}

void dl_physics_free(void *state) {
  dl_hierarchical_fit_free(state);
}

/* The arrays of a fitted physics in a model file: one description of each, for
 * writing and for reading. */

/* Type of a column. */
enum kind {
  NUMBER, /* double */
  NAME,   /* long: the number of a name, 0: none */
  TARGET, /* size_t */
  FLAG    /* bool */
};

/* A member of a struct: n columns. */
struct member {
  enum kind kind;
  size_t offset, n;
};

enum { MOST_MEMBERS = 5 };

/* An array with a row for each of some structs. */
struct array_layout {
  size_t size; /* of a struct */
  struct member member[MOST_MEMBERS];
};

static const struct array_layout numbers = {sizeof(double), {{NUMBER, 0, 1}}};

#define POINT(MEMBER) offsetof(struct dl_residual_point, MEMBER)
static const struct array_layout places = {
    sizeof(struct dl_residual_point),
    {{NUMBER, POINT(place.x), DL_PLACE_AXES},
     {NUMBER, POINT(place.exact), 1},
     {NAME, POINT(place.gpu), 1},
     {NAME, POINT(place.arch), 1},
     {TARGET, POINT(target), 1}}};
static const struct array_layout weights = {sizeof(struct dl_residual_point),
                                            {{NUMBER, POINT(weight), 1}}};
/* Coordinates of what bounds a point, and the shares of its time in parts whose
 * rates differ by GPU. */
static const struct array_layout bounds = {
    sizeof(struct dl_residual_point),
    {{NUMBER, POINT(place.bound), DL_BOUND_AXES},
     {FLAG, POINT(place.tuned), 1}}};
static const struct array_layout rates = {
    sizeof(struct dl_residual_point),
    {{NUMBER, POINT(place.rate), DL_RATE_AXES}}};

static const struct array_layout values = {
    sizeof(struct dl_residual_point),
    {{NUMBER, POINT(runs), 1}, {NUMBER, POINT(value), 1}}};

/* Arrays to which a fit goes, or from which it comes. */
struct store {
  struct dl_arrays *to; /* NULL: it is read */
  const struct dl_arrays *from;
  struct dl_diag *d;
};

/* Number i of a member. */
static double get(const struct member *m, const void *of, size_t i) {
  const void *at = (const char *)of + m->offset;
  switch (m->kind) {
  case NUMBER:
    return ((const double *)at)[i];
  case NAME:
    return (double)((const long *)at)[i];
  case TARGET:
    return (double)((const size_t *)at)[i];
  default:
    return ((const bool *)at)[i];
  }
}

/* False: x is no such number. */
static bool set(const struct member *m, void *of, size_t i, double x,
                size_t n_names) {
  void *at = (char *)of + m->offset;
  if (m->kind == NUMBER)
    ((double *)at)[i] = x;
  else if (m->kind == FLAG)
    ((bool *)at)[i] = x > 0;
  else if (!(x >= 0 &&
             x <= (m->kind == NAME ? (double)n_names : DL_MAX_TARGETS - 1)))
    return false;
  else if (m->kind == NAME)
    ((long *)at)[i] = (long)x;
  else
    ((size_t *)at)[i] = (size_t)x;
  return true;
}

static size_t width_of(const struct array_layout *t) {
  size_t n = 0;
  for (size_t k = 0; k < MOST_MEMBERS; k++)
    n += t->member[k].n;
  return n;
}

/* The array of n structs; none for none. */
static enum dl_status keep(const struct store *s, const char *name,
                           const struct array_layout *t, void *structs,
                           size_t n) {
  size_t width = width_of(t);
  if (n == 0)
    return DL_OK;
  double *to = s->to ? dl_arrays_add(s->to, name, n, width) : NULL;
  const struct dl_array *a =
      s->to ? NULL : dl_check_array(s->from, name, n, width, s->d);
  if (!to && !a)
    return DL_EINPUT;
  if (t == &numbers) {
    memcpy(to ? to : structs, to ? structs : a->data, n * sizeof(double));
    return DL_OK;
  }
  for (size_t row = 0, at = 0; row < n; row++)
    for (size_t k = 0; k < MOST_MEMBERS && t->member[k].n > 0; k++)
      for (size_t i = 0; i < t->member[k].n; i++, at++) {
        void *of = (char *)structs + row * t->size;
        if (to)
          to[at] = get(&t->member[k], of, i);
        else if (!set(&t->member[k], of, i, a->data[at], s->from->names.n))
          return dl_fail(s->d, DL_EINPUT,
                         "array '%s' has an unknown name or target", name);
      }
  return DL_OK;
}

/* Rows of an array that is read; 0 without it. */
static size_t rows_of(const struct store *s, const char *name) {
  const struct dl_array *a = dl_arrays_find(s->from, name);
  return a ? a->rows : 0;
}

/* A row for each level: the numbers of its names, then its effects. */
static enum dl_status keep_levels(const struct store *s,
                                  const struct dl_grouping_factor *f,
                                  struct dl_levels *by) {
  const struct array_layout levels = {
      sizeof(struct dl_factor_level),
      {{NAME, offsetof(struct dl_factor_level, key.name), 1},
       {NAME, offsetof(struct dl_factor_level, key.within), 1},
       {NUMBER, offsetof(struct dl_factor_level, effect), f->n}}};
  if (!s->to) {
    by->n = rows_of(s, f->name);
    by->level = dl_calloc(by->n, sizeof *by->level);
  }
  return keep(s, f->name, &levels, by->level, by->n);
}

static enum dl_status keep_points(const struct store *s,
                                  struct dl_residual_gp *gp, const char *name,
                                  const char *weight) {
  if (!s->to) {
    gp->n = rows_of(s, name);
    gp->point = dl_calloc(gp->n, sizeof *gp->point);
  }
  DL_TRY(keep(s, name, &places, gp->point, gp->n));
  return keep(s, weight, &weights, gp->point, gp->n);
}

/* Values that calibrations add to points; models of before lack a part of them.
 * `there`: it is written. */
static enum dl_status keep_more(const struct store *s,
                                struct dl_residual_gp *gp, const char *name,
                                const struct array_layout *t, bool there) {
  return (s->to ? there : rows_of(s, name) > 0)
             ? keep(s, name, t, gp->point, gp->n)
             : DL_OK;
}

/* Models without it predict, but cannot be calibrated. */
static enum dl_status keep_posterior(const struct store *s,
                                     struct dl_hierarchical_fit *fit) {
  struct dl_posterior *posterior = &fit->posterior;
  if (!s->to && rows_of(s, "factor") > 0) {
    posterior->p = dl_first_parameter(fit->physics, fit->by,
                                      dl_posterior_factors(fit->physics));
    posterior->factor =
        dl_calloc(dl_posterior_size(posterior->p), sizeof *posterior->factor);
  }
  return posterior->factor ? keep(s, "factor", &numbers, posterior->factor,
                                  dl_posterior_size(posterior->p))
                           : DL_OK;
}

static enum dl_status keep_fit(const struct store *s,
                               struct dl_hierarchical_fit *fit) {
  const struct dl_physics *physics = fit->physics;
  struct dl_residual_gp *own = &fit->residuals,
                        *runs = &fit->calibration_residuals;
  DL_TRY(keep(s, "constants", &numbers, fit->theta, physics->n_constants));
  DL_TRY(keep(s, "errors", &numbers, fit->error, physics->n_constants));
  for (size_t k = 0; k < physics->n_factors; k++)
    DL_TRY(keep_levels(s, &physics->factor[k], &fit->by[k]));
  DL_TRY(keep_points(s, own, "near", "residuals"));
  DL_TRY(keep_posterior(s, fit));
  DL_TRY(keep_points(s, runs, "measured", "measured_residuals"));
  DL_TRY(keep_more(s, runs, "measured_work", &bounds, runs->bounded));
  DL_TRY(keep_more(s, runs, "measured_rates", &rates, runs->bounded));
  return keep_more(s, runs, "measured_values", &values, true);
}

void dl_physics_save(const void *state, struct dl_arrays *to) {
  struct dl_hierarchical_fit fit = *(const struct dl_hierarchical_fit *)state;
  const struct store s = {.to = to};
  for (size_t i = 0; i < fit.names.n; i++)
    dl_strlist_add(&to->names, fit.names.s[i]);
  keep_fit(&s, &fit);
}

enum dl_status dl_physics_restore(const struct dl_regression *r, void **state,
                                  const struct dl_arrays *from, size_t p,
                                  struct dl_diag *d) {
  const struct store s = {.from = from, .d = d};
  (void)p;
  /* The weights of these hold for other spreads between runs. */
  if (dl_arrays_find(from, "runs") || dl_arrays_find(from, "measured_bounds"))
    return dl_fail(d, DL_EINPUT,
                   "calibrated by an earlier version; "
                   "calibrate the fit again");
  struct dl_hierarchical_fit *fit = dl_hierarchical_fit_new(r->physics);
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < from->names.n && status == DL_OK; i++)
    if (dl_intern(&fit->names, from->names.s[i]) != (long)i)
      status =
          dl_fail(d, DL_EINPUT, "name '%s' is there twice", from->names.s[i]);
  if (status == DL_OK)
    status = keep_fit(&s, fit);
  if (status != DL_OK) {
    dl_hierarchical_fit_free(fit);
    return status;
  }
  dl_constants_of(r->physics, fit->theta, fit->c);
  dl_residual_gp_sort(&fit->residuals);
  dl_residual_gp_sort(&fit->calibration_residuals);
  *state = fit;
  return DL_OK;
}
