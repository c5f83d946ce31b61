/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A power log in the place of a runs table. */

#ifndef DL_CLI_LOG_TABLE_H
#define DL_CLI_LOG_TABLE_H

#include <stdio.h>

#include "io/csv.h"

/* A table that can be read several times. Zeros at first. */
struct dl_log_table {
  const char *path; /* of the file, borrowed */
  FILE *runs;       /* what dlest extract makes of a log, owned; NULL: the file
                       is a table itself */
};

/* Recognises a power log by its content and makes its runs. `path` is borrowed.
 * Anything else is left to the reader of tables. */
enum dl_status dl_log_table_make(struct dl_log_table *t, const char *path,
                                 struct dl_diag *d);

/* Opens the table from its beginning; messages name the file. */
enum dl_status dl_log_table_open(const struct dl_log_table *t,
                                 struct dl_csv **csv, struct dl_diag *d);
void dl_log_table_free(struct dl_log_table *t);

#endif
