/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs that are copies of each other: their energy would count twice. */

#ifndef DL_LOGS_LOG_COPIES_H
#define DL_LOGS_LOG_COPIES_H

#include "logs/log_grouping.h"

/* Refuses power logs that have the same bytes as one before them, by their
 * source's error. */
void dl_log_copies_refuse(struct dl_log_grouping *g);

#endif
