/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages about a run, which name its columns or the options that set them. */

#ifndef DL_RUN_SETUP_OPTION_WORDS_H
#define DL_RUN_SETUP_OPTION_WORDS_H

#include <stdbool.h>

#include "base/text.h"

/* Adds the option that sets a column: "--seq-len". */
void dl_add_option(struct dl_text *to, const char *column);

/* The destination of a message. */
struct dl_message_style {
  struct dl_text text; /* to be freed */
  bool options;        /* the run is described by options, not by a row */
};

/* Appends a message unless w is NULL. "{seq_len}" in the format stands for that
 * column or its option; arguments, which may be names of the user's, are
 * printed as they are. True, so that a rule that is broken can return it. */
DL_PRINTF(2, 3)
bool dl_rule_message(struct dl_message_style *w, const char *fmt, ...);

enum { DL_WORD_SIZE = 64 };

/* The column or its option, as an argument. */
const char *dl_column_word(const struct dl_message_style *w, const char *column,
                           char buf[DL_WORD_SIZE]);

#endif
