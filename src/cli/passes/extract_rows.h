/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs, or their epochs, as rows of a table. */

#ifndef DL_CLI_PASSES_EXTRACT_ROWS_H
#define DL_CLI_PASSES_EXTRACT_ROWS_H

#include "base/names/intern.h"
#include "base/text.h"
#include "cli/progress_bar.h"
#include "output/render.h"
#include "run/run.h"

struct dl_extract_rows;

/* `extra` holds the columns behind the runs table's columns, for the rows'
 * lifetime. `bar` shows the progress; NULL: none. */
struct dl_extract_rows *dl_extract_rows_new(const struct dl_format *format,
                                            FILE *f, bool each_epoch,
                                            const struct dl_intern *extra,
                                            struct dl_progress_bar *bar);

/* Has people shown the emissions of all runs. */
void dl_extract_rows_show_co2e(struct dl_extract_rows *r);

/* For dl_extract_options: ctx is the rows. */
enum dl_status dl_extract_rows_add(void *ctx, const struct dl_run *run,
                                   char *const *extra, struct dl_diag *d);
void dl_extract_progress(void *ctx, size_t done, size_t total);

/* Ends the table and frees the rows; accepts NULL. Where it is not complete and
 * has no row, nothing is written. */
enum dl_status dl_extract_rows_end(struct dl_extract_rows *rows, bool complete,
                                   struct dl_diag *d);

#endif
