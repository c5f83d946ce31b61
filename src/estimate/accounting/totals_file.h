/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals of jobs in a file, which add up: totals of disjoint sets of jobs give
 * the totals of their union.
 *
 * CSV. The columns are "totals", which is "group", "constant" or "shard" in
 * each row; the keys of the groups; the counts and sums of a group (NAME_rest:
 * what a sum is beyond its double), and its boundary; and a constant that
 * estimates used: name, value, unit, of, source, year. A shard has I/N as its
 * name. */

#ifndef DL_ESTIMATE_ACCOUNTING_TOTALS_FILE_H
#define DL_ESTIMATE_ACCOUNTING_TOTALS_FILE_H

#include "estimate/accounting/group_totals.h"
#include "io/same_tables.h"
#include "io/shard.h"

/* "user", "account", "partition", "month". */
const char *dl_key_name(enum dl_key key);

/* Groups by the keys that are set, and where they come from. Starts with the
 * first three members set, the rest 0. */
struct dl_totals {
  struct dl_group_totals *groups;
  const bool *keys; /* [DL_N_KEYS] */
  struct dl_accounting *accounting;
  struct dl_same_tables same; /* same.path: set before a file is read */
  struct dl_shard *shard;     /* of the jobs; owned */
  size_t n_shards, cap_shards;
};

/* Notes a shard of the jobs; none if it is the whole. */
void dl_totals_add_shard(struct dl_totals *t, const struct dl_shard *shard);

/* Warns if some shards of a number are there more often than others. */
void dl_totals_check_shards(const struct dl_totals *t, struct dl_diag *d);

/* Frees what totals hold of the files that they come from. */
void dl_totals_free(struct dl_totals *t);

/* Writes totals to `path` ("-": stdout). */
enum dl_status dl_totals_write(const struct dl_totals *t, const char *path,
                               struct dl_diag *d);

/* Whether a file, no pipe, has the columns of totals. */
bool dl_totals_is_file(const char *path);

/* The keys of the groups in a file. Error (DL_EINPUT): it has no totals. */
enum dl_status dl_totals_keys(const char *path, bool keys[DL_N_KEYS],
                              struct dl_diag *d);

/* Adds a file to totals, whose keys must be among the file's, and to the sum of
 * all. Errors: DL_EINPUT. */
enum dl_status dl_totals_read(const char *path, struct dl_totals *t,
                              struct dl_sums *all, struct dl_diag *d);

#endif
