/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/recommend_summary.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/options/count_text.h"
#include "cli/views/summary/answer.h"
#include "output/units.h"

static const char *place_of(const struct dl_alternative *a) {
  if (a->node)
    return a->node;
  return a->gpu ? a->gpu : "an unknown accelerator";
}

/* Appends "4 x a100-sxm4-40gb, batch 64, TF32"; the network too, where there
 * are several. */
static void add_choice(struct dl_text *t, const struct dl_alternative *a,
                       bool arch) {
  char number[DL_NUMBER_SIZE];
  if (arch)
    dl_text_printf(t, "%s on ", a->arch ? a->arch : "the job");
  if (a->n_gpus > 1 && a->node)
    dl_text_printf(t, "%s GPUs of ", dl_format_short(number, a->n_gpus));
  else if (a->n_gpus > 1)
    dl_text_printf(t, "%s x ", dl_format_short(number, a->n_gpus));
  dl_text_add(t, place_of(a));
  if (a->region)
    dl_text_printf(t, " in %s", a->region);
  if (!isnan(a->batch_size))
    dl_text_printf(t, ", batch %s", dl_format_short(number, a->batch_size));
  for (const char *p = a->precision; p && *p; p++) {
    const char c = (char)toupper((unsigned char)*p);
    dl_text_add(t, p == a->precision ? ", " : "");
    dl_text_add_n(t, &c, 1);
  }
}

static const char *number_of(char number[DL_NUMBER_SIZE], size_t n) {
  snprintf(number, DL_NUMBER_SIZE, "%zu", n);
  return dl_group_digits(number);
}

/* Appends the data, the epochs and the number of choices; what was not given
 * as defaults. */
static void add_work(struct dl_text *t,
                     const struct dl_recommended_choices *c) {
  const struct dl_job_options *o = &c->o->job;
  char number[DL_NUMBER_SIZE];
  struct dl_text list[2] = {{0}, {0}}; /* given, default */
  bool data = o->run.dataset != NULL;
  bool epochs = dl_job_options_give(o, DL_RUN_epochs);
  if (o->dataset)
    dl_text_add(&list[data ? 0 : 1], o->dataset);
  if (!isnan(o->run.tokens))
    dl_text_printf(&list[0], "%s tokens",
                   dl_format_large_count(number, o->run.tokens));
  else if (!isnan(c->l->epochs))
    dl_text_printf(&list[epochs ? 0 : 1], "%s%s epoch%s",
                   list[epochs ? 0 : 1].len > 0 ? ", " : "",
                   dl_format_short(number, c->l->epochs),
                   c->l->epochs == 1 ? "" : "s");
  bool px = dl_job_options_give(o, DL_RUN_image_px);
  if (o->dataset && data && !c->varies_px && !isnan(c->l->c[0].image_px))
    dl_text_printf(&list[px ? 0 : 1], "%s%s px",
                   list[px ? 0 : 1].len > 0 ? ", " : "",
                   dl_format_short(number, c->l->c[0].image_px));
  if (!isnan(c->l->requests))
    dl_text_printf(&list[0], "inference, %s %s%s",
                   dl_format_large_count(number, c->l->requests),
                   isnan(c->l->prompt_tokens) ? "sample" : "request",
                   c->l->requests == 1 ? "" : "s");
  if (list[0].len > 0)
    dl_text_printf(t, ", %s", dl_text_str(&list[0]));
  dl_text_printf(t, ": %s choice%s", number_of(number, c->n),
                 c->n == 1 ? "" : "s");
  if (c->brief && c->l->n > c->n)
    dl_text_printf(t, ", %s left out", number_of(number, c->l->n - c->n));
  if (list[1].len > 0)
    dl_text_printf(t, " (assumed: %s)", dl_text_str(&list[1]));
  dl_text_free(&list[0]);
  dl_text_free(&list[1]);
}

/* The currency of the costs; NULL: none given. */
static const char *currency_of(const struct dl_recommend_options *o) {
  return o->gpu_price.n > 0 ? o->gpu_price.currency : o->job.foot.currency;
}

static const struct dl_alternative *
best_by(const struct dl_recommended_choices *c, enum dl_objective by) {
  const struct dl_alternative *best = NULL;
  double least = INFINITY;
  for (size_t i = 0; i < c->n; i++) {
    const double x = dl_choice_value(c->l, &c->l->c[i], by);
    if (x < least) {
      best = &c->l->c[i];
      least = x;
    }
  }
  return best;
}

/* Whether an objective orders the choices in another way than the energy:
 * emissions in several regions, costs by the hour. */
static bool is_own(const struct dl_recommended_choices *c,
                   enum dl_objective by) {
  const struct dl_alternative *first = c->l->c;
  if (by == DL_BY_CO2E)
    return first->region;
  return by != DL_BY_COST || !(first->cost.low < first->cost.high);
}

/* The columns of the answer. */
enum { ROLE, CHOICE, ENERGY, INTERVAL, TIME, EMISSIONS, COST, N_COLUMNS };

/* `arch`: the choice names its network. */
static void answer_row(struct dl_table *t, const char *role, bool arch,
                       const struct dl_recommended_choices *c,
                       const struct dl_alternative *a) {
  struct dl_text cell[N_COLUMNS] = {0};
  struct dl_value v[N_COLUMNS];
  const struct dl_interval *j = &a->energy_j, *g = &a->co2e_g, *x = &a->cost;
  const double time = c->l->at_rate ? a->response_s : a->duration_s;
  dl_text_add(&cell[ROLE], role);
  add_choice(&cell[CHOICE], a, arch);
  dl_show_estimate(&cell[ENERGY], DL_KWH, "J",
                   (const double[3]){j->x, j->low, j->high});
  if (!isnan(j->low))
    dl_show_interval(&cell[INTERVAL], DL_KWH, "J", j->x, j->low, j->high);
  dl_show_estimate(
      &cell[TIME], DL_TIME, "s",
      (const double[3]){time, time * j->low / j->x, time * j->high / j->x});
  dl_show_estimate(&cell[EMISSIONS], DL_MASS, "g",
                   (const double[3]){g->x, g->low, g->high});
  dl_show_estimate(&cell[COST], DL_PLAIN, currency_of(c->o),
                   (const double[3]){x->x, x->low, x->high});
  for (size_t i = 0; i < N_COLUMNS; i++)
    v[i] = dl_string(dl_text_str(&cell[i]));
  dl_table_row(t, v, NULL);
  for (size_t i = 0; i < N_COLUMNS; i++)
    dl_text_free(&cell[i]);
}

static const char *const roles[DL_N_OBJECTIVES] = {"least energy", "fastest",
                                                   "least CO2e", "cheapest"};

/* The table of the answer; role: the heading of its first column. */
static struct dl_table *new_table(struct dl_report *r,
                                  const struct dl_recommended_choices *c,
                                  const char *role, const char *title) {
  const struct dl_alternative *first = c->l->c;
  const bool priced = !isnan(first->cost.x), emits = !isnan(first->co2e_g.x);
  const char *time = c->l->at_rate ? "per token" : "time";
  const struct dl_column columns[N_COLUMNS] = {
      {NULL, role, NULL, DL_CODE, DL_MAIN},
      {NULL, "choice", NULL, DL_CODE, DL_MAIN},
      {NULL, "energy", NULL, DL_CODE, DL_MAIN},
      {NULL, isnan(first->energy_j.low) ? NULL : c->interval, NULL, DL_CODE,
       DL_SPARE},
      {NULL, isnan(first->duration_s) ? NULL : time, NULL, DL_CODE, DL_MAIN},
      {NULL, emits ? "CO2e" : NULL, NULL, DL_CODE, DL_MAIN},
      {NULL, priced ? "cost" : NULL, NULL, DL_CODE, DL_MAIN}};
  return dl_report_table(r, NULL, title, columns, N_COLUMNS, false);
}

/* The best choice by each objective, the first by which they were compared; a
 * choice that is best by several has one row. */
static void answer_table(struct dl_report *r,
                         const struct dl_recommended_choices *c,
                         const char *title) {
  const struct dl_alternative *first = c->l->c;
  struct dl_table *t = new_table(r, c, "", title);
  const struct dl_alternative *best[DL_N_OBJECTIVES];
  bool told[DL_N_OBJECTIVES] = {false};
  best[0] = first;
  enum dl_objective by[DL_N_OBJECTIVES] = {c->l->by[0]};
  size_t n = 1;
  for (enum dl_objective i = 0; i < DL_N_OBJECTIVES; i++)
    if (i != by[0] && is_own(c, i)) {
      by[n] = i;
      best[n++] = best_by(c, i);
    }
  size_t compared = 0, alike = 0;
  for (size_t i = 0; i < n; i++) {
    compared += best[i] != NULL;
    alike += best[i] == first;
  }
  if (alike == compared && alike > 1) {
    answer_row(t, "Best by all", c->archs > 1, c, first);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    DL_TEXT(role);
    for (size_t k = i; k < n; k++)
      if (!told[k] && best[k] && best[k] == best[i]) {
        told[k] = true;
        dl_text_printf(&role, "%s%s", role.len > 0 ? ", " : "", roles[by[k]]);
      }
    if (role.len > 0) {
      role.s[0] = (char)toupper((unsigned char)role.s[0]);
      answer_row(t, dl_text_str(&role), c->archs > 1, c, best[i]);
    }
  }
}

/* A choice that was excluded since no GPU of its generation was measured, and
 * that has the lowest energy by its estimate; NULL: none. */
static const struct dl_alternative *
find_outside(const struct dl_recommended_choices *c) {
  const struct dl_alternative *low = NULL;
  double least = c->l->c[0].energy_j.x;
  for (size_t i = c->n; i < c->l->n; i++)
    if (c->l->c[i].excluded == DL_CHOICE_OUTSIDE &&
        c->l->c[i].energy_j.x < least) {
      low = &c->l->c[i];
      least = low->energy_j.x;
    }
  return low;
}

static void outside_line(struct dl_answer_line *l,
                         const struct dl_recommended_choices *c) {
  const struct dl_alternative *low = find_outside(c);
  if (!low)
    return;
  const struct dl_interval *j = &low->energy_j;
  l->label = "Lower";
  l->hint = true;
  dl_text_printf(&l->figure, "%s, ", place_of(low));
  dl_show_estimate(&l->figure, DL_KWH, "J",
                   (const double[3]){j->x, j->low, j->high});
  dl_text_add(&l->figure,
              ", but its generation was not measured (--extrapolate)");
}

/* Rows of several networks: with the answer they fit 10 lines. */
enum { MOST_ROWS = 4 };

/* A choice that is clearly better by another objective than each network's
 * own; NULL: none. */
static const struct dl_alternative *
find_other(const struct dl_recommended_choices *c, enum dl_objective *by) {
  for (*by = 0; *by < DL_N_OBJECTIVES; ++*by) {
    const struct dl_alternative *best =
        is_own(c, *by) && *by != c->l->by[0] ? best_by(c, *by) : NULL;
    double least = best ? INFINITY : 0;
    for (size_t k = 0; k < c->archs; k++)
      least = fmin(least, dl_choice_value(c->l, c->best[k], *by));
    if (best && dl_choice_value(c->l, best, *by) < 0.98 * least)
      return best;
  }
  return NULL;
}

/* The best choice of each network, the first of them; then one that is faster
 * or cheaper than all of them, whose name may take two lines. */
static void networks_table(struct dl_report *r,
                           const struct dl_recommended_choices *c,
                           struct dl_text *title) {
  enum dl_objective by;
  size_t most = MOST_ROWS - c->l->c[0].loader_assumed;
  most -= find_outside(c) != NULL;
  const struct dl_alternative *other =
      most == MOST_ROWS ? find_other(c, &by) : NULL;
  most -= other ? 2 : 0;
  most = c->archs > most ? most : c->archs;
  if (most < c->archs)
    dl_text_printf(title, "Best %zu of ", most);
  dl_text_printf(title, "%zu networks", c->archs);
  add_work(title, c);
  struct dl_table *t = new_table(r, c, "network", dl_text_str(title));
  for (size_t k = 0; k < most; k++)
    answer_row(t, c->best[k]->arch, false, c, c->best[k]);
  if (other)
    answer_row(t, roles[by], true, c, other);
}

/* How many others are as good within the intervals, and the best elsewhere. */
static void open_line(struct dl_answer_line *l,
                      const struct dl_recommended_choices *c) {
  const struct dl_alternative *next = c->next;
  char number[DL_NUMBER_SIZE];
  size_t open = 0;
  for (size_t i = 0; i < c->n; i++)
    open += !c->l->c[i].place.front && c->l->c[i].place.open;
  if (open > 0) {
    l->label = "As good";
    dl_text_printf(&l->figure, "%s other%s within the intervals",
                   number_of(number, open), open == 1 ? "" : "s");
  }
  if (!next)
    return;
  l->label = open > 0 ? l->label : "Next";
  const struct dl_interval *j = &next->energy_j;
  dl_text_add(&l->figure, open > 0 ? "; next " : "");
  dl_text_add(&l->figure, next->node ? "node" : "GPU");
  dl_text_printf(&l->figure, " %s, ", place_of(next));
  dl_show_estimate(&l->figure, DL_KWH, "J",
                   (const double[3]){j->x, j->low, j->high});
}

/* Says which hardware the energies cover. */
static void covers_line(struct dl_answer_line *l,
                        const struct dl_recommended_choices *c) {
  const struct dl_alternative *a = c->l->c;
  DL_TEXT(beyond);
  l->label = "Covers";
  if (a->boundary)
    dl_text_add(&l->figure,
                dl_boundary_words(a->boundary, !a->node && a->n_gpus > 1));
  if (a->runs > 1)
    dl_text_printf(&l->figure, ", mean of %zu measured runs", a->runs);
  else if (a->runs == 1)
    dl_text_add(&l->figure, ", measured");
  if (!isnan(a->cost.x) && isnan(c->o->job.foot.price))
    dl_text_add(&l->figure, "; cost by the hour");
  dl_add_quantities(&beyond, a->beyond, a->n_beyond);
  if (beyond.len > 0)
    dl_text_printf(&l->figure, "; outside the measured range: %s",
                   dl_text_str(&beyond));
}

static void first_line(struct dl_answer_line *l,
                       const struct dl_recommended_choices *c) {
  const struct dl_alternative *a = c->l->c;
  char number[DL_NUMBER_SIZE];
  if (c->archs > 1 && !a->loader_assumed)
    return;
  l->label = a->bound || !isnan(a->memory_need_gb) ? "First" : NULL;
  if (a->bound)
    dl_text_printf(&l->figure, "limited by %s%s", dl_bound_words(a->bound),
                   a->loader_assumed ? " (assumed loader)" : "");
  if (!isnan(a->memory_need_gb) && c->archs == 1)
    dl_text_printf(&l->figure, "%speak %smemory %s GB", a->bound ? ", " : "",
                   dl_same_text(a->boundary, "cpu") ? "" : "GPU ",
                   dl_format_digits(number, a->memory_need_gb, 3));
}

/* Why choices are excluded: key and label. */
static const struct dl_named_text excluded[] = {
    [DL_CHOICE_SILENT] = {"n_silent", "without an estimate"},
    [DL_CHOICE_MEMORY] = {"n_memory", "beyond the GPU's memory"},
    [DL_CHOICE_DEADLINE] = {"n_deadline", "past the deadline"},
    [DL_CHOICE_BUDGET] = {"n_budget", "over the budget"},
    [DL_CHOICE_OUTSIDE] = {"n_outside", "outside the training data"},
    [DL_CHOICE_UNTIMED] = {"n_untimed", "without a duration"},
    [DL_CHOICE_UNPRICED] = {"n_unpriced", "without a CO2e or cost"}};

/* Why choices are left out, where all are shown. */
static void excluded_line(struct dl_answer_line *l,
                          const struct dl_recommended_choices *c) {
  const size_t *left = c->l->n_excluded;
  char number[DL_NUMBER_SIZE];
  if (c->brief || c->l->n == c->n)
    return;
  l->label = "Left out";
  for (size_t i = DL_CHOICE_SILENT; i < DL_LENGTH(excluded); i++)
    if (left[i] > 0)
      dl_text_printf(&l->figure, "%s%s %s", l->figure.len > 0 ? ", " : "",
                     number_of(number, left[i]), excluded[i].text);
}

void dl_recommend_answer(struct dl_report *r,
                         const struct dl_recommended_choices *c) {
  const struct dl_alternative *a = c->l->c;
  struct dl_answer_line line[5] = {0};
  DL_TEXT(title);
  if (c->brief && c->archs > 1) {
    networks_table(r, c, &title);
  } else {
    if (c->archs > 1)
      dl_text_printf(&title, "%zu networks", c->archs);
    else
      dl_text_add(&title, dl_text_or(a->title, dl_text_or(a->arch, "the job")));
    add_work(&title, c);
    answer_table(r, c, dl_text_str(&title));
  }
  open_line(&line[0], c);
  first_line(&line[1], c);
  covers_line(&line[2], c);
  outside_line(&line[3], c);
  excluded_line(&line[4], c);
  struct dl_report *g = dl_report_group(r, "summary", "");
  dl_report_add(g, "title", NULL, NULL, DL_CODE,
                dl_string(dl_text_str(&title)));
  dl_answer_lines(g, line, DL_LENGTH(line));
  if (c->brief && !c->o->explain)
    dl_report_hint(g, c->n > 1 ? "Pareto front and all choices: --all. "
                                 "Settings: --explain."
                               : "Settings: --explain.");
}

void dl_recommend_settings(struct dl_report *r,
                           const struct dl_recommended_choices *v) {
  const struct dl_recommend_options *o = v->o;
  const struct dl_choices *l = v->l;
  const struct dl_alternative *c = &l->c[0];
  bool infers = !isnan(l->requests);
  const char *phase = infers ? "inference" : "training";
  bool assumed =
      c->precision && !dl_job_options_give(&o->job, DL_RUN_precision);
  char precision[64];
  DL_TEXT(by);
  for (size_t i = 0; i < o->limits.n_by; i++)
    dl_text_printf(&by, "%s%s", i > 0 ? "," : "",
                   dl_objective_name(o->limits.by[i]));
  snprintf(precision, sizeof precision, "%.40s%s", dl_text_or(c->precision, ""),
           assumed ? " (assumed)" : "");
  DL_LINES(
      r, {"method", "method", NULL, DL_CODE, dl_known_string(o->method)},
      {"table", "table of runs", NULL, DL_CODE, dl_known_string(o->table)},
      {"boundary", "boundary", NULL, DL_CODE, dl_known_string(c->boundary)},
      {"phase", infers ? "phase" : NULL, NULL, DL_CODE,
       dl_string(o->table ? NULL : phase)},
      {"dataset", "data set", NULL, DL_CODE, dl_known_string(o->job.dataset)},
      {"train_samples", "training samples", NULL, DL_CODE,
       dl_known(l->train_samples)},
      {"val_samples", "validation samples", NULL, DL_CODE,
       dl_known(l->val_samples)},
      {"epochs", "epochs", NULL, DL_CODE, dl_known(l->epochs)},
      {"requests", "requests", NULL, DL_CODE, dl_known(l->requests)},
      {"prompt_tokens", "prompt", "tokens", DL_CODE,
       dl_known(l->prompt_tokens)},
      {"output_tokens", "output", "tokens", DL_CODE,
       dl_known(l->output_tokens)},
      {NULL, "input", "px", DL_CODE,
       dl_known(v->varies_px ? NAN : c->image_px)},
      {NULL, "GPUs", NULL, DL_CODE,
       dl_known(!v->varies_gpus && c->n_gpus > 1 ? c->n_gpus : NAN)},
      {NULL, "batch size", NULL, DL_CODE,
       dl_known(v->varies_batch ? NAN : c->batch_size)},
      {NULL, "precision", NULL, DL_CODE,
       dl_known_string(v->varies_precision || !c->precision ? NULL
                                                            : precision)},
      {.key = "coverage", .value = dl_number(o->coverage)},
      {"by", "compared by", NULL, DL_CODE, dl_string(dl_text_str(&by))},
      {"price_per_kwh", "price per kWh", o->job.foot.currency, DL_PLAIN,
       dl_known(o->job.foot.price)},
      {"currency", NULL, NULL, DL_CODE, dl_string(currency_of(o))},
      {"deadline_s", "deadline", "s", DL_TIME, dl_known(o->limits.deadline_s)},
      {.key = "budget_j", .value = dl_number(o->budget_kwh * DL_J_PER_KWH)},
      {NULL, "budget", "kWh", DL_PLAIN, dl_known(o->budget_kwh)},
      {"n_choices", "choices", NULL, DL_CODE, dl_count(l->n)});
  for (size_t i = DL_CHOICE_SILENT; i < DL_LENGTH(excluded); i++) {
    size_t n = l->n_excluded[i];
    dl_report_add(r, excluded[i].name, n > 0 ? excluded[i].text : NULL, NULL,
                  DL_CODE, dl_count(n));
  }
}

static void say_marks(struct dl_report *r, const bool marked[3]) {
  static const char *const means[] = {
      "* lowest energy", "~ another choice may take less, by the intervals",
      "! the interval exceeds the budget"};
  DL_TEXT(t);
  for (size_t i = 0; i < DL_LENGTH(means); i++)
    if (marked[i])
      dl_text_printf(&t, "%s%s", t.len > 0 ? "; " : "", means[i]);
  if (t.len > 0)
    dl_report_say(r, "%s.", dl_text_str(&t));
}

void dl_recommend_notes(struct dl_report *r,
                        const struct dl_recommended_choices *c,
                        const bool marked[3]) {
  const char *boundary = c->l->c[0].boundary;
  size_t front = 0, open = 0;
  DL_TEXT(t);
  for (size_t i = 0; i < c->n; i++) {
    front += c->l->c[i].place.front;
    open += !c->l->c[i].place.front && c->l->c[i].place.open;
  }
  say_marks(r, marked);
  if (c->o->all && c->n > 1)
    dl_text_printf(&t, "Pareto front: %zu of %zu choices.", front, c->n);
  if (t.len > 0)
    dl_report_say(r, "%s", dl_text_str(&t));
  if (!c->o->explain) {
    if (!c->brief)
      dl_report_hint(r, "Settings: --explain.");
    return;
  }
  if (c->l->c[0].node)
    dl_report_say(r, "Boundary %s: %s%s.", boundary,
                  dl_boundary_words(boundary, false),
                  strcmp(boundary, "facility") == 0
                      ? ", the energy at the plug times the PUE of its site"
                      : "");
  if (open > 0 && !c->o->table)
    dl_report_say(r, "Errors are correlated within a GPU or a network, so "
                     "rankings are more reliable than the intervals suggest.");
}
