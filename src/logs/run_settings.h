/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of runs that their logs do not contain: given by the user, from a
 * table with one row per run, or from the path of the log.
 *
 * Of the three, the first one with a value takes precedence, in that order. For
 * settings and names they override the log; measured values are not replaced.
 * Names that are no column of the runs table become additional columns. */

#ifndef DL_LOGS_RUN_SETTINGS_H
#define DL_LOGS_RUN_SETTINGS_H

#include "base/diag.h"
#include "base/names/intern.h"
#include "base/text.h"
#include "run/run.h"

struct dl_settings;

struct dl_settings *dl_settings_new(void);
void dl_settings_free(struct dl_settings *s);
void dl_settings_free_local(struct dl_settings **at);

/* NAME=VALUE for all runs. DL_EUSAGE: another form, an invalid number for a
 * numeric column, or a measured column: those differ from run to run. */
enum dl_status dl_settings_set(struct dl_settings *s, const char *assignment,
                               struct dl_diag *d);

/* The end of a path, such as {environment}/{arch}/gpu-{run_id}.csv: a name in
 * braces stands for that part of the path, without slashes. DL_EUSAGE if braces
 * do not match or a name occurs twice. */
enum dl_status dl_settings_pattern(struct dl_settings *s, const char *pattern,
                                   struct dl_diag *d);

/* A table with one row per run. The column with the names of the logs is
 * detected: a cell of it is the name of the file, with or without folders or
 * extension. Among several rows with that name, the one with the most cells
 * that are folders of the path is used. */
enum dl_status dl_settings_table(struct dl_settings *s, const char *path,
                                 struct dl_diag *d);

/* Columns that the runs table does not have; valid after the calls above. */
const struct dl_intern *dl_settings_extra(const struct dl_settings *s);

/* Fills in a run from the log at `path`. extra[i], one for each extra column,
 * becomes an owned text or NULL. Warns if the table has no row for the path or
 * the pattern does not match. May be called from several threads at once, each
 * with its own d. */
void dl_settings_apply(const struct dl_settings *s, const char *path,
                       struct dl_run *run, char **extra, struct dl_diag *d);

#endif
