/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that log.c, log_contents.c and log_part.c share. */

#ifndef DL_LOGS_LOG_PRIVATE_H
#define DL_LOGS_LOG_PRIVATE_H

#include "logs/log.h"

#define DL_LOG_CUT_OFF "last line skipped: it is incomplete"

/* Imports a line; false for a last one that is not used, since it may have been
 * cut off, which is reported. */
bool dl_log_import_line(struct dl_log *log, const struct dl_line *line);

/* Takes back the problems of the current line. */
void dl_log_forget_line(struct dl_log *log);

/* Warns that a last line, which has no end, ends with a value that may have
 * been cut off. */
void dl_log_warn_uncertain(struct dl_log *log, const char *value);

/* Reports the problems of lines up to `last`. */
void dl_log_report(struct dl_log *log, size_t last);

/* Reports all of them after the last line; cut_off: it was incomplete and has
 * been reported. */
void dl_log_report_last(struct dl_log *log, bool cut_off);

/* Frees the contents of a log: runs, problems, meters, the importer's state. */
void dl_log_free_contents(struct dl_log *log);

#endif
