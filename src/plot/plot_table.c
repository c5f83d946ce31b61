/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the table of a picture. */

#include "plot/plot_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"

enum { MOST_ROWS = 100000 };

/* gnuplot cannot draw numbers near the ends of the range of a double. */
#define LEAST 1e-99
#define MOST 1e99

void dl_plot_table_free(struct dl_plot_table *t) {
  for (size_t i = 0; i < t->n * t->n_cols; i++)
    free(t->text[i]);
  free(t->text);
  free(t->number);
  free(t->line);
  free(t->there);
  *t = (struct dl_plot_table){0};
}

static void make_room(struct dl_plot_table *t) {
  size_t cells = (t->n + 1) * t->n_cols;
  DL_GROW(t->number, t->cap_numbers, cells);
  DL_GROW(t->text, t->cap_texts, cells);
  DL_GROW(t->line, t->cap_lines, t->n + 1);
}

/* Reads a number; false, with a warning, if the row cannot be used. */
static bool read_number(const struct dl_plot_table *t,
                        const struct dl_plot_column *c, const char *cell,
                        size_t line, double *x, struct dl_diag *d) {
  enum dl_number found = dl_parse_number(cell, strlen(cell), x);
  bool needed = c->kind == DL_CELL_POSITIVE;
  bool above = c->kind == DL_CELL_POSITIVE || c->kind == DL_CELL_ABOVE;
  if (found == DL_NUMBER_EMPTY && !needed)
    return true;
  if (found == DL_NUMBER_EMPTY)
    dl_skip_at(d, t->path, line, "column '%s' is empty", c->name);
  else if (found == DL_NUMBER_INVALID)
    dl_skip_at(d, t->path, line, "column '%s': invalid number '%s'", c->name,
               cell);
  else if (found == DL_NUMBER_NOT_FINITE)
    dl_skip_at(d, t->path, line, "column '%s': '%s' is not finite", c->name,
               cell);
  else if (above && *x <= 0)
    dl_skip_at(d, t->path, line, "column '%s': %s is not above 0", c->name,
               cell);
  else if (*x != 0 && !(fabs(*x) > LEAST && fabs(*x) < MOST))
    dl_skip_at(d, t->path, line,
               "column '%s': %s is outside the range of a plot, 1e-99 to "
               "1e99",
               c->name, cell);
  else
    return true;
  return false;
}

static bool is_number(const struct dl_plot_column *c) {
  return c->kind != DL_CELL_TEXT && c->kind != DL_CELL_LEAVES;
}

/* One row; col[c] is the cell of column c, if the table has it. */
static void take_row(struct dl_plot_table *t, const long *col,
                     const char *const *cell, size_t line, struct dl_diag *d) {
  make_room(t);
  for (size_t c = 0; c < t->n_cols; c++)
    if (t->there[c] && t->column[c].kind == DL_CELL_LEAVES && *cell[col[c]])
      return;
  double *number = t->number + t->n * t->n_cols;
  char **text = t->text + t->n * t->n_cols;
  for (size_t c = 0; c < t->n_cols; c++) {
    number[c] = NAN;
    text[c] = NULL;
  }
  t->line[t->n] = line;
  for (size_t c = 0; c < t->n_cols; c++)
    if (t->there[c] && is_number(&t->column[c]) &&
        !read_number(t, &t->column[c], cell[col[c]], line, &number[c], d))
      return;
  t->n++;
  for (size_t c = 0; c < t->n_cols; c++)
    if (t->there[c] && !is_number(&t->column[c]) && *cell[col[c]])
      text[c] = dl_strdup(cell[col[c]]);
}

static enum dl_status find_columns(struct dl_plot_table *t,
                                   const struct dl_csv *csv, long *col,
                                   const char *made_by, struct dl_diag *d) {
  for (size_t c = 0; c < t->n_cols; c++) {
    const struct dl_plot_column *want = &t->column[c];
    col[c] = want->name ? dl_csv_find(csv, want->name) : -1;
    t->there[c] = col[c] >= 0;
    if (!t->there[c] && want->name && !want->optional)
      return dl_fail_at(d, DL_EINPUT, t->path, 0,
                        "no column '%s'; such tables come from %s", want->name,
                        made_by);
  }
  return DL_OK;
}

static enum dl_status read_rows(struct dl_plot_table *t, struct dl_csv *csv,
                                const long *col, struct dl_diag *d) {
  const struct dl_csv_block *block;
  enum dl_status status;
  while ((status = dl_csv_next(csv, &block, d)) == DL_OK && block)
    for (size_t i = 0; i < block->n_rows; i++) {
      if (t->n == MOST_ROWS)
        return dl_fail_at(d, DL_EINPUT, t->path, block->line[i],
                          "more than %d rows are too many for a plot",
                          MOST_ROWS);
      take_row(t, col, block->cell + i * block->n_cols, block->line[i], d);
    }
  return status;
}

enum dl_status dl_plot_table_read(struct dl_plot_table *t, const char *path,
                                  const struct dl_plot_column *column, size_t n,
                                  const char *made_by, struct dl_diag *d) {
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_FREED long *col = dl_calloc(n, sizeof *col);
  *t = (struct dl_plot_table){.path = dl_is_stdio(path) ? "<stdin>" : path,
                              .n_cols = n,
                              .column = column,
                              .there = dl_calloc(n, sizeof *t->there)};
  DL_TRY(dl_csv_open(&csv, path, 0, d));
  DL_TRY(find_columns(t, csv, col, made_by, d));
  DL_TRY(read_rows(t, csv, col, d));
  if (t->n == 0)
    return dl_fail_at(d, DL_EINPUT, t->path, 0, "no row that can be drawn");
  return DL_OK;
}
