/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/fit_summary.h"

#include <math.h>
#include <string.h>

#include "cli/views/summary/answer.h"
#include "model/residual_interval.h"
#include "output/units.h"

/* Says in words which groups cross-validation held out. */
static const char *const held_out_words[] = {
    [DL_HELD_OUT_CONFIG] = "configuration",
    [DL_HELD_OUT_ARCH] = "architecture",
    [DL_HELD_OUT_GPU] = "GPU",
    [DL_HELD_OUT_ROWS] = "random rows"};

enum { TARGET, BOUNDARY, METHOD, HELD_OUT, MAPE, INTERVAL, RMSE, N_COLUMNS };

struct dl_table *dl_fit_answers(struct dl_report *r) {
  static const struct dl_column columns[N_COLUMNS] = {
      [TARGET] = {NULL, "target", NULL, DL_CODE, DL_MAIN},
      [METHOD] = {NULL, "method", NULL, DL_CODE, 0},
      [HELD_OUT] = {NULL, "held out", NULL, DL_CODE, DL_MAIN},
      [MAPE] = {NULL, "MAPE", NULL, DL_CODE, DL_MAIN},
      [INTERVAL] = {NULL, "90 % interval", NULL, DL_CODE, 0},
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

/* Measured values by their predictions, "-12 to +14 %", for a run of typical
 * spread; residuals of targets without a logarithm have the target's unit. */
static void add_interval(struct dl_text *t, const struct dl_fit *fit,
                         const struct dl_residuals *r) {
  double low, high;
  if (!r || !dl_residual_interval(r, 0.9, &low, &high))
    return;
  const double spread = dl_residuals_spread(r);
  if (fit->log_target) {
    dl_text_printf(t, "%+.0f to %+.0f %%", 100 * expm1(low * spread),
                   100 * expm1(high * spread));
  } else {
    const bool energy = dl_same_text(fit->unit, "J");
    dl_show_interval(t, energy ? DL_ENERGY : DL_PLAIN, fit->unit, high * spread,
                     low * spread, high * spread);
  }
}

/* `first`: the row that names the fit; blanks stand below. */
static void add_row(struct dl_table *t, const struct dl_fit *fit, bool first,
                    const char *held_out, const struct dl_scores *s,
                    const struct dl_residuals *r) {
  DL_TEXT(mape);
  DL_TEXT(rmse);
  DL_TEXT(interval);
  const char *const blank = " ";
  if (s) {
    dl_text_printf(&mape, "%.1f %%", 100 * s->mape);
    add_error(&rmse, fit->unit, s->rmse);
  }
  add_interval(&interval, fit, r);
  const struct dl_value row[N_COLUMNS] = {
      [TARGET] = dl_string(first ? fit->target : blank),
      [METHOD] = dl_string(first ? fit->method->name : blank),
      [HELD_OUT] = dl_string(held_out),
      [MAPE] = dl_string(mape.s),
      [INTERVAL] = dl_string(interval.s),
      [RMSE] = dl_string(rmse.s),
      [BOUNDARY] = dl_string(first ? fit->boundary : blank)};
  dl_table_row(t, row, NULL);
}

void dl_fit_answer(struct dl_table *t, const struct dl_fit *fit,
                   const struct dl_cv *cv, const char *scheme) {
  const struct dl_residuals *left_out = fit->held_out_residuals;
  bool first = true;
  if (cv->k == 0)
    add_row(t, fit, true, "nothing", NULL, NULL);
  if (cv->k > 0 && scheme) {
    add_row(t, fit, true, scheme, &cv->pooled, NULL);
    first = false;
  }
  for (size_t i = 0; i < DL_HELD_OUT_ROWS && cv->k > 0; i++)
    if (left_out[i].n > 0) {
      add_row(t, fit, first, held_out_words[i], &left_out[i].pooled,
              &left_out[i]);
      first = false;
    }
}

/* "857 runs of 45 configurations, 9 architectures, 3 GPUs, each held out" */
static void add_basis(struct dl_answer_line *l, const struct dl_fit *fit,
                      bool any) {
  const struct {
    size_t n;
    const char *name;
  } counts[] = {{fit->configurations, "configuration"},
                {fit->archs.n, "architecture"},
                {fit->gpus.n, "GPU"}};
  const char *join = " of ";
  l->label = "Basis";
  dl_text_printf(&l->figure, "%zu runs", fit->n);
  for (size_t i = 0; i < DL_LENGTH(counts); i++) {
    if (counts[i].n == 0)
      continue;
    dl_text_printf(&l->figure, "%s%zu %s%s", join, counts[i].n, counts[i].name,
                   counts[i].n == 1 ? "" : "s");
    join = ", ";
  }
  dl_text_add(&l->figure, any ? ", each held out" : "");
}

void dl_fit_choice(struct dl_text *to, const struct dl_trials *tried) {
  const struct dl_fit_candidate *o = tried->list;
  dl_text_clear(to);
  if (tried->n > 1)
    dl_text_printf(to,
                   "%s, best of %zu by held-out error: %.2g %%, next %s %.2g "
                   "%%",
                   o->method->name, tried->n, 100 * o->score, o[1].method->name,
                   100 * o[1].score);
}

/* Runs that would teach the fit most: of groups that are unknown, else of those
 * with the largest error. */
static void add_better(struct dl_answer_line *l, const struct dl_fit *fit) {
  const struct dl_residuals *r = fit->held_out_residuals;
  size_t worst = DL_HELD_OUT_CONFIG;
  l->label = "Better";
  for (size_t i = DL_HELD_OUT_CONFIG; i <= DL_HELD_OUT_GPU; i++)
    if (r[i].n > 0 && r[i].pooled.mape > r[worst].pooled.mape)
      worst = i;
  if (r[DL_HELD_OUT_GPU].n == 0)
    dl_text_add(&l->figure,
                "runs on other GPUs: the error on a new one is unknown");
  else if (r[DL_HELD_OUT_ARCH].n == 0)
    dl_text_add(&l->figure, "runs of other architectures: the error of a new "
                            "one is unknown");
  else
    dl_text_printf(&l->figure,
                   "runs of more %ss: a new one has the largest "
                   "error",
                   held_out_words[worst]);
}

void dl_fit_notes(struct dl_report *r, const struct dl_fit *fit,
                  const char *choice) {
  struct dl_answer_line line[3] = {0};
  bool any = false;
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++)
    any |= fit->held_out_residuals[i].n > 0;
  add_basis(&line[0], fit, any);
  dl_answer_text(&line[1], "Method", choice);
  if (any)
    add_better(&line[2], fit);
  dl_answer_lines(dl_report_group(r, NULL, ""), line, DL_LENGTH(line));
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
