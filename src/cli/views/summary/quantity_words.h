/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities of formulas and fits in words. */

#ifndef DL_CLI_VIEWS_SUMMARY_QUANTITY_WORDS_H
#define DL_CLI_VIEWS_SUMMARY_QUANTITY_WORDS_H

#include <stddef.h>

#include "base/text.h"

/* "memory bandwidth" for "gpu.bandwidth_gb_s"; a name without words is its
 * own. */
const char *dl_quantity_words(const char *name);

/* Appends the words of n names, separated by commas, each once. */
void dl_add_quantities(struct dl_text *t, const char *const *name, size_t n);

#endif
