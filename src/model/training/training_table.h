/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of runs read for fitting: formulas evaluated for every row, and
 * the rows' groups. */

#ifndef DL_MODEL_TRAINING_TRAINING_TABLE_H
#define DL_MODEL_TRAINING_TRAINING_TABLE_H

#include <gsl/gsl_matrix.h>
#include <stddef.h>

#include "base/names/intern.h"
#include "model/calibration_runs.h"
#include "model/model.h"
#include "physics/rows/table_problem.h"
#include "run/plan.h"

/* Values of a column that group rows. */
struct dl_labels {
  char *column; /* "config", owned */
  size_t *id;   /* n: number of the row's label in names, owned */
  struct dl_intern names;
  bool undescribed; /* a row has no descriptor for the column */
  /* The number of values of a numeric setting that a formula uses, as many as
   * names; of more than DL_MOST_LEVELS none is kept (n_values is SIZE_MAX). */
  size_t n_values;
};

/* A setting with more values in a table is continuous. */
enum { DL_MOST_LEVELS = 64 };

struct dl_training {
  size_t n;                  /* rows */
  struct dl_strlist formula; /* columns of x */
  gsl_matrix *x;             /* n x formula.n, owned; NULL for n = 0 */
  size_t *line;              /* n: where each row stands in its file, owned */
  struct dl_range *range;    /* of every variable in the formulas, owned */
  size_t n_ranges;
  struct dl_labels *labels; /* owned */
  size_t n_labels;
  char boundary[16]; /* of all rows; "" where they differ or do not say */
  char *source;
  char digest[33];
  size_t rows; /* read, the skipped ones among them */
  /* Values given in each row, n of them without their file; set `keeps` before
   * the table is read, and want one physics. Owned. */
  bool keeps;
  struct dl_calibration_run *kept;
  size_t cap_kept;
  /* Rows of language models alone, or of all others; set likewise. */
  enum dl_training_rows {
    DL_ROWS_ALL,
    DL_ROWS_LANGUAGE,
    DL_ROWS_OTHER,
    DL_ROWS_NONE
  } only;
  bool of_gpus; /* rows with energies of more than GPUs are skipped; likewise */
  bool means; /* a row is the mean of n runs (column "n"); set by the caller */
  /* The rows as physics take them; the caller sets `physics` of those it wants
   * before the table is read. */
  struct dl_physics_rows physics[DL_MOST_PHYSICS];
  size_t n_physics;
  /* A list of the problems that physics have with the rows, to which fits add
   * (table_problem.h). Owned. */
  struct dl_hierarchical_problem **problems;
  /* The first column that recipes need and the plan lacks, or NULL. */
  const char *absent;
  /* Auxiliary training data: rows of another table, or NULL. Borrowed. */
  const struct dl_training *auxiliary;
};

/* Wants the rows of a physics, once. `tried`: the table need not be one of it;
 * where a row lacks what it needs, there are no rows of it. */
void dl_training_want_physics(struct dl_training *t,
                              const struct dl_physics *physics, bool tried);

/* Reads `csv` to its end through `f` (whose columns it is). Every formula in
 * t->formula, filled by the caller, is evaluated; a row for which one is not
 * finite is skipped and reported. `groups` are the columns to take labels
 * from: "config" is made from the settings where there is no such column,
 * "arch" and "gpu" become identifiers of the catalogue; a name that the table
 * lacks is skipped, except `must`, whose absence is an error. Warns where the
 * precision of rows that a physics takes was assumed. */
enum dl_status dl_training_read(struct dl_training *t, struct dl_csv *csv,
                                struct dl_row_plan *f,
                                const struct dl_strlist *groups,
                                const char *must, struct dl_diag *d);
void dl_training_free(struct dl_training *t);

#endif
