/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of a fit for the rows of a plan. */

#include "model/predictor.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/residual_interval.h"
#include "model/value_bounds.h"
#include "physics/conditioning/joint_prediction.h"
#include "physics/rows/physics_regression.h"
#include "physics/rows/physics_rows.h"

/* The power of a variable beyond its range that is left open, at 90 %. */
#define EXTRAPOLATED_POWER 0.1

/* Standard deviation of the logarithm by which a laboratory's times differ from
 * others' with that software. Speeds of NVIDIA and of MLPerf are off by as much
 * more where their source is left out of the fit than where a pair of network
 * and GPU is: .14 and .17 (docs/lab/designs.md). */
#define SOURCE_SD 0.15

/* Rows with up to this many features use the stack. */
enum { FEW_FEATURES = 40 };

/* Residual bounds for a kind of row. by_run: in multiples of a run's spread
 * (dl_run_spreads); typical_low, typical_high: at the usual spread. */
struct dl_row_bounds {
  bool known, by_run;
  bool new_arch, new_gpu;
  double low, high;
  double typical_low, typical_high;
  enum dl_held_out_group novelty;
};

struct dl_predictor {
  const struct dl_fit *fit;
  const struct dl_row_plan *plan;
  struct dl_physics_binding *bound; /* of a physics, owned; NULL without */
  long target;                      /* of the physics; -1: none of its */
  struct dl_row_ref *feature;       /* one per feature, owned */
  struct dl_row_ref offset;         /* where the fit has one */
  struct dl_row_ref *ranged;        /* one per range, owned */
  struct dl_value_bounds *values;   /* the same */
  double coverage;
  double spread; /* of a variable's power, see extrapolation */
  double source; /* half-width by a source that the fit has not seen */
  struct dl_row_bounds bounds[2][2];   /* [architecture is new][GPU is new] */
  struct dl_row_bounds (*times)[2][2]; /* of each of the fit's `times`, owned */
};

void dl_predictor_free(struct dl_predictor *p) {
  if (!p)
    return;
  free(p->bound);
  free(p->feature);
  free(p->ranged);
  for (size_t i = 0; i < p->fit->n_ranges; i++)
    free(p->values[i].value);
  free(p->values);
  free(p->times);
  free(p);
}

/* The bounds of what was held out; not known without. */
static struct dl_row_bounds bounds_alone(const struct dl_residuals *left,
                                         enum dl_held_out_group novelty,
                                         double coverage) {
  const struct dl_residuals *r = &left[novelty];
  struct dl_row_bounds b = {.novelty = novelty};
  b.known = dl_residual_interval(r, coverage, &b.low, &b.high);
  if (!b.known)
    return b;
  const double spread = dl_residuals_spread(r);
  b.by_run = dl_residuals_by_run(r);
  b.low = fmin(b.low, 0);
  b.high = fmax(b.high, 0);
  b.typical_low = b.low * spread;
  b.typical_high = b.high * spread;
  return b;
}

/* The squares of two that are new add up. The spread of a run has both of them
 * already. */
static void add_bounds(struct dl_row_bounds *b,
                       const struct dl_row_bounds *one) {
  if (!one->known)
    return;
  b->by_run = one->by_run;
  b->low = b->by_run ? fmin(b->low, one->low) : -hypot(b->low, one->low);
  b->high = b->by_run ? fmax(b->high, one->high) : hypot(b->high, one->high);
  b->typical_low = -hypot(b->typical_low, one->typical_low);
  b->typical_high = hypot(b->typical_high, one->typical_high);
  b->novelty = one->novelty;
  b->known = true;
}

/* Residual bounds for what is new about a row: [architecture][GPU]. */
static void find_bounds(struct dl_row_bounds to[2][2],
                        const struct dl_residuals *left, double coverage) {
  static const enum dl_held_out_group known[] = {
      DL_HELD_OUT_CONFIG, DL_HELD_OUT_PAIR, DL_HELD_OUT_ROWS};
  const struct dl_row_bounds new_arch =
                                 bounds_alone(left, DL_HELD_OUT_ARCH, coverage),
                             new_gpu =
                                 bounds_alone(left, DL_HELD_OUT_GPU, coverage);
  struct dl_row_bounds nothing_new = {0};
  for (size_t i = 0; i < DL_LENGTH(known) && !nothing_new.known; i++)
    nothing_new = bounds_alone(left, known[i], coverage);
  for (int arch = 0; arch < 2; arch++)
    for (int gpu = 0; gpu < 2; gpu++) {
      struct dl_row_bounds *b = &to[arch][gpu];
      *b = (struct dl_row_bounds){
          .novelty = DL_HELD_OUT_ROWS, .new_arch = arch, .new_gpu = gpu};
      if (arch)
        add_bounds(b, &new_arch);
      if (gpu)
        add_bounds(b, &new_gpu);
      if (!b->known)
        add_bounds(b, &nothing_new);
    }
}

/* Sets the bounds that depend on the coverage alone. */
static void prepare_intervals(struct dl_predictor *p, double coverage) {
  double quantile = gsl_cdf_ugaussian_Pinv((1 + coverage) / 2);
  p->spread = EXTRAPOLATED_POWER * quantile / gsl_cdf_ugaussian_Pinv(0.95);
  p->source = SOURCE_SD * quantile;
  find_bounds(p->bounds, p->fit->held_out_residuals, coverage);
  for (size_t i = 0; i < p->fit->n_ranges; i++)
    dl_value_bounds_find(&p->values[i], &p->fit->range[i], coverage);
  for (size_t k = 0; k < p->fit->n_times; k++)
    find_bounds(p->times[k], p->fit->times[k].held_out, coverage);
}

enum dl_status dl_predictor_new(struct dl_predictor **out,
                                const struct dl_fit *fit, struct dl_row_plan *f,
                                double coverage, bool rarely,
                                struct dl_diag *d) {
  *out = NULL;
  struct dl_predictor *p = dl_calloc(1, sizeof *p);
  p->fit = fit;
  p->plan = f;
  p->coverage = coverage;
  p->times = dl_calloc(fit->n_times, sizeof *p->times);
  p->values = dl_calloc(fit->n_ranges, sizeof *p->values);
  prepare_intervals(p, coverage);
  p->feature = dl_calloc(fit->features.n, sizeof *p->feature);
  p->ranged = dl_calloc(fit->n_ranges, sizeof *p->ranged);
  const struct dl_physics *physics = fit->method->physics;
  enum dl_status status = DL_OK;
  if (physics) {
    p->bound = dl_calloc(1, sizeof *p->bound);
    p->target = dl_physics_target(physics, fit->target);
    status = dl_physics_bind(p->bound, physics, f, false, d);
  }
  for (size_t i = 0; i < fit->features.n && status == DL_OK; i++)
    status = dl_plan_formula(f, fit->features.s[i], rarely, &p->feature[i], d);
  if (status == DL_OK && fit->offset)
    status = dl_plan_formula(f, fit->offset, rarely, &p->offset, d);
  for (size_t i = 0; i < fit->n_ranges && status == DL_OK; i++)
    status = dl_plan_quantity(f, fit->range[i].name, false, &p->ranged[i], d);
  if (status == DL_OK)
    status = dl_plan_want_descriptors(f, d);
  if (status != DL_OK) {
    dl_predictor_free(p);
    return status;
  }
  *out = p;
  return DL_OK;
}

/* e is a descriptor or NULL. */
static bool is_new(const struct dl_strlist *seen, const void *e) {
  const struct dl_descriptor *head = e;
  return seen->n > 0 && (!e || dl_strlist_find(seen, head->id) < 0);
}

static const struct dl_row_bounds *bounds_of(const struct dl_predictor *p,
                                             const struct dl_row *row) {
  bool new_arch = is_new(&p->fit->archs, row->found.arch);
  bool new_gpu = is_new(&p->fit->gpus, row->found.gpu);
  return &p->bounds[new_arch][new_gpu];
}

void dl_predictor_take(const struct dl_predictor *p, const struct dl_row *row,
                       struct dl_predictor_row *out) {
  out->p = p;
  out->row = row;
  out->bounds = bounds_of(p, row);
  out->spread_known = false;
  if (!p->bound)
    return;
  out->lacks = dl_physics_read(p->bound, row, &out->inputs);
  if (!out->lacks)
    dl_fit_row_make(&out->of_fit, p->fit->state, &out->inputs);
}

const char *dl_predictor_lacks(const struct dl_predictor *p,
                               const struct dl_row *row) {
  struct dl_inputs inputs;
  if (p->bound)
    return dl_physics_read(p->bound, row, &inputs);
  const char *name =
      p->fit->offset ? dl_plan_lacks(p->plan, &p->offset, row) : NULL;
  for (size_t i = 0; i < p->fit->features.n && !name; i++)
    name = dl_plan_lacks(p->plan, &p->feature[i], row);
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

/* Extrapolation adds to the half-width of a relative interval: the effect of
 * each variable beyond its range is taken as known but for a power of +-0.1 (at
 * 90 %), independent of the others'. */
static double extrapolation(const struct dl_predictor *p,
                            const struct dl_row *row, unsigned *outside) {
  double squares = 0;
  *outside = 0;
  for (size_t i = 0; i < p->fit->n_ranges; i++) {
    double far = distance(&p->fit->range[i], dl_row_number(row, &p->ranged[i]));
    if (far > 0 && i < 32)
      *outside |= 1u << i;
    squares += far * far;
  }
  return p->spread * sqrt(squares);
}

/* Bounds of a row, for the fit's target or the time. A GPU or network that only
 * calibration runs contain still counts as new for the spread: a few runs left
 * GPUs outside of intervals that narrowed with the posterior
 * (docs/lab/calibration.md). If the inputs of a fit are not complete, as for a
 * forward pass, the usual spread holds. */
static void row_bounds(struct dl_predictor_row *at,
                       const struct dl_row_bounds *b, size_t target,
                       double *low, double *high) {
  *low = b->low;
  *high = b->high;
  if (!b->by_run)
    return;
  if (at->lacks) {
    *low = b->typical_low;
    *high = b->typical_high;
    return;
  }
  if (!at->spread_known || at->spread_of_new_arch != b->new_arch ||
      at->spread_of_new_gpu != b->new_gpu)
    dl_run_spreads(&at->of_fit, b->new_arch, b->new_gpu, at->spread);
  at->spread_known = true;
  at->spread_of_new_arch = b->new_arch;
  at->spread_of_new_gpu = b->new_gpu;
  *low *= at->spread[target];
  *high *= at->spread[target];
}

/* How many runs of a calibration measured the row's own configuration; half of
 * the width that their repeats have into *half then. */
static size_t repeats_of(struct dl_predictor_row *at, size_t target,
                         double *half) {
  const struct dl_predictor *p = at->p;
  const struct dl_physics *physics = p->bound ? p->bound->physics : NULL;
  double n = physics && !at->lacks && p->fit->log_target
                 ? dl_fit_row_repeats(&at->of_fit, target)
                 : 0;
  if (n > 0)
    *half = dl_residual_repeats(physics->calibration, n, p->coverage);
  return (size_t)ceil(n);
}

bool dl_predictor_bounds(const struct dl_predictor *p,
                         struct dl_predictor_row *at,
                         struct dl_log_bounds *out) {
  const struct dl_row_bounds *b = bounds_of(p, at->row);
  row_bounds(at, b, (size_t)p->target, &out->low, &out->high);
  out->novelty = b->novelty;
  out->repeats = repeats_of(at, (size_t)p->target, &out->high);
  if (out->repeats > 0)
    out->low = -out->high;
  return b->known && p->fit->log_target;
}

/* Whether no held-out group has the name of e, a descriptor or NULL. */
static bool is_no_group(const struct dl_residuals *r, const void *e) {
  const struct dl_descriptor *head = e;
  for (size_t i = 0; head && i < r->n; i++)
    if (strcmp(r->g[i].name, head->id) == 0)
      return false;
  return true;
}

bool dl_predictor_times(struct dl_predictor_row *at, const char *software,
                        struct dl_log_bounds *out) {
  const struct dl_predictor *p = at->p;
  const struct dl_time_residuals *t = dl_fit_times(p->fit, software);
  if (!t)
    return false;
  const struct dl_residuals *left = t->held_out;
  bool own = left[DL_HELD_OUT_CONFIG].n > 0;
  const struct dl_row_descriptors *found = &at->row->found;
  bool arch = own ? at->bounds->new_arch
                  : is_no_group(&left[DL_HELD_OUT_ARCH], found->arch);
  bool gpu = own ? at->bounds->new_gpu
                 : is_no_group(&left[DL_HELD_OUT_GPU], found->gpu);
  /* No configurations of auxiliary rows are held out: pairs of network and GPU,
   * or else a GPU, say enough. */
  bool less = !p->times[t - p->fit->times][0][0].known;
  const struct dl_row_bounds *b =
      &p->times[t - p->fit->times][arch][gpu || less];
  *out = (struct dl_log_bounds){.novelty = b->novelty,
                                .groups = left[b->novelty].n,
                                .all_seen = less && !arch && !gpu,
                                .apart = !own};
  if (p->bound)
    row_bounds(at, b, p->bound->physics->time, &out->low, &out->high);
  if (!own && !dl_fit_row_is_calibrated(&at->of_fit, p->bound->physics->time)) {
    out->low = -hypot(out->low, p->source);
    out->high = hypot(out->high, p->source);
  }
  if (p->bound)
    out->repeats = repeats_of(at, p->bound->physics->time, &out->high);
  if (out->repeats > 0)
    out->low = -out->high;
  return b->known && p->fit->log_target;
}

/* Bounds of a row with a value that no run of the fit had, for the setting that
 * matters most: by the residuals of values that were held out alone, which have
 * all that a run with another value differs by. Bounds of a new network or GPU
 * have the residuals within a value already, and not its shift. */
static void bound_by_values(const struct dl_predictor_row *at,
                            const struct dl_row_bounds *b, double *low,
                            double *high, struct dl_prediction *out) {
  const struct dl_predictor *p = at->p;
  double shift = 0, all = 0;
  for (size_t i = 0; i < p->fit->n_ranges; i++) {
    const struct dl_value_bounds *v = &p->values[i];
    const struct dl_range *range = &p->fit->range[i];
    if (v->n == 0)
      continue;
    double x = dl_row_number(at->row, &p->ranged[i]);
    bool inner = x > range->low && x < range->high;
    if (!dl_value_is_new(v, x) || v->shift[inner] <= shift)
      continue;
    shift = v->shift[inner];
    all = v->all[inner];
    out->novelty = DL_HELD_OUT_SETTING;
    out->groups = v->n;
  }
  if (b->new_arch || b->new_gpu) {
    *low = -hypot(*low, shift);
    *high = hypot(*high, shift);
  } else if (all > 0) {
    *low = -all;
    *high = all;
  }
}

/* `share`: of the half-widths. */
static void add_interval(struct dl_predictor_row *at,
                         const struct dl_row_bounds *b, double share,
                         struct dl_prediction *out) {
  const struct dl_predictor *p = at->p;
  const struct dl_residuals *left = &p->fit->held_out_residuals[b->novelty];
  const struct dl_row_descriptors *found = &at->row->found;
  out->novelty = b->novelty;
  out->groups = left->n;
  out->all_seen =
      (b->novelty == DL_HELD_OUT_ARCH && !is_no_group(left, found->arch)) ||
      (b->novelty == DL_HELD_OUT_GPU && !is_no_group(left, found->gpu));
  out->extrapolation = extrapolation(p, at->row, &out->outside);
  if (!b->known)
    return;
  double low, high;
  row_bounds(at, b, (size_t)p->target, &low, &high);
  low *= share;
  high *= share;
  if (!p->bound)
    bound_by_values(at, b, &low, &high, out);
  if (p->fit->log_target) {
    out->low = out->value * exp(-hypot(low, out->extrapolation));
    out->high = out->value * exp(hypot(high, out->extrapolation));
  } else {
    double more = out->extrapolation * fabs(out->value);
    out->low = out->value - hypot(low, more);
    out->high = out->value + hypot(high, more);
  }
}

/* The features of a row as the method takes them into x (one per feature of
 * the fit); false where one is not finite, which is NaN then. */
static bool take_features(const struct dl_predictor *p,
                          const struct dl_row *row, double *x) {
  bool all = true;
  for (size_t i = 0; i < p->fit->features.n; i++) {
    double v = dl_plan_value(p->plan, &p->feature[i], row);
    all &= isfinite(v) != 0;
    x[i] = isfinite(v) ? v : (double)NAN;
  }
  return all;
}

/* The prediction by finite features, which are scaled in place. */
static enum dl_status predict_at(struct dl_predictor_row *at, double *features,
                                 struct dl_prediction *out, struct dl_diag *d) {
  const struct dl_predictor *p = at->p;
  const struct dl_fit *fit = p->fit;
  double t,
      offset = fit->offset ? dl_plan_value(p->plan, &p->offset, at->row) : 0;
  if (isnan(offset))
    return DL_OK;
  gsl_vector_view y = gsl_vector_view_array(&t, 1);
  gsl_matrix_view x = gsl_matrix_view_array(features, 1, fit->features.n);
  if (fit->scaled)
    dl_scale_apply(&fit->scale, &x.matrix);
  DL_TRY(fit->method->predict(fit->state, &x.matrix, &y.vector, d));
  if (fit->offset)
    t += fit->log_target ? log(offset) : offset;
  out->value = fit->log_target ? exp(t) : t;
  if (!isfinite(out->value))
    out->value = NAN;
  add_interval(at, at->bounds, 1, out);
  return DL_OK;
}

/* Share left of the half-width of an interval of energy, on a GPU that few runs
 * were measured on, for work like theirs; found on seven held-out GPUs, where
 * 98 % were inside (docs/lab/designs.md). Other work, powers (a settled target)
 * and tuned software keep theirs. */
#define LEFT_BY_A_RUN 0.7

static double left_by_runs(const struct dl_predictor *p,
                           const struct dl_row_bounds *b,
                           const struct dl_fit_row *row) {
  size_t target = (size_t)p->target;
  bool may = b->new_gpu && !b->new_arch && !row->inputs->name[DL_NAME_TUNED] &&
             !(p->bound->physics->settled >> target & 1);
  return may && dl_fit_row_is_calibrated(row, target) ? LEFT_BY_A_RUN : 1;
}

static void predict_by_physics(struct dl_predictor_row *at,
                               struct dl_prediction *out) {
  const struct dl_predictor *p = at->p;
  struct dl_fit_row *row = &at->of_fit;
  if (p->target < 0 || at->lacks)
    return;
  out->value = exp(dl_fit_row_value(row, (size_t)p->target));
  if (!isfinite(out->value))
    out->value = NAN;
  const struct dl_row_bounds *b = at->bounds;
  const struct dl_row_bounds *new_gpu = &p->bounds[0][1];
  bool near = b != &p->bounds[0][0] || !new_gpu->known ||
              dl_fit_row_has_neighbours(row, (size_t)p->target);
  double half, share = left_by_runs(p, b, row);
  add_interval(at, near ? b : new_gpu, share, out);
  out->own_runs = dl_fit_row_nearest_run(row, (size_t)p->target) > 0;
  out->repeats = repeats_of(at, (size_t)p->target, &half);
  if (out->repeats == 0)
    return;
  out->low = out->value * exp(-half);
  out->high = out->value * exp(half);
  out->extrapolation = 0;
  out->outside = 0;
}

enum dl_status dl_predict(struct dl_predictor_row *at,
                          struct dl_prediction *out, struct dl_diag *d) {
  const struct dl_predictor *p = at->p;
  double few[FEW_FEATURES], *many = NULL;
  size_t n = p->fit->features.n;
  *out = (struct dl_prediction){.value = NAN, .low = NAN, .high = NAN};
  if (p->bound) {
    predict_by_physics(at, out);
    return DL_OK;
  }
  if (n > FEW_FEATURES)
    many = dl_calloc(n, sizeof *many);
  double *x = many ? many : few;
  enum dl_status status = DL_OK;
  if (take_features(p, at->row, x))
    status = predict_at(at, x, out, d);
  free(many);
  return status;
}
