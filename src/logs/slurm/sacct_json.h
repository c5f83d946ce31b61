/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON of sacct --json as the table of sacct -P. */

#ifndef DL_LOGS_SLURM_SACCT_JSON_H
#define DL_LOGS_SLURM_SACCT_JSON_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"

/* Whether a file with this beginning is JSON of sacct. */
bool dl_sacct_json_is(const char *head);

/* Appends the table: a row for each job and each of its steps. DL_EINPUT: not
 * JSON, or without jobs. */
enum dl_status dl_sacct_json_table(struct dl_text *to, const char *text,
                                   size_t len, const char *path,
                                   struct dl_diag *d);

#endif
