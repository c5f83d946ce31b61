/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a log, imported by several threads.
 *
 * A part is a block of whole lines that ends between two runs. Parts are read
 * one after the other, imported in parallel, and settled one after the
 * other. Repeated rows are found only then, since the first ones may be
 * anywhere before. The contents of a part depend on the log alone, so that
 * results do not depend on the number of threads. If an importer has no parts,
 * each result of dl_log_next() is one part. */

#ifndef DL_LOGS_LOG_PART_H
#define DL_LOGS_LOG_PART_H

#include "logs/log.h"

struct dl_log_part;

/* The log must outlive the part. */
struct dl_log_part *dl_log_part_new(const struct dl_log *log);
void dl_log_part_free(struct dl_log_part *p); /* accepts NULL */

/* Replaces the part by the next one; false at the end. Errors come with
 * dl_log_part_settle. Call it from one thread at a time, in order. */
bool dl_log_part_read(struct dl_log *log, struct dl_log_part *p);

/* Imports the lines of a part; any thread may do so. */
void dl_log_part_import(struct dl_log_part *p);

/* Drops rows that were read before and reports what was found. Call it in the
 * order of reading, from one thread at a time; the log may be read meanwhile.
 */
enum dl_status dl_log_part_settle(struct dl_log *log, struct dl_log_part *p,
                                  struct dl_diag *d);

/* For one thread: reads on, imports and settles, up to runs. Both counts are 0
 * only at the end of the log. */
enum dl_status dl_log_part_next(struct dl_log *log, struct dl_log_part *p,
                                struct dl_log_block *block, struct dl_diag *d);

/* Bytes of the log up to the end of the part, or a little more. */
size_t dl_log_part_bytes(const struct dl_log_part *p);

/* The jobs of a settled part, or its runs as jobs; their texts live until the
 * part is read anew. */
const struct dl_cluster_job *dl_log_part_jobs(const struct dl_log_part *p,
                                              size_t *n);

#endif
