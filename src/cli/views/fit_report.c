/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest fit. */

#include "cli/views/fit_report.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cli/views/summary/fit_summary.h"
#include "physics/rows/physics_regression.h"

/* Errors are standard deviations of the logarithm, as shares of the value. */
static void add_constants(struct dl_report *item, const struct dl_fit *fit) {
  static const struct dl_column columns[] = {
      {"name", "constant", NULL, DL_CODE, false},
      {"value", "value", NULL, DL_PLAIN, false},
      {"unit", "unit", NULL, DL_CODE, false},
      {"error", "error", "%", DL_PERCENT, false},
      {"prior", "prior", NULL, DL_PLAIN, false},
      {"prior_sd", "prior sd", "%", DL_PERCENT, false},
      {"summary", "description", NULL, DL_CODE, false}};
  const struct dl_hierarchical_fit *state = fit->state;
  if (fit->method != dl_regression_find("physical"))
    return;
  struct dl_table *t = DL_TABLE(item, "constants", "Constants", columns, false);
  for (size_t i = 0; i < state->physics->n_constants; i++) {
    const struct dl_physics_constant *c = &state->physics->constant[i];
    DL_ROW(t, NULL, dl_string(c->name), dl_number(state->c[i]),
           dl_string(c->unit), dl_number(state->error[i]), dl_number(c->median),
           dl_number(c->sd), dl_string(c->summary));
  }
}

/* Adds the features of a fit. The features of a physical method are the
 * quantities that it reads; text omits them. */
static void add_features(struct dl_report *item, const struct dl_fit *fit) {
  const struct dl_physics *physics = fit->method->physics;
  const struct dl_column columns[] = {
      {"name", physics ? NULL : "feature", NULL, DL_CODE, false},
      {"coefficient", physics ? NULL : "coefficient", NULL, DL_PLAIN, false},
      {"mean", physics ? NULL : "mean", NULL, DL_PLAIN, false},
      {"sd", physics ? NULL : "sd", NULL, DL_PLAIN, false}};
  struct dl_table *t =
      DL_TABLE(item, "features", physics ? NULL : "Features", columns, false);
  double (*coefficient)(const void *, size_t) = fit->method->coefficient;
  for (size_t i = 0; physics && i < physics->n_quantities; i++) {
    struct dl_value v[DL_LENGTH(columns)] = {
        dl_string(physics->quantity[i].name)};
    dl_table_row(t, v, NULL);
  }
  for (size_t i = 0; i < fit->features.n; i++) {
    DL_ROW(t, NULL, dl_string(fit->features.s[i]),
           dl_number(coefficient ? coefficient(fit->state, i) : NAN),
           dl_number(dl_fit_feature_mean(fit, i)),
           dl_number(dl_fit_feature_sd(fit, i)));
  }
}

static void add_hyper(struct dl_report *item, const struct dl_fit *fit) {
  struct dl_report *g = dl_report_group(item, "hyperparameters",
                                        fit->method->n_hyper ? "" : NULL);
  for (size_t i = 0; i < fit->method->n_hyper; i++)
    dl_report_add(g, fit->method->hyper[i].name, fit->method->hyper[i].name,
                  NULL, DL_PLAIN, dl_number(fit->hyper[i]));
}

enum { SCORES = 8, MOST_SHOWN = 10 /* rows for people */ };

/* A unit of "" stands for the unit of the target. */
#define OF(member) DL_MEMBER(dl_scores, member)
static const struct dl_member_column score_columns[SCORES] = {
    {.column = {NULL, NULL, NULL, DL_CODE, 0}},
    {{"n", "n", NULL, DL_CODE, 0}, OF(n)},
    {{"r2", "R2", NULL, DL_PLAIN, 0}, OF(r2)},
    {{"rmse", "RMSE", "", DL_PLAIN, 0}, OF(rmse)},
    {{"mae", "MAE", "", DL_PLAIN, 0}, OF(mae)},
    {{"mape", "MAPE", "%", DL_PERCENT, 0}, OF(mape)},
    {{"median_ape", "median APE", "%", DL_PERCENT, 0}, OF(median_ape)},
    {{"bias", "bias", "", DL_PLAIN, 0}, OF(bias)}};

/* A table of scores, with a first column that says of what. */
static struct dl_table *add_score_table(struct dl_report *r, const char *key,
                                        const char *title,
                                        const struct dl_column *first,
                                        const char *unit) {
  struct dl_column c[SCORES];
  for (size_t i = 0; i < SCORES; i++) {
    c[i] = i > 0 ? score_columns[i].column : *first;
    c[i].unit = c[i].unit && !*c[i].unit ? unit : c[i].unit;
    c[i].heading = first->heading ? c[i].heading : NULL;
  }
  return dl_report_table(r, key, title, c, SCORES, false);
}

static void add_scores(struct dl_table *t, struct dl_value name,
                       const struct dl_scores *s) {
  struct dl_value v[SCORES] = {name};
  dl_member_values(score_columns, SCORES, s, v);
  dl_table_row(t, v, NULL);
}

static void add_score_group(struct dl_report *r, const char *key,
                            const struct dl_scores *s) {
  struct dl_report *g = dl_report_group(r, key, NULL);
  struct dl_value v[SCORES];
  dl_member_values(score_columns, SCORES, s, v);
  for (size_t i = 1; i < SCORES; i++)
    dl_report_add(g, score_columns[i].column.key, NULL, NULL, DL_PLAIN, v[i]);
}

/* JSON has {"scheme", "folds": [...], "mean": {...}, "pooled": {...}}; people
 * get tables, of the folds only if they are few. */
static void add_cv(const struct dl_fit_view *view, struct dl_report *item,
                   const struct dl_fit *fit, const struct dl_cv *cv,
                   const struct dl_cv_spec *spec) {
  char scheme[96], title[128];
  bool shown = view->details && cv->k <= MOST_SHOWN;
  dl_cv_name(spec, scheme, sizeof scheme);
  snprintf(title, sizeof title, "Cross-validation, %s", scheme);
  struct dl_report *g = dl_report_group(item, "cv", "");
  dl_report_add(g, "scheme", NULL, NULL, DL_CODE, dl_string(scheme));
  const struct dl_column first = {"fold", shown ? "fold" : NULL, NULL, DL_CODE,
                                  0};
  struct dl_table *folds =
      add_score_table(g, "folds", title, &first, fit->unit);
  for (size_t i = 0; i < cv->k; i++)
    add_scores(folds, dl_count(i + 1), &cv->fold[i]);
  struct dl_table *sum =
      add_score_table(g, NULL, shown ? "Summary" : title,
                      &(struct dl_column){.heading = "fold"}, fit->unit);
  add_scores(sum, dl_string("mean of folds"), &cv->mean);
  add_scores(sum, dl_string("pooled rows"), &cv->pooled);
  add_score_group(g, "mean", &cv->mean);
  add_score_group(g, "pooled", &cv->pooled);
}

/* Residuals by group of rows that were held out together. */
static void add_residuals(struct dl_report *item, const struct dl_fit *fit,
                          enum dl_held_out_group left) {
  static const char *const keys[] = {"residuals_config", "residuals_arch",
                                     "residuals_gpu"};
  const struct dl_residuals *r = &fit->held_out_residuals[left];
  const char *name = dl_held_out_group_name(left);
  bool shown = r->n <= MOST_SHOWN;
  const struct dl_column columns[] = {
      {.key = "left_out"},
      {"group", shown ? name : NULL, NULL, DL_CODE, false},
      {"n", shown ? "n" : NULL, NULL, DL_CODE, false},
      {"mean", shown ? "mean residual" : NULL, NULL, DL_PLAIN, false},
      {"low", shown ? "range" : NULL, NULL, DL_PLAIN, true},
      {"high", shown ? "" : NULL, NULL, DL_PLAIN, false}};
  struct dl_table *t = DL_TABLE(item, keys[left],
                                fit->log_target ? "Residuals, log(y / estimate)"
                                                : "Residuals, y - estimate",
                                columns, false);
  for (size_t k = 0; k < r->n; k++) {
    const struct dl_group_residuals *g = &r->g[k];
    double sum = 0;
    for (size_t i = 0; i < g->n_values; i++)
      sum += g->value[i];
    if (g->n_values == 0)
      continue;
    DL_ROW(t, NULL, dl_string(name), dl_string(g->name), dl_count(g->n),
           dl_number(sum / (double)g->n_values), dl_number(g->value[0]),
           dl_number(g->value[g->n_values - 1]));
  }
}

/* Grouped cross-validation: scores and residuals of what was held out. */
static void add_left_out(struct dl_report *item, const struct dl_fit *fit) {
  static const struct dl_column first = {"left_out", "held out", NULL, DL_CODE,
                                         0};
  struct dl_table *t =
      add_score_table(item, "left_out", "Grouped cross-validation, pooled rows",
                      &first, fit->unit);
  for (size_t i = 0; i < DL_N_HELD_OUT; i++) {
    if (fit->held_out_residuals[i].n == 0)
      continue;
    add_scores(t, dl_string(dl_held_out_group_name((enum dl_held_out_group)i)),
               &fit->held_out_residuals[i].pooled);
  }
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++)
    if (fit->held_out_residuals[i].n > 0)
      add_residuals(item, fit, (enum dl_held_out_group)i);
}

/* For CSV only: text omits a table without headings, JSON one without a key. */
struct dl_table *dl_report_fits(struct dl_report *r) {
  static const struct dl_column columns[] = {
      {.key = "target"}, {.key = "unit"}, {.key = "boundary"},
      {.key = "method"}, {.key = "n"},    {.key = "configurations"},
      {.key = "scheme"}, {.key = "r2"},   {.key = "rmse"},
      {.key = "mae"},    {.key = "mape"}, {.key = "median_ape"},
      {.key = "bias"}};
  return DL_TABLE(r, NULL, NULL, columns, true);
}

static void add_summary(struct dl_table *t, const struct dl_fit *fit,
                        const struct dl_cv *cv, const struct dl_cv_spec *spec) {
  static const struct dl_scores none = {0, NAN, NAN, NAN, NAN, NAN, NAN};
  const struct dl_scores *s = cv->k > 0 ? &cv->pooled : &none;
  char scheme[96];
  dl_cv_name(spec, scheme, sizeof scheme);
  enum { R2 = 2, OF_FIT = 7 }; /* columns before the scores from R2 on */
  struct dl_value v[OF_FIT + SCORES - R2] = {
      dl_string(fit->target),
      dl_string(fit->unit),
      dl_string(fit->boundary),
      dl_string(fit->method->name),
      dl_count(fit->n),
      dl_count(fit->configurations),
      dl_string(cv->k > 0 ? scheme : NULL)};
  dl_member_values(score_columns + R2, SCORES - R2, s, v + OF_FIT);
  dl_table_row(t, v, NULL);
}

/* "krr busy-share: config 0.097 arch 0.134 gpu 0.254 mean 0.1617": errors are
 * mean absolute errors of the logarithm. */
static void add_tried(struct dl_strlist *list,
                      const struct dl_fit_candidate *c) {
  DL_TEXT(t);
  dl_text_printf(&t, "%s %s:", c->method->name, c->recipe.name);
  for (size_t i = 0; i <= DL_HELD_OUT_ROWS; i++)
    if (!isnan(c->error[i]))
      dl_text_printf(&t, " %s %.3f",
                     dl_held_out_group_name((enum dl_held_out_group)i),
                     c->error[i]);
  dl_text_printf(&t, " mean %.4f", c->score);
  dl_strlist_add(list, dl_text_str(&t));
}

/* The head of a fit's item. */
static void add_facts(struct dl_report *item, const struct dl_fit *fit,
                      const struct dl_trials *trials) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist tried = {0};
  for (size_t i = 0; i < trials->n; i++)
    add_tried(&tried, &trials->list[i]);
  DL_LINES(
      item, {.key = "target", .value = dl_string(fit->target)},
      {.key = "unit", .value = dl_string(fit->unit)},
      {"boundary", "boundary", NULL, DL_CODE, dl_known_string(fit->boundary)},
      {.key = "method", .value = dl_string(fit->method->name)},
      {.key = "log_target", .value = dl_bool(fit->log_target)},
      {.key = "offset", .value = dl_string(fit->offset)},
      {"n", "runs", NULL, DL_CODE, dl_count(fit->n)},
      {"configurations", fit->configurations ? "configurations" : NULL, NULL,
       DL_CODE, dl_count(fit->configurations)},
      {.key = "chosen", .value = dl_string(tried.n ? tried.s[0] : NULL)},
      {.key = "tried",
       .value = dl_strings((const char *const *)tried.s, tried.n)});
}

void dl_report_fit(struct dl_fit_view *view, const struct dl_fit *fit,
                   const struct dl_cv *cv, const struct dl_cv_spec *spec,
                   const struct dl_trials *tried) {
  const struct dl_regression *method = fit->method;
  char title[256], scheme[96];
  snprintf(title, sizeof title, "Fit of %s%s%s%s by %s", fit->target,
           fit->unit ? " (" : "", dl_text_or(fit->unit, ""),
           fit->unit ? ")" : "", method->name);
  struct dl_report *item = dl_report_item(
      view->r, "fits", view->details || method->coefficient ? title : NULL);
  dl_cv_name(spec, scheme, sizeof scheme);
  dl_fit_answer(view->answers, fit, cv, scheme);
  dl_fit_choice(&view->choice, tried);
  add_summary(view->fits, fit, cv, spec);
  if (view->details)
    add_facts(item, fit, tried);
  if (view->details || method->coefficient)
    dl_report_add(
        item, "intercept", method->intercept ? "intercept" : NULL, NULL,
        DL_PLAIN,
        dl_number(method->intercept ? method->intercept(fit->state) : NAN));
  if (view->details) {
    dl_fit_trials(item, tried);
    add_hyper(item, fit);
  }
  if (view->details || method->coefficient)
    add_features(item, fit);
  if (view->details)
    add_constants(item, fit);
  if (view->details && cv->k > 0) {
    add_cv(view, item, fit, cv, spec);
    add_left_out(item, fit);
  }
}
