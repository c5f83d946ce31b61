/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals of jobs in a file, which add up: totals of disjoint sets of jobs give
 * those of all of them.
 *
 * CSV. The columns are "totals", which is "group" or "constant" in each row;
 * the keys of the groups; the counts and sums of a group (NAME_rest: what a sum
 * is beyond its double), and its boundary; and a constant that estimates used:
 * name, value, unit, of, source, year. */

#ifndef DL_ESTIMATE_ACCOUNTING_TOTALS_FILE_H
#define DL_ESTIMATE_ACCOUNTING_TOTALS_FILE_H

#include "estimate/accounting/group_totals.h"

/* "user", "account", "partition", "month". */
const char *dl_key_name(enum dl_key key);

/* Writes the groups, by the keys that are set, to `path` ("-": stdout). */
enum dl_status dl_totals_write(const struct dl_group_totals *t,
                               const bool keys[DL_N_KEYS],
                               const struct dl_accounting *a, const char *path,
                               struct dl_diag *d);

/* Whether a file, no pipe, begins as totals do. */
bool dl_totals_is_file(const char *path);

/* The keys of the groups in a file. Error (DL_EINPUT): it has no totals. */
enum dl_status dl_totals_keys(const char *path, bool keys[DL_N_KEYS],
                              struct dl_diag *d);

/* Adds a file to the groups, whose keys must be among those of the file, to the
 * sum of all, and to the constants. Errors: DL_EINPUT. */
enum dl_status dl_totals_read(const char *path, struct dl_group_totals *t,
                              struct dl_sums *all, struct dl_accounting *a,
                              struct dl_diag *d);

#endif
