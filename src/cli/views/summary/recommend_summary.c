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

enum { ENERGY, TIME, EMISSIONS, COST, NEXT, N_LINES };

static const char *place_of(const struct dl_alternative *a) {
  if (a->node)
    return a->node;
  return a->gpu ? a->gpu : "an unknown accelerator";
}

/* Appends "resnet50 on 4 x a100-sxm4-40gb, batch size 64, TF32". */
static void add_choice(struct dl_text *t, const struct dl_alternative *a) {
  char number[DL_NUMBER_SIZE];
  dl_text_printf(t, "%s on ", a->arch ? a->arch : "the job");
  if (a->n_gpus > 1 && a->node)
    dl_text_printf(t, "%s GPUs of ", dl_format_short(number, a->n_gpus));
  else if (a->n_gpus > 1)
    dl_text_printf(t, "%s x ", dl_format_short(number, a->n_gpus));
  dl_text_add(t, place_of(a));
  if (a->region)
    dl_text_printf(t, " in %s", a->region);
  if (!isnan(a->batch_size))
    dl_text_printf(t, ", batch size %s",
                   dl_format_short(number, a->batch_size));
  for (const char *p = a->precision; p && *p; p++) {
    const char c = (char)toupper((unsigned char)*p);
    dl_text_add(t, p == a->precision ? ", " : "");
    dl_text_add_n(t, &c, 1);
  }
}

/* Appends the data and the epochs, what was not given as defaults. */
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
    dl_text_printf(t, "; %s", dl_text_str(&list[0]));
  if (list[1].len > 0)
    dl_text_printf(t, " (assumed: %s)", dl_text_str(&list[1]));
  dl_text_free(&list[0]);
  dl_text_free(&list[1]);
}

static void energy_line(struct dl_answer_line *l, const char *label,
                        const struct dl_recommended_choices *c,
                        const struct dl_alternative *a) {
  bool first = a == c->l->c;
  dl_answer_figure(l,
                   &(struct dl_answer){label, DL_KWH, "J", a->energy_j.x,
                                       a->energy_j.low, a->energy_j.high,
                                       first ? c->o->coverage : (double)NAN});
}

static void next_line(struct dl_answer_line *l,
                      const struct dl_recommended_choices *c) {
  const struct dl_alternative *a = c->next, *best = c->l->c;
  if (!a)
    return;
  energy_line(l, a->node ? "Next node" : "Next GPU", c, a);
  dl_answer_remark(l, "%s", place_of(a));
  dl_answer_number(l, "", 100 * (a->energy_j.x / best->energy_j.x - 1),
                   " % more");
  if (a->energy_j.low <= best->energy_j.high)
    dl_answer_remark(l, "within the intervals");
}

/* The currency of the costs; NULL: none given. */
static const char *currency_of(const struct dl_recommend_options *o) {
  return o->gpu_price.n > 0 ? o->gpu_price.currency : o->job.site.currency;
}

/* Emissions and cost, as far as they were given or found. */
static void costs_lines(struct dl_answer_line *line,
                        const struct dl_recommended_choices *c,
                        const struct dl_alternative *a) {
  if (!isnan(a->co2e_g.x))
    dl_answer_figure(&line[EMISSIONS],
                     &(struct dl_answer){"CO2e", DL_MASS, "g", a->co2e_g.x,
                                         a->co2e_g.low, a->co2e_g.high,
                                         c->o->coverage});
  if (isnan(a->cost.x))
    return;
  dl_answer_figure(&line[COST],
                   &(struct dl_answer){"Cost", DL_PLAIN, currency_of(c->o),
                                       a->cost.x, a->cost.low, a->cost.high,
                                       c->o->coverage});
  if (isnan(c->o->job.site.price))
    dl_answer_remark(&line[COST], "by the hour");
}

void dl_recommend_answer(struct dl_report *r,
                         const struct dl_recommended_choices *c) {
  static const char *const titles[DL_N_OBJECTIVES] = {
      "Lowest energy: ", "Fastest: ", "Lowest CO2e: ", "Lowest cost: "};
  const struct dl_alternative *a = &c->l->c[0];
  struct dl_answer_line line[N_LINES] = {0};
  DL_TEXT(title);
  dl_text_add(&title, titles[c->l->by[0]]);
  add_choice(&title, a);
  add_work(&title, c);
  struct dl_report *g = dl_report_group(r, "summary", dl_text_str(&title));
  energy_line(&line[ENERGY], "Energy", c, a);
  if (a->boundary)
    dl_answer_remark(&line[ENERGY], "%s",
                     dl_boundary_words(a->boundary, !a->node && a->n_gpus > 1));
  if (a->runs > 1)
    dl_answer_remark(&line[ENERGY], "mean of %zu measured runs", a->runs);
  else if (a->runs == 1)
    dl_answer_remark(&line[ENERGY], "measured");
  if (!isnan(a->duration_s))
    dl_answer_figure(&line[TIME],
                     &(struct dl_answer){"Time", DL_TIME, "s", a->duration_s,
                                         NAN, NAN, NAN});
  if (a->bound)
    dl_answer_remark(&line[TIME], "limited by %s", dl_bound_words(a->bound));
  dl_answer_number(&line[TIME],
                   dl_same_text(a->boundary, "cpu") ? "peak memory "
                                                    : "peak GPU memory ",
                   a->memory_need_gb, " GB");
  costs_lines(line, c, a);
  next_line(&line[NEXT], c);
  dl_answer_lines(g, line, N_LINES);
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
      {"price_per_kwh", "price per kWh", o->job.site.currency, DL_PLAIN,
       dl_known(o->job.site.price)},
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

/* Appends how many choices are excluded; and why, where it is one reason or
 * all choices are shown. */
static void add_excluded(struct dl_text *t,
                         const struct dl_recommended_choices *c) {
  size_t n = 0, reasons = 0;
  const char *before = "Left out: ";
  for (size_t i = DL_CHOICE_SILENT; i < DL_LENGTH(excluded); i++) {
    n += c->l->n_excluded[i];
    reasons += c->l->n_excluded[i] > 0;
  }
  if (reasons == 0)
    return;
  dl_text_add(t, t->len > 0 ? " " : "");
  if (reasons > 1 && !c->o->all) {
    dl_text_printf(t, "%s%zu.", before, n);
    return;
  }
  for (size_t i = DL_CHOICE_SILENT; i < DL_LENGTH(excluded); i++)
    if (c->l->n_excluded[i] > 0) {
      dl_text_printf(t, "%s%zu %s", before, c->l->n_excluded[i],
                     excluded[i].text);
      before = ", ";
    }
  dl_text_add(t, ".");
}

/* A choice that was excluded since no GPU of its generation was measured, and
 * that has the lowest energy by its estimate. */
static void say_outside(struct dl_report *r,
                        const struct dl_recommended_choices *c) {
  const struct dl_alternative *low = &c->l->c[0];
  for (size_t i = c->n; i < c->l->n; i++)
    if (c->l->c[i].excluded == DL_CHOICE_OUTSIDE &&
        c->l->c[i].energy_j.x < low->energy_j.x)
      low = &c->l->c[i];
  if (low == &c->l->c[0])
    return;
  const struct dl_value energy = dl_number(low->energy_j.x);
  DL_TEXT(t);
  dl_show(&t, DL_KWH, "J", &energy, NULL);
  dl_report_say(r,
                "Lower, but its generation was not measured: %s, %s "
                "(--extrapolate).",
                place_of(low), dl_text_str(&t));
}

/* Says which quantities of the recommended choice lie outside the training
 * data. */
static void say_beyond(struct dl_report *r, const struct dl_alternative *a) {
  DL_TEXT(t);
  dl_add_quantities(&t, a->beyond, a->n_beyond);
  if (t.len > 0)
    dl_report_say(r, "Outside the measured range: %s.", dl_text_str(&t));
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
  say_beyond(r, &c->l->c[0]);
  if (c->n > 1)
    dl_text_printf(&t, "Pareto front: %zu of %zu choices", front, c->n);
  if (open > 0)
    dl_text_printf(&t, "; %zu more within the intervals", open);
  dl_text_add(&t, t.len > 0 ? "." : "");
  add_excluded(&t, c);
  if (t.len > 0)
    dl_report_say(r, "%s", dl_text_str(&t));
  say_outside(r, c);
  if (!c->o->explain) {
    dl_report_hint(r, c->n > 1 && !c->o->all
                          ? "All choices: --all. Settings: --explain."
                          : "Settings: --explain.");
    return;
  }
  if (c->l->c[0].node)
    dl_report_say(r, strcmp(boundary, "facility") == 0
                         ? "Boundary facility: the whole node at its plug, "
                           "times the PUE of its site."
                         : "Boundary node: the whole node, at its plug.");
  if (open > 0 && !c->o->table)
    dl_report_say(r, "Errors are correlated within a GPU or a network, so "
                     "rankings are more reliable than the intervals suggest.");
}
