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

/* Columns of held-out groups begin at GROUPS. */
enum {
  TARGET,
  BOUNDARY,
  GROUPS,
  OTHER = GROUPS + DL_HELD_OUT_ROWS,
  INTERVAL,
  N_COLUMNS
};

struct dl_table *dl_fit_answers(struct dl_report *r, bool other) {
  static const struct dl_column columns[N_COLUMNS] = {
      [TARGET] = {NULL, "target", NULL, DL_CODE, DL_MAIN},
      [BOUNDARY] = {NULL, "boundary", NULL, DL_CODE, DL_SPARE},
      [OTHER] = {NULL, NULL, NULL, DL_CODE, 0},
      [INTERVAL] = {NULL, "90 % interval", NULL, DL_CODE, 0}};
  struct dl_column c[N_COLUMNS];
  memcpy(c, columns, sizeof c);
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++)
    c[GROUPS + i] =
        (struct dl_column){NULL, held_out_words[i], NULL, DL_CODE, DL_MAIN};
  c[OTHER].heading = other ? "cross-validation" : NULL;
  return dl_report_table(r, NULL, "MAPE of runs whose group was held out", c,
                         N_COLUMNS, false);
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

void dl_fit_answer(struct dl_table *t, const struct dl_fit *fit,
                   const struct dl_cv *cv, const char *scheme) {
  const struct dl_residuals *left_out = fit->held_out_residuals, *last = NULL;
  struct dl_text cell[N_COLUMNS] = {0};
  struct dl_value row[N_COLUMNS];
  for (size_t i = 0; i < DL_HELD_OUT_ROWS && cv->k > 0; i++)
    if (left_out[i].n > 0) {
      last = &left_out[i];
      dl_text_printf(&cell[GROUPS + i], "%.1f %%", 100 * last->pooled.mape);
    }
  if (cv->k > 0)
    dl_text_printf(&cell[OTHER], "%.1f %% (%s)", 100 * cv->pooled.mape, scheme);
  add_interval(&cell[INTERVAL], fit, last);
  for (size_t i = 0; i < N_COLUMNS; i++)
    row[i] = dl_string(cell[i].len > 0 ? dl_text_str(&cell[i]) : NULL);
  row[TARGET] = dl_string(fit->target);
  row[BOUNDARY] = dl_string(fit->boundary);
  dl_table_row(t, row, NULL);
  for (size_t i = 0; i < N_COLUMNS; i++)
    dl_text_free(&cell[i]);
}

/* "krr, physical on 857 runs of 45 configurations, 9 architectures, 3 GPUs":
 * methods by target, one where they are equal */
static void add_basis(struct dl_answer_line *l, const struct dl_fit *fit,
                      size_t n_fits) {
  const struct {
    size_t n;
    const char *name;
  } counts[] = {{fit->configurations, "configuration"},
                {fit->archs.n, "architecture"},
                {fit->gpus.n, "GPU"}};
  const char *join = " of ";
  l->label = "Basis";
  size_t other = 1;
  while (other < n_fits && fit[other].method == fit->method)
    other++;
  for (size_t i = 0; i < (other < n_fits ? n_fits : 1); i++)
    dl_text_printf(&l->figure, "%s%s", i > 0 ? ", " : "", fit[i].method->name);
  dl_text_printf(&l->figure, " on %zu runs", fit->n);
  for (size_t i = 0; i < DL_LENGTH(counts); i++) {
    if (counts[i].n == 0)
      continue;
    dl_text_printf(&l->figure, "%s%zu %s%s", join, counts[i].n, counts[i].name,
                   counts[i].n == 1 ? "" : "s");
    join = ", ";
  }
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

void dl_fit_notes(struct dl_report *r, const struct dl_fit *fit, size_t n_fits,
                  const char *choice) {
  struct dl_answer_line line[3] = {0};
  bool any = false;
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++)
    any |= fit->held_out_residuals[i].n > 0;
  add_basis(&line[0], fit, n_fits);
  dl_answer_text(&line[1], "Method", choice);
  if (any)
    add_better(&line[2], fit);
  dl_answer_lines(r, line, DL_LENGTH(line));
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
