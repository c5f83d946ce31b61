/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: a small table read from CSV, columns by name. */

#ifndef DL_PLOT_PLOT_TABLE_H
#define DL_PLOT_PLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/* Type of the cells of a column. Rows with other cells are skipped. */
enum dl_cell_kind {
  DL_CELL_TEXT,
  DL_CELL_NUMBER,   /* empty: NaN */
  DL_CELL_POSITIVE, /* a number above 0 */
  DL_CELL_ABOVE,    /* empty, or above 0 */
  DL_CELL_LEAVES    /* a text; rows that have one are skipped */
};

struct dl_plot_column {
  const char *name; /* NULL: omitted */
  enum dl_cell_kind kind;
  bool optional;
};

struct dl_plot_table {
  const char *path;
  size_t n, n_cols, cap_numbers, cap_texts, cap_lines;
  const struct dl_plot_column *column; /* borrowed */
  bool *there;    /* n_cols: the table has that column; owned */
  double *number; /* n x n_cols, owned; NaN where unknown and for texts */
  char **text;    /* n x n_cols, owned; NULL for numbers and empty cells */
  size_t *line;   /* n, owned */
};

/* Reads a table. DL_EINPUT: a column that is not optional is absent (the error
 * says that `made_by` makes such tables), no row can be used, or there are more
 * than a picture can hold. *t is to be freed in any case. */
enum dl_status dl_plot_table_read(struct dl_plot_table *t, const char *path,
                                  const struct dl_plot_column *column, size_t n,
                                  const char *made_by, struct dl_diag *d);
void dl_plot_table_free(struct dl_plot_table *t);

static inline double dl_plot_number(const struct dl_plot_table *t, size_t row,
                                    size_t col) {
  return t->number[row * t->n_cols + col];
}

/* "" where the cell is empty. */
static inline const char *dl_plot_text(const struct dl_plot_table *t,
                                       size_t row, size_t col) {
  const char *s = t->text[row * t->n_cols + col];
  return s ? s : "";
}

#endif
