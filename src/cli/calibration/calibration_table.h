/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A runs table that can be read several times: a file, the runs of a power log,
 * or those that a model keeps. */

#ifndef DL_CLI_CALIBRATION_CALIBRATION_TABLE_H
#define DL_CLI_CALIBRATION_CALIBRATION_TABLE_H

#include <stdio.h>

#include "io/csv.h"
#include "model/model.h"

struct dl_importer;

/* Zeros at first. */
struct dl_calibration_table {
  const char *path; /* of the file, borrowed */
  FILE *runs;       /* what dlest extract makes of a log, owned; NULL: the file
                       is a table itself */
};

/* Whether a file is a log, not a runs table. */
bool dl_calibration_is_log(const char *path);

/* The importer that reads a plain file as the log of a run; NULL: none does. */
const struct dl_importer *dl_run_log_importer(const char *path);

/* Refuses a file that is the log of a run, where a table of runs is read, as
 * dlest extract makes it. A pipe is not looked at. */
enum dl_status dl_table_check(const char *path, struct dl_diag *d);

/* Recognises a power log by its content and makes its runs. `path` is borrowed.
 * Anything else is left to the reader of tables. */
enum dl_status dl_calibration_table_make(struct dl_calibration_table *t,
                                         const char *path, struct dl_diag *d);

/* Replaces a table by the runs that a model keeps. */
enum dl_status dl_calibration_table_keep(struct dl_calibration_table *t,
                                         const struct dl_model *m,
                                         struct dl_diag *d);

/* Opens the table from its beginning; messages name the file. */
enum dl_status dl_calibration_table_open(const struct dl_calibration_table *t,
                                         struct dl_csv **csv,
                                         struct dl_diag *d);
void dl_calibration_table_close(struct dl_calibration_table *t);

#endif
