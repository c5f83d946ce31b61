/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "estimate/methods/work.h"
#include "estimate/node/peak_memory.h"

const char *dl_excluded_name(enum dl_excluded why) {
  static const char *const names[DL_N_EXCLUDED] = {
      [DL_CHOICE_SILENT] = "no estimate",    [DL_CHOICE_MEMORY] = "memory",
      [DL_CHOICE_DEADLINE] = "deadline",     [DL_CHOICE_BUDGET] = "budget",
      [DL_CHOICE_OUTSIDE] = "training data", [DL_CHOICE_UNTIMED] = "time"};
  return names[why];
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
  c->energy_j = e.bound[n->boundary];
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
  if (row->combination == 0) {
    free(l->broken);
    l->broken = row->broken ? dl_strdup(row->broken) : NULL;
    l->epochs = job->epochs;
    l->train_samples = dl_or(job->run->train_samples, job->train_samples);
    l->val_samples = dl_or(job->run->val_samples, job->val_samples);
    bool inference = dl_run_is_inference(job->run);
    l->requests = inference ? job->run->requests : NAN;
    l->prompt_tokens = inference ? job->run->prompt_tokens : NAN;
    l->output_tokens = inference ? job->run->output_tokens : NAN;
  }
  *c = (struct dl_alternative){
      .arch = found->arch ? found->arch->head.id : NULL,
      .gpu = found->gpu ? found->gpu->head.id : NULL,
      .n_gpus = job->run->n_gpus,
      .image_px = job->run->image_px,
      .seq_len = job->seq_len,
      .batch_size = job->run->batch_size,
      .work = job->train_samples * job->epochs * dl_or(job->seq_len, 1),
      .accuracy = NAN,
      .energy_j = est->energy_j,
      .duration_s = isnan(est->energy_j.x) ? (double)NAN : est->duration_s.x,
      .memory_need_gb = memory.need_gb,
      .bound = dl_run_is_inference(job->run) ? row->predictions.served.bound
               : row->predictions.language   ? row->predictions.step.bound
                                             : row->predictions.parts.bound,
      .boundary = est->boundary,
      .precision = dl_precision_words[job->run->precision],
      .lacks = est->lacks,
      .loader_assumed = est->loader_assumed,
      .outside =
          l->measured && !dl_measured_has(l->measured, job, &row->predictions),
      .excluded = memory.over ? DL_CHOICE_MEMORY : DL_CHOICE_MEETS,
  };
  put_beyond(c, est);
  if (t->node)
    put_node(c, t->node, est);
  return DL_OK;
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
  return dl_rows_each(rows, e, &sink, d);
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

/* A choice without a time has no place among those with one. */
static void exclude_untimed(struct dl_choices *l) {
  bool times = false;
  for (size_t i = 0; i < l->n; i++)
    times |= l->c[i].excluded == DL_CHOICE_MEETS && !isnan(l->c[i].duration_s);
  for (size_t i = 0; i < l->n && times; i++)
    if (l->c[i].excluded == DL_CHOICE_MEETS && isnan(l->c[i].duration_s)) {
      l->c[i].excluded = DL_CHOICE_UNTIMED;
      l->n_excluded[DL_CHOICE_MEETS]--;
      l->n_excluded[DL_CHOICE_UNTIMED]++;
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
  if (p < 3 && (x->energy_j.x < y->energy_j.x))
    return -1;
  if (p < 3 && (x->energy_j.x > y->energy_j.x))
    return 1;
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

/* The choices as points; those that are excluded are none. */
static void make_points(const struct dl_choices *l, struct dl_pareto_point *p) {
  bool merits = false;
  for (size_t i = 0; i < l->n; i++)
    merits |= l->c[i].excluded == DL_CHOICE_MEETS && !isnan(l->c[i].accuracy);
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_alternative *c = &l->c[i];
    bool meets = c->excluded == DL_CHOICE_MEETS;
    p[i] =
        (struct dl_pareto_point){.energy = meets ? c->energy_j.x : (double)NAN,
                                 .low = c->energy_j.low,
                                 .high = c->energy_j.high,
                                 .time = dl_or(c->duration_s, 0),
                                 .merit = merits ? c->accuracy : 0};
  }
}

void dl_choices_judge(struct dl_choices *l,
                      const struct dl_choice_limits *limits) {
  exclude(l, limits);
  exclude_untimed(l);
  DL_FREED struct dl_pareto_point *p = dl_calloc(l->n, sizeof *p);
  DL_FREED struct dl_pareto_place *place = dl_calloc(l->n, sizeof *place);
  make_points(l, p);
  dl_pareto(p, l->n, place);
  for (size_t i = 0; i < l->n; i++)
    l->c[i].place = place[i];
  sort(l);
}
