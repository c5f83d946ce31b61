/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a log does not say of its run: given by the user, taken from a table
 * with a row a run, or read off the log's path.
 *
 * Of the three the first that knows a value counts, in that order. For
 * settings and names they come before the log; what the log measured is not
 * replaced. Names that the runs table does not have become columns of their
 * own behind it. */

#ifndef DL_LOGS_RUN_SETTINGS_H
#define DL_LOGS_RUN_SETTINGS_H

#include "base/diag.h"
#include "base/intern.h"
#include "base/text.h"
#include "run/run.h"

struct dl_settings;

struct dl_settings *dl_settings_new(void); /* NULL: out of memory */
void dl_settings_free(struct dl_settings *s);

/* NAME=VALUE for all runs. DL_EUSAGE: no such form, or no number where the
 * column wants one. */
enum dl_status dl_settings_set(struct dl_settings *s, const char *assignment,
                               struct dl_diag *d);

/* A path's end such as {environment}/{arch}/gpu-{run_id}.csv: each name in
 * braces stands for the part of the path there, without slashes. DL_EUSAGE
 * where braces do not match or a name comes twice. */
enum dl_status dl_settings_pattern(struct dl_settings *s, const char *pattern,
                                   struct dl_diag *d);

/* A table with a row a run. Its column that names logs is found by itself: one
 * cell of it is the file's name, with or without its folders or its ending.
 * Where several rows have that name, their other cells must tell by the
 * folders of the path. */
enum dl_status dl_settings_table(struct dl_settings *s, const char *path,
                                 struct dl_diag *d);

/* Columns beside those of the runs table; valid once all is given. */
const struct dl_intern *dl_settings_extra(const struct dl_settings *s);

/* Fills in a run from the log at `path`. extra[i], one for each extra column,
 * becomes an owned text or NULL. Warns where the table or the pattern does not
 * know the path. May be called from several threads at once, each with its own
 * d. */
enum dl_status dl_settings_apply(const struct dl_settings *s, const char *path,
                                 struct dl_run *run, char **extra,
                                 struct dl_diag *d);

#endif
