/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the table of out-of-fold predictions. */

#include "cli/passes/fit_predictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"
#include "model/cross_validation/auxiliary_residuals.h"
#include "model/cross_validation/fold_residuals.h"
#include "model/cross_validation/group_residuals.h"
#include "model/training/training_columns.h"
#include "physics/conditioning/joint_prediction.h"

static const char *const added[] = {"target", "unit",     "method",
                                    "fold",   "measured", "predicted",
                                    "low",    "high",     "spread"};
enum { N_ADDED = sizeof added / sizeof *added };

enum dl_status dl_predictions_check(const struct dl_predictions *p,
                                    const char *input, bool no_folds,
                                    struct dl_diag *d) {
  if (p->path && no_folds)
    return dl_fail(d, DL_EUSAGE,
                   "--predictions needs a cross-validation: --cv SCHEME");
  if (p->path && dl_is_stdio(p->path))
    return dl_fail(d, DL_EUSAGE,
                   "--predictions writes to a file: name one, not '-'");
  if (p->path && dl_is_stdio(input))
    return dl_fail(d, DL_EUSAGE,
                   "--predictions reads the table twice: give a file, not "
                   "standard input");
  return DL_OK;
}

/* The columns written for one target: one value per row of t. */
struct target {
  const struct dl_training *t;
  const struct dl_fit *fit;
  const double *predicted;
  struct dl_folds folds;
  double *measured, *low, *high; /* owned */
  double *spread;                /* owned; NULL: one width for all */
};

/* The kind of groups that the folds are; DL_N_HELD_OUT: another one. */
static enum dl_held_out_group groups_of(const struct dl_cv_spec *cv) {
  if (cv->scheme != DL_GROUP)
    return DL_HELD_OUT_ROWS;
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++)
    if (strcmp(cv->column, dl_held_out_group_name((enum dl_held_out_group)i)) ==
        0)
      return (enum dl_held_out_group)i;
  return strcmp(cv->column, dl_held_out_group_name(DL_HELD_OUT_PAIR)) == 0
             ? DL_HELD_OUT_PAIR
             : DL_N_HELD_OUT;
}

/* The spreads of all rows, of a physics that has them. */
static void find_spreads(struct target *w, enum dl_held_out_group left) {
  const struct dl_physics *physics = w->fit->method->physics;
  if (!physics || !physics->widths_by_run)
    return;
  const struct dl_physics_rows *rows = dl_training_physics_rows(w->t, physics);
  size_t target = (size_t)dl_physics_target(physics, w->fit->target);
  DL_FREED double *spread = dl_calloc(rows->inputs.n, sizeof *spread);
  w->spread = dl_calloc(w->t->n, sizeof *w->spread);
  for (size_t i = 0; i < rows->inputs.n; i++) {
    struct dl_fit_row row;
    double of[DL_MAX_TARGETS];
    dl_fit_row_make(&row, w->fit->state, rows->inputs.s[i]);
    dl_run_spreads(&row, dl_leaves_arch(left), dl_leaves_gpu(left), of);
    spread[i] = of[target];
  }
  for (size_t i = 0; i < w->t->n; i++)
    w->spread[i] = spread[rows->input[i]];
}

static enum dl_status make_target(struct target *w, const struct dl_training *t,
                                  const struct dl_fit *fit,
                                  const struct dl_cv *cv,
                                  const struct dl_choice *c,
                                  struct dl_diag *d) {
  *w = (struct target){.t = t,
                       .fit = fit,
                       .predicted = cv->prediction,
                       .measured = dl_calloc(t->n, sizeof *w->measured),
                       .low = dl_calloc(t->n, sizeof *w->low),
                       .high = dl_calloc(t->n, sizeof *w->high)};
  dl_training_values(t, fit->target, w->measured);
  DL_TRY(dl_training_folds(&w->folds, t, &c->cv, c->seed, d));
  enum dl_held_out_group left = groups_of(&c->cv);
  find_spreads(w, left);
  const struct dl_out_of_fold o = {
      .y = w->measured,
      .prediction = w->predicted,
      .spread = w->spread,
      .log_target = fit->log_target,
      .folds = &w->folds,
      .others =
          left < DL_HELD_OUT_ROWS ? &fit->held_out_residuals[left] : NULL};
  dl_out_of_fold_intervals(w->low, w->high, &o, DL_PREDICTIONS_COVERAGE);
  return DL_OK;
}

static void free_target(struct target *w) {
  dl_folds_free(&w->folds);
  free(w->measured);
  free(w->low);
  free(w->high);
  free(w->spread);
}

static void add_number(FILE *f, double x, char behind) {
  if (isfinite(x)) {
    char buf[DL_NUMBER_SIZE];
    fputs(dl_format_short(buf, x), f);
  }
  putc(behind, f);
}

static void add_text(FILE *f, const char *s) {
  dl_csv_write_cell(f, s ? s : "");
  putc(',', f);
}

static void write_row(FILE *f, const struct target *w, size_t i,
                      const char *const *cell, size_t n) {
  char number[32];
  for (size_t c = 0; c < n; c++)
    add_text(f, cell[c]);
  add_text(f, w->fit->target);
  add_text(f, w->fit->unit);
  add_text(f, w->fit->method->name);
  size_t fold = w->folds.of_row[i];
  snprintf(number, sizeof number, "%zu", fold);
  add_text(f, w->folds.name ? w->folds.name[fold] : number);
  add_number(f, w->measured[i], ',');
  add_number(f, w->predicted[i], ',');
  add_number(f, w->low[i], ',');
  add_number(f, w->high[i], ',');
  add_number(f, w->spread ? w->spread[i] : (double)NAN, '\n');
}

static enum dl_status write_header(FILE *f, const struct dl_csv *csv,
                                   struct dl_diag *d) {
  for (size_t i = 0; i < N_ADDED; i++)
    if (dl_csv_find(csv, added[i]) >= 0)
      return dl_fail_at(d, DL_EUSAGE, dl_csv_path(csv), 0,
                        "column '%s' is there already: --predictions cannot "
                        "add it; rename it",
                        added[i]);
  for (size_t c = 0; c < dl_csv_n_cols(csv); c++)
    add_text(f, dl_csv_name(csv, c));
  for (size_t i = 0; i < N_ADDED; i++)
    fprintf(f, i > 0 ? ",%s" : "%s", added[i]);
  putc('\n', f);
  return DL_OK;
}

/* The rows of the table that the fit had, both in the order of the file. Faults
 * of other rows were reported when the table was read first. */
static enum dl_status write_rows(FILE *f, struct dl_csv *csv,
                                 const struct target *w, struct dl_diag *d) {
  const struct dl_csv_block *block;
  size_t next = 0;
  enum dl_status status;
  while ((status = dl_csv_next(csv, &block, d)) == DL_OK && block)
    for (size_t i = 0; i < block->n_rows; i++) {
      if (next == w->t->n || w->t->line[next] != block->line[i])
        continue;
      write_row(f, w, next++, block->cell + i * block->n_cols, block->n_cols);
    }
  if (status == DL_OK && next < w->t->n)
    status = dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 0,
                        "changed while it was read");
  return status;
}

enum dl_status
dl_predictions_add(struct dl_predictions *p, const struct dl_training *t,
                   const struct dl_fit *fit, const struct dl_cv *cv,
                   const struct dl_choice *c, struct dl_diag *d) {
  if (!p->path)
    return DL_OK;
  DL_SCOPED(free_target) struct target w = {0};
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_SCOPED(dl_diag_free)
  struct dl_diag again = {0}; /* faults that were reported before */
  DL_TRY(make_target(&w, t, fit, cv, c, d));
  DL_TRY(dl_csv_open(&csv, t->source, 0, d));
  if (!p->out.f) {
    DL_TRY(dl_output_open(&p->out, p->path, true, d));
    DL_TRY(write_header(p->out.f, csv, d));
  }
  enum dl_status status = write_rows(p->out.f, csv, &w, &again);
  return status == DL_OK ? DL_OK : dl_fail(d, status, "%s", again.error);
}
