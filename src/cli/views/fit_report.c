/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/fit_report.h"

#include <math.h>
#include <string.h>

#include "physics/rows/physics_regression.h"

static const struct dl_column feature_columns[] = {
    {"name", "feature", NULL, DL_CODE, false},
    {"coefficient", "coefficient", NULL, DL_PLAIN, false},
    {"mean", "mean", NULL, DL_PLAIN, false},
    {"sd", "sd", NULL, DL_PLAIN, false}};

static const struct dl_column constant_columns[] = {
    {"name", "constant", NULL, DL_CODE, false},
    {"value", "value", NULL, DL_PLAIN, false},
    {"unit", "unit", NULL, DL_CODE, false},
    {"error", "error", "%", DL_PERCENT, false},
    {"prior", "prior", NULL, DL_PLAIN, false},
    {"prior_sd", "its sd", "%", DL_PERCENT, false},
    {"summary", "what it is", NULL, DL_CODE, false}};

/* Errors are standard deviations of the logarithm, as shares of the value. */
static void add_constants(struct dl_report *item, const struct dl_fit *fit) {
  const struct dl_hierarchical_fit *state = fit->state;
  if (fit->method != dl_regression_find("physical"))
    return;
  struct dl_table *t = dl_report_table(item, "constants", "Constants",
                                       constant_columns, 7, false);
  for (size_t i = 0; i < state->physics->n_constants; i++) {
    const struct dl_physics_constant *c = &state->physics->constant[i];
    struct dl_value v[] = {dl_string(c->name),   dl_number(state->c[i]),
                           dl_string(c->unit),   dl_number(state->error[i]),
                           dl_number(c->median), dl_number(c->sd),
                           dl_string(c->summary)};
    dl_table_row(t, v, NULL);
  }
}

/* A physics has the quantities that it reads: for programs alone. */
static void add_features(struct dl_report *item, const struct dl_fit *fit) {
  struct dl_column columns[sizeof feature_columns / sizeof *feature_columns];
  memcpy(columns, feature_columns, sizeof columns);
  const struct dl_physics *physics = dl_physics_of(fit->method);
  for (size_t i = 0; physics && i < 4; i++)
    columns[i].heading = NULL;
  struct dl_table *t = dl_report_table(
      item, "features", physics ? NULL : "Features", columns, 4, false);
  double (*coefficient)(const void *, size_t) = fit->method->coefficient;
  for (size_t i = 0; physics && i < physics->n_quantities; i++) {
    struct dl_value v[] = {dl_string(physics->quantity[i].name), dl_number(NAN),
                           dl_number(NAN), dl_number(NAN)};
    dl_table_row(t, v, NULL);
  }
  for (size_t i = 0; i < fit->features.n; i++) {
    struct dl_value v[] = {
        dl_string(fit->features.s[i]),
        dl_number(coefficient ? coefficient(fit->state, i) : NAN),
        dl_number(dl_fit_feature_mean(fit, i)),
        dl_number(dl_fit_feature_sd(fit, i))};
    dl_table_row(t, v, NULL);
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

/* In the unit of the target but for r2, mape and median_ape. */
static void score_columns(struct dl_column c[SCORES], const char *first,
                          const char *unit) {
  const struct dl_column columns[SCORES] = {
      {first, first, NULL, DL_CODE, false},
      {"n", "n", NULL, DL_CODE, false},
      {"r2", "R2", NULL, DL_EXACT, false},
      {"rmse", "RMSE", unit, DL_EXACT, false},
      {"mae", "MAE", unit, DL_EXACT, false},
      {"mape", "MAPE", "%", DL_PERCENT, false},
      {"median_ape", "median APE", "%", DL_PERCENT, false},
      {"bias", "bias", unit, DL_EXACT, false}};
  memcpy(c, columns, sizeof columns);
}

static void score_values(struct dl_value v[SCORES], struct dl_value name,
                         const struct dl_scores *s) {
  size_t i = 0;
  v[i++] = name;
  v[i++] = dl_count(s->n);
  v[i++] = dl_number(s->r2);
  v[i++] = dl_number(s->rmse);
  v[i++] = dl_number(s->mae);
  v[i++] = dl_number(s->mape);
  v[i++] = dl_number(s->median_ape);
  v[i++] = dl_number(s->bias);
}

static void add_score_group(struct dl_report *r, const char *key,
                            const struct dl_scores *s) {
  struct dl_report *g = dl_report_group(r, key, NULL);
  struct dl_column c[SCORES];
  struct dl_value v[SCORES];
  score_columns(c, "fold", NULL);
  score_values(v, dl_string(NULL), s);
  for (size_t i = 1; i < SCORES; i++)
    dl_report_add(g, c[i].key, NULL, NULL, c[i].style, v[i]);
}

static void hide(struct dl_column *c, size_t n) {
  for (size_t i = 0; i < n; i++)
    c[i].heading = NULL;
}

/* JSON has {"scheme", "folds": [...], "mean": {...}, "pooled": {...}}; people
 * get tables, of the folds only where they are few. */
static void add_cv(struct dl_report *item, const struct dl_fit *fit,
                   const struct dl_cv *cv, const struct dl_cv_spec *spec) {
  char scheme[96], title[128];
  struct dl_column c[SCORES];
  struct dl_value v[SCORES];
  bool shown = cv->k <= MOST_SHOWN;
  dl_cv_name(spec, scheme, sizeof scheme);
  snprintf(title, sizeof title, "Cross-validation, %s", scheme);
  struct dl_report *g = dl_report_group(item, "cv", "");
  dl_report_add(g, "scheme", NULL, NULL, DL_CODE, dl_string(scheme));
  score_columns(c, "fold", fit->unit);
  if (!shown)
    hide(c, SCORES);
  struct dl_table *folds = dl_report_table(g, "folds", title, c, SCORES, false);
  for (size_t i = 0; i < cv->k; i++) {
    score_values(v, dl_count(i + 1), &cv->fold[i]);
    dl_table_row(folds, v, NULL);
  }
  score_columns(c, "fold", fit->unit);
  struct dl_table *sum =
      dl_report_table(g, NULL, shown ? "Summary" : title, c, SCORES, false);
  score_values(v, dl_string("mean"), &cv->mean);
  dl_table_row(sum, v, NULL);
  score_values(v, dl_string("pooled"), &cv->pooled);
  dl_table_row(sum, v, NULL);
  add_score_group(g, "mean", &cv->mean);
  add_score_group(g, "pooled", &cv->pooled);
}

static double mean_of(const struct dl_group_residuals *g) {
  double sum = 0;
  for (size_t i = 0; i < g->n_values; i++)
    sum += g->value[i];
  return sum / (double)g->n_values;
}

static void add_groups(struct dl_report *item, const struct dl_fit *fit,
                       enum dl_left_out left) {
  struct dl_column columns[] = {
      {"left_out", NULL, NULL, DL_CODE, false},
      {"group", dl_left_out_name(left), NULL, DL_CODE, false},
      {"n", "n", NULL, DL_CODE, false},
      {"mean", "mean residual", NULL, DL_PLAIN, false},
      {"low", "range", NULL, DL_PLAIN, true},
      {"high", "", NULL, DL_PLAIN, false}};
  static const char *const keys[] = {"residuals_config", "residuals_arch",
                                     "residuals_gpu"};
  const struct dl_residuals *r = &fit->left_out[left];
  if (r->n > MOST_SHOWN)
    hide(columns, sizeof columns / sizeof *columns);
  struct dl_table *t =
      dl_report_table(item, keys[left],
                      fit->log_target ? "Residuals, log(y / estimate)"
                                      : "Residuals, y - estimate",
                      columns, sizeof columns / sizeof *columns, false);
  for (size_t k = 0; k < r->n; k++) {
    const struct dl_group_residuals *g = &r->g[k];
    if (g->n_values == 0)
      continue;
    struct dl_value row[] = {dl_string(dl_left_out_name(left)),
                             dl_string(g->name),
                             dl_count(g->n),
                             dl_number(mean_of(g)),
                             dl_number(g->value[0]),
                             dl_number(g->value[g->n_values - 1])};
    dl_table_row(t, row, NULL);
  }
}

/* Scores and residuals of what was left out. */
static void add_left_out(struct dl_report *item, const struct dl_fit *fit) {
  struct dl_column c[SCORES];
  struct dl_value v[SCORES];
  score_columns(c, "left_out", fit->unit);
  c[0].heading = "left out";
  struct dl_table *t = dl_report_table(
      item, "left_out", "For what the fit has not seen", c, SCORES, false);
  for (size_t i = 0; i < DL_N_LEFT_OUT; i++) {
    if (fit->left_out[i].n == 0)
      continue;
    score_values(v, dl_string(dl_left_out_name((enum dl_left_out)i)),
                 &fit->left_out[i].pooled);
    dl_table_row(t, v, NULL);
  }
  for (size_t i = 0; i < DL_LEFT_ROWS; i++)
    if (fit->left_out[i].n > 0)
      add_groups(item, fit, (enum dl_left_out)i);
}

/* For CSV alone: without headings people do not see it, without a key JSON
 * does not have it. */
struct dl_table *dl_report_fits(struct dl_report *r) {
  static const struct dl_column columns[] = {
      {.key = "target"}, {.key = "unit"}, {.key = "boundary"},
      {.key = "method"}, {.key = "n"},    {.key = "configurations"},
      {.key = "scheme"}, {.key = "r2"},   {.key = "rmse"},
      {.key = "mae"},    {.key = "mape"}, {.key = "median_ape"},
      {.key = "bias"}};
  return dl_report_table(r, NULL, NULL, columns,
                         sizeof columns / sizeof *columns, true);
}

static void add_summary(struct dl_table *t, const struct dl_fit *fit,
                        const struct dl_cv *cv, const struct dl_cv_spec *spec) {
  static const struct dl_scores none = {0, NAN, NAN, NAN, NAN, NAN, NAN};
  char scheme[96];
  struct dl_value v[7 + SCORES];
  dl_cv_name(spec, scheme, sizeof scheme);
  score_values(v + 5, dl_string(NULL), cv->k > 0 ? &cv->pooled : &none);
  v[0] = dl_string(fit->target);
  v[1] = dl_string(fit->unit);
  v[2] = dl_string(fit->boundary);
  v[3] = dl_string(fit->method->name);
  v[4] = dl_count(fit->n);
  v[5] = dl_count(fit->configurations);
  v[6] = dl_string(cv->k > 0 ? scheme : NULL);
  dl_table_row(t, v, NULL);
}

void dl_report_fit(struct dl_report *r, struct dl_table *fits,
                   const struct dl_fit *fit, const struct dl_cv *cv,
                   const struct dl_cv_spec *spec,
                   const struct dl_strlist *tried) {
  char title[256];
  snprintf(title, sizeof title, "Fit of %s%s%s%s by %s", fit->target,
           fit->unit ? " (" : "", fit->unit ? fit->unit : "",
           fit->unit ? ")" : "", fit->method->name);
  struct dl_report *item = dl_report_item(r, "fits", title);
  dl_report_add(item, "target", NULL, NULL, DL_CODE, dl_string(fit->target));
  dl_report_add(item, "unit", NULL, NULL, DL_CODE, dl_string(fit->unit));
  dl_report_add(item, "boundary", fit->boundary ? "boundary" : NULL, NULL,
                DL_CODE, dl_string(fit->boundary));
  dl_report_add(item, "method", NULL, NULL, DL_CODE,
                dl_string(fit->method->name));
  dl_report_add(item, "log_target", NULL, NULL, DL_CODE,
                dl_bool(fit->log_target));
  dl_report_add(item, "offset", NULL, NULL, DL_CODE, dl_string(fit->offset));
  dl_report_add(item, "n", "runs", NULL, DL_CODE, dl_count(fit->n));
  dl_report_add(item, "configurations",
                fit->configurations ? "configurations" : NULL, NULL, DL_CODE,
                dl_count(fit->configurations));
  dl_report_add(item, "chosen", tried->n ? "chosen" : NULL, NULL, DL_CODE,
                dl_string(tried->n ? tried->s[0] : NULL));
  dl_report_add(item, "tried", NULL, NULL, DL_CODE,
                dl_strings((const char *const *)tried->s, tried->n));
  dl_report_add(item, "intercept", fit->method->intercept ? "intercept" : NULL,
                NULL, DL_PLAIN,
                dl_number(fit->method->intercept
                              ? fit->method->intercept(fit->state)
                              : NAN));
  add_hyper(item, fit);
  add_features(item, fit);
  add_constants(item, fit);
  add_summary(fits, fit, cv, spec);
  if (cv->k > 0)
    add_cv(item, fit, cv, spec);
  if (cv->k > 0)
    add_left_out(item, fit);
}
