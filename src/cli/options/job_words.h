/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings whose value is one of a few words. */

#ifndef DL_CLI_OPTIONS_JOB_WORDS_H
#define DL_CLI_OPTIONS_JOB_WORDS_H

#include "base/text.h"

/* The word that arg stands for in any case ("AMP": "amp"), as columns of runs
 * have it; arg itself where any text will do. NULL: none, and near gets the
 * nearest ones, by commas. */
const char *dl_job_word(const char *column, const char *arg,
                        struct dl_text *near);

#endif
