/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of configurations that could be measured, or were, as the fits of a
 * model take them. */

#ifndef DL_ESTIMATE_SUGGESTION_SUGGESTION_ROWS_H
#define DL_ESTIMATE_SUGGESTION_SUGGESTION_ROWS_H

#include "estimate/rows.h"
#include "model/model.h"
#include "physics/rows/physics_rows.h"
#include "run/plan.h"

/* A model estimates these of a training. */
enum { DL_SUGGEST_TIME, DL_SUGGEST_ENERGY, DL_SUGGEST_QUANTITIES };

/* The kinds of trainings that have a fit each. */
enum { DL_SUGGEST_OTHERS, DL_SUGGEST_LANGUAGE, DL_SUGGEST_KINDS };

struct dl_suggestion_row {
  size_t line;                        /* of its file */
  const char *arch, *gpu, *precision; /* or NULL; of the texts of the rows */
  double n_gpus, batch_size;          /* NaN: unknown */
  double image_px, seq_len;           /* likewise */
  double memory_gb; /* that a GPU lacks by the estimate; 0: none */
  size_t kind;
  size_t input;      /* number of its inputs among its kind's */
  unsigned measured; /* bit t: target t of its physics; of rows that were */
  /* Half-widths of the 50 % intervals of the logarithms of its quantities: so
   * far off are half of all estimates. NaN: unknown. */
  double half_width[DL_SUGGEST_QUANTITIES];
};

/* A table. Starts from {0}. */
struct dl_suggestion_table {
  struct dl_suggestion_row *row; /* owned */
  size_t n, cap;
};

/* Rows of all tables share this, which starts from {0}. */
struct dl_suggestion_rows {
  struct dl_suggestion_table kept; /* what calibrated the model so far */
  struct dl_suggestion_table runs; /* what could be measured */
  struct dl_physics_rows inputs[DL_SUGGEST_KINDS];
  const struct dl_fit *fit[DL_SUGGEST_KINDS]; /* NULL: no row of that kind */
  struct dl_intern texts;
};

void dl_suggestion_rows_free(struct dl_suggestion_rows *rows);

/* Adds the rows of the table `csv` to rows->kept if they were measured, else to
 * rows->runs: what columns say was measured then does not count. `f` has the
 * columns of the table. Rows that cannot be used are skipped. Error
 * (DL_EINPUT): the model has no fit that rows could calibrate. */
enum dl_status dl_suggestion_rows_read(struct dl_suggestion_rows *rows,
                                       bool measured, const struct dl_model *m,
                                       const struct dl_rows *from,
                                       struct dl_diag *d);

#endif
