/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predictor.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/interval.h"
#include "model/predictor_private.h"

/* The power of a variable beyond its range that is left open, at 90 %. */
#define EXTRAPOLATED_POWER 0.1

/* As many features of a row need no memory from the heap. */
enum { FEW_FEATURES = 32 };

static void free_bound(struct bound *b) {
  dl_formula_free(b->formula);
  free(b->vars);
}

void dl_predictor_free(struct dl_predictor *p) {
  if (!p)
    return;
  for (size_t i = 0; i < p->n_features; i++)
    free_bound(&p->feature[i]);
  free(p->feature);
  free_bound(&p->offset);
  free(p->range_slot);
  free(p);
}

/* Residual bounds for what is new about a row; of an architecture and a GPU
 * that are both new the squares add up. */
static struct bounds find_bounds(const struct dl_fit *fit, bool arch, bool gpu,
                                 double coverage) {
  const struct dl_residuals *left = fit->left_out;
  double l[2] = {0, 0}, h[2] = {0, 0};
  struct bounds b = {.novelty = DL_LEFT_CONFIG};
  if (arch &&
      dl_residual_interval(&left[DL_LEFT_ARCH], coverage, &l[0], &h[0])) {
    b.novelty = DL_LEFT_ARCH;
    b.known = true;
  }
  if (gpu && dl_residual_interval(&left[DL_LEFT_GPU], coverage, &l[1], &h[1])) {
    b.novelty = DL_LEFT_GPU;
    b.known = true;
  }
  if (!b.known)
    b.known =
        dl_residual_interval(&left[DL_LEFT_CONFIG], coverage, &l[0], &h[0]);
  if (!b.known) {
    b.novelty = DL_LEFT_ROWS;
    b.known = dl_residual_interval(&left[DL_LEFT_ROWS], coverage, &l[0], &h[0]);
  }
  b.low = -hypot(fmin(l[0], 0), fmin(l[1], 0));
  b.high = hypot(fmax(h[0], 0), fmax(h[1], 0));
  return b;
}

/* What the coverage settles for all rows. */
static void prepare_intervals(struct dl_predictor *p, double coverage) {
  p->spread = EXTRAPOLATED_POWER * gsl_cdf_ugaussian_Pinv((1 + coverage) / 2) /
              gsl_cdf_ugaussian_Pinv(0.95);
  for (int arch = 0; arch < 2; arch++)
    for (int gpu = 0; gpu < 2; gpu++)
      p->bounds[arch][gpu] = find_bounds(p->fit, arch, gpu, coverage);
}

static enum dl_status bind_formula(struct bound *b, const char *text,
                                   struct dl_frame *f, struct dl_diag *d) {
  enum dl_status status = dl_formula_parse(&b->formula, text, d);
  if (status == DL_OK)
    status = dl_frame_bind(f, b->formula, false, &b->vars, d);
  return status;
}

enum dl_status dl_predictor_new(struct dl_predictor **out,
                                const struct dl_fit *fit, struct dl_frame *f,
                                double coverage, struct dl_diag *d) {
  *out = NULL;
  struct dl_predictor *p = dl_calloc(1, sizeof *p);
  if (!p)
    return dl_fail_memory(d);
  p->fit = fit;
  p->frame = f;
  prepare_intervals(p, coverage);
  p->feature = dl_calloc(fit->features.n, sizeof *p->feature);
  p->range_slot = dl_calloc(fit->n_ranges, sizeof *p->range_slot);
  enum dl_status status = DL_OK;
  if (!p->feature || !p->range_slot)
    status = dl_fail_memory(d);
  for (size_t i = 0; i < fit->features.n && status == DL_OK; i++) {
    status = bind_formula(&p->feature[i], fit->features.s[i], f, d);
    p->n_features++;
  }
  if (status == DL_OK && fit->offset)
    status = bind_formula(&p->offset, fit->offset, f, d);
  for (size_t i = 0; i < fit->n_ranges && status == DL_OK; i++)
    status = dl_frame_slot(f, fit->range[i].name, false, &p->range_slot[i], d);
  if (status == DL_OK)
    dl_frame_want_descriptors(f);
  if (status != DL_OK) {
    dl_predictor_free(p);
    return status;
  }
  *out = p;
  return DL_OK;
}

const char *dl_bound_lacks(const struct bound *b, const struct dl_cell *cells) {
  for (size_t i = 0; b->formula && i < dl_formula_n_vars(b->formula); i++) {
    const struct dl_cell *c = &cells[b->vars[i]];
    if (!dl_formula_var_is_needed(b->formula, i))
      continue;
    if (dl_formula_var_is_text(b->formula, i) ? !c->s : isnan(c->x))
      return dl_formula_var(b->formula, i);
  }
  return NULL;
}

const char *dl_predictor_lacks(const struct dl_predictor *p,
                               const struct dl_cell *cells) {
  const char *name = dl_bound_lacks(&p->offset, cells);
  for (size_t i = 0; i < p->n_features && !name; i++)
    name = dl_bound_lacks(&p->feature[i], cells);
  return name;
}

/* How far x lies outside [low, high]: |log(x / nearest end)|, or relative to
 * the width of the range where there are no logarithms. 0 inside. */
static double distance(const struct dl_range *r, double x) {
  if (isnan(x) || (x >= r->low && x <= r->high))
    return 0;
  if (r->low > 0 && x > 0)
    return x > r->high ? log(x / r->high) : log(r->low / x);
  double width = r->high > r->low ? r->high - r->low : 1;
  return (x > r->high ? x - r->high : r->low - x) / width;
}

/* What extrapolation adds to the half-width of a relative interval: the
 * effect of each variable beyond its range is taken as known but for a power
 * of +-0.1 (at 90 %), independent of the others'. */
static double extrapolation(const struct dl_predictor *p,
                            const struct dl_cell *cells, unsigned *outside) {
  double squares = 0;
  *outside = 0;
  for (size_t i = 0; i < p->fit->n_ranges; i++) {
    double far = distance(&p->fit->range[i], cells[p->range_slot[i]].x);
    if (far > 0 && i < 32)
      *outside |= 1u << i;
    squares += far * far;
  }
  return p->spread * sqrt(squares);
}

/* e is a descriptor or NULL. */
static bool is_new(const struct dl_strlist *seen, const void *e) {
  const struct dl_descriptor *head = e;
  return seen->n > 0 && (!e || dl_strlist_find(seen, head->id) < 0);
}

static const struct bounds *bounds_of(const struct dl_predictor *p,
                                      const struct dl_row_descriptors *row) {
  bool new_arch = is_new(&p->fit->archs, row->arch);
  bool new_gpu = is_new(&p->fit->gpus, row->gpu);
  return &p->bounds[new_arch][new_gpu];
}

bool dl_predictor_bounds(const struct dl_predictor *p,
                         const struct dl_row_descriptors *row, double *low,
                         double *high, enum dl_left_out *novelty) {
  const struct bounds *b = bounds_of(p, row);
  *low = b->low;
  *high = b->high;
  *novelty = b->novelty;
  return b->known && p->fit->log_target;
}

static void add_interval(const struct dl_predictor *p,
                         const struct dl_cell *cells,
                         const struct dl_row_descriptors *row,
                         struct dl_prediction *out) {
  const struct bounds *b = bounds_of(p, row);
  out->novelty = b->novelty;
  out->extrapolation = extrapolation(p, cells, &out->outside);
  if (!b->known)
    return;
  if (p->fit->log_target) {
    out->low = out->value * exp(-hypot(b->low, out->extrapolation));
    out->high = out->value * exp(hypot(b->high, out->extrapolation));
  } else {
    double more = out->extrapolation * fabs(out->value);
    out->low = out->value - hypot(b->low, more);
    out->high = out->value + hypot(b->high, more);
  }
}

static double linked(bool log_target, double x) {
  return log_target ? log(x) : x;
}

/* The features of a row; false where one is not finite: NaN then. */
static bool fill_features(const struct dl_predictor *p,
                          const struct dl_cell *cells, double *x) {
  bool all = true;
  for (size_t i = 0; i < p->n_features; i++) {
    const struct bound *b = &p->feature[i];
    double v = dl_formula_eval(b->formula, cells, b->vars);
    all &= isfinite(v) != 0;
    x[i] = isfinite(v) ? v : (double)NAN;
  }
  return all;
}

static enum dl_status predict_at(const struct dl_predictor *p,
                                 const struct dl_cell *cells,
                                 const struct dl_row_descriptors *row,
                                 double *features, struct dl_prediction *out,
                                 struct dl_diag *d) {
  const struct dl_fit *fit = p->fit;
  double t;
  gsl_vector_view y = gsl_vector_view_array(&t, 1);
  gsl_matrix_view x = gsl_matrix_view_array(features, 1, p->n_features);
  if (fit->scaled)
    dl_scale_apply(&fit->scale, &x.matrix);
  enum dl_status status =
      fit->method->predict(fit->state, &x.matrix, &y.vector, d);
  if (status != DL_OK)
    return status;
  if (p->offset.formula)
    t += linked(fit->log_target,
                dl_formula_eval(p->offset.formula, cells, p->offset.vars));
  out->value = fit->log_target ? exp(t) : t;
  if (!isfinite(out->value))
    out->value = NAN;
  add_interval(p, cells, row, out);
  return DL_OK;
}

enum dl_status dl_predict_with(const struct dl_predictor *p,
                               const double *features,
                               const struct dl_cell *cells,
                               const struct dl_row_descriptors *row,
                               struct dl_prediction *out, struct dl_diag *d) {
  double few[FEW_FEATURES], *many = NULL;
  *out = (struct dl_prediction){.value = NAN, .low = NAN, .high = NAN};
  if (p->n_features > FEW_FEATURES &&
      !(many = dl_calloc(p->n_features, sizeof *many)))
    return dl_fail_memory(d);
  double *x = many ? many : few;
  enum dl_status status = DL_OK;
  if (features)
    memcpy(x, features, p->n_features * sizeof *x);
  if (features || fill_features(p, cells, x))
    status = predict_at(p, cells, row, x, out, d);
  free(many);
  return status;
}

enum dl_status dl_predict(const struct dl_predictor *p,
                          const struct dl_cell *cells,
                          const struct dl_row_descriptors *row,
                          struct dl_prediction *out, struct dl_diag *d) {
  return dl_predict_with(p, NULL, cells, row, out, d);
}

bool dl_predictor_features(const struct dl_predictor *p,
                           const struct dl_cell *cells, double *x) {
  return fill_features(p, cells, x);
}
