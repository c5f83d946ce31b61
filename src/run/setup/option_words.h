/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages about a run that options describe: its columns by their options. */

#ifndef DL_RUN_SETUP_OPTION_WORDS_H
#define DL_RUN_SETUP_OPTION_WORDS_H

#include "base/text.h"

/* Adds the option that sets a column: "--seq-len". */
void dl_add_option(struct dl_text *to, const char *column);

/* Writes the columns that a message names as the options that set them:
 * "seq_len 8" as "--seq-len 8", "lora_rank" as "--set lora_rank". Words without
 * "_" stay as they are. */
void dl_as_options(struct dl_text *message);

#endif
