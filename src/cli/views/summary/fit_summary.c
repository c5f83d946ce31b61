/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/fit_summary.h"

#include <string.h>

#include "output/units.h"

/* Says in words which groups cross-validation held out. */
static const char *const held_out_words[] = {
    [DL_HELD_OUT_CONFIG] = "configuration",
    [DL_HELD_OUT_ARCH] = "architecture",
    [DL_HELD_OUT_GPU] = "GPU",
    [DL_HELD_OUT_ROWS] = "random rows"};

enum { TARGET, BOUNDARY, METHOD, RUNS, HELD_OUT, MAPE, R2, RMSE, N_COLUMNS };

struct dl_table *dl_fit_answers(struct dl_report *r) {
  static const struct dl_column columns[N_COLUMNS] = {
      [TARGET] = {NULL, "target", NULL, DL_CODE, DL_MAIN},
      [RUNS] = {NULL, "runs", NULL, DL_CODE, DL_SPARE},
      [METHOD] = {NULL, "method", NULL, DL_CODE, 0},
      [HELD_OUT] = {NULL, "held out", NULL, DL_CODE, DL_MAIN},
      [MAPE] = {NULL, "MAPE", "%", DL_PERCENT, DL_MAIN},
      [R2] = {NULL, "R2", NULL, DL_PLAIN, 0},
      [RMSE] = {NULL, "RMSE", NULL, DL_CODE, 0},
      [BOUNDARY] = {NULL, "boundary", NULL, DL_CODE, DL_SPARE}};
  return dl_report_table(r, NULL, "Errors of held-out runs", columns, N_COLUMNS,
                         false);
}

/* An error in the target's unit: "13.8 W", "1.16 kJ". */
static void add_error(struct dl_text *t, const char *unit, double x) {
  bool energy = unit && strcmp(unit, "J") == 0;
  const struct dl_value value = dl_number(x);
  dl_show(t, energy ? DL_ENERGY : DL_PLAIN, unit, &value, NULL);
}

/* `first`: the row that names the fit; blanks stand below. */
static void add_row(struct dl_table *t, const struct dl_fit *fit, bool first,
                    const char *held_out, const struct dl_scores *s) {
  DL_TEXT(rmse);
  const char *const blank = " ";
  if (s)
    add_error(&rmse, fit->unit, s->rmse);
  const struct dl_value row[N_COLUMNS] = {
      [TARGET] = dl_string(first ? fit->target : blank),
      [RUNS] = dl_count(s ? s->n : fit->n),
      [METHOD] = dl_string(first ? fit->method->name : blank),
      [HELD_OUT] = dl_string(held_out),
      [MAPE] = dl_number(s ? s->mape : NAN),
      [R2] = dl_number(s ? s->r2 : NAN),
      [RMSE] = dl_string(s ? dl_text_str(&rmse) : NULL),
      [BOUNDARY] = dl_string(first ? fit->boundary : blank)};
  dl_table_row(t, row, NULL);
}

void dl_fit_answer(struct dl_table *t, const struct dl_fit *fit,
                   const struct dl_cv *cv, const char *scheme) {
  bool first = true;
  if (cv->k == 0)
    add_row(t, fit, true, "nothing", NULL);
  if (cv->k > 0 && scheme) {
    add_row(t, fit, true, scheme, &cv->pooled);
    first = false;
  }
  for (size_t i = 0; i < DL_HELD_OUT_ROWS && cv->k > 0; i++)
    if (fit->held_out_residuals[i].n > 0) {
      add_row(t, fit, first, held_out_words[i],
              &fit->held_out_residuals[i].pooled);
      first = false;
    }
}

void dl_fit_trials(struct dl_report *item, const struct dl_trials *tried) {
  enum { NAME, RECIPE, ERRORS, MEAN = ERRORS + DL_HELD_OUT_ROWS + 1, N };
  struct dl_column c[N] = {[NAME] = {NULL, "method", NULL, DL_CODE, 0},
                           [RECIPE] = {NULL, "recipe", NULL, DL_CODE, 0},
                           [MEAN] = {NULL, "mean", "%", DL_PERCENT, DL_MAIN}};
  for (size_t i = 0; i <= DL_HELD_OUT_ROWS; i++)
    c[ERRORS + i] = (struct dl_column){.unit = "%", .style = DL_PERCENT};
  if (tried->n < 2)
    return;
  for (size_t i = 0; i <= DL_HELD_OUT_ROWS; i++)
    if (!isnan(tried->list[0].error[i]))
      c[ERRORS + i].heading = held_out_words[i];
  dl_report_say(item,
                "Chosen from %zu by their mean error: %s, with the recipe "
                "\"%s\".",
                tried->n, tried->list[0].method->name,
                tried->list[0].recipe.summary);
  struct dl_table *t = dl_report_table(
      item, NULL, "Mean absolute log error by what was held out", c, N, false);
  for (size_t k = 0; k < tried->n; k++) {
    const struct dl_fit_candidate *o = &tried->list[k];
    struct dl_value row[N] = {[NAME] = dl_string(o->method->name),
                              [RECIPE] = dl_string(o->recipe.summary),
                              [MEAN] = dl_number(o->score)};
    for (size_t i = 0; i <= DL_HELD_OUT_ROWS; i++)
      row[ERRORS + i] = dl_number(o->error[i]);
    dl_table_row(t, row, NULL);
  }
}
