/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a command and the loop that estimates them: the one row of the
 * options, all combinations of a sweep, or the rows of a table. */

#ifndef DL_ESTIMATE_ROWS_H
#define DL_ESTIMATE_ROWS_H

#include "estimate/engine.h"
#include "io/same_tables.h"
#include "run/sweep_cursor.h"

/* Rows come from here; all is borrowed. With neither a table nor axes there is
 * one row. */
struct dl_rows {
  struct dl_row_plan *f;
  struct dl_catalog *catalog;
  struct dl_csv *csv;         /* the table, whose columns the plan has */
  const struct dl_axes *axes; /* the axes that the plan has */
  /* A table has these: whether the row on a line is wanted (NULL: all are),
   * asked in the order of the rows unless the sink is parallel; and where rows
   * that occur twice are counted (NULL: nowhere). */
  bool (*wants)(void *ctx, size_t line);
  void *ctx;
  struct dl_repeated_rows *repeated;
};

/* Who takes the results. Each thread has a part of the rows of a round, in
 * order: part 0 has the first. */
struct dl_row_sink {
  void *ctx;
  /* Takes a result, which is valid until the call returns. Rows of a table that
   * cannot be estimated are skipped before; combinations that cannot be have
   * r->broken. Without an engine, r has only job.row and line. */
  enum dl_status (*row)(void *ctx, size_t part, const struct dl_result *r,
                        struct dl_diag *d);
  /* Called by one thread after each round; may be NULL. */
  enum dl_status (*round)(void *ctx, struct dl_diag *d);
  /* Whether `row` may be called by several threads in the next round; NULL:
   * never. */
  bool (*parallel)(void *ctx);
};

/* The number of threads, and so of parts. */
size_t dl_rows_parts(void);

/* Estimates all rows by `e` (NULL: none is estimated) and hands them to the
 * sink. Rows, their order and the warnings do not depend on the number of
 * threads; memory does not grow with the rows. Errors: an unknown architecture
 * or accelerator in a sweep (DL_EINPUT), too many combinations (DL_EUSAGE),
 * what reading a table fails with, and what the sink fails with. */
enum dl_status dl_rows_each(const struct dl_rows *rows, struct dl_engine *e,
                            const struct dl_row_sink *sink, struct dl_diag *d);

/* Estimates the row of the options into *r, whose estimates the caller frees.
 * Errors: the row cannot be used. */
enum dl_status dl_rows_single(const struct dl_rows *rows, struct dl_engine *e,
                              struct dl_result *r, struct dl_diag *d);

#endif
