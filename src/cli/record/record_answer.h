/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of dlest record, for people: a few lines. */

#ifndef DL_CLI_RECORD_RECORD_ANSWER_H
#define DL_CLI_RECORD_RECORD_ANSWER_H

#include "cli/record/record_report.h"

/* Adds it to the summary. */
void dl_record_answer(struct dl_report *r, const struct dl_record_summary *x);

#endif
