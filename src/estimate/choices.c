/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names/arch_name.h"
#include "estimate/methods/work.h"
#include "estimate/node/peak_memory.h"
#include "physics/cpu/cpu_inputs.h"

const char *dl_excluded_name(enum dl_excluded why) {
  static const char *const names[DL_N_EXCLUDED] = {
      [DL_CHOICE_SILENT] = "no estimate",    [DL_CHOICE_MEMORY] = "memory",
      [DL_CHOICE_DEADLINE] = "deadline",     [DL_CHOICE_BUDGET] = "budget",
      [DL_CHOICE_OUTSIDE] = "training data", [DL_CHOICE_UNTIMED] = "time",
      [DL_CHOICE_UNPRICED] = "price"};
  return names[why];
}

const char *dl_objective_name(enum dl_objective o) {
  static const char *const names[DL_N_OBJECTIVES] = {"energy", "time", "co2e",
                                                     "cost"};
  return names[o];
}

double dl_choice_value(const struct dl_choices *l,
                       const struct dl_alternative *c, enum dl_objective by) {
  const double value[DL_N_OBJECTIVES] = {
      c->energy_j.x, l->at_rate ? c->response_s : c->duration_s, c->co2e_g.x,
      c->cost.x};
  return value[by];
}

void dl_choices_free(struct dl_choices *l) {
  for (size_t i = 0; i < l->n; i++)
    free(l->c[i].beyond);
  free(l->c);
  free(l->broken);
  *l = (struct dl_choices){0};
}

/* Rows of a sweep, which go behind the choices that are there. */
struct choice_rows {
  struct dl_choices *l;
  size_t first;
  const struct dl_choice_node *node; /* or NULL */
};

/* Sets the energy of the node in place of its accelerators. */
static void put_node(struct dl_alternative *c, const struct dl_choice_node *n,
                     const struct dl_estimate *est) {
  const struct dl_node_load load = dl_node_load_of(est);
  struct dl_node_energy e = {0};
  dl_node_compose(&n->node, &load, &e);
  c->node = n->id;
  c->region = n->region;
  c->billed = n->node.gpus;
  c->energy_j = e.bound[n->boundary];
  c->paid_j = e.bound[n->paid];
  c->boundary = dl_boundary_name(n->boundary);
}

static void put_beyond(struct dl_alternative *c,
                       const struct dl_estimate *est) {
  if (est->n_outside == 0)
    return;
  c->n_beyond = est->n_outside;
  c->beyond = dl_malloc(c->n_beyond * sizeof *c->beyond);
  memcpy(c->beyond, est->outside, c->n_beyond * sizeof *c->beyond);
}

/* The time per output token of requests, or of a batch without output. */
static double response_of(const struct dl_run *run, const struct dl_served *s) {
  if (s->tokens && run->output_tokens > 0)
    return s->decode_s / s->requests * s->batch / run->output_tokens;
  return dl_run_is_inference(run) ? s->latency_s : (double)NAN;
}

/* The part that all choices share. */
static void set_common(struct dl_choices *l, const struct dl_result *row) {
  const struct dl_job *job = &row->job;
  bool inference = dl_run_is_inference(job->run);
  free(l->broken);
  l->broken = row->broken ? dl_strdup(row->broken) : NULL;
  l->epochs = job->epochs;
  l->train_samples = dl_or(job->run->train_samples, job->train_samples);
  l->val_samples = dl_or(job->run->val_samples, job->val_samples);
  l->at_rate = inference && job->run->request_rate > 0;
  l->requests = inference ? job->run->requests : NAN;
  l->prompt_tokens = inference ? job->run->prompt_tokens : NAN;
  l->output_tokens = inference ? job->run->output_tokens : NAN;
}

/* Each row has its place, whichever thread it comes from. */
static enum dl_status take_row(void *ctx, size_t part,
                               const struct dl_result *row, struct dl_diag *d) {
  const struct choice_rows *t = ctx;
  struct dl_choices *l = t->l;
  const struct dl_job *job = &row->job;
  const struct dl_row_descriptors *found = &job->found;
  const struct dl_estimate *est = &row->est[0];
  struct dl_alternative *c = &l->c[t->first + row->combination];
  struct dl_memory_need memory;
  (void)part;
  (void)d;
  dl_memory_of(job, &memory);
  if (row->combination == 0)
    set_common(l, row);
  *c = (struct dl_alternative){
      .arch = found->arch ? found->arch->head.id : NULL,
      .title = found->arch ? dl_arch_title(&found->arch->head, job->run->arch)
                           : NULL,
      .gpu = found->gpu ? found->gpu->head.id : NULL,
      .n_gpus = job->run->n_gpus,
      .image_px = job->run->image_px,
      .seq_len = job->seq_len,
      .batch_size = job->run->batch_size,
      .work = job->train_samples * job->epochs * dl_or(job->seq_len, 1),
      .accuracy = NAN,
      .energy_j = est->energy_j,
      .duration_s = isnan(est->energy_j.x) ? (double)NAN : est->duration_s.x,
      .response_s = isnan(est->energy_j.x)
                        ? (double)NAN
                        : response_of(job->run, &row->predictions.served),
      .billed = job->run->n_gpus,
      .co2e_g = {NAN, NAN, NAN},
      .cost = {NAN, NAN, NAN},
      .memory_need_gb = memory.need_gb,
      .bound = dl_run_is_inference(job->run) ? row->predictions.served.bound
               : row->predictions.language   ? row->predictions.step.bound
                                             : row->predictions.parts.bound,
      .boundary = dl_is_cpu(found->gpu) ? "cpu" : est->boundary,
      .precision = dl_precision_words[job->run->precision],
      .lacks = est->lacks,
      .loader_assumed = est->loader_assumed,
      .outside = l->measured && !row->predictions.served.on_cpu &&
                 !dl_measured_has(l->measured, job, &row->predictions),
      .excluded = memory.over ? DL_CHOICE_MEMORY : DL_CHOICE_MEETS,
  };
  c->has_16_bits = found->gpu && !(isnan(found->gpu->peak_fp16_tensor_tflops) &&
                                   isnan(found->gpu->peak_bf16_tensor_tflops));
  put_beyond(c, est);
  if (t->node)
    put_node(c, t->node, est);
  return DL_OK;
}

/* Keeps of pairs of choices, by themselves and in the precision that is
 * offered, the second where the first computes in FP32 or TF32 and the
 * accelerator has a rate in 16 bits. */
static void drop_offered(struct dl_choices *l, size_t first) {
  const char *const full[] = {dl_precision_words[DL_PRECISION_FP32],
                              dl_precision_words[DL_PRECISION_TF32]};
  size_t kept = first;
  for (size_t i = first; i < l->n; i += 2) {
    const char *p = l->c[i].precision;
    l->c[kept++] = l->c[i];
    if (l->c[i].has_16_bits && p && (p == full[0] || p == full[1]))
      l->c[kept++] = l->c[i + 1];
    else
      free(l->c[i + 1].beyond);
  }
  l->n = kept;
}

static bool always(void *ctx) {
  (void)ctx;
  return true;
}

enum dl_status dl_choices_sweep(struct dl_choices *l,
                                const struct dl_rows *rows, struct dl_engine *e,
                                const struct dl_choice_node *node,
                                struct dl_diag *d) {
  struct choice_rows t = {l, l->n, node};
  const struct dl_row_sink sink = {&t, take_row, NULL, always};
  size_t n;
  DL_TRY(dl_axes_combinations(rows->axes, &n, d));
  if (n > DL_MOST_CHOICES - l->n)
    return dl_fail(d, DL_EUSAGE,
                   "%zu combinations, more than %d; dlest predict streams "
                   "any number of them",
                   l->n + n, DL_MOST_CHOICES);
  DL_GROW(l->c, l->cap, l->n + n);
  memset(l->c + l->n, 0, n * sizeof *l->c);
  l->n += n;
  DL_TRY(dl_rows_each(rows, e, &sink, d));
  const struct dl_axes *axes = rows->axes;
  const struct dl_axis *last = axes->n > 0 ? &axes->a[axes->n - 1] : NULL;
  if (last && !last->cell[0].s)
    drop_offered(l, t.first);
  return DL_OK;
}

void dl_choices_repeat(struct dl_choices *l, size_t n, const char *region) {
  DL_GROW(l->c, l->cap, l->n + n);
  for (size_t i = 0; i < n; i++) {
    struct dl_alternative *c = &l->c[l->n++];
    *c = l->c[i];
    c->region = region;
    c->beyond = NULL;
    if (c->n_beyond == 0)
      continue;
    c->beyond = dl_malloc(c->n_beyond * sizeof *c->beyond);
    memcpy(c->beyond, l->c[i].beyond, c->n_beyond * sizeof *c->beyond);
  }
}

static enum dl_excluded why(const struct dl_alternative *c,
                            const struct dl_choice_limits *limits) {
  if (isnan(c->energy_j.x))
    return DL_CHOICE_SILENT;
  if (c->excluded == DL_CHOICE_MEMORY)
    return DL_CHOICE_MEMORY;
  /* An unknown duration does not meet a deadline. */
  if (isfinite(limits->deadline_s) && !(c->duration_s <= limits->deadline_s))
    return DL_CHOICE_DEADLINE;
  if (c->energy_j.x > limits->budget_j)
    return DL_CHOICE_BUDGET;
  return limits->measured && c->outside ? DL_CHOICE_OUTSIDE : DL_CHOICE_MEETS;
}

/* A choice without an objective has no place among those with one. */
static void exclude_unknown(struct dl_choices *l, enum dl_objective by) {
  enum dl_excluded reason =
      by == DL_BY_TIME ? DL_CHOICE_UNTIMED : DL_CHOICE_UNPRICED;
  bool known = by != DL_BY_TIME;
  for (size_t i = 0; i < l->n; i++)
    known |= l->c[i].excluded == DL_CHOICE_MEETS &&
             !isnan(dl_choice_value(l, &l->c[i], by));
  for (size_t i = 0; i < l->n && known; i++)
    if (l->c[i].excluded == DL_CHOICE_MEETS &&
        isnan(dl_choice_value(l, &l->c[i], by))) {
      l->c[i].excluded = reason;
      l->n_excluded[DL_CHOICE_MEETS]--;
      l->n_excluded[reason]++;
    }
}

/* Excludes choices. One outside the training data counts if all that meet the
 * other limits are. */
static void exclude(struct dl_choices *l,
                    const struct dl_choice_limits *limits) {
  for (size_t i = 0; i < l->n; i++) {
    l->c[i].excluded = why(&l->c[i], limits);
    l->n_excluded[l->c[i].excluded]++;
  }
  if (l->n_excluded[DL_CHOICE_MEETS] > 0)
    return;
  l->unmeasured = l->n_excluded[DL_CHOICE_OUTSIDE] > 0;
  for (size_t i = 0; i < l->n; i++)
    if (l->c[i].excluded == DL_CHOICE_OUTSIDE)
      l->c[i].excluded = DL_CHOICE_MEETS;
  l->n_excluded[DL_CHOICE_MEETS] = l->n_excluded[DL_CHOICE_OUTSIDE];
  l->n_excluded[DL_CHOICE_OUTSIDE] = 0;
}

static int rank(const struct dl_alternative *c) {
  if (c->excluded != DL_CHOICE_MEETS)
    return 3;
  if (c->place.front)
    return 0;
  return c->place.open ? 1 : 2;
}

/* Compares two choices by their numbers; qsort is not stable. */
static int by_place(const void *a, const void *b, void *ctx) {
  const struct dl_choices *l = ctx;
  size_t i = *(const size_t *)a, j = *(const size_t *)b;
  const struct dl_alternative *x = &l->c[i], *y = &l->c[j];
  int p = rank(x), q = rank(y);
  if (p != q)
    return p < q ? -1 : 1;
  for (size_t k = 0; k < 2 && p < 3; k++) {
    double v = dl_choice_value(l, x, l->by[k]);
    double w = dl_choice_value(l, y, l->by[k]);
    if (v < w || v > w)
      return v < w ? -1 : 1;
  }
  return (i > j) - (i < j);
}

static void sort(struct dl_choices *l) {
  DL_FREED size_t *order = dl_calloc(l->n, sizeof *order);
  struct dl_alternative *c = dl_calloc(l->n, sizeof *c);
  for (size_t i = 0; i < l->n; i++)
    order[i] = i;
  dl_sort_with(order, l->n, sizeof *order, by_place, l);
  for (size_t i = 0; i < l->n; i++)
    c[i] = l->c[order[i]];
  free(l->c);
  l->c = c;
}

/* The interval of an objective; of a time none. */
static struct dl_interval interval_of(const struct dl_alternative *c,
                                      enum dl_objective by) {
  const struct dl_interval none = {NAN, NAN, NAN};
  const struct dl_interval of[DL_N_OBJECTIVES] = {c->energy_j, none, c->co2e_g,
                                                  c->cost};
  return of[by];
}

/* The choices as points; those that are excluded are none. The first objective
 * with intervals takes the place of the energy, the others those of time and
 * merit. */
static void make_points(const struct dl_choices *l,
                        const struct dl_choice_limits *limits,
                        struct dl_pareto_point *p) {
  enum dl_objective by[3] = {limits->by[0], limits->by[1], limits->by[2]};
  bool merits = false;
  if (by[0] == DL_BY_TIME) {
    by[0] = by[1];
    by[1] = DL_BY_TIME;
  }
  for (size_t i = 0; i < l->n; i++)
    merits |= l->c[i].excluded == DL_CHOICE_MEETS && !isnan(l->c[i].accuracy);
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_alternative *c = &l->c[i];
    bool meets = c->excluded == DL_CHOICE_MEETS;
    const struct dl_interval first = interval_of(c, by[0]);
    p[i] = (struct dl_pareto_point){
        .energy = meets ? dl_choice_value(l, c, by[0]) : (double)NAN,
        .low = first.low,
        .high = first.high,
        .time = dl_or(dl_choice_value(l, c, by[1]), 0)};
    if (limits->n_by > 2)
      p[i].merit = -dl_or(dl_choice_value(l, c, by[2]), 0);
    else if (merits)
      p[i].merit = c->accuracy;
  }
}

void dl_choices_judge(struct dl_choices *l,
                      const struct dl_choice_limits *limits) {
  memcpy(l->by, limits->by, sizeof l->by);
  exclude(l, limits);
  for (size_t i = 0; i < limits->n_by; i++)
    exclude_unknown(l, limits->by[i]);
  DL_FREED struct dl_pareto_point *p = dl_calloc(l->n, sizeof *p);
  DL_FREED struct dl_pareto_place *place = dl_calloc(l->n, sizeof *place);
  make_points(l, limits, p);
  dl_pareto(p, l->n, place);
  for (size_t i = 0; i < l->n; i++)
    l->c[i].place = place[i];
  sort(l);
}
