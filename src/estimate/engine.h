/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An engine estimates the rows of a plan by a list of estimators. */

#ifndef DL_ESTIMATE_ENGINE_H
#define DL_ESTIMATE_ENGINE_H

#include "estimate/result.h"

/* `methods` names estimators, separated by commas, or is "all". `m` has the
 * fitted models; `coverage` of the intervals lies in 0 .. 1. The plan and
 * the model are borrowed. Errors (DL_EUSAGE): an unknown method. */
enum dl_status dl_engine_new(struct dl_engine **e, struct dl_row_plan *f,
                             const struct dl_model *m, const char *methods,
                             double coverage, struct dl_diag *d);
void dl_engine_free(struct dl_engine *e); /* accepts NULL */
void dl_engine_free_local(struct dl_engine **at);

/* Finds the families of the accelerators in the fit of language models, since
 * intervals on others are wider. The row may be NULL (any row); otherwise
 * nothing is read unless that row may be on another accelerator. dl_rows_each
 * and dl_rows_first call it. */
enum dl_status dl_engine_learn_families(struct dl_engine *e,
                                        const struct dl_row *row,
                                        struct dl_catalog *c,
                                        struct dl_diag *d);

/* Allocates the estimates of a result, which free() releases. */
void dl_engine_make_room(const struct dl_engine *e, struct dl_result *r);

/* Estimates a row into *r, whose estimates have room. Thread-safe as long as
 * each thread has its own row, result and d. */
enum dl_status dl_engine_row(const struct dl_engine *e,
                             const struct dl_row *row, struct dl_result *r,
                             struct dl_diag *d);

/* Reports why a job cannot be estimated at all: its architecture or GPU is
 * unknown, or what is known about it contradicts itself. Returns true if so: a
 * row of a table (line > 0) is skipped, options make an error in d. */
bool dl_engine_refuses(struct dl_catalog *c, const struct dl_job *job,
                       const char *path, size_t line, struct dl_diag *d);

#endif
