/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs that are given twice, and copies: their energy would count twice. */

#ifndef DL_LOGS_LOG_COPIES_H
#define DL_LOGS_LOG_COPIES_H

#include "logs/log_grouping.h"

/* Refuses files that are named twice, before any is read. */
void dl_log_repeats_refuse(struct dl_log_grouping *g);

/* Refuses power logs whose bytes equal an earlier log's, and sets their error.
 */
void dl_log_copies_refuse(struct dl_log_grouping *g);

#endif
