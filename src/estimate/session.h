/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session estimates the rows of a frame by a list of estimators. */

#ifndef DL_ESTIMATE_SESSION_H
#define DL_ESTIMATE_SESSION_H

#include "estimate/methods/estimator.h"

/* `methods` names estimators, separated by commas, or is "all". `m` is the
 * model for PRE, or NULL; `coverage` that of the intervals (0 .. 1). The
 * frame and the model are borrowed. Errors (DL_EUSAGE): an unknown method. */
enum dl_status dl_session_new(struct dl_session **s, struct dl_frame *f,
                              const struct dl_model *m, const char *methods,
                              double coverage, struct dl_diag *d);
void dl_session_free(struct dl_session *s); /* accepts NULL */
void dl_session_free_local(struct dl_session **at);

/* Finds the families of the accelerators in the fit of language models;
 * intervals on others are wider. With a row, only where it may be on another;
 * without one (NULL), always. */
enum dl_status dl_session_find_families(struct dl_session *s,
                                        const struct dl_row *row,
                                        struct dl_catalog *c,
                                        struct dl_diag *d);

/* Estimates a row: est gets one entry per method, *job what was estimated, *p
 * what the models predict of it. Thread-safe as long as each thread has its own
 * row and d. */
enum dl_status dl_session_row(const struct dl_session *s,
                              const struct dl_row *row, struct dl_job *job,
                              struct dl_job_predictions *p,
                              struct dl_estimate *est, struct dl_diag *d);

/* What keeps a row from being estimated at all: its architecture or GPU is
 * unknown, or what is known of it contradicts itself. As dl_frame_complain;
 * DL_OK and *bad false where nothing does. */
enum dl_status dl_session_check(struct dl_catalog *c, const struct dl_job *job,
                                const char *path, size_t line, bool *bad,
                                struct dl_diag *d);

#endif
